//! The files of a collection in the order of an index.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::vec;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use crate::archive::{Archive, is_archive};
use crate::places::{open_root, public_root};
use crate::row::{Row, path_order};
use crate::source::{EntryKind, Place, Selection, SourceFile, file_stamp};

/// Knows which files belong to a collection, and reads them.
pub trait Inspector: Sync {
    /// True if a file with this name may belong to the collection. Files that a user names,
    /// and the values of stores, are read whatever their names.
    fn is_wanted(&self, name: &str) -> bool;

    /// Returns the contents of a file of this machine, mapped if possible.
    ///
    /// # Errors
    ///
    /// An `OSError` if the file cannot be read.
    fn open(&self, path: &Path) -> Result<Bytes>;

    /// Returns the row of a file, without size and stamp; None if the file does not belong
    /// to the collection. A file that belongs to it and cannot be read has a row with the
    /// error.
    fn row(&self, file: &SourceFile) -> Option<Row>;
}

/// A file, or the row of a failure.
pub(crate) enum WalkItem {
    File(SourceFile),
    Failed(Box<Row>),
}

/// The files below roots in the order of [`path_order`]. Needs memory for one folder per
/// level, and for the identities of the folders.
///
/// Links are followed; a folder reached again is skipped, so that circular links are
/// harmless.
pub(crate) struct Walk<'i> {
    inspector: &'i dyn Inspector,
    roots: vec::IntoIter<String>,
    /// The root that is being walked.
    root: Arc<str>,
    /// The entries that remain of the folders on the way.
    levels: Vec<vec::IntoIter<Node>>,
    seen: HashSet<FolderIdentity>,
}

/// A file or folder that was listed.
struct Node {
    name: String,
    path: String,
    place: Place,
    kind: NodeKind,
    selection: Selection,
}

enum NodeKind {
    /// Of this machine: a file or a folder.
    Unknown,
    Folder,
    File {
        size: u64,
        stamp: u64,
    },
}

#[cfg(unix)]
type FolderIdentity = (u64, u64);
#[cfg(not(unix))]
type FolderIdentity = PathBuf;

/// Sorts roots, and removes those inside of others.
pub(crate) fn outermost(roots: &[String]) -> Vec<String> {
    let trimmed = roots.iter().map(|root| match root.trim_end_matches('/') {
        "" if !root.is_empty() => "/".to_owned(),
        trimmed => trimmed.to_owned(),
    });
    let mut sorted: Vec<String> = trimmed.collect();
    sorted.sort_by(|left, right| path_order(left, right));
    let mut outermost: Vec<String> = Vec::new();
    if sorted.iter().any(|root| root == ".") {
        sorted.retain(|root| root == "." || !is_below_here(root));
    }
    for root in sorted {
        let is_inside = outermost.last().is_some_and(|last| {
            let rest = root.strip_prefix(&**last);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || last == "/")
        });
        if !is_inside {
            outermost.push(root);
        }
    }
    outermost
}

/// Checks that a root is there.
///
/// # Errors
///
/// An `OSError` that names the root.
pub(crate) fn check_root(root: &str) -> Result<()> {
    let reached = Walk::root(root).and_then(|node| match &node.place {
        Place::Local(path) => {
            let metadata = fs::metadata(path);
            metadata.map(drop).map_err(Error::from)
        }
        Place::Inside(container, _) => container.entries("").map(drop),
    });
    reached.map_err(|error| {
        let root = public_root(root);
        let message = format!("{root}: cannot read this root: {}", error.message());
        Error::new(error.kind(), message)
    })
}

/// True for a path below the current folder.
fn is_below_here(root: &str) -> bool {
    let path = Path::new(root);
    path.is_relative() && path.exists() && !root.split('/').any(|part| part == "..")
}

