//! Functions over numbers, and the pass `mycc.fold`.

use isoform::traverse::structural_map;
use isoform::{Array, Node, Obj, Ref, Result, Str, Value, types};
use isoform_ir::transform::{FunctionPass, PassContext, PassInfo, register_pass};

/// A variable, identified by its binding.
#[derive(Node)]
#[node(key = "mycc.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    /// The name, for people.
    #[node(ignore)]
    pub(crate) name: Str,
}

/// A number.
#[derive(Node)]
#[node(key = "mycc.Const")]
#[repr(C)]
pub(crate) struct Const {
    /// Its value.
    pub(crate) value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "mycc.Add")]
#[repr(C)]
pub(crate) struct Add {
    /// The first part.
    pub(crate) lhs: Ref<Obj>,
    /// The second part.
    pub(crate) rhs: Ref<Obj>,
}

/// A function, the scope of its parameters.
#[derive(Node)]
#[node(key = "mycc.Fun", scope)]
#[repr(C)]
pub(crate) struct Fun {
    /// The parameters.
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    /// The result.
    pub(crate) body: Ref<Obj>,
}

/// Registers the types, which files may then name, and the pass.
///
/// # Errors
///
/// `ValueError` if another library owns one of the type keys.
pub(crate) fn register() -> Result<()> {
    types::register::<Var>()?;
    types::register::<Const>()?;
    types::register::<Add>()?;
    types::register::<Fun>()?;
    register_pass("mycc.fold", pass::function(), true)
}

/// Computes sums of numbers.
#[isoform::export("mycc.fold")]
fn pass() -> Ref<FunctionPass> {
    FunctionPass::new(
        &PassInfo::new(0, "mycc.fold"),
        |fun: Ref<Fun>, _root: &Ref<Obj>, _ctx: &Ref<PassContext>| {
            structural_map(fun, |visit| {
                let sum = visit.downcast::<Add>().and_then(|sum| folded(sum));
                Ok(sum.map(Value::from))
            })?
            .extract::<Ref<Fun>>()
        },
    )
}

/// The sum of two numbers, unless it is too large.
fn folded(sum: &Add) -> Option<Ref<Const>> {
    let number = |part: &Ref<Obj>| Some(part.downcast_ref::<Const>()?.value);
    let sum = number(&sum.lhs)?.checked_add(number(&sum.rhs)?)?;
    Some(Const::new(sum))
}
