//! Values other than tensors and tuples.

use std::sync::Arc;

use isoform::functions::Function as Code;
use isoform::values::List;
use isoform::{Array, Error, Node, Ref, Result, Value, export};
use isoform_ir::ir::Constructor;

use super::plan::Unit;
use crate::Function;

/// The value of a reference: a place with changeable content.
#[derive(Node)]
#[node(key = "relay.value.RefValue")]
#[repr(C)]
pub struct RefValue {
    /// The content, the only item.
    pub cell: List,
}

impl RefValue {
    /// A reference with its first content.
    pub(super) fn holding(content: Value) -> Result<Ref<RefValue>> {
        let cell = List::new();
        cell.push(content)?;
        Ok(Ref::new(RefValue { cell }))
    }

    /// The content at this moment.
    pub fn content(&self) -> Value {
        self.cell.get(0).unwrap_or_default()
    }

    /// Replaces the content.
    ///
    /// # Errors
    ///
    /// `RuntimeError` if the lock of the host language is no longer available.
    pub fn replace(&self, content: Value) -> Result<()> {
        self.cell.set(0, content).map(drop)
    }
}

/// The value of a function: its code, and the values of its captured variables.
/// [`Evaluator::call`](super::Evaluator::call) calls the function.
#[derive(Node)]
#[node(key = "relay.value.Closure", init = refuse_closure, no_new, no_with)]
#[repr(C)]
pub struct Closure {
    /// The function.
    pub func: Ref<Function>,
    /// The values of the variables from outside.
    pub captured: Array,
    /// The steps of the function.
    #[node(ignore, repr = false)]
    pub(super) code: Code,
}

/// Closures are results of evaluation: always raises TypeError.
#[export("relay.value.Closure")]
fn refuse_closure() -> Result<Ref<Closure>> {
    Err(Error::type_error(
        "cannot construct a relay.value.Closure: evaluate a relay.Function instead",
    ))
}

/// Where the steps of a closure are.
pub(super) struct Entry {
    pub(super) unit: Arc<Unit>,
    pub(super) function: u32,
}

impl Closure {
    pub(super) fn of(func: &Ref<Function>, entry: &Code, captured: Array) -> Ref<Closure> {
        Ref::new(Closure {
            func: func.clone(),
            captured,
            code: entry.clone(),
        })
    }

    pub(super) fn entry(&self) -> Option<&Entry> {
        self.code.content()
    }
}

/// The value of closures' field for their steps, which is not a function to call: only the
/// machine knows the program.
pub(super) fn code(entry: Entry) -> Code {
    Code::with_content(entry, |_: &Entry, _| {
        Err(Error::type_error(
            "a relay.value.Closure is called by the evaluator that made it",
        ))
    })
}

/// A value of an algebraic data type.
#[derive(Node)]
#[node(key = "relay.value.ConstructorValue")]
#[repr(C)]
pub struct ConstructorValue {
    /// The constructor of the value.
    pub constructor: Ref<Constructor>,
    /// The arguments of the constructor.
    pub fields: Array,
}

/// The content of a reference at this moment.
#[export("relay.eval.RefValue.content")]
fn content(this: &Ref<RefValue>) -> Value {
    this.content()
}

/// Replaces the content of a reference.
#[export("relay.eval.RefValue.replace")]
fn replace(this: &Ref<RefValue>, content: Value) -> Result<()> {
    this.replace(content)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { RefValue: content = content, replace = replace }?;
    Ok(())
}
