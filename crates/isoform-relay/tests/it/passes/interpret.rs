//! An interpreter for tests: slow, recursive, and without anything of the passes.
//!
//! An expression used at several places is computed once, in the innermost block around
//! all of them, when it is first needed in the order of operands; the parts that a block
//! around a branch or function has to compute are computed before the branch or
//! function.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use isoform::Ref;
use isoform_ir::ir::{GlobalVar, IRModule, Op};
use isoform_relay::{
    Call, Constant, Function, If, Let, Match, Pattern, PatternTuple, PatternVar, RefCreate,
    RefRead, RefWrite, Tuple, TupleGetItem, Var,
};

use crate::support::Expr;

#[derive(Clone)]
pub(crate) enum Val {
    Int(u64),
    Tuple(Vec<Val>),
    Ref(usize),
    Closure(Rc<Closure>),
    Op(Ref<Op>),
}

pub(crate) struct Closure {
    func: Ref<Function>,
    path: Path,
    frames: Vec<Frame>,
    env: RefCell<HashMap<u64, Val>>,
    blocks: Rc<Blocks>,
}

/// A block, by the operands on the path from the root.
type Path = Vec<(u64, usize)>;

/// The computed values of the expressions of a block.
type Frame = Rc<RefCell<HashMap<u64, Val>>>;

/// The block of each expression of a function of the module.
type Blocks = HashMap<u64, Path>;

/// The operands of an expression, and whether the operand is a separate block.
pub(crate) fn operands(expr: &Expr) -> Vec<(Expr, bool)> {
    let same = |parts: &[&Expr]| parts.iter().map(|part| ((*part).clone(), false)).collect();
    if let Some(call) = expr.downcast_ref::<Call>() {
        let args = call.args.iter();
        return std::iter::once(&call.op)
            .chain(args)
            .map(|part| (part.clone(), false))
            .collect();
    }
    if let Some(tuple) = expr.downcast_ref::<Tuple>() {
        return tuple
            .fields
            .iter()
            .map(|part| (part.clone(), false))
            .collect();
    }
    if let Some(get) = expr.downcast_ref::<TupleGetItem>() {
        return same(&[&get.tuple_value]);
    }
    if let Some(binding) = expr.downcast_ref::<Let>() {
        return same(&[&binding.value, &binding.body]);
    }
    if let Some(create) = expr.downcast_ref::<RefCreate>() {
        return same(&[&create.value]);
    }
    if let Some(read) = expr.downcast_ref::<RefRead>() {
        return same(&[&read.reference]);
    }
    if let Some(write) = expr.downcast_ref::<RefWrite>() {
        return same(&[&write.reference, &write.value]);
    }
    if let Some(func) = expr.downcast_ref::<Function>() {
        return vec![(func.body.clone(), true)];
    }
    if let Some(choice) = expr.downcast_ref::<If>() {
        let branches = [&choice.true_branch, &choice.false_branch];
        let branches = branches.map(|branch| (branch.clone(), true));
        return std::iter::once((choice.cond.clone(), false))
            .chain(branches)
            .collect();
    }
    if let Some(cases) = expr.downcast_ref::<Match>() {
        let clauses = cases
            .clauses
            .iter()
            .map(|clause| (clause.rhs.clone(), true));
        return std::iter::once((cases.data.clone(), false))
            .chain(clauses)
            .collect();
    }
    Vec::new()
}

/// The block of each expression below a root: the common part of the paths to all uses,
/// computed from those of the users until nothing changes.
fn blocks(root: &Expr) -> Blocks {
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    let mut stack = vec![root.clone()];
    while let Some(expr) = stack.pop() {
        if seen.insert(expr.identity()) {
            stack.extend(operands(&expr).into_iter().map(|(operand, _)| operand));
            all.push(expr);
        }
    }
    let mut blocks: Blocks = HashMap::new();
    loop {
        let mut next: Blocks = HashMap::new();
        next.insert(root.identity(), Vec::new());
        for expr in &all {
            let Some(around) = blocks.get(&expr.identity()) else {
                continue;
            };
            for (position, (operand, own)) in operands(expr).into_iter().enumerate() {
                let mut path = around.clone();
                if own {
                    path.push((expr.identity(), position));
                }
                let common_path = next
                    .entry(operand.identity())
                    .or_insert_with(|| path.clone());
                let pairs = common_path.iter().zip(&path);
                let common = pairs.take_while(|(left, right)| left == right).count();
                common_path.truncate(common);
            }
        }
        if next == blocks {
            return blocks;
        }
        blocks = next;
    }
}

/// The value of a program, and the effects in order, in text.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    pub(crate) value: String,
    pub(crate) trace: Vec<String>,
}

