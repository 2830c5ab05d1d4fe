//! A store that looks like S3 and ignores conditions on puts: it must be found out.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

type Objects = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Serves puts, gets, heads and deletes, whatever their conditions are.
fn serve(mut stream: TcpStream, objects: &Objects) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (method, path) =
            (method.to_owned(), path.split('?').next().unwrap_or_default().to_owned());
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if header.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut objects = objects.lock().unwrap();
        let (status, found) = match method.as_str() {
            "PUT" => {
                objects.insert(path, body);
                ("200 OK", Vec::new())
            }
            // Several may be deleted at once: their names are in the body.
            "POST" => {
                let body = String::from_utf8_lossy(&body).into_owned();
                for key in body.split("<Key>").skip(1).filter_map(|it| it.split("</Key>").next()) {
                    objects.remove(&format!("/tenure-locks/{key}"));
                }
                ("200 OK", b"<DeleteResult></DeleteResult>".to_vec())
            }
            _ => match objects.get(&path) {
                Some(bytes) => ("200 OK", bytes.clone()),
                None => ("404 Not Found", Vec::new()),
            },
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nETag: \"same\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\
             Content-Length: {}\r\n\r\n",
            found.len()
        );
        stream.write_all(head.as_bytes())?;
        if method != "HEAD" {
            stream.write_all(&found)?;
        }
    }
}

#[test]
fn store_that_ignores_conditions_is_refused_with_advice() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let objects = Objects::default();
    let kept = objects.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let objects = objects.clone();
            std::thread::spawn(move || serve(stream, &objects));
        }
    });
    let child = "liar::bucket_of_the_environment_is_refused";
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", child, "--nocapture"])
        .env("AWS_ENDPOINT_URL", &url)
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "us-east-1")
        .env("AWS_ACCESS_KEY_ID", "anybody")
        .env("AWS_SECRET_ACCESS_KEY", "anything")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("mops+s3://"), "{said}");
    assert!(kept.lock().unwrap().is_empty(), "nothing is left behind");
}

#[tokio::test]
#[ignore = "started by the test above"]
async fn bucket_of_the_environment_is_refused() {
    let opened = registry::object::open("s3://tenure-locks/x", claims::Rules::default()).await;
    let error = opened.map(drop).unwrap_err().to_string();
    assert!(error.contains("conditions") && error.contains("mops+s3://tenure-locks/x"), "{error}");
    eprintln!("{error}");
}
