//! The types of containers as data.
//!
//! Code that reads, writes or rebuilds a container looks up the container's row here
//! and its [`Contents`], so only few files list the types of containers.

use super::{Array, ArrayObj, Dict, DictObj, Entries, List, ListObj, Map};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table;
use crate::kernel::value::Value;

/// The differences between container types with the same contents.
#[derive(Debug)]
pub(crate) struct ContainerType {
    pub(crate) index: TypeIndex,
    /// The name in messages and schemas.
    pub(crate) name: &'static str,
    /// The texts before and after the parts.
    pub(crate) text: [&'static str; 2],
    /// The same for text by fields, in the style of Python.
    pub(crate) repr: [&'static str; 2],
    /// The name in JSON.
    pub(crate) json: &'static str,
    /// The number of the type's records in the binary form.
    pub(crate) record: u64,
    /// The start of hashes by fields.
    pub(crate) seed: u64,
    make: Make,
}

/// Makes a container with these contents.
#[derive(Debug)]
enum Make {
    Items(fn(Array) -> Value),
    Entries(fn(Map) -> Value),
}

/// The contents of a container, owned; for a list or dict, the contents at the time of
/// the call.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Those of a sequence.
    Items(Array),
    /// Those of a mapping.
    Entries(Map),
}

pub(crate) static ARRAY: ContainerType = ContainerType {
    index: ArrayObj::INDEX,
    name: "Array",
    text: ["[", "]"],
    repr: ["(", ")"],
    json: "ffi.Array",
    record: 12,
    seed: 3,
    make: Make::Items(Value::from),
};

pub(crate) static LIST: ContainerType = ContainerType {
    index: ListObj::INDEX,
    name: "List",
    text: ["List[", "]"],
    repr: ["[", "]"],
    json: "ffi.List",
    record: 13,
    seed: 4,
    make: Make::Items(|items| List::<Value>::of(items).into()),
};

pub(crate) static MAP: ContainerType = ContainerType {
    index: Entries::INDEX,
    name: "Map",
    text: ["{", "}"],
    repr: ["{", "}"],
    json: "ffi.Map",
    record: 14,
    seed: 5,
    make: Make::Entries(Value::from),
};

pub(crate) static DICT: ContainerType = ContainerType {
    index: DictObj::INDEX,
    name: "Dict",
    text: ["Dict{", "}"],
    repr: ["{", "}"],
    json: "ffi.Dict",
    record: 15,
    seed: 6,
    make: Make::Entries(|entries| Dict::<Value, Value>::of(entries).into()),
};

/// Passes a macro, for each type of container, its handle with and without parameters,
/// its payload and its schema.
macro_rules! containers {
    ($then:ident) => {
        $then! {
            [T] $crate::kernel::container::Array<T>,
                $crate::kernel::container::Array, $crate::kernel::container::ArrayObj, Array;
            [T] $crate::kernel::container::List<T>,
                $crate::kernel::container::List, $crate::kernel::container::ListObj, List;
            [K, V] $crate::kernel::container::Map<K, V>,
                $crate::kernel::container::Map, $crate::kernel::container::Entries, Map;
            [K, V] $crate::kernel::container::Dict<K, V>,
                $crate::kernel::container::Dict, $crate::kernel::container::DictObj, Dict;
        }
    };
}
pub(crate) use containers;

impl ContainerType {
    /// All types of containers.
    pub(crate) const ALL: [&'static ContainerType; 4] = [&ARRAY, &LIST, &MAP, &DICT];

    /// The row of a type; None if the type is not a container.
    #[inline]
    pub(crate) fn of(index: TypeIndex) -> Option<&'static ContainerType> {
        table::info(index).container()
    }

    /// The type with this name in JSON.
    pub(crate) fn of_json(name: &str) -> Option<&'static ContainerType> {
        Self::ALL.into_iter().find(|row| row.json == name)
    }

    /// The immutable type of maps, or of lists.
    pub(crate) fn immutable(is_mapping: bool) -> &'static ContainerType {
        if is_mapping { &MAP } else { &ARRAY }
    }

    /// True for containers of entries, false for containers of items.
    #[inline]
    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.make, Make::Entries(_))
    }

    /// The number of parts of one element: two for a key and a value, one for an item.
    #[inline]
    pub(crate) fn parts_per_element(&self) -> usize {
        match self.make {
            Make::Items(_) => 1,
            Make::Entries(_) => 2,
        }
    }

    /// True for containers that can change while shared.
    pub(crate) fn is_mutable(&self) -> bool {
        table::info(self.index).class().is_mutable()
    }

    /// Makes a container of these parts: its items, or keys and values in turn.
    ///
    /// # Errors
    ///
    /// `ValueError` if a key occurs twice; errors from the hooks of keys.
    pub(crate) fn build(&self, mut parts: impl Iterator<Item = Value>) -> Result<Value> {
        let make = match self.make {
            Make::Items(make) => return Ok(make(parts.collect())),
            Make::Entries(make) => make,
        };
        let mut map = Map::new();
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            let length = map.len();
            let shown = key.clone();
            map.try_insert(key, value)?;
            if map.len() == length {
                return Err(Error::value_error(format!(
                    "the key {shown:?} stands twice"
                )));
            }
        }
        Ok(make(map))
    }

    /// Makes a container with these contents; None for contents of another kind.
    pub(crate) fn holding(&self, contents: Contents) -> Option<Value> {
        match (&self.make, contents) {
            (Make::Items(make), Contents::Items(items)) => Some(make(items)),
            (Make::Entries(make), Contents::Entries(entries)) => Some(make(entries)),
            _ => None,
        }
    }
}

impl PartialEq for ContainerType {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl Contents {
    /// The number of items or entries.
    pub(crate) fn len(&self) -> usize {
        match self {
            Contents::Items(items) => items.len(),
            Contents::Entries(entries) => entries.len(),
        }
    }

    /// True without items and entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items, and the keys and values in turn.
    pub(crate) fn parts(&self) -> impl DoubleEndedIterator<Item = &Value> {
        let (items, entries) = match self {
            Contents::Items(items) => (items.values(), None),
            Contents::Entries(entries) => (&[][..], Some(entries)),
        };
        let entries = entries.into_iter().flat_map(|map| map.reference().parts());
        items.iter().chain(entries)
    }
}
