//! The columns of an index, and rows from and to columns.
//!
//! Each column of the table [`LEAVES`] is required, optional or a list. A list of the file
//! is a group with one repeated part, so that a level of one bit tells whether a row has
//! an element, and another whether the element begins a row.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};

use crate::row::{Block, Counts, Row};

/// The schema of an index in the notation of Parquet.
///
/// A program in any language that reads Parquet reads an index: lists and maps are those
/// of Arrow, numbers are unsigned integers of 64 bits, texts are UTF-8.
pub const SCHEMA: &str = "message isoform_index {
  required binary path (UTF8);
  required int64 size (INTEGER(64, false));
  required int64 stamp (INTEGER(64, false));
  required group files (LIST) { repeated group list { required binary element (UTF8); } }
  optional binary kind (UTF8);
  optional binary digest (UTF8);
  optional binary architecture (UTF8);
  optional int64 nodes (INTEGER(64, false));
  optional int64 parameters (INTEGER(64, false));
  required group operators (MAP) { repeated group key_value { required binary key (UTF8); required int64 value (INTEGER(64, false)); } }
  required group opsets (MAP) { repeated group key_value { required binary key (UTF8); required int64 value (INTEGER(64, false)); } }
  required group elements (MAP) { repeated group key_value { required binary key (UTF8); required int64 value (INTEGER(64, false)); } }
  required group inputs (LIST) { repeated group list { required binary element (UTF8); } }
  required group outputs (LIST) { repeated group list { required binary element (UTF8); } }
  required group blocks (LIST) { repeated group list { required group element { required binary digest (UTF8); required int64 nodes (INTEGER(64, false)); required int64 count (INTEGER(64, false)); } } }
  optional binary error (UTF8);
}";

/// A column for the user of an index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Column {
    /// [`Row::path`].
    Path,
    /// [`Row::size`].
    Size,
    /// [`Row::stamp`].
    Stamp,
    /// [`Row::files`].
    Files,
    /// [`Row::kind`].
    Kind,
    /// [`Row::digest`].
    Digest,
    /// [`Row::architecture`].
    Architecture,
    /// [`Row::nodes`].
    Nodes,
    /// [`Row::parameters`].
    Parameters,
    /// [`Row::operators`].
    Operators,
    /// [`Row::opsets`].
    Opsets,
    /// [`Row::elements`].
    Elements,
    /// [`Row::inputs`].
    Inputs,
    /// [`Row::outputs`].
    Outputs,
    /// [`Row::blocks`].
    Blocks,
    /// [`Row::error`].
    Error,
}

/// A value in a column of the file.
#[derive(Clone, Copy)]
enum Cell<'a> {
    Text(&'a str),
    Number(u64),
}

/// How many cells a row has in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Required,
    Optional,
    List,
}

