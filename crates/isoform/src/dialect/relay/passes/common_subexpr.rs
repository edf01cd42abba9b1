//! Common subexpression elimination.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::effects::{is_stateful, may_fail};
use super::form::{ByIdent, Form};
use super::graph::{Graph, Id, Step};
use super::module::map_functions;
use super::scopes::Scopes;
use crate::dialect::relay::{Function, is_primitive_op};
use crate::ir::{Attrs, IRModule, Op, RelayExpr};
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;
use crate::structural::{structural_equal, structural_hash};

/// Accepts or rejects an expression.
type Skip<'f> = Box<dyn Fn(&Ref<RelayExpr>) -> Result<bool> + 'f>;

/// Which common subexpressions are eliminated.
///
/// ```
/// use isoform::dialect::relay::passes::CommonSubexprOptions;
/// use isoform::dialect::relay::{AsExpr, Call, Function, Tuple, Var};
/// use isoform::ir::OpRegistry;
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

/// Computes calls of operators, and items of tuples, once: each is replaced by the first
/// equal one in the order of evaluation, whose span it gets.
///
/// Two calls are equal if the operators are the same, attributes and explicit type
/// arguments are structurally equal, and so many arguments are: the same expression, equal
/// scalar constants, or tuples of equal arguments. Calls without arguments, calls of
/// operators whose attribute `TOpIsStateful` is true, and all other expressions stay apart.
///
/// Scopes are ignored: a call in one branch may replace one in another. Such a call is
/// computed in the scope around both, as the expressions of a graph are;
/// [`to_basic_block_normal_form`](super::to_basic_block_normal_form) makes that explicit.
/// Calls have no effects, so this changes no value, but a call may be computed in cases
/// where it was not before. A call of an operator whose attribute `TMayFail` is true, such
/// as a division of integers, and what is computed from one, is therefore replaced only by
/// one whose scope is around its own, or inside of it.
///
/// Functions marked `Primitive` inside of others, and functions for which
/// [`Function::is_optimizable`] is false, are kept as they are. The result is the same object if
/// nothing changes; spans and checked types are kept. Linear in the number of expressions,
/// and in the size of the attributes; O(n log n) if calls that may fail are equal.
///
/// # Errors
///
/// `ValueError` if a variable is bound twice, or used outside of its scope; `TypeError` for
/// an expression of a class that is declared elsewhere; errors of hashing attributes.
pub fn eliminate_common_subexpr(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    CommonSubexprOptions::default().eliminate_common_subexpr(module)
}

impl<'f> CommonSubexprOptions<'f> {
    /// Leaves alone the expressions for which a function returns true: calls, and items of
    /// tuples, with their operands as they have become.
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
        let mut numbering = Numbering {
            graph: &graph,
            numbers: vec![0; graph.len()],
            next: 0,
            known: HashMap::default(),
            attrs: ByIdent::default(),
            stateful: ByIdent::default(),
            partial: ByIdent::default(),
            may_fail: vec![false; graph.len()],
        };
        let mut firsts: Vec<Id> = (0..graph.len() as Id).collect();
        let mut results = graph.exprs.clone();
        let mut splits = false;
        for step in &graph.steps {
            let Step::Done(id) = *step else {
                continue;
            };
            let rebuilt = graph.rebuilt(id, &results)?;
            let (number, first) = numbering.number(id, &rebuilt, self.skip.as_ref())?;
            numbering.numbers[id as usize] = number;
            results[id as usize] = match first {
                Some(first) => {
                    firsts[id as usize] = first;
                    splits |= numbering.may_fail[first as usize];
                    results[first as usize].clone()
                }
                None => rebuilt,
            };
        }
        if !splits {
            return Ok(results[0].clone());
        }
        split_by_scope(&graph, &numbering.may_fail, &mut firsts)?;
        results.clone_from(&graph.exprs);
        for step in &graph.steps {
            let Step::Done(id) = *step else {
                continue;
            };
            let first = firsts[id as usize];
            results[id as usize] = match first == id {
                true => graph.rebuilt(id, &results)?,
                false => results[first as usize].clone(),
            };
        }
        Ok(results[0].clone())
    }
}

/// The range of the scope of an expression, its place in the order of evaluation, and itself.
type Placed = (u32, u32, usize, Id);

/// Separates equal expressions that may fail, of which `firsts` has the first one for each,
/// unless the scope of one is around the scopes of the others: the one that stays is
/// computed where one of them was computed before. O(n log n).
fn split_by_scope(graph: &Graph, may_fail: &[bool], firsts: &mut [Id]) -> Result<()> {
    let scopes = Scopes::of(graph, false)?;
    let ranges = scopes.ranges();
    let mut equal: HashMap<Id, Vec<Placed>, RandomState> = HashMap::default();
    for (time, step) in graph.steps.iter().enumerate() {
        if let Step::Done(id) = *step
            && may_fail[id as usize]
        {
            let (start, end) = ranges[scopes.scope(id) as usize];
            let others = equal.entry(firsts[id as usize]).or_default();
            others.push((start, end, time, id));
        }
    }
    for mut members in equal.into_values() {
        // An outer scope comes before the scopes inside of it.
        members.sort_unstable();
        let mut rest = &members[..];
        while let Some((_, end, ..)) = rest.first() {
            let count = rest.partition_point(|(start, ..)| start < end);
            let (group, others) = rest.split_at(count);
            let first = group.iter().min_by_key(|(_, _, time, _)| *time);
            for (.., id) in group {
                firsts[*id as usize] = first.map_or(*id, |(.., first)| *first);
            }
            rest = others;
        }
    }
    Ok(())
}

