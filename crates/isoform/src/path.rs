//! Access paths: where inside a value something is.

use std::fmt;

use crate::display;
use crate::error::{Error, ErrorKind, Result};
use crate::object::dynamic;
use crate::value::{Value, ValueRef};

/// One step of an [`AccessPath`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AccessStep {
    /// The field of this name.
    Attr(String),
    /// The element at this position.
    ArrayItem(usize),
    /// The value under this key.
    MapItem(Value),
    /// A field that the object does not have.
    AttrMissing(String),
    /// A position behind the last element.
    ArrayItemMissing(usize),
    /// A key that the map does not have.
    MapItemMissing(Value),
}

/// A place inside a value, as steps from its root.
///
/// Printed as `<root>.body.args[1]["k"]`; a missing element as
/// `<root>[<missing:1>]`.
///
/// ```
/// use isoform::{AccessPath, Array, Value};
/// let path = AccessPath::root().array_item(1);
/// assert_eq!(path.to_string(), "<root>[1]");
/// let root = Value::from(Array::<Value>::from(vec![1.into(), 2.into()]));
/// assert_eq!(path.get(&root)?, Value::from(2));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct AccessPath {
    steps: Vec<AccessStep>,
}

impl AccessPath {
    /// The path of the root itself.
    pub fn root() -> Self {
        AccessPath::default()
    }

    /// A path of these steps.
    pub fn from_steps(steps: Vec<AccessStep>) -> Self {
        AccessPath { steps }
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[AccessStep] {
        &self.steps
    }

    /// How many steps there are.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The path one step longer. O(depth).
    #[must_use]
    pub fn join(&self, step: AccessStep) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        AccessPath { steps }
    }

    /// The path to a field.
    #[must_use]
    pub fn attr(&self, name: impl Into<String>) -> Self {
        self.join(AccessStep::Attr(name.into()))
    }

    /// The path to an element.
    #[must_use]
    pub fn array_item(&self, index: usize) -> Self {
        self.join(AccessStep::ArrayItem(index))
    }

    /// The path to a map's value.
    #[must_use]
    pub fn map_item(&self, key: impl Into<Value>) -> Self {
        self.join(AccessStep::MapItem(key.into()))
    }

    /// The path without its last step; None for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.steps.split_last()?;
        Some(AccessPath {
            steps: rest.to_vec(),
        })
    }

    /// Whether `other` lies at or below this place.
    pub fn is_prefix_of(&self, other: &AccessPath) -> bool {
        other.steps.starts_with(&self.steps)
    }

    /// The value at this place below `root`.
    ///
    /// # Errors
    ///
    /// `AttributeError`, `IndexError` or `KeyError` for a step that does not
    /// exist (missing steps never do), `TypeError` for a step that the value
    /// does not support; each names the path so far.
    pub fn get(&self, root: &Value) -> Result<Value> {
        let mut value = root.clone();
        for (depth, step) in self.steps.iter().enumerate() {
            value = step.apply(&value).map_err(|error| {
                error.at(AccessPath {
                    steps: self.steps[..depth].to_vec(),
                })
            })?;
        }
        Ok(value)
    }
}

impl AccessStep {
    fn apply(&self, value: &Value) -> Result<Value> {
        let unsupported =
            |what: &str| Error::type_error(format!("expected {what}, got {}", value.type_name()));
        let missing = |kind, what: String| Error::new(kind, what);
        match self {
            AccessStep::Attr(name) => match value.as_object() {
                Some(object) => dynamic::get_field(object, name),
                None => Err(unsupported("an object with fields")),
            },
            AccessStep::ArrayItem(index) => {
                let found = match value.view() {
                    ValueRef::Array(array) => array.get(*index).cloned(),
                    ValueRef::List(list) => list.snapshot().get(*index).cloned(),
                    ValueRef::Shape(shape) => shape.get(*index).map(|&dim| Value::from(dim)),
                    _ => return Err(unsupported("a sequence")),
                };
                found.ok_or_else(|| missing(ErrorKind::Index, format!("no element {index}")))
            }
            AccessStep::MapItem(key) => {
                let found = match value.view() {
                    ValueRef::Map(map) => map.get(key).cloned(),
                    ValueRef::Dict(dict) => dict.snapshot().get(key).cloned(),
                    _ => return Err(unsupported("a map")),
                };
                found.ok_or_else(|| missing(ErrorKind::Key, format!("no key {key:?}")))
            }
            AccessStep::AttrMissing(name) => Err(missing(
                ErrorKind::Attribute,
                format!("field '{name}' is missing here"),
            )),
            AccessStep::ArrayItemMissing(index) => Err(missing(
                ErrorKind::Index,
                format!("element {index} is missing here"),
            )),
            AccessStep::MapItemMissing(key) => Err(missing(
                ErrorKind::Key,
                format!("key {key:?} is missing here"),
            )),
        }
    }
}

impl fmt::Display for AccessStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = |key: &Value| display::short(key, display::KEY_BUDGET);
        match self {
            AccessStep::Attr(name) => write!(f, ".{name}"),
            AccessStep::ArrayItem(index) => write!(f, "[{index}]"),
            AccessStep::MapItem(item) => write!(f, "[{}]", key(item)),
            AccessStep::AttrMissing(name) => write!(f, ".<missing:{name}>"),
            AccessStep::ArrayItemMissing(index) => write!(f, "[<missing:{index}>]"),
            AccessStep::MapItemMissing(item) => write!(f, "[<missing:{}>]", key(item)),
        }
    }
}

/// Paths longer than this are printed with their middle left out.
const PRINTED_STEPS: usize = 64;

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<root>")?;
        let total = self.steps.len();
        if total <= PRINTED_STEPS {
            return self.steps.iter().try_for_each(|step| write!(f, "{step}"));
        }
        let half = PRINTED_STEPS / 2;
        self.steps[..half]
            .iter()
            .try_for_each(|step| write!(f, "{step}"))?;
        write!(f, "...<{} steps>...", total - PRINTED_STEPS)?;
        self.steps[total - half..]
            .iter()
            .try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Debug for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
