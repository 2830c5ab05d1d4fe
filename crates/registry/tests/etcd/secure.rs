//! Encryption, and users with passwords.

use std::path::Path;

use claims::{Owner, Rules};
use prost::Message;
use registry::Store;

use super::arena::{claim, open};
use super::cluster::{Cluster, PATIENCE};
use super::peer::{Nothing, Peer};

/// So long that nothing is due meanwhile: whoever looks after that logs in by the way.
const TTL: f64 = 3_600.0;
const USER: &str = "tenure:p%40ss%3Aw%2Frd@";

#[derive(Clone, PartialEq, Message)]
struct Grant {
    #[prost(string, tag = "1")]
    role: String,
    #[prost(message, optional, tag = "2")]
    permission: Option<Permission>,
}

#[derive(Clone, PartialEq, Message)]
struct Permission {
    #[prost(int32, tag = "1")]
    kind: i32,
    #[prost(string, tag = "2")]
    key: String,
    #[prost(string, tag = "3")]
    range_end: String,
}

const READ_AND_WRITE: i32 = 2;

/// Writes a certificate for this machine, signed by nobody but itself.
fn certificate(directory: &Path) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (public, private) = (directory.join("cert.pem"), directory.join("key.pem"));
    std::fs::write(&public, made.cert.pem()).unwrap();
    std::fs::write(&private, made.signing_key.serialize_pem()).unwrap();
    (public.display().to_string(), private.display().to_string())
}

/// From now on only users get in, and `tenure` may do what it likes below `ours/`.
async fn demand_passwords(etcd: &Peer) {
    etcd.tell("/etcdserverpb.Auth/UserAdd", "root", "of all").await;
    etcd.tell("/etcdserverpb.Auth/RoleAdd", "root", "").await;
    etcd.tell("/etcdserverpb.Auth/UserGrantRole", "root", "root").await;
    etcd.tell("/etcdserverpb.Auth/UserAdd", "tenure", "p@ss:w/rd").await;
    etcd.tell("/etcdserverpb.Auth/RoleAdd", "locks", "").await;
    let (key, range_end) = ("ours/".into(), "ours0".into());
    let permission = Some(Permission { kind: READ_AND_WRITE, key, range_end });
    let grant = Grant { role: "locks".into(), permission };
    etcd.call::<_, Nothing>("/etcdserverpb.Auth/RoleGrantPermission", grant).await;
    etcd.tell("/etcdserverpb.Auth/UserGrantRole", "tenure", "locks").await;
    etcd.call::<_, Nothing>("/etcdserverpb.Auth/AuthEnable", Nothing {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encrypted_etcd_with_users_is_entered_with_the_password_and_the_authority() {
    let files = tempfile::tempdir().unwrap();
    let (public, private) = certificate(files.path());
    let cluster = Cluster::of(1, &format!("--cert-file {public} --key-file {private}"));
    let endpoint = cluster.endpoints().remove(0);
    demand_passwords(&Peer::encrypted(&endpoint, &std::fs::read(&public).unwrap())).await;

    let address =
        |user: &str, prefix: &str, ca: &str| format!("etcd://{user}{endpoint}/{prefix}{ca}");
    let ca = format!("?ca={public}");
    let store = open(&address(USER, "ours", &ca)).await;
    claim(&*store, "r", 60.0).await;
    for (user, prefix, ca, what) in [
        ("tenure:wrong@", "ours", ca.as_str(), "a wrong password"),
        ("", "ours", &ca, "nobody"),
        (USER, "others", &ca, "a prefix that is not granted"),
        (USER, "ours", "?tls=true", "an authority that is not trusted"),
        (USER, "ours", "", "no encryption"),
    ] {
        let opened = registry::etcd::open(&address(user, prefix, ca), Rules::default()).await;
        let error = opened.map(drop).expect_err(what).to_string();
        assert!(!error.contains("wrong@") && !error.contains("p@ss"), "{error}");
    }
}

/// etcd keeps the tokens it gave in memory: after a restart it knows none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn store_whose_token_is_not_known_any_more_goes_on_and_still_hears_of_others() {
    let mut cluster = Cluster::of(1, "");
    let endpoint = cluster.endpoints().remove(0);
    demand_passwords(&Peer::of(&cluster.endpoints())).await;
    let url = format!("etcd://{USER}{endpoint}/ours");
    let (one, other) = (open(&url).await, open(&url).await);
    let (owner, _) = claim(&*one, "r", TTL).await;
    hears_of(&*other, owner).await;
    tokio::task::block_in_place(|| {
        cluster.kill(0);
        cluster.revive(0);
    });
    let (owner, _) = claim(&*one, "s", TTL).await;
    hears_of(&*other, owner).await;
}

/// Waits until a store has been told of a claim, and asks nothing that could make it log in.
async fn hears_of(store: &dyn Store, owner: Owner) {
    let heard = async {
        let mut position = 0;
        loop {
            let page = store.events(position, 1_000).await.unwrap();
            if page.events.iter().any(|kept| kept.event.claim() == Some(owner.claim)) {
                return;
            }
            position = page.next;
            store.wait_for_event(position).await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.expect("it is told");
}
