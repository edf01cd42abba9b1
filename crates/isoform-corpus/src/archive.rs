//! Zip archives, wheels among them, as folders.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Component;

use bytes::Bytes;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use zip::{CompressionMethod, ZipArchive};

use crate::source::{Container, Entry, EntryKind, stamp_of};

/// The number of bytes that a file of an archive may have when it is unpacked. A small
/// archive may claim, and contain, any number of zeros.
const LIMIT: u64 = 2 << 30;

/// True for the name of a file that is walked like a folder.
pub(crate) fn is_archive(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["zip", "whl"]
        .iter()
        .any(|archive| extension.eq_ignore_ascii_case(archive))
}

/// A zip archive in memory, or in mapped memory.
pub(crate) struct Archive {
    place: String,
    bytes: Bytes,
    zip: ZipArchive<Cursor<Bytes>>,
    /// The positions of the files of each folder, by name; None for a folder.
    folders: BTreeMap<String, BTreeMap<String, Option<usize>>>,
    stamp: u64,
}

impl Archive {
    /// Reads the list of an archive, whose files change only if `stamp` changes.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place of a damaged archive.
    pub(crate) fn open(place: &str, bytes: Bytes, stamp: u64) -> Result<Archive> {
        let zip = ZipArchive::new(Cursor::new(bytes.clone())).map_err(|error| {
            let message = format!("{place}: this is not a zip archive, or it is damaged: {error}");
            Error::new(ErrorKind::Io, message)
        })?;
        let mut folders: BTreeMap<String, BTreeMap<String, Option<usize>>> = BTreeMap::new();
        for position in 0..zip.len() {
            let Some(name) = zip.name_for_index(position).filter(|name| is_inside(name)) else {
                continue;
            };
            let mut folder = String::new();
            let mut parts = name.split('/').filter(|part| !part.is_empty()).peekable();
            while let Some(part) = parts.next() {
                let is_file = parts.peek().is_none() && !name.ends_with('/');
                let entries = folders.entry(folder.clone()).or_default();
                let entry = entries.entry(part.to_owned()).or_default();
                if is_file {
                    *entry = Some(position);
                }
                if !folder.is_empty() {
                    folder.push('/');
                }
                folder += part;
            }
        }
        Ok(Archive {
            place: place.to_owned(),
            bytes,
            zip,
            folders,
            stamp,
        })
    }

    #[track_caller]
    fn failed(&self, file: &str, problem: &dyn std::fmt::Display) -> Error {
        let place = &self.place;
        Error::new(
            ErrorKind::Io,
            format!("{place}: cannot read '{file}': {problem}"),
        )
    }

    fn position(&self, file: &str) -> Option<usize> {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        *self.folders.get(folder)?.get(name)?
    }
}

/// True for the name of an archive's file that does not lead out of the archive.
fn is_inside(name: &str) -> bool {
    let mut parts = std::path::Path::new(name).components();
    !name.contains('\\') && parts.all(|part| matches!(part, Component::Normal(_)))
}

impl Container for Archive {
    fn is_archive(&self) -> bool {
        true
    }

    fn entries(&self, folder: &str) -> Result<Vec<Entry>> {
        let mut zip = self.zip.clone();
        let entries = self.folders.get(folder).into_iter().flatten();
        let entries = entries.map(|(name, position)| {
            let kind = match position {
                None => EntryKind::Folder,
                Some(position) => match zip.by_index_raw(*position) {
                    Ok(file) => {
                        let (size, sum) = (file.size(), file.crc32());
                        let stamp = match self.stamp {
                            0 => 0,
                            stamp => stamp_of(&format!("{stamp} {size} {sum}")),
                        };
                        EntryKind::File { size, stamp }
                    }
                    // Reading the file reports the damage.
                    Err(_) => EntryKind::File { size: 0, stamp: 0 },
                },
            };
            let name = name.clone();
            Entry { name, kind }
        });
        Ok(entries.collect())
    }

