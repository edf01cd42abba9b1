//! Files of rows: Parquet files with the columns of an index.

use std::fs::File;
use std::io::{Read, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use isoform::compare::Digest;
use isoform::errors::ErrorKind;
use isoform::{Error, Result};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;

use crate::columns::{self, Column, check_schema, read_group, read_texts, write_group};
use crate::row::Row;
use crate::shared_file::SharedFile;
use crate::source::stamp_of;

/// The version of the columns and of their meaning.
pub const INDEX_VERSION: u32 = 1;

/// The keys of the metadata of a file.
const VERSION_KEY: &str = "isoform.index";
const DIGEST_KEY: &str = "isoform.digest";
const ROOTS_KEY: &str = "isoform.roots";
const FOLDER_KEY: &str = "isoform.folder";

/// The number of rows of a row group.
const GROUP_ROWS: usize = 1 << 16;
/// The size of the rows of a row group in memory, in bytes.
const GROUP_BYTES: usize = 32 << 20;

/// Writes rows to a Parquet file, group by group: the memory needed does not depend on
/// the number of rows.
pub struct RowWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    place: String,
    rows: Vec<Row>,
    weight: usize,
    count: u64,
}

impl<W: Write + Send> RowWriter<W> {
    /// Starts a file. Messages name it by `place`; the roots of the collection are kept in
    /// the metadata of the file.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place.
    pub fn new(sink: W, place: impl Into<String>, roots: &[String]) -> Result<Self> {
        let versions = [INDEX_VERSION, Digest::FORMAT_VERSION.into()];
        RowWriter::with_versions(sink, place.into(), roots, versions)
    }

    /// Starts a file with other versions of columns and digests.
    pub(crate) fn with_versions(
        sink: W,
        place: String,
        roots: &[String],
        [index, digest]: [u32; 2],
    ) -> Result<Self> {
        let roots = serde_json::json!(roots).to_string();
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("isoform {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![
                pair(VERSION_KEY, index.to_string()),
                pair(DIGEST_KEY, digest.to_string()),
                pair(ROOTS_KEY, roots),
                pair(FOLDER_KEY, this_folder()),
            ]))
            .set_compression(Compression::ZSTD(ZstdLevel::default()));
        // Nearly every value of these columns differs from the others.
        for column in ["path", "stamp", "digest"] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        let started = columns::schema().and_then(|schema| {
            SerializedFileWriter::new(sink, schema, Arc::new(properties.build()))
        });
        let writer = started.map_err(|error| failed("write", &place, &error))?;
        Ok(RowWriter {
            writer,
            place,
            rows: Vec::new(),
            weight: 0,
            count: 0,
        })
    }

    /// Adds a row.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place; the file is incomplete then.
    pub fn push(&mut self, row: Row) -> Result<()> {
        self.weight += row.weight();
        self.rows.push(row);
        if self.rows.len() >= GROUP_ROWS || self.weight >= GROUP_BYTES {
            self.write_group()?;
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<()> {
        let rows = mem::take(&mut self.rows);
        self.weight = 0;
        self.count += rows.len() as u64;
        write_group(&mut self.writer, &rows).map_err(|error| failed("write", &self.place, &error))
    }

    /// Completes the file, and returns the number of its rows.
    ///
    /// # Errors
    ///
    /// An `OSError` that names the place; the file is incomplete then.
    pub fn finish(mut self) -> Result<u64> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        match self.writer.close() {
            Ok(_) => Ok(self.count),
            Err(error) => Err(failed("write", &self.place, &error)),
        }
    }
}

/// A text that tells the current folder from others, and does not reveal its name.
fn this_folder() -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    stamp_of(&folder.to_string_lossy()).to_string()
}

fn pair(key: &str, value: String) -> KeyValue {
    KeyValue::new(key.to_owned(), value)
}

#[track_caller]
fn failed(verb: &str, place: &str, error: &ParquetError) -> Error {
    let message = match error {
        ParquetError::External(cause) => cause.to_string(),
        error => error.to_string(),
    };
    Error::new(
        ErrorKind::Io,
        format!("{place}: cannot {verb} the index: {message}"),
    )
}

