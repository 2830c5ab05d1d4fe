//! Encryption, and users with passwords.

use claims::Rules;
use etcd_client::{Certificate, Client, ConnectOptions, Permission, PermissionType, TlsOptions};

use super::arena::{claim, open};
use super::cluster::Cluster;

/// Writes a certificate for this machine, signed by nobody but itself.
fn certificate(directory: &std::path::Path) -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let (public, private) = (directory.join("cert.pem"), directory.join("key.pem"));
    std::fs::write(&public, made.cert.pem()).unwrap();
    std::fs::write(&private, made.signing_key.serialize_pem()).unwrap();
    (public.display().to_string(), private.display().to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn encrypted_etcd_with_users_is_entered_with_the_password_and_the_authority() {
    let files = tempfile::tempdir().unwrap();
    let (public, private) = certificate(files.path());
    let cluster = Cluster::of(1, &format!("--cert-file {public} --key-file {private}"));
    let endpoint = cluster.endpoints().remove(0);
    let authority = Certificate::from_pem(std::fs::read(&public).unwrap());
    let tls = TlsOptions::new().ca_certificate(authority);
    let options = ConnectOptions::new().with_tls(tls);
    let mut root = Client::connect([&endpoint], Some(options)).await.unwrap();
    root.user_add("root", "of all", None).await.unwrap();
    root.role_add("root").await.unwrap();
    root.user_grant_role("root", "root").await.unwrap();
    root.user_add("tenure", "p@ss:w/rd", None).await.unwrap();
    root.role_add("locks").await.unwrap();
    let ours = Permission::new(PermissionType::Readwrite, "ours/").with_prefix();
    root.role_grant_permission("locks", ours).await.unwrap();
    root.user_grant_role("tenure", "locks").await.unwrap();
    root.auth_enable().await.unwrap();

    let address =
        |user: &str, prefix: &str, ca: &str| format!("etcd://{user}{endpoint}/{prefix}{ca}");
    let ca = format!("?ca={public}");
    let store = open(&address("tenure:p%40ss%3Aw%2Frd@", "ours", &ca)).await;
    claim(&*store, "r", 60.0).await;
    for (user, prefix, ca, what) in [
        ("tenure:wrong@", "ours", ca.as_str(), "a wrong password"),
        ("", "ours", &ca, "nobody"),
        ("tenure:p%40ss%3Aw%2Frd@", "others", &ca, "a prefix that is not granted"),
        ("tenure:p%40ss%3Aw%2Frd@", "ours", "?tls=true", "an authority that is not trusted"),
        ("tenure:p%40ss%3Aw%2Frd@", "ours", "", "no encryption"),
    ] {
        let opened = registry::etcd::open(&address(user, prefix, ca), Rules::default()).await;
        let error = opened.map(drop).expect_err(what).to_string();
        assert!(!error.contains("wrong@") && !error.contains("p@ss"), "{error}");
    }
}
