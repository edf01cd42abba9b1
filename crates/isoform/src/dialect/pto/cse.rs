//! Common subexpression elimination.
//!
//! Every expression gets a number by its operator and the numbers of its
//! operands: expressions are grouped by structural hash, and structural equality
//! decides. Each function is then traversed twice in execution order: first to
//! find the values that are needed again where they are certain to have been
//! computed, then to give those a variable.

use hashbrown::{HashMap, HashSet};
use isoform_macros::export;
use rapidhash::fast::RandomState;

use super::call::Call;
use super::expr::{Expr, IterArg, Var};
use super::function::{Function, Program};
use super::operation::{And, BinaryExpr, Or, UnaryExpr};
use super::purity::{Operands, has_no_effect};
use super::stmt::{AssignStmt, InlineStmt, SeqStmts, Stmt, WhileStmt};
use super::ty::{ScalarType, Type};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::dynamic::with_field;
use crate::kernel::object::reference::Ref;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::{structural_equal, structural_hash};
use crate::traverse::{WalkResult, children_of, walk_objects};

type Idents = HashSet<u64, RandomState>;
type ByIdent<T> = HashMap<u64, T, RandomState>;

/// Computes the common subexpressions of a function, or of each function of a
/// program, only once.
///
/// A value is reused where it is certain to have been computed: earlier in the
/// same sequence of statements, or in an enclosing one; it is never moved out of a
/// loop, a branch, a scope statement or the right side of `and` and `or`. If a
/// variable already holds the value, it is read from there, and an assignment that only
/// repeats another one is removed together with its variable; any other repeated value
/// gets a new variable before the statement that first computes it.
///
/// This applies to operations on numbers, and to calls of operators whose attribute
/// [`TOpIsStateful`](super::STATEFUL) is false; all other calls are left alone, and so
/// are variables that are assigned more than once, everything computed from them,
/// functions in which one statement object occurs at several places, and initial values
/// of `iter_args`.
///
/// If there is nothing to do, the result is the same object. Linear in the number
/// of distinct expressions and statements; depth is limited only by memory.
///
/// # Errors
///
/// `TypeError` for anything but a function or a program.
///
/// ```
/// use isoform::structural_equal;
/// use isoform::dialect::pto::{
///     Add, AssignStmt, DataType, Function, Mul, ReturnStmt, ScalarType, SeqStmts, Var, cse,
/// };
///
/// let int = ScalarType::new(DataType::Int64);
/// let var = |name| Var::new(name, &int);
/// let (a, b, x, y) = (var("a"), var("b"), var("x"), var("y"));
/// let sum = || Add::new(&a, &b, DataType::Int64);
/// // x = a + b; y = (a + b) * x; return y   becomes   x = a + b; y = x * x; return y
/// let function = |square| {
///     let body = SeqStmts::new([
///         AssignStmt::new(&x, sum()).upcast(),
///         AssignStmt::new(&y, square).upcast(),
///         ReturnStmt::new([y.clone().upcast()]).upcast(),
///     ]);
///     Function::new("f", [a.clone(), b.clone()], [int.clone().upcast()], body)
/// };
/// let done = cse(&function(Mul::new(sum(), &x, DataType::Int64)).into())?;
/// assert!(structural_equal(done, function(Mul::new(&x, &x, DataType::Int64)))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn cse(root: &Value) -> Result<Value> {
    let object = root.as_object();
    if let Some(function) = object.and_then(|object| object.downcast_ref::<Function>()) {
        return Ok(in_function(function)?.into());
    }
    let Some(program) = object.and_then(|object| object.downcast_ref::<Program>()) else {
        return Err(Error::type_error(format!(
            "cse: expected pto.Function or pto.Program, got {}",
            root.type_name()
        )));
    };
    let mut functions = Map::<Str, Ref<Function>>::new();
    let mut changed = false;
    for (name, function) in program.functions.iter() {
        let done = in_function(function)?;
        changed |= !done.same_as(function);
        functions.insert(name.clone(), done);
    }
    if !changed {
        return Ok(root.clone());
    }
    with_field(program.as_object(), "functions", functions.into()).map(Value::from)
}

/// Computes common subexpressions of a function, or of each function of a
/// program, once.
#[export("pto.cse", crate = crate)]
fn cse_exported(program: Value) -> Result<Value> {
    cse(&program)
}