/// The work that a pass may leave out, but must not add.
#[derive(Default, Debug)]
pub(crate) struct Risks {
    /// The arguments given to an operator that may fail.
    failures: HashSet<String>,
    /// How often each operator was computed.
    calls: BTreeMap<String, u32>,
}

impl Risks {
    pub(crate) fn is_subset(&self, of: &Risks) -> bool {
        self.failures.is_subset(&of.failures)
    }

    /// An operator computed more often than in `than`, and how often.
    pub(crate) fn repeated(&self, than: &Risks) -> Option<(&str, u32, u32)> {
        let all = self.calls.iter().map(|(op, count)| {
            let before = than.calls.get(op).copied().unwrap_or(0);
            (op.as_str(), before, *count)
        });
        all.into_iter().find(|(_, before, after)| after > before)
    }
}

pub(crate) struct Interpreter {
    module: Option<Ref<IRModule>>,
    store: Vec<Val>,
    trace: Vec<String>,
    /// References in the order of outcomes.
    names: Vec<usize>,
    ticks: u64,
    fuel: u32,
    risks: Risks,
}

/// Too many steps: the program proves nothing.
pub(crate) struct Exhausted;

type Run<T> = Result<T, Exhausted>;

/// Where the interpreter is.
#[derive(Clone)]
struct Place {
    path: Path,
    /// A frame for each block around the place, the outermost frame first.
    frames: Vec<Frame>,
    env: HashMap<u64, Val>,
    blocks: Rc<Blocks>,
}

/// The outcome of a function without parameters, or of `main` of a module.
pub(crate) fn outcome(program: &Expr, module: Option<&Ref<IRModule>>) -> Run<(Outcome, Risks)> {
    let mut interpreter = Interpreter {
        module: module.cloned(),
        store: Vec::new(),
        trace: Vec::new(),
        names: Vec::new(),
        ticks: 0,
        fuel: 4_000,
        risks: Risks::default(),
    };
    let func = interpreter.literal(program);
    let value = interpreter.apply(func, Vec::new())?;
    let value = interpreter.show(&value);
    let trace = interpreter.trace;
    Ok((Outcome { value, trace }, interpreter.risks))
}

fn mix(seed: u64, with: u64) -> u64 {
    (seed ^ with)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_left(29)
}

fn text_hash(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| mix(hash, byte.into()))
}

impl Interpreter {
    /// A function without anything around it.
    fn literal(&self, func: &Expr) -> Val {
        Val::Closure(Rc::new(Closure {
            func: func.clone().cast().expect("a function"),
            path: Vec::new(),
            frames: vec![Frame::default()],
            env: RefCell::default(),
            blocks: Rc::new(blocks(func)),
        }))
    }

    fn apply(&mut self, callee: Val, args: Vec<Val>) -> Run<Val> {
        match callee {
            Val::Op(op) => Ok(self.operate(&op, &args)),
            Val::Closure(closure) => {
                let mut place = Place {
                    path: closure.path.clone(),
                    frames: closure.frames.clone(),
                    env: closure.env.borrow().clone(),
                    blocks: closure.blocks.clone(),
                };
                let func = &closure.func;
                assert_eq!(func.params.len(), args.len(), "arguments of {func:?}");
                for (param, arg) in func.params.iter().zip(args) {
                    place.env.insert(param.identity(), arg);
                }
                let step = (func.identity(), 0);
                self.block(&func.body, step, &mut place)
            }
            _ => panic!("expected a function"),
        }
    }

    fn operate(&mut self, op: &Ref<Op>, args: &[Val]) -> Val {
        let name = op
            .name
            .strip_prefix("test.passes.")
            .unwrap_or(&op.name)
            .to_owned();
        *self.risks.calls.entry(name.clone()).or_default() += 1;
        match (&*name, args) {
            ("dec", [Val::Int(n)]) => return Val::Int(n.saturating_sub(1)),
            ("positive", [Val::Int(n)]) => return Val::Int(u64::from(*n > 0)),
            _ => {}
        }
        let mut hash = text_hash(&name);
        for arg in args {
            let text = match name.as_str() {
                // References have no names until the outcome shows them.
                "tick" => self.show(arg),
                _ => plain(arg),
            };
            hash = mix(hash, text_hash(&text));
            if name == "part" {
                self.risks.failures.insert(text);
            }
        }
        if name == "tick" {
            self.ticks += 1;
            let args: Vec<_> = args.iter().map(|arg| self.show(arg)).collect();
            self.trace.push(format!("tick {args:?}"));
            hash = mix(hash, self.ticks);
        }
        Val::Int(hash)
    }

    /// Computes a block.
    fn block(&mut self, body: &Expr, step: (u64, usize), place: &mut Place) -> Run<Val> {
        place.path.push(step);
        place.frames.push(Frame::default());
        let value = self.eval(body, place);
        place.path.pop();
        place.frames.pop();
        value
    }