/// Reads from a file with the library for Parquet, which panics for some damaged files.
fn unless_damaged<T>(place: &str, read: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(|error| failed("read", place, &error)),
        Err(_) => {
            let message = format!("{place}: cannot read the index: the file is damaged");
            Err(Error::new(ErrorKind::Io, message))
        }
    }
}

/// The rows of a collection: a Parquet file, or a folder of Parquet files.
///
/// ```
/// # fn main() -> isoform::Result<()> {
/// use isoform_corpus::{Index, Row, RowWriter};
///
/// let mut bytes = Vec::new();
/// let mut writer = RowWriter::new(&mut bytes, "memory", &[])?;
/// writer.push(Row::failed("a.onnx", "not an ONNX model"))?;
/// writer.finish()?;
///
/// let index = Index::of_bytes(bytes)?;
/// let rows = index.rows().collect::<isoform::Result<Vec<Row>>>()?;
/// assert_eq!(rows, [Row::failed("a.onnx", "not an ONNX model")]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Index {
    files: Vec<IndexFile>,
    place: String,
}

/// One Parquet file of an index.
#[derive(Clone)]
struct IndexFile {
    content: Content,
    place: String,
}

#[derive(Clone)]
enum Content {
    /// An open file: an update that takes its name in the meantime does not show.
    Open(SharedFile),
    /// A part of a folder, which may have more parts than a process may have open files.
    Path(PathBuf),
    Bytes(Bytes),
}

impl Index {
    /// Opens an index, and checks the columns of its files.
    ///
    /// # Errors
    ///
    /// An `OSError` for a missing or damaged file, a `ValueError` for a file that is not an
    /// index or has a newer version, and for a folder without Parquet files.
    pub fn open(path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        let place = path.display().to_string();
        let failed = |error: &std::io::Error| {
            Error::new(
                ErrorKind::Io,
                format!("{place}: cannot open the index: {error}"),
            )
        };
        let mut paths = vec![path.to_owned()];
        if path.is_dir() {
            paths.clear();
            for entry in std::fs::read_dir(path).map_err(|error| failed(&error))? {
                let file = entry.map_err(|error| failed(&error))?.path();
                if file
                    .extension()
                    .is_some_and(|extension| extension == "parquet")
                {
                    paths.push(file);
                }
            }
            paths.sort();
            if paths.is_empty() {
                return Err(Error::value_error(format!(
                    "{place}: expected an index, got a folder without Parquet files; \
                     'isoform index {place} -o index.parquet' makes the index of a folder"
                )));
            }
        }
        let files = paths.into_iter().map(|path| IndexFile {
            place: path.display().to_string(),
            content: Content::Path(path),
        });
        let mut index = Index {
            files: files.collect(),
            place,
        };
        if let [file] = &mut index.files[..] {
            *file = file.opened_once()?;
        }
        for file in &index.files {
            file.reader()?;
        }
        Ok(index)
    }

    /// As [`open`](Index::open), without an open file afterwards, for one of many parts.
    pub(crate) fn open_part(path: &Path) -> Result<Index> {
        let index = Index::open(path)?;
        let files = index.files.into_iter().map(|file| IndexFile {
            content: Content::Path(path.to_owned()),
            ..file
        });
        Ok(Index {
            files: files.collect(),
            place: index.place,
        })
    }

    /// The index in the bytes of a Parquet file.
    ///
    /// # Errors
    ///
    /// As [`open`](Index::open).
    pub fn of_bytes(bytes: impl Into<Bytes>) -> Result<Index> {
        let file = IndexFile {
            content: Content::Bytes(bytes.into()),
            place: "memory".to_owned(),
        };
        file.reader()?;
        Ok(Index {
            place: file.place.clone(),
            files: vec![file],
        })
    }

    /// The rows of several indexes, one after the other; None without any.
    pub(crate) fn joined(indexes: Vec<Index>) -> Option<Index> {
        let place = indexes.first()?.place.clone();
        let files = indexes.into_iter().flat_map(|index| index.files).collect();
        Some(Index { files, place })
    }