fn in_function(function: &Ref<Function>) -> Result<Ref<Function>> {
    let Some(facts) = Facts::of(function)? else {
        return Ok(function.clone());
    };
    let mut pass = Pass::new(facts);
    pass.run(&function.body)?;
    if !pass.entries.iter().any(|entry| entry.needed) {
        return Ok(function.clone());
    }
    pass.start_replacing();
    let body = pass.run(&function.body)?;
    with_field(function.as_object(), "body", body.into())?.cast()
}

/// Facts about a function.
struct Facts {
    /// Variables that are defined several times.
    reassigned: Idents,
    /// Variables whose name must stay: types, attributes or texts mention them.
    pinned: Idents,
    /// True if text in another language might mention any variable.
    has_text: bool,
}

impl Facts {
    /// Returns None if a statement occurs at several places.
    fn of(function: &Ref<Function>) -> Result<Option<Facts>> {
        let mut defined = Idents::default();
        let mut facts = Facts {
            reassigned: Idents::default(),
            pinned: Idents::default(),
            has_text: false,
        };
        let mut define = |value: &Value, reassigned: &mut Idents| {
            if let Some(object) = value.as_object()
                && !defined.insert(object.identity())
            {
                reassigned.insert(object.identity());
            }
        };
        let mut seen = Idents::default();
        let mut stack = vec![Value::from(function)];
        while let Some(value) = stack.pop() {
            let Some(object) = value.as_object() else {
                continue;
            };
            if !seen.insert(object.identity()) {
                return Ok(None);
            }
            facts.has_text |= object.isa::<InlineStmt>();
            for child in children_of(&value).iter(RegionKind::Use) {
                let items = match child.value.as_array() {
                    Some(items) => items.values().to_vec(),
                    None => vec![child.value],
                };
                for item in items {
                    if child.region != RegionKind::Use {
                        define(&item, &mut facts.reassigned);
                    } else if item.as_object().is_some_and(|object| object.isa::<Stmt>()) {
                        stack.push(item);
                    }
                }
            }
        }
        facts.pin(function)?;
        Ok(Some(facts))
    }