    /// The frame of the block of an expression.
    fn frame(expr: &Expr, place: &Place) -> Frame {
        place.frames[place.blocks[&expr.identity()].len()].clone()
    }

    fn eval(&mut self, expr: &Expr, place: &mut Place) -> Run<Val> {
        if let Some(var) = expr.downcast_ref::<Var>() {
            let value = place.env.get(&var.identity()).cloned();
            return Ok(value.unwrap_or_else(|| panic!("%{} has no value", var.name_hint)));
        }
        if let Some(op) = expr.downcast_ref::<Op>() {
            return Ok(Val::Op(op.clone()));
        }
        if let Some(var) = expr.downcast_ref::<GlobalVar>() {
            let module = self.module.clone().expect("a module");
            let func = module
                .lookup(var)
                .expect("defined")
                .cast()
                .expect("an expression");
            return Ok(self.literal(&func));
        }
        self.fuel = self.fuel.checked_sub(1).ok_or(Exhausted)?;
        let frame = Self::frame(expr, place);
        if let Some(value) = frame.borrow().get(&expr.identity()) {
            return Ok(value.clone());
        }
        let path = &place.blocks[&expr.identity()];
        assert_eq!(*path, place.path, "computed too late: {expr:?}");
        let value = self.compute(expr, place)?;
        frame.borrow_mut().insert(expr.identity(), value.clone());
        Ok(value)
    }

    fn compute(&mut self, expr: &Expr, place: &mut Place) -> Run<Val> {
        if let Some(binding) = expr.downcast_ref::<Let>() {
            let value = self.eval(&binding.value, place)?;
            if let Val::Closure(closure) = &value {
                let mut env = closure.env.borrow_mut();
                env.insert(binding.var.identity(), value.clone());
            }
            place.env.insert(binding.var.identity(), value);
            return self.eval(&binding.body, place);
        }
        if let Some(constant) = expr.downcast_ref::<Constant>() {
            let mut bytes = [0; 8];
            let data = constant.data.data();
            bytes[..data.len().min(4)].copy_from_slice(&data[..data.len().min(4)]);
            return Ok(Val::Int(u64::from_le_bytes(bytes)));
        }
        let parts = operands(expr);
        let mut values = Vec::new();
        for (part, _) in parts.iter().filter(|(_, own)| !own) {
            values.push(self.eval(part, place)?);
        }
        let mut seen = HashSet::new();
        for (part, _) in parts.iter().filter(|(_, own)| *own) {
            self.prepare(part, place, &mut seen)?;
        }
        if let Some(func) = expr.downcast_ref::<Function>() {
            return Ok(Val::Closure(Rc::new(Closure {
                func: func.clone(),
                path: place.path.clone(),
                frames: place.frames.clone(),
                env: RefCell::new(place.env.clone()),
                blocks: place.blocks.clone(),
            })));
        }
        if expr.isa::<Call>() {
            let callee = values.remove(0);
            return self.apply(callee, values);
        }
        if expr.isa::<Tuple>() {
            return Ok(Val::Tuple(values));
        }
        if let Some(get) = expr.downcast_ref::<TupleGetItem>() {
            let Val::Tuple(fields) = &values[0] else {
                panic!("expected a tuple");
            };
            return Ok(fields[get.index as usize].clone());
        }
        if expr.isa::<RefCreate>() {
            self.store.push(values.remove(0));
            return Ok(Val::Ref(self.store.len() - 1));
        }
        if expr.isa::<RefRead>() {
            let Val::Ref(address) = values[0] else {
                panic!("expected a reference");
            };
            let name = self.name(address);
            let value = self.store[address].clone();
            let shown = self.show(&value);
            self.trace.push(format!("read #{name} = {shown}"));
            return Ok(value);
        }
        if expr.isa::<RefWrite>() {
            let Val::Ref(address) = values[0] else {
                panic!("expected a reference");
            };
            let name = self.name(address);
            let shown = self.show(&values[1]);
            self.trace.push(format!("write #{name} = {shown}"));
            self.store[address] = values.remove(1);
            return Ok(Val::Tuple(Vec::new()));
        }
        if let Some(choice) = expr.downcast_ref::<If>() {
            let Val::Int(cond) = values[0] else {
                panic!("expected a number");
            };
            let (position, branch) = match cond & 1 {
                1 => (1, &choice.true_branch),
                _ => (2, &choice.false_branch),
            };
            return self.block(branch, (expr.identity(), position), place);
        }
        let cases = expr.downcast_ref::<Match>().expect("a match");
        for (number, clause) in cases.clauses.iter().enumerate() {
            if matches(&clause.lhs, &values[0], &mut place.env) {
                let step = (expr.identity(), number + 1);
                return self.block(&clause.rhs, step, place);
            }
        }
        panic!("no clause matches");
    }

