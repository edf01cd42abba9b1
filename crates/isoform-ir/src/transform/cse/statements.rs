//! Programs of statements: repeated values are read from their variables.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::facts::{Form, TypeFactTable};
use super::numbering::{DATA, ITEMS, Number, Numbering, Shape};
use super::operands::{Operands, Part, is_same};
use super::vars::{Idents, Vars};
use isoform::plumbing::{Binding, Poll};
use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Array, Error, Result, Value};

type ByIdent<T> = HashMap<u64, T, RandomState>;

/// Processes the statements of a statement, or of a node with statements, for example a
/// function. Linear in the number of statements, and of distinct expressions in every
/// body. Every discovery of variables that may be used before their assignment costs
/// another such run.
pub(super) fn in_owner(owner: &Value, facts: &mut TypeFactTable<'_>) -> Result<Value> {
    let Some(mut vars) = Vars::of(owner, facts)? else {
        return Ok(owner.clone());
    };
    if facts.form(owner)?.is_some_and(Form::is_statement) {
        return in_body(owner, &mut vars, facts);
    }
    let children = children_of(owner);
    let mut changes = Vec::new();
    for (field, child) in children.iter(RegionKind::Use).enumerate() {
        let old = child.value.clone();
        let new = match Part::of(child, facts)? {
            Part::Body(body) => in_body(&body, &mut vars, facts)?,
            Part::Bodies(items) => in_items(&items, &mut vars, facts)?,
            _ => continue,
        };
        if !is_same(&old, &new) {
            changes.push((field, new));
        }
    }
    children.replace(changes)
}

fn in_body(body: &Value, vars: &mut Vars, facts: &mut TypeFactTable<'_>) -> Result<Value> {
    let done = run(std::slice::from_ref(body), vars, facts)?;
    match done {
        Some(stmts) => one_statement(stmts, body, facts),
        None => Ok(body.clone()),
    }
}

fn in_items(items: &Array, vars: &mut Vars, facts: &mut TypeFactTable<'_>) -> Result<Value> {
    Ok(match run(items.values(), vars, facts)? {
        Some(stmts) => Array::from(stmts).into(),
        None => items.clone().into(),
    })
}

/// The statements with common expressions computed once; None without repeated
/// expressions.
fn run(
    stmts: &[Value],
    vars: &mut Vars,
    facts: &mut TypeFactTable<'_>,
) -> Result<Option<Vec<Value>>> {
    let mut pass = Pass::new(vars, facts);
    pass.run(stmts)?;
    while !pass.early.is_empty() {
        let early = std::mem::take(&mut pass.early);
        vars.reassigned.extend(early);
        pass = Pass::new(vars, facts);
        pass.run(stmts)?;
    }
    if !pass.entries.iter().any(|entry| entry.needed) {
        return Ok(None);
    }
    pass.start_replacing();
    pass.run(stmts).map(Some)
}

/// One statement that runs the given statements, in place of another statement.
fn one_statement(
    mut stmts: Vec<Value>,
    old: &Value,
    facts: &mut TypeFactTable<'_>,
) -> Result<Value> {
    if stmts.len() == 1 {
        return Ok(stmts.remove(0));
    }
    let known = facts.of(old)?;
    let Some(make) = known.and_then(|known| known.new_sequence.clone()) else {
        return Err(Error::type_error(format!(
            "cse: expected type {} to declare '{}', a function from an array of statements to \
             one, since {} statements come in the place of one",
            old.type_name(),
            super::facts::NEW_SEQUENCE,
            stmts.len()
        )));
    };
    make.call(&[Array::from(stmts).into()])
}

/// A value at its first computation.
#[derive(Default)]
struct Entry {
    /// The variable that holds the value; None until a statement assigns the value.
    holder: Option<Value>,
    /// True if the value is computed again while available.
    needed: bool,
}

/// A pending step of processing statements.
enum Work {
    Visit(Value),
    EndSequence {
        source: Operands,
        field: usize,
        old: Array,
    },
    BeginBody,
    EndBody,
    EndCompound {
        operands: Operands,
        changes: Vec<(usize, Value)>,
    },
}

