//! Updates read changed files only, continue after an interruption, and lose nothing.

use std::fs;
use std::path::{Path, PathBuf};

use isoform::{Error, Result};
use tempfile::TempDir;

use super::{TestInspector, age, listed, names, write};
use crate::{Index, Row, RowWriter, Update, UpdateReport, update_index};

/// A collection, its index and the inspector.
struct Corpus {
    folder: TempDir,
    inspector: TestInspector,
}

impl Corpus {
    fn new(files: &[(&str, &str)]) -> Corpus {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        for (name, contents) in files {
            write(&folder.path().join("root"), name, contents);
        }
        Corpus {
            folder,
            inspector: TestInspector::default(),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("i.parquet")
    }

    fn update(&self) -> Result<UpdateReport> {
        self.update_until(|_| Ok(()))
    }

    fn update_until(
        &self,
        progress: impl FnMut(&UpdateReport) -> Result<()>,
    ) -> Result<UpdateReport> {
        let roots = [self.root().to_str().unwrap().to_owned()];
        update_index(&roots, &self.index(), &self.inspector, 2, progress)
    }

    fn listed(&self) -> Vec<String> {
        listed(&self.root(), &self.index())
    }

    /// The files read since the last call, without the root.
    fn read(&self) -> Vec<String> {
        let root = format!("{}/", self.root().display());
        let read = self.inspector.taken();
        let name = |path: &String| path.strip_prefix(&root).unwrap().to_owned();
        read.iter().map(name).collect()
    }
}

fn fail(message: &str) -> Error {
    Error::value_error(message)
}

#[test]
fn an_index_has_a_row_for_each_file() {
    let corpus = Corpus::new(&[
        ("b/deep/x.m", "03"),
        ("b.m", "02"),
        ("a.m", "01"),
        ("c.m", "bad luck"),
        ("d.m", "other"),
        ("e.txt", "05"),
    ]);
    let report = corpus.update().unwrap();
    assert_eq!((report.rows, report.read, report.failed), (4, 5, 1));
    assert_eq!(report.bytes, 2 + 2 + 2 + 8 + 5);
    assert_eq!(
        corpus.listed(),
        ["a.m 01", "b/deep/x.m 03", "b.m 02", "c.m: bad luck"]
    );
    // Nothing but the index remains.
    let files = names(corpus.folder.path());
    assert!(files.into_iter().eq(["i.parquet", "root"]));
}

#[test]
fn a_panic_is_a_row() {
    let corpus = Corpus::new(&[("a.m", "01"), ("b.m", "panic"), ("c.m", "03")]);
    assert_eq!(corpus.update().unwrap().failed, 1);
    let rows = corpus.listed();
    assert_eq!((&*rows[0], &*rows[2]), ("a.m 01", "c.m 03"));
    assert!(rows[1].contains("which is a bug"), "{rows:?}");
}

#[test]
fn a_folder_of_models_is_no_index() {
    let corpus = Corpus::new(&[("a.m", "01")]);
    corpus.update().unwrap();
    assert!(Index::is_index(&corpus.index()));
    // The index lies beside the models.
    assert!(!Index::is_index(corpus.folder.path()));
    let parts = corpus.folder.path().join("parts");
    fs::create_dir(&parts).unwrap();
    assert!(!Index::is_index(&parts));
    fs::copy(corpus.index(), parts.join("1.parquet")).unwrap();
    fs::write(parts.join("_SUCCESS"), "").unwrap();
    assert!(Index::is_index(&parts));
}

#[test]
fn an_update_reads_the_files_that_changed() {
    let corpus = Corpus::new(&[
        ("a.m", "01"),
        ("b/x.m", "02"),
        ("c.m", "bad"),
        ("d.m", "04"),
    ]);
    corpus.update().unwrap();
    corpus.read();

    // Nothing changed; failures are tried again.
    let report = corpus.update().unwrap();
    assert_eq!(corpus.read(), ["c.m"]);
    assert_eq!((report.rows, report.kept, report.failed), (4, 3, 1));

    write(&corpus.root(), "a.m", "11");
    write(&corpus.root(), "b/w.m", "22");
    write(&corpus.root(), "c.m", "33");
    fs::remove_file(corpus.root().join("d.m")).unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m", "b/w.m", "c.m"]);
    assert_eq!(
        corpus.listed(),
        ["a.m 11", "b/w.m 22", "b/x.m 02", "c.m 33"]
    );
}

#[test]
fn a_file_that_was_just_written_is_read_again() {
    let corpus = Corpus::new(&[("a.m", "01")]);
    fs::write(corpus.root().join("b.m"), "02").unwrap();
    corpus.update().unwrap();
    corpus.read();
    // The same size, within one step of the clock.
    fs::write(corpus.root().join("b.m"), "03").unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["b.m"]);
    assert_eq!(corpus.listed(), ["a.m 01", "b.m 03"]);
    age(&corpus.root().join("b.m"));
    corpus.update().unwrap();
    corpus.read();
    corpus.update().unwrap();
    assert!(corpus.read().is_empty());
}

