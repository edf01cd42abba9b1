//! Paths of the files in a store: `values/ab/cdef…` and `entries/ab/cdef…`.
//!
//! The first two digits of a digest name a folder, so that no folder gets more than a
//! 256th of the files.

use std::fmt;

use crate::name::Name;

/// The two kinds of files in a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FileKind {
    /// Bytes under their own name.
    Value,
    /// A result under the digest of its key.
    Entry,
}

impl FileKind {
    pub(crate) const ALL: [FileKind; 2] = [FileKind::Value, FileKind::Entry];

    /// The top folder of the files of this kind.
    pub(crate) const fn folder(self) -> &'static str {
        match self {
            FileKind::Value => "values",
            FileKind::Entry => "entries",
        }
    }

    /// The number of the kind in files and in the index.
    pub(crate) const fn number(self) -> u8 {
        match self {
            FileKind::Value => 1,
            FileKind::Entry => 2,
        }
    }

    pub(crate) fn path(self, name: &Name) -> String {
        let hex = blake3::Hash::from_bytes(*name.digest()).to_hex();
        let (top, rest) = hex.split_at(2);
        [self.folder(), "/", top, "/", rest].concat()
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Value => "value",
            FileKind::Entry => "entry",
        })
    }
}

/// Returns the kind and the digest of a path; None for a file that no store writes.
pub(crate) fn parse_path(path: &str) -> Option<(FileKind, Name)> {
    let (folder, hex) = path.split_once('/')?;
    let kind = FileKind::ALL
        .into_iter()
        .find(|kind| kind.folder() == folder)?;
    let (top, rest) = hex.split_once('/')?;
    if top.len() != 2 || rest.len() != 62 {
        return None;
    }
    let name: Name = [top, rest].concat().parse().ok()?;
    // Upper-case digits name the same digest, but no store writes them.
    (kind.path(&name) == path).then_some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_parse_back() {
        let name = Name::of(b"x");
        for kind in FileKind::ALL {
            assert_eq!(parse_path(&kind.path(&name)), Some((kind, name)));
            assert_eq!(parse_path(&kind.path(&name).to_uppercase()), None);
        }
        let path = FileKind::Value.path(&Name::of(b"a"));
        let upper = path.replace("values/", "").to_uppercase();
        assert_eq!(parse_path(&format!("values/{upper}")), None);
        for foreign in [
            "values",
            "values/ab",
            "tmp/ab/cd",
            "values/ab/cd",
            "index.sqlite",
        ] {
            assert_eq!(parse_path(foreign), None, "{foreign}");
        }
    }
}
