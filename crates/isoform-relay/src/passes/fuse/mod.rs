//! Fusing of operators into kernels.
//!
//! Kernels are found by edges to users (`dataflow.rs`), post-dominators (`dominators.rs`)
//! and groups in three phases (`groups.rs`); `defuse.rs` takes kernels apart.

use isoform_ir::ir::BaseFuncRef;
mod dataflow;
mod defuse;
mod dominators;
mod groups;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

pub use self::defuse::{defuse_ops, defuse_ops_expr};

use self::dataflow::{Dataflow, is_non_computational, is_reshape, type_of};
use self::groups::Groups;
use super::effects::{Effects, Globals};
use super::form::{Form, with_operands};
use super::graph::{Graph, Id, Step};
use super::module::map_functions;
use crate::{AsExpr, Call, Function, Var, attribute};
use isoform::{Ref, Result};
use isoform_ir::ir::{IRModule, Op, RelayExpr};

/// The operator that keeps its argument and its users in separate kernels.
const STOP_FUSION: &str = "annotation.stop_fusion";

/// How operators are fused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FuseOptions {
    fuses: bool,
    max_depth: usize,
    link_params: bool,
}

impl Default for FuseOptions {
    fn default() -> Self {
        FuseOptions {
            fuses: true,
            max_depth: 256,
            link_params: false,
        }
    }
}

/// Makes kernels: a call of an operator becomes a call of a function with the attribute
/// `Primitive`. Calls whose results are needed only in the kernel join the kernel, as
/// far as their patterns (`TOpPattern`) allow.
///
/// The algorithm is the algorithm of Relay: an expression joins its post-dominator,
/// together with all expressions in between, if the uses on the paths are simple
/// enough. Element-wise operators and broadcasts join their consumers, and complex
/// operators take the following element-wise operators along. Then injective operators
/// join each other, and at last the fields of tuples inside of kernels join. See Chen
/// et al., "TVM: An Automated End-to-End Optimizing Compiler for Deep Learning" (OSDI
/// 2018), section 3.
///
/// The parameters of a kernel are its inputs in the order of their first use, named
/// `p0`, `p1` and so on. If several inputs have effects, the parameters are in the
/// order of evaluation. Scalar constants become part of the kernel. Calls of operators
/// without computation (`TNonComputational`) are kept; `annotation.stop_fusion`
/// separates kernels and is removed. A kernel that changes only the shape has the
/// attribute `relay.reshape_only`. Other calls, and existing kernels, are kept.
///
/// Types must be known, and those of kernels and their calls are not filled in: type
/// inference runs before and after. O(n log n) in the number of expressions, and linear in
/// the largest number of operators of a kernel.
///
/// # Errors
///
/// `ValueError` if a type is not known, or a variable is bound twice; `TypeError` for
/// an expression of a class declared elsewhere.
pub fn fuse_ops(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    FuseOptions::default().fuse_ops(module)
}

impl FuseOptions {
    /// Joins several calls in a kernel; if false, every call has a separate kernel.
    /// True by default.
    #[must_use]
    pub fn fuses(mut self, fuses: bool) -> Self {
        self.fuses = fuses;
        self
    }

    /// The largest number of expressions of a kernel; 256 by default.
    #[must_use]
    pub fn max_depth(mut self, max_depth: usize) -> Self {
        self.max_depth = max_depth;
        self
    }

    /// Puts constants into kernels instead of passing them as arguments. False by default.
    #[must_use]
    pub fn link_params(mut self, link_params: bool) -> Self {
        self.link_params = link_params;
        self
    }

    /// [`fuse_ops`] with these options.
    pub fn fuse_ops(self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        map_functions(module, Function::is_optimizable, |func| {
            self.fuse_ops_expr(func)
        })
    }

    /// [`fuse_ops`] in an expression.
    pub fn fuse_ops_expr(self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let graph = Graph::of(expr)?;
        let flow = Dataflow::of(&graph)?;
        let groups = Groups::of(&graph, &flow, self.fuses, self.max_depth);
        // The effects of other functions are unknown.
        let effects = Effects::of(&graph, &Globals::default())?;
        let mut fuser = Fuser {
            graph: &graph,
            effects,
            groups,
            link_params: self.link_params,
            kernels: HashMap::default(),
            computes: vec![false; graph.len()],
            results: graph.exprs.clone(),
        };
        fuser.note_calls()?;
        for step in &graph.steps {
            if let Step::Done(id) = *step {
                fuser.results[id as usize] = fuser.result(id)?;
            }
        }
        Ok(fuser.results[0].clone())
    }
}

/// A kernel under construction.
#[derive(Default)]
struct Kernel {
    params: Vec<Ref<Var>>,
    args: Vec<Ref<RelayExpr>>,
    /// The expressions of the arguments.
    operands: Vec<Id>,
    /// The parameters by the identity of the argument.
    known: HashMap<u64, usize, RandomState>,
    computes_more_than_shapes: bool,
}

