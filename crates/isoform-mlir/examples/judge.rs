//! Judges the reader and the writer on programs from outside.
//!
//! ```text
//! judge pairs FOLDER          verdicts on FOLDER/pairs.json, at each level: a, b, kind, verdict
//! judge write FOLDER OUT      reads all FOLDER/**/*.mlir, checks the round trip, writes to OUT
//! judge levels FOLDER         normal forms of all FOLDER/**/*.mlir: fixpoints with round trips
//! judge damage FOLDER N SEED     reads N damaged texts of FOLDER/**/*.mlir, writes what can be read
//! judge read FILE...          seconds of reading, and the errors
//! judge speed FILE...         megabytes per second of reading, writing, digests and levels
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, io};

use isoform::{Error, Result, explain_mismatch, structural_digest, structural_equal};
use isoform_mlir::Level;

/// Writes a line to the standard output.
macro_rules! say {
    ($($part:tt)*) => {{
        // A reader that went away is not an error.
        let _ = writeln!(io::stdout(), $($part)*);
    }};
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let parts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["pairs", folder] => judge_pairs(Path::new(folder)),
        ["write", folder, out] => judge_writer(Path::new(folder), Path::new(out)),
        ["levels", folder] => judge_levels(Path::new(folder)),
        ["damage", folder, rounds, seed] => {
            let number = |text: &str| {
                text.parse()
                    .map_err(|_| Error::value_error(format!("expected a number, got {text}")))
            };
            damage(Path::new(folder), number(rounds)?, number(seed)?)
        }
        ["read", files @ ..] => files
            .iter()
            .try_for_each(|file| try_reading(Path::new(file))),
        ["speed", files @ ..] => files.iter().try_for_each(|file| measure(Path::new(file))),
        _ => Err(Error::value_error(
            "expected pairs FOLDER, write FOLDER OUT, levels FOLDER, damage FOLDER N SEED, read FILE... or speed FILE...",
        )),
    }
}

fn text(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| Error::value_error(format!("{}: {error}", path.display())))
}

/// Counts right and wrong verdicts by kind. Each pair is judged at all levels at which its
/// verdict is known.
fn judge_pairs(folder: &Path) -> Result<()> {
    let list = text(&folder.join("pairs.json"))?;
    let list: serde_json::Value =
        serde_json::from_slice(&list).map_err(|error| Error::value_error(error.to_string()))?;
    let strict = Level::strict();
    let unordered = Level::strict().symbol_order(false);
    let names = Level::strict().io_names(false);
    let contents = Level::strict().contents(false);
    let semantics = Level::strict().semantics(true);
    let all = [&strict, &unordered, &names, &contents, &semantics];
    let mut told: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for pair in list.as_array().into_iter().flatten() {
        let field = |name: &str| pair[name].as_str().unwrap_or_default().to_owned();
        let read = |name: &str| {
            let options = isoform_mlir::ReadOptions::default().name(field(name));
            options.read(text(&folder.join(field(name)))?)
        };
        let verdict = field("verdict");
        let expected: &[(&Level, bool)] = match &*verdict {
            "same" => &all.map(|level| (level, true)),
            "same-unordered" => &[(&strict, false), (&unordered, true)],
            _ => &[(&strict, false), (&unordered, false)],
        };
        let check = || -> Result<()> {
            let (left, right) = (read("a")?, read("b")?);
            for (level, expected) in expected {
                let (left, right) = (level.apply(&left)?, level.apply(&right)?);
                let is_equal = structural_equal(&left, &right)?;
                let is_same = structural_digest(&left)? == structural_digest(&right)?;
                assert_eq!(is_equal, is_same, "{}: equality and digests", field("b"));
                if is_equal != *expected {
                    let reason = match explain_mismatch(&left, &right)? {
                        Some(mismatch) => format!("{mismatch:?}"),
                        None => String::new(),
                    };
                    return Err(Error::value_error(format!(
                        "{}: {verdict}, got equal = {is_equal} {reason:.300} at {level:?}",
                        field("b")
                    )));
                }
            }
            Ok(())
        };
        let row = told
            .entry(format!("{verdict} {}", field("kind")))
            .or_default();
        match check() {
            Ok(()) => row[0] += 1,
            Err(error) => {
                row[1] += 1;
                say!("{error:.600}");
            }
        }
    }
    for (kind, [right, wrong]) in &told {
        say!("{kind}: {right} right, {wrong} wrong");
    }
    let sum = |side: usize| told.values().map(|row| row[side]).sum::<usize>();
    say!("all: {} right, {} wrong", sum(0), sum(1));
    Ok(())
}

fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "mlir")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Writes all programs; what is written must be read as an equal program.
fn judge_writer(folder: &Path, out: &Path) -> Result<()> {
    let (mut good, mut bad) = (0, 0);
    for path in modules(folder) {
        let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
        let check = || -> Result<()> {
            let options = isoform_mlir::ReadOptions::default().name(name.display().to_string());
            let program = options.read(text(&path)?)?;
            let written = isoform_mlir::write(&program)?;
            let again = options.read(&written)?;
            if let Some(mismatch) = explain_mismatch(&program, &again)? {
                return Err(Error::value_error(format!(
                    "{}: {mismatch:?}",
                    name.display()
                )));
            }
            assert_eq!(written, isoform_mlir::write(&again)?, "{}", name.display());
            let target = out.join(&name);
            let _ = fs::create_dir_all(target.parent().unwrap_or(out));
            fs::write(&target, written)
                .map_err(|error| Error::value_error(format!("{}: {error}", target.display())))
        };
        match check() {
            Ok(()) => good += 1,
            Err(error) => {
                bad += 1;
                say!("{error}");
            }
        }
    }
    say!("{good} programs written, {bad} failed");
    Ok(())
}

/// Checks that normal forms are their own normal forms, and are written and read as others.
fn judge_levels(folder: &Path) -> Result<()> {
    let strict = Level::strict;
    let levels = [
        strict().io_names(false),
        strict().contents(false),
        strict().symbol_order(false),
        strict().semantics(true),
    ];
    let mut changed = [0; 4];
    let (mut good, mut bad) = (0, 0);
    for path in modules(folder) {
        let Ok(program) = isoform_mlir::read(text(&path)?) else {
            continue;
        };
        for (level, changed) in levels.iter().zip(&mut changed) {
            let normal = level.apply(&program)?;
            *changed += usize::from(!normal.same_as(&program));
            let again = isoform_mlir::read(isoform_mlir::write(&normal)?)?;
            let is_fixed = level.apply(&normal)?.same_as(&normal);
            if is_fixed && structural_equal(&again, &normal)? {
                good += 1;
            } else {
                bad += 1;
                say!("{}: {level:?}", path.display());
            }
        }
    }
    say!("{good} normal forms, {bad} wrong; changed by each level: {changed:?}");
    Ok(())
}

/// The best of some runs, in megabytes per second.
fn speed(bytes: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    for round in 0.. {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
        if round >= 2 && begin.elapsed().as_secs_f64() > 1.0 {
            break;
        }
    }
    Ok(bytes as f64 / best / 1e6)
}

fn measure(path: &Path) -> Result<()> {
    let bytes = text(path)?;
    let size = bytes.len();
    let program = isoform_mlir::read(&bytes)?;
    let read = speed(size, || isoform_mlir::read(&bytes).map(drop))?;
    let write = speed(size, || isoform_mlir::write(&program).map(drop))?;
    let digest = speed(size, || structural_digest(&program).map(drop))?;
    let levels = Level::strict().io_names(false).contents(false);
    let levels = levels.symbol_order(false).semantics(true);
    let levels = speed(size, || levels.apply(&program).map(drop))?;
    let name = path.display();
    say!(
        "{name}: {size} bytes, MB/s: read {read:.0}, write {write:.0}, digest {digest:.0}, \
         levels {levels:.0}"
    );
    Ok(())
}

fn try_reading(path: &Path) -> Result<()> {
    let bytes = text(path)?;
    let start = Instant::now();
    let result = isoform_mlir::read(&bytes)
        .err()
        .map(|error| error.to_string());
    let seconds = start.elapsed().as_secs_f64();
    let told = result.unwrap_or_default();
    let first = told.lines().next().unwrap_or("read");
    say!(
        "{}: {} bytes in {seconds:.2} s: {first:.150}",
        path.display(),
        bytes.len()
    );
    Ok(())
}

/// Damages texts; what can be read must be written so that it is read as an equal program.
fn damage(folder: &Path, rounds: u64, seed: u64) -> Result<()> {
    let texts: Vec<Vec<u8>> = modules(folder)
        .iter()
        .map(|path| text(path))
        .collect::<Result<_>>()?;
    let small: Vec<&Vec<u8>> = texts.iter().filter(|text| text.len() < 5_000).collect();
    let mut state = seed | 1;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    let mut good = 0;
    for _ in 0..rounds {
        let mut damaged = small[below(small.len())].clone();
        for _ in 0..=below(2) {
            let at = below(damaged.len());
            let end = (at + below(10)).min(damaged.len());
            let other = small[below(small.len())];
            let from = below(other.len());
            let piece = &other[from..(from + below(12)).min(other.len())];
            match below(3) {
                0 => drop(damaged.splice(at..end, piece.iter().copied())),
                1 => drop(damaged.drain(at..end)),
                _ => damaged[at] = b"0123456789abxf.-_<>()[]{},:=*+?\"#!@%^"[below(37)],
            }
        }
        let Ok(program) = isoform_mlir::read(&damaged) else {
            continue;
        };
        good += 1;
        let shown = String::from_utf8_lossy(&damaged);
        let written = isoform_mlir::write(&program)?;
        match isoform_mlir::read(&written) {
            Ok(again) if structural_equal(&program, &again)? => {}
            Ok(again) => say!(
                "{shown}\n{written}\n{:?}",
                explain_mismatch(&program, &again)?
            ),
            Err(error) => say!("{shown}\n{written}\n{error}"),
        }
    }
    say!("{good} of {rounds} damaged texts were read and written");
    Ok(())
}