    /// Computes the expressions of this block that an inner block needs.
    fn prepare(&mut self, expr: &Expr, place: &mut Place, seen: &mut HashSet<u64>) -> Run<()> {
        let Some(path) = place.blocks.get(&expr.identity()) else {
            return Ok(());
        };
        if operands(expr).is_empty() && !expr.isa::<Tuple>() && !expr.isa::<Constant>() {
            return Ok(());
        }
        if !seen.insert(expr.identity()) {
            return Ok(());
        }
        if path.len() <= place.path.len() {
            return self.eval(expr, place).map(drop);
        }
        for (part, _) in operands(expr) {
            self.prepare(&part, place, seen)?;
        }
        Ok(())
    }

    fn name(&mut self, at: usize) -> usize {
        let known = self.names.iter().position(|name| *name == at);
        known.unwrap_or_else(|| {
            self.names.push(at);
            self.names.len() - 1
        })
    }

    /// A value as text, with references numbered in the order of occurrence.
    fn show(&mut self, value: &Val) -> String {
        match value {
            Val::Int(number) => format!("{number:x}"),
            Val::Tuple(fields) => {
                let fields: Vec<_> = fields.iter().map(|field| self.show(field)).collect();
                format!("({})", fields.join(", "))
            }
            Val::Ref(at) => format!("#{}", self.name(*at)),
            Val::Closure(_) | Val::Op(_) => "function".into(),
        }
    }
}

/// A value as text, without the identity of references.
fn plain(value: &Val) -> String {
    match value {
        Val::Int(number) => format!("{number:x}"),
        Val::Tuple(fields) => fields.iter().map(|field| plain(field) + ",").collect(),
        Val::Ref(_) => "#".into(),
        Val::Closure(_) | Val::Op(_) => "function".into(),
    }
}

fn matches(pattern: &Ref<Pattern>, value: &Val, env: &mut HashMap<u64, Val>) -> bool {
    if let Some(binder) = pattern.downcast_ref::<PatternVar>() {
        env.insert(binder.var.identity(), value.clone());
        return true;
    }
    match (pattern.downcast_ref::<PatternTuple>(), value) {
        (Some(tuple), Val::Tuple(fields)) => {
            let pairs = tuple.patterns.iter().zip(fields);
            tuple.patterns.len() == fields.len()
                && pairs
                    .into_iter()
                    .all(|(pattern, field)| matches(pattern, field, env))
        }
        (Some(_), _) => false,
        (None, _) => true,
    }
}

/// True if the program contains an expression for which the test is true.
pub(crate) fn any(program: &Expr, test: impl Fn(&Expr) -> bool) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![program.clone()];
    while let Some(expr) = stack.pop() {
        if seen.insert(expr.identity()) {
            if test(&expr) {
                return true;
            }
            stack.extend(operands(&expr).into_iter().map(|(operand, _)| operand));
        }
    }
    false
}

/// True if no expression is first needed in one block and computed in a different
/// block.
pub(crate) fn is_in_basic_blocks(program: &Expr) -> bool {
    let blocks = blocks(program);
    let mut seen = HashSet::new();
    let mut good = true;
    first_uses(program, Vec::new(), &mut seen, &mut |expr, path: &Path| {
        let free = expr.isa::<Var>()
            || expr.isa::<Op>()
            || expr.isa::<GlobalVar>()
            || expr.isa::<Constant>();
        good &= free || blocks[&expr.identity()] == *path;
    });
    good
}

fn first_uses(
    expr: &Expr,
    path: Path,
    seen: &mut HashSet<u64>,
    found: &mut dyn FnMut(&Expr, &Path),
) {
    if !seen.insert(expr.identity()) {
        return;
    }
    found(expr, &path);
    for (position, (operand, own)) in operands(expr).into_iter().enumerate() {
        let mut path = path.clone();
        if own {
            path.push((expr.identity(), position));
        }
        first_uses(&operand, path, seen, found);
    }
}

/// True if all operands are names, and blocks are bindings around one.
pub(crate) fn is_in_a_normal_form(program: &Expr) -> bool {
    let is_atom = |expr: &Expr| expr.isa::<Var>() || expr.isa::<Op>() || expr.isa::<GlobalVar>();
    let is_block = |expr: &Expr| {
        let mut expr = expr.clone();
        while let Some(binding) = expr.downcast_ref::<Let>().cloned() {
            if binding.value.isa::<Let>() {
                return false;
            }
            expr = binding.body.clone();
        }
        is_atom(&expr)
    };
    !any(program, |expr| {
        if expr.isa::<Let>() {
            return false;
        }
        operands(expr).iter().any(|(operand, own)| {
            if *own {
                !is_block(operand)
            } else {
                !is_atom(operand)
            }
        })
    })
}
