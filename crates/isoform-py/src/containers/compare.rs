//! `==` and `hash` of containers, by content.
//!
//! Elements that are plain values follow the core's rule: ints, bools and floats are
//! different, floats are compared by their bits and all NaNs are equal. Sequences equal
//! sequences and mappings equal mappings, regardless of their class. Other objects are
//! compared and hashed by their classes' `__eq__` and `__hash__`.
//!
//! The hash of an array equals the hash of the tuple of its elements, since the two are
//! equal. Nothing here recurses on the native stack.

use hashbrown::{HashMap, HashSet};
use isoform::host::{self, hooked_key_hash};
use isoform::values::{Shape, ValueRef};
use isoform::{Array, Map, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::convert::{HostObject, to_python};
use crate::error::IntoPyResult;

/// A sequence that does not change.
#[derive(Clone)]
enum Sequence {
    Items(Array),
    Dims(Shape),
}

impl Sequence {
    fn of(value: &Value) -> Option<Sequence> {
        match (host::contents(value), value.view()) {
            (Some(host::Contents::Items(items)), _) => Some(Sequence::Items(items)),
            (_, ValueRef::Shape(dims)) => Some(Sequence::Dims(dims.clone())),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Sequence::Items(items) => items.len(),
            Sequence::Dims(dims) => dims.len(),
        }
    }

    fn get(&self, position: usize) -> Option<Value> {
        match self {
            Sequence::Items(items) => items.values().get(position).cloned(),
            Sequence::Dims(dims) => dims.get(position).map(|&dim| Value::from(dim)),
        }
    }
}

fn map_of(value: &Value) -> Option<Map> {
    match host::contents(value)? {
        host::Contents::Entries(entries) => Some(entries),
        host::Contents::Items(_) => None,
    }
}

enum Pair {
    Sequences(Sequence, Sequence),
    Maps(Map, Map),
}

enum Verdict {
    Equal,
    Different,
    Open(Pair),
}

/// True if two values are equal in the sense of the module documentation. Linear in the
/// number of distinct pairs of containers met.
///
/// # Errors
///
/// Exceptions from the `__eq__` of an element.
pub(crate) fn equal(py: Python<'_>, left: &Value, right: &Value) -> PyResult<bool> {
    let mut stack = match judge(py, left, right)? {
        Verdict::Equal => return Ok(true),
        Verdict::Different => return Ok(false),
        Verdict::Open(pair) => vec![(pair, 0)],
    };
    // The pairs entered before: pairs found equal need no second comparison, and an
    // open pair, a cycle, counts as equal unless a difference elsewhere ends the whole
    // comparison.
    let mut seen = HashSet::new();
    while let Some((pair, next)) = stack.last_mut() {
        let position = *next;
        *next += 1;
        let (left, right) = match pair {
            Pair::Sequences(left, right) => match (left.get(position), right.get(position)) {
                (Some(left), Some(right)) => (left, right),
                _ => {
                    stack.pop();
                    continue;
                }
            },
            Pair::Maps(left, right) => {
                let Some((key, value)) = left.get_index(position) else {
                    stack.pop();
                    continue;
                };
                match right.try_get(key).into_py()? {
                    Some(other) => (value.clone(), other.clone()),
                    None => return Ok(false),
                }
            }
        };
        match judge(py, &left, &right)? {
            Verdict::Equal => {}
            Verdict::Different => return Ok(false),
            Verdict::Open(pair) => {
                let name = |value: &Value| value.as_object().map(|object| object.identity());
                if seen.insert((name(&left), name(&right))) {
                    stack.push((pair, 0));
                }
            }
        }
    }
    Ok(true)
}

/// Compares two values without entering containers, which are left open.
fn judge(py: Python<'_>, left: &Value, right: &Value) -> PyResult<Verdict> {
    if left == right {
        return Ok(Verdict::Equal);
    }
    let (Some(left_object), Some(right_object)) = (left.as_object(), right.as_object()) else {
        return match (left.as_object(), right.as_object()) {
            (None, None) => Ok(Verdict::Different),
            _ => ask(py, left, right),
        };
    };
    if left_object.same_as(right_object) {
        return Ok(Verdict::Equal);
    }
    if let (Some(left), Some(right)) = (Sequence::of(left), Sequence::of(right)) {
        return Ok(if left.len() == right.len() {
            Verdict::Open(Pair::Sequences(left, right))
        } else {
            Verdict::Different
        });
    }
    if let (Some(left), Some(right)) = (map_of(left), map_of(right)) {
        return Ok(if left.len() == right.len() {
            Verdict::Open(Pair::Maps(left, right))
        } else {
            Verdict::Different
        });
    }
    ask(py, left, right)
}

/// Compares objects by their own methods.
fn ask(py: Python<'_>, left: &Value, right: &Value) -> PyResult<Verdict> {
    let has_opinion = |value: &Value| {
        matches!(
            value.view(),
            ValueRef::Object(_) | ValueRef::Function(_) | ValueRef::Tensor(_)
        )
    };
    if !has_opinion(left) && !has_opinion(right) {
        return Ok(Verdict::Different);
    }
    let (left, right) = (element(py, left)?, element(py, right)?);
    Ok(if left.is(&right) || left.eq(&right)? {
        Verdict::Equal
    } else {
        Verdict::Different
    })
}

/// An element in the form for comparison and hashing in Python: a function made from a
/// Python callable counts as that callable, however often it was converted.
fn element<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    if let ValueRef::Function(function) = value.view()
        && let Some(callable) = function.content::<HostObject>()
    {
        return Ok(callable.get(py));
    }
    to_python(py, value)
}