type GetCells = fn(&Row, &mut dyn FnMut(Cell<'_>));

/// A column of the file, which is a column of the table or a part of one.
struct Leaf {
    column: Column,
    shape: Shape,
    is_text: bool,
    /// Hands the cells of a row to the function.
    get: GetCells,
    /// Sets the cell with a position in a row; the cells come in the order of positions.
    set: fn(&mut Row, usize, Cell<'_>),
}

impl Cell<'_> {
    fn text(self) -> String {
        match self {
            Cell::Text(text) => text.to_owned(),
            Cell::Number(number) => number.to_string(),
        }
    }

    fn number(self) -> u64 {
        match self {
            Cell::Text(_) => 0,
            Cell::Number(number) => number,
        }
    }
}

macro_rules! leaf {
    ($column:ident, text $field:ident) => {
        leaf!(@ $column Required true,
            |row, give| give(Cell::Text(&row.$field)),
            |row, _, cell| row.$field = cell.text())
    };
    ($column:ident, number $field:ident) => {
        leaf!(@ $column Required false,
            |row, give| give(Cell::Number(row.$field)),
            |row, _, cell| row.$field = cell.number())
    };
    ($column:ident, optional text $field:ident) => {
        leaf!(@ $column Optional true,
            |row, give| row.$field.iter().for_each(|text| give(Cell::Text(text))),
            |row, _, cell| row.$field = Some(cell.text()))
    };
    ($column:ident, optional number $field:ident) => {
        leaf!(@ $column Optional false,
            |row, give| row.$field.iter().for_each(|number| give(Cell::Number(*number))),
            |row, _, cell| row.$field = Some(cell.number()))
    };
    ($column:ident, texts $field:ident) => {
        leaf!(@ $column List true,
            |row, give| row.$field.iter().for_each(|text| give(Cell::Text(text))),
            |row, _, cell| row.$field.push(cell.text()))
    };
    ($column:ident, keys $field:ident) => {
        leaf!(@ $column List true,
            |row, give| row.$field.iter().for_each(|(key, _)| give(Cell::Text(key))),
            |row, position, cell| pair_at(&mut row.$field, position).0 = cell.text())
    };
    ($column:ident, values $field:ident) => {
        leaf!(@ $column List false,
            |row, give| row.$field.iter().for_each(|(_, number)| give(Cell::Number(*number))),
            |row, position, cell| pair_at(&mut row.$field, position).1 = cell.number())
    };
    ($column:ident, block text $part:ident) => {
        leaf!(@ $column List true,
            |row, give| row.blocks.iter().for_each(|block| give(Cell::Text(&block.$part))),
            |row, position, cell| block_at(&mut row.blocks, position).$part = cell.text())
    };
    ($column:ident, block number $part:ident) => {
        leaf!(@ $column List false,
            |row, give| row.blocks.iter().for_each(|block| give(Cell::Number(block.$part))),
            |row, position, cell| block_at(&mut row.blocks, position).$part = cell.number())
    };
    (@ $column:ident $shape:ident $is_text:literal, $get:expr, $set:expr) => {
        Leaf {
            column: Column::$column,
            shape: Shape::$shape,
            is_text: $is_text,
            get: $get,
            set: $set,
        }
    };
}

/// The columns of the file in the order of the schema.
const LEAVES: [Leaf; 21] = [
    leaf!(Path, text path),
    leaf!(Size, number size),
    leaf!(Stamp, number stamp),
    leaf!(Files, texts files),
    leaf!(Kind, optional text kind),
    leaf!(Digest, optional text digest),
    leaf!(Architecture, optional text architecture),
    leaf!(Nodes, optional number nodes),
    leaf!(Parameters, optional number parameters),
    leaf!(Operators, keys operators),
    leaf!(Operators, values operators),
    leaf!(Opsets, keys opsets),
    leaf!(Opsets, values opsets),
    leaf!(Elements, keys elements),
    leaf!(Elements, values elements),
    leaf!(Inputs, texts inputs),
    leaf!(Outputs, texts outputs),
    leaf!(Blocks, block text digest),
    leaf!(Blocks, block number nodes),
    leaf!(Blocks, block number count),
    leaf!(Error, optional text error),
];

fn pair_at(counts: &mut Counts, position: usize) -> &mut (String, u64) {
    element_at(counts, position)
}

fn block_at(blocks: &mut Vec<Block>, position: usize) -> &mut Block {
    element_at(blocks, position)
}

/// The element with a position, which is made if there is none.
fn element_at<T: Default>(list: &mut Vec<T>, position: usize) -> &mut T {
    if list.len() <= position {
        list.resize_with(position + 1, T::default);
    }
    &mut list[position]
}

/// The parsed [`SCHEMA`].
pub(crate) fn schema() -> Result<TypePtr> {
    static PARSED: OnceLock<TypePtr> = OnceLock::new();
    if let Some(parsed) = PARSED.get() {
        return Ok(Arc::clone(parsed));
    }
    let parsed = Arc::new(parse_message_type(SCHEMA)?);
    Ok(Arc::clone(PARSED.get_or_init(|| parsed)))
}

/// Writes rows as one row group.
pub(crate) fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    rows: &[Row],
) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for leaf in &LEAVES {
        if leaf.is_text {
            write_leaf::<ByteArrayType, W>(&mut group, leaf, rows, |cell| {
                ByteArray::from(cell.text().into_bytes())
            })?;
        } else {
            write_leaf::<Int64Type, W>(&mut group, leaf, rows, |cell| cell.number().cast_signed())?;
        }
    }
    group.close()?;
    Ok(())
}

