//! The copy of the workspace for mutation and building. The copy stays in a folder that git
//! ignores, so the next run builds only changed files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::mutant::{Config, Mutant, Problem};
use crate::schemata::{SWITCH, Schema};

pub(crate) struct Workshop {
    config: Config,
    tree: PathBuf,
    target: PathBuf,
    /// The files to be mutated, unchanged.
    sources: BTreeMap<String, String>,
}

/// The result of a build.
enum Built {
    /// The programs, if the command makes any.
    Done(Vec<PathBuf>),
    /// Mutants that are to blame for errors.
    Refused(BTreeSet<u32>),
}

impl Workshop {
    /// Copies what git tracks, or would track, of the workspace at `root`.
    pub(crate) fn new(root: &Path, scratch: &Path, config: Config) -> Result<Workshop, Problem> {
        let tree = scratch.join("tree");
        let list = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(root)
            .output()?;
        if !list.status.success() {
            return Err(String::from_utf8_lossy(&list.stderr).into());
        }
        let mut sources = BTreeMap::new();
        for pattern in &config.files {
            for path in matching(root, pattern)? {
                sources.insert(path.clone(), fs::read_to_string(root.join(path))?);
            }
        }
        let crate_root = format!("{}/src/lib.rs", config.folder);
        let mut copied = BTreeSet::new();
        for path in String::from_utf8(list.stdout)?.split_terminator('\0') {
            if root.join(path).is_file() {
                // The others are written with their mutants.
                if !sources.contains_key(path) {
                    let mut content = fs::read(root.join(path))?;
                    if path == crate_root {
                        content.extend_from_slice(b"\nmod mutants;\n");
                    }
                    write_if_new(&tree.join(path), &content)?;
                }
                copied.insert(tree.join(path));
            }
        }
        let switch = tree.join(&config.folder).join("src/mutants.rs");
        write_if_new(&switch, SWITCH.as_bytes())?;
        copied.insert(switch);
        delete_others(&tree, &copied)?;
        Ok(Workshop {
            config,
            tree,
            target: scratch.join("target"),
            sources,
        })
    }

    pub(crate) fn sources(&self) -> &BTreeMap<String, String> {
        &self.sources
    }

    /// The folder in which cargo would run the tests.
    pub(crate) fn folder(&self) -> PathBuf {
        self.tree.join(&self.config.folder)
    }

    /// Keeps the first `count` candidates that compile, in their order, and numbers
    /// them from one. Also returns how many did not compile.
    pub(crate) fn select(
        &self,
        mut candidates: Vec<Mutant>,
        count: usize,
        log: &mut dyn FnMut(String),
    ) -> Result<(Vec<Mutant>, usize), Problem> {
        for (number, mutant) in (1..).zip(&mut candidates) {
            mutant.number = number;
        }
        let mut candidates = candidates.into_iter();
        let (mut chosen, mut refused) = (Vec::new(), 0);
        loop {
            let fresh = chosen.len();
            chosen.extend(candidates.by_ref().take(count - fresh));
            if chosen.len() == fresh {
                break;
            }
            loop {
                log(format!("checking {} mutants", chosen.len()));
                let Built::Refused(numbers) = self.build(&chosen, &["check", "--lib"])? else {
                    break;
                };
                chosen.retain(|mutant: &Mutant| !numbers.contains(&mutant.number));
                refused += numbers.len();
            }
        }
        for (number, mutant) in (1..).zip(&mut chosen) {
            mutant.number = number;
        }
        Ok((chosen, refused))
    }

    /// The test programs with all these mutants in them.
    pub(crate) fn test_programs(&self, mutants: &[Mutant]) -> Result<Vec<PathBuf>, Problem> {
        let mut command = vec!["test", "--no-run"];
        command.extend(self.config.tests.iter().map(String::as_str));
        match self.build(mutants, &command)? {
            Built::Done(programs) => Ok(programs),
            Built::Refused(_) => Err("mutants that pass `cargo check` do not build".into()),
        }
    }

    fn build(&self, mutants: &[Mutant], command: &[&str]) -> Result<Built, Problem> {
        let mut schemata = BTreeMap::new();
        for (path, source) in &self.sources {
            let here = mutants.iter().filter(|mutant| mutant.path == *path);
            let edits: Vec<_> = here.map(|mutant| (mutant.number, &mutant.edit)).collect();
            let schema = Schema::new(source, &edits);
            write_if_new(&self.tree.join(path), schema.text.as_bytes())?;
            schemata.insert(path.as_str(), schema);
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut child = Command::new(cargo)
            .args(command)
            .args(["--package", &self.config.package])
            .args(["--all-features", "--locked", "--message-format", "json"])
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (mut programs, mut refused) = (Vec::new(), BTreeSet::new());
        let (mut errors, mut unclear) = (String::new(), None);
        for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
            let message: Value = serde_json::from_str(&line?)?;
            if let Some(program) = message["executable"].as_str() {
                programs.push(program.into());
            }
            let diagnostic = &message["message"];
            if diagnostic["level"] == "error" {
                errors += diagnostic["rendered"].as_str().unwrap_or_default();
                match blamed(&schemata, diagnostic) {
                    Ok(mutants) => refused.extend(mutants),
                    Err(near) => unclear = unclear.or(near),
                }
            }
        }
        if child.wait()?.success() {
            return Ok(Built::Done(programs));
        }
        if refused.is_empty() {
            refused.extend(unclear.into_iter().flatten());
        }
        if refused.is_empty() {
            return Err(format!("the mutated copy does not build\n{errors}").into());
        }
        Ok(Built::Refused(refused))
    }
}

/// The mutants of the first place of an error inside of a switch; without one, the
/// mutants nearby as the error.
fn blamed(
    schemata: &BTreeMap<&str, Schema>,
    diagnostic: &Value,
) -> Result<Vec<u32>, Option<Vec<u32>>> {
    let mut near = None;
    let mut spans = diagnostic["spans"].as_array().cloned().unwrap_or_default();
    spans.sort_by_key(|span| span["is_primary"] != true);
    for span in spans {
        let path = span["file_name"].as_str().unwrap_or_default();
        let byte = |key: &str| span[key].as_u64().map(|byte| byte as usize);
        let (Some(schema), Some(start), Some(end)) =
            (schemata.get(path), byte("byte_start"), byte("byte_end"))
        else {
            continue;
        };
        let place: Range<usize> = start..end;
        if let Some(mutants) = schema.around(&place) {
            return Ok(mutants.to_vec());
        }
        near = near.or_else(|| schema.near(&place).map(<[u32]>::to_vec));
    }
    Err(near)
}

/// The files matching a pattern; its last part may be `*.rs`.
fn matching(root: &Path, pattern: &str) -> Result<Vec<String>, Problem> {
    let Some(folder) = pattern.strip_suffix("/*.rs") else {
        return Ok(vec![pattern.to_owned()]);
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(root.join(folder))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rs") {
            paths.push(format!("{folder}/{name}"));
        }
    }
    Ok(paths)
}

/// Writes a file unless it is the same already: cargo goes by the time of writing.
fn write_if_new(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content)
}

/// Deletes the remains of an earlier copy.
fn delete_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if !wanted.contains(&path) {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(())
}
