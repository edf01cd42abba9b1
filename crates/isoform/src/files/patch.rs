//! Patches as JSON.
//!
//! ```text
//! {"format":"isoform.patch","version":1,"objects":9,"left":"0a..","right":"7f..",
//!  "entries":[["o",8,{"value":2}],["i",3,[0,2],["e",0],[3,5]]],"root":["e",1],"values":{..}}
//! ```
//!
//! | text | meaning |
//! |---|---|
//! | `null`, `true`, `1`, `1.0`, `"a"` | that value |
//! | `["k", n]` | the n-th object of the left value, in the order in which a visit finishes them |
//! | `["e", n]` | what the n-th entry makes |
//! | `["v", n]` | the n-th element of `values`, a JSON graph of an array |
//! | `["a", s...]`, `["m", {"k": s...}]` | an array, a map with strings as keys |
//! | entry `["o", n, {"field": s...}]` | object n with some fields replaced |
//! | entry `["o", "key", {"field": s...}]` | an object of that type, with all of its fields |
//! | entry `["i", n, r...]` | list n of runs: `[from, to]` keeps items of list n, `s` is a new one |
//! | entry `["i", "ffi.Array", s...]` | a list of that type |
//! | entry `["d", n, [p...], [k, s]...]` | map n without the keys at positions p, with entries set |
//! | entry `["d", "ffi.Map", [], [k, s]...]` | a map of that type |
//!
//! `left` and `right` are the first 16 digits of the digests of both values.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::json::{from_json_graph, read_data, to_json_graph, write_data};
use crate::kernel::container::{Array, ContainerType, Contents, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::value::{Value, ValueRef};
use crate::structural::{Base, Difference, Entry, Patch, Run, Source, short_digest};

const FORMAT: &str = "isoform.patch";
const VERSION: i64 = 1;
/// Containers of plain data that nest deeper are written as values.
const INLINE_DEPTH: usize = 16;

impl Difference {
    /// The patch as JSON text, to be applied to the same value in another process.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable that is free on the right and not on the left;
    /// `TypeError` for values that cannot be written or have no digest.
    pub fn patch_to_json(&self) -> Result<String> {
        self.patch_data().and_then(|data| text_of(&data))
    }

    /// [`patch_to_json`](Self::patch_to_json) as data.
    pub(super) fn patch_data(&self) -> Result<Value> {
        if let Some(var) = self.foreign_variable() {
            return Err(Error::value_error(format!(
                "a patch cannot be written for {var:?}: the variable is free on the right, and \
                 the left value does not have it; bind it in both values, or compare with \
                 map_free_vars"
            )));
        }
        let digests = [short_digest(self.left())?, short_digest(self.right())?];
        Writer::default().patch(self.patch(), &digests)
    }
}

impl Patch {
    /// The patch as JSON text, if it was read from such a text.
    ///
    /// # Errors
    ///
    /// `ValueError` for a patch that was not read: its difference writes it.
    pub fn to_json(&self) -> Result<String> {
        self.data().and_then(|data| text_of(&data))
    }

    pub(super) fn data(&self) -> Result<Value> {
        match &self.digests {
            Some(digests) => Writer::default().patch(self, digests),
            None => Err(Error::value_error(
                "this patch was not read from JSON; write it with Difference::patch_to_json",
            )),
        }
    }

    /// The patch in a JSON text.
    ///
    /// # Errors
    ///
    /// `ValueError` for text that is not a patch, or one of a later version; `TypeError` for a
    /// type that is not registered.
    pub fn from_json(text: &str) -> Result<Self> {
        Patch::from_data(&read_data(text)?)
    }

    pub(super) fn from_data(data: &Value) -> Result<Self> {
        let map = header(data, FORMAT, VERSION)?;
        let values = match map.get(&"values".into()) {
            Some(graph) => from_json_graph(&text_of(graph)?)?,
            None => Value::from(Array::<Value>::new()),
        };
        let reader = Reader {
            values: array(&values, "values")?.clone(),
        };
        let entries = array(field(map, "entries")?, "entries")?;
        let entries: Result<Vec<Entry>> = entries
            .values()
            .iter()
            .map(|entry| reader.entry(entry))
            .collect();
        let objects = number(field(map, "objects")?, "objects")?;
        let digest = |name: &str| {
            let text = field(map, name)?.peek::<Str>().cloned();
            text.ok_or_else(|| malformed(name, "the start of a digest"))
        };
        Ok(Patch {
            entries: entries?.into(),
            root: match map.get(&"root".into()) {
                Some(root) => Some(reader.source(root)?),
                None => None,
            },
            objects,
            digests: Some([digest("left")?, digest("right")?]),
        })
    }
}

/// The text of JSON data.
///
/// # Errors
///
/// As [`write_data`].
pub(super) fn text_of(data: &Value) -> Result<String> {
    let mut text = String::new();
    write_data(data, &mut text)?;
    Ok(text)
}

/// The object of a file of a format.
///
/// # Errors
///
/// `ValueError` for anything else.
pub(super) fn header<'v>(data: &'v Value, format: &str, version: i64) -> Result<&'v Map> {
    let map = data
        .as_map()
        .ok_or_else(|| malformed("the text", "an object"))?;
    let found = map.get(&"format".into()).and_then(Value::as_str);
    if found != Some(format) {
        return Err(Error::value_error(format!(
            "expected JSON of the format '{format}', got {}",
            found.map_or("no format".to_owned(), |found| format!("'{found}'"))
        )));
    }
    let found = number(field(map, "version")?, "version")?;
    if i64::from(found) != version {
        return Err(Error::value_error(format!(
            "{format}: expected version {version}, got {found}; it was written by another \
             release of Isoform"
        )));
    }
    Ok(map)
}

