//! Singletons that survive a round trip through a file.
//!
//! An object of kind `singleton` is equal only to itself: storing a singleton in a file
//! requires that reading finds the intended object. A process-wide table maps type and
//! content to the object: registered and written singletons enter the table. Reading
//! uses the table but never adds entries, so a hostile file cannot make the table grow;
//! a singleton missing in the table is read as a new object.
//!
//! Unregistered singletons with the same content are distinguished by their order in
//! the value written last. The table owns its objects.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hashbrown::HashMap;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::types::Kind;
use crate::kernel::value::{Value, ValueRef, canonical_float_bits};

/// Registers a singleton; from then on, reading a file finds this object.
///
/// A singleton with the same type and the same compared fields is then read as this
/// very object. Registering the same object twice has no effect. Takes time linear in
/// the size of the fields.
///
/// # Errors
///
/// `TypeError` if the type is not of kind `singleton`; `ValueError` if another object
/// with the same content is registered, or if the content has more than 256 parts.
///
/// ```
/// use isoform::{Node, Str, Value};
/// use isoform::files::from_json_graph;
/// use isoform::types::register_singleton;
///
/// /// An operator.
/// #[derive(Node)]
/// #[node(key = "doc.Op", kind = singleton)]
/// #[repr(C)]
/// pub struct Op {
///     /// Its name.
///     pub name: Str,
/// }
///
/// let add = Op::new("add");
/// register_singleton(&add)?;
/// let text = r#"{"root_index":1,"nodes":[
///     {"type":"ffi.String","data":"add"},{"type":"doc.Op","data":{"name":0}}]}"#;
/// assert_eq!(from_json_graph(text)?, Value::from(add));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_singleton<T: Node>(object: &Ref<T>) -> Result<()> {
    register(object.as_object())
}

/// The registered or last written singleton with the type and content of this object;
/// possibly this very object. Takes time linear in the size of the fields.
pub fn find_singleton<T: Node>(object: &Ref<T>) -> Option<Ref<Obj>> {
    let object = object.as_object();
    let key = key_of(object.borrowed())?;
    table().get(&key)?.objects.first().cloned()
}

/// A type and the content of an object of the type.
type Key = (TypeIndex, Box<[u8]>);

#[derive(Default)]
struct Entry {
    registered: bool,
    objects: Vec<Ref<Obj>>,
}

type Table = HashMap<Key, Entry, rapidhash::fast::RandomState>;

/// No fields are read and nothing is dropped while this lock is held: its holder waits
/// for no other lock.
fn table() -> MutexGuard<'static, Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    let mutex = TABLE.get_or_init(Mutex::default);
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn register(object: &Ref<Obj>) -> Result<()> {
    let info = object.type_info();
    if info.kind() != Kind::Singleton {
        return Err(Error::type_error(format!(
            "{}: expected a type of kind singleton, got kind {}",
            info.key(),
            info.kind()
        )));
    }
    let Some(key) = key_of(object.borrowed()) else {
        return Err(Error::value_error(format!(
            "{}: the content of a singleton has more than {MAX_PARTS} parts",
            info.key()
        )));
    };
    let mut table = table();
    let entry = table.entry(key).or_default();
    if entry.registered && entry.objects.first() != Some(object) {
        std::mem::drop(table);
        return Err(same_content(object));
    }
    entry.registered = true;
    let old = std::mem::replace(&mut entry.objects, vec![object.clone()]);
    // Destructors may be user code, which must not run under the lock.
    std::mem::drop(table);
    std::mem::drop(old);
    Ok(())
}

fn same_content(object: &Ref<Obj>) -> Error {
    Error::value_error(format!(
        "{}: another singleton with the same content is registered: {object:?}",
        object.type_info().key()
    ))
}

