//! Golden files.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use isoform::text::{from_text, to_text};
use isoform::values::List;
use isoform::{Value, assert_golden};

use crate::build::{builds, map};

/// The environment variable that gives the path to the test [`written`].
const PATH: &str = "ISOFORM_TESTS_GOLDEN";

/// The environment variable with which [`written`] compares a second value.
const OTHER: &str = "ISOFORM_TESTS_GOLDEN_OTHER";

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("isoform-golden-{name}-{}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }

    fn file(&self) -> PathBuf {
        self.0.join("inner").join("value.iso")
    }

    /// Puts a text into the file.
    fn put(&self, text: &str) -> PathBuf {
        let file = self.file();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The message of the panic of a comparison with a file.
#[track_caller]
fn refused(value: impl Into<Value>, file: &Path) -> String {
    let value = value.into();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        assert_golden!(&value, file, "pass {}", 1)
    }));
    let panic = panic.expect_err("it differs");
    panic.downcast_ref::<String>().expect("a text").clone()
}

/// A function whose first parameter is used, with these names.
fn function(names: [&str; 2]) -> Value {
    let [native, _] = builds();
    let [first, second] = names.map(|name| native.named(name, ()));
    native.lambda(&[&first, &second], &first)
}

/// Runs [`written`] in a process of its own, since variables of the environment belong to
/// a process.
fn child(file: &Path, update: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "golden::written"])
        .env(PATH, file)
        .env("ISOFORM_GOLDEN_UPDATE", update)
        .output()
        .unwrap()
}

/// Compares a value with the file that [`child`] gives; nothing without a file.
#[test]
fn written() {
    if let Some(file) = std::env::var_os(PATH) {
        let file = PathBuf::from(file);
        assert_golden!(function(["x", "y"]), &file);
        if std::env::var_os(OTHER).is_some() {
            assert_golden!([1, 2], &file);
        }
    }
}

#[test]
fn names_order_and_layout_do_not_count() {
    let folder = Folder::new("names");
    let file = folder.put(&to_text(function(["a", "b"])).unwrap());
    assert_golden!(function(["x", "y"]), &file);

    let entries = |keys: [&str; 2]| map(keys.map(|key| (key.into(), 1.into())));
    let file = folder.put(&to_text(entries(["a", "b"])).unwrap());
    assert_golden!(entries(["b", "a"]), &file);

    let file = folder.put("List[ 1,   // a comment\n 2 ]");
    assert_golden!(&List::from(vec![1i64, 2]), &file);

    // Variables of a file are other variables than those of the value.
    let [native, _] = builds();
    let free = native.var();
    let file = folder.put(&to_text(&free).unwrap());
    assert_golden!(&free, &file);
}

#[test]
fn a_difference_is_explained_and_nothing_is_written() {
    let folder = Folder::new("differs");
    let file = folder.put("[1, 2]\n");
    let message = refused([1, 3], &file);
    let head = format!(
        "pass 1: golden file {}: the value (left) differs from the file (right): the values \
         differ\n  left:  <root>[1]\n    [1, 3]\n    //  ^\n  right: <root>[1]\n    [1, 2]\n    \
         //  ^\ndifferences:\n",
        file.display()
    );
    assert!(message.starts_with(&head), "{message}");
    assert!(message.contains("3 -> 2"), "{message}");
    let end = "\nrun the test with ISOFORM_GOLDEN_UPDATE=1 to write the file";
    assert!(message.ends_with(end), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "[1, 2]\n");
    assert!(fs::read_dir(file.parent().unwrap()).unwrap().count() == 1);

    let numbers = |offset: i64| List::from_iter((0..100).map(|n| Value::from(3 * n + offset)));
    let file = folder.put(&to_text(numbers(0)).unwrap());
    let message = refused(numbers(1), &file);
    assert!(message.contains(" lines more\nrun the test"), "{message}");
    assert!(message.lines().count() < 60, "{message}");
}

#[test]
fn files_without_a_value_say_what_to_do() {
    let folder = Folder::new("missing");
    let message = refused(1, &folder.file());
    let expected = format!(
        "pass 1: golden file {}: does not exist\nrun the test with ISOFORM_GOLDEN_UPDATE=1 to \
         write the file",
        folder.file().display()
    );
    assert_eq!(message, expected);
    assert!(!folder.0.exists());
    let message = refused(1, &folder.put("[1,"));
    assert!(message.contains("value.iso: cannot be read: "), "{message}");
    // A folder in place of the file.
    let message = refused(1, &folder.0);
    assert!(message.contains(": cannot be read: "), "{message}");
}

#[test]
fn paths_are_relative_to_the_package() {
    let message = refused(1, Path::new("tests/no-such-file.iso"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no-such-file.iso");
    assert!(message.contains(path.to_str().unwrap()), "{message}");
}

#[test]
fn the_variable_writes_what_is_missing_or_differs() {
    let folder = Folder::new("written");
    let file = folder.file();
    for update in ["", "0"] {
        assert!(!child(&file, update).status.success());
        assert!(!folder.0.exists());
    }
    assert!(child(&file, "1").status.success());
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, to_text(function(["x", "y"])).unwrap());

    // An equal file is not touched.
    let renamed = to_text(function(["a", "b"])).unwrap();
    folder.put(&renamed);
    assert!(child(&file, "1").status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), renamed);

    folder.put("[1, 2]\n");
    assert!(!child(&file, "0").status.success());
    assert!(child(&file, "1").status.success());
    assert_golden!(from_text(&text).unwrap(), &file);
    let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no file is left behind");

    let output = child(&folder.0, "1");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains(": cannot be read: "), "{output}");
}

#[test]
fn other_values_of_the_variable_write_nothing() {
    let folder = Folder::new("words");
    for update in ["false", "no", "2", " "] {
        assert!(!child(&folder.file(), update).status.success());
        assert!(!folder.0.exists());
    }
}

#[test]
fn one_run_writes_one_value() {
    let folder = Folder::new("twice");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "golden::written"])
        .env(PATH, folder.file())
        .env(OTHER, "1")
        .env("ISOFORM_GOLDEN_UPDATE", "1")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.contains("have written another value"), "{output}");
    assert_golden!(function(["x", "y"]), folder.file());
}

#[test]
fn data_that_are_no_text_stay() {
    let folder = Folder::new("data");
    let file = folder.put("");
    let data = [0xff, 0, 0x80];
    fs::write(&file, data).unwrap();
    assert!(!child(&file, "1").status.success());
    assert_eq!(fs::read(&file).unwrap(), data);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new("links");
    let file = folder.put("[1]\n");
    let link = folder.0.join("link.iso");
    symlink(&file, &link).unwrap();
    let mode = |mode: u32| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o640);
    assert!(child(&link, "1").status.success());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_golden!(function(["x", "y"]), &file);
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o640
    );

    folder.put("[1]\n");
    mode(0o440);
    let output = child(&link, "1");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.contains("cannot be written: the file is read-only"),
        "{output}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "[1]\n");
}
