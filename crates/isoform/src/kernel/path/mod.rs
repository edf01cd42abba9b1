//! Access paths: places inside a value.

mod parse;
pub(crate) mod places;
pub(crate) mod tree;

use std::fmt;
use std::str::FromStr;

use crate::kernel::container::Contents;
use crate::kernel::display;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::dynamic;
use crate::kernel::types::names::name_field;
use crate::kernel::value::{Value, ValueRef};

/// One step of an [`AccessPath`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AccessStep {
    /// The field of this name.
    Attr(String),
    /// The element at this position.
    ArrayItem(usize),
    /// The value under this key.
    MapItem(Value),
    /// A field missing in the object.
    AttrMissing(String),
    /// A position past the last element.
    ArrayItemMissing(usize),
    /// A key missing in the map.
    MapItemMissing(Value),
}

/// A place inside a value, as steps from its root.
///
/// Printed as `<root>.body.args[1]["k"]`; a missing element as `<root>[<missing:1>]`.
/// The text can be [parsed](Self::parse) again. Long paths and keys are abbreviated;
/// the alternate form `{:#}` prints the full text.
///
/// ```
/// use isoform::{Array, Value};
/// use isoform::paths::AccessPath;
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

    /// Parses a printed path; also available as [`str::parse`].
    ///
    /// A non-negative number is read as a position, not as a key of a map, which has
    /// the same text; [`get`](Self::get) accepts the position for both. Printed with
    /// `{:#}`, the text of any path without objects among its keys is read as a path
    /// with the same text, leading to the same place.
    ///
    /// # Errors
    ///
    /// `ValueError` stating what was expected at which byte: for text that is not a
    /// path, was truncated, or has an object as a key.
    ///
    /// ```
    /// use isoform::paths::AccessPath;
    /// let path = AccessPath::parse("<root>.body.args[1][\"k\"]")?;
    /// assert_eq!(path, AccessPath::root().attr("body").attr("args").array_item(1).map_item("k"));
    /// let error = AccessPath::parse("<root>[1").expect_err("no end");
    /// assert_eq!(error.message(), "access path: expected \"]\" at byte 8, got the end");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        parse::parse(text)
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[AccessStep] {
        &self.steps
    }

    /// The number of steps.
    pub fn depth(&self) -> usize {
        self.steps.len()
    }

    /// The path extended by one step. O(depth).
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

    /// The path to a missing field.
    #[must_use]
    pub fn attr_missing(&self, name: impl Into<String>) -> Self {
        self.join(AccessStep::AttrMissing(name.into()))
    }

    /// The path to a missing element.
    #[must_use]
    pub fn array_item_missing(&self, index: usize) -> Self {
        self.join(AccessStep::ArrayItemMissing(index))
    }

    /// The path to a missing key.
    #[must_use]
    pub fn map_item_missing(&self, key: impl Into<Value>) -> Self {
        self.join(AccessStep::MapItemMissing(key.into()))
    }

    /// The path without its last step; None for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.steps.split_last()?;
        Some(AccessPath {
            steps: rest.to_vec(),
        })
    }

    /// True if `other` is at or below this place.
    pub fn is_prefix_of(&self, other: &AccessPath) -> bool {
        other.steps.starts_with(&self.steps)
    }

    /// The value at this place below `root`.
    ///
    /// # Errors
    ///
    /// `AttributeError`, `IndexError` or `KeyError` for a missing element (missing
    /// steps always fail), `TypeError` for a step unsupported by the value; each error
    /// names the path to the step.
    pub fn get(&self, root: impl Into<Value>) -> Result<Value> {
        self.part_of(root.into())
    }

    fn part_of(&self, mut value: Value) -> Result<Value> {
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
                Some(object) => dynamic::field_value(object, name),
                None => Err(unsupported(&format!("an object with a field '{name}'"))),
            },
            AccessStep::ArrayItem(index) => {
                // A path read from text does not distinguish positions from integer
                // keys.
                let key = Value::from(*index);
                let contents = value.contents();
                if let Some(Contents::Entries(entries)) = &contents
                    && let Some(entry) = entries.get(&key)
                {
                    return Ok(entry.clone());
                }
                let item = match (contents, value.view()) {
                    (Some(Contents::Items(items)), _) => items.get(*index).cloned(),
                    (_, ValueRef::Shape(shape)) => shape.get(*index).map(|&dim| Value::from(dim)),
                    _ => return Err(unsupported(&format!("a sequence for step [{index}]"))),
                };
                item.ok_or_else(|| missing(ErrorKind::Index, format!("no element {index}")))
            }
            AccessStep::MapItem(key) => {
                let Some(entries) = value.entries() else {
                    return Err(unsupported(&format!("a map for step [{key:?}]")));
                };
                let entry = entries.get(key).cloned();
                entry.ok_or_else(|| missing(ErrorKind::Key, format!("no key {key:?}")))
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

impl FromStr for AccessPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        AccessPath::parse(text)
    }
}

/// True if a name is printed without quotes.
fn is_identifier(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(plain)
}

/// A field's name, quoted if ambiguous otherwise.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_identifier(self.0) {
            f.write_str(self.0)
        } else {
            write!(f, "{:?}", self.0)
        }
    }
}

impl fmt::Display for AccessStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = if f.alternate() {
            usize::MAX
        } else {
            display::KEY_BUDGET
        };
        let key = |key: &Value| key_text(key, budget);
        match self {
            AccessStep::Attr(name) => write!(f, ".{}", Name(name)),
            AccessStep::ArrayItem(index) => write!(f, "[{index}]"),
            AccessStep::MapItem(item) => write!(f, "[{}]", key(item)),
            AccessStep::AttrMissing(name) => write!(f, ".<missing:{}>", Name(name)),
            AccessStep::ArrayItemMissing(index) => write!(f, "[<missing:{index}>]"),
            AccessStep::MapItemMissing(item) => write!(f, "[<missing:{}>]", key(item)),
        }
    }
}

/// The text of a key; for a long key, at least its name, if any.
fn key_text(key: &Value, budget: usize) -> String {
    let text = display::short(key, budget);
    let ValueRef::Object(object) = key.view() else {
        return text;
    };
    if text.len() <= budget {
        return text;
    }
    let info = object.type_info();
    let named = name_field(info).and_then(|field| {
        let name = dynamic::field_value_at(object, field)?;
        Some((info.fields()[field].name(), name))
    });
    match named {
        Some((field, name)) => {
            let name = display::short(&name, budget);
            format!("{}({field}={name}, ...)", info.key())
        }
        None => text,
    }
}

/// Paths longer than this are printed without their middle.
const PRINTED_STEPS: usize = 64;

impl fmt::Display for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<root>")?;
        let total = self.steps.len();
        if total <= PRINTED_STEPS || f.alternate() {
            return print(f, &self.steps);
        }
        let half = PRINTED_STEPS / 2;
        print(f, &self.steps[..half])?;
        write!(f, "...<{} steps>...", total - PRINTED_STEPS)?;
        print(f, &self.steps[total - half..])
    }
}

fn print(f: &mut fmt::Formatter<'_>, steps: &[AccessStep]) -> fmt::Result {
    let mut steps = steps.iter();
    steps.try_for_each(|step| fmt::Display::fmt(step, f))
}

impl fmt::Debug for AccessPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
