//! Servers that are slow, refuse, or are not there: a clear error within seconds.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use isoform::Error;
use isoform::errors::ErrorKind;
use isoform_remote::RemoteOptions;
use isoform_store::{Cache, EntryKey, Name, Store, StoreOptions};

use crate::fake::{Behaviour, Server};

fn open(url: &str) -> Store {
    RemoteOptions::default()
        .timeout(Duration::from_millis(500))
        .retries(1)
        .rest(Duration::ZERO)
        .open(url, StoreOptions::default())
        .unwrap()
}

/// The error of a put, which names the place, comes soon and is the same for a lookup.
#[track_caller]
fn check_error(url: &str, place: &str) -> Error {
    let store = open(url);
    let start = Instant::now();
    let error = store.put(b"value").unwrap_err();
    assert!(store.get(&Name::of(b"value")).is_err());
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains(place), "{error}");
    assert!(error.message().contains("cannot write values/"), "{error}");
    error
}

#[test]
fn a_busy_server_is_asked_again() {
    let server = Server::start(Behaviour::Busy(1));
    let name = open(&server.url()).put(b"value").unwrap();
    assert_eq!(server.requests.load(Ordering::SeqCst), 2);
    assert_eq!(open(&server.url()).get(&name).unwrap().unwrap(), "value");
    let server = Server::start(Behaviour::Busy(1000));
    let error = check_error(&server.url(), "127.0.0.1");
    // Retries are bounded.
    assert_eq!(server.requests.load(Ordering::SeqCst), 4);
    assert!(
        error.message().contains("check that the server runs"),
        "{error}"
    );
}

#[test]
fn a_server_that_does_not_answer_is_not_asked_for_a_while() {
    let server = Server::start(Behaviour::Silent);
    let store = RemoteOptions::default()
        .timeout(Duration::from_millis(300))
        .retries(0)
        .rest(Duration::from_secs(2))
        .open(&server.url(), StoreOptions::default())
        .unwrap();
    assert!(store.put(b"value").is_err());
    let requests = server.requests.load(Ordering::SeqCst);
    let error = store.get(&Name::of(b"value")).unwrap_err();
    assert!(error.message().contains("did not answer in the last 2 s"));
    assert_eq!(server.requests.load(Ordering::SeqCst), requests);
    std::thread::sleep(Duration::from_secs(2));
    let error = store.get(&Name::of(b"value")).unwrap_err();
    assert!(!error.message().contains("did not answer in the last"));
    assert!(server.requests.load(Ordering::SeqCst) > requests);
}

#[test]
fn a_refusal_is_an_error_at_once() {
    let server = Server::start(Behaviour::Forbidden);
    let error = check_error(&server.url(), "127.0.0.1");
    assert_eq!(server.requests.load(Ordering::SeqCst), 2);
    assert!(error.message().contains("check the credentials"), "{error}");
}

#[test]
fn a_silent_server_is_an_error_in_time() {
    let server = Server::start(Behaviour::Silent);
    check_error(&server.url(), "127.0.0.1");
}

#[test]
fn a_cut_reply_is_never_a_value() {
    let server = Server::start(Behaviour::Right);
    let name = open(&server.url()).put(&[7; 10_000]).unwrap();
    let cut = Server::start(Behaviour::Cut);
    *cut.objects.lock().unwrap() = server.objects.lock().unwrap().clone();
    assert!(open(&cut.url()).get(&name).is_err());
}

/// An address where nobody listens.
fn dead_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn a_dead_server_is_an_error_with_its_address_and_without_credentials() {
    let address = dead_address();
    for url in [
        format!("s3:bucket?endpoint=http://{address}&no_credentials=true"),
        format!("redis://user-name:secret-word@{address}"),
        format!("webdav:http://{address}/p?username=user-name&password=secret-word"),
        format!("webdav:http://user-name:secret-word@{address}/p"),
        format!(
            "azblob:c?connection=AccountName=n;AccountKey=c2VjcmV0LXdvcmQ=;\
             BlobEndpoint=http://{address}/n;"
        ),
    ] {
        let store = open(&url);
        let start = Instant::now();
        let error = store.put(b"value").unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(10), "{url}");
        for text in [
            error.to_string(),
            format!("{error:?}"),
            format!("{store:?}"),
        ] {
            for secret in ["secret-word", "user-name", "c2VjcmV0"] {
                assert!(!text.contains(secret), "{text}");
            }
        }
        assert!(error.message().contains(&address), "{url}: {error}");
    }
}

#[test]
fn a_cache_computes_without_its_server() {
    let store = open(&format!("redis://{}", dead_address()));
    let key = EntryKey::builder("test").build();
    let result = Cache::new(&store, "c", "1").get_or_compute(&key, || Ok(vec![1]));
    assert_eq!(result.unwrap(), vec![1]);
    assert_eq!(store.statistics().cache_errors, 3);
}

#[test]
fn missing_settings_are_errors_that_name_their_variables() {
    for (url, variable) in [
        ("s3:", "ISOFORM_STORE_BUCKET"),
        ("gcs:", "ISOFORM_STORE_GCS_BUCKET"),
        ("azblob:c", "ISOFORM_STORE_AZURE_CONNECTION_STRING"),
        ("redis:", "ISOFORM_STORE_REDIS_ENDPOINT"),
        ("webdav:", "ISOFORM_STORE_WEBDAV_ENDPOINT"),
    ] {
        let error = isoform_remote::open(url, StoreOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(variable), "{error}");
    }
    for url in [
        "redis://h?db=x",
        "s3:b?use_ssl=x&endpoint=h",
        "azblob:c?connection=x",
        "s3:b?mode=x",
    ] {
        let error = isoform_remote::open(url, StoreOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value, "{url}");
    }
}

#[tokio::test]
async fn a_store_works_inside_of_another_runtime() {
    let server = Server::start(Behaviour::Right);
    let store = open(&server.url());
    let name = store.put(b"value").unwrap();
    assert_eq!(store.get(&name).unwrap().unwrap(), "value");
    drop(store);
}