/// A field of an object.
///
/// # Errors
///
/// `ValueError` if it is missing.
pub(super) fn field<'v>(map: &'v Map, name: &str) -> Result<&'v Value> {
    map.get(&name.into())
        .ok_or_else(|| malformed(name, "to be there"))
}

#[cold]
pub(super) fn malformed(what: &str, expected: &str) -> Error {
    Error::value_error(
        format!("malformed patch: expected {what} to be {expected}")
            .replace("to be to be", "to be"),
    )
}

/// # Errors
///
/// `ValueError` for anything but an array.
pub(super) fn array<'v>(value: &'v Value, what: &str) -> Result<&'v Array> {
    value.as_array().ok_or_else(|| malformed(what, "an array"))
}

/// # Errors
///
/// `ValueError` for anything but a number from 0 below 2^32.
pub(super) fn number(value: &Value, what: &str) -> Result<u32> {
    let number = value.as_int().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| malformed(what, "a number from 0 below 2^32"))
}

#[derive(Default)]
struct Writer {
    values: Vec<Value>,
    numbers: HashMap<u64, usize, RandomState>,
}

fn list(items: Vec<Value>) -> Value {
    Value::from(Array::from(items))
}

impl Writer {
    fn patch(mut self, patch: &Patch, [left, right]: &[Str; 2]) -> Result<Value> {
        let entries: Result<Vec<Value>> = patch
            .entries
            .iter()
            .map(|entry| self.entry(entry))
            .collect();
        let mut map: Map = Map::new();
        map.insert("format".into(), FORMAT.into());
        map.insert("version".into(), VERSION.into());
        map.insert("objects".into(), i64::from(patch.objects).into());
        map.insert("left".into(), left.clone().into());
        map.insert("right".into(), right.clone().into());
        map.insert("entries".into(), list(entries?));
        if let Some(root) = &patch.root {
            let root = self.source(root)?;
            map.insert("root".into(), root);
        }
        if !self.values.is_empty() {
            let graph = to_json_graph(&list(self.values))?;
            map.insert("values".into(), read_data(&graph)?);
        }
        Ok(map.into())
    }

    fn source(&mut self, source: &Source) -> Result<Value> {
        Ok(match source {
            Source::Left(number) => list(vec!["k".into(), i64::from(*number).into()]),
            Source::Entry(number) => list(vec!["e".into(), i64::from(*number).into()]),
            Source::Value(value) => match self.inline(value, 0) {
                Some(data) => data,
                None => list(vec!["v".into(), (self.number(value) as i64).into()]),
            },
        })
    }

    /// The number of a value among those that are written as a graph.
    fn number(&mut self, value: &Value) -> usize {
        let next = self.values.len();
        if let Some(object) = value.as_object() {
            let known = *self.numbers.entry(object.identity()).or_insert(next);
            if known < next {
                return known;
            }
        }
        self.values.push(value.clone());
        next
    }

