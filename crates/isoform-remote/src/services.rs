//! The client of each kind of server.

use isoform::Result;
use opendal::services::{Azblob, Gcs, Redis, S3, Webdav};
use opendal::{Builder, Operator};

use crate::settings::{Scheme, Settings, refused};

/// Makes the client of a server. Does not connect.
///
/// # Errors
///
/// A `ValueError` for a wrong or missing setting.
pub(crate) fn client(settings: &Settings) -> Result<Operator> {
    match settings.scheme {
        Scheme::S3 => s3(settings),
        Scheme::Redis => redis(settings),
        Scheme::Gcs => gcs(settings),
        Scheme::Azblob => azblob(settings),
        Scheme::Webdav => webdav(settings),
    }
}

fn finished(settings: &Settings, builder: impl Builder) -> Result<Operator> {
    Operator::new(builder).map_err(|error| {
        // The context of the error may repeat a setting.
        let message = format!("{}: {}", error.kind(), error.message());
        refused(settings.scheme, message)
    })
}

fn root(settings: &Settings) -> String {
    format!(
        "/{}",
        settings.get("prefix").unwrap_or_default().trim_matches('/')
    )
}

fn s3(settings: &Settings) -> Result<Operator> {
    let mut builder = S3::default()
        .bucket(settings.required("bucket")?)
        .root(&root(settings))
        .region(settings.get("region").unwrap_or("auto"));
    if let Some(endpoint) = settings.get("endpoint") {
        let scheme = match settings.flag("use_ssl")? {
            _ if endpoint.contains("://") => "",
            Some(false) => "http://",
            _ => "https://",
        };
        builder = builder.endpoint(&format!("{scheme}{endpoint}"));
    }
    if settings.flag("no_credentials")? == Some(true) {
        builder = builder.skip_signature();
    }
    if settings.flag("virtual_host")? == Some(true) {
        builder = builder.enable_virtual_host_style();
    }
    finished(settings, builder)
}

fn redis(settings: &Settings) -> Result<Operator> {
    let mut builder = Redis::default()
        .endpoint(settings.required("endpoint")?)
        .root(&root(settings));
    if let Some(username) = settings.get("username") {
        builder = builder.username(username);
    }
    if let Some(password) = settings.get("password") {
        builder = builder.password(password);
    }
    if let Some(db) = settings.get("db") {
        let number = db.parse().map_err(|_| {
            let message = format!("db: expected the number of a database, got {db:?}");
            refused(settings.scheme, message)
        })?;
        builder = builder.db(number);
    }
    finished(settings, builder)
}

fn gcs(settings: &Settings) -> Result<Operator> {
    let mut builder = Gcs::default()
        .bucket(settings.required("bucket")?)
        .root(&root(settings));
    if let Some(path) = settings.get("key_path") {
        builder = builder.credential_path(path);
    }
    if let Some(endpoint) = settings.get("endpoint") {
        builder = builder.endpoint(endpoint);
    }
    finished(settings, builder)
}

fn azblob(settings: &Settings) -> Result<Operator> {
    let connection = settings.required("connection")?;
    let builder = Azblob::from_connection_string(connection).map_err(|error| {
        let message = format!("connection: {}", error.kind());
        refused(settings.scheme, message)
    })?;
    let builder = builder
        .container(settings.required("container")?)
        .root(&root(settings));
    finished(settings, builder)
}

fn webdav(settings: &Settings) -> Result<Operator> {
    let mut builder = Webdav::default()
        .endpoint(settings.required("endpoint")?)
        .root(&root(settings));
    if let Some(username) = settings.get("username") {
        builder = builder.username(username);
    }
    if let Some(password) = settings.get("password") {
        builder = builder.password(password);
    }
    if let Some(token) = settings.get("token") {
        builder = builder.token(token);
    }
    finished(settings, builder)
}