/// Enters the singletons of a written value, in the order of their nodes.
///
/// # Errors
///
/// `ValueError` if a singleton has the content of another, registered singleton:
/// reading would return the registered singleton.
pub(crate) fn remember(written: &[ObjRef<'_>]) -> Result<()> {
    let mut groups: Vec<(Key, Vec<Ref<Obj>>)> = Vec::new();
    let mut positions = HashMap::<Key, usize, rapidhash::fast::RandomState>::default();
    for object in written {
        let Some(key) = key_of(*object) else {
            continue;
        };
        let position = *positions.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        groups[position].1.push(object.to_ref());
    }
    let mut table = table();
    for (key, objects) in &groups {
        if let Some(entry) = table.get(key)
            && entry.registered
            && entry.objects != *objects
        {
            let other = objects
                .iter()
                .find(|object| !entry.objects.contains(object))
                .unwrap_or(&objects[0]);
            std::mem::drop(table);
            return Err(same_content(other));
        }
    }
    let replace = |(key, objects)| {
        let entry: &mut Entry = table.entry(key).or_default();
        std::mem::replace(&mut entry.objects, objects)
    };
    let old: Vec<_> = groups.into_iter().map(replace).collect();
    std::mem::drop(table);
    std::mem::drop(old);
    Ok(())
}

/// Finds the singletons referred to by the nodes of one file.
#[derive(Default)]
pub(crate) struct Recall {
    // The number of nodes read so far with each content.
    met: HashMap<Key, usize, rapidhash::fast::RandomState>,
}

impl Recall {
    /// The singleton meant by a node read as `object`.
    pub(crate) fn resolve(&mut self, object: Ref<Obj>) -> Ref<Obj> {
        let Some(key) = key_of(object.borrowed()) else {
            return object;
        };
        let found = {
            let table = table();
            let objects = table.get(&key).map(|entry| &entry.objects[..]);
            let position = self.met.get(&key).copied().unwrap_or(0);
            objects.and_then(|objects| objects.get(position)).cloned()
        };
        *self.met.entry(key).or_insert(0) += 1;
        found.unwrap_or(object)
    }
}

/// Singletons with a larger content are not recognised. The limit keeps the table's
/// memory for a file proportional to the file.
const MAX_PARTS: usize = 256;

/// The compared fields as bytes: parts without identity by content, singletons and
/// objects without content by identity. None for too many parts.
fn key_of(object: ObjRef<'_>) -> Option<Key> {
    access::reading(|section| read_key(section, object))
}

fn read_key(section: &Section, object: ObjRef<'_>) -> Option<Key> {
    let mut bytes = Vec::new();
    // The values are owned because snapshots of lists and dicts are.
    let mut stack: Vec<Value> = Vec::new();
    push_fields(section, object, &mut stack);
    let mut parts = 0;
    while let Some(value) = stack.pop() {
        parts += 1;
        if parts + stack.len() > MAX_PARTS {
            return None;
        }
        append(section, &value, &mut bytes, &mut stack);
    }
    Some((object.type_index(), bytes.into()))
}

fn push_fields(section: &Section, object: ObjRef<'_>, stack: &mut Vec<Value>) {
    let fields = object.visited();
    let values = (0..fields.len())
        .rev()
        .filter_map(|field| fields.get(section, field));
    stack.extend(values.map(|(_, loaded): (_, Loaded<'_, '_>)| loaded.to_value()));
}

fn append(section: &Section, value: &Value, bytes: &mut Vec<u8>, stack: &mut Vec<Value>) {
    // A letter for the type, and a length where contents vary, ensure that different
    // contents have different bytes.
    let mut put = |letter: u8, content: &[u8]| {
        bytes.push(letter);
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(content);
    };
    match value.view() {
        ValueRef::None => put(b'n', &[]),
        ValueRef::Bool(flag) => put(b'b', &[u8::from(flag)]),
        ValueRef::Int(number) => put(b'i', &number.to_le_bytes()),
        ValueRef::BigInt(number) => put(b'I', &number.to_signed_bytes_le()),
        ValueRef::Float(number) => {
            put(b'f', &canonical_float_bits(number.to_bits()).to_le_bytes());
        }
        ValueRef::DType(dtype) => put(b'd', &dtype.to_bits().to_le_bytes()),
        ValueRef::Device(device) => put(b'v', &device.to_bits().to_le_bytes()),
        ValueRef::Str(text) => put(b's', text.as_bytes()),
        ValueRef::Bytes(content) => put(b'y', content),
        ValueRef::Shape(dims) => {
            let dims: Vec<u8> = dims.iter().flat_map(|dim| dim.to_le_bytes()).collect();
            put(b'h', &dims);
        }
        ValueRef::Object(object)
            if !object.type_info().is_builtin() && object.type_info().kind() != Kind::Singleton =>
        {
            put(b'o', &object.type_info().index().get().to_le_bytes());
            push_fields(section, object.borrowed(), stack);
        }
        // Large contents, and objects without content, count by identity.
        ValueRef::Tensor(_) | ValueRef::Function(_) | ValueRef::Object(_) => {
            let identity = value.as_object().map_or(0, Ref::identity);
            put(b'p', &identity.to_le_bytes());
        }
        _container => {
            put(b'c', &value.type_index().get().to_le_bytes());
            if let Some(contents) = value.contents() {
                put(b'l', &(contents.len() as u64).to_le_bytes());
                push_bounded(contents.parts().rev(), stack);
            }
        }
    }
}

/// Stops just above the limit, enough to detect an excess.
fn push_bounded<'a>(values: impl Iterator<Item = &'a Value>, stack: &mut Vec<Value>) {
    stack.extend(values.take(MAX_PARTS + 1).cloned());
}