    /// Plain JSON data, as it is written in the text; None for anything else.
    fn inline(&self, value: &Value, depth: usize) -> Option<Value> {
        match value.view() {
            ValueRef::None
            | ValueRef::Bool(_)
            | ValueRef::Int(_)
            | ValueRef::Float(_)
            | ValueRef::Str(_) => Some(value.clone()),
            // A container that several places share has to stay one.
            _ if depth == INLINE_DEPTH || value.as_object()?.owners() > 3 => None,
            _ if value.container()?.is_mutable() => None,
            _ => match value.contents()? {
                Contents::Items(items) => {
                    let items = items.values().iter();
                    let parts: Option<Vec<Value>> =
                        items.map(|item| self.inline(item, depth + 1)).collect();
                    Some(list([vec!["a".into()], parts?].concat()))
                }
                Contents::Entries(map) => {
                    let mut made: Map = Map::new();
                    for (key, item) in map.iter() {
                        key.as_str()?;
                        made.insert(key.clone(), self.inline(item, depth + 1)?);
                    }
                    Some(list(vec!["m".into(), made.into()]))
                }
            },
        }
    }

    fn entry(&mut self, entry: &Entry) -> Result<Value> {
        match entry {
            Entry::Object(base, fields) => self.object(base, fields),
            Entry::Edited(number, fields) => {
                let mut made: Map = Map::new();
                for (name, source) in fields {
                    made.insert(name.clone().into(), self.source(source)?);
                }
                Ok(list(vec![
                    "o".into(),
                    i64::from(*number).into(),
                    made.into(),
                ]))
            }
            Entry::Items(container, base, runs) => {
                let mut parts = vec!["i".into(), base_of(container, *base)];
                for run in runs {
                    parts.push(match run {
                        Run::Keep(from, to) => {
                            list(vec![i64::from(*from).into(), i64::from(*to).into()])
                        }
                        Run::Item(source) => self.source(source)?,
                    });
                }
                Ok(list(parts))
            }
            Entry::Entries(container, base, removed, set) => {
                let removed = removed.iter().map(|&at| i64::from(at).into()).collect();
                let mut parts = vec!["d".into(), base_of(container, *base), list(removed)];
                for (key, value) in set {
                    let pair = vec![self.source(key)?, self.source(value)?];
                    parts.push(list(pair));
                }
                Ok(list(parts))
            }
        }
    }

    fn object(&mut self, base: &Base, fields: &[(u32, Source)]) -> Result<Value> {
        let mut made: Map = Map::new();
        let (base, info) = match base {
            Base::Left(number, info) => (i64::from(*number).into(), *info),
            Base::Type(info) => (info.key().into(), *info),
            Base::Object(object) => {
                let Some(object) = object.as_object() else {
                    return Err(malformed("an entry", "an object"));
                };
                let info = object.type_info();
                if info.file_hooks().is_some() {
                    return Err(Error::type_error(format!(
                        "a patch cannot be written for a new {} that contains parts of the left \
                         value: the type has a file form of its own",
                        info.key()
                    )));
                }
                for (position, field) in info.fields().iter().enumerate() {
                    let is_given = fields.iter().any(|(given, _)| *given as usize == position);
                    if !is_given && let Some(value) = field_value_at(object, position) {
                        let value = self.source(&Source::Value(value))?;
                        made.insert(field.name().into(), value);
                    }
                }
                (info.key().into(), info)
            }
        };
        for (field, source) in fields {
            let Some(field) = info.fields().get(*field as usize) else {
                return Err(malformed("a field", "one of its type"));
            };
            let source = self.source(source)?;
            made.insert(field.name().into(), source);
        }
        Ok(list(vec!["o".into(), base, made.into()]))
    }
}

fn base_of(container: &ContainerType, base: Option<u32>) -> Value {
    match base {
        Some(number) => i64::from(number).into(),
        None => container.json.into(),
    }
}

struct Reader {
    values: Array,
}

impl Reader {
    fn source(&self, data: &Value) -> Result<Source> {
        let Some(parts) = data.as_array() else {
            return match data.as_map() {
                None => Ok(Source::Value(data.clone())),
                Some(_) => Err(malformed("a part", "a value or an array")),
            };
        };
        let parts = parts.values();
        let (Some(kind), rest) = (parts.first().and_then(Value::as_str), parts.get(1..)) else {
            return Err(malformed("a part", "an array that starts with its kind"));
        };
        let rest = rest.unwrap_or_default();
        let index = || number(rest.first().unwrap_or(&Value::NONE), "a part");
        match kind {
            "k" => Ok(Source::Left(index()?)),
            "e" => Ok(Source::Entry(index()?)),
            "v" => match self.values.get(index()? as usize) {
                Some(value) => Ok(Source::Value(value.clone())),
                None => Err(malformed("a value", "one of `values`")),
            },
            _ => Ok(Source::Value(self.plain(data)?)),
        }
    }