#[test]
fn a_change_of_a_further_file_counts() {
    let corpus = Corpus::new(&[("a.m", "01\ndata/w.bin"), ("data/w.bin", "weights")]);
    corpus.update().unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m"]);
    write(&corpus.root(), "data/w.bin", "Weights");
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m"]);
    fs::remove_file(corpus.root().join("data/w.bin")).unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m"]);
}

#[test]
fn swapped_folders_are_read_again() {
    let corpus = Corpus::new(&[("d1/a.m", "01"), ("d2/a.m", "02")]);
    corpus.update().unwrap();
    let [first, second, third] = ["d1", "d2", "d3"].map(|name| corpus.root().join(name));
    fs::rename(&first, &third).unwrap();
    fs::rename(&second, &first).unwrap();
    fs::rename(&third, &second).unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.listed(), ["d1/a.m 02", "d2/a.m 01"]);
}

#[test]
fn a_reader_sees_the_index_that_it_opened() {
    let corpus = Corpus::new(&[("a.m", "01")]);
    corpus.update().unwrap();
    let open = Index::open(corpus.index()).unwrap();
    write(&corpus.root(), "b.m", "02");
    corpus.update().unwrap();
    assert_eq!(open.rows().count(), 1);
    assert_eq!(open.statistics().unwrap().files, 1);
    assert_eq!(Index::open(corpus.index()).unwrap().rows().count(), 2);
}

