//! A store beside the user's own in the same database, to try it out: nothing of theirs is touched.
//!
//! In a file that is another file, in PostgreSQL a schema, in MySQL a database.

use std::path::PathBuf;

use update_if::Dialect;

use crate::error::StoreError;
use crate::place;

/// Files that SQLite keeps beside the one that was named.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// The address of a store of this name beside the one at `url`. The name is of letters, digits and `_`.
pub fn beside(url: &str, name: &str) -> Result<String, StoreError> {
    let (plain, parameters) = url.split_once('?').unwrap_or((url, ""));
    let with = |more: &str| {
        let parts: Vec<&str> =
            [parameters, more].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("&")
    };
    Ok(match dialect(url)? {
        Dialect::Sqlite => format!("{plain}.{name}"),
        Dialect::Postgres => format!("{plain}?{}", with(&format!("options[search_path]={name}"))),
        Dialect::Mysql => {
            let host_at = plain.find("://").map_or(0, |at| at + 3);
            let path_at = plain[host_at..].find('/').map_or(plain.len(), |at| host_at + at);
            let parameters = with("");
            let mark = if parameters.is_empty() { "" } else { "?" };
            format!("{}/{name}{mark}{parameters}", &plain[..path_at])
        }
    })
}

/// Makes room for the store `name`, which will be beside the one at `url`.
pub async fn make(url: &str, name: &str) -> Result<(), StoreError> {
    match dialect(url)? {
        Dialect::Sqlite => Ok(()),
        Dialect::Postgres => on_postgres(url, &format!("CREATE SCHEMA {name}")).await,
        Dialect::Mysql => on_mysql(url, &format!("CREATE DATABASE {name}")).await,
    }
}

/// Removes the store `name` beside the one at `url`, with everything in it.
pub async fn remove(url: &str, name: &str) -> Result<(), StoreError> {
    match dialect(url)? {
        Dialect::Sqlite => {
            let file = place::file_of(&beside(url, name)?)?;
            for end in BESIDE {
                let mut path = file.clone().into_os_string();
                path.push(end);
                match std::fs::remove_file(PathBuf::from(&path)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        let said = format!("{} cannot be removed: {error}", path.display());
                        return Err(StoreError::Unavailable(said));
                    }
                    Ok(()) | Err(_) => {}
                }
            }
            Ok(())
        }
        Dialect::Postgres => {
            on_postgres(url, &format!("DROP SCHEMA IF EXISTS {name} CASCADE")).await
        }
        Dialect::Mysql => on_mysql(url, &format!("DROP DATABASE IF EXISTS {name}")).await,
    }
}

fn dialect(url: &str) -> Result<Dialect, StoreError> {
    match url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
        Some("sqlite") => Ok(Dialect::Sqlite),
        Some("postgres" | "postgresql") => Ok(Dialect::Postgres),
        Some("mysql" | "mariadb") => Ok(Dialect::Mysql),
        _ => Err(StoreError::Unavailable(format!("{url:?} is not the address of a database"))),
    }
}

fn failed(sql: &str, error: &sqlx::Error) -> StoreError {
    StoreError::Unavailable(format!("the database does not do {sql:?}: {error}"))
}

#[cfg(feature = "postgres")]
async fn on_postgres(url: &str, sql: &str) -> Result<(), StoreError> {
    use sqlx::{Connection, Executor, PgConnection};
    let done = async {
        let mut connection = PgConnection::connect(url).await?;
        connection.execute(sqlx::AssertSqlSafe(sql)).await?;
        connection.close().await
    };
    done.await.map_err(|error| failed(sql, &error))
}

#[cfg(not(feature = "postgres"))]
async fn on_postgres(_: &str, sql: &str) -> Result<(), StoreError> {
    Err(failed(sql, &sqlx::Error::PoolClosed))
}

#[cfg(feature = "mysql")]
async fn on_mysql(url: &str, sql: &str) -> Result<(), StoreError> {
    use sqlx::{Connection, Executor, MySqlConnection};
    let done = async {
        let mut connection = MySqlConnection::connect(url).await?;
        connection.execute(sqlx::AssertSqlSafe(sql)).await?;
        connection.close().await
    };
    done.await.map_err(|error| failed(sql, &error))
}

#[cfg(not(feature = "mysql"))]
async fn on_mysql(_: &str, sql: &str) -> Result<(), StoreError> {
    Err(failed(sql, &sqlx::Error::PoolClosed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_is_beside_the_store_and_keeps_its_parameters() {
        for (url, there) in [
            ("sqlite:/a/claims.db", "sqlite:/a/claims.db.trial"),
            ("postgres://u:p@h/d", "postgres://u:p@h/d?options[search_path]=trial"),
            (
                "postgres://h/d?sslmode=require",
                "postgres://h/d?sslmode=require&options[search_path]=trial",
            ),
            ("mysql://u@h:3306/d", "mysql://u@h:3306/trial"),
            ("mysql://u@h?ssl-mode=disabled", "mysql://u@h/trial?ssl-mode=disabled"),
        ] {
            assert_eq!(beside(url, "trial").unwrap(), there);
        }
        assert!(beside("redis://h", "trial").is_err());
    }
}