/// A processed expression.
struct ProcessedExpr {
    result: Value,
    /// True if the expression may be skipped, so fewer values are available inside.
    sometimes: bool,
    /// True if the expression was processed twice, because its value turned out to be
    /// computed again.
    is_repeated: bool,
}

/// An expression with operands being processed.
struct Frame {
    operands: Operands,
    done: Vec<Value>,
    entry: Option<usize>,
    conditional: bool,
    expr: Value,
}

/// An open body.
struct Scope {
    /// The numbers that became available in the scope.
    available: Vec<Number>,
    /// The variables assigned in the scope.
    assigned: Vec<u64>,
    /// The number of numbered expressions before the scope.
    first: usize,
}

struct Pass<'p, 'o> {
    vars: &'p Vars,
    facts: &'p mut TypeFactTable<'o>,
    numbering: Numbering,
    /// The numbers of the expressions; None if the value may change between
    /// evaluations.
    numbers: ByIdent<Option<Number>>,
    /// Variables with uses that may precede the assignment: before the assignment, or
    /// after the body with the assignment. Such variables have two values.
    early: Idents,
    /// Expressions with a number, in the order of numbering.
    numbered: Vec<u64>,
    /// The variables of ended bodies.
    ended_vars: Idents,
    /// The operands that the current statement always computes.
    roots: Vec<Value>,
    /// The numbers of the values that the current statement always computes; filled on
    /// demand.
    certain: Option<HashSet<Number, RandomState>>,
    /// The number of entries before the current statement.
    known_before: usize,
    /// In the order in which values are first computed.
    entries: Vec<Entry>,
    next_entry: usize,
    replacing: bool,
    /// The entries of values available at this place, by number.
    available: HashMap<Number, usize, RandomState>,
    scopes: Vec<Scope>,
    /// Removed variables, with their replacements.
    renamed: ByIdent<Value>,
    /// Bindings to insert before the current statement.
    before: Vec<Value>,
    /// Processed expressions of the current statement.
    seen: ByIdent<ProcessedExpr>,
    out: Vec<Value>,
    /// Where the statements of open sequences and bodies begin.
    bases: Vec<usize>,
    /// The statements of ended bodies.
    bodies: Vec<Vec<Value>>,
    made: i64,
}

impl<'p, 'o> Pass<'p, 'o> {
    fn new(vars: &'p Vars, facts: &'p mut TypeFactTable<'o>) -> Self {
        Pass {
            vars,
            facts,
            numbering: Numbering::default(),
            numbers: HashMap::default(),
            early: Idents::default(),
            numbered: Vec::new(),
            ended_vars: Idents::default(),
            roots: Vec::new(),
            certain: None,
            known_before: 0,
            entries: Vec::new(),
            next_entry: 0,
            replacing: false,
            available: HashMap::default(),
            scopes: Vec::new(),
            renamed: HashMap::default(),
            before: Vec::new(),
            seen: HashMap::default(),
            out: Vec::new(),
            bases: Vec::new(),
            bodies: Vec::new(),
            made: 0,
        }
    }

    /// Starts the second pass, with the results of the first pass.
    fn start_replacing(&mut self) {
        self.replacing = true;
        self.next_entry = 0;
        self.available.clear();
    }

