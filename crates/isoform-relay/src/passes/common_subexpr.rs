//! Common subexpression elimination.

use super::effects::{is_stateful, may_fail};
use super::form::{ByIdent, Form};
use super::graph::{self, Graph, Id};
use super::module::map_functions;
use super::scopes::Scopes;
use crate::roles::holds_value;
use crate::{AsExpr, Function, is_primitive_op};
use isoform::compare::CompareOptions;
use isoform::{Ref, Result, Value};
use isoform_ir::ir::{IRModule, RelayExpr};
use isoform_ir::plumbing::{Binding, Dataflow, Merge, Number, ScopeRange, Shape, Step, merge};

/// Accepts or rejects an expression.
type Skip<'f> = Box<dyn Fn(&Ref<RelayExpr>) -> Result<bool> + 'f>;

/// Selects common subexpressions for elimination.
///
/// ```
/// use isoform_relay::passes::CommonSubexprOptions;
/// use isoform_relay::{AsExpr, Call, Function, Tuple, Var};
/// use isoform_ir::ir::OpRegistry;
/// use isoform::structural_equal;
///
/// let negate = OpRegistry::get_or_register("doc.relay.negate")?.op().clone();
/// let x = Var::new("x");
/// let call = || Call::new(&negate, [x.expr()]).expr();
/// let func = Function::new([x.clone()], Tuple::new([call(), call()])).expr();
/// let short = CommonSubexprOptions::default().eliminate_common_subexpr_expr(&func)?;
/// let once = call();
/// let expected = Function::new([x.clone()], Tuple::new([once.clone(), once]));
/// assert!(structural_equal(short, expected)?);
///
/// let skip = CommonSubexprOptions::default().skip(|_| Ok(true));
/// assert!(skip.eliminate_common_subexpr_expr(&func)?.same_as(&func));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Default)]
pub struct CommonSubexprOptions<'f> {
    skip: Option<Skip<'f>>,
}

/// Computes calls of operators, and items of tuples, once: the first equal expression
/// in the order of evaluation replaces every such expression, and gets its span.
///
/// Two calls are equal if the operators are the same, attributes and explicit type
/// arguments are structurally equal, and all arguments are equal. Equal arguments are
/// the same expression, equal scalar constants, or tuples of equal arguments. Calls
/// without arguments, calls of operators whose attribute `TOpIsStateful` is true, and
/// all other expressions stay apart.
///
/// A variable that a `let` gives to such an expression takes the place of equal
/// expressions in the body, and of variables that inner `let`s give to equal expressions;
/// these `let`s go. A `let` with several places stays, and so does a variable whose
/// annotation differs from the type of the value. Merging the users of such a `let` can leave
/// a single place, so a further run may merge more.
///
/// Scopes are ignored otherwise: a call in one branch may replace a call in another branch. The
/// replacing call is computed in the scope around both, according to the rules for
/// graphs. [`to_basic_block_normal_form`](super::to_basic_block_normal_form) makes the
/// scope explicit. Calls have no effects, so values do not change, but a call may run
/// in cases where the program did not run the call before. Calls of an operator whose
/// attribute `TMayFail` is true, for example a division of integers, and expressions
/// computed from them are restricted. Their replacement must be in a scope around the
/// scope of the replaced expression, or inside.
///
/// Functions marked `Primitive` inside of other functions, and functions for which
/// [`Function::is_optimizable`] is false, stay unchanged. A pass without changes
/// returns the same object; spans and checked types are kept. Linear in the number of
/// expressions, and in the size of the attributes; O(n log n) if calls that may fail
/// are equal.
///
/// # Errors
///
/// `ValueError` if a variable is bound twice, or used outside of its scope; `TypeError`
/// for an expression of a class declared elsewhere; errors of hashing attributes.
pub fn eliminate_common_subexpr(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    CommonSubexprOptions::default().eliminate_common_subexpr(module)
}

impl<'f> CommonSubexprOptions<'f> {
    /// Leaves alone the expressions for which a function returns true: calls, and items
    /// of tuples, with their rewritten operands.
    #[must_use]
    pub fn skip(mut self, skip: impl Fn(&Ref<RelayExpr>) -> Result<bool> + 'f) -> Self {
        self.skip = Some(Box::new(skip));
        self
    }

    /// [`eliminate_common_subexpr`] with these options.
    pub fn eliminate_common_subexpr(&self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        map_functions(module, Function::is_optimizable, |func| {
            self.eliminate_common_subexpr_expr(func)
        })
    }

    /// [`eliminate_common_subexpr`] in an expression.
    pub fn eliminate_common_subexpr_expr(&self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        let graph = Graph::of(expr)?;
        let mut merging = Merging {
            graph: &graph,
            skip: self.skip.as_ref(),
            stateful: ByIdent::default(),
            partial: ByIdent::default(),
        };
        let results = merge(&mut merging)?;
        Ok(results[0].clone())
    }
}

