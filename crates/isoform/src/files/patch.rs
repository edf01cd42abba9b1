//! Patches as JSON.
//!
//! ```text
//! {"isoform.patch":1,"check":"70396680c0a01f6e","8":{"value":2},"12":[[5,1,{"$i":8}],[9,0,"new"]]}
//! ```
//!
//! docs/diff.md lists all possible contents of a patch.

use std::borrow::Cow;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::json::{from_json_graph, read_data, to_json_graph, write_data};
use crate::kernel::container::{Array, ContainerType, Contents, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::class::Payload;
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::Kind;
use crate::kernel::value::{Value, ValueRef};
use crate::structural::{
    Difference, Edit, Keyed, New, Patch, Source, Splice, check_of, named_fields,
};

/// The key of the version.
const FORMAT: &str = "isoform.patch";
const VERSION: i64 = 1;
/// From this depth on, a part is written beside the place of its use.
const INLINE_DEPTH: usize = 16;
/// From this depth on, nothing is read.
const READ_DEPTH: usize = 64;
/// A value of more objects than this is written beside the place of its use, to keep
/// the sharing among its parts.
const INLINE_OBJECTS: usize = 64;

impl Difference {
    /// The patch as JSON text, to be applied to the same value in another process; if
    /// the value has changed since the difference was made, to the value before the
    /// change.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable free on the right and not on the left; `TypeError`
    /// for values that cannot be written or have no digest.
    pub fn patch_to_json(&self) -> Result<String> {
        self.checked_patch()?.to_json()
    }

    /// Returns the patch read back from its data, after checking that the patch builds
    /// the right value. The result records its source value. O(n) for n objects of both
    /// values.
    ///
    /// # Errors
    ///
    /// The errors of [`patch_to_json`](Self::patch_to_json).
    pub fn checked_patch(&self) -> Result<Patch> {
        if let Cow::Owned(made) = self.as_made()? {
            return made.checked_patch();
        }
        // If the options ignore differences, the patch builds a value other than the
        // right value.
        let built = self.apply(self.left())?;
        let check = check_of(self.left(), &built)?;
        let data = Writer::new(self.patch()).patch(check)?;
        let patch = Patch::from_data(&data)?;
        self.check_read(&patch, &built)?;
        Ok(patch)
    }
}

impl Patch {
    /// The patch as JSON text, if the patch records its source value.
    ///
    /// # Errors
    ///
    /// `ValueError` for a patch without this record, which only its difference can
    /// write; `TypeError` for values that cannot be written.
    pub fn to_json(&self) -> Result<String> {
        self.data().and_then(|data| text_of(&data))
    }

    pub(super) fn data(&self) -> Result<Value> {
        match &self.check {
            Some(check) => Writer::new(self).patch(check.clone()),
            None => Err(Error::value_error(
                "this patch does not know which value it is for; write it with \
                 Difference::patch_to_json",
            )),
        }
    }

    /// The patch in a JSON text.
    ///
    /// # Errors
    ///
    /// `ValueError` for text other than a patch, or for a patch of a later version;
    /// `TypeError` for an unregistered type.
    pub fn from_json(text: &str) -> Result<Self> {
        Patch::from_data(&read_data(text)?)
    }

    pub(super) fn from_data(data: &Value) -> Result<Self> {
        let map = data
            .as_map()
            .ok_or_else(|| malformed("the text", "an object"))?;
        let Some(version) = map.get(FORMAT) else {
            return Err(Error::value_error(format!(
                "expected a patch, a JSON object with \"{FORMAT}\": {VERSION}; to read a whole \
                 difference, use DifferenceRecord"
            )));
        };
        check_version(FORMAT, version, VERSION)?;
        let check = field(map, "check")?.peek::<Str>().cloned();
        let values = match map.get("values") {
            Some(graph) => from_json_graph(&text_of(graph)?)?,
            None => Value::from(Array::<Value>::new()),
        };
        let mut reader = Reader {
            values: array(&values, "values")?.clone(),
            shared: Vec::new(),
            news: Vec::new(),
        };
        if let Some(new) = map.get("new") {
            for data in array(new, "new")?.iter() {
                let source = reader.source(data, 0)?;
                reader.shared.push(source);
            }
        }
        let mut edits = Vec::new();
        for (key, data) in map.iter() {
            let key = key.as_str().unwrap_or_default();
            if matches!(key, FORMAT | "check" | "new" | "values" | "root") {
                continue;
            }
            let object: u32 = key
                .parse()
                .map_err(|_| malformed(&format!("the key {key:?}"), "the number of an object"))?;
            edits.push((object, reader.edit(data)?));
        }
        edits.sort_by_key(|(object, _)| *object);
        if edits.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(malformed("each object", "edited once"));
        }
        let root = map.get("root");
        let root = root.map(|root| reader.source(root, 0)).transpose()?;
        Ok(Patch {
            edits: edits.into(),
            news: reader.news.into(),
            root,
            objects: None,
            check: Some(check.ok_or_else(|| malformed("check", "the start of a digest"))?),
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

/// # Errors
///
/// `ValueError` for another version of a format.
pub(super) fn check_version(format: &str, found: &Value, version: i64) -> Result<()> {
    let found = number(found, "version")?;
    if i64::from(found) != version {
        return Err(Error::value_error(format!(
            "{format}: expected version {version}, got {found}; it was written by another \
             release of Isoform"
        )));
    }
    Ok(())
}

/// A field of an object.
///
/// # Errors
///
/// `ValueError` if it is missing.
pub(super) fn field<'v>(map: &'v Map, name: &str) -> Result<&'v Value> {
    map.get(name).ok_or_else(|| malformed(name, "to be there"))
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
/// `ValueError` except for a number from 0 below 2^32.
fn number(value: &Value, what: &str) -> Result<u32> {
    let number = value.as_int().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| malformed(what, "a number from 0 below 2^32"))
}

fn list(items: Vec<Value>) -> Value {
    Value::from(Array::from(items))
}

/// An object with one key.
fn tagged(tag: &str, value: impl Into<Value>) -> Value {
    let mut map: Map = Map::new();
    map.insert(format!("${tag}").into(), value.into());
    map.into()
}

fn numbered(tag: &str, number: usize) -> Value {
    tagged(tag, number as i64)
}

/// An object with these keys, or pairs for a dict, and if a key could be taken for a tag.
fn entries_as_data(container: &ContainerType, entries: Vec<(Value, Value)>) -> Value {
    let is_plain = |key: &Value| key.as_str().is_some_and(|key| !key.starts_with('$'));
    if !container.is_mutable() && entries.iter().all(|(key, _)| is_plain(key)) {
        return entries.into_iter().collect::<Map>().into();
    }
    let pairs = entries
        .into_iter()
        .map(|(key, value)| list(vec![key, value]));
    tagged(container.json, list(pairs.collect()))
}

/// Data of something that the patch makes.
#[derive(Clone)]
enum PartData {
    /// A value to be written at its use, and its depth of nesting.
    Inline(Value, usize),
    /// Among the shared ones.
    Shared(usize),
}

struct Writer<'p> {
    patch: &'p Patch,
    /// The number of uses of each object made by the patch, and of each new value, by
    /// identity.
    uses: Vec<u32>,
    uses_of_values: HashMap<u64, u32, RandomState>,
    written: Vec<PartData>,
    shared: Vec<Value>,
    values: Vec<Value>,
    numbers: HashMap<u64, usize, RandomState>,
    /// How deep what was written last nests.
    depth: usize,
    /// The number of objects that may still be written in place.
    room: usize,
}

impl<'p> Writer<'p> {
    fn new(patch: &'p Patch) -> Self {
        let mut uses = vec![0; patch.news.len()];
        let mut uses_of_values: HashMap<u64, u32, RandomState> = HashMap::default();
        let mut count = |source: &Source| match source {
            Source::New(number) => {
                if let Some(uses) = uses.get_mut(*number as usize) {
                    *uses += 1;
                }
            }
            Source::Value(value) => {
                if let Some(object) = value.as_object() {
                    *uses_of_values.entry(object.identity()).or_default() += 1;
                }
            }
            Source::Left(_) | Source::Image(_) => {}
        };
        patch.root.iter().for_each(&mut count);
        for (_, edit) in &*patch.edits {
            match edit {
                Edit::Fields(_, fields) => fields.iter().for_each(|(_, source)| count(source)),
                Edit::Keyed(keyed) => {
                    keyed.named.iter().for_each(|(_, source)| count(source));
                    keyed.set.iter().for_each(|(key, source)| {
                        count(key);
                        count(source);
                    });
                }
                Edit::Items(splices) => {
                    let items = splices.iter().flat_map(|splice| &splice.items);
                    items.for_each(&mut count);
                }
            }
        }
        for new in &*patch.news {
            match new {
                New::Object(_, fields) => fields.iter().for_each(|(_, source)| count(source)),
                New::Copy(object, fields) => {
                    fields.iter().for_each(|(_, source)| count(source));
                    let own = own_fields(object, fields);
                    own.for_each(|(_, value)| count(&Source::Value(value)));
                }
                New::Items(_, items) => items.iter().for_each(&mut count),
                New::Entries(_, entries) => entries.iter().for_each(|(key, source)| {
                    count(key);
                    count(source);
                }),
            }
        }
        Writer {
            patch,
            uses,
            uses_of_values,
            written: Vec::new(),
            shared: Vec::new(),
            values: Vec::new(),
            numbers: HashMap::default(),
            depth: 0,
            room: 0,
        }
    }

    fn patch(mut self, check: Str) -> Result<Value> {
        let patch = self.patch;
        for (number, new) in patch.news.iter().enumerate() {
            self.depth = 0;
            let data = self.new_object(new)?;
            let depth = self.depth + 1;
            let written = if self.uses[number] == 1 && depth < INLINE_DEPTH {
                PartData::Inline(data, depth)
            } else {
                self.shared.push(data);
                PartData::Shared(self.shared.len() - 1)
            };
            self.written.push(written);
        }
        let mut map: Map = Map::new();
        map.insert(FORMAT.into(), VERSION.into());
        map.insert("check".into(), check.into());
        for (object, edit) in &*patch.edits {
            let data = self.edit(edit)?;
            map.insert(object.to_string().into(), data);
        }
        if let Some(root) = &patch.root {
            let root = self.source(root)?;
            map.insert("root".into(), root);
        }
        if !self.shared.is_empty() {
            map.insert("new".into(), list(self.shared));
        }
        if !self.values.is_empty() {
            let graph = to_json_graph(list(self.values))?;
            map.insert("values".into(), read_data(&graph)?);
        }
        Ok(map.into())
    }

    fn source(&mut self, source: &Source) -> Result<Value> {
        Ok(match source {
            Source::Left(number) => numbered("k", *number as usize),
            Source::Image(number) => numbered("i", *number as usize),
            Source::New(number) => match self.written.get(*number as usize) {
                Some(PartData::Inline(data, depth)) => {
                    self.depth = self.depth.max(*depth);
                    data.clone()
                }
                Some(PartData::Shared(number)) => numbered("n", *number),
                None => return Err(malformed("a new object", "made before it is used")),
            },
            Source::Value(value) => {
                let uses = value
                    .as_object()
                    .map(|object| object.identity())
                    .and_then(|object| self.uses_of_values.get(&object));
                self.room = INLINE_OBJECTS;
                let data = match uses {
                    None | Some(1) => self.inline(value, 0),
                    Some(_) => None,
                };
                match data {
                    Some(data) => data,
                    None => numbered("v", self.number(value)),
                }
            }
        })
    }

    /// The number of a value among the values written as a graph.
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

    /// The inline form of a value; None if the identity of the value matters, or if the
    /// value is too large or too deep for an inline form.
    fn inline(&mut self, value: &Value, depth: usize) -> Option<Value> {
        let object = match value.view() {
            ValueRef::None
            | ValueRef::Bool(_)
            | ValueRef::Int(_)
            | ValueRef::Float(_)
            | ValueRef::Str(_) => return Some(value.clone()),
            _ => value.as_object()?,
        };
        self.depth = self.depth.max(depth + 1);
        self.room = self.room.checked_sub(1)?;
        if depth == INLINE_DEPTH {
            return None;
        }
        let info = object.type_info();
        if info.class().has_parts() && !info.is_builtin() {
            return self.inline_object(object, depth);
        }
        if value.container()?.is_mutable() {
            return None;
        }
        match value.contents()? {
            Contents::Items(items) => {
                let items = items.values().iter();
                let parts: Option<Vec<Value>> =
                    items.map(|item| self.inline(item, depth + 1)).collect();
                Some(list(parts?))
            }
            Contents::Entries(map) => {
                let mut entries = Vec::new();
                for (key, item) in map.iter() {
                    entries.push((self.inline(key, depth + 1)?, self.inline(item, depth + 1)?));
                }
                Some(entries_as_data(value.container()?, entries))
            }
        }
    }

    fn inline_object(&mut self, object: &Ref<Obj>, depth: usize) -> Option<Value> {
        let info = object.type_info();
        let is_plain = matches!(info.kind, Kind::Tree | Kind::ConstTree)
            && matches!(info.class(), Payload::Plain | Payload::Node)
            && !info.may_change()
            && info.file_hooks().is_none();
        if !is_plain {
            return None;
        }
        let mut fields: Map = Map::new();
        for (position, field) in info.fields().iter().enumerate() {
            let value = field_value_at(object, position)?;
            fields.insert(field.name().into(), self.inline(&value, depth + 1)?);
        }
        Some(tagged(info.key(), fields))
    }

    fn sources<'s>(&mut self, sources: impl Iterator<Item = &'s Source>) -> Result<Vec<Value>> {
        sources.map(|source| self.source(source)).collect()
    }

    fn pairs(&mut self, entries: &[(Source, Source)]) -> Result<Vec<(Value, Value)>> {
        let entries = entries.iter();
        let pairs = entries.map(|(key, value)| Ok((self.source(key)?, self.source(value)?)));
        pairs.collect()
    }

    fn edit(&mut self, edit: &Edit) -> Result<Value> {
        Ok(match edit {
            Edit::Fields(info, fields) => self.fields(info, fields, Map::new())?.into(),
            Edit::Keyed(keyed) => {
                let mut map: Map = Map::new();
                let (plain, tagged): (Vec<_>, Vec<_>) =
                    (keyed.named.iter()).partition(|(name, _)| !name.starts_with('$'));
                for (name, source) in plain {
                    let source = self.source(source)?;
                    map.insert(name.clone().into(), source);
                }
                let mut set = Vec::new();
                for (name, source) in tagged {
                    set.push(list(vec![name.clone().into(), self.source(source)?]));
                }
                let pairs = self.pairs(&keyed.set)?.into_iter();
                set.extend(pairs.map(|(key, value)| list(vec![key, value])));
                if !keyed.removed.is_empty() {
                    let removed = keyed
                        .removed
                        .iter()
                        .map(|&position| i64::from(position).into());
                    map.insert("$del".into(), list(removed.collect()));
                }
                if !set.is_empty() {
                    map.insert("$set".into(), list(set));
                }
                map.into()
            }
            Edit::Items(splices) => {
                let mut parts = Vec::with_capacity(splices.len());
                for splice in splices {
                    let mut part: Vec<Value> = vec![
                        i64::from(splice.from).into(),
                        i64::from(splice.removed).into(),
                    ];
                    part.extend(self.sources(splice.items.iter())?);
                    parts.push(list(part));
                }
                list(parts)
            }
        })
    }

    fn fields(&mut self, info: &TypeInfo, fields: &[(u32, Source)], mut made: Map) -> Result<Map> {
        for (field, source) in fields {
            let Some(field) = info.fields().get(*field as usize) else {
                return Err(malformed("a field", "one of its type"));
            };
            let source = self.source(source)?;
            made.insert(field.name().into(), source);
        }
        Ok(made)
    }

    fn new_object(&mut self, new: &New) -> Result<Value> {
        Ok(match new {
            New::Items(container, items) => {
                let items = list(self.sources(items.iter())?);
                if container.is_mutable() {
                    tagged(container.json, items)
                } else {
                    items
                }
            }
            New::Entries(container, entries) => {
                let entries = self.pairs(entries)?;
                entries_as_data(container, entries)
            }
            New::Object(info, fields) => tagged(info.key(), self.fields(info, fields, Map::new())?),
            New::Copy(copied, fields) => {
                let object = copied.as_object();
                let object = object.ok_or_else(|| malformed("a new object", "an object"))?;
                let info = object.type_info();
                if info.file_hooks().is_some() {
                    return Err(Error::type_error(format!(
                        "a patch cannot be written for a new {} that contains parts of the left \
                         value: the type has a file form of its own",
                        info.key()
                    )));
                }
                let mut map: Map = Map::new();
                for (name, value) in own_fields(copied, fields) {
                    let value = self.source(&Source::Value(value))?;
                    map.insert(name.into(), value);
                }
                tagged(info.key(), self.fields(info, fields, map)?)
            }
        })
    }
}