/// A container that is being hashed.
struct Frame {
    /// The identity of the container.
    name: Option<u64>,
    contents: Contents,
    next: usize,
}

enum Contents {
    Sequence(Sequence, TupleHash),
    /// The hash of the last key, if its value is still to come, and the sum of the
    /// previous entries: the order of entries must not matter.
    Map(Map, Option<isize>, u64),
}

impl Frame {
    fn of(value: &Value) -> PyResult<Option<Frame>> {
        if host::is_mutable_container(value) {
            return Err(PyTypeError::new_err(format!(
                "unhashable type: '{}'",
                value.type_name()
            )));
        }
        let contents = match (Sequence::of(value), map_of(value)) {
            (Some(items), _) => Contents::Sequence(items, TupleHash::new()),
            (_, Some(entries)) => Contents::Map(entries, None, 0),
            _ => return Ok(None),
        };
        Ok(Some(Frame {
            name: value.as_object().map(|object| object.identity()),
            contents,
            next: 0,
        }))
    }

    fn take(&mut self, hash: isize) {
        match &mut self.contents {
            Contents::Sequence(_, state) => state.add(hash),
            Contents::Map(_, key, sum) => match key.take() {
                None => *key = Some(hash),
                Some(key) => {
                    let mut entry = TupleHash::new();
                    entry.add(key);
                    entry.add(hash);
                    *sum = sum.wrapping_add(entry.finish(2) as u64);
                }
            },
        }
    }

    /// True if the next part is the key of a map.
    fn is_at_key(&self) -> bool {
        matches!(self.contents, Contents::Map(..)) && self.next.is_multiple_of(2)
    }

    fn next(&mut self) -> Option<Value> {
        let position = self.next;
        self.next += 1;
        match &self.contents {
            Contents::Sequence(items, _) => items.get(position),
            Contents::Map(entries, _, _) => {
                let (key, value) = entries.get_index(position / 2)?;
                Some(
                    if position.is_multiple_of(2) {
                        key
                    } else {
                        value
                    }
                    .clone(),
                )
            }
        }
    }

    fn finish(&self) -> isize {
        match &self.contents {
            Contents::Sequence(items, state) => state.finish(items.len()),
            Contents::Map(entries, _, sum) => {
                let mut whole = TupleHash::new();
                whole.add(*sum as isize);
                whole.finish(entries.len())
            }
        }
    }
}

enum Step {
    Enter(Value),
    Leave(isize),
}

/// The hash of an array or map by content. Linear in the number of distinct containers.
///
/// # Errors
///
/// `TypeError` if something inside is mutable or unhashable.
pub(crate) fn hash(py: Python<'_>, value: &Value) -> PyResult<isize> {
    let mut stack: Vec<Frame> = Vec::new();
    let mut hashes: HashMap<u64, isize> = HashMap::new();
    let mut step = Step::Enter(value.clone());
    loop {
        let child = match step {
            Step::Enter(value) => match Frame::of(&value)? {
                Some(frame) => match frame.name.and_then(|name| hashes.get(&name)) {
                    Some(&hash) => Some(hash),
                    None => {
                        stack.push(frame);
                        None
                    }
                },
                None => Some(element(py, &value)?.hash()?),
            },
            Step::Leave(hash) => Some(hash),
        };
        let Some(frame) = stack.last_mut() else {
            return Ok(child.unwrap_or_default());
        };
        if let Some(hash) = child {
            frame.take(hash);
        }
        let is_key = frame.is_at_key();
        step = match frame.next() {
            Some(value) => {
                let hooked = if is_key {
                    hooked_key_hash(&value).into_py()?
                } else {
                    None
                };
                // Keys are hashed as lookups hash them.
                hooked.map_or(Step::Enter(value), |hash| Step::Leave(hash as isize))
            }
            None => {
                let hash = frame.finish();
                if let Some(name) = frame.name {
                    hashes.insert(name, hash);
                }
                stack.pop();
                Step::Leave(hash)
            }
        };
    }
}

/// CPython's hash of a tuple (since 3.8: the rounds of xxHash, by Yann Collet, over the
/// hashes of the elements).
struct TupleHash(u64);

const PRIME_1: u64 = 11_400_714_785_074_694_791;
const PRIME_2: u64 = 14_029_467_366_897_019_727;
const PRIME_5: u64 = 2_870_177_450_012_600_261;

impl TupleHash {
    fn new() -> Self {
        TupleHash(PRIME_5)
    }

    fn add(&mut self, hash: isize) {
        let lane = (hash as u64).wrapping_mul(PRIME_2);
        self.0 = self
            .0
            .wrapping_add(lane)
            .rotate_left(31)
            .wrapping_mul(PRIME_1);
    }

    fn finish(&self, len: usize) -> isize {
        let hash = self.0.wrapping_add(len as u64 ^ (PRIME_5 ^ 3_527_539));
        // CPython's substitute for the number that means an error.
        if hash == u64::MAX {
            1_546_275_796
        } else {
            hash as isize
        }
    }
}