    /// True for a file that begins like a Parquet file, and for a folder with Parquet files
    /// and nothing else, apart from pages (`.md`), unfinished updates (`.partial`), and names
    /// that begin with `_` or `.`.
    pub fn is_index(path: &Path) -> bool {
        if path.is_dir() {
            let Ok(mut entries) = std::fs::read_dir(path) else {
                return false;
            };
            let mut has_parts = false;
            let is_pure = entries.all(|entry| {
                let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
                let name = name.to_string_lossy();
                let is_part = name.ends_with(".parquet");
                has_parts |= is_part;
                is_part
                    || name.starts_with(['_', '.'])
                    || [".md", ".partial"].iter().any(|end| name.ends_with(end))
            });
            return is_pure && has_parts;
        }
        // A pipe gives its first bytes only once.
        if !path.is_file() {
            return false;
        }
        let mut start = [0; 4];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"PAR1"
    }

    /// The roots of the collection, and none for an index of several files.
    ///
    /// # Errors
    ///
    /// As [`rows`](Index::rows).
    pub fn roots(&self) -> Result<Vec<String>> {
        let [file] = &self.files[..] else {
            return Ok(Vec::new());
        };
        let roots = file.reader()?.metadata_value(ROOTS_KEY);
        let roots = roots.and_then(|roots| serde_json::from_str(&roots).ok());
        Ok(roots.unwrap_or_default())
    }

    /// True if the index was made in the current folder, or of several files.
    pub(crate) fn is_of_this_folder(&self) -> Result<bool> {
        let [file] = &self.files[..] else {
            return Ok(true);
        };
        let folder = file.reader()?.metadata_value(FOLDER_KEY);
        Ok(folder.is_none_or(|folder| folder == this_folder()))
    }