    fn run(&mut self, stmts: &[Value]) -> Result<Vec<Value>> {
        let mut work = vec![Work::EndBody];
        work.extend(stmts.iter().rev().cloned().map(Work::Visit));
        work.push(Work::BeginBody);
        let mut poll = Poll::default();
        while let Some(next) = work.pop() {
            poll.step_outside()?;
            match next {
                Work::Visit(stmt) => self.visit(stmt, &mut work)?,
                Work::EndSequence { source, field, old } => {
                    let stmts = self.ended();
                    let is_old = |(new, old): (&Value, &Value)| is_same(new, old);
                    let same = stmts.len() == old.values().len()
                        && stmts.iter().zip(old.values()).all(is_old);
                    let changes = if same {
                        Vec::new()
                    } else {
                        vec![(field, Array::from(stmts).into())]
                    };
                    self.out.push(source.children.replace(changes)?);
                }
                Work::BeginBody => {
                    self.scopes.push(Scope {
                        available: Vec::new(),
                        assigned: Vec::new(),
                        first: self.numbered.len(),
                    });
                    self.bases.push(self.out.len());
                }
                Work::EndBody => {
                    if let Some(scope) = self.scopes.pop() {
                        self.close(scope);
                    }
                    let stmts = self.ended();
                    self.bodies.push(stmts);
                }
                Work::EndCompound {
                    operands,
                    mut changes,
                } => {
                    let first = self.bodies.len() - operands.bodies.len();
                    let bodies = self.bodies.split_off(first);
                    for (&(field, is_array), stmts) in operands.bodies.iter().zip(bodies) {
                        let old = operands.children.get(field, RegionKind::Use);
                        let old = old.map(|old| old.value).unwrap_or_default();
                        let new = if is_array {
                            Array::from(stmts).into()
                        } else {
                            one_statement(stmts, &old, self.facts)?
                        };
                        let same = match (new.as_array(), old.as_array()) {
                            (Some(new), Some(old)) => {
                                let pairs = new.values().iter().zip(old.values());
                                new.values().len() == old.values().len()
                                    && pairs.clone().all(|(new, old)| is_same(new, old))
                            }
                            _ => is_same(&old, &new),
                        };
                        if !same {
                            changes.push((field, new));
                        }
                    }
                    self.out.push(operands.children.replace(changes)?);
                }
            }
        }
        Ok(self.bodies.pop().unwrap_or_default())
    }

    /// Forgets the facts that hold only in a body.
    fn close(&mut self, scope: Scope) {
        for number in scope.available {
            self.available.remove(&number);
        }
        if scope.assigned.is_empty() {
            return;
        }
        // Where expressions are met again, their variables may have no value.
        for ident in self.numbered.drain(scope.first..) {
            self.numbers.remove(&ident);
        }
        self.ended_vars.extend(scope.assigned);
    }

    /// The statements of the innermost open sequence or body, at its end.
    fn ended(&mut self) -> Vec<Value> {
        let base = self.bases.pop().unwrap_or_default();
        self.out.split_off(base)
    }

    fn visit(&mut self, stmt: Value, work: &mut Vec<Work>) -> Result<()> {
        // Clearing a table takes time proportional to its largest contents.
        if !self.seen.is_empty() {
            self.seen = HashMap::default();
        }
        self.certain = None;
        self.known_before = self.next_entry;
        let facts = self.facts.of(&stmt)?;
        let operands = Operands::of(&stmt, self.facts)?;
        if let Some(field) = facts.as_ref().and_then(|facts| facts.sequence) {
            let stmts: Array = operands
                .children
                .get(field, RegionKind::Use)
                .map(|child| child.value)
                .unwrap_or_default()
                .extract()?;
            self.bases.push(self.out.len());
            let visits: Vec<Work> = stmts
                .values()
                .iter()
                .rev()
                .cloned()
                .map(Work::Visit)
                .collect();
            work.push(Work::EndSequence {
                source: operands,
                field,
                old: stmts,
            });
            work.extend(visits);
            return Ok(());
        }
        if let Some(binding) = self.facts.binding(&stmt)?
            && let Some(var) = self.variable(&operands, binding)?
        {
            return self.assign(&stmt, &operands, binding, &var);
        }
        let is_conditional = |field| {
            facts
                .as_ref()
                .is_some_and(|facts| facts.is_conditional(field))
        };
        self.roots.clear();
        for (position, operand) in operands.exprs.iter().enumerate() {
            if !is_conditional(operands.field(position)) {
                self.roots.push(operand.clone());
            }
        }
        let mut done = Vec::with_capacity(operands.exprs.len());
        for (position, operand) in operands.exprs.iter().enumerate() {
            let conditional = is_conditional(operands.field(position));
            done.push(self.expr(operand, conditional, None)?);
        }
        let changes = operands.changes(&done)?;
        self.out.append(&mut self.before);
        if operands.bodies.is_empty() {
            self.out.push(operands.children.replace(changes)?);
            return Ok(());
        }
        let mut bodies = Vec::new();
        for (field, _) in &operands.bodies {
            let body = operands
                .children
                .get(*field, RegionKind::Use)
                .map(|child| child.value)
                .unwrap_or_default();
            bodies.push(match body.as_array() {
                Some(items) => items.values().to_vec(),
                None => vec![body],
            });
        }
        work.push(Work::EndCompound { operands, changes });
        for body in bodies.into_iter().rev() {
            work.push(Work::EndBody);
            work.extend(body.into_iter().rev().map(Work::Visit));
            work.push(Work::BeginBody);
        }
        Ok(())
    }

