//! Weights in several safetensors files, with an index that maps each tensor to its file:
//! `model.safetensors.index.json`.
//!
//! The value is the map that the same tensors in a single file give. The index decides
//! which tensors belong to it, as in transformers: others in the shards are ignored, and
//! so is the index's own metadata.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::path::{Component, Path};

use bytes::Bytes;
use isoform_onnx::ExternalResolver;
use isoform_onnx::proto::StringStringEntryProto;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::{TensorFile, TensorForm, Tensors, map, safetensors};
use crate::input::form::{BYTE_ORDER_MARK, Content, SAMPLE, recognize};
use crate::output::Failure;

/// The key of the map from tensors to files.
const WEIGHT_MAP: &str = "weight_map";

/// The keys that only a JSON graph has.
const GRAPH_KEYS: [&str; 2] = ["root_index", "nodes"];

/// The files beside an index.
#[derive(Debug)]
pub(in crate::input) struct Neighbours<'f> {
    /// The folder, if the index is in a folder of this machine.
    pub(in crate::input) folder: Option<&'f Path>,
    pub(in crate::input) resolver: ExternalResolver,
}

/// True if a text, which may be cut off, is the index of tensors: an object that maps
/// `weight_map` to an object, before any key of a graph. O(bytes before that key).
pub(in crate::input) fn is_index(text: &str) -> bool {
    let Some(mut rest) = text.strip_prefix('{') else {
        return false;
    };
    loop {
        let Some((key, after)) = rest.trim_start().strip_prefix('"').and_then(string) else {
            return false;
        };
        let Some(value) = after.trim_start().strip_prefix(':') else {
            return false;
        };
        let value = value.trim_start();
        if key == WEIGHT_MAP {
            return value.starts_with('{');
        }
        if GRAPH_KEYS.contains(&key) {
            return false;
        }
        match after_value(value) {
            Some(next) => rest = next,
            None => return false,
        }
    }
}

/// Splits a text after the opening quote of a string into the string and the text after
/// its closing quote.
fn string(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// The text after the comma that follows a value, if there is one.
fn after_value(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        let position = rest.find(['"', '{', '[', '}', ']', ','])?;
        let (sign, after) = rest.get(position..)?.split_at_checked(1)?;
        rest = after;
        match sign {
            "\"" => (_, rest) = string(after)?,
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.checked_sub(1)?,
            _ if depth == 0 => return Some(rest),
            _ => {}
        }
    }
}

/// Reads the tensors of an index. Each file is mapped once. O(index · log tensors +
/// headers of the files).
pub(super) fn read(
    index: &Bytes,
    neighbours: Option<&Neighbours<'_>>,
) -> Result<TensorFile, Failure> {
    let Some(neighbours) = neighbours else {
        return Err("this is an index of tensors in several safetensors files, which are looked up in its folder; give the name of the index, not compressed and not through a pipe".into());
    };
    let failed = |problem: &dyn fmt::Display| format!("safetensors index: {problem}");
    let text = std::str::from_utf8(index).map_err(|error| failed(&error))?;
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let index: Index = serde_json::from_str(text).map_err(|error| failed(&error))?;
    let mut shards: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, shard) in index.weight_map.0 {
        match shards.entry(shard) {
            Entry::Vacant(entry) => {
                check_name(entry.key())
                    .map_err(|problem| failed(&format!("tensor '{name}': {problem}")))?;
                entry.insert(vec![name]);
            }
            Entry::Occupied(mut entry) => entry.get_mut().push(name),
        }
    }
    if let Some(folder) = neighbours.folder {
        check_presence(folder, shards.keys()).map_err(|problem| failed(&problem))?;
    }
    let mut tensors = Tensors::new();
    for (shard, names) in &shards {
        let failed = |problem: String| failed(&format!("shard '{shard}': {problem}"));
        let mut parts = open(&neighbours.resolver, shard).map_err(failed)?;
        for name in names {
            let tensor = parts.remove(name).ok_or_else(|| {
                failed(format!("the index says that tensor '{name}' is in it, and it is not; fetch both files again"))
            })?;
            tensors.insert(name.clone(), tensor);
        }
    }
    Ok(TensorFile {
        value: map(tensors),
        files: shards.into_keys().collect(),
    })
}

