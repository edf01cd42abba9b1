//! The laws of structural comparison, checked on given values.

use std::collections::HashSet;
use std::fmt;

use super::generate::children;
use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::host::{Places, Step};
use isoform::objects::field_value_at;
use isoform::paths::AccessPath;
use isoform::types::{FieldFlag, Kind};
use isoform::values::ValueRef;
use isoform::{Map, Result, Value};

/// A violated law, and the values that violate it.
#[derive(Clone, PartialEq, Eq)]
pub struct LawViolation {
    law: &'static str,
    detail: String,
    values: Vec<Value>,
}

impl LawViolation {
    /// The law: `reflexive`, `symmetric`, `transitive`, `hash`, `digest` or
    /// `error` when a comparison fails instead of answering.
    pub fn law(&self) -> &'static str {
        self.law
    }

    /// The values that show it.
    pub fn values(&self) -> &[Value] {
        &self.values
    }
}

impl fmt::Display for LawViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law '{}' does not hold: {}", self.law, self.detail)?;
        for (value, name) in self.values.iter().zip('a'..='z') {
            write!(f, "\n  {name} = {value:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for LawViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LawViolation {}

/// Checks on all given values that equality is reflexive, symmetric and transitive, and
/// that equal values have the same hash and, where defined, the same digest.
///
/// Meant for types with custom hooks: pass values that exercise the hooks. The cost is
/// cubic in the number of values.
///
/// # Errors
///
/// The first violation found.
///
/// ```
/// use isoform_testing::check_laws;
/// check_laws(&[1.into(), 1.0.into(), "1".into()], Default::default())?;
/// # Ok::<(), isoform_testing::LawViolation>(())
/// ```
pub fn check_laws(values: &[Value], options: CompareOptions) -> Result<(), LawViolation> {
    let violation = |law, detail: String, indices: &[usize]| LawViolation {
        law,
        detail,
        values: indices.iter().map(|&index| values[index].clone()).collect(),
    };
    let count = values.len();
    let mut equal = vec![vec![false; count]; count];
    for (left, row) in equal.iter_mut().enumerate() {
        for (right, cell) in row.iter_mut().enumerate() {
            *cell = options
                .equal(&values[left], &values[right])
                .map_err(|error| violation("error", format!("a == b: {error}"), &[left, right]))?;
        }
    }
    for a in 0..count {
        if !equal[a][a] {
            return Err(violation("reflexive", "a is not equal to a".into(), &[a]));
        }
        for b in 0..count {
            if equal[a][b] && !equal[b][a] {
                let detail = "a equals b, but b does not equal a".into();
                return Err(violation("symmetric", detail, &[a, b]));
            }
            for c in 0..count {
                if equal[a][b] && equal[b][c] && !equal[a][c] {
                    let detail = "a equals b and b equals c, but a does not equal c".into();
                    return Err(violation("transitive", detail, &[a, b, c]));
                }
            }
        }
    }
    for a in 0..count {
        for b in 0..a {
            if equal[a][b] {
                same_names(&values[a], &values[b], options)
                    .map_err(|(law, detail)| violation(law, detail, &[a, b]))?;
            }
        }
    }
    Ok(())
}

/// Checks that two equal values have the same hash and the same digest.
fn same_names(
    a: &Value,
    b: &Value,
    options: CompareOptions,
) -> std::result::Result<(), (&'static str, String)> {
    let hash = |value| {
        options
            .hash(value)
            .map_err(|error| ("error", format!("hash: {error}")))
    };
    let (hash_a, hash_b) = (hash(a)?, hash(b)?);
    if hash_a != hash_b {
        let detail = format!("equal values hash to {hash_a:#x} and {hash_b:#x}");
        return Err(("hash", detail));
    }
    // A free variable has no portable name: equal values must share this outcome, too.
    let digest = |value| match options.digest(value) {
        Ok(digest) => Ok(Some(digest)),
        Err(error) if error.kind() == ErrorKind::Value => Ok(None),
        Err(error) => Err(("error", format!("digest: {error}"))),
    };
    let (digest_a, digest_b) = (digest(a)?, digest(b)?);
    if digest_a != digest_b {
        let show = |digest: Option<isoform::compare::Digest>| {
            digest.map_or_else(|| "an error".to_string(), |digest| digest.to_string())
        };
        let detail = format!(
            "equal values have the digests {} and {}",
            show(digest_a),
            show(digest_b)
        );
        return Err(("digest", detail));
    }
    Ok(())
}

/// A const-tree node that breaks the promise of its type.
#[derive(Clone, PartialEq, Eq)]
pub struct PromiseViolation {
    type_key: String,
    offender: String,
    path: AccessPath,
}

impl PromiseViolation {
    /// The type that was declared const-tree.
    pub fn type_key(&self) -> &str {
        &self.type_key
    }

    /// The path from the given values (as an array) to the offending part.
    pub fn path(&self) -> &AccessPath {
        &self.path
    }
}

impl fmt::Display for PromiseViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "type {} is declared const-tree, but {} is reachable from it (at {})",
            self.type_key, self.offender, self.path
        )
    }
}