/// The graph of a program with the rules of the dialect.
struct Merging<'g, 'f> {
    graph: &'g Graph,
    skip: Option<&'g Skip<'f>>,
    /// True for operators with calls to keep apart.
    stateful: ByIdent<bool>,
    /// True for operators with calls that may fail.
    partial: ByIdent<bool>,
}

/// The heads of expressions other than calls; identity numbers are smaller.
const TUPLE: u64 = u64::MAX;
const ITEM: u64 = u64::MAX - 1;
const SCALAR: u64 = u64::MAX - 2;

impl Dataflow for Merging<'_, '_> {
    type Expr = Ref<RelayExpr>;

    fn expr_count(&self) -> usize {
        self.graph.len()
    }

    fn steps(&self) -> impl Iterator<Item = Step> {
        self.graph.steps.iter().map(|step| match step {
            graph::Step::Done(id) => Step::Done(*id),
            graph::Step::Bind(id) => Step::Bind(*id),
        })
    }

    fn operands(&self, id: Id) -> &[Id] {
        self.graph.operands(id)
    }

    fn expr(&self, id: Id) -> Ref<RelayExpr> {
        self.graph.expr(id).clone()
    }

    fn rebuilt(&self, id: Id, results: &[Ref<RelayExpr>]) -> Result<Ref<RelayExpr>> {
        self.graph.rebuilt(id, results)
    }

    fn shape(&mut self, id: Id, numbers: &[Number]) -> Result<Option<Shape>> {
        let graph = self.graph;
        let operands = graph.operands(id);
        let numbers_of = |ids: &[Id]| ids.iter().map(|id| numbers[*id as usize]).collect();
        Ok(match graph.form(id)? {
            Form::Call(call) => {
                let Form::Op(op) = Form::of(&call.op)? else {
                    return Ok(None);
                };
                let entry = self.stateful.entry(op.identity());
                if operands.len() < 2 || *entry.or_insert_with(|| is_stateful(op)) {
                    return Ok(None);
                }
                let types = call.type_args();
                let types = if types.is_empty() || is_primitive_op(&call.op) {
                    Value::NONE
                } else {
                    types.clone().into()
                };
                let attrs = call.attrs.as_ref().map_or(Value::NONE, Value::from);
                Some(Shape {
                    head: op.identity(),
                    operands: numbers_of(&operands[1..]),
                    data: [attrs, types].into_iter().collect(),
                })
            }
            Form::Tuple(_) => Some(Shape {
                head: TUPLE,
                operands: numbers_of(operands),
                ..Shape::default()
            }),
            Form::TupleGetItem(get) => Some(Shape {
                head: ITEM,
                operands: numbers_of(operands),
                data: [get.index.into()].into_iter().collect(),
            }),
            Form::Constant(constant) if constant.is_scalar() => Some(Shape {
                head: SCALAR,
                data: [constant.into()].into_iter().collect(),
                ..Shape::default()
            }),
            _ => None,
        })
    }

    fn merges(&mut self, id: Id, rebuilt: &Ref<RelayExpr>) -> Result<Merge> {
        if !matches!(self.graph.form(id)?, Form::Call(_) | Form::TupleGetItem(_)) {
            return Ok(Merge::No);
        }
        let skips = self.skip.map_or(Ok(false), |skip| skip(rebuilt))?;
        Ok(if skips { Merge::Apart } else { Merge::Yes })
    }

    fn binding(&mut self, id: Id) -> Result<Option<Binding<Ref<RelayExpr>>>> {
        let (Form::Let(binding), [value, body]) = (self.graph.form(id)?, self.graph.operands(id))
        else {
            return Ok(None);
        };
        Ok(holds_value(binding)?.then(|| Binding {
            var: self.graph.var(&binding.var),
            expr: binding.var.expr(),
            value: *value,
            body: *body,
        }))
    }

    fn is_same_type(&self, left: &Ref<RelayExpr>, right: &Ref<RelayExpr>) -> Result<bool> {
        let options = CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        };
        options.equal(left, right)
    }

    // Only calls and items of tuples are ever merged.
    fn is_worth_variable(&mut self, _: Id) -> Result<bool> {
        Ok(true)
    }

    fn may_fail(&mut self, id: Id) -> Result<bool> {
        let Form::Call(call) = self.graph.form(id)? else {
            return Ok(false);
        };
        let Form::Op(op) = Form::of(&call.op)? else {
            return Ok(false);
        };
        let known = self.partial.entry(op.identity());
        Ok(*known.or_insert_with(|| may_fail(op)))
    }

    fn scopes(&self) -> Result<Vec<ScopeRange>> {
        let scopes = Scopes::of(self.graph, false)?;
        let ranges = scopes.ranges();
        let ids = 0..self.graph.len() as Id;
        Ok(ids.map(|id| ranges[scopes.scope(id) as usize]).collect())
    }
}