#[test]
fn an_interrupted_update_continues() {
    let files: Vec<(String, String)> = (0..10_000)
        .map(|number| {
            (
                format!("{:02}/{number:05}.m", number % 7),
                format!("{number:08x}"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let corpus = Corpus::new(&files);
    for limit in [5000, 9000] {
        let error = corpus
            .update_until(|report| {
                if report.rows < limit {
                    Ok(())
                } else {
                    Err(fail("stop"))
                }
            })
            .unwrap_err();
        assert_eq!(error.message(), "stop");
        assert!(!corpus.index().exists());
    }
    let first = corpus.read().len();
    assert!(first < 9000 + 2 * 1100, "{first}");
    let report = corpus.update().unwrap();
    assert!(report.kept >= 9000, "{report:?}");
    assert_eq!(report.rows, 10_000);
    let listed = corpus.listed();

    // The same rows as without the interruptions.
    fs::remove_file(corpus.index()).unwrap();
    corpus.update().unwrap();
    assert_eq!(corpus.listed(), listed);
}

#[test]
fn a_damaged_part_is_read_again() {
    let corpus = Corpus::new(&[("a.m", "01"), ("b.m", "02")]);
    let stop = |report: &UpdateReport| match report.rows {
        0 => Ok(()),
        _ => Err(fail("stop")),
    };
    corpus.update_until(stop).unwrap_err();
    let partial = corpus.folder.path().join("i.parquet.partial");
    let part = names(&partial)
        .into_iter()
        .find(|name| name.ends_with(".parquet"))
        .unwrap();
    let bytes = fs::read(partial.join(&part)).unwrap();
    fs::write(partial.join(&part), &bytes[..bytes.len() / 2]).unwrap();
    corpus.read();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m", "b.m"]);
    assert_eq!(corpus.listed(), ["a.m 01", "b.m 02"]);
}

#[test]
fn nothing_is_overwritten_unasked() {
    let corpus = Corpus::new(&[("a.m", "01"), ("sub/b.m", "02")]);
    let message = |roots: &[&Path], index: &Path| {
        let roots: Vec<String> = roots
            .iter()
            .map(|root| root.display().to_string())
            .collect();
        let error = update_index(&roots, index, &corpus.inspector, 2, |_| Ok(())).unwrap_err();
        error.message().to_owned()
    };
    fs::write(corpus.index(), "a file of somebody else").unwrap();
    let text = message(&[&corpus.root()], &corpus.index());
    assert!(
        text.contains("another file, which stays as it is"),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(corpus.index()).unwrap(),
        "a file of somebody else"
    );
    fs::remove_file(corpus.index()).unwrap();

    let text = message(&[&corpus.root()], &corpus.root());
    assert!(text.contains("got a folder"), "{text}");
    let text = message(
        &[&corpus.root()],
        &corpus.folder.path().join("typo/i.parquet"),
    );
    assert!(text.contains("cannot write the index"), "{text}");
    assert!(!corpus.folder.path().join("typo").exists());
    let text = message(&[], &corpus.index());
    assert!(
        text.contains("expected a folder or file to index, got none"),
        "{text}"
    );

    corpus.update().unwrap();
    let sub = corpus.root().join("sub");
    let text = message(&[&sub], &corpus.index());
    assert!(text.contains("expected the roots of the index"), "{text}");
    // Without roots, those of the index count.
    let report = update_index(&[], &corpus.index(), &corpus.inspector, 2, |_| Ok(()));
    assert_eq!(report.unwrap().kept, 2);
}

#[test]
fn two_updates_do_not_meet() {
    let corpus = Corpus::new(&[("a.m", "01")]);
    let roots = [corpus.root().display().to_string()];
    let update = Update::begin(&roots, &corpus.index()).unwrap();
    let error = corpus.update().unwrap_err();
    assert!(error.message().contains("another process"), "{error}");
    drop(update);
    corpus.update().unwrap();
}

#[test]
fn digests_of_another_format_are_made_again() {
    let corpus = Corpus::new(&[("a.m", "01")]);
    corpus.update().unwrap();
    let rows: Vec<Row> = Index::open(corpus.index())
        .unwrap()
        .rows()
        .collect::<Result<_>>()
        .unwrap();
    let roots = [corpus.root().display().to_string()];
    let mut bytes = Vec::new();
    let mut writer =
        RowWriter::with_versions(&mut bytes, "memory".to_owned(), &roots, [1, 1]).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    writer.finish().unwrap();
    fs::write(corpus.index(), bytes).unwrap();
    corpus.read();
    corpus.update().unwrap();
    assert_eq!(corpus.read(), ["a.m"]);
}

#[test]
fn lanes_are_merged_in_the_order_of_paths() {
    let corpus = Corpus::new(&[]);
    let roots = [corpus.root().display().to_string()];
    let update = Update::begin(&roots, &corpus.index()).unwrap();
    let row = |path: &str| Row::failed(path, "");
    let mut first = update.lane("first");
    let mut second = update.lane("second");
    for path in ["a/b", "a.m", "c"] {
        first.push(row(path)).unwrap();
    }
    for path in ["a", "a/c", "b"] {
        second.push(row(path)).unwrap();
    }
    first.close().unwrap();
    second.close().unwrap();
    assert_eq!(update.finish().unwrap(), 6);
    let rows = Index::open(corpus.index()).unwrap().rows();
    let paths: Vec<String> = rows.map(|row| row.unwrap().path).collect();
    assert_eq!(paths, ["a", "a/b", "a/c", "a.m", "b", "c"]);
}
