//! `isoform mlir bisect`: the pass after which a check fails, from the dumps of a pipeline.

use std::collections::HashSet;
use std::io;

use isoform::{Error, Result};
use isoform_mlir::{PassDump, PassHistory};
use serde_json::json;

use super::args::BisectArgs;
use super::{bytes_of, name_of, tell_changes};
use crate::input::{Form, message};
use crate::output::Output;
use crate::passes::Check;

/// The dump after which the check fails first, and the number of checks.
struct Bisection {
    position: usize,
    checks: usize,
}

pub(super) fn bisect(args: &BisectArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    let found = bytes_of(&args.file).and_then(|bytes| {
        let failed = |error: Error| message(&args.file, &error);
        let dumps = isoform_mlir::read_dumps(bytes).map_err(failed)?;
        if dumps.iter().any(PassDump::is_part) && !is_one_function(&dumps) {
            return Err(PARTS.into());
        }
        let bisection = first_bad(args, &dumps).map_err(failed)?;
        let before = bisection.position - 1;
        let pair = &dumps[before..=bisection.position];
        let history = PassHistory::new(pair).map_err(failed)?;
        Ok((bisection, history))
    });
    let (bisection, history) = match found {
        Ok(found) => found,
        Err(failure) => return output.failed_file(&args.file, &failure),
    };
    let Some(step) = history.steps.last() else {
        return Ok(());
    };
    if output.json {
        return output.json_line(&json!({
            "pass": step.pass,
            "argument": step.argument,
            "line": step.line,
            "checks": bisection.checks,
            "changes": step.summary(),
        }));
    }
    let name = name_of(step);
    let line = step.line;
    output.line(format_args!(
        "the check fails after pass '{name}', whose dump follows line {line}: {}",
        step.summary()
    ))?;
    tell_changes(step, args.max, output)
}

const PARTS: &str = "some dumps hold one function of several, and the command needs whole programs; print them with -mlir-print-ir-module-scope -mlir-disable-threading";

/// True if all dumps are of one function, alone or in its module.
fn is_one_function(dumps: &[PassDump]) -> bool {
    let symbols = dumps.iter().map(|dump| {
        let module = &dump.program.module;
        let blocks = module
            .regions
            .iter()
            .flat_map(|region| region.blocks.iter());
        let operations: Vec<_> = blocks.flat_map(|block| block.operations.iter()).collect();
        match operations[..] {
            [only] => isoform_mlir::symbol_name(only),
            _ => None,
        }
    });
    let symbols: HashSet<_> = symbols.collect();
    symbols.len() == 1 && !symbols.contains(&None)
}

/// Finds the first dump that the command rejects, with as many checks as the logarithm of the
/// number of dumps.
fn first_bad(args: &BisectArgs, dumps: &[PassDump]) -> Result<Bisection> {
    let check = Check::new(&args.command, Form::Mlir)?;
    let mut checks = 0;
    let mut accepts = |at: usize| {
        checks += 1;
        check.accepts(&dumps[at].program.clone().into_object())
    };
    let last = dumps.len() - 1;
    if !accepts(0)? {
        return Err(Error::value_error(
            "the command rejects the first dump already; print the program before the passes, too, \
             with -mlir-print-ir-before-all",
        ));
    }
    if last == 0 || accepts(last)? {
        return Err(Error::value_error(
            "the command accepts the last dump, so there is nothing to find",
        ));
    }
    let (mut good, mut bad) = (0, last);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if accepts(middle)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(Bisection {
        position: bad,
        checks,
    })
}
