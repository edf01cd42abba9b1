//! The expressions in the fields of an expression or statement.

use smallvec::SmallVec;

use super::facts::{Form, TypeFactTable};
use isoform::traverse::{Child, Children, children_of};
use isoform::types::RegionKind;
use isoform::{Array, Result, Value};

/// One child of an expression or statement.
pub(super) enum Part {
    /// An expression.
    Operand(Value),
    /// An array of expressions.
    Operands(Array),
    /// A statement.
    Body(Value),
    /// An array of statements.
    Bodies(Array),
    /// A definition of variables.
    Definition(Value),
    /// All else.
    Data(Value),
}

impl Part {
    pub(super) fn of(child: Child, facts: &mut TypeFactTable<'_>) -> Result<Part> {
        let value = child.value;
        if child.region != RegionKind::Use {
            return Ok(Part::Definition(value));
        }
        if let Some(form) = facts.form(&value)? {
            return Ok(match form {
                Form::Data => Part::Data(value),
                Form::Statement | Form::Text => Part::Body(value),
                Form::Expression | Form::Computation => Part::Operand(value),
            });
        }
        let Some(items) = value.as_array().filter(|items| !items.is_empty()) else {
            return Ok(Part::Data(value));
        };
        let (mut exprs, mut stmts) = (true, true);
        for item in items.values() {
            let form = facts.form(item)?;
            exprs &= form.is_some_and(|form| form.is_expression());
            stmts &= form.is_some_and(|form| form.is_statement());
            if !exprs && !stmts {
                return Ok(Part::Data(value));
            }
        }
        let items = items.clone();
        Ok(if stmts {
            Part::Bodies(items)
        } else {
            Part::Operands(items)
        })
    }
}

/// The operands of an expression or statement: the expressions in its fields, except those
/// in definition fields and in data.
pub(super) struct Operands {
    pub(super) children: Children,
    /// The field of every operand, and the position in the array of the field.
    places: Vec<(usize, Option<usize>)>,
    pub(super) exprs: Vec<Value>,
    /// The fields of statements; true for arrays of statements.
    pub(super) bodies: SmallVec<[(usize, bool); 1]>,
    /// True if the expression or statement defines variables.
    pub(super) defines: bool,
    pub(super) data: SmallVec<[(usize, Value); 2]>,
}

impl Operands {
    pub(super) fn of(value: &Value, facts: &mut TypeFactTable<'_>) -> Result<Operands> {
        let mut operands = Operands {
            children: children_of(value),
            places: Vec::new(),
            exprs: Vec::new(),
            bodies: SmallVec::new(),
            defines: false,
            data: SmallVec::new(),
        };
        let children = operands.children.clone();
        for (field, child) in children.iter(RegionKind::Use).enumerate() {
            match Part::of(child, facts)? {
                Part::Operand(expr) => {
                    operands.places.push((field, None));
                    operands.exprs.push(expr);
                }
                Part::Operands(items) => {
                    for (position, item) in items.values().iter().enumerate() {
                        operands.places.push((field, Some(position)));
                        operands.exprs.push(item.clone());
                    }
                }
                Part::Body(_) => operands.bodies.push((field, false)),
                Part::Bodies(_) => operands.bodies.push((field, true)),
                Part::Definition(_) => operands.defines = true,
                Part::Data(data) => operands.data.push((field, data)),
            }
        }
        Ok(operands)
    }

    /// The field of an operand.
    pub(super) fn field(&self, operand: usize) -> Option<usize> {
        self.places.get(operand).map(|place| place.0)
    }

    /// The field of an operand, and the position in its array.
    pub(super) fn place(&self, operand: usize) -> Option<(usize, Option<usize>)> {
        self.places.get(operand).copied()
    }

    /// The changed fields if these expressions replace the operands.
    pub(super) fn changes(&self, new: &[Value]) -> Result<Vec<(usize, Value)>> {
        let mut changes: Vec<(usize, Value)> = Vec::new();
        // The array with elements being replaced.
        let mut open: Option<(usize, Vec<Value>)> = None;
        for ((&(field, position), old), new) in self.places.iter().zip(&self.exprs).zip(new) {
            if is_same(old, new) {
                continue;
            }
            let Some(position) = position else {
                changes.push((field, new.clone()));
                continue;
            };
            if open.as_ref().is_none_or(|open| open.0 != field) {
                let whole = self
                    .children
                    .get(field, RegionKind::Use)
                    .map(|child| child.value)
                    .unwrap_or_default();
                let items: Array = whole.extract()?;
                let closed = open.replace((field, items.values().to_vec()));
                changes.extend(closed.map(|(field, items)| (field, Array::from(items).into())));
            }
            if let Some((_, items)) = &mut open {
                items[position] = new.clone();
            }
        }
        changes.extend(open.map(|(field, items)| (field, Array::from(items).into())));
        Ok(changes)
    }
}

/// True for one object.
pub(super) fn is_same(left: &Value, right: &Value) -> bool {
    match (left.as_object(), right.as_object()) {
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    }
}
