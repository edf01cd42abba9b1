//! The first difference of two values: its place and its reason.

use std::fmt;

use crate::kernel::display::{EXPLAIN_BUDGET, KEY_BUDGET, lines_that_differ, own_line, short};
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::types::names::name_field;
use crate::kernel::value::Value;

/// The reason why two values differ at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    Type,
    Value,
    Missing,
    Bound,
    Sharing,
    NotSame,
    Custom,
    Hole(HoleRefusal),
}

/// The reason why the hole of a pattern does not match a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum HoleRefusal {
    /// The part is not of the class that the hole requires.
    Class,
    /// The guard rejects the part.
    Guard,
    /// The hole already matches another part.
    OtherPart,
}

/// A difference as the engine records it.
pub(crate) struct FirstDifference {
    pub(crate) left_steps: Vec<AccessStep>,
    pub(crate) right_steps: Vec<AccessStep>,
    pub(crate) left: Option<Value>,
    pub(crate) right: Option<Value>,
    pub(crate) reason: Reason,
    /// The binding in the way, its partner object, and the side of the bound object.
    pub(crate) binding: Option<u32>,
    pub(crate) partner: Option<Value>,
    pub(crate) left_bound: bool,
    pub(crate) complete: bool,
}

impl FirstDifference {
    /// True if bindings decided where or why the values differ.
    pub(super) fn is_by_binding(&self) -> bool {
        let is_key = |step: &AccessStep| {
            matches!(step, AccessStep::MapItem(_) | AccessStep::MapItemMissing(_))
        };
        match self.reason {
            Reason::Bound | Reason::Sharing => true,
            Reason::Missing => self.left_steps.last().is_some_and(is_key),
            _ => false,
        }
    }
}

/// An existing pair of the bijection that rules another pair out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExistingPair {
    /// True if the object already bound is the one on the left.
    pub left_is_bound: bool,
    /// The partner of the bound object on the other side.
    pub partner: Value,
    /// The path to the left object of the pair, at the time it was bound.
    pub left_path: AccessPath,
    /// The path to the right object of the pair, at the time it was bound.
    pub right_path: AccessPath,
}

/// The reason why two values differ.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MismatchReason {
    /// The types differ.
    TypeDiffers {
        /// The type on the left.
        left: String,
        /// The type on the right.
        right: String,
    },
    /// The types are the same, but the contents differ.
    ValueDiffers,
    /// One side lacks the element, key or field.
    Missing {
        /// True if the element is missing on the left side.
        on_left: bool,
    },
    /// A variable is bound to another variable.
    BoundElsewhere(ExistingPair),
    /// Two different free variables, both of them unbound.
    DifferentFreeVariables,
    /// A dag node on one side is the partner of another node: one shared node
    /// corresponds to two nodes on the other side.
    SharingDiffers(ExistingPair),
    /// Two distinct objects of a singleton type.
    NotTheSameObject,
    /// Like `NotTheSameObject`, for objects with different names: members of an
    /// enum, or operators.
    NamesDiffer {
        /// The name on the left.
        left: String,
        /// The name on the right.
        right: String,
    },
    /// The type's custom comparison found a difference.
    CustomComparison,
    /// A hole of a [pattern](crate::pattern) on the left does not match the
    /// part on the right.
    HoleRefuses(HoleRefusal),
    /// The part of a hole differs from the hole's variable in a field of their common class.
    HoleFieldDiffers {
        /// The name of the field.
        field: String,
        /// The difference.
        reason: Box<MismatchReason>,
    },
}

/// The first difference of two values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mismatch {
    /// The path to the difference in the left value.
    pub left_path: AccessPath,
    /// The path to the difference in the right value.
    pub right_path: AccessPath,
    /// The left value at the difference; None if missing.
    pub left: Option<Value>,
    /// The right value at the difference; None if missing.
    pub right: Option<Value>,
    /// The reason for the difference.
    pub reason: MismatchReason,
}

impl Mismatch {
    /// The mismatch of two roots as a whole.
    pub(crate) fn of_values(left: &Value, right: &Value) -> Self {
        Mismatch {
            left_path: AccessPath::root(),
            right_path: AccessPath::root(),
            left: Some(left.clone()),
            right: Some(right.clone()),
            reason: MismatchReason::ValueDiffers,
        }
    }

