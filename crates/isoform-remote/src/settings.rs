//! Settings of a server, from a URL and from variables of the environment.

use std::collections::BTreeMap;
use std::env;

use isoform::{Error, Result};
use isoform_store::REMOTE_SCHEMES;
use percent_encoding::percent_decode_str;

/// The prefixes of variables, in the order in which they count.
const PREFIXES: [&str; 2] = ["ISOFORM_STORE_", "SCCACHE_"];

/// A kind of server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scheme {
    S3,
    Redis,
    Gcs,
    Azblob,
    Webdav,
}

/// The kind of server of a scheme in URLs.
fn scheme_of(name: &str) -> Option<Scheme> {
    Some(match name {
        "s3" => Scheme::S3,
        "redis" | "rediss" => Scheme::Redis,
        "gcs" | "gs" => Scheme::Gcs,
        "azblob" => Scheme::Azblob,
        "webdav" => Scheme::Webdav,
        _ => return None,
    })
}

impl Scheme {
    /// The options of a URL, with the suffixes of their variables.
    fn table(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Scheme::S3 => &[
                ("bucket", "BUCKET"),
                ("endpoint", "ENDPOINT"),
                ("region", "REGION"),
                ("use_ssl", "S3_USE_SSL"),
                ("prefix", "S3_KEY_PREFIX"),
                ("no_credentials", "S3_NO_CREDENTIALS"),
                ("virtual_host", "S3_ENABLE_VIRTUAL_HOST_STYLE"),
                ("mode", "S3_RW_MODE"),
            ],
            Scheme::Redis => &[
                ("endpoint", "REDIS_ENDPOINT"),
                ("username", "REDIS_USERNAME"),
                ("password", "REDIS_PASSWORD"),
                ("db", "REDIS_DB"),
                ("prefix", "REDIS_KEY_PREFIX"),
                ("mode", "REDIS_RW_MODE"),
            ],
            Scheme::Gcs => &[
                ("bucket", "GCS_BUCKET"),
                ("key_path", "GCS_KEY_PATH"),
                ("endpoint", "GCS_ENDPOINT"),
                ("prefix", "GCS_KEY_PREFIX"),
                ("mode", "GCS_RW_MODE"),
            ],
            Scheme::Azblob => &[
                ("container", "AZURE_BLOB_CONTAINER"),
                ("connection", "AZURE_CONNECTION_STRING"),
                ("prefix", "AZURE_KEY_PREFIX"),
                ("mode", "AZURE_RW_MODE"),
            ],
            Scheme::Webdav => &[
                ("endpoint", "WEBDAV_ENDPOINT"),
                ("username", "WEBDAV_USERNAME"),
                ("password", "WEBDAV_PASSWORD"),
                ("token", "WEBDAV_TOKEN"),
                ("prefix", "WEBDAV_KEY_PREFIX"),
                ("mode", "WEBDAV_RW_MODE"),
            ],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Scheme::S3 => "s3",
            Scheme::Redis => "redis",
            Scheme::Gcs => "gcs",
            Scheme::Azblob => "azblob",
            Scheme::Webdav => "webdav",
        }
    }
}

/// The settings of a server by the names of options.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) scheme: Scheme,
    values: BTreeMap<&'static str, String>,
}

impl Settings {
    /// Reads the settings of a URL and of the environment; None for a URL of another
    /// kind of place.
    ///
    /// # Errors
    ///
    /// A `ValueError` for an unknown option, and text that is not UTF-8.
    pub(crate) fn read(url: &str) -> Result<Option<Settings>> {
        Settings::read_with(url, |name| env::var(name).ok())
    }

    /// Reads the settings of the URL of a server.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and a `ValueError` for the URL of another place.
    pub(crate) fn required_of(url: &str) -> Result<Settings> {
        Settings::read(url)?.ok_or_else(|| {
            // The rest of a URL may contain a password.
            let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
            let known = REMOTE_SCHEMES.join(":, ");
            Error::value_error(format!(
                "store URL \"{scheme}:\": expected the URL of a server, with {known}:"
            ))
        })
    }