impl<'i> Walk<'i> {
    pub(crate) fn new(roots: &[String], inspector: &'i dyn Inspector) -> Self {
        Walk {
            inspector,
            roots: outermost(roots).into_iter(),
            root: Arc::from(""),
            levels: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// The node of a root.
    fn root(root: &str) -> Result<Node> {
        let selection = Selection::User;
        let name = root.rsplit_once('/').map_or(root, |(_, name)| name);
        if let Some((path, container)) = open_root(root)? {
            return Ok(Node {
                name: name.to_owned(),
                path,
                place: Place::Inside(container, String::new()),
                kind: NodeKind::Folder,
                selection,
            });
        }
        Ok(Node {
            name: name.to_owned(),
            path: root.trim_end_matches('/').to_owned(),
            place: Place::Local(PathBuf::from(root)),
            kind: NodeKind::Unknown,
            selection,
        })
    }

    /// Visits a node: a folder is entered, a file returned if it is wanted.
    fn visit(&mut self, node: Node) -> Result<Option<SourceFile>> {
        let (size, stamp) = match node.kind {
            NodeKind::Folder => {
                self.enter(&node)?;
                return Ok(None);
            }
            NodeKind::File { size, stamp } => (size, stamp),
            NodeKind::Unknown => {
                let Place::Local(path) = &node.place else {
                    return Ok(None);
                };
                let is_wanted = self.is_wanted(&node) || is_archive(&node.name);
                let metadata = match fs::metadata(path) {
                    Ok(metadata) => metadata,
                    // A broken link matters only if it is named like a model. Other errors
                    // may hide a folder.
                    Err(error) if !is_wanted && error.kind() == io::ErrorKind::NotFound => {
                        return Ok(None);
                    }
                    Err(error) => return Err(Error::new(ErrorKind::Io, error.to_string())),
                };
                if metadata.is_dir() {
                    if self.seen.insert(identity(path, &metadata)) {
                        self.enter(&node)?;
                    }
                    return Ok(None);
                }
                if !metadata.is_file() && node.selection != Selection::User {
                    return Ok(None);
                }
                let stamp = file_stamp(&metadata, SystemTime::now());
                (metadata.len(), stamp)
            }
        };
        let is_wanted = self.is_wanted(&node);
        let file = SourceFile {
            root: Arc::clone(&self.root),
            path: node.path,
            size,
            stamp,
            selection: node.selection,
            place: node.place,
        };
        if is_archive(&node.name) && !file.place.is_in_archive() {
            let bytes = match &file.place {
                Place::Local(path) => self.inspector.open(path)?,
                Place::Inside(..) => file.read()?,
            };
            let archive = Archive::open(&file.path, bytes, stamp)?;
            self.enter(&Node {
                name: node.name,
                path: file.path,
                place: Place::Inside(Arc::new(archive), String::new()),
                kind: NodeKind::Folder,
                selection: Selection::Name,
            })?;
            return Ok(None);
        }
        Ok(is_wanted.then_some(file))
    }

    fn is_wanted(&self, node: &Node) -> bool {
        node.selection != Selection::Name || self.inspector.is_wanted(&node.name)
    }

    /// Lists a folder, whose entries are visited next.
    fn enter(&mut self, folder: &Node) -> Result<()> {
        let mut nodes = match &folder.place {
            Place::Local(path) => local_entries(path, &folder.path)?,
            Place::Inside(container, inner) => {
                let entries = container.entries(inner)?.into_iter().map(|entry| {
                    let inner = match &**inner {
                        "" => entry.name.clone(),
                        inner => format!("{inner}/{}", entry.name),
                    };
                    Node {
                        path: format!("{}/{}", folder.path, entry.name),
                        place: Place::Inside(Arc::clone(container), inner),
                        kind: match entry.kind {
                            EntryKind::Folder => NodeKind::Folder,
                            EntryKind::File { size, stamp } => NodeKind::File { size, stamp },
                        },
                        selection: if folder.path.starts_with("store:") {
                            Selection::Content
                        } else {
                            Selection::Name
                        },
                        name: entry.name,
                    }
                });
                entries.collect()
            }
        };
        nodes.sort_by(|left, right| left.name.cmp(&right.name));
        self.levels.push(nodes.into_iter());
        Ok(())
    }

    fn next_node(&mut self) -> Option<Result<Node, Row>> {
        loop {
            match self.levels.last_mut() {
                Some(level) => match level.next() {
                    Some(node) => return Some(Ok(node)),
                    None => drop(self.levels.pop()),
                },
                None => {
                    let root = self.roots.next()?;
                    self.root = Arc::from(&*root);
                    let node = Walk::root(&root);
                    let failed = |error: Error| Row::failed(public_root(&root), error.message());
                    return Some(node.map_err(failed));
                }
            }
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = WalkItem;

    fn next(&mut self) -> Option<WalkItem> {
        loop {
            let node = match self.next_node()? {
                Ok(node) => node,
                Err(row) => return Some(WalkItem::Failed(Box::new(row))),
            };
            let path = node.path.clone();
            match self.visit(node) {
                Ok(Some(file)) => return Some(WalkItem::File(file)),
                Ok(None) => {}
                Err(error) => {
                    return Some(WalkItem::Failed(Box::new(Row::failed(
                        path,
                        error.message(),
                    ))));
                }
            }
        }
    }
}

fn local_entries(folder: &Path, path: &str) -> Result<Vec<Node>> {
    let list = || -> std::io::Result<Vec<OsString>> {
        let entries = fs::read_dir(folder)?;
        entries.map(|entry| Ok(entry?.file_name())).collect()
    };
    let names = list().map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
    let nodes = names.into_iter().map(|name| {
        let text = name.to_string_lossy().into_owned();
        Node {
            path: format!("{path}/{text}"),
            place: Place::Local(folder.join(&name)),
            kind: NodeKind::Unknown,
            selection: Selection::Name,
            name: text,
        }
    });
    Ok(nodes.collect())
}

#[cfg(unix)]
fn identity(_: &Path, metadata: &Metadata) -> FolderIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &Metadata) -> FolderIdentity {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