    /// The only variable bound by a statement.
    fn variable(&mut self, operands: &Operands, binding: Binding) -> Result<Option<Value>> {
        let var = operands.children.get(binding.var as usize, RegionKind::Use);
        let value = operands
            .children
            .get(binding.value as usize, RegionKind::Use);
        let (Some(var), Some(value)) = (var, value) else {
            return Ok(None);
        };
        let is_expr = self
            .facts
            .form(&value.value)?
            .is_some_and(Form::is_expression);
        let fits = is_expr && operands.bodies.is_empty() && self.facts.is_var(&var.value)?;
        Ok(fits.then_some(var.value))
    }

    fn assign(
        &mut self,
        stmt: &Value,
        operands: &Operands,
        binding: Binding,
        var: &Value,
    ) -> Result<()> {
        let field = binding.value as usize;
        let value = operands
            .children
            .get(field, RegionKind::Use)
            .map(|child| child.value)
            .unwrap_or_default();
        let ident = var.as_object().map_or(0, |object| object.identity());
        let number = self.number(&value)?;
        let once = !self.vars.reassigned.contains(&ident);
        let alike = once && self.facts.holds(stmt)?;
        let is_computed = self.facts.form(&value)? == Some(Form::Computation);
        let available_entry = number
            .filter(|_| is_computed)
            .and_then(|number| self.available.get(&number).copied());
        let new = match available_entry {
            Some(entry) => {
                self.entries[entry].needed = true;
                let holder = self.entries[entry]
                    .holder
                    .clone()
                    .unwrap_or_else(|| value.clone());
                let stays = self.vars.has_text || self.vars.pinned.contains(&ident);
                if self.replacing && alike && !stays {
                    self.renamed.insert(ident, holder);
                    return Ok(());
                }
                holder
            }
            None => {
                let holder = alike.then(|| var.clone());
                self.roots = vec![value.clone()];
                self.expr(&value, false, holder)?
            }
        };
        if once && !self.replacing {
            if self.numbers.contains_key(&ident) {
                self.early.insert(ident);
            }
            // The variable is never reassigned, so its value stays the same until the
            // scope ends.
            let held = match (alike, number) {
                (true, Some(number)) => number,
                _ => self.numbering.fresh(),
            };
            self.numbers.insert(ident, Some(held));
            if let Some(scope) = self.scopes.last_mut() {
                scope.assigned.push(ident);
            }
        }
        self.out.append(&mut self.before);
        self.out.push(if is_same(&new, &value) {
            stmt.clone()
        } else {
            operands.children.replace(vec![(field, new)])?
        });
        Ok(())
    }

