//! Differences as JSON: what changed, and the patches for the way there and back.
//!
//! ```text
//! {"format":"isoform.diff","version":1,"equal":false,"summary":{"value":1},
//!  "changes":[{"kind":"value","count":1,"left_path":"<root>[0]","right_path":"<root>[0]",
//!              "left":"1","right":"2","left_size":1,"right_size":1}],
//!  "patch":{..},"inverse":{..}}
//! ```
//!
//! Values are short texts for people; null where there is none. `patch` and `inverse` are
//! [patches](super::patch).

use std::fmt;

use super::json::read_data;
use super::patch::{array, check_version, field, malformed, text_of};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;
use crate::structural::{Change, ChangeKind, Difference, Patch};

const FORMAT: &str = "isoform.diff";
const VERSION: i64 = 1;

/// A [`Change`] as it is written: values are short texts.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// The kind.
    pub kind: ChangeKind,
    /// The number of occurrences; `i64::MAX` if there are more.
    pub count: i64,
    /// The first place on the left.
    pub left_path: AccessPath,
    /// The first place on the right.
    pub right_path: AccessPath,
    /// The value on the left as text.
    pub left: Option<Str>,
    /// The value on the right as text.
    pub right: Option<Str>,
    /// As [`Change::left_size`].
    pub left_size: i64,
    /// As [`Change::right_size`].
    pub right_size: i64,
}

/// A [`Difference`] as it is written: it can be applied and inverted without the two values.
///
/// ```
/// use isoform::compare::diff;
/// use isoform::files::DifferenceRecord;
/// use isoform::{Value, structural_equal};
///
/// let (left, right) = (Value::from([1, 2, 3]), Value::from([1, 3]));
/// let text = diff(left.clone(), right.clone())?.to_json()?;
/// let record = DifferenceRecord::from_json(&text)?;
/// assert_eq!(record.changes.len(), 1);
/// assert!(structural_equal(record.apply(&left)?, right.clone())?);
/// assert!(structural_equal(record.invert().apply(&right)?, left)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct DifferenceRecord {
    /// The changes.
    pub changes: Vec<ChangeRecord>,
    /// The way from the left value to the right one.
    pub patch: Patch,
    /// The way back.
    pub inverse: Patch,
}

impl Difference {
    /// The difference as it is written. O(n), for the digests of both values.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable that is free on one side only; `TypeError` for values that
    /// cannot be written.
    pub fn record(&self) -> Result<DifferenceRecord> {
        let back = self.invert()?;
        Ok(DifferenceRecord {
            changes: self.changes().iter().map(ChangeRecord::of).collect(),
            patch: self.checked_patch()?,
            inverse: back.checked_patch()?,
        })
    }

    /// The difference as JSON text; [`DifferenceRecord`] reads it.
    ///
    /// # Errors
    ///
    /// As [`record`](Self::record).
    pub fn to_json(&self) -> Result<String> {
        self.record()?.to_json()
    }
}

impl ChangeRecord {
    fn of(change: &Change) -> Self {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let text = |value: Option<&Value>| {
            value.map(|value| display::short(value, display::EXPLAIN_BUDGET).into())
        };
        ChangeRecord {
            kind: change.kind(),
            count: number(change.count()),
            left_path: change.left_path(),
            right_path: change.right_path(),
            left: text(change.left()),
            right: text(change.right()),
            left_size: number(change.left_size()),
            right_size: number(change.right_size()),
        }
    }

    fn inverted(&self) -> Self {
        ChangeRecord {
            kind: self.kind.inverse(),
            count: self.count,
            left_path: self.right_path.clone(),
            right_path: self.left_path.clone(),
            left: self.right.clone(),
            right: self.left.clone(),
            left_size: self.right_size,
            right_size: self.left_size,
        }
    }

    fn data(&self) -> Value {
        let text = |text: &Option<Str>| text.clone().map_or(Value::NONE, Value::from);
        let path = |path: &AccessPath| Value::from(format!("{path:#}"));
        let parts: [(&str, Value); 8] = [
            ("kind", self.kind.name().into()),
            ("count", self.count.into()),
            ("left_path", path(&self.left_path)),
            ("right_path", path(&self.right_path)),
            ("left", text(&self.left)),
            ("right", text(&self.right)),
            ("left_size", self.left_size.into()),
            ("right_size", self.right_size.into()),
        ];
        object(parts)
    }