    fn read_with(url: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Settings>> {
        let Some((name, rest)) = url.split_once(':') else {
            return Ok(None);
        };
        let Some(scheme) = scheme_of(name) else {
            return Ok(None);
        };
        let mut values = BTreeMap::new();
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let Some((name, _)) = scheme.table().iter().find(|(known, _)| *known == name) else {
                let known: Vec<&str> = scheme.table().iter().map(|(name, _)| *name).collect();
                let known = known.join(", ");
                return Err(refused(
                    scheme,
                    format!("expected an option of {known}, got {name:?}"),
                ));
            };
            values.insert(*name, decoded(scheme, value)?);
        }
        place_of(scheme, name, place, &mut values)?;
        for (name, suffix) in scheme.table() {
            let mut variables = PREFIXES
                .iter()
                .filter_map(|prefix| variable(&format!("{prefix}{suffix}")))
                .filter(|value| !value.is_empty());
            if !values.contains_key(name)
                && let Some(value) = variables.next()
            {
                values.insert(*name, value);
            }
        }
        Ok(Some(Settings { scheme, values }))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// A setting without which there is no place.
    pub(crate) fn required(&self, name: &str) -> Result<&str> {
        self.get(name).ok_or_else(|| {
            let table = self.scheme.table();
            let suffix = table.iter().find(|(known, _)| *known == name);
            let suffix = suffix.map_or("", |(_, suffix)| suffix);
            let message = format!("expected the {name} in the URL or in ISOFORM_STORE_{suffix}");
            refused(self.scheme, message)
        })
    }

    /// A setting that is true or false; false by default.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.get(name).map(str::to_ascii_lowercase).as_deref() {
            None => Ok(None),
            Some("true" | "on" | "1" | "yes") => Ok(Some(true)),
            Some("false" | "off" | "0" | "no") => Ok(Some(false)),
            Some(other) => {
                let message = format!("{name}: expected true or false, got {other:?}");
                Err(refused(self.scheme, message))
            }
        }
    }

    /// True if the store must not be changed.
    pub(crate) fn is_read_only(&self) -> Result<bool> {
        match self.get("mode").map(str::to_ascii_uppercase).as_deref() {
            None | Some("READ_WRITE") => Ok(false),
            Some("READ_ONLY") => Ok(true),
            Some(other) => {
                let message = format!("mode: expected READ_ONLY or READ_WRITE, got {other:?}");
                Err(refused(self.scheme, message))
            }
        }
    }

    /// The texts that no message may contain.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        for name in ["password", "token", "username"] {
            secrets.extend(self.get(name).map(str::to_owned));
        }
        for (name, value) in self.connection() {
            if ["AccountKey", "SharedAccessSignature"].contains(&name) {
                secrets.push(value.to_owned());
            }
        }
        let endpoint = self.get("endpoint").unwrap_or_default();
        secrets.extend(user_information(endpoint).map(str::to_owned));
        secrets
    }

    /// The parts of the connection string of Azure.
    fn connection(&self) -> impl Iterator<Item = (&str, &str)> {
        let parts = self.get("connection").unwrap_or_default().split(';');
        parts.filter_map(|part| part.split_once('='))
    }

    /// The server or the account of a connection string.
    fn account(&self) -> Option<&str> {
        let value = |wanted| self.connection().find(|(name, _)| *name == wanted);
        let found = value("BlobEndpoint").or_else(|| value("AccountName"));
        found.map(|(_, value)| value)
    }

    /// The place as messages name it, without credentials.
    pub(crate) fn description(&self) -> String {
        let mut text = format!("{}:", self.scheme.name());
        text += self
            .get("bucket")
            .or(self.get("container"))
            .unwrap_or_default();
        if let Some(prefix) = self.get("prefix") {
            text += &format!("/{}", prefix.trim_start_matches('/'));
        }
        if let Some(endpoint) = self.get("endpoint").or_else(|| self.account()) {
            let shown = match user_information(endpoint) {
                Some(user) => endpoint.replace(&format!("{user}@"), ""),
                None => endpoint.to_owned(),
            };
            text += &format!(" at {shown}");
        }
        text
    }
}

/// Splits the place in a URL into settings.
fn place_of(
    scheme: Scheme,
    written: &str,
    place: &str,
    values: &mut BTreeMap<&'static str, String>,
) -> Result<()> {
    let mut set = |name, text: &str| -> Result<()> {
        if !text.is_empty() {
            values.insert(name, decoded(scheme, text)?);
        }
        Ok(())
    };
    let plain = place.trim_start_matches('/');
    match scheme {
        Scheme::S3 | Scheme::Gcs | Scheme::Azblob => {
            let (top, prefix) = plain.split_once('/').unwrap_or((plain, ""));
            let name = match scheme {
                Scheme::Azblob => "container",
                _ => "bucket",
            };
            set(name, top)?;
            set("prefix", prefix)
        }
        Scheme::Redis if plain.is_empty() => Ok(()),
        Scheme::Redis => {
            // `redis://user:password@host:port/db`
            let (host, db) = plain.split_once('/').unwrap_or((plain, ""));
            let (user, host) = host.rsplit_once('@').unwrap_or(("", host));
            let (user, password) = user.split_once(':').unwrap_or((user, ""));
            set("username", user)?;
            set("password", password)?;
            set("db", db)?;
            let written = if written == "rediss" {
                "rediss"
            } else {
                "redis"
            };
            values.insert("endpoint", format!("{written}://{host}"));
            Ok(())
        }
        Scheme::Webdav => {
            if !plain.is_empty() {
                // The address of the server is itself a URL.
                let endpoint = if plain.contains("://") {
                    plain
                } else {
                    &*format!("https://{plain}")
                };
                values.insert("endpoint", endpoint.to_owned());
            }
            Ok(())
        }
    }
}

