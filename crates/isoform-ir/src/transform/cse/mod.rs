//! Common subexpression elimination in programs of any language, by the declarations of
//! the types.
//!
//! | file | job |
//! |---|---|
//! | `facts.rs` | the attributes of types |
//! | `dataflow.rs` | merges a graph: the graph of any program (`graph.rs`), or that of Relay |
//! | `statements.rs` | programs of statements |

pub(crate) mod dataflow;
mod facts;
mod graph;
pub(crate) mod numbering;
mod operands;
mod options;
mod statements;
mod vars;

use isoform::functions::Function;
use isoform::{Obj, Ref, Result, Value, export};

pub use facts::{
    CONDITIONAL, FORM, HOLDS, MAY_FAIL, NEW_BINDING, NEW_SEQUENCE, OPAQUE, REPEATABLE, SEQUENCE,
};
pub use options::CseOptions;

use super::context::PassContext;
use super::info::PassInfo;
use super::nodes::ModulePass;
use super::root::{functions, with_functions};
use facts::TypeFactTable;

impl CseOptions<'_> {
    /// [`cse`] with these options.
    ///
    /// # Errors
    ///
    /// Errors of [`cse`], and errors of the function.
    pub fn cse(&self, value: impl Into<Value>) -> Result<Value> {
        self.cse_of(&value.into())
    }

    fn cse_of(&self, value: &Value) -> Result<Value> {
        let Some(object) = value.as_object() else {
            return Ok(value.clone());
        };
        let all_functions = functions(object)?;
        let mut facts = TypeFactTable::new(self);
        if let [(_, only)] = &all_functions[..]
            && only.same_as(object)
        {
            let done = cse_part(value, &mut facts)?;
            return facts.check_roles().map(|()| done);
        }
        // Functions share no computation.
        let mut changed = Vec::new();
        for (name, function) in all_functions {
            let done: Ref<Obj> = cse_part(&Value::from(&function), &mut facts)?.extract()?;
            if !done.same_as(&function) {
                changed.push((name, done));
            }
        }
        facts.check_roles()?;
        if changed.is_empty() {
            Ok(value.clone())
        } else {
            with_functions(object, changed).map(Value::from)
        }
    }
}

fn cse_part(value: &Value, facts: &mut TypeFactTable<'_>) -> Result<Value> {
    let mut graph = graph::Graph::of(value, facts)?;
    let results = dataflow::merge(&mut graph)?;
    Ok(results.into_iter().next().unwrap_or_else(|| value.clone()))
}

/// Computes equal expressions of a program once, in any language whose types declare
/// purity.
///
/// **Dataflow.** In a graph of expressions, an object that is used several times is computed
/// once. Equal nodes that are [pure](isoform::traverse::PURE) become one object, which is
/// computed in the scope around its uses. A node whose type declares [`MAY_FAIL`] is merged
/// only with one that is reached through the same scopes; nodes that bind variables stay
/// apart, and so do those that use a variable which is bound several times.
///
/// **Bindings around their scope.** A variable that an expression such as `let` gives to a
/// value is read where the body computes an equal value, and an inner binding of an equal
/// value goes together with its variable ([`BINDING`](isoform::traverse::BINDING) with a
/// body). No value leaves a branch or a body this way. Bindings at several places stay.
///
/// **Statements.** If types declare a [`FORM`], then statements run in order, and
/// variables hold values. A value is reused where an earlier computation is certain:
/// earlier in the same sequence, or in a sequence around it. A value never leaves a
/// loop, a branch or a [`CONDITIONAL`] operand. A use reads the variable that already
/// holds the value; an assignment repeating another assignment is removed. Any other
/// repeated value gets a new variable before the statement that first computes the
/// value, if its type declares [`NEW_BINDING`]. Variables with several assignments, or
/// with a use that may precede the assignment, are left alone. Owners with one
/// statement object at several places are left alone, too.
///
/// The functions of a program, as listed by [`Root`](super::Root), are processed one by
/// one. A program without repeated values is returned as the same object. A hash finds
/// equal expressions, structural equality decides. Linear in the number of distinct
/// objects, counted once per body of statements that computes them; depth is limited
/// only by memory. The method is value numbering: Cocke and Schwartz, *Programming
/// Languages and Their Compilers*, 1970.
///
/// # Errors
///
/// `ValueError` for a program with a cycle, and for a program whose types and dialects
/// declare no role, as nothing could be merged. `TypeError` or `ValueError` for an
/// attribute of the wrong form; errors of the functions in attributes.
///
/// ```
/// use isoform_ir::transform::cse::cse;
/// use isoform::{Node, Ref, Value};
///
/// /// A sum.
/// #[derive(Node)]
/// #[node(key = "doc_cse.Add", attrs("rewrite.pure" = true))]
/// #[repr(C)]
/// pub struct Add {
///     pub lhs: Value,
///     pub rhs: Value,
/// }
///
/// let two = || Value::from(Add::new(Value::from(1), Value::from(1)));
/// let four = Add::new(two(), two());
/// assert!(four.lhs != four.rhs);
/// let done: Ref<Add> = cse(&Value::from(&four))?.extract()?;
/// assert!(done.lhs == done.rhs);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn cse(value: impl Into<Value>) -> Result<Value> {
    CseOptions::default().cse(value)
}

/// Computes equal expressions of a program once.
#[export("passes.cse")]
fn cse_exported(value: Value, pure: Option<Function>) -> Result<Value> {
    match pure {
        None => cse(&value),
        Some(pure) => {
            let decide = move |node: &Value| pure.call(std::slice::from_ref(node))?.extract();
            CseOptions::default().pure(decide).cse(&value)
        }
    }
}

/// A pass for computing equal expressions once, by the declarations of the program's
/// types.
#[export("transform.CSE")]
fn cse_pass() -> Ref<ModulePass> {
    ModulePass::new(
        &PassInfo::new(1, "CSE"),
        |root: Ref<Obj>, _: &Ref<PassContext>| cse(root)?.extract(),
    )
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![cse_exported, cse_pass]
}
