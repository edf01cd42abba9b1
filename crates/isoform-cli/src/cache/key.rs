//! The key of a run: everything on which the results of a command depend.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use isoform::files::to_bytes;
use isoform::traverse::{WalkResult, structural_walk};
use isoform::values::Tensor;
use isoform::{Result, Value};
use isoform_onnx::Model;
use isoform_onnx::proto::ModelProto;
use isoform_store::{EntryKey, EntryKeyBuilder, Name, NewEntry, Store};
use prost::Message;
use serde_json::{Value as Json, json};

use super::args::CacheRunArgs;
use super::bundle::pack;
use crate::args::Common;
use crate::input::{Input, is_dash, load_for_key};
use crate::output::Failure;

/// The job of the entries of runs.
pub(super) const JOB: &str = "run";

/// The version of the form of the key, which changes with the meaning of its parts.
const LAYOUT: u32 = 2;

/// A time longer than the steps of the clocks of file systems.
const GRAIN: Duration = Duration::from_secs(3);

/// The size of a program in bytes up to which a store keeps the program of a key.
const MAX_PROGRAM: usize = 64 << 20;

/// A run before the lookup of its results.
pub(super) struct Run {
    pub(super) key: EntryKey,
    /// The paths of the key files, as one text.
    pub(super) files: String,
    /// The key programs in the binary form, packed.
    pub(super) programs: Bytes,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

/// The state of a file without its contents, which changes with every write.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    identity: [i64; 4],
}

impl Stamp {
    pub(super) fn of(file: &Path) -> Option<Stamp> {
        fs::metadata(file).ok().map(|found| Stamp::new(&found))
    }

    /// True if a further write would change the stamp: the clock of a file system advances in
    /// steps, so a file that changed just now may change again under the same stamp.
    fn is_settled(&self) -> bool {
        let changed = self.modified.and_then(|time| time.elapsed().ok());
        changed.is_some_and(|age| age > GRAIN)
    }

    fn new(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            let numbers = [metadata.dev(), metadata.ino()].map(u64::cast_signed);
            [
                numbers[0],
                numbers[1],
                metadata.ctime(),
                metadata.ctime_nsec(),
            ]
        };
        #[cfg(not(unix))]
        let identity = [0; 4];
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            identity,
        }
    }
}

/// A file that cannot be read, and the reason.
pub(super) type Unreadable = (PathBuf, Failure);

impl Run {
    /// Reads the key files and the executable of the command.
    pub(super) fn new(
        args: &CacheRunArgs,
        common: &Common,
        executable: &Path,
        store: &Store,
    ) -> Result<Run, Unreadable> {
        let common = Common {
            io_names: true,
            ..common.clone()
        };
        let mut key = EntryKey::builder(JOB)
            .version(LAYOUT)
            .option("command", command_text(args))
            .option("outputs", args.outs.len());
        let mut stamps = Vec::new();
        let mut programs: Vec<Vec<u8>> = Vec::new();
        for (position, file) in args.keys.iter().enumerate() {
            stamps.push((file.clone(), Stamp::of(file)));
            let part =
                file_part(file, args.exact, &common).map_err(|failure| (file.clone(), failure))?;
            let name = format!("key.{}", position + 1);
            if let Some(metadata) = part.metadata {
                key = key.option(&format!("{name}.metadata"), metadata);
            }
            key = key.option(&name, part.text);
            programs.push(part.program.unwrap_or_default());
        }
        let compiler = executable_digest(executable, store);
        let compiler =
            compiler.map_err(|error| (executable.to_owned(), error.to_string().into()))?;
        key = with_arguments(key.option("compiler", compiler), args);
        for name in &args.variables {
            let value = match env::var_os(name) {
                Some(value) => format!("={}", argument_json(&value)),
                None => "unset".to_owned(),
            };
            key = key.option(&format!("env.{name}"), value);
        }
        if common.architecture {
            key = key.option("architecture", true);
        }
        let parts: Vec<&[u8]> = programs.iter().map(|program| &**program).collect();
        let packed = pack((), &parts).unwrap_or_default();
        Ok(Run {
            key: key.build(),
            files: files_text(&args.keys),
            programs: packed.into(),
            stamps,
        })
    }

    /// The first key file that changed since the key was computed.
    pub(super) fn changed_file(&self) -> Option<&Path> {
        let changed = |(file, stamp): &&(PathBuf, Option<Stamp>)| Stamp::of(file) != *stamp;
        self.stamps.iter().find(changed).map(|(file, _)| &**file)
    }
}

/// The paths of key files as one text.
pub(super) fn files_text(files: &[PathBuf]) -> String {
    let files = files.iter().map(|file| argument_json(file.as_os_str()));
    Json::from_iter(files).to_string()
}

/// The part of the key for a file.
struct FilePart {
    text: String,
    /// The program in the binary form.
    program: Option<Vec<u8>>,
    /// The metadata of a model, which its digest leaves out and compilers may read.
    metadata: Option<String>,
}

/// Reads a key file.
fn file_part(file: &Path, exact: bool, common: &Common) -> Result<FilePart, Failure> {
    if is_dash(file) {
        return Err("standard input cannot be a key file; write a file first".into());
    }
    if !exact && let Ok(input) = load_for_key(file, common) {
        let value = input.to_value();
        // A value without a digest counts by its bytes.
        if let Ok(digest) = common.compare_options().digest(value.clone()) {
            let text = match &input {
                // The value of tensors leaves out the rest of their file, such as metadata.
                Input::Value(found) if found.tensors.is_some() && !common.architecture => {
                    let both = format!("{digest} {}", Name::of(&contents(file)?));
                    format!("tensors {}", Name::of(both.as_bytes()))
                }
                _ => format!("program {digest}"),
            };
            return Ok(FilePart {
                text,
                program: program_bytes(&value),
                metadata: input.model().and_then(metadata_text),
            });
        }
    }
    Ok(FilePart {
        text: format!("bytes {}", Name::of(&contents(file)?)),
        program: None,
        metadata: None,
    })
}

fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(file).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => {
            "this is a folder, and a key is a file; name the files in it".into()
        }
        _ => error.to_string().into(),
    })
}

/// The metadata of a model in the order of their names; None without metadata.
fn metadata_text(model: &Model) -> Option<String> {
    let encoded = model.program().meta.clone()?;
    let about = ModelProto::decode(&encoded[..]).ok()?;
    let pairs: BTreeMap<String, String> = about
        .metadata_props
        .into_iter()
        .map(|entry| (entry.key, entry.value))
        .collect();
    (!pairs.is_empty()).then(|| {
        let json = json!(pairs).to_string();
        format!("bytes {}", Name::of(json.as_bytes()))
    })
}

/// The binary form of a program, unless the program is large.
fn program_bytes(value: &Value) -> Option<Vec<u8>> {
    let mut size = 0;
    let walked = structural_walk(value.clone(), |visit| {
        size += visit
            .value()
            .peek::<Tensor>()
            .map_or(0, |tensor| tensor.data().len());
        Ok(if size > MAX_PROGRAM {
            WalkResult::Interrupt(())
        } else {
            WalkResult::Advance
        })
    });
    match walked {
        Ok(None) => to_bytes(value)
            .ok()
            .filter(|bytes| bytes.len() <= MAX_PROGRAM),
        _ => None,
    }
}

/// The command line, where positions replace the paths of key files and outputs. The name
/// of the command counts without its folder, because an executable with several names may
/// do another job under each of them.
fn command_text(args: &CacheRunArgs) -> String {
    let command = Path::new(&args.command[0]);
    let name = argument_json(command.file_name().unwrap_or_default());
    let words = args.command.iter().skip(1);
    let words = words.map(|word| word_json(word, args));
    Json::from_iter(iter::once(name).chain(words)).to_string()
}

fn word_json(word: &OsStr, args: &CacheRunArgs) -> Json {
    let position = |path: &OsStr| {
        let find = |files: &[PathBuf]| files.iter().position(|file| file.as_os_str() == path);
        let key = find(&args.keys).map(|position| json!({"key": position + 1}));
        key.or_else(|| find(&args.outs).map(|position| json!({"out": position + 1})))
    };
    if let Some(position) = position(word) {
        return position;
    }
    if let Some((option, path)) = word.to_str().and_then(|word| word.split_once('='))
        && let Some(position) = position(OsStr::new(path))
    {
        return json!({"option": option, "path": position});
    }
    argument_json(word)
}

/// An argument without loss.
fn argument_json(word: &OsStr) -> Json {
    match word.to_str() {
        Some(text) => text.into(),
        None => json!({"bytes": word.as_encoded_bytes()}),
    }
}

/// Adds the contents of the files among the arguments, such as the script of an interpreter
/// or the file of `--script=FILE` and `@FILE`.
fn with_arguments(mut key: EntryKeyBuilder, args: &CacheRunArgs) -> EntryKeyBuilder {
    let words = args.command.iter().skip(1);
    let files = words.flat_map(|word| {
        let text = word.to_str().unwrap_or_default();
        let after_sign = text.split_once('=').map(|(_, path)| path);
        let parts = [after_sign, text.strip_prefix('@')];
        let parts = parts.into_iter().flatten().map(Path::new);
        iter::once(Path::new(word)).chain(parts)
    });
    for file in files {
        let is_named = args
            .keys
            .iter()
            .chain(&args.outs)
            .any(|named| named == file);
        if !is_named
            && file.is_file()
            && let Ok(bytes) = fs::read(file)
        {
            let name = format!("argument.{}", file.display());
            key = key.option(&name, format!("bytes {}", Name::of(&bytes)));
        }
    }
    key
}

/// The file that a command runs, by the variable PATH as in a shell.
pub(super) fn executable_of(command: &OsStr) -> Option<PathBuf> {
    let path = Path::new(command);
    if path.components().count() > 1 || path.is_absolute() {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = env::var_os("PATH")?;
    let names = [command.to_owned(), {
        let mut name = command.to_owned();
        name.push(env::consts::EXE_SUFFIX);
        name
    }];
    env::split_paths(&folders)
        .flat_map(|folder| names.each_ref().map(|name| folder.join(name)))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let found = fs::metadata(file);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The digest of an executable, which the store remembers for an unchanged file.
fn executable_digest(executable: &Path, store: &Store) -> io::Result<String> {
    let file = fs::canonicalize(executable)?;
    let stamp = Stamp::new(&fs::metadata(&file)?);
    let key = EntryKey::builder("executable")
        .version(LAYOUT)
        .option("path", file.display())
        .option("state", format!("{stamp:?}"))
        .build();
    if let Ok(Some(found)) = store.entry(&key)
        && let Ok(digest) = String::from_utf8(found.value.to_vec())
        && digest.parse::<Name>().is_ok()
    {
        return Ok(digest);
    }
    let digest = Name::of(&fs::read(&file)?).to_string();
    if stamp.is_settled() {
        // A store that cannot be written costs time and nothing else.
        let _ = store.put_entry(&key, &NewEntry::new(digest.clone()));
    }
    Ok(digest)
}
