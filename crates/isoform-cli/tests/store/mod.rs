//! `isoform store`.

use std::fs;

use crate::build::Folder;
use crate::check;
use crate::support::{Ran, command};

fn run(folder: &Folder, line: &str) -> Ran {
    let mut command = command();
    command
        .current_dir(folder.path())
        .env("ISOFORM_STORE", "store")
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .args(line.split_whitespace());
    command.output().unwrap().into()
}

/// The name of the bytes "hello".
const HELLO: &str = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("hello", b"hello");
    folder
}

#[test]
fn files_come_back_under_their_names() {
    let folder = folder();
    check(
        &run(&folder, "store put hello"),
        0,
        &format!("{HELLO}  hello\n"),
    );
    check(&run(&folder, &format!("store get {HELLO}")), 0, "hello");
    check(
        &run(&folder, &format!("store get {HELLO} --out copy")),
        0,
        "",
    );
    assert_eq!(fs::read(folder.path().join("copy")).unwrap(), b"hello");
    check(
        &run(&folder, "store ls"),
        0,
        &format!("value  {HELLO}  61\n"),
    );
    let sizes = "values   1 file, 61 bytes\nentries  0 files, 0 bytes\ntotal    1 file, 61 bytes\n";
    check(&run(&folder, "store sizes"), 0, sizes);
    check(
        &run(&folder, "store verify"),
        0,
        "1 whole, 0 damaged, 0 removed\n",
    );
    check(&run(&folder, &format!("store rm {HELLO}")), 0, "");
    let absent = run(&folder, &format!("store rm {HELLO}"));
    check(&absent, 1, "");
    assert!(absent.err.contains("the store has no such name"));
    check(&run(&folder, &format!("store get {HELLO}")), 1, "");
}

#[test]
fn lists_are_json_on_request() {
    let folder = folder();
    let put = crate::json(&run(&folder, "store put hello --json"));
    assert_eq!(
        (&put["file"], &put["name"]),
        (&"hello".into(), &HELLO.into())
    );
    let listed = crate::json(&run(&folder, "store ls --json"));
    assert_eq!(
        (&listed["kind"], &listed["size"]),
        (&"value".into(), &61.into())
    );
    let sizes = crate::json(&run(&folder, "store sizes --json"));
    assert_eq!(sizes["values"]["bytes"], 61);
    let report = crate::json(&run(&folder, "store verify --json"));
    assert_eq!(
        (&report["whole"], &report["removed"]),
        (&1.into(), &0.into())
    );
    let evicted = crate::json(&run(&folder, "store evict --max-count 0 --json"));
    assert_eq!(
        (&evicted["removed"]["files"], &evicted["kept"]["files"]),
        (&1.into(), &0.into())
    );
    let line = "cache run --key hello -- true";
    assert_eq!(run(&folder, line).status, 0);
    let entry = crate::json(&run(&folder, "store ls job=run --json"));
    assert_eq!(entry["key"]["job"], "run");
    let name = entry["name"].as_str().unwrap();
    check(&run(&folder, &format!("store rm {name}")), 0, "");
    check(&run(&folder, "store ls job=run"), 0, "");
}

#[test]
fn damage_is_found_and_repaired() {
    let folder = folder();
    run(&folder, "store put hello");
    let file = folder
        .path()
        .join("store/values")
        .join(&HELLO[..2])
        .join(&HELLO[2..]);
    fs::write(file, b"torn").unwrap();
    let found = run(&folder, "store verify");
    assert_eq!(found.status, 1, "{found:?}");
    assert!(
        found.out.ends_with("0 whole, 1 damaged, 0 removed\n"),
        "{found:?}"
    );
    assert_eq!(run(&folder, "store verify --repair").status, 0);
    assert_eq!(run(&folder, "store verify").status, 0);
}

#[test]
fn the_default_is_the_cache_folder_of_the_user() {
    let folder = folder();
    let mut default = command();
    default
        .current_dir(folder.path())
        .env_remove("ISOFORM_STORE")
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .args(["store", "put", "hello"]);
    check(
        &default.output().unwrap().into(),
        0,
        &format!("{HELLO}  hello\n"),
    );
    assert!(folder.path().join("cache/isoform/store/values").exists());
}

#[test]
fn wrong_input_is_an_error_that_says_what_to_do() {
    let folder = folder();
    for (line, text) in [
        ("store put none", "isoform: none: No such file"),
        (
            "store get abc",
            "isoform: store: expected a name of 64 hexadecimal digits, got \"abc\"",
        ),
        ("store rm abc", "expected a name of 64 hexadecimal digits"),
        (
            "store ls --store ftp:host",
            "isoform: store: URL \"ftp\": the scheme is unknown",
        ),
        ("store ls --store s3:", "bucket"),
        ("store ls --store hello", "isoform: store: folder hello: "),
        ("store evict", "--max-size"),
        (
            "store evict --max-age 3x",
            "expected a number with s, m, h or d, such as 30d",
        ),
        (
            "store evict --max-size 3x",
            "expected bytes, or a number with KB, MB or GB",
        ),
        (
            "store ls job",
            "expected a part and its value, such as job=run",
        ),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(ran.err.contains(text), "{line}: {}", ran.err);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_an_error_and_no_obstacle_for_a_build() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let folder = folder();
    check(
        &run(&folder, "store put hello"),
        0,
        &format!("{HELLO}  hello\n"),
    );
    let mode = |path: &str, mode| {
        let path = folder.path().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    folder.file("other", b"other");
    for path in [
        "store/values",
        "store/entries",
        "store/tmp",
        "store/locks",
        "store",
    ] {
        fs::create_dir_all(folder.path().join(path)).unwrap();
        mode(path, 0o555);
    }
    mode("", 0o777);
    // Modes do not bind the superuser, who runs as somebody else here.
    let is_root = folder.path().metadata().unwrap().uid() == 0;
    let run = |line: &str| -> Ran {
        let mut command = command();
        command
            .current_dir(folder.path())
            .env("ISOFORM_STORE", "store")
            .args(line.split_whitespace());
        if is_root {
            command.uid(65534).gid(65534);
        }
        command.output().expect("the command starts").into()
    };
    check(&run(&format!("store get {HELLO}")), 0, "hello");
    let refused = run("store put other");
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.err.contains("Permission denied"), "{refused:?}");
    assert!(
        refused.err.contains("or give yourself the permission"),
        "{refused:?}"
    );
    let built = run("cache run --key hello --out out -- cp hello out");
    assert_eq!(built.status, 0, "{built:?}");
    assert!(built.err.contains("isoform cache: warning: "), "{built:?}");
    assert!(folder.path().join("out").exists());
}