/// The tensors in a shard.
fn open(resolver: &ExternalResolver, shard: &str) -> Result<Tensors, String> {
    // The resolver knows which links may be followed.
    let entry = StringStringEntryProto {
        key: "location".to_owned(),
        value: shard.to_owned(),
    };
    let bytes = resolver
        .resolve(&[entry])
        .map_err(|error| error.message().to_owned())?;
    match recognize(bytes.get(..SAMPLE).unwrap_or(&bytes)) {
        Content::Tensors(TensorForm::Safetensors) => safetensors(&bytes),
        Content::Foreign(refusal) => Err(refusal.to_owned()),
        _ => Err("expected a safetensors file, got another format; only indices of safetensors files are read".to_owned()),
    }
}

/// Refuses names that lead out of the folder on any system.
fn check_name(shard: &str) -> Result<(), String> {
    let mut components = Path::new(shard).components();
    let is_plain = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(_)), None)
    );
    if is_plain && !shard.contains(['/', '\\', ':', '\0']) {
        return Ok(());
    }
    Err(format!(
        "expected the name of a file in the folder of the index, got '{shard}'"
    ))
}

/// Names the first missing file, and counts all.
fn check_presence<'s>(
    folder: &Path,
    shards: impl ExactSizeIterator<Item = &'s String>,
) -> Result<(), String> {
    let total = shards.len();
    let missing: Vec<&String> = shards
        .filter(|shard| !folder.join(shard).exists())
        .collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(format!(
            "cannot find shard '{first}' in the folder of the index; {} of {total} shards missing, fetch them, too",
            missing.len()
        )),
    }
}

/// The part of an index that counts.
#[derive(Deserialize)]
struct Index {
    weight_map: WeightMap,
}

/// The name of the file of each tensor.
struct WeightMap(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_map(WeightMapVisitor)
            .map(WeightMap)
    }
}

struct WeightMapVisitor;

impl<'de> Visitor<'de> for WeightMapVisitor {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from names of tensors to names of files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut shards = BTreeMap::new();
        while let Some((name, shard)) = entries.next_entry::<String, String>()? {
            match shards.entry(name) {
                Entry::Vacant(entry) => {
                    entry.insert(shard);
                }
                Entry::Occupied(entry) => {
                    let problem = format!("tensor '{}' occurs twice", entry.key());
                    return Err(Error::custom(problem));
                }
            }
        }
        Ok(shards)
    }
}

#[cfg(test)]
mod tests {
    use isoform_onnx::LoadOptions;

    use super::*;

    const INDEX: &str = "{\"metadata\": {\"a\\\"b\": [1, {}]}, \"weight_map\": {\"t\": \"s\"}}";
    const SHARD: &str = "{\"t\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 2]}}  ";

    fn shard() -> Vec<u8> {
        let mut bytes = (SHARD.len() as u64).to_le_bytes().to_vec();
        bytes.extend(SHARD.as_bytes());
        bytes.extend([1, 2]);
        bytes
    }

    /// Every file that differs in a bit, and every file that is cut short.
    fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
        let flipped = (0..bytes.len() * 8).map(|bit| {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        let cut = (0..bytes.len()).map(|end| bytes[..end].to_vec());
        flipped.chain(cut).collect()
    }

    #[test]
    fn damaged_files_are_values_or_errors() {
        let folder = tempfile::tempdir().unwrap();
        // A resolver remembers what it read.
        let neighbours = || Neighbours {
            folder: Some(folder.path()),
            resolver: ExternalResolver::in_folder(
                folder.path(),
                LoadOptions::default().mmap(false),
            ),
        };
        let read = |index: Vec<u8>| read(&index.into(), Some(&neighbours()));
        std::fs::write(folder.path().join("s"), shard()).unwrap();
        assert_eq!(read(INDEX.into()).unwrap().files, ["s"]);
        for index in damaged(INDEX.as_bytes()) {
            if let Ok(text) = std::str::from_utf8(&index) {
                // The key lies before the cut, or not.
                let is_complete = text.len() > INDEX.find("{\"t\"").unwrap();
                assert!(is_complete || !is_index(text), "{text}");
            }
            let is_cut = index.len() < INDEX.len();
            let outcome = read(index);
            assert!(!is_cut || outcome.is_err());
        }
        for bytes in damaged(&shard()) {
            let is_cut = bytes.len() < shard().len();
            std::fs::write(folder.path().join("s"), bytes).unwrap();
            let outcome = read(INDEX.into());
            assert!(!is_cut || outcome.is_err());
        }
    }
}