    /// A value that is written in place.
    fn plain(&self, data: &Value) -> Result<Value> {
        let Some(parts) = data.as_array() else {
            return Ok(data.clone());
        };
        let parts = parts.values();
        match (parts.first().and_then(Value::as_str), parts.get(1)) {
            (Some("a"), _) => {
                let items: Result<Vec<Value>> =
                    parts[1..].iter().map(|part| self.plain(part)).collect();
                Ok(list(items?))
            }
            (Some("m"), Some(map)) => {
                let map = map
                    .as_map()
                    .ok_or_else(|| malformed("a map", "an object"))?;
                let mut made: Map = Map::new();
                for (key, item) in map.iter() {
                    made.insert(key.clone(), self.plain(item)?);
                }
                Ok(made.into())
            }
            _ => Err(malformed("a part", "of a known kind")),
        }
    }

    fn entry(&self, data: &Value) -> Result<Entry> {
        let parts = array(data, "an entry")?.values();
        let (Some(kind), Some(base)) = (parts.first().and_then(Value::as_str), parts.get(1)) else {
            return Err(malformed("an entry", "its kind and what it is made from"));
        };
        let rest = &parts[2..];
        if kind == "o" {
            let fields = rest.first().and_then(Value::as_map);
            let fields = fields.ok_or_else(|| malformed("an entry", "an object and its fields"))?;
            return self.object(base, fields);
        }
        let (container, base) = match base.as_str() {
            Some(name) => {
                let container = ContainerType::of_json(name);
                (
                    container.ok_or_else(|| malformed("an entry", "of a known type"))?,
                    None,
                )
            }
            None => (ContainerType::ALL[0], Some(number(base, "an entry")?)),
        };
        match kind {
            "i" => {
                let mut runs = Vec::with_capacity(rest.len());
                for part in rest {
                    let pair = part.as_array().map(|part| part.values().to_vec());
                    runs.push(match pair.as_deref() {
                        Some([from, to]) if from.as_int().is_some() => {
                            Run::Keep(number(from, "a run")?, number(to, "a run")?)
                        }
                        _ => Run::Item(self.source(part)?),
                    });
                }
                Ok(Entry::Items(container, base, runs))
            }
            "d" => {
                let removed = rest
                    .first()
                    .ok_or_else(|| malformed("an entry", "complete"))?;
                let removed = array(removed, "an entry")?.values().iter();
                let removed: Result<Vec<u32>> = removed.map(|at| number(at, "a key")).collect();
                let mut set = Vec::with_capacity(rest.len());
                for part in &rest[1..] {
                    let [key, value] = array(part, "an entry")?.values() else {
                        return Err(malformed("an entry of a map", "a key and a value"));
                    };
                    set.push((self.source(key)?, self.source(value)?));
                }
                Ok(Entry::Entries(container, base, removed?, set))
            }
            _ => Err(malformed("an entry", "of a known kind")),
        }
    }

    fn object(&self, base: &Value, fields: &Map) -> Result<Entry> {
        let mut set = Vec::with_capacity(fields.len());
        let Some(key) = base.as_str() else {
            // The type is known when the patch is applied.
            let mut named = Vec::with_capacity(fields.len());
            for (name, value) in fields.iter() {
                let name = name.peek::<Str>().cloned();
                let name = name.ok_or_else(|| malformed("a field", "a name"))?;
                named.push((name, self.source(value)?));
            }
            return Ok(Entry::Edited(number(base, "an entry")?, named));
        };
        let info: &'static TypeInfo = table::find(key)
            .filter(|info| !info.is_builtin())
            .ok_or_else(|| Error::type_error(format!("patch: unknown type {key:?}")))?;
        for (name, value) in fields.iter() {
            let field = name.as_str().and_then(|name| info.field_index(name));
            let Some(field) = field else {
                return Err(Error::value_error(format!(
                    "patch: {key} has no field {name:?}"
                )));
            };
            set.push((field as u32, self.source(value)?));
        }
        Ok(Entry::Object(Base::Type(info), set))
    }
}
