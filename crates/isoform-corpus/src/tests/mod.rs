//! Tests of indexes with files of a made-up format: the contents of a file are its digest.

mod queries;
mod rows;
mod update;
mod walks;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use isoform::Result;

use crate::{Index, Inspector, Row, SourceFile};

/// Wants files with the extension `m`, whose contents it takes for their digest, and
/// remembers which files it read. Contents that begin with `bad` are an error, those that
/// begin with `panic` make it panic, and files that begin with `other` do not belong to the
/// collection.
#[derive(Default)]
struct TestInspector {
    read: Mutex<Vec<String>>,
}

impl TestInspector {
    /// The files read since the last call, in order.
    fn taken(&self) -> Vec<String> {
        let mut read = std::mem::take(&mut *self.read.lock().unwrap());
        read.sort();
        read
    }
}

impl Inspector for TestInspector {
    fn is_wanted(&self, name: &str) -> bool {
        name.ends_with(".m")
    }

    fn open(&self, path: &Path) -> Result<Bytes> {
        Ok(fs::read(path)?.into())
    }

    fn row(&self, file: &SourceFile) -> Option<Row> {
        self.read.lock().unwrap().push(file.path.clone());
        let contents = match file.read() {
            Ok(contents) => String::from_utf8(contents.to_vec()).unwrap(),
            Err(error) => return Some(Row::failed("", error.message())),
        };
        if contents.starts_with("bad") {
            return Some(Row::failed("", contents));
        }
        assert!(!contents.starts_with("panic"), "planted");
        if contents.starts_with("other") {
            return None;
        }
        let mut row = Row::default();
        // The lines after the first are names of further files.
        let mut lines = contents.lines();
        row.digest = lines.next().map(str::to_owned);
        row.files = lines.map(str::to_owned).collect();
        Some(row)
    }
}

/// Writes a file an hour ago, so that its stamp counts.
fn write(root: &Path, name: &str, contents: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, contents).unwrap();
    age(&path);
}

fn age(path: &Path) {
    let hour = SystemTime::now() - Duration::from_secs(3600);
    let file = File::options().append(true).open(path).unwrap();
    file.set_modified(hour).unwrap();
}

/// The rows of an index as `path digest` or `path: error`, with the root left out.
fn listed(root: &Path, index: &Path) -> Vec<String> {
    let rows = Index::open(index).unwrap().rows();
    let root = format!("{}/", root.display());
    let text = |row: Row| {
        let path = row.path.strip_prefix(&root).unwrap_or(&row.path).to_owned();
        match (row.digest, row.error) {
            (Some(digest), None) => format!("{path} {digest}"),
            (None, Some(error)) => format!("{path}: {error}"),
            other => panic!("{path}: {other:?}"),
        }
    };
    rows.map(|row| text(row.unwrap())).collect()
}

/// The names of the files in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    entries.map(|entry| name(entry.unwrap())).collect()
}
