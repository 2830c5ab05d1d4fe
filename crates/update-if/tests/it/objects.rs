//! Objects: what the database decided comes back, and nobody else's value does.

use std::sync::Arc;

use update_if::{Field, Kind, Literal, Operand, Resource, Value, WrongType};

use crate::cinder::{Volume, loaded, stored, tables};
use crate::on_every_database;

/// A type of one's own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Status {
    Available,
    Deleting,
}

impl From<Status> for Value {
    fn from(status: Status) -> Self {
        match status {
            Status::Available => "available",
            Status::Deleting => "deleting",
        }
        .into()
    }
}

impl Field for Status {
    type Base = Self;
    const KIND: Option<Kind> = Some(Kind::Text);

    fn to_value(&self) -> Value {
        (*self).into()
    }

    fn from_value(value: Value) -> Result<Self, WrongType> {
        match value.as_text() {
            Some("available") => Ok(Self::Available),
            Some("deleting") => Ok(Self::Deleting),
            _ => Err(WrongType { found: value, expected: "Status" }),
        }
    }
}

update_if::literal!(Status => Status);

#[derive(Debug, Clone, PartialEq, Resource)]
#[resource(table = "volumes", noun = "volume")]
struct Typed {
    #[resource(key)]
    id: String,
    status: Status,
    size: u8,
}

fn is_literal<L: Literal<Status> + Operand<Status>>(_: L) {}

on_every_database! {
    async fn reflected_value_is_never_another_writer_s(world) {
        tables(&world).await;
        let world = Arc::new(world);
        let mut writers = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let world = world.clone();
            writers.spawn(async move {
                let mut volume = loaded(&world, "v1").await;
                let mut sizes = Vec::new();
                while sizes.len() < 10 {
                    let update = volume.conditional_update()
                        .set(Volume::SIZE.to(Volume::SIZE + 1))
                        .expect_nothing();
                    match update.run(&world.pool).await {
                        Ok(answer) => {
                            assert!(answer.happened());
                            sizes.push(volume.size);
                        }
                        Err(update_if::Error::Conflict(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                sizes
            });
        }
        let mut sizes = Vec::new();
        while let Some(of_one) = writers.join_next().await {
            sizes.extend(of_one.unwrap());
        }
        sizes.sort_unstable();
        // Every writer saw its own size, and no two the same.
        assert_eq!(sizes, (2..=81).collect::<Vec<i64>>());
        assert_eq!(stored(&world, "v1").await.size, 81);
    }

    async fn second_update_after_a_success_works(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        for size in 2..6 {
            let update = volume.conditional_update().set(Volume::SIZE.to(size));
            assert!(update.run(&world.pool).await.unwrap().happened(), "{size}");
        }
        // And fails as soon as somebody else was there, even if only the time tells: once that has moved on,
        // which takes a millisecond in SQLite.
        while stored(&world, "v1").await.updated_at == volume.updated_at {
            assert!(Volume::update("v1").run(&world.pool).await.unwrap().happened());
        }
        let update = volume.conditional_update().set(Volume::SIZE.to(9));
        assert!(!update.run(&world.pool).await.unwrap().happened());
    }

    async fn types_of_one_s_own_are_fields(world) {
        tables(&world).await;
        is_literal(Status::Available);
        let row = update_if::Loaded::<Typed>::of(&Typed::update("v1"), &world.pool).await;
        let mut volume = row.unwrap().unwrap();
        assert_eq!(volume.status, Status::Available);
        let update = volume.conditional_update()
            .set(Typed::STATUS.to(Status::Deleting))
            .expect(Typed::STATUS.is(Status::Available));
        assert!(update.run(&world.pool).await.unwrap().happened());
        assert_eq!(volume.status, Status::Deleting);
        // What the database holds may be something else one day.
        world.sql("UPDATE volumes SET status = 'vanishing'").await;
        let row = update_if::Loaded::<Typed>::of(&Typed::update("v1"), &world.pool).await;
        let error = row.unwrap_err().to_string();
        assert!(error.contains("column status: 'vanishing' cannot be read as Status"), "{error}");
    }

    async fn object_cannot_change_its_own_key(world) {
        tables(&world).await;
        let mut volume = loaded(&world, "v1").await;
        let error = volume.conditional_update().set(Volume::ID.to("v2")).run(&world.pool).await;
        assert!(error.unwrap_err().to_string().contains("cannot change its own key"));
        assert!(Volume::update("v1").set(Volume::ID.to("v2")).run(&world.pool).await.unwrap().happened());
        assert_eq!(stored(&world, "v2").await.id, "v2");
    }
}
