//! The settings of a project: the table `[tool.isoform]` of `pyproject.toml`, in the current
//! folder or the nearest folder above that has one.
//!
//! The only setting names modules with node types and passes. Options that change a digest or
//! a verdict are absent on purpose: the same command line has the same result in every folder.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::output::Failure;

/// A module to import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The name of the module, or of a file that ends with .py.
    pub(crate) name: String,
    /// The folder where the module is searched for, and to which the name of a file refers.
    pub(crate) folder: PathBuf,
}

#[derive(Deserialize)]
struct Document {
    tool: Option<Tools>,
}

#[derive(Deserialize)]
struct Tools {
    isoform: Option<Settings>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    #[serde(default)]
    import: Vec<String>,
}

/// The modules that the settings of a folder name.
///
/// # Errors
///
/// The file, and the reason why its settings cannot be used.
pub(crate) fn modules(folder: &Path) -> Result<Vec<Module>, (PathBuf, Failure)> {
    for folder in folder.ancestors() {
        let file = folder.join("pyproject.toml");
        // Files that cannot be read belong to tools that can tell more about them.
        let Ok(text) = std::fs::read_to_string(&file) else {
            continue;
        };
        // Reading the whole of a long file for nothing would delay every start.
        if !text.contains("isoform") {
            continue;
        }
        match toml::from_str::<Document>(&text) {
            Ok(document) => {
                let Some(settings) = document.tool.and_then(|tools| tools.isoform) else {
                    continue;
                };
                let module = |name| Module {
                    name,
                    folder: folder.to_owned(),
                };
                return Ok(settings.import.into_iter().map(module).collect());
            }
            Err(error) => {
                let mut failure = Failure::of_text(error.to_string().trim_end());
                failure.excerpt.push(EXPECTED.to_owned());
                return Err((file, failure));
            }
        }
    }
    Ok(Vec::new())
}

const EXPECTED: &str = "[tool.isoform] has one key: import = [\"MODULE\", ...], the modules that declare node types and passes; --no-config ignores the file";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&[&str], &str>) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("pyproject.toml"), text).expect("written");
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).expect("made");
        match (modules(&inner), expected) {
            (Ok(found), Ok(expected)) => {
                let names: Vec<_> = found.iter().map(|module| &*module.name).collect();
                assert_eq!(names, expected);
                assert!(found.iter().all(|module| module.folder == folder.path()));
            }
            (Err((file, failure)), Err(expected)) => {
                assert_eq!(file, folder.path().join("pyproject.toml"));
                let text = [&[failure.message][..], &failure.excerpt]
                    .concat()
                    .join("\n");
                assert!(text.contains(expected), "{text}");
                assert!(text.contains("import = [\"MODULE\", ...]"), "{text}");
            }
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn the_table_names_modules() {
        check(
            "[tool.isoform]\nimport = ['a', 'b.py']\n",
            Ok(&["a", "b.py"]),
        );
        check("[tool.isoform]\n", Ok(&[]));
        check("[tool.other]\nimport = ['isoform']\n", Ok(&[]));
        check("[project]\nname = 'mine'\n", Ok(&[]));
    }

    #[test]
    fn other_keys_and_values_are_refused() {
        check(
            "[tool.isoform]\nio-names = true\n",
            Err("unknown field `io-names`, expected `import`"),
        );
        check("[tool.isoform]\nimport = 'mine'\n", Err("line 2"));
        check("[tool.isoform\n", Err("line 1"));
    }

    #[test]
    fn the_nearest_table_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir_all(&inner).expect("made");
        let write = |folder: &Path, text| {
            std::fs::write(folder.join("pyproject.toml"), text).expect("written");
        };
        let names = || -> Vec<String> {
            let found = modules(&inner).expect("fine");
            found.into_iter().map(|module| module.name).collect()
        };
        write(folder.path(), "[tool.isoform]\nimport = ['outer']\n");
        write(&inner, "[project]\ndependencies = ['isoform']\n");
        assert_eq!(names(), ["outer"]);
        write(&inner, "[tool.isoform]\nimport = ['inner']\n");
        assert_eq!(names(), ["inner"]);
    }
}
