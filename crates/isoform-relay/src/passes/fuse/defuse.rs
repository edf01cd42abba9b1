//! Taking kernels apart again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::passes::effects::{Effects, Globals};
use crate::passes::form::Form;
use crate::passes::graph::{Graph, Id, Step, is_primitive};
use crate::passes::instance::{Argument, Template};
use crate::passes::module::map_functions;
use crate::{Call, Function};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, RelayExpr};

/// Puts the bodies of kernels, functions marked `Primitive`, in the place of their calls:
/// the inverse of [`fuse_ops`](super::fuse_ops). The body of any other function that is called
/// where it is written comes in place of the call, too, unless it contains functions.
///
/// Arguments replace parameters. Arguments with effects are bound before the body,
/// unless the body consists of operators only and uses their parameters in order, as in
/// kernels of `fuse_ops`. Effects then stay in order without bindings, and the program
/// equals the program before fusion, except for `annotation.stop_fusion`. Variables
/// bound in a body are new for every call.
///
/// A kernel that is not called directly, for example a kernel bound to a variable, is
/// kept; functions with type parameters, and other functions for which passes are closed, are
/// kept, too. Functions for which
/// [`Function::is_optimizable`] is false are not entered. A pass without changes
/// returns the same object. Linear in the size of the result.
///
/// ```
/// use isoform_ir::ir::IRModuleRef;
/// use isoform_relay::passes::{defuse_ops, fuse_ops};
/// use isoform_relay::{AsExpr, Function, Var, infer_type, op};
/// use isoform_ir::ir::{GlobalVar, IRModule, TensorType};
///
/// let x = Var::typed("x", TensorType::new([]));
/// let main = Function::new([x.clone()], op::exp(op::tanh(&x)));
/// let module = IRModule::new();
/// module.update_func(&GlobalVar::new("main"), main.upcast())?;
/// let module = infer_type(&module)?;
/// let fused = infer_type(&fuse_ops(&module)?)?;
/// assert!(!isoform::structural_equal(&fused, &module)?);
/// assert!(isoform::structural_equal(defuse_ops(&fused)?, &module)?);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if a variable is bound twice, or a call has another number of arguments
/// than the kernel has parameters. `TypeError` for an expression of a class declared
/// elsewhere.
pub fn defuse_ops(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let globals = Globals::of(module)?;
    map_functions(module, Function::is_optimizable, |func| {
        defused(func, &globals)
    })
}

/// [`defuse_ops`] in an expression; the functions of global variables may have any
/// effect.
///
/// # Errors
///
/// As [`defuse_ops`].
pub fn defuse_ops_expr(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    defused(expr, &Globals::default())
}

/// A kernel, and the first uses of its parameters, if they are in the order of effects.
struct Kernel {
    template: Template,
    first_uses: Option<Vec<Option<Id>>>,
}

impl Kernel {
    /// True if the arguments at these positions are evaluated once and in the same
    /// order in place of the parameters.
    fn keeps_order(&self, positions: impl Iterator<Item = usize>) -> bool {
        let Some(uses) = &self.first_uses else {
            return false;
        };
        let uses: Vec<Option<Id>> = positions
            .map(|position| uses.get(position).copied().flatten())
            .collect();
        uses.iter().all(Option::is_some) && uses.is_sorted()
    }
}

/// The function literal of a call, if its body can come in place of the call.
fn kernel_of(call: &Ref<Call>) -> Option<&Ref<Function>> {
    let func = call.op.downcast_ref::<Function>()?;
    let is_open = func.is_optimizable() || is_primitive(Form::Function(func));
    (is_open && func.type_params.is_empty()).then_some(func)
}

fn defused(root: &Ref<RelayExpr>, globals: &Globals) -> Result<Ref<RelayExpr>> {
    let graph = Graph::of(root)?;
    let mut kernels: HashMap<u64, Kernel> = HashMap::new();
    let mut effects = None;
    let mut results = graph.exprs.clone();
    // Expressions with functions below them. Copying functions inside of functions would
    // take a step for each level.
    let mut has_functions = vec![false; graph.len()];
    for step in &graph.steps {
        let Step::Done(id) = *step else {
            continue;
        };
        for operand in graph.operands(id) {
            let is_function = matches!(graph.form(*operand)?, Form::Function(_));
            has_functions[id as usize] |= is_function || has_functions[*operand as usize];
        }
        let kernel = match (graph.form(id)?, graph.operands(id)) {
            (Form::Call(call), [callee, ..]) if !has_functions[*callee as usize] => kernel_of(call),
            _ => None,
        };
        let Some(func) = kernel else {
            results[id as usize] = graph.rebuilt(id, &results)?;
            continue;
        };
        let kernel = match kernels.entry(func.identity()) {
            Entry::Occupied(kernel) => kernel.into_mut(),
            Entry::Vacant(place) => {
                let template = Template::new(func, globals)?;
                let first_uses = template.first_uses()?;
                place.insert(Kernel {
                    template,
                    first_uses,
                })
            }
        };
        let effects = match &mut effects {
            Some(effects) => effects,
            missing => missing.insert(Effects::of(&graph, globals)?),
        };
        let operands = &graph.operands(id)[1..];
        let fixed = operands
            .iter()
            .enumerate()
            .filter(|(_, operand)| !effects.may_move(**operand));
        let keeps_order = kernel.keeps_order(fixed.map(|(position, _)| position));
        let argument = |operand: &Id| Argument {
            expr: results[*operand as usize].clone(),
            may_move: keeps_order || effects.may_move(*operand),
        };
        let arguments: Vec<_> = operands.iter().map(argument).collect();
        results[id as usize] = kernel.template.body("kernel", &arguments)?;
    }
    Ok(results[0].clone())
}
