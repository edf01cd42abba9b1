//! Questions to an index, answered by plain scans.
//!
//! Grouping reads a column twice: the first scan keeps 8 bytes of each digest and sorts
//! them, the second keeps the rows whose 8 bytes came twice, and compares whole digests.

use std::collections::{BTreeMap, HashMap};

use isoform::{Error, Result};

use crate::columns::Column;
use crate::file::Index;
use crate::row::{Row, path_order};

/// Rows of an index with the same digest.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Group {
    /// The digest.
    pub digest: String,
    /// The rows in the order of the index, at least two. Only the columns that the query
    /// names are filled.
    pub rows: Vec<Row>,
}

/// A block that occurs in several files.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SharedBlock {
    /// The digest of the block.
    pub digest: String,
    /// The number of nodes.
    pub nodes: u64,
    /// The paths of the files with the block, at least two, and how often it occurs there.
    pub files: Vec<(String, u64)>,
}

/// An index in numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct IndexStatistics {
    /// The number of rows.
    pub files: u64,
    /// The number of files that could not be read.
    pub failed: u64,
    /// The size of all files in bytes.
    pub bytes: u64,
    /// The number of files and their bytes by kind.
    pub kinds: BTreeMap<String, (u64, u64)>,
    /// The number of different programs.
    pub programs: u64,
    /// The number of different programs without the elements of tensors.
    pub architectures: u64,
    /// The number of elements of all weights, by element type.
    pub elements: BTreeMap<String, u64>,
    /// The number of files with an operator, and how often it occurs.
    pub operators: BTreeMap<String, (u64, u64)>,
    /// The number of files by operator set and version.
    pub opsets: BTreeMap<(String, u64), u64>,
}

impl Index {
    /// Returns the groups of rows with the same [`Column::Digest`] or
    /// [`Column::Architecture`], largest first. The rows have path, size, kind and both
    /// digests.
    ///
    /// O(n log n) for n rows, with 8 bytes of memory per row, and the rows of the groups.
    ///
    /// # Errors
    ///
    /// A `ValueError` for another column; an `OSError` if the index is damaged.
    ///
    /// ```
    /// # fn main() -> isoform::Result<()> {
    /// use isoform_corpus::{Column, Index, Row, RowWriter};
    ///
    /// let mut bytes = Vec::new();
    /// let mut writer = RowWriter::new(&mut bytes, "memory", &[])?;
    /// for (path, digest) in [("a.onnx", "00"), ("b.onnx", "01"), ("c.onnx", "00")] {
    ///     let mut row = Row::default();
    ///     row.path = path.to_owned();
    ///     row.digest = Some(digest.to_owned());
    ///     writer.push(row)?;
    /// }
    /// writer.finish()?;
    /// let groups = Index::of_bytes(bytes)?.duplicates(Column::Digest)?;
    /// assert_eq!(groups.len(), 1);
    /// assert_eq!(groups[0].rows[1].path, "c.onnx");
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicates(&self, by: Column) -> Result<Vec<Group>> {
        let key = digest_of(by)?;
        let repeated = repeated(self, by)?;
        let columns = [
            Column::Path,
            Column::Size,
            Column::Kind,
            Column::Digest,
            Column::Architecture,
        ];
        let mut groups: HashMap<String, Vec<Row>> = HashMap::new();
        let is_repeated = |digest: &str| repeated.binary_search(&start_of(digest)).is_ok();
        self.for_each_row_with(by, is_repeated, &columns, |row| {
            if let Some(digest) = key(&row) {
                groups.entry(digest.to_owned()).or_default().push(row);
            }
        })?;
        let groups = groups.into_iter().filter(|(_, rows)| rows.len() > 1);
        let mut groups: Vec<Group> = groups
            .map(|(digest, rows)| Group { digest, rows })
            .collect();
        groups.sort_by(|left, right| {
            let by_size = right.rows.len().cmp(&left.rows.len());
            by_size.then_with(|| path_order(&left.rows[0].path, &right.rows[0].path))
        });
        Ok(groups)
    }

    /// Returns the blocks that occur in several files, the largest savings first: the
    /// number of nodes times the number of copies beyond the first.
    ///
    /// O(n log n) for n blocks, with 8 bytes of memory per block, and the blocks returned.
    ///
    /// # Errors
    ///
    /// An `OSError` if the index is damaged.
    pub fn shared_blocks(&self) -> Result<Vec<SharedBlock>> {
        let repeated = repeated(self, Column::Blocks)?;
        let is_repeated = |digest: &str| repeated.binary_search(&start_of(digest)).is_ok();
        let columns = [Column::Path, Column::Blocks];
        let mut shared: HashMap<String, SharedBlock> = HashMap::new();
        self.for_each_row_with(Column::Blocks, is_repeated, &columns, |row| {
            for block in row.blocks {
                if !is_repeated(&block.digest) {
                    continue;
                }
                let entry = shared
                    .entry(block.digest)
                    .or_insert_with_key(|digest| SharedBlock {
                        digest: digest.clone(),
                        nodes: block.nodes,
                        files: Vec::new(),
                    });
                match entry.files.last_mut() {
                    // Both blocks of a file may have the same nodes in another order.
                    Some((path, count)) if *path == row.path => {
                        *count = count.saturating_add(block.count)
                    }
                    _ => entry.files.push((row.path.clone(), block.count)),
                }
            }
        })?;
        let mut shared: Vec<SharedBlock> = shared.into_values().collect();
        shared.retain(|block| block.files.len() > 1);
        shared.sort_by(|left, right| {
            let by_size = right.saved().cmp(&left.saved());
            by_size.then_with(|| left.digest.cmp(&right.digest))
        });
        Ok(shared)
    }