/// The fields of an object missing in `given`, by name.
fn own_fields<'v>(
    object: &'v Value,
    given: &'v [(u32, Source)],
) -> impl Iterator<Item = (&'static str, Value)> {
    let object = object.as_object();
    let fields = object.into_iter().flat_map(|object| {
        let fields = object.type_info().fields().iter().enumerate();
        fields.map(move |(position, field)| (object, position, field))
    });
    let own = fields
        .filter(|(_, position, _)| !given.iter().any(|(field, _)| *field as usize == *position));
    own.filter_map(|(object, position, field)| {
        Some((field.name(), field_value_at(object, position)?))
    })
}

struct Reader {
    values: Array,
    /// The elements of `new`.
    shared: Vec<Source>,
    news: Vec<New>,
}

impl Reader {
    fn edit(&mut self, data: &Value) -> Result<Edit> {
        if let Some(parts) = data.as_array() {
            let mut splices = Vec::with_capacity(parts.len());
            for part in parts.iter() {
                let [from, removed, items @ ..] = array(part, "a stretch of a list")?.values()
                else {
                    return Err(malformed("a stretch of a list", "[from, count, items...]"));
                };
                splices.push(Splice {
                    from: number(from, "a position")?,
                    removed: number(removed, "a count")?,
                    items: self.sources(items, 0)?,
                });
            }
            return Ok(Edit::Items(splices));
        }
        let Some(map) = data.as_map() else {
            return Err(malformed("an edit", "an object or an array"));
        };
        let mut keyed = Keyed::default();
        for (key, data) in map.iter() {
            match key.peek::<Str>() {
                Some(key) if &**key == "$del" => {
                    let removed: Result<Vec<u32>> = array(data, "$del")?
                        .iter()
                        .map(|position| number(position, "a position"))
                        .collect();
                    keyed.removed = removed?;
                    keyed.removed.sort_unstable();
                }
                Some(key) if &**key == "$set" => keyed.set = self.pairs(data, 0)?,
                Some(key) => keyed.named.push((key.clone(), self.source(data, 0)?)),
                None => return Err(malformed("a field", "a name")),
            }
        }
        Ok(Edit::Keyed(keyed))
    }