/// Expressions with the same number have the same value.
type Number = u32;

/// The parts of an expression that decide its number, besides attributes.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shape {
    /// The operator, the hash of attributes and type arguments, and the arguments.
    Call(u64, u64, Box<[Number]>),
    Tuple(Box<[Number]>),
    Item(Number, i64),
    /// The hash of a scalar.
    Scalar(u64),
}

struct Numbering<'g> {
    graph: &'g Graph,
    numbers: Vec<Number>,
    next: Number,
    /// The expressions of a shape that differ in attributes, or in scalars.
    known: HashMap<Shape, Vec<Id>, RandomState>,
    /// The structural hashes of attributes.
    attrs: ByIdent<u64>,
    /// True for operators whose calls are not merged.
    stateful: ByIdent<bool>,
    /// True for operators whose calls may fail.
    partial: ByIdent<bool>,
    /// True for calls that may fail, and for what is computed from them.
    may_fail: Vec<bool>,
}

impl Numbering<'_> {
    /// The number of an expression, and the one that comes in its place.
    fn number(
        &mut self,
        id: Id,
        rebuilt: &Ref<RelayExpr>,
        skip: Option<&Skip<'_>>,
    ) -> Result<(Number, Option<Id>)> {
        let form = self.graph.form(id)?;
        let Some(shape) = self.shape(id, form)? else {
            return Ok((self.fresh(), None));
        };
        let mut operands = self.graph.operands(id).iter();
        self.may_fail[id as usize] =
            operands.any(|operand| self.may_fail[*operand as usize]) || self.is_partial(form)?;
        let merges = matches!(form, Form::Call(_) | Form::TupleGetItem(_));
        if merges
            && let Some(skip) = skip
            && skip(rebuilt)?
        {
            return Ok((self.fresh(), None));
        }
        let same_shape = self.known.get(&shape).map_or(&[][..], Vec::as_slice);
        for &known in same_shape {
            if self.are_equal(self.graph.form(known)?, form)? {
                return Ok((self.numbers[known as usize], merges.then_some(known)));
            }
        }
        self.known.entry(shape).or_default().push(id);
        Ok((self.fresh(), None))
    }

    fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next
    }

    /// The shape of an expression that may equal another one; None for all others.
    fn shape(&mut self, id: Id, form: Form<'_>) -> Result<Option<Shape>> {
        let graph = self.graph;
        let operands = graph.operands(id);
        Ok(match form {
            Form::Call(call) => {
                let Form::Op(op) = Form::of(&call.op)? else {
                    return Ok(None);
                };
                if operands.len() < 2 || self.is_stateful(op) {
                    return Ok(None);
                }
                let arguments = self.numbers_of(&operands[1..]);
                let mut hash = match &call.attrs {
                    Some(attrs) => self.hash_of(attrs)?,
                    None => 0,
                };
                if !call.type_args().is_empty() && !is_primitive_op(&call.op) {
                    hash = hash.rotate_left(1) ^ structural_hash(call.type_args().clone())?;
                }
                Some(Shape::Call(op.identity(), hash, arguments))
            }
            Form::Tuple(_) => Some(Shape::Tuple(self.numbers_of(operands))),
            Form::TupleGetItem(get) => {
                Some(Shape::Item(self.numbers[operands[0] as usize], get.index))
            }
            Form::Constant(constant) if constant.is_scalar() => {
                Some(Shape::Scalar(structural_hash(constant)?))
            }
            _ => None,
        })
    }

    fn numbers_of(&self, ids: &[Id]) -> Box<[Number]> {
        ids.iter().map(|id| self.numbers[*id as usize]).collect()
    }

    fn is_stateful(&mut self, op: &Ref<Op>) -> bool {
        let known = self.stateful.entry(op.identity());
        *known.or_insert_with(|| is_stateful(op))
    }

    fn is_partial(&mut self, form: Form<'_>) -> Result<bool> {
        let Form::Call(call) = form else {
            return Ok(false);
        };
        let Form::Op(op) = Form::of(&call.op)? else {
            return Ok(false);
        };
        let known = self.partial.entry(op.identity());
        Ok(*known.or_insert_with(|| may_fail(op)))
    }

    fn hash_of(&mut self, attrs: &Ref<Attrs>) -> Result<u64> {
        if let Some(known) = self.attrs.get(&attrs.identity()) {
            return Ok(*known);
        }
        let hash = structural_hash(attrs)?;
        self.attrs.insert(attrs.identity(), hash);
        Ok(hash)
    }

    /// True if two expressions of the same shape are equal in all else.
    fn are_equal(&self, left: Form<'_>, right: Form<'_>) -> Result<bool> {
        let same = |left: Value, right: Value| structural_equal(left, right);
        Ok(match (left, right) {
            (Form::Call(left), Form::Call(right)) => {
                let attrs = match (&left.attrs, &right.attrs) {
                    (Some(left), Some(right)) => {
                        left.same_as(right) || same(left.into(), right.into())?
                    }
                    (None, None) => true,
                    _ => false,
                };
                let (types, others) = (left.type_args(), right.type_args());
                attrs
                    && (types.is_empty() && others.is_empty()
                        || types.same_as(others)
                        || is_primitive_op(&left.op)
                        || same(types.clone().into(), others.clone().into())?)
            }
            (Form::Constant(left), Form::Constant(right)) => same(left.into(), right.into())?,
            (Form::Tuple(_), Form::Tuple(_)) | (Form::TupleGetItem(_), Form::TupleGetItem(_)) => {
                true
            }
            _ => false,
        })
    }
}
