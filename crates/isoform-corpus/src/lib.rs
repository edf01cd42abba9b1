//! Indexes of collections of models and IR files, as Parquet files that any data tool reads.
//!
//! A collection is a set of folders, archives, stores or buckets. Its index has a [`Row`]
//! per file: digests, operators, shapes, repeated blocks, or the reason why the file cannot
//! be read. Making the index reads each file once; later updates read the files that
//! changed. The command `isoform index` and the Python module `isoform.corpus` make indexes
//! with this crate, which leaves the reading of models to an [`Inspector`].
//!
//! | to | use |
//! |---|---|
//! | make or update an index | [`update_index`] |
//! | read the files elsewhere, and write the index here | [`Update`], [`read_described`] |
//! | read an index | [`Index`], [`Index::rows`], [`Index::columns`] |
//! | find duplicates, derived models, shared blocks | [`Index::duplicates`], [`Index::shared_blocks`] |
//! | look up a digest, or count | [`Index::find`], [`Index::statistics`] |
//! | write rows | [`RowWriter`] |
//!
//! The columns of the file are those of [`SCHEMA`]. The rows have the order of
//! [`path_order`]. An index of several files, such as a folder written by a cluster, is a
//! folder of Parquet files.

mod archive;
mod columns;
mod elsewhere;
mod file;
mod ordered;
mod places;
mod queries;
mod row;
mod shared_file;
mod source;
#[cfg(test)]
mod tests;
mod update;
mod walk;

pub use self::{
    columns::{Column, SCHEMA},
    elsewhere::{FileDescription, read_described},
    file::{INDEX_VERSION, Index, RowWriter, Rows},
    ordered::{Event, in_order},
    queries::{Group, IndexStatistics, SharedBlock},
    row::{Block, Counts, Row, path_order},
    source::{Selection, SourceFile, file_stamp},
    update::{Lane, Task, Update, UpdateReport, count_files, read_row, update_index},
    walk::Inspector,
};