fn write_leaf<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    leaf: &Leaf,
    rows: &[Row],
    convert: impl Fn(Cell<'_>) -> T::T,
) -> Result<()> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let first = values.len();
        (leaf.get)(row, &mut |cell| {
            repeated.push(i16::from(values.len() > first));
            defined.push(1);
            values.push(convert(cell));
        });
        if values.len() == first {
            repeated.push(0);
            defined.push(0);
        }
    }
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("missing column".to_owned()));
    };
    let defined = (leaf.shape != Shape::Required).then_some(&defined[..]);
    let repeated = (leaf.shape == Shape::List).then_some(&repeated[..]);
    column
        .typed::<T>()
        .write_batch(&values, defined, repeated)?;
    column.close()
}

/// Reads these columns of a row group, of all rows or of those with these positions, which
/// ascend; other parts of the rows are empty.
///
/// # Errors
///
/// Fails if the file is damaged, or if its columns are not those of an index.
pub(crate) fn read_group(
    group: &dyn RowGroupReader,
    columns: &[Column],
    positions: Option<&[usize]>,
) -> Result<Vec<Row>> {
    let count = row_count(group)?;
    let mut rows = Vec::new();
    rows.resize_with(positions.map_or(count, <[usize]>::len), Row::default);
    for (number, leaf) in LEAVES.iter().enumerate() {
        if !columns.contains(&leaf.column) {
            continue;
        }
        let mut target = Target {
            leaf,
            rows: &mut rows,
            positions,
        };
        match group.get_column_reader(number)? {
            ColumnReader::ByteArrayColumnReader(reader) if leaf.is_text => {
                let cells = Cells::read(reader, leaf.shape, count)?;
                target.fill(&cells, |value| Ok(Cell::Text(value.as_utf8()?)))?;
            }
            ColumnReader::Int64ColumnReader(reader) if !leaf.is_text => {
                let cells = Cells::read(reader, leaf.shape, count)?;
                target.fill(&cells, |value| Ok(Cell::Number(value.cast_unsigned())))?;
            }
            _ => return Err(ParquetError::General("unexpected column".to_owned())),
        }
    }
    Ok(rows)
}

/// Hands every text in the first part of a column to a function, with the position of its
/// row. Makes no rows.
///
/// # Errors
///
/// As [`read_group`].
pub(crate) fn read_texts(
    group: &dyn RowGroupReader,
    column: Column,
    mut visit: impl FnMut(usize, &str),
) -> Result<()> {
    let leaf = LEAVES.iter().enumerate();
    let leaf = leaf.into_iter().find(|(_, leaf)| leaf.column == column);
    let Some((number, leaf)) = leaf else {
        return Ok(());
    };
    match group.get_column_reader(number)? {
        ColumnReader::ByteArrayColumnReader(reader) => {
            let cells = Cells::read(reader, leaf.shape, row_count(group)?)?;
            cells.for_each(|row, _, value| {
                visit(row, value.as_utf8()?);
                Ok(())
            })
        }
        _ => Err(ParquetError::General("unexpected column".to_owned())),
    }
}

fn row_count(group: &dyn RowGroupReader) -> Result<usize> {
    usize::try_from(group.metadata().num_rows())
        .map_err(|_| ParquetError::General("negative number of rows".to_owned()))
}