    fn from_data(data: &Value) -> Result<Self> {
        let map = data
            .as_map()
            .ok_or_else(|| malformed("a change", "an object"))?;
        let kind = field(map, "kind")?.as_str().and_then(ChangeKind::from_name);
        let number = |name: &str| {
            let number = field(map, name)?.as_int();
            number.ok_or_else(|| malformed(name, "a number"))
        };
        let path = |name: &str| match field(map, name)?.as_str() {
            // A path with an object as a key cannot be read, and is the root then.
            Some(text) => Ok(AccessPath::parse(text).unwrap_or_default()),
            None => Err(malformed(name, "a path")),
        };
        let text = |name: &str| field(map, name).map(|text| text.peek::<Str>().cloned());
        Ok(ChangeRecord {
            kind: kind.ok_or_else(|| malformed("the kind of a change", "known"))?,
            count: number("count")?,
            left_path: path("left_path")?,
            right_path: path("right_path")?,
            left: text("left")?,
            right: text("right")?,
            left_size: number("left_size")?,
            right_size: number("right_size")?,
        })
    }
}

impl fmt::Display for ChangeRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = match self.kind {
            ChangeKind::Deleted => &self.left_path,
            _ => &self.right_path,
        };
        write!(f, "{} at {path}", self.kind)?;
        match (&self.left, &self.right) {
            (Some(left), Some(right)) => write!(f, ": {left} -> {right}")?,
            (Some(one), None) | (None, Some(one)) => write!(f, ": {one}")?,
            (None, None) => {}
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}

fn object<const N: usize>(parts: [(&str, Value); N]) -> Value {
    let mut map: Map = Map::new();
    for (name, value) in parts {
        map.insert(name.into(), value);
    }
    map.into()
}

impl DifferenceRecord {
    /// Builds the right value out of the left one.
    ///
    /// # Errors
    ///
    /// As [`Patch::apply`].
    pub fn apply(&self, value: &Value) -> Result<Value> {
        self.patch.apply(value)
    }

    /// The way back.
    #[must_use]
    pub fn invert(&self) -> Self {
        DifferenceRecord {
            changes: self.changes.iter().map(ChangeRecord::inverted).collect(),
            patch: self.inverse.clone(),
            inverse: self.patch.clone(),
        }
    }

    /// How many changes of each kind, in the order of the kinds.
    pub fn counts(&self) -> Vec<(ChangeKind, i64)> {
        let count = |kind: ChangeKind| {
            let of_kind = self.changes.iter().filter(|change| change.kind == kind);
            of_kind.fold(0i64, |sum, change| sum.saturating_add(change.count))
        };
        let all = ChangeKind::ALL.into_iter().map(|kind| (kind, count(kind)));
        all.filter(|(_, count)| *count > 0).collect()
    }

    /// The record as JSON text.
    ///
    /// # Errors
    ///
    /// `TypeError` for values that cannot be written.
    pub fn to_json(&self) -> Result<String> {
        let changes: Vec<Value> = self.changes.iter().map(ChangeRecord::data).collect();
        let mut summary: Map = Map::new();
        for (kind, count) in self.counts() {
            summary.insert(kind.name().into(), count.into());
        }
        text_of(&object([
            ("format", FORMAT.into()),
            ("version", VERSION.into()),
            ("equal", self.changes.is_empty().into()),
            ("summary", summary.into()),
            ("changes", Array::from(changes).into()),
            ("patch", self.patch.data()?),
            ("inverse", self.inverse.data()?),
        ]))
    }

    /// The record in a JSON text.
    ///
    /// # Errors
    ///
    /// `ValueError` for text that is not a difference, or one of a later version; `TypeError`
    /// for a type that is not registered.
    pub fn from_json(text: &str) -> Result<Self> {
        let data = read_data(text)?;
        let map = data
            .as_map()
            .ok_or_else(|| malformed("the text", "an object"))?;
        let found = map.get(&"format".into()).and_then(Value::as_str);
        if found != Some(FORMAT) {
            return Err(Error::value_error(format!(
                "expected JSON of the format '{FORMAT}', got {}",
                found.map_or("no format".to_owned(), |found| format!("'{found}'"))
            )));
        }
        check_version(FORMAT, field(map, "version")?, VERSION)?;
        let changes = array(field(map, "changes")?, "changes")?;
        let changes: Result<Vec<_>> = changes
            .values()
            .iter()
            .map(ChangeRecord::from_data)
            .collect();
        Ok(DifferenceRecord {
            changes: changes?,
            patch: Patch::from_data(field(map, "patch")?)?,
            inverse: Patch::from_data(field(map, "inverse")?)?,
        })
    }
}

impl fmt::Debug for DifferenceRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<DifferenceRecord: {} changes>", self.changes.len())
    }
}
