//! Golden files: expected values of tests, as text in files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io, process};

use super::{from_text, render_mismatch, to_text};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::value::Value;
use crate::structural::{CompareOptions, diff};

/// The environment variable with which golden files are written.
const UPDATE: &str = "ISOFORM_GOLDEN_UPDATE";

/// The number of lines of differences that a message shows.
const LINES: usize = 20;

/// Panics unless the text in a file is that of a structurally equal value:
/// `assert_golden!(value, "tests/golden/fusion.iso")`.
///
/// The path is relative to the folder of the package's `Cargo.toml`, and may be any
/// expression that is a path. Takes a message like that of `assert_eq!`.
///
/// Names of variables, source locations, the order of dicts and other data that comparison
/// ignores may differ, and free variables are mapped. If the environment variable
/// `ISOFORM_GOLDEN_UPDATE` is 1, a file that is missing or differs is written; an equal file
/// is not touched, a read-only file or one without text is a failure, and so are two values for
/// one file. Nothing is ever written without the variable:
///
/// ```text
/// ISOFORM_GOLDEN_UPDATE=1 cargo test
/// ```
///
/// The panic has the mismatch as text, as that of [`assert_structural_eq!`], and up to 20
/// lines of differences. A file that is missing or cannot be read is a panic, too, which says
/// how to write the file. The types of the value have to be registered, as for
/// [`from_text`](crate::text::from_text); making a value registers them.
///
/// Costs as much as [`from_text`](crate::text::from_text) and
/// [`explain_mismatch`](crate::explain_mismatch), and as [`diff`](crate::compare::diff()) if
/// the values differ.
///
/// ```no_run
/// use isoform::{Array, assert_golden};
///
/// let simplified = Array::from([1i64, 2]);
/// assert_golden!(&simplified, "tests/golden/simplified.iso");
/// for name in ["loops", "calls"] {
///     assert_golden!(&simplified, format!("tests/golden/{name}.iso"), "after {name}");
/// }
/// ```
///
/// ```should_panic
/// isoform::assert_golden!(1, "tests/golden/of_nothing.iso");
/// ```
///
/// [`assert_structural_eq!`]: crate::assert_structural_eq
#[macro_export]
macro_rules! assert_golden {
    ($value:expr, $path:expr $(,)?) => {
        if let Err(error) =
            $crate::__private::check_golden($value, env!("CARGO_MANIFEST_DIR"), $path)
        {
            panic!("{}", error.message());
        }
    };
    ($value:expr, $path:expr, $($message:tt)+) => {
        if let Err(error) =
            $crate::__private::check_golden($value, env!("CARGO_MANIFEST_DIR"), $path)
        {
            panic!("{}: {}", format_args!($($message)+), error.message());
        }
    };
}

/// Compares a value with the file at a path in a folder, or writes the file.
pub fn check_golden(value: impl Into<Value>, folder: &str, path: impl AsRef<Path>) -> Result<()> {
    check(&value.into(), &Path::new(folder).join(path))
}

fn check(value: &Value, path: &Path) -> Result<()> {
    // The files that this process has written.
    static WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let Some(problem) = problem_of(value, path)? else {
        return Ok(());
    };
    if env::var_os(UPDATE).is_none_or(|update| update != "1") {
        return Err(Error::value_error(format!(
            "{problem}\nrun the test with {UPDATE}=1 to write the file"
        )));
    }
    let text = to_text(value)?;
    // A link stays a link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if written.contains(&target) {
        return Err(Error::value_error(format!(
            "{problem}\nthe tests have written another value to the file before"
        )));
    }
    write(&text, &target).map_err(|error| failure(path, "cannot be written", &error))?;
    written.insert(fs::canonicalize(&target).unwrap_or(target));
    Ok(())
}

fn failure(path: &Path, what: &str, error: &io::Error) -> Error {
    let path = path.display();
    Error::new(
        ErrorKind::Io,
        format!("golden file {path}: {what}: {error}"),
    )
}

/// The reason why a file does not have this value; None if it has.
///
/// # Errors
///
/// `OSError` if the file exists without being text, so that an update would destroy other data.
fn problem_of(value: &Value, path: &Path) -> Result<Option<String>> {
    let file = format!("golden file {}", path.display());
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(format!("{file}: does not exist")));
        }
        Err(error) => return Err(failure(path, "cannot be read", &error)),
    };
    let stored = match from_text(&text) {
        Ok(stored) => stored,
        Err(error) => {
            return Ok(Some(format!(
                "{file}: cannot be read: {error}\ncall register_types of the dialect before, if \
                 the file is right"
            )));
        }
    };
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let Some(mismatch) = options.explain_mismatch(value, &stored)? else {
        return Ok(None);
    };
    let mut problem = format!("{file}: the value (left) differs from the file (right): ");
    problem += &render_mismatch(value, &stored, &mismatch);
    problem += &differences(value, &stored);
    Ok(Some(problem))
}

/// The first lines of the difference of two values; an empty text if a type has a comparison of
/// its own, which differences do not know.
fn differences(value: &Value, stored: &Value) -> String {
    let Ok(difference) = diff(value, stored) else {
        return String::new();
    };
    let difference = difference.to_string();
    let count = difference.lines().count();
    let mut text = "\ndifferences:".to_owned();
    for line in difference.lines().take(LINES) {
        text += &format!("\n  {line}");
    }
    if count > LINES {
        text += &format!("\n... and {} lines more", count - LINES);
    }
    text
}

/// Writes a file completely or not at all.
fn write(text: &str, path: &Path) -> io::Result<()> {
    if path.file_name().is_none() || path.is_symlink() || path.exists() && !path.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "expected the path of a file",
        ));
    }
    // Tests of one process run in threads, and may write the same file.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{number}.part", process::id()));
    let part: PathBuf = path.with_file_name(name);
    let permissions = fs::metadata(path).ok().map(|found| found.permissions());
    if permissions.as_ref().is_some_and(fs::Permissions::readonly) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "the file is read-only",
        ));
    }
    let done = fs::write(&part, text)
        .and_then(|()| permissions.map_or(Ok(()), |it| fs::set_permissions(&part, it)))
        .and_then(|()| fs::rename(&part, path));
    if done.is_err() {
        // The error of the write matters more.
        let _ = fs::remove_file(&part);
    }
    done
}