    fn read(&self, file: &str) -> Result<Bytes> {
        let position = self
            .position(file)
            .ok_or_else(|| self.failed(file, &"the archive has no such file"))?;
        let mut zip = self.zip.clone();
        let mut entry = zip
            .by_index(position)
            .map_err(|error| self.failed(file, &error))?;
        let start = entry
            .data_start()
            .filter(|_| entry.compression() == CompressionMethod::Stored);
        let range = start
            .and_then(|start| usize::try_from(start).ok())
            .zip(usize::try_from(entry.size()).ok())
            .and_then(|(start, size)| Some(start..start.checked_add(size)?))
            .filter(|range| range.end <= self.bytes.len());
        let contents = match range {
            Some(range) => self.bytes.slice(range),
            None => {
                let mut out = Vec::new();
                (&mut entry)
                    .take(LIMIT + 1)
                    .read_to_end(&mut out)
                    .map_err(|error| self.failed(file, &error))?;
                if out.len() as u64 > LIMIT {
                    let limit = format!(
                        "it has more than {LIMIT} bytes when it is unpacked, the limit; unpack the \
                         archive and give the folder"
                    );
                    return Err(self.failed(file, &limit));
                }
                out.into()
            }
        };
        let mut sum = flate2::Crc::new();
        sum.update(&contents);
        if sum.sum() != entry.crc32() {
            return Err(self.failed(file, &"the checksum is wrong; fetch the archive again"));
        }
        Ok(contents)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    fn archive(files: &[(&str, &[u8], CompressionMethod)]) -> Bytes {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, contents, method) in files {
            let options = SimpleFileOptions::default().compression_method(*method);
            writer.start_file(*name, options).unwrap();
            writer.write_all(contents).unwrap();
        }
        writer.finish().unwrap().into_inner().into()
    }

    fn names(archive: &Archive, folder: &str) -> Vec<String> {
        let entries = archive.entries(folder).unwrap();
        let text = |entry: Entry| match entry.kind {
            EntryKind::Folder => format!("{}/", entry.name),
            EntryKind::File { size, .. } => format!("{} {size}", entry.name),
        };
        entries.into_iter().map(text).collect()
    }

    #[test]
    fn folders_and_files_of_an_archive() {
        let zeros = vec![0; 1000];
        let bytes = archive(&[
            ("b/deep/x.onnx", b"model", CompressionMethod::Stored),
            ("a.onnx", &zeros, CompressionMethod::Deflated),
            ("b/y.onnx", b"", CompressionMethod::Stored),
            ("../out.onnx", b"evil", CompressionMethod::Stored),
            ("/root.onnx", b"evil", CompressionMethod::Stored),
        ]);
        let archive = Archive::open("a.zip", bytes.clone(), 7).unwrap();
        assert_eq!(names(&archive, ""), ["a.onnx 1000", "b/"]);
        assert_eq!(names(&archive, "b"), ["deep/", "y.onnx 0"]);
        assert_eq!(archive.read("b/deep/x.onnx").unwrap(), "model");
        assert_eq!(archive.read("a.onnx").unwrap(), zeros);
        let error = archive.read("b").unwrap_err();
        assert_eq!(
            error.message(),
            "a.zip: cannot read 'b': the archive has no such file"
        );

        // A flipped bit of a stored file.
        let mut damaged = bytes.to_vec();
        let start = damaged
            .windows(5)
            .position(|part| part == b"model")
            .unwrap();
        damaged[start] ^= 1;
        let archive = Archive::open("a.zip", damaged.into(), 7).unwrap();
        let error = archive.read("b/deep/x.onnx").unwrap_err();
        assert!(error.message().contains("checksum"), "{error}");
    }

    #[test]
    fn a_cut_archive_is_an_error() {
        let bytes = archive(&[("a.onnx", b"model", CompressionMethod::Deflated)]);
        for length in 0..bytes.len() {
            let archive = Archive::open("a.zip", bytes.slice(..length), 0);
            let error = archive.err().unwrap();
            assert!(error.message().starts_with("a.zip: "), "{error}");
        }
    }
}
