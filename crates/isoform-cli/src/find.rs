//! Finding the models and IR files below folders.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::input::{Form, is_ours, start_of};
use crate::output::Failure;

/// The files found, and the failures.
#[derive(Debug, Default)]
pub(crate) struct FileList {
    /// The models and IR files: in the order of the arguments, and by name within a folder.
    pub(crate) files: Vec<PathBuf>,
    /// Files and folders that failed, with the reason.
    pub(crate) failures: Vec<(PathBuf, Failure)>,
}

/// Returns the files among `paths`, and from the folders among `paths` all `.onnx`,
/// `.safetensors` and `.gguf` files, also with `.gz` or `.zst` at the end, all
/// `.safetensors.index.json` files, and all readable `.json`, `.iso`, `.isob` and `.mlir` files.
/// The shards of an index are files of their own, too.
///
/// Links are followed. A file or folder reached again, through a link or another
/// argument, is skipped: circular links are harmless.
pub(crate) fn find_models(paths: &[PathBuf]) -> FileList {
    let mut found = FileList::default();
    let mut seen = HashSet::new();
    for path in paths {
        found.walk(path, &mut seen);
    }
    found
}

impl FileList {
    fn walk(&mut self, root: &Path, seen: &mut HashSet<PathBuf>) {
        let mut pending = vec![root.to_owned()];
        while let Some(path) = pending.pop() {
            // Only the real path shows whether a link leads to a known place.
            let real = match fs::canonicalize(&path) {
                Ok(real) => real,
                Err(error) => {
                    self.failures.push((path, error.to_string().into()));
                    continue;
                }
            };
            let folder = real.is_dir();
            // A file given by name is read whatever its suffix and contents.
            if !folder && path != root && !real.is_file() {
                continue;
            }
            if !seen.insert(real) {
                continue;
            }
            if !folder {
                self.files.push(path);
                continue;
            }
            match entries(&path) {
                // The last entry pushed is visited first.
                Ok(children) => pending.extend(children.into_iter().rev()),
                Err(error) => self.failures.push((path, error.to_string().into())),
            }
        }
    }
}

/// The relevant entries of a folder, sorted by name.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut children = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        // Other files need not be resolved, and broken links matter only if named like
        // models.
        if kind.is_dir() || is_wanted(&path) || (kind.is_symlink() && path.is_dir()) {
            children.push(path);
        }
    }
    children.sort();
    Ok(children)
}

/// True if a file in a folder should be read.
fn is_wanted(path: &Path) -> bool {
    if is_model_name(path) {
        return true;
    }
    let Some(form) = ir_form_of_name(path).filter(|_| path.is_file()) else {
        return false;
    };
    match fs::File::open(path).and_then(|mut file| start_of(&mut file)) {
        Ok(start) => is_ours(&start, form),
        // An unreadable file is wanted, because loading the file will report the problem.
        Err(_) => true,
    }
}

/// True for the name of a model, of a file of weights, compressed or not, or of the index
/// of weights in several files.
pub(crate) fn is_model_name(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    let has = |extensions: &[&str], extension: &OsStr| {
        let mut extensions = extensions.iter();
        extensions.any(|known| extension.eq_ignore_ascii_case(known))
    };
    let models = ["onnx", "safetensors", "gguf"];
    if has(&["gz", "zst"], extension) {
        let stem = Path::new(path.file_stem().unwrap_or_default());
        return has(&models, stem.extension().unwrap_or_default());
    }
    has(&models, extension) || is_index_name(path)
}

/// The form of an IR file by its name; None for other names, and for names that mostly
/// belong to files of other programs.
pub(crate) fn ir_form_of_name(path: &Path) -> Option<Form> {
    let extension = path.extension()?;
    let is_ir = ["json", "iso", "isob", "mlir"]
        .iter()
        .any(|ir| extension.eq_ignore_ascii_case(ir));
    Form::of_name(path).filter(|_| is_ir)
}

/// True for the name of the index of weights in several files.
fn is_index_name(name: &Path) -> bool {
    let name = name.to_string_lossy().to_ascii_lowercase();
    name.ends_with(".safetensors.index.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &FileList, root: &Path) -> Vec<String> {
        let name = |path: &PathBuf| {
            path.strip_prefix(root)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        found.files.iter().map(name).collect()
    }

    #[test]
    fn folders_are_walked_in_order() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("b/deep")).unwrap();
        for file in [
            "c.onnx",
            "a.ONNX",
            "a.txt",
            "b/deep/x.onnx",
            "b/b.onnx",
            "plain",
            "p.onnx.gz",
            "q.safetensors",
            "q.safetensors.index.json",
            "r.gguf",
            "r.gguf.zst",
            "logs.gz",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        for (file, content) in [
            ("graph.json", "{\"nodes\": []}"),
            ("package.json", "{\"name\": 1}"),
            (
                "pytorch_model.bin.index.json",
                "{\"metadata\": {}, \"weight_map\": {}}",
            ),
            ("d.iso", "ir.IRModule()"),
            ("disc.iso", "\0\0\0"),
            ("d.isob", "\u{89}isoform"),
        ] {
            fs::write(root.join(file), content).unwrap();
        }
        fs::write(root.join("e.isob"), b"\x89isoform\x01").unwrap();
        let list = find_models(&[root.to_owned()]);
        assert_eq!(
            names(&list, root),
            [
                "a.ONNX",
                "b/b.onnx",
                "b/deep/x.onnx",
                "c.onnx",
                "d.iso",
                "e.isob",
                "graph.json",
                "p.onnx.gz",
                "q.safetensors",
                "q.safetensors.index.json",
                "r.gguf",
                "r.gguf.zst"
            ]
        );
        assert!(list.failures.is_empty());

        // A file given by name is read whatever its suffix, and only once.
        let list = find_models(&[root.join("plain"), root.join("c.onnx"), root.to_owned()]);
        assert_eq!(
            names(&list, root),
            [
                "plain",
                "c.onnx",
                "a.ONNX",
                "b/b.onnx",
                "b/deep/x.onnx",
                "d.iso",
                "e.isob",
                "graph.json",
                "p.onnx.gz",
                "q.safetensors",
                "q.safetensors.index.json",
                "r.gguf",
                "r.gguf.zst"
            ]
        );
    }

    #[test]
    fn what_is_missing_is_a_failure() {
        let root = tempfile::tempdir().unwrap();
        let found = find_models(&[root.path().join("none")]);
        assert!(found.files.is_empty());
        assert_eq!(found.failures.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_once() {
        use std::os::unix::fs::symlink;

        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/m.onnx"), "").unwrap();
        fs::write(root.join("blob"), "").unwrap();
        symlink(root.join("a"), root.join("a/b/loop")).unwrap();
        symlink(root.join("a/m.onnx"), root.join("again.onnx")).unwrap();
        symlink(root.join("blob"), root.join("z.onnx")).unwrap();
        symlink(root.join("nowhere"), root.join("notes")).unwrap();
        symlink(root.join("nowhere"), root.join("broken.onnx")).unwrap();
        symlink(root.join("self.onnx"), root.join("self.onnx")).unwrap();
        let list = find_models(&[root.to_owned()]);
        assert_eq!(names(&list, root), ["a/m.onnx", "z.onnx"]);
        let failed: Vec<_> = list.failures.iter().map(|(path, _)| path.clone()).collect();
        assert_eq!(failed, [root.join("broken.onnx"), root.join("self.onnx")]);
    }
}