    /// True if the digests of the index are comparable with those of this version.
    ///
    /// # Errors
    ///
    /// As [`rows`](Index::rows).
    pub fn has_current_digests(&self) -> Result<bool> {
        for file in &self.files {
            let version = file.reader()?.metadata_value(DIGEST_KEY);
            if version != Some(Digest::FORMAT_VERSION.to_string()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The name of the index in messages.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Iterates over all rows.
    ///
    /// # Errors
    ///
    /// The items are an `OSError` for a file that is missing or damaged.
    pub fn rows(&self) -> Rows {
        self.columns(&columns::ALL)
    }

    /// Iterates over all rows, but reads these columns only; the others are empty. O(bytes
    /// of the columns), and the memory of one row group.
    ///
    /// # Errors
    ///
    /// As [`rows`](Index::rows).
    pub fn columns(&self, columns: &[Column]) -> Rows {
        Rows {
            files: self.files.clone().into_iter(),
            columns: columns.to_vec(),
            reader: None,
            group: 0,
            rows: Vec::new().into_iter(),
        }
    }

    /// Hands every text in the first part of a column to a function.
    ///
    /// # Errors
    ///
    /// As the items of [`rows`](Index::rows).
    pub(crate) fn for_each_text(&self, column: Column, mut visit: impl FnMut(&str)) -> Result<()> {
        self.for_each_group(|group| read_texts(group, column, |_, text| visit(text)))
    }

    /// Hands the rows with a text that is wanted, in the first part of a column, to a
    /// function; other columns than these are empty.
    ///
    /// # Errors
    ///
    /// As the items of [`rows`](Index::rows).
    pub(crate) fn for_each_row_with(
        &self,
        column: Column,
        is_wanted: impl Fn(&str) -> bool,
        columns: &[Column],
        mut visit: impl FnMut(Row),
    ) -> Result<()> {
        self.for_each_group(|group| {
            let mut positions = Vec::new();
            read_texts(group, column, |row, text| {
                if is_wanted(text) && positions.last() != Some(&row) {
                    positions.push(row);
                }
            })?;
            if !positions.is_empty() {
                let rows = read_group(group, columns, Some(&positions))?;
                rows.into_iter().for_each(&mut visit);
            }
            Ok(())
        })
    }

    fn for_each_group(
        &self,
        mut visit: impl FnMut(&dyn RowGroupReader) -> parquet::errors::Result<()>,
    ) -> Result<()> {
        for file in &self.files {
            let reader = file.reader()?;
            for number in 0..reader.file().num_row_groups() {
                unless_damaged(&file.place, || {
                    let group = reader.file().get_row_group(number)?;
                    visit(&*group)
                })?;
            }
        }
        Ok(())
    }

    /// The number of rows. Reads the ends of the files only.
    ///
    /// # Errors
    ///
    /// As [`rows`](Index::rows).
    pub fn count(&self) -> Result<u64> {
        let mut count = 0;
        for file in &self.files {
            let rows = file.reader()?.file().metadata().file_metadata().num_rows();
            count += u64::try_from(rows).unwrap_or(0);
        }
        Ok(count)
    }
}

enum Reader {
    Open(SerializedFileReader<SharedFile>),
    Bytes(SerializedFileReader<Bytes>),
}

impl Reader {
    fn file(&self) -> &dyn FileReader {
        match self {
            Reader::Open(reader) => reader,
            Reader::Bytes(reader) => reader,
        }
    }

    fn metadata_value(&self, key: &str) -> Option<String> {
        let metadata = self
            .file()
            .metadata()
            .file_metadata()
            .key_value_metadata()?;
        let entry = metadata.iter().find(|entry| entry.key == key)?;
        entry.value.clone()
    }
}

impl IndexFile {
    /// The file with an open content.
    fn opened_once(&self) -> Result<IndexFile> {
        let Content::Path(path) = &self.content else {
            return Ok(self.clone());
        };
        if path.is_file() && !Index::is_index(path) {
            return Err(Error::value_error(format!(
                "{}: expected an index of 'isoform index', got a file that is not Parquet",
                self.place
            )));
        }
        let file = File::open(path).and_then(SharedFile::new);
        let file = file.map_err(|error| {
            let message = format!("{}: cannot open the index: {error}", self.place);
            Error::new(ErrorKind::Io, message)
        })?;
        Ok(IndexFile {
            content: Content::Open(file),
            place: self.place.clone(),
        })
    }

    fn reader(&self) -> Result<Reader> {
        let reader = match &self.content {
            Content::Path(_) => return self.opened_once()?.reader(),
            Content::Open(file) => Reader::Open(self.opened(file.clone())?),
            Content::Bytes(bytes) => Reader::Bytes(self.opened(bytes.clone())?),
        };
        let version = reader.metadata_value(VERSION_KEY);
        let problem = match version.map(|version| version.parse()) {
            Some(Ok(INDEX_VERSION)) => {
                let schema = reader.file().metadata().file_metadata().schema_descr();
                check_schema(schema).err()
            }
            Some(Ok(version)) => Some(format!(
                "version {INDEX_VERSION}, got version {version}; use the isoform that wrote the \
                 file, or make the index again"
            )),
            Some(Err(_)) | None => Some(format!(
                "an index of 'isoform index', got a Parquet file without the key {VERSION_KEY}"
            )),
        };
        match problem {
            None => Ok(reader),
            Some(problem) => Err(Error::value_error(format!(
                "{}: expected {problem}",
                self.place
            ))),
        }
    }

    fn opened<R: ChunkReader + 'static>(&self, content: R) -> Result<SerializedFileReader<R>> {
        unless_damaged(&self.place, || SerializedFileReader::new(content))
    }
}

/// The rows of an [`Index`].
pub struct Rows {
    files: std::vec::IntoIter<IndexFile>,
    columns: Vec<Column>,
    reader: Option<(Reader, String)>,
    group: usize,
    rows: std::vec::IntoIter<Row>,
}

impl Rows {
    /// Reads the next row group; false at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            if let Some((reader, place)) = &self.reader
                && self.group < reader.file().num_row_groups()
            {
                let number = self.group;
                self.group += 1;
                let rows = unless_damaged(place, || {
                    let group = reader.file().get_row_group(number)?;
                    read_group(&*group, &self.columns, None)
                });
                self.rows = rows?.into_iter();
                return Ok(true);
            }
            let Some(file) = self.files.next() else {
                return Ok(false);
            };
            self.reader = Some((file.reader()?, file.place));
            self.group = 0;
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    // Damage ends the iteration.
                    (self.files, self.reader) = (Vec::new().into_iter(), None);
                    return Some(Err(error));
                }
            }
        }
    }
}
