//! Checks of all files, and the removal of damaged files.

use isoform::Result;

use crate::entry::Description;
use crate::envelope::{self, Envelope};
use crate::name::Name;
use crate::place::{FileKind, parse_path};
use crate::store::Store;

/// The result of checking all files of a store.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The number of files that are whole.
    pub whole: u64,
    /// The total size of these files in bytes.
    pub bytes: u64,
    /// The files of no use, in the order of their paths.
    pub damage: Vec<Damage>,
    /// The paths of files that have a newer layout, with its version.
    pub foreign: Vec<(String, u16)>,
    /// The number of files that a repair removed.
    pub removed: u64,
}

/// A file of no use: a lookup of it is a miss.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The path of the file in the store.
    pub path: String,
    /// The damage in words.
    pub reason: String,
}

impl Store {
    /// Reads and checks all files: headers, checksums, names, keys, and the presence of
    /// the values that entries need.
    ///
    /// O(bytes of all files).
    ///
    /// # Errors
    ///
    /// An `OSError` if the files cannot be listed or read. Damage is a report, not an
    /// error.
    pub fn verify(&self) -> Result<Verification> {
        self.check_files(false)
    }

    /// As [`verify`](Self::verify), and removes the damaged files and the remains of
    /// writers that died. The index is built again.
    ///
    /// # Errors
    ///
    /// As [`verify`](Self::verify), and an `OSError` in a read-only store.
    pub fn repair(&self) -> Result<Verification> {
        self.check_writable()?;
        let swept = self.inner.engine.sweep(self.inner.options.clock.now());
        let mut report = self.check_files(true)?;
        report.removed += swept as u64;
        self.rebuild_index()?;
        Ok(report)
    }

    fn check_files(&self, repairs: bool) -> Result<Verification> {
        let mut report = Verification::default();
        // Values first: a repair finds the entries whose values it removed.
        for kind in FileKind::ALL {
            for file in self.inner.engine.list(kind.folder())? {
                let path = file?.path;
                let Some((kind, name)) = parse_path(&path) else {
                    let reason = "the path is not one of a store".to_owned();
                    report.damage.push(Damage { path, reason });
                    continue;
                };
                self.check_file(kind, &name, path, repairs, &mut report)?;
            }
        }
        Ok(report)
    }

    fn check_file(
        &self,
        kind: FileKind,
        name: &Name,
        path: String,
        repairs: bool,
        report: &mut Verification,
    ) -> Result<()> {
        let Some(found) = self.inner.engine.read(&path)? else {
            // Somebody removed the file during the walk.
            return Ok(());
        };
        let size = found.bytes.len() as u64;
        match self.damage_of(kind, name, found.bytes)? {
            Condition::Whole => {
                report.whole += 1;
                report.bytes += size;
            }
            Condition::Foreign(version) => report.foreign.push((path, version)),
            Condition::Damaged(reason) => {
                let is_useless = |file| {
                    let condition = self.damage_of(kind, name, file);
                    matches!(condition, Ok(Condition::Damaged(_)))
                };
                if repairs {
                    // A server has no locks, and whoever repairs a store wants it repaired.
                    let _guard = self.lock_changes();
                    report.removed += u64::from(self.discard_now(&path, is_useless));
                }
                report.damage.push(Damage { path, reason });
            }
        }
        Ok(())
    }

    fn damage_of(&self, kind: FileKind, name: &Name, file: Vec<u8>) -> Result<Condition> {
        let envelope = match kind {
            FileKind::Value => envelope::opened_value(name, file),
            FileKind::Entry => envelope::opened(kind, file),
        };
        let payload = match envelope {
            Envelope::Whole(payload) => payload,
            Envelope::Torn(reason) => return Ok(Condition::Damaged(reason.to_owned())),
            Envelope::Foreign(version) => return Ok(Condition::Foreign(version)),
        };
        if kind == FileKind::Value {
            return Ok(Condition::Whole);
        }
        let Some((description, _)) = Description::parse(&payload) else {
            return Ok(Condition::Damaged("the entry cannot be read".to_owned()));
        };
        if description.digest() != *name {
            let reason = "the entry belongs to another key";
            return Ok(Condition::Damaged(reason.to_owned()));
        }
        for value in description.named() {
            let found = self.inner.engine.read(&FileKind::Value.path(&value))?;
            let envelope = found.map(|found| envelope::opened_value(&value, found.bytes));
            if !matches!(envelope, Some(Envelope::Whole(_) | Envelope::Foreign(_))) {
                let reason = format!("the value {value} of the entry is gone");
                return Ok(Condition::Damaged(reason));
            }
        }
        Ok(Condition::Whole)
    }
}

enum Condition {
    Whole,
    Foreign(u16),
    Damaged(String),
}