impl Kernel {
    /// Sorts the arguments by their first use in the body, if two of the arguments have
    /// effects: the body evaluated the arguments in this order.
    fn keep_order(&mut self, effects: &Effects, body: &Ref<RelayExpr>) -> Result<()> {
        let operands = self.operands.iter();
        let fixed = operands.filter(|operand| !effects.may_move(**operand));
        if fixed.count() < 2 {
            return Ok(());
        }
        let body = Graph::of(body)?;
        let first_uses: Vec<_> = self.params.iter().map(|param| body.var(param)).collect();
        let mut order: Vec<usize> = (0..self.operands.len()).collect();
        order.sort_by_key(|position| first_uses[*position]);
        self.params = order.iter().map(|at| self.params[*at].clone()).collect();
        self.args = order.iter().map(|at| self.args[*at].clone()).collect();
        Ok(())
    }
}

struct Fuser<'g> {
    graph: &'g Graph,
    effects: Effects,
    groups: Groups,
    link_params: bool,
    /// By the sink of the group.
    kernels: HashMap<Id, Kernel, RandomState>,
    /// For every sink, true if the group contains a call; other groups do not become
    /// kernels.
    computes: Vec<bool>,
    results: Vec<Ref<RelayExpr>>,
}

/// The operator of a call to put into a kernel.
fn kernel_op(call: &Ref<Call>) -> Option<&Ref<Op>> {
    let op = call.op.downcast_ref::<Op>()?;
    (!is_non_computational(op) && &*op.name != STOP_FUSION).then_some(op)
}

impl Fuser<'_> {
    fn note_calls(&mut self) -> Result<()> {
        for id in 0..self.graph.len() as Id {
            if let Form::Call(call) = self.graph.form(id)?
                && kernel_op(call).is_some()
            {
                let sink = self.groups.sink(id);
                self.computes[sink as usize] = true;
            }
        }
        Ok(())
    }

    /// The replacement for an expression: inside of a kernel, unless the expression is
    /// the sink of its group.
    fn result(&mut self, id: Id) -> Result<Ref<RelayExpr>> {
        let sink = self.groups.sink(id);
        let operands = self.graph.operands(id);
        let inner = match self.graph.form(id)? {
            Form::Call(call) if kernel_op(call).is_none() => {
                let is_stop = call
                    .op
                    .downcast_ref::<Op>()
                    .is_some_and(|op| &*op.name == STOP_FUSION);
                return match operands {
                    [_, arg] if is_stop => Ok(self.results[*arg as usize].clone()),
                    _ => self.graph.rebuilt(id, &self.results),
                };
            }
            Form::Call(call) => {
                let is_reshape = kernel_op(call).is_some_and(|op| is_reshape(op));
                self.kernels
                    .entry(sink)
                    .or_default()
                    .computes_more_than_shapes |= !is_reshape;
                let mut parts = vec![call.op.clone()];
                for operand in &operands[1..] {
                    parts.push(self.input(sink, *operand)?);
                }
                with_operands(self.graph.expr(id), &parts)?
            }
            // A tuple that leaves its group becomes a tuple of results of kernels.
            Form::Tuple(_) if id != sink && self.computes[sink as usize] => {
                let mut fields = Vec::with_capacity(operands.len());
                for operand in operands {
                    fields.push(self.input(sink, *operand)?);
                }
                with_operands(self.graph.expr(id), &fields)?
            }
            Form::TupleGetItem(_)
                if self.computes[sink as usize]
                    && (id != sink || self.groups.sink(operands[0]) == sink) =>
            {
                let tuple = self.input(sink, operands[0])?;
                with_operands(self.graph.expr(id), &[tuple])?
            }
            _ => return self.graph.rebuilt(id, &self.results),
        };
        if id == sink {
            self.call_of_kernel(id, inner)
        } else {
            Ok(inner)
        }
    }

    /// An operand as an input of a kernel.
    fn input(&mut self, sink: Id, operand: Id) -> Result<Ref<RelayExpr>> {
        let result = self.results[operand as usize].clone();
        let is_inside = self.groups.sink(operand) == sink;
        let is_linked = self.link_params && matches!(self.graph.form(operand)?, Form::Constant(_));
        if is_inside || is_linked {
            return Ok(result);
        }
        let ty = type_of(self.graph.expr(operand))?;
        let kernel = self.kernels.entry(sink).or_default();
        let next = kernel.params.len();
        let at = *kernel.known.entry(result.identity()).or_insert(next);
        if at == next {
            let param = Var::holding(format!("p{next}"), self.graph.expr(operand));
            kernel.params.push(param.with_type_annotation(ty));
            kernel.args.push(result);
            kernel.operands.push(operand);
        }
        Ok(kernel.params[at].expr())
    }

    fn call_of_kernel(&mut self, id: Id, body: Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let mut kernel = self.kernels.remove(&id).unwrap_or_default();
        kernel.keep_order(&self.effects, &body)?;
        let original = self.graph.expr(id);
        let mut func = Function::new(kernel.params, body)
            .with_ret_type(type_of(original)?)
            .upcast()
            .with_attr(attribute::PRIMITIVE, 1)?;
        if !kernel.computes_more_than_shapes {
            func = func.with_attr(attribute::RESHAPE_ONLY, 1)?;
        }
        let func: Ref<RelayExpr> = func.cast()?;
        let args = kernel.args.into();
        Ok(Call::made(func, args, original.span.clone()).expr())
    }
}