    fn sources(&mut self, data: &[Value], depth: usize) -> Result<Vec<Source>> {
        data.iter().map(|data| self.source(data, depth)).collect()
    }

    fn pairs(&mut self, data: &Value, depth: usize) -> Result<Vec<(Source, Source)>> {
        let mut pairs = Vec::new();
        for pair in array(data, "entries")?.iter() {
            let [key, value] = array(pair, "an entry")?.values() else {
                return Err(malformed("an entry", "[key, value]"));
            };
            pairs.push((self.source(key, depth)?, self.source(value, depth)?));
        }
        Ok(pairs)
    }

    fn made(&mut self, new: New) -> Source {
        self.news.push(new);
        Source::New((self.news.len() - 1) as u32)
    }

    fn source(&mut self, data: &Value, depth: usize) -> Result<Source> {
        if depth == READ_DEPTH {
            return Err(malformed("a part", "at most 64 levels deep"));
        }
        if let Some(items) = data.as_array() {
            let items = self.sources(items.values(), depth + 1)?;
            return Ok(self.made(New::Items(ContainerType::immutable(false), items)));
        }
        let Some(map) = data.as_map() else {
            return Ok(Source::Value(data.clone()));
        };
        let only = (map.len() == 1).then(|| map.iter().next()).flatten();
        let tag = only.and_then(|(key, data)| Some((key.as_str()?.strip_prefix('$')?, data)));
        match tag {
            Some((tag, data)) => self.tagged(tag, data, depth),
            None => {
                let mut entries = Vec::with_capacity(map.len());
                for (key, data) in map.iter() {
                    entries.push((Source::Value(key.clone()), self.source(data, depth + 1)?));
                }
                Ok(self.made(New::Entries(ContainerType::immutable(true), entries)))
            }
        }
    }

