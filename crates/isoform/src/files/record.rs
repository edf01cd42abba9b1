//! Differences as JSON: the changes, and the patches for the way there and back.
//!
//! ```text
//! {"format":"isoform.diff","version":2,"equal":false,"summary":{"value":1},"places":[],
//!  "changes":[{"kind":"value","count":1,"left_path":"<root>[0]","right_path":"<root>[0]",
//!              "left":"1","right":"2","left_size":1,"right_size":1}],
//!  "patch":{..},"inverse":{..}}
//! ```
//!
//! Values are short texts for people; null for a missing value. `patch` and `inverse`
//! are [patches](super::patch).
//!
//! A path of more than 64 steps begins with `<n>` instead of `<root>`: the place at
//! position n of `places`, each entry of which may refer to an earlier entry. Many
//! changes in a deep value thus take no more room than in a flat value. Version 1 has
//! no `places`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use rapidhash::fast::RandomState;

use super::json::read_data;
use super::patch::{array, check_version, field, malformed, text_of};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::path::AccessPath;
use crate::kernel::path::tree::PathTree;
use crate::kernel::value::Value;
use crate::structural::{Change, ChangeKind, Difference, Patch, PlacePaths, write_place};

const FORMAT: &str = "isoform.diff";
const VERSION: i64 = 2;

/// A [`Change`] in its written form: values are short texts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// The kind.
    pub kind: ChangeKind,
    /// The number of occurrences; `i64::MAX` for a larger number.
    pub count: i64,
    /// The value on the left as text.
    pub left: Option<Str>,
    /// The value on the right as text.
    pub right: Option<Str>,
    /// As [`Change::left_size`].
    pub left_size: i64,
    /// As [`Change::right_size`].
    pub right_size: i64,
    /// The places of all changes, and the places of this change on both sides.
    paths: Arc<PathTree>,
    places: [u32; 2],
}

/// A [`Difference`] in its written form: ready to be applied and inverted without the
/// two values.
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
    /// The way from the left value to the right value.
    pub patch: Patch,
    /// The way back.
    pub inverse: Patch,
}