    fn pin(&mut self, function: &Ref<Function>) -> Result<()> {
        let mut stack = Vec::new();
        walk_objects(function, |object, _| {
            if object.isa::<Type>() {
                stack.push(Value::from(object));
            } else if let Some(carried) = object.downcast_ref::<IterArg>() {
                stack.push((&carried.init_value).into());
            } else {
                let children = children_of(&object.into());
                let fields = children.iter(RegionKind::Use).map(|child| child.value);
                stack.extend(fields.filter(|field| field.as_map().is_some()));
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        let mut seen = Idents::default();
        while let Some(value) = stack.pop() {
            let Some(object) = value.as_object() else {
                continue;
            };
            if !seen.insert(object.identity()) {
                continue;
            }
            if object.isa::<Var>() {
                self.pinned.insert(object.identity());
            }
            let children = children_of(&value);
            stack.extend(children.iter(RegionKind::Use).map(|child| child.value));
        }
        Ok(())
    }
}

/// A number for every value: two expressions with one number are equal.
#[derive(Default)]
struct Numbering {
    /// None for expressions whose value may differ each time.
    numbers: ByIdent<Option<usize>>,
    /// By the hash of the entries of `shapes`.
    buckets: ByIdent<Vec<usize>>,
    /// For each number, an expression over variables that represent numbers.
    shapes: Vec<Value>,
    /// For each number, the variable that represents it.
    names: Vec<Ref<Expr>>,
}

impl Numbering {
    /// Assigns the number of its value to a variable.
    fn define(&mut self, var: &Ref<Var>, number: Option<usize>) {
        self.numbers.insert(var.identity(), number);
    }

    fn number(&mut self, root: &Ref<Expr>, facts: &Facts) -> Result<Option<usize>> {
        let mut stack = vec![(root.clone(), None::<Operands>)];
        let mut poll = Poll::default();
        while let Some((expr, operands)) = stack.pop() {
            poll.step_outside()?;
            let ident = expr.identity();
            if let Some(operands) = operands {
                let number = self.combine(&expr, &operands)?;
                self.numbers.insert(ident, number);
            } else if self.numbers.contains_key(&ident) {
            } else if !has_no_effect(&expr) || facts.reassigned.contains(&ident) {
                self.numbers.insert(ident, None);
            } else if expr.isa::<Var>() {
                let number = self.fresh((&expr).into(), expr.clone());
                self.numbers.insert(ident, Some(number));
            } else {
                let operands = Operands::of(&(&expr).into());
                let below = operands.exprs.clone();
                stack.push((expr, Some(operands)));
                stack.extend(below.into_iter().map(|operand| (operand, None)));
            }
        }
        Ok(self.numbers.get(&root.identity()).copied().flatten())
    }

    fn combine(&mut self, expr: &Ref<Expr>, operands: &Operands) -> Result<Option<usize>> {
        let mut named = Vec::with_capacity(operands.exprs.len());
        for operand in &operands.exprs {
            // Memory contents may change while their name stays the same.
            let is_call = expr.isa::<Call>();
            if !is_call && !operand.ty.isa::<ScalarType>() {
                return Ok(None);
            }
            match self.numbers.get(&operand.identity()) {
                Some(Some(number)) => named.push(self.names[*number].clone()),
                _ => return Ok(None),
            }
        }
        let shape = operands.children.replace(operands.changes(&named)?)?;
        let hash = structural_hash(&shape)?;
        for &known in self.buckets.get(&hash).into_iter().flatten() {
            if structural_equal(&self.shapes[known], &shape)? {
                return Ok(Some(known));
            }
        }
        let name = Var::new("", &expr.ty).upcast();
        let number = self.fresh(shape, name);
        self.buckets.entry(hash).or_default().push(number);
        Ok(Some(number))
    }

    fn fresh(&mut self, shape: Value, name: Ref<Expr>) -> usize {
        self.shapes.push(shape);
        self.names.push(name);
        self.names.len() - 1
    }
}

/// A value where it is computed first.
#[derive(Default)]
struct Entry {
    /// The variable that holds it, once there is one.
    holder: Option<Ref<Expr>>,
    /// True if the value is computed again where it is available.
    needed: bool,
}

/// A pending step of processing statements.
enum Work {
    Visit(Ref<Stmt>),
    EndSeq {
        source: Ref<SeqStmts>,
        base: usize,
    },
    BeginBody,
    EndBody,
    EndCompound {
        operands: Operands,
        changes: Vec<(usize, Value)>,
        bodies: Vec<usize>,
    },
}

struct Frame {
    operands: Operands,
    next: usize,
    done: Vec<Ref<Expr>>,
    entry: Option<usize>,
    conditional: bool,
    expr: Ref<Expr>,
}

struct Pass {
    facts: Facts,
    numbering: Numbering,
    /// In the order in which values are first computed.
    entries: Vec<Entry>,
    next_entry: usize,
    replacing: bool,
    /// The entries of values that are known here, by number.
    available: HashMap<usize, usize, RandomState>,
    /// Per open body, the numbers that became known in it.
    scopes: Vec<Vec<usize>>,
    /// Removed variables, with their replacements.
    renamed: ByIdent<Ref<Expr>>,
    /// Assignments to insert before the current statement.
    before: Vec<Ref<Stmt>>,
    /// Expressions of the current statement that have been processed.
    seen: ByIdent<Ref<Expr>>,
    out: Vec<Ref<Stmt>>,
    bases: Vec<usize>,
    bodies: Vec<Ref<Stmt>>,
    made: usize,
}

impl Pass {
    fn new(facts: Facts) -> Pass {
        Pass {
            facts,
            numbering: Numbering::default(),
            entries: Vec::new(),
            next_entry: 0,
            replacing: false,
            available: HashMap::default(),
            scopes: vec![Vec::new()],
            renamed: HashMap::default(),
            before: Vec::new(),
            seen: HashMap::default(),
            out: Vec::new(),
            bases: Vec::new(),
            bodies: Vec::new(),
            made: 0,
        }
    }

    /// Starts the second pass, with the results of the first one.
    fn start_replacing(&mut self) {
        self.replacing = true;
        self.next_entry = 0;
        self.available.clear();
        self.scopes = vec![Vec::new()];
    }

    fn run(&mut self, body: &Ref<Stmt>) -> Result<Ref<Stmt>> {
        let mut work = vec![Work::EndBody, Work::Visit(body.clone()), Work::BeginBody];
        let mut poll = Poll::default();
        while let Some(next) = work.pop() {
            poll.step_outside()?;
            match next {
                Work::Visit(stmt) => self.visit(stmt, &mut work)?,
                Work::EndSeq { source, base } => {
                    let stmts: Vec<Ref<Stmt>> = self.out.drain(base..).collect();
                    let same = stmts.len() == source.stmts.len()
                        && stmts
                            .iter()
                            .zip(source.stmts.iter())
                            .all(|(a, b)| a.same_as(b));
                    let made = match same {
                        true => source.upcast(),
                        false => {
                            let stmts = Array::<Ref<Stmt>>::from(stmts);
                            with_field(source.as_object(), "stmts", stmts.into())?.cast()?
                        }
                    };
                    self.out.push(made);
                }
                Work::BeginBody => {
                    self.scopes.push(Vec::new());
                    self.bases.push(self.out.len());
                }
                Work::EndBody => {
                    for number in self.scopes.pop().unwrap_or_default() {
                        self.available.remove(&number);
                    }
                    let base = self.bases.pop().unwrap_or_default();
                    let mut stmts: Vec<Ref<Stmt>> = self.out.drain(base..).collect();
                    let body = match (stmts.pop(), stmts.is_empty()) {
                        (Some(only), true) => only,
                        (last, _) => {
                            stmts.extend(last);
                            SeqStmts::new(stmts).upcast()
                        }
                    };
                    self.bodies.push(body);
                }
                Work::EndCompound {
                    operands,
                    mut changes,
                    bodies,
                } => {
                    let first = self.bodies.len() - bodies.len();
                    for (field, body) in bodies.iter().zip(self.bodies.drain(first..)) {
                        let old = operands.children.get(*field, RegionKind::Use);
                        let new = Value::from(body);
                        if old.is_none_or(|old| old.value != new) {
                            changes.push((*field, new));
                        }
                    }
                    self.out
                        .push(operands.children.replace(changes)?.extract()?);
                }
            }
        }
        self.bodies
            .pop()
            .ok_or_else(|| Error::value_error("cse: expected a body, got none"))
    }

    fn visit(&mut self, stmt: Ref<Stmt>, work: &mut Vec<Work>) -> Result<()> {
        // Clearing a table takes time proportional to its largest contents.
        if !self.seen.is_empty() {
            self.seen = HashMap::default();
        }
        if let Some(source) = stmt.downcast_ref::<SeqStmts>() {
            let base = self.out.len();
            let stmts: Vec<Ref<Stmt>> = source.stmts.iter().cloned().collect();
            let source = source.clone();
            work.push(Work::EndSeq { source, base });
            work.extend(stmts.into_iter().rev().map(Work::Visit));
            return Ok(());
        }
        if let Some(assign) = stmt.downcast_ref::<AssignStmt>() {
            return self.assign(assign, &stmt);
        }
        let value = Value::from(&stmt);
        let operands = Operands::of(&value);
        // The condition of a loop is computed in every iteration.
        let conditional = stmt.isa::<WhileStmt>();
        let mut done = Vec::with_capacity(operands.exprs.len());
        for operand in &operands.exprs {
            done.push(self.expr(operand, conditional, None)?);
        }
        let changes = operands.changes(&done)?;
        self.out.append(&mut self.before);
        let is_body = |value: &Value| value.as_object().is_some_and(|body| body.isa::<Stmt>());
        let children: Vec<_> = operands.children.iter(RegionKind::Use).collect();
        let bodies: Vec<usize> = (0..children.len())
            .filter(|&field| is_body(&children[field].value))
            .collect();
        if bodies.is_empty() {
            self.out
                .push(operands.children.replace(changes)?.extract()?);
            return Ok(());
        }
        let visits: Vec<Ref<Stmt>> = bodies
            .iter()
            .map(|&field| children[field].value.extract())
            .collect::<Result<_>>()?;
        work.push(Work::EndCompound {
            operands,
            changes,
            bodies,
        });
        for body in visits.into_iter().rev() {
            work.extend([Work::EndBody, Work::Visit(body), Work::BeginBody]);
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Ref<AssignStmt>, stmt: &Ref<Stmt>) -> Result<()> {
        let (var, value) = (&assign.var, &assign.value);
        let number = self.numbering.number(value, &self.facts)?;
        let once = !self.facts.reassigned.contains(&var.identity());
        let alike = once && structural_equal(&var.ty, &value.ty)?;
        let known = number.filter(|_| is_computed(value));
        let known = known.and_then(|number| self.available.get(&number).copied());
        if alike {
            self.numbering.define(var, number);
        }
        let new = match known {
            Some(entry) => {
                self.entries[entry].needed = true;
                let holder = self.entries[entry].holder.clone();
                let holder = holder.unwrap_or_else(|| value.clone());
                let stays = self.facts.has_text || self.facts.pinned.contains(&var.identity());
                if self.replacing && alike && !stays {
                    self.renamed.insert(var.identity(), holder);
                    return Ok(());
                }
                holder
            }
            None => {
                let holder = alike.then(|| var.clone().upcast());
                self.expr(value, false, holder)?
            }
        };
        self.out.append(&mut self.before);
        self.out.push(match new.same_as(value) {
            true => stmt.clone(),
            false => with_field(stmt.as_object(), "value", new.into())?.cast()?,
        });
        Ok(())
    }

    /// The replacement for an expression; `holder` is the variable that will receive its
    /// value.
    fn expr(
        &mut self,
        root: &Ref<Expr>,
        conditional: bool,
        holder: Option<Ref<Expr>>,
    ) -> Result<Ref<Expr>> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut finished = self.meet(root, conditional, holder, &mut stack)?;
        let mut poll = Poll::default();
        loop {
            poll.step_outside()?;
            let Some(frame) = stack.last_mut() else {
                return Ok(finished.unwrap_or_else(|| root.clone()));
            };
            if let Some(result) = finished.take() {
                frame.done.push(result);
            }
            if let Some(operand) = frame.operands.exprs.get(frame.next).cloned() {
                let decides = frame.expr.isa::<And>() || frame.expr.isa::<Or>();
                let right = decides && frame.operands.is_field(frame.next, "right");
                let conditional = frame.conditional || right;
                frame.next += 1;
                finished = self.meet(&operand, conditional, None, &mut stack)?;
            } else if let Some(frame) = stack.pop() {
                finished = Some(self.leave(frame)?);
            }
        }
    }

    fn meet(
        &mut self,
        expr: &Ref<Expr>,
        conditional: bool,
        holder: Option<Ref<Expr>>,
        stack: &mut Vec<Frame>,
    ) -> Result<Option<Ref<Expr>>> {
        let ident = expr.identity();
        if expr.isa::<Var>() {
            return Ok(Some(self.renamed.get(&ident).unwrap_or(expr).clone()));
        }
        let number = self.numbering.number(expr, &self.facts)?;
        let mut made = None;
        if let Some(number) = number.filter(|_| is_computed(expr)) {
            if let Some(&known) = self.available.get(&number) {
                let entry = &mut self.entries[known];
                entry.needed = true;
                return Ok(Some(entry.holder.clone().unwrap_or_else(|| expr.clone())));
            }
            if !conditional {
                let entry = self.next_entry;
                self.next_entry += 1;
                if !self.replacing {
                    self.entries.push(Entry::default());
                }
                self.entries[entry].holder = holder.filter(|_| self.replacing);
                self.available.insert(number, entry);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.push(number);
                }
                made = Some(entry);
            }
        }
        if made.is_none()
            && let Some(done) = self.seen.get(&ident)
        {
            return Ok(Some(done.clone()));
        }
        let operands = Operands::of(&expr.into());
        if operands.exprs.is_empty() && made.is_none() {
            return Ok(Some(expr.clone()));
        }
        stack.push(Frame {
            operands,
            next: 0,
            done: Vec::new(),
            entry: made,
            conditional,
            expr: expr.clone(),
        });
        Ok(None)
    }

    fn leave(&mut self, frame: Frame) -> Result<Ref<Expr>> {
        let changes = frame.operands.changes(&frame.done)?;
        let made: Ref<Expr> = frame.operands.children.replace(changes)?.extract()?;
        let Some(entry) = frame.entry else {
            self.seen.insert(frame.expr.identity(), made.clone());
            return Ok(made);
        };
        let entry = &mut self.entries[entry];
        if !self.replacing || !entry.needed || entry.holder.is_some() {
            return Ok(made);
        }
        let var = Var::new(format!("cse_{}", self.made), &made.ty);
        self.made += 1;
        self.before.push(AssignStmt::new(&var, &made).upcast());
        entry.holder = Some(var.clone().upcast());
        Ok(var.upcast())
    }
}

/// True if an expression computes something, so that a variable is cheaper.
fn is_computed(expr: &Ref<Expr>) -> bool {
    expr.isa::<BinaryExpr>() || expr.isa::<UnaryExpr>() || expr.isa::<Call>()
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![cse_exported]
}
