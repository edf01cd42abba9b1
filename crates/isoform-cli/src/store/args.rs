//! The command line of `isoform store`, and the options that name a store.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::optimize::args::size;

/// Keep files under the digests of their bytes, in a folder or on a server.
///
/// A store also keeps the results of `isoform cache run` and of the library. See `isoform
/// cache` for a cache of compiled programs.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
}

/// The store to use.
#[derive(Args, Debug)]
#[command(next_help_heading = "Store")]
pub(crate) struct PlaceArgs {
    /// The store: the path of a folder, or a URL such as s3:bucket/prefix or
    /// redis://host. By default the variable ISOFORM_STORE, and else the folder
    /// isoform/store in the cache folder of the user, which is kept below 10 GB.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
}

/// The command of `isoform store` to run.
#[derive(Subcommand, Debug)]
pub(crate) enum StoreCommand {
    Put(PutArgs),
    Get(GetArgs),
    Ls(LsArgs),
    Sizes(SizesArgs),
    Verify(VerifyArgs),
    Evict(EvictArgs),
    Rm(RmArgs),
}

/// Store files, and print the name of each.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct PutArgs {
    /// The files to store; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Print the bytes under a name.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct GetArgs {
    /// The name: 64 hexadecimal digits.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Write a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// List the values and entries, or the entries whose keys have certain parts.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct LsArgs {
    /// List the entries with this part in the key, such as job=run; may be given several
    /// times.
    #[arg(value_name = "PART=VALUE", value_parser = part)]
    pub(crate) parts: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Print the number and the size of the values and entries.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct SizesArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Check all files of the store, and list the damaged files.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct VerifyArgs {
    /// Remove the damaged files.
    #[arg(long)]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Remove the least recently used files until the store is within the limits.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
#[group(id = "limits", required = true, multiple = true, args = ["max_size", "max_age", "max_count"])]
pub(crate) struct EvictArgs {
    /// The size of all files: bytes, or a number with KB, MB or GB.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: Option<u64>,
    /// The time since the last use: a number with s, m, h or d.
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) max_age: Option<Duration>,
    /// The number of files.
    #[arg(long, value_name = "N")]
    pub(crate) max_count: Option<u64>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// Remove values or entries.
#[derive(Args, Debug)]
#[command(after_help = STORE_HELP)]
pub(crate) struct RmArgs {
    /// The names of values, or the digests of entries.
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

fn part(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=');
    let (name, value) = parts.ok_or("expected a part and its value, such as job=run")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a number with s, m, h or d, such as 30d, got '{text}'");
    let trimmed = text.trim();
    let unit = match trimmed.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: u64 = trimmed[..trimmed.len() - 1].parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(unit).ok_or_else(wrong)?;
    Ok(Duration::from_secs(seconds))
}

const STORE_HELP: &str = "\
Exit status:
  0  done
  1  the store lacks a name, or `verify` found damage that is still there
  2  error: the store cannot be used, a file cannot be read or written, or a name is wrong

JSON (--json), one object per line:
  put     {\"file\": NAME, \"name\": HEX}
  ls      {\"kind\": \"value\" or \"entry\", \"name\": HEX, \"size\": BYTES, \"used\": SECONDS since 1970}
          with parts {\"name\": HEX, \"key\": {PART: VALUE}}
  sizes   {\"values\": TOTAL, \"entries\": TOTAL}; TOTAL is {\"files\": COUNT, \"bytes\": BYTES}
  verify  {\"whole\": COUNT, \"bytes\": BYTES, \"damage\": [{\"path\", \"reason\"}...],
           \"foreign\": [{\"path\", \"version\"}...], \"removed\": COUNT}
  evict   {\"removed\": TOTAL, \"kept\": TOTAL}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform store put model.onnx
  isoform store get 64-DIGITS --out model.onnx
  isoform store ls job=run --json
  isoform store sizes --store s3:bucket/prefix
  isoform store evict --max-size 10GB --max-age 30d";
