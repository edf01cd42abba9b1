//! A library that declares its node types and functions in Rust and is used
//! from Python.
//!
//! This is all of it: properties, constructors, docstrings, `repr`, `match`,
//! copies, comparison, JSON and stubs of the Python classes come from the
//! declarations.
//!
//! ```python
//! from calc_ir import Add, Const, evaluate  # before isoform: it brings the core with it
//! import isoform
//!
//! three = Add(Const(1), Const(2))
//! assert evaluate(three) == 3
//! assert Const(5).plus(2) == Const(7).value
//! assert isoform.types.calc.Add is Add
//! ```

use isoform::attrs::node_trait;
use isoform::functions::Function;
use isoform::traverse::structural_map;
use isoform::{Error, Node, Obj, Ref, Result, Value, export, exports};
use pyo3::prelude::*;

/// A number.
#[derive(Node)]
#[node(key = "calc.Const")]
#[repr(C)]
pub struct Const {
    /// Its value.
    pub value: i64,
}

isoform::dialect! {
    "calc";
    pub use self::{Const, Add};
}

/// The operands may come in any order.
#[node_trait("calc.commutative")]
pub trait Commutative {}

/// May have a simpler form.
#[node_trait("calc.simplify")]
pub trait Simplify {
    /// The simpler form; None if the node cannot be simplified.
    fn simplify(&self) -> Result<Option<Ref<Obj>>>;
}

/// A sum.
#[derive(Node)]
#[node(key = "calc.Add", attrs(dyn Commutative, dyn Simplify, "calc.cost" = 1))]
#[repr(C)]
pub struct Add {
    /// The first operand.
    pub lhs: Ref<Obj>,
    /// The second operand.
    pub rhs: Ref<Obj>,
}

impl Commutative for Add {}

impl Simplify for Add {
    fn simplify(&self) -> Result<Option<Ref<Obj>>> {
        let is_zero = |side: &Ref<Obj>| {
            side.downcast_ref::<Const>()
                .is_some_and(|constant| constant.value == 0)
        };
        Ok(match (is_zero(&self.lhs), is_zero(&self.rhs)) {
            (true, _) => Some(self.rhs.clone()),
            (_, true) => Some(self.lhs.clone()),
            _ => None,
        })
    }
}

/// The simplest form of an expression, by the rules of its types, in whatever
/// language they are written.
#[export("calc.simplest")]
pub fn simplest(expr: &Ref<Obj>) -> Result<Ref<Obj>> {
    let mut form = expr.clone();
    loop {
        let simpler = match form.implements::<dyn Simplify>() {
            Some(rule) => rule.simplify()?,
            None => None,
        };
        match simpler {
            Some(simpler) => form = simpler,
            None => return Ok(form),
        }
    }
}

/// The value of an expression of sums and numbers.
#[export("calc.evaluate")]
pub fn evaluate(expr: &Ref<Obj>) -> Result<i64> {
    let mut total = 0i64;
    // A loop and not a recursion: an expression may be of any depth.
    let mut pending = vec![expr.clone()];
    while let Some(next) = pending.pop() {
        if let Some(number) = next.downcast_ref::<Const>() {
            total = add(total, number.value)?;
        } else if let Some(sum) = next.downcast_ref::<Add>() {
            pending.extend([sum.lhs.clone(), sum.rhs.clone()]);
        } else {
            // A type of another library, maybe of a Python class.
            let number =
                isoform::functions::call_method(next, "evaluate", &[])?.extract::<i64>()?;
            total = add(total, number)?;
        }
    }
    Ok(total)
}

fn add(lhs: i64, rhs: i64) -> Result<i64> {
    lhs.checked_add(rhs)
        .ok_or_else(|| Error::value_error("calc.evaluate: the sum has more than 64 bits"))
}

/// The number `step` further.
#[export("calc.Const.plus")]
pub fn plus(this: &Ref<Const>, #[default = 1] step: i64) -> i64 {
    this.value.saturating_add(step)
}

/// Replaces every number by what a function says.
#[export("calc.map_numbers")]
pub fn map_numbers(expr: &Ref<Obj>, function: &Function) -> Result<Value> {
    structural_map(expr, |visit| {
        let Some(number) = visit.downcast::<Const>() else {
            return Ok(None);
        };
        let changed = function.call(&[number.value.into()])?.extract::<i64>()?;
        Ok(Some(Const::new(changed).into()))
    })
}

#[pymodule]
fn calc_ir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    isoform_py::embed(module)?;
    isoform_py::register_method::<Const>("plus", plus::function())?;
    let functions = exports![evaluate, map_numbers, simplest];
    isoform_py::register_all(module, "calc", register_types, functions)
}
