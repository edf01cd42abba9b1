//! `isoform dedup` and `isoform clones` of an index.

use std::io;
use std::path::Path;

use isoform::Result;
use isoform_corpus::{Column, Group, Index, SharedBlock};
use serde_json::{Value as Json, json};

use crate::args::{ClonesArgs, Common};
use crate::input::message;
use crate::output::{Output, counted, printable};

/// An option that an index cannot follow.
pub(super) const NO_IO_NAMES: &str = "the digests of an index leave out the names of inputs and outputs; leave out --io-names, or give the models instead of the index";

/// Files printed of one block; JSON has all.
const FILES: usize = 8;

/// Prints the groups of equal models of an index.
pub(crate) fn dedup(path: &Path, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    if common.io_names {
        return output.failed_file(path, &NO_IO_NAMES.into());
    }
    let by = if common.architecture {
        Column::Architecture
    } else {
        Column::Digest
    };
    match groups(path, by) {
        Ok((groups, counts)) => write_groups(&groups, &counts, output),
        Err(error) => output.failed_file(path, &message(path, &error)),
    }
}

/// The numbers of an index for the last line of `dedup`.
struct Counts {
    models: u64,
    distinct: u64,
    /// Path and error of the files that could not be read.
    failed: Vec<(String, String)>,
}

fn groups(path: &Path, by: Column) -> Result<(Vec<Group>, Counts)> {
    let index = Index::open(path)?;
    let groups = index.duplicates(by)?;
    let mut counts = Counts {
        models: 0,
        distinct: 0,
        failed: Vec::new(),
    };
    for row in index.columns(&[Column::Path, Column::Error]) {
        let row = row?;
        match row.error {
            None => counts.models += 1,
            Some(error) => counts.failed.push((row.path, error)),
        }
    }
    let surplus = groups.iter().map(|group| group.rows.len() as u64 - 1);
    counts.distinct = counts.models.saturating_sub(surplus.sum());
    Ok((groups, counts))
}

fn write_groups(groups: &[Group], counts: &Counts, output: &mut Output<'_, '_>) -> io::Result<()> {
    if output.json {
        let listed = groups.iter().map(|group| {
            let files: Vec<&str> = group.rows.iter().map(|row| &*row.path).collect();
            json!({"digest": group.digest, "files": files})
        });
        let failed = counts.failed.iter();
        let failed = failed.map(|(file, error)| json!({"file": file, "error": error}));
        return output.json_line(&json!({
            "groups": listed.collect::<Json>(),
            "models": counts.models,
            "distinct": counts.distinct,
            "failed": failed.collect::<Json>(),
        }));
    }
    let strong = output.style.strong;
    for group in groups {
        let count = group.rows.len();
        let digest = &group.digest;
        output.line(format_args!(
            "{strong}{count} equal models{strong:#}  {digest}"
        ))?;
        for row in &group.rows {
            output.line(format_args!("  {}", printable(&row.path)))?;
        }
    }
    if output.quiet {
        return Ok(());
    }
    output.line(format_args!(
        "{} models, {} distinct, {} of equal models, {} failed",
        counts.models,
        counts.distinct,
        counted(groups.len(), "group"),
        counts.failed.len(),
    ))
}

/// Prints the blocks that occur in several files of an index.
pub(crate) fn clones(
    path: &Path,
    args: &ClonesArgs,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let blocks = Index::open(path).and_then(|index| index.shared_blocks());
    let blocks = match blocks {
        Ok(blocks) => blocks,
        Err(error) => return output.failed_file(path, &message(path, &error)),
    };
    let copies = |block: &SharedBlock| block.files.iter().map(|(_, count)| count).sum::<u64>();
    let is_large = |block: &&SharedBlock| {
        block.nodes >= args.min_size as u64 && copies(block) >= args.min_count as u64
    };
    let blocks: Vec<&SharedBlock> = blocks.iter().filter(is_large).collect();
    let shown = &blocks[..blocks.len().min(args.max)];
    if output.json {
        let listed = shown.iter().map(|block| {
            let files = block.files.iter();
            let files = files.map(|(file, count)| json!({"file": file, "count": count}));
            json!({"digest": block.digest, "size": block.nodes, "files": files.collect::<Json>()})
        });
        return output.json_line(&json!({
            "blocks": listed.collect::<Json>(),
            "counts": {"blocks": blocks.len()},
        }));
    }
    let strong = output.style.strong;
    for block in shown {
        let (nodes, count, files) = (block.nodes, copies(block), block.files.len());
        output.line(format_args!(
            "{strong}block of {nodes} nodes, {count} times in {files} files{strong:#}  {}",
            block.digest
        ))?;
        for (file, count) in block.files.iter().take(FILES) {
            output.line(format_args!("  {} × {count}", printable(file)))?;
        }
        if let Some(more) = files.checked_sub(FILES).filter(|more| *more > 0) {
            output.faint(&format!("  and {more} more"))?;
        }
    }
    if output.quiet {
        return Ok(());
    }
    output.line(counted(blocks.len(), "block") + " in several files")
}