/// The values of a column with their levels.
struct Cells<T> {
    values: Vec<T>,
    defined: Vec<i16>,
    repeated: Vec<i16>,
    shape: Shape,
    count: usize,
}

impl<T> Cells<T> {
    fn read<D: DataType<T = T>>(
        mut reader: ColumnReaderImpl<D>,
        shape: Shape,
        count: usize,
    ) -> Result<Cells<T>> {
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        reader.read_records(count, Some(&mut defined), Some(&mut repeated), &mut values)?;
        if shape == Shape::Required {
            defined = vec![1; values.len()];
        }
        Ok(Cells {
            values,
            defined,
            repeated,
            shape,
            count,
        })
    }

    /// Calls a function with the position of the row, the position in the row, and the value.
    fn for_each(&self, mut visit: impl FnMut(usize, usize, &T) -> Result<()>) -> Result<()> {
        let short = || ParquetError::General("a column is too short".to_owned());
        let mut values = self.values.iter();
        let (mut rows, mut position) = (0, 0);
        for (level, is_defined) in self.defined.iter().map(|level| *level == 1).enumerate() {
            let is_next = self.shape == Shape::List && self.repeated.get(level) == Some(&1);
            if is_next && rows > 0 {
                position += 1;
            } else {
                (rows, position) = (rows + 1, 0);
            }
            if is_defined {
                visit(rows - 1, position, values.next().ok_or_else(short)?)?;
            }
        }
        if rows == self.count {
            Ok(())
        } else {
            Err(short())
        }
    }
}

/// The rows that get the cells of a column.
struct Target<'a> {
    leaf: &'a Leaf,
    rows: &'a mut Vec<Row>,
    /// The positions of the rows in the group, in ascending order; None for all.
    positions: Option<&'a [usize]>,
}

impl Target<'_> {
    fn fill<T>(
        &mut self,
        cells: &Cells<T>,
        convert: impl Fn(&T) -> Result<Cell<'_>>,
    ) -> Result<()> {
        let mut next = 0;
        cells.for_each(|row, position, value| {
            let number = match self.positions {
                None => row,
                Some(positions) => {
                    while positions.get(next).is_some_and(|wanted| *wanted < row) {
                        next += 1;
                    }
                    if positions.get(next) != Some(&row) {
                        return Ok(());
                    }
                    next
                }
            };
            if let Some(target) = self.rows.get_mut(number) {
                (self.leaf.set)(target, position, convert(value)?);
            }
            Ok(())
        })
    }
}

/// Checks that a file has the columns of an index.
///
/// # Errors
///
/// A text about the first column that differs.
pub(crate) fn check_schema(file: &SchemaDescriptor) -> std::result::Result<(), String> {
    let schema = schema().map_err(|error| error.to_string())?;
    let schema = SchemaDescriptor::new(schema);
    let describe = |column: &ColumnDescPtr| {
        let (path, kind) = (column.path().string(), column.physical_type());
        (path, kind, column.max_def_level(), column.max_rep_level())
    };
    for (position, column) in schema.columns().iter().enumerate() {
        let expected = describe(column);
        let found = file.columns().get(position).map(&describe);
        if found.as_ref() != Some(&expected) {
            let found = found.map_or("nothing".to_owned(), |found| format!("{found:?}"));
            return Err(format!("expected the column {expected:?}, got {found}"));
        }
    }
    match file.num_columns().checked_sub(schema.num_columns()) {
        Some(0) | None => Ok(()),
        Some(more) => Err(format!("{more} unknown columns")),
    }
}

/// All columns.
pub(crate) const ALL: [Column; 16] = [
    Column::Path,
    Column::Size,
    Column::Stamp,
    Column::Files,
    Column::Kind,
    Column::Digest,
    Column::Architecture,
    Column::Nodes,
    Column::Parameters,
    Column::Operators,
    Column::Opsets,
    Column::Elements,
    Column::Inputs,
    Column::Outputs,
    Column::Blocks,
    Column::Error,
];