    /// The replacement for an expression; `holder` is the variable that will receive
    /// its value.
    fn expr(&mut self, root: &Value, conditional: bool, holder: Option<Value>) -> Result<Value> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut finished = self.meet(root, conditional, holder, &mut stack)?;
        let mut poll = Poll::default();
        loop {
            poll.step_outside()?;
            let Some(frame) = stack.last_mut() else {
                return Ok(finished.unwrap_or_else(|| root.clone()));
            };
            frame.done.extend(finished.take());
            let next = frame.done.len();
            if let Some(operand) = frame.operands.exprs.get(next).cloned() {
                let field = frame.operands.field(next);
                let facts = self.facts.of(&frame.expr)?;
                let sometimes = facts.is_some_and(|facts| facts.is_conditional(field));
                let conditional = frame.conditional || sometimes;
                finished = self.meet(&operand, conditional, None, &mut stack)?;
            } else if let Some(frame) = stack.pop() {
                finished = Some(self.leave(frame)?);
            }
        }
    }

    fn meet(
        &mut self,
        expr: &Value,
        conditional: bool,
        holder: Option<Value>,
        stack: &mut Vec<Frame>,
    ) -> Result<Option<Value>> {
        let ident = expr.as_object().map_or(0, |object| object.identity());
        if self.facts.is_var(expr)? {
            self.number(expr)?;
            return Ok(Some(self.renamed.get(&ident).unwrap_or(expr).clone()));
        }
        let number = self.number(expr)?;
        let is_computed = self.facts.form(expr)? == Some(Form::Computation);
        let mut new_entry = None;
        let mut conditional = conditional;
        if let Some(number) = number.filter(|_| is_computed) {
            if let Some(&index) = self.available.get(&number) {
                let entry = &mut self.entries[index];
                entry.needed = true;
                return Ok(Some(entry.holder.clone().unwrap_or_else(|| expr.clone())));
            }
            // A variable before the statement serves the whole statement.
            conditional = conditional && !self.is_certain(number)?;
            // Without a variable, no later expression can read the value.
            let facts = self.facts.of(expr)?;
            let can_hold =
                holder.is_some() || facts.is_some_and(|facts| facts.new_binding.is_some());
            if !conditional && can_hold {
                let entry = self.next_entry;
                self.next_entry += 1;
                if !self.replacing {
                    self.entries.push(Entry::default());
                }
                self.entries[entry].holder = holder.filter(|_| self.replacing);
                self.available.insert(number, entry);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.available.push(number);
                }
                new_entry = Some(entry);
            }
        }
        if new_entry.is_none()
            && let Some(seen) = self.seen.get(&ident)
            && seen.is_repeated
            && (conditional || !seen.sometimes)
        {
            return Ok(Some(seen.result.clone()));
        }
        let operands = Operands::of(expr, self.facts)?;
        if operands.exprs.is_empty() && new_entry.is_none() {
            return Ok(Some(expr.clone()));
        }
        stack.push(Frame {
            operands,
            done: Vec::new(),
            entry: new_entry,
            conditional,
            expr: expr.clone(),
        });
        Ok(None)
    }

    /// True if the current statement is certain to compute a value.
    fn is_certain(&mut self, number: Number) -> Result<bool> {
        if let Some(certain) = &self.certain {
            return Ok(certain.contains(&number));
        }
        let mut certain = HashSet::default();
        let mut seen = Idents::default();
        let mut stack = self.roots.clone();
        let mut poll = Poll::default();
        while let Some(expr) = stack.pop() {
            poll.step_outside()?;
            let ident = expr.as_object().map_or(0, |object| object.identity());
            if self.facts.is_var(&expr)? || !seen.insert(ident) {
                continue;
            }
            if self.facts.form(&expr)? == Some(Form::Computation)
                && let Some(number) = self.number(&expr)?
            {
                let entry = self.available.get(&number);
                if entry.is_some_and(|entry| *entry < self.known_before) {
                    continue;
                }
                certain.insert(number);
            }
            let operands = Operands::of(&expr, self.facts)?;
            let facts = self.facts.of(&expr)?;
            for (position, operand) in operands.exprs.iter().enumerate() {
                let field = operands.field(position);
                if !facts
                    .as_ref()
                    .is_some_and(|facts| facts.is_conditional(field))
                {
                    stack.push(operand.clone());
                }
            }
        }
        let is_certain = certain.contains(&number);
        self.certain = Some(certain);
        Ok(is_certain)
    }

    fn leave(&mut self, frame: Frame) -> Result<Value> {
        let changes = frame.operands.changes(&frame.done)?;
        let result = frame.operands.children.replace(changes)?;
        let Some(index) = frame.entry else {
            let ident = frame.expr.as_object().map_or(0, |object| object.identity());
            let before = self.seen.get(&ident);
            let is_repeated = before.is_some_and(|seen| frame.conditional || !seen.sometimes);
            let seen = ProcessedExpr {
                result: result.clone(),
                sometimes: frame.conditional && before.is_none_or(|seen| seen.sometimes),
                is_repeated,
            };
            self.seen.insert(ident, seen);
            return Ok(result);
        };
        let entry = &self.entries[index];
        if !self.replacing || !entry.needed || entry.holder.is_some() {
            return Ok(result);
        }
        let facts = self.facts.of(&frame.expr)?;
        let Some(bind) = facts.and_then(|facts| facts.new_binding.clone()) else {
            return Ok(result);
        };
        let stmt = bind.call(&[result.clone(), self.made.into()])?;
        self.made += 1;
        let binding = self.facts.binding(&stmt)?;
        let var = match binding {
            Some(binding) => {
                let operands = Operands::of(&stmt, self.facts)?;
                self.variable(&operands, binding)?
            }
            None => None,
        };
        let Some(var) = var else {
            return Err(Error::type_error(format!(
                "attribute '{}' of type {}: expected its function to return a statement that \
                 binds a variable, got {}",
                super::facts::NEW_BINDING,
                result.type_name(),
                stmt.type_name()
            )));
        };
        self.before.push(stmt);
        self.entries[index].holder = Some(var.clone());
        Ok(var)
    }

    /// The number of the value of an expression; None if evaluations may differ.
    fn number(&mut self, root: &Value) -> Result<Option<Number>> {
        let mut stack = vec![(root.clone(), None::<Operands>)];
        let mut poll = Poll::default();
        while let Some((expr, operands)) = stack.pop() {
            poll.step_outside()?;
            let ident = expr.as_object().map_or(0, |object| object.identity());
            if let Some(operands) = operands {
                let number = self.combine(&expr, &operands)?;
                self.numbers.insert(ident, number);
                self.numbered.push(ident);
            } else if self.ended_vars.contains(&ident) {
                self.early.insert(ident);
            } else if self.numbers.contains_key(&ident) {
            } else if self.vars.reassigned.contains(&ident) {
                self.numbers.insert(ident, None);
            } else if self.facts.is_var(&expr)? {
                let number = self.numbering.fresh();
                self.numbers.insert(ident, Some(number));
            } else if !self.facts.is_repeatable(&expr)? {
                self.numbers.insert(ident, None);
            } else {
                let operands = Operands::of(&expr, self.facts)?;
                if operands.defines || !operands.bodies.is_empty() {
                    self.numbers.insert(ident, None);
                    continue;
                }
                let below = operands.exprs.clone();
                stack.push((expr, Some(operands)));
                stack.extend(below.into_iter().map(|operand| (operand, None)));
            }
        }
        let ident = root.as_object().map_or(0, |object| object.identity());
        Ok(self.numbers.get(&ident).copied().flatten())
    }

    fn combine(&mut self, expr: &Value, operands: &Operands) -> Result<Option<Number>> {
        let mut shape = Shape {
            head: expr
                .as_object()
                .map_or(0, |object| u64::from(object.type_info().index().get())),
            ..Shape::default()
        };
        let mut field = None;
        for (position, operand) in operands.exprs.iter().enumerate() {
            let ident = operand.as_object().map_or(0, |object| object.identity());
            let Some(Some(number)) = self.numbers.get(&ident) else {
                return Ok(None);
            };
            let place = operands.place(position);
            let here = place.map(|place| place.0);
            if place.is_some_and(|place| place.1.is_some()) && here != field {
                shape.operands.push(ITEMS);
            }
            field = here;
            shape.operands.push(*number);
        }
        for (field, value) in &operands.data {
            shape.operands.extend([DATA, *field as Number]);
            shape.data.push(value.clone());
        }
        self.numbering.number(shape).map(Some)
    }
}
