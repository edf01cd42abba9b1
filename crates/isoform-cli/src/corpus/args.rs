//! The command lines of `isoform index`, `stats` and `find`.

use std::path::PathBuf;

use clap::Args;

use super::engine::{Engine, parse_engine};

/// List a collection of models in a Parquet file: digests, operators, shapes, blocks.
///
/// The index has a row for every model, IR file and file of tensors below the roots, with
/// the digest of its program, the digest without weights, operators, operator sets,
/// inputs, outputs, parameters and repeated blocks. A file that cannot be read has a row
/// with the reason. `dedup`, `clones`, `stats` and `find` answer questions about an index,
/// and DuckDB, Polars and pandas read it as it is.
///
/// An index that exists is brought up to date: files that did not change, by size and
/// time, are not read. Without ROOT, the roots are those of the index. An update that was
/// interrupted continues where it was.
#[derive(Args, Debug)]
#[command(after_help = INDEX_HELP)]
pub(crate) struct IndexArgs {
    /// Folders, files, archives (.zip, .whl), store:URL for the values of a store, and
    /// folders on servers, such as s3:bucket/prefix.
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<String>,
    /// The file of the index.
    #[arg(short, long, value_name = "INDEX")]
    pub(crate) output: PathBuf,
    /// The number of files read at the same time; by default one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Which processes read the files: `local`, the threads of this one; `ray`, those of the
    /// Ray cluster of RAY_ADDRESS, or else of a new one on this machine; `ray://HOST:PORT`,
    /// those of another cluster. The rows are the same.
    #[arg(long, value_name = "ENGINE", default_value = "local", value_parser = parse_engine)]
    pub(crate) engine: Engine,
}

const INDEX_HELP: &str = "\
Exit status:
  0  the index is complete; files that cannot be read have rows, whose column `error` has
     the reason, and count as failures neither here nor in a later `isoform dedup INDEX`
  2  the index could not be written

JSON (--json), one object:
  {\"rows\": COUNT, \"read\": COUNT, \"kept\": COUNT, \"failed\": COUNT, \"bytes\": COUNT}
  `kept` counts the rows of unchanged files, `failed` the rows with an error

Examples:
  isoform index ~/models -o models.parquet
  isoform index -o models.parquet               bring the index up to date
  isoform index s3:bucket/models -o models.parquet
  python -m isoform index s3:bucket/models -o models.parquet --engine ray
  isoform dedup models.parquet
  duckdb -c \"SELECT kind, count(*) FROM 'models.parquet' GROUP BY kind\"";

/// Print the contents of an index in numbers.
#[derive(Args, Debug)]
#[command(after_help = STATS_HELP)]
pub(crate) struct StatsArgs {
    /// The index: a Parquet file, or a folder of them.
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,
    /// The largest number of operators to print.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max: usize,
}

const STATS_HELP: &str = "\
Exit status:
  0  done
  2  the index could not be read

JSON (--json), one object:
  {\"files\": COUNT, \"failed\": COUNT, \"bytes\": COUNT, \"programs\": COUNT,
   \"architectures\": COUNT, \"kinds\": [{\"kind\": NAME, \"files\": COUNT, \"bytes\": COUNT}...],
   \"elements\": {TYPE: COUNT...}, \"operators\": [{\"operator\": NAME, \"files\": COUNT, \"uses\": COUNT}...],
   \"opsets\": [{\"domain\": NAME, \"version\": NUMBER, \"files\": COUNT}...]}
  `programs` counts different programs, `architectures` those without weights

Examples:
  isoform stats models.parquet
  isoform stats --json models.parquet | jq '.operators[].operator'";

/// Find a model in an index, by its file or its digest.
///
/// Prints the files with the same program, then those with the same architecture, which
/// differ in their weights, then those that contain the block.
#[derive(Args, Debug)]
#[command(after_help = FIND_HELP)]
pub(crate) struct FindArgs {
    /// A model or IR file, or the first digits of a digest, at least eight.
    #[arg(value_name = "FILE|DIGEST")]
    pub(crate) what: String,
    /// The index: a Parquet file, or a folder of them.
    #[arg(value_name = "INDEX")]
    pub(crate) index: PathBuf,
}

const FIND_HELP: &str = "\
Exit status:
  0  a file of the index matches
  1  no file of the index matches
  2  the file or the index could not be read

JSON (--json), one object per match:
  {\"match\": \"program\" or \"architecture\" or \"block\", \"file\": NAME, \"digest\": HEX,
   \"architecture\": HEX}

Examples:
  isoform find download.onnx models.parquet
  isoform find 9f86d081884c models.parquet";