/// The user and password in an address.
fn user_information(address: &str) -> Option<&str> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next()?;
    authority.rsplit_once('@').map(|(user, _)| user)
}

fn decoded(scheme: Scheme, text: &str) -> Result<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_| refused(scheme, "expected UTF-8 in the URL".to_owned()))?;
    Ok(decoded.into_owned())
}

/// The error about a URL, without the URL, which may contain a password.
pub(crate) fn refused(scheme: Scheme, message: String) -> Error {
    Error::value_error(format!("store URL \"{}:\": {message}", scheme.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, variables: &[(&str, &str)]) -> Result<Option<Settings>> {
        Settings::read_with(url, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[track_caller]
    fn check(url: &str, variables: &[(&str, &str)], expected: &[(&'static str, &str)]) {
        let settings = read(url, variables).unwrap().unwrap();
        let expected = expected
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        assert_eq!(settings.values, expected.collect(), "{url}");
    }

    #[test]
    fn urls_have_settings() {
        check("s3:b/p/q", &[], &[("bucket", "b"), ("prefix", "p/q")]);
        check("s3://b", &[], &[("bucket", "b")]);
        let url = "s3:b?endpoint=http%3A%2F%2Fh%3A1&region=r";
        check(
            url,
            &[],
            &[("bucket", "b"), ("endpoint", "http://h:1"), ("region", "r")],
        );
        check("s3:", &[], &[]);
        check("gs://b/p", &[], &[("bucket", "b"), ("prefix", "p")]);
        check("azblob:c/p", &[], &[("container", "c"), ("prefix", "p")]);
        check("redis://h:6379", &[], &[("endpoint", "redis://h:6379")]);
        let expected = [
            ("db", "2"),
            ("endpoint", "rediss://h"),
            ("password", "p@:"),
            ("username", "u"),
        ];
        check("rediss://u:p%40%3a@h/2", &[], &expected);
        check("webdav:http://h/p", &[], &[("endpoint", "http://h/p")]);
        check(
            "webdav:h/p?prefix=x",
            &[],
            &[("endpoint", "https://h/p"), ("prefix", "x")],
        );
        for other in ["a/b", "file:a", "memory:", "https://h/p"] {
            assert!(read(other, &[]).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn every_scheme_of_a_server_has_a_client() {
        for scheme in REMOTE_SCHEMES {
            assert!(scheme_of(scheme).is_some(), "{scheme}");
            assert!(read(&format!("{scheme}:"), &[]).unwrap().is_some());
        }
    }

    #[test]
    fn variables_fill_gaps_in_order() {
        let variables = [
            ("SCCACHE_BUCKET", "old"),
            ("SCCACHE_REGION", "r"),
            ("ISOFORM_STORE_BUCKET", "new"),
            ("ISOFORM_STORE_REGION", ""),
            ("SCCACHE_REDIS_DB", "1"),
        ];
        check("s3:", &variables, &[("bucket", "new"), ("region", "r")]);
        check("s3:url", &variables, &[("bucket", "url"), ("region", "r")]);
        check("redis:", &variables, &[("db", "1")]);
    }

    #[test]
    fn wrong_settings_are_errors_without_secrets() {
        for (url, message) in [
            ("s3:b?secret=x", "expected an option of bucket"),
            ("s3:b?region=%ff", "UTF-8"),
        ] {
            let error = read(url, &[]).err().unwrap().to_string();
            assert!(error.contains(message), "{error}");
        }
        let settings = read("s3:?use_ssl=maybe&mode=never", &[]).unwrap().unwrap();
        assert!(settings.flag("use_ssl").is_err());
        assert!(settings.is_read_only().is_err());
        let error = settings.required("bucket").unwrap_err().to_string();
        assert!(error.contains("ISOFORM_STORE_BUCKET"), "{error}");
        let settings = read("s3:b?mode=read_only", &[]).unwrap().unwrap();
        assert!(settings.is_read_only().unwrap());
    }

    #[test]
    fn descriptions_hide_credentials() {
        let variables = [("SCCACHE_WEBDAV_TOKEN", "secret-token")];
        for (url, expected) in [
            ("redis://user:secret@h:1/3", "redis: at redis://h:1"),
            ("webdav:https://user:secret@h/p", "webdav: at https://h/p"),
            ("s3:b/p?endpoint=http://h", "s3:b/p at http://h"),
        ] {
            let settings = read(url, &variables).unwrap().unwrap();
            assert_eq!(settings.description(), expected);
        }
        let connection = "connection=AccountName=n;AccountKey=c2VjcmV0;EndpointSuffix=e";
        let settings = read(&format!("azblob:c?{connection}"), &[])
            .unwrap()
            .unwrap();
        assert_eq!(settings.secrets(), ["c2VjcmV0"]);
        assert_eq!(settings.description(), "azblob:c at n");
    }
}