impl Difference {
    /// The difference in its written form. O(n), for the digests of both values.
    ///
    /// # Errors
    ///
    /// `ValueError` for a variable free on one side only; `TypeError` for values that
    /// cannot be written.
    pub fn record(&self) -> Result<DifferenceRecord> {
        if let Cow::Owned(difference) = self.as_made()? {
            return difference.record();
        }
        let back = self.invert()?;
        let mut paths = PlacePaths::default();
        let changes = self.changes().iter();
        let first = changes.map(|change| match change.places().next() {
            None => [PathTree::ROOT; 2],
            Some((left, right)) => [paths.add(&left), paths.add(&right)],
        });
        let first: Vec<[u32; 2]> = first.collect();
        let paths = Arc::new(paths.into_tree());
        let changes = self.changes().iter().zip(first);
        Ok(DifferenceRecord {
            changes: changes
                .map(|(change, places)| ChangeRecord::of(change, &paths, places))
                .collect(),
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
    /// The first place on the left. O(depth).
    pub fn left_path(&self) -> AccessPath {
        self.paths.path(self.places[0])
    }

    /// The first place on the right. O(depth).
    pub fn right_path(&self) -> AccessPath {
        self.paths.path(self.places[1])
    }

    fn of(change: &Change, paths: &Arc<PathTree>, places: [u32; 2]) -> Self {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let text = |value: Option<&Value>| {
            value.map(|value| display::line(value, display::EXPLAIN_BUDGET).into())
        };
        ChangeRecord {
            kind: change.kind(),
            count: number(change.count()),
            left: text(change.left()),
            right: text(change.right()),
            left_size: number(change.left_size()),
            right_size: number(change.right_size()),
            paths: paths.clone(),
            places,
        }
    }

    fn inverted(&self) -> Self {
        ChangeRecord {
            kind: self.kind.inverse(),
            count: self.count,
            left: self.right.clone(),
            right: self.left.clone(),
            left_size: self.right_size,
            right_size: self.left_size,
            paths: self.paths.clone(),
            places: [self.places[1], self.places[0]],
        }
    }

    fn data(&self, paths: [String; 2]) -> Value {
        let text = |text: &Option<Str>| text.clone().map_or(Value::NONE, Value::from);
        let [left_path, right_path] = paths;
        let parts: [(&str, Value); 8] = [
            ("kind", self.kind.name().into()),
            ("count", self.count.into()),
            ("left_path", left_path.into()),
            ("right_path", right_path.into()),
            ("left", text(&self.left)),
            ("right", text(&self.right)),
            ("left_size", self.left_size.into()),
            ("right_size", self.right_size.into()),
        ];
        object(parts)
    }

    /// The change in data, without paths, and the texts of its paths.
    fn from_data(data: &Value) -> Result<(Self, [&str; 2])> {
        let map = data
            .as_map()
            .ok_or_else(|| malformed("a change", "an object"))?;
        let kind = field(map, "kind")?.as_str().and_then(ChangeKind::from_name);
        let number = |name: &str| {
            let number = field(map, name)?.as_int();
            number.ok_or_else(|| malformed(name, "a number"))
        };
        let path = |name: &str| {
            let text = field(map, name)?.as_str();
            text.ok_or_else(|| malformed(name, "a path"))
        };
        let text = |name: &str| field(map, name).map(|text| text.peek::<Str>().cloned());
        let record = ChangeRecord {
            kind: kind.ok_or_else(|| malformed("the kind of a change", "known"))?,
            count: number("count")?,
            left: text("left")?,
            right: text("right")?,
            left_size: number("left_size")?,
            right_size: number("right_size")?,
            paths: Arc::default(),
            places: [PathTree::ROOT; 2],
        };
        Ok((record, [path("left_path")?, path("right_path")?]))
    }
}

impl fmt::Display for ChangeRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_place(f, self.kind, [self.left_path(), self.right_path()])?;
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
    /// Builds the right value out of the left value.
    ///
    /// # Errors
    ///
    /// As [`Patch::apply`].
    pub fn apply(&self, value: impl Into<Value>) -> Result<Value> {
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

    /// The number of changes of each kind, in the order of the kinds.
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
        let mut paths = PathTree::default();
        let mut place_numbers: HashMap<(*const PathTree, u32), u32, RandomState> =
            HashMap::default();
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|change| {
                let of = Arc::as_ptr(&change.paths);
                change.data(change.places.map(|place| {
                    let place = paths.add(&mut place_numbers, (of, place), |&(_, place)| {
                        change.paths.above(place).map(|place| (of, place))
                    });
                    paths.text(place)
                }))
            })
            .collect();
        let places = paths.beginnings().iter().cloned().map(Value::from);
        let mut summary: Map = Map::new();
        for (kind, count) in self.counts() {
            summary.insert(kind.name().into(), count.into());
        }
        text_of(&object([
            ("format", FORMAT.into()),
            ("version", VERSION.into()),
            ("equal", self.changes.is_empty().into()),
            ("summary", summary.into()),
            ("places", Array::from(places.collect::<Vec<_>>()).into()),
            ("changes", Array::from(changes).into()),
            ("patch", self.patch.data()?),
            ("inverse", self.inverse.data()?),
        ]))
    }

    /// The record in a JSON text.
    ///
    /// # Errors
    ///
    /// `ValueError` for text other than a difference, or for a difference of a later
    /// version; `TypeError` for an unregistered type.
    pub fn from_json(text: &str) -> Result<Self> {
        let data = read_data(text)?;
        let map = data
            .as_map()
            .ok_or_else(|| malformed("the text", "an object"))?;
        let format = map.get("format").and_then(Value::as_str);
        if format != Some(FORMAT) {
            return Err(Error::value_error(format!(
                "expected JSON of the format '{FORMAT}', got {}",
                format.map_or("no format".to_owned(), |format| format!("'{format}'"))
            )));
        }
        let version = field(map, "version")?;
        let mut paths = PathTree::default();
        let mut beginnings = Vec::new();
        // A path with an object as a key cannot be read, and is the root then.
        let read = |paths: &mut PathTree, text: &str, beginnings: &[u32]| {
            paths.parse(text, beginnings).unwrap_or(PathTree::ROOT)
        };
        if version.as_int() != Some(1) {
            check_version(FORMAT, version, VERSION)?;
            let places = array(field(map, "places")?, "places")?;
            for place in places.values() {
                let text = place
                    .as_str()
                    .ok_or_else(|| malformed("an element of places", "a path"))?;
                beginnings.push(read(&mut paths, text, &beginnings));
            }
        }
        let changes = array(field(map, "changes")?, "changes")?;
        let mut records = Vec::with_capacity(changes.len());
        for change in changes.values() {
            let (mut record, texts) = ChangeRecord::from_data(change)?;
            record.places = texts.map(|text| read(&mut paths, text, &beginnings));
            records.push(record);
        }
        let paths = Arc::new(paths);
        for change in &mut records {
            change.paths = paths.clone();
        }
        Ok(DifferenceRecord {
            changes: records,
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
