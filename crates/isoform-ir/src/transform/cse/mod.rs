//! Common subexpression elimination in programs of any language, by what its types declare.
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
    CONDITIONAL, FORM, HOLDS, MAY_FAIL, NEW_BINDING, NEW_SEQUENCE, REPEATABLE, SEQUENCE,
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
    /// As [`cse`], and those of the function.
    pub fn cse(&self, value: &Value) -> Result<Value> {
        let Some(object) = value.as_object() else {
            return Ok(value.clone());
        };
        let known = functions(object)?;
        if let [(_, only)] = &known[..]
            && only.same_as(object)
        {
            return self.cse_part(value);
        }
        // Functions share no computation.
        let mut changed = Vec::new();
        for (name, function) in known {
            let done: Ref<Obj> = self.cse_part(&Value::from(&function))?.extract()?;
            if !done.same_as(&function) {
                changed.push((name, done));
            }
        }
        if changed.is_empty() {
            Ok(value.clone())
        } else {
            with_functions(object, changed).map(Value::from)
        }
    }

    fn cse_part(&self, value: &Value) -> Result<Value> {
        let mut facts = TypeFactTable::new(self);
        let mut graph = graph::Graph::of(value, &mut facts)?;
        let results = dataflow::merge(&mut graph)?;
        Ok(results.into_iter().next().unwrap_or_else(|| value.clone()))
    }
}

/// Computes equal expressions of a program once, in any language whose types declare what is
/// pure.
///
/// **Dataflow.** In a graph of expressions, an object that is used several times is computed
/// once. Equal nodes that are [pure](isoform::traverse::PURE) become one object, which is
/// computed in the scope around its uses. A node whose type declares [`MAY_FAIL`] is merged
/// only with one that is reached through the same scopes; nodes that bind variables stay
/// apart, and so do those that use a variable which is bound several times. Bindings around
/// their scope, as `let`, stay.
///
/// **Statements.** If types declare a [`FORM`], then statements are run in order, and
/// variables hold values. A value is reused where it is certain to have been computed: earlier
/// in the same sequence, or in one around it; never out of a loop, a branch or a
/// [`CONDITIONAL`] operand. It is read from the variable that already holds it; an assignment
/// that only repeats another one is removed. Any other repeated value gets a new variable
/// before the statement that first computes it, if its type declares [`NEW_BINDING`].
/// Variables that are assigned more than once, or used where they may not have been assigned,
/// are left alone, and so are owners in which one statement object occurs at several places.
///
/// The functions of a program, as [`Root`](super::Root) tells them, are processed one by one.
/// If there is nothing to do, the result is the same object. A hash finds equal expressions,
/// structural equality decides. Linear in the number of distinct objects, which count once for
/// each body of statements that computes them; depth is limited only by memory. The method is value numbering: Cocke and Schwartz, *Programming Languages
/// and Their Compilers*, 1970.
///
/// # Errors
///
/// `ValueError` for a program with a cycle, `TypeError` or `ValueError` for an attribute of
/// the wrong form; errors of the functions in attributes.
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
pub fn cse(value: &Value) -> Result<Value> {
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

/// A pass that computes equal expressions once, by what the types of the program declare.
#[export("transform.CSE")]
fn cse_pass() -> Ref<ModulePass> {
    ModulePass::new(
        &PassInfo::new(1, "CSE"),
        |root: Ref<Obj>, _: &Ref<PassContext>| cse(&Value::from(root))?.extract(),
    )
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![cse_exported, cse_pass]
}