    pub(crate) fn new(
        difference: FirstDifference,
        paths: Option<(AccessPath, AccessPath)>,
    ) -> Self {
        let type_of = |value: &Option<Value>| {
            let name = value.as_ref().map_or("nothing", Value::type_name);
            let object = value.as_ref().and_then(Value::as_object);
            if object.is_some_and(|object| object.type_info().is_replaced()) {
                format!("{name} of an earlier declaration")
            } else {
                name.to_owned()
            }
        };
        let existing = match (difference.partner, paths) {
            (Some(partner), Some((left_path, right_path))) => Some(ExistingPair {
                left_is_bound: difference.left_bound,
                partner,
                left_path,
                right_path,
            }),
            _ => None,
        };
        let reason = match (difference.reason, existing) {
            (Reason::Type, _) => MismatchReason::TypeDiffers {
                left: type_of(&difference.left),
                right: type_of(&difference.right),
            },
            (Reason::Missing, _) => MismatchReason::Missing {
                on_left: difference.left.is_none(),
            },
            (Reason::Bound, Some(pair)) => MismatchReason::BoundElsewhere(pair),
            (Reason::Bound, None) => MismatchReason::DifferentFreeVariables,
            (Reason::Sharing, Some(pair)) => MismatchReason::SharingDiffers(pair),
            (Reason::NotSame, _) => match (name_of(&difference.left), name_of(&difference.right)) {
                (Some(left), Some(right)) if left != right => {
                    MismatchReason::NamesDiffer { left, right }
                }
                _ => MismatchReason::NotTheSameObject,
            },
            (Reason::Custom, _) => MismatchReason::CustomComparison,
            (Reason::Hole(refusal), _) => MismatchReason::HoleRefuses(refusal),
            (Reason::Value | Reason::Sharing, _) => MismatchReason::ValueDiffers,
        };
        Mismatch {
            left_path: AccessPath::from_steps(difference.left_steps),
            right_path: AccessPath::from_steps(difference.right_steps),
            left: difference.left,
            right: difference.right,
            reason,
        }
    }
}

/// The name of an object, if its type has names.
fn name_of(value: &Option<Value>) -> Option<String> {
    let object = value.as_ref()?.as_object()?;
    let name = field_value_at(object, name_field(object.type_info())?)?;
    Some(name.as_str()?.to_owned())
}

/// A short description of an object: its type, and its name if any. The caller adds the
/// place.
fn designation(object: &Value) -> String {
    let Some(object) = object.as_object() else {
        return short(object, KEY_BUDGET);
    };
    let info = object.type_info();
    let name = name_field(info).and_then(|field| field_value_at(object, field));
    match name.filter(Value::is_str) {
        Some(name) => format!("{} {}", info.key(), short(&name, KEY_BUDGET)),
        None => info.key().to_owned(),
    }
}

impl fmt::Display for MismatchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let existing = |f: &mut fmt::Formatter<'_>, what: &str, pair: &ExistingPair| {
            let (side, other) = if pair.left_is_bound {
                ("left", "right")
            } else {
                ("right", "left")
            };
            let path = if pair.left_is_bound {
                &pair.right_path
            } else {
                &pair.left_path
            };
            write!(
                f,
                "the {side} {what} is already paired with {} on the {other}, at {path}",
                designation(&pair.partner)
            )
        };
        match self {
            MismatchReason::TypeDiffers { left, right } => {
                write!(f, "the types differ: {left} and {right}")
            }
            MismatchReason::ValueDiffers => f.write_str("the values differ"),
            MismatchReason::Missing { on_left: true } => {
                f.write_str("the right has an element that the left has not")
            }
            MismatchReason::Missing { on_left: false } => {
                f.write_str("the left has an element that the right has not")
            }
            MismatchReason::BoundElsewhere(pair) => existing(f, "variable", pair),
            MismatchReason::DifferentFreeVariables => f.write_str(
                "these are different free variables, which are equal if free variables are \
                     mapped: `map_free_vars` of the comparison, in Rust of `CompareOptions`",
            ),
            MismatchReason::SharingDiffers(pair) => {
                f.write_str("sharing differs: ")?;
                existing(f, "node", pair)
            }
            MismatchReason::NotTheSameObject => {
                f.write_str("a singleton is equal to itself only, and these are two objects")
            }
            MismatchReason::NamesDiffer { left, right } => {
                write!(f, "{left} and {right} differ")
            }
            MismatchReason::HoleRefuses(refusal) => f.write_str(match refusal {
                HoleRefusal::Class => "the hole asks for another class",
                HoleRefusal::Guard => "the guard of the hole says no",
                HoleRefusal::OtherPart => "the hole stands for another part already",
            }),
            MismatchReason::HoleFieldDiffers { field, reason } => {
                write!(
                    f,
                    "{reason}; the variable of the hole has another '{field}', which `anything` of \
                     the hole ignores"
                )
            }
            MismatchReason::CustomComparison => {
                f.write_str("the type's own comparison says that they differ")
            }
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line =
            |value: &Value, budget| own_line(value, budget).unwrap_or_else(|| short(value, budget));
        let text = |value: &Option<Value>| match value {
            Some(value) => line(value, EXPLAIN_BUDGET),
            None => "<missing>".to_string(),
        };
        let [left, right] = match (&self.left, &self.right) {
            (Some(left), Some(right)) => lines_that_differ([left, right], EXPLAIN_BUDGET, line),
            _ => [text(&self.left), text(&self.right)],
        };
        writeln!(f, "{}", self.reason)?;
        writeln!(f, "  left:  {}", self.left_path)?;
        writeln!(f, "         {left}")?;
        writeln!(f, "  right: {}", self.right_path)?;
        write!(f, "         {right}")
    }
}