    /// Returns the rows whose digest, digest of the architecture, or digest of a block
    /// begins with these digits. O(n) for n rows.
    ///
    /// # Errors
    ///
    /// A `ValueError` for a text that is not a beginning of a digest, and for an index whose
    /// digests have another version; an `OSError` if the index is damaged.
    pub fn find(&self, digits: &str) -> Result<Vec<Row>> {
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || !(MIN_DIGITS..=64).contains(&digits.len()) {
            return Err(Error::value_error(format!(
                "expected the first {MIN_DIGITS} to 64 hexadecimal digits of a digest, got {digits:?}"
            )));
        }
        if !self.has_current_digests()? {
            return Err(Error::value_error(format!(
                "{}: the digests of the index have another version; update it with 'isoform index'",
                self.place()
            )));
        }
        let digits = digits.to_ascii_lowercase();
        let begins = |digest: &String| digest.starts_with(&digits);
        let is_match = |row: &Row| {
            row.digest.as_ref().is_some_and(begins)
                || row.architecture.as_ref().is_some_and(begins)
                || row.blocks.iter().any(|block| begins(&block.digest))
        };
        let mut matches = Vec::new();
        for row in self.rows() {
            let row = row?;
            if is_match(&row) {
                matches.push(row);
            }
        }
        Ok(matches)
    }

    /// Returns the numbers of an index. O(n log n) for n rows, with 16 bytes of memory per
    /// row, and the names of operators.
    ///
    /// # Errors
    ///
    /// An `OSError` if the index is damaged.
    pub fn statistics(&self) -> Result<IndexStatistics> {
        let mut numbers = IndexStatistics::default();
        let (mut programs, mut architectures) = (Vec::new(), Vec::new());
        let columns = [
            Column::Size,
            Column::Kind,
            Column::Digest,
            Column::Architecture,
            Column::Operators,
            Column::Opsets,
            Column::Elements,
            Column::Error,
        ];
        for row in self.columns(&columns) {
            let row = row?;
            numbers.files += 1;
            numbers.bytes = numbers.bytes.saturating_add(row.size);
            if row.error.is_some() {
                numbers.failed += 1;
                continue;
            }
            let kind = numbers
                .kinds
                .entry(row.kind.unwrap_or_default())
                .or_default();
            *kind = (kind.0 + 1, kind.1.saturating_add(row.size));
            programs.extend(row.digest.as_deref().map(start_of));
            architectures.extend(row.architecture.as_deref().map(start_of));
            for (operator, count) in row.operators {
                let total = numbers.operators.entry(operator).or_default();
                *total = (total.0 + 1, total.1.saturating_add(count));
            }
            for opset in row.opsets {
                *numbers.opsets.entry(opset).or_default() += 1;
            }
            for (element, count) in row.elements {
                let total = numbers.elements.entry(element).or_default();
                *total = total.saturating_add(count);
            }
        }
        numbers.programs = distinct(programs);
        numbers.architectures = distinct(architectures);
        Ok(numbers)
    }
}

/// The number of digits from which a digest is looked up.
const MIN_DIGITS: usize = 8;

impl SharedBlock {
    fn saved(&self) -> u64 {
        let copies = self
            .files
            .iter()
            .fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        self.nodes.saturating_mul(copies.saturating_sub(1))
    }
}

/// The digest of a row in a column.
fn digest_of(column: Column) -> Result<fn(&Row) -> Option<&str>> {
    match column {
        Column::Digest => Ok(|row| row.digest.as_deref()),
        Column::Architecture => Ok(|row| row.architecture.as_deref()),
        other => Err(Error::value_error(format!(
            "expected the column Digest or Architecture, got {other:?}"
        ))),
    }
}

/// The first 8 bytes of a digest in hexadecimal digits.
fn start_of(digest: &str) -> u64 {
    let start = digest.get(..16).unwrap_or(digest);
    u64::from_str_radix(start, 16).unwrap_or(0)
}

/// The first 8 bytes of digests that occur several times in a column, in order.
fn repeated(index: &Index, column: Column) -> Result<Vec<u64>> {
    let mut all = Vec::new();
    index.for_each_text(column, |digest| all.push(start_of(digest)))?;
    all.sort_unstable();
    let pairs = all.iter().zip(all.iter().skip(1));
    let mut repeated: Vec<u64> = pairs
        .filter(|(left, right)| left == right)
        .map(|(key, _)| *key)
        .collect();
    repeated.dedup();
    Ok(repeated)
}

fn distinct(mut keys: Vec<u64>) -> u64 {
    keys.sort_unstable();
    keys.dedup();
    keys.len() as u64
}