    fn tagged(&mut self, tag: &str, data: &Value, depth: usize) -> Result<Source> {
        if let Some(index) = data.as_int() {
            let index = number(&index.into(), "a part")?;
            return match tag {
                "k" => Ok(Source::Left(index)),
                "i" => Ok(Source::Image(index)),
                "n" => match self.shared.get(index as usize) {
                    Some(source) => Ok(source.clone()),
                    None => Err(malformed("a part", "an earlier element of `new`")),
                },
                "v" => match self.values.get(index as usize) {
                    Some(value) => Ok(Source::Value(value.clone())),
                    None => Err(malformed("a part", "one of `values`")),
                },
                _ => Err(malformed(&format!("\"${tag}\""), "$k, $i, $n or $v")),
            };
        }
        if let Some(container) = ContainerType::of_json(tag) {
            return Ok(if container.is_mapping() {
                let entries = self.pairs(data, depth + 1)?;
                self.made(New::Entries(container, entries))
            } else {
                let items = self.sources(array(data, "items")?.values(), depth + 1)?;
                self.made(New::Items(container, items))
            });
        }
        let info: &'static TypeInfo = table::find_in_file(tag)
            .filter(|info| !info.is_builtin())
            .ok_or_else(|| Error::type_error(format!("patch: unknown type {tag:?}")))?;
        let Some(map) = data.as_map() else {
            return Err(malformed(tag, "an object of fields"));
        };
        let mut named = Vec::with_capacity(map.len());
        for (name, data) in map.iter() {
            let name = name.peek::<Str>().cloned().unwrap_or_default();
            named.push((name, self.source(data, depth + 1)?));
        }
        let fields = named_fields(info, &named)?;
        Ok(self.made(New::Object(info, fields)))
    }
}