impl fmt::Debug for PromiseViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PromiseViolation {}

/// Checks the promise of const-tree types on all nodes in the given values:
/// nothing mutable, no `var` and no `dag` is reachable in compared fields.
///
/// O(size of the values).
///
/// # Errors
///
/// The first broken promise.
pub fn check_types(values: &[Value]) -> Result<(), PromiseViolation> {
    let mut places = Places::default();
    let mut stack: Vec<_> = values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            (
                value.clone(),
                places.below(Places::ROOT, Step::Item(index)),
                None,
            )
        })
        .collect();
    stack.reverse();
    // A node is looked at once outside of const-tree nodes and once inside.
    let mut seen = HashSet::new();
    while let Some((value, place, mut owner)) = stack.pop() {
        if let Some(object) = value.as_object()
            && !seen.insert((object.identity(), owner.is_some()))
        {
            continue;
        }
        let info = match value.view() {
            ValueRef::Object(object) => Some(object.type_info()),
            _ => None,
        };
        let kind = info.map(|info| info.kind());
        let mutable = matches!(value.view(), ValueRef::List(_) | ValueRef::Dict(_));
        if let Some(type_key) = owner
            && (mutable || matches!(kind, Some(Kind::Var | Kind::Dag)))
        {
            return Err(PromiseViolation {
                type_key: String::from(type_key),
                offender: match kind {
                    Some(kind) => format!("{} of kind {kind}", value.type_name()),
                    None => format!("a mutable {}", value.type_name()),
                },
                path: places.path(place),
            });
        }
        if let Some(info) = info
            && info.kind() == Kind::ConstTree
        {
            owner = owner.or(Some(info.key()));
        }
        let below = steps(&value).into_iter().rev();
        stack.extend(below.map(|(step, child)| (child, places.below(place, step), owner)));
    }
    Ok(())
}

/// The compared parts of a value, each with the step to the part.
fn steps(value: &Value) -> Vec<(Step, Value)> {
    match value.view() {
        ValueRef::Object(object) => {
            let fields = object.type_info().fields().iter().enumerate();
            fields
                .filter(|(_, field)| field.field_flag() != FieldFlag::Ignore)
                .filter_map(|(index, field)| {
                    Some((Step::Field(field.name()), field_value_at(object, index)?))
                })
                .collect()
        }
        ValueRef::Map(map) => entry_steps(map),
        ValueRef::Dict(dict) => entry_steps(&dict.snapshot()),
        _ => children(value)
            .into_iter()
            .enumerate()
            .map(|(index, child)| (Step::Item(index), child))
            .collect(),
    }
}

/// The keys and values of a map; a key is found where its value is.
fn entry_steps(map: &Map) -> Vec<(Step, Value)> {
    map.iter()
        .flat_map(|(key, value)| {
            let step = Step::Key(key.clone());
            [(step.clone(), key.clone()), (step, value.clone())]
        })
        .collect()
}
