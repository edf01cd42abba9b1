//! What statements demand of those around them.
//!
//! One pass over the statements in the order in which they run, with a stack of
//! its own. Expressions are looked through for variables and calls.

mod repeated;
mod uses;

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::scopes::Scopes;
use super::types::{compatible, shown};
use super::{Failure, VerifyOptions};
use crate::dialect::pto::visitor::definitions_of;
use crate::dialect::pto::*;
use crate::kernel::container::{Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::Ref;
use crate::kernel::path::places::{Place, Places, Step};
use crate::kernel::types::RegionKind;
use crate::kernel::value::{Value, ValueRef};
use crate::traverse::{ChildOptions, WalkOptions, WalkResult, children_of, walk_objects};
use repeated::{Record, Summary, repeated};

/// Everything that is wrong with how the statements of a value go together.
pub(super) fn failures(root: &Value, options: &VerifyOptions) -> Result<Vec<Failure>> {
    let Some(object) = root.as_object() else {
        return Ok(Vec::new());
    };
    let mut checker = Checker {
        options,
        places: Places::default(),
        scopes: Scopes::default(),
        tasks: Vec::new(),
        failures: Vec::new(),
        program: None,
        function: None,
        locals: None,
        loops: 0,
        diverged: false,
        bodies: Vec::new(),
        branches: Vec::new(),
        clean: HashMap::new(),
        records: Vec::new(),
        uses: Vec::new(),
        definitions: Vec::new(),
        repeated: repeated(object),
        summaries: HashMap::new(),
    };
    if let Some(program) = object.downcast_ref::<Program>() {
        checker.program = Some(program.clone());
        let functions = checker.places.field(Places::ROOT, "functions");
        for (name, function) in program.functions.iter() {
            let place = checker
                .places
                .below(functions, Step::Key(name.clone().into()));
            checker.run(Task::Function(function.clone(), place))?;
        }
    } else if let Some(function) = object.downcast_ref::<Function>() {
        checker.run(Task::Function(function.clone(), Places::ROOT))?;
    } else if let Some(stmt) = object.downcast_ref::<Stmt>() {
        checker.locals = Some(defined_in(stmt)?);
        checker.run(Task::Stmt(stmt.clone(), Places::ROOT, false))?;
    }
    Ok(checker.failures)
}

/// The variables that something in a statement defines.
fn defined_in(stmt: &Ref<Stmt>) -> Result<HashSet<u64>> {
    let mut found = HashSet::new();
    // A walk meets an object once, so that a definition may be met as a use.
    walk_objects(stmt, WalkOptions::default(), |object, _| {
        let vars = definitions_of(object)?;
        found.extend(vars.iter().map(Ref::identity));
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// What is still to be checked.
enum Task {
    Function(Ref<Function>, Place),
    EndFunction(Ref<Function>, Place),
    /// A statement, and whether it is the end of a body that may yield.
    Stmt(Ref<Stmt>, Place, bool),
    /// An expression, and the place of the statement in the source text.
    Use(Ref<Expr>, Place, Ref<Span>),
    /// What is said about a loop or function, in the same way.
    Attrs(Map<Str, Value>, Place, Ref<Span>),
    Define(Ref<Var>, Place, Ref<Span>),
    Start(Body),
    EndThen,
    EndElse,
    NoElse,
    EndLoop,
    EndRecord(u64),
}

/// A body that may end with a yield.
struct Body {
    /// What is to be yielded.
    types: Rc<[Ref<Type>]>,
    place: Place,
    span: Ref<Span>,
    is_loop: bool,
    yielded: bool,
    /// What was so in front of it.
    mark: usize,
    diverged: bool,
}

struct Checker<'a> {
    options: &'a VerifyOptions,
    places: Places,
    scopes: Scopes,
    /// What is to be checked, the next thing last.
    tasks: Vec<Task>,
    failures: Vec<Failure>,
    program: Option<Ref<Program>>,
    function: Option<Ref<Function>>,
    /// Without a function around it: the variables that must be defined, which
    /// are those that something defines.
    locals: Option<HashSet<u64>>,
    loops: usize,
    /// Whether what follows is never reached.
    diverged: bool,
    bodies: Vec<Body>,
    /// For each `if` whose `else` is being checked: which variables the other
    /// branch gave values, and whether it diverged.
    branches: Vec<(Vec<u64>, bool)>,
    /// Shared expressions in which all variables had values, and when.
    clean: HashMap<u64, u64>,
    records: Vec<Record>,
    uses: Vec<Ref<Var>>,
    definitions: Vec<Ref<Var>>,
    /// The statements with others in them that stand at several places.
    repeated: HashSet<u64>,
    summaries: HashMap<u64, Rc<Summary>>,
}

impl Checker<'_> {
    fn run(&mut self, task: Task) -> Result<()> {
        self.tasks.push(task);
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Function(function, place) => self.start_function(&function, place),
                Task::EndFunction(function, place) => self.end_function(&function, place),
                Task::Stmt(stmt, place, tail) => self.stmt(&stmt, place, tail),
                Task::Use(expr, place, span) => self.use_(&expr, place, &span)?,
                Task::Attrs(attrs, place, span) => self.attrs(&attrs, place, &span)?,
                Task::Define(var, place, span) => self.define(&var, place, &span),
                Task::Start(body) => self.start(body),
                Task::EndThen => self.end_then(),
                Task::EndElse => self.end_else(),
                Task::NoElse => drop(self.branches.pop()),
                Task::EndLoop => {
                    let body = self.end_body();
                    self.loops -= 1;
                    self.scopes.leave(body.mark);
                    self.diverged = body.diverged;
                }
                Task::EndRecord(ident) => self.end_record(ident),
            }
        }
        Ok(())
    }

    /// Has tasks done next, in this order.
    fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn fail(&mut self, place: Place, span: &Ref<Span>, error: Error) {
        let (path, span) = (self.places.path(place), span.clone());
        self.failures.push(Failure { path, span, error });
    }

    fn start_function(&mut self, function: &Ref<Function>, place: Place) {
        self.scopes.clear();
        self.summaries.clear();
        self.clean.clear();
        self.diverged = false;
        self.function = Some(function.clone());
        let params = self.places.field(place, "params");
        let mut tasks = Vec::new();
        for (position, param) in function.params.iter().enumerate() {
            let place = self.places.item(params, position);
            tasks.push(Task::Define(param.clone(), place, function.span.clone()));
        }
        let attrs = self.places.field(place, "attrs");
        let span = function.span.clone();
        tasks.push(Task::Attrs(function.attrs.clone(), attrs, span));
        let body = self.places.field(place, "body");
        tasks.push(Task::Stmt(function.body.clone(), body, false));
        tasks.push(Task::EndFunction(function.clone(), place));
        self.then(tasks);
    }

    fn end_function(&mut self, function: &Ref<Function>, place: Place) {
        let expected = function.return_types.len();
        if !self.diverged && expected > 0 {
            let place = self.places.field(place, "body");
            let text = format!(
                "function '{}': expected a return of {expected} values at the end, got none",
                function.name
            );
            self.fail(place, &function.span, Error::value_error(text));
        }
        self.function = None;
    }

    fn stmt(&mut self, stmt: &Ref<Stmt>, place: Place, tail: bool) {
        let ident = stmt.identity();
        if self.repeated.contains(&ident) {
            if let Some(summary) = self.summaries.get(&ident) {
                let summary = Rc::clone(summary);
                return self.replay(&summary, stmt, place, tail);
            }
            self.begin_record(ident);
        }
        let tasks = self.parts(stmt, place, tail);
        self.then(tasks);
    }

    /// What checking a statement consists of.
    fn parts(&mut self, stmt: &Ref<Stmt>, place: Place, tail: bool) -> Vec<Task> {
        let span = &stmt.span;
        if let Some(sequence) = stmt.downcast_ref::<SeqStmts>() {
            let above = self.places.field(place, "stmts");
            let last = sequence.stmts.len().wrapping_sub(1);
            let stmts = sequence.stmts.iter().enumerate();
            stmts
                .map(|(position, stmt)| {
                    let place = self.places.item(above, position);
                    Task::Stmt(stmt.clone(), place, tail && position == last)
                })
                .collect()
        } else if let Some(assign) = stmt.downcast_ref::<AssignStmt>() {
            let value = self.places.field(place, "value");
            let var = self.places.field(place, "var");
            if !compatible(&assign.var.ty, &assign.value.ty) {
                let (expected, got) = (shown(&assign.var.ty), shown(&assign.value.ty));
                let text = format!(
                    "variable '{}': expected a value of its type {expected}, got {got}",
                    assign.var.name_hint
                );
                self.fail(value, span, Error::type_error(text));
            }
            vec![
                Task::Use(assign.value.clone(), value, span.clone()),
                Task::Define(assign.var.clone(), var, span.clone()),
            ]
        } else if let Some(eval) = stmt.downcast_ref::<EvalStmt>() {
            let place = self.places.field(place, "expr");
            vec![Task::Use(eval.expr.clone(), place, span.clone())]
        } else if let Some(branch) = stmt.downcast_ref::<IfStmt>() {
            self.if_parts(branch, place)
        } else if let Some(each) = stmt.downcast_ref::<ForStmt>() {
            let mut tasks = Vec::new();
            for (name, bound) in [
                ("start", &each.start),
                ("stop", &each.stop),
                ("step", &each.step),
            ] {
                let place = self.places.field(place, name);
                tasks.push(Task::Use(bound.clone(), place, span.clone()));
            }
            let attrs = self.places.field(place, "attrs");
            tasks.push(Task::Attrs(each.attrs.clone(), attrs, span.clone()));
            let of_loop = self.places.field(place, "loop_var");
            let var = Task::Define(each.loop_var.clone(), of_loop, span.clone());
            let carried = (&each.iter_args, &each.return_vars);
            self.loop_parts(
                &mut tasks,
                stmt,
                place,
                vec![var],
                carried,
                (None, &each.body),
            );
            tasks
        } else if let Some(repeat) = stmt.downcast_ref::<WhileStmt>() {
            let mut tasks = Vec::new();
            let carried = (&repeat.iter_args, &repeat.return_vars);
            let condition = (Some(&repeat.condition), &repeat.body);
            self.loop_parts(&mut tasks, stmt, place, Vec::new(), carried, condition);
            tasks
        } else if let Some(yielded) = stmt.downcast_ref::<YieldStmt>() {
            self.yielded(yielded, place, tail);
            self.uses_of(&yielded.value, place, span)
        } else if let Some(returned) = stmt.downcast_ref::<ReturnStmt>() {
            self.returned(returned, place);
            self.diverged = true;
            self.uses_of(&returned.value, place, span)
        } else if stmt.isa::<BreakStmt>() || stmt.isa::<ContinueStmt>() {
            self.jump(self.loops, stmt, place);
            self.diverged = true;
            Vec::new()
        } else if let Some(scope) = stmt.downcast_ref::<ScopeStmt>() {
            let mut tasks = Vec::new();
            if let Some(spmd) = stmt.downcast_ref::<SpmdScopeStmt>() {
                let place = self.places.field(place, "core_num");
                tasks.push(Task::Use(spmd.core_num.clone(), place, span.clone()));
            }
            let body = self.places.field(place, "body");
            tasks.push(Task::Stmt(scope.body.clone(), body, tail));
            tasks
        } else {
            self.other_parts(stmt, place)
        }
    }

    /// What a statement of a class that users declare consists of: its fields.
    fn other_parts(&mut self, stmt: &Ref<Stmt>, place: Place) -> Vec<Task> {
        let mut tasks = Vec::new();
        let fields = children_of(&stmt.into(), ChildOptions::default());
        for field in fields.iter(RegionKind::Use) {
            let values = match field.value.view() {
                ValueRef::Array(items) => items.iter().cloned().collect(),
                _ => vec![field.value.clone()],
            };
            for value in values {
                if let Some(stmt) = value.peek::<Ref<Stmt>>() {
                    tasks.push(Task::Stmt(stmt.clone(), place, false));
                } else if let Some(var) = value.peek::<Ref<Var>>()
                    && field.region != RegionKind::Use
                {
                    tasks.push(Task::Define(var.clone(), place, stmt.span.clone()));
                } else if let Some(expr) = value.peek::<Ref<Expr>>() {
                    tasks.push(Task::Use(expr.clone(), place, stmt.span.clone()));
                }
            }
        }
        tasks
    }

    fn if_parts(&mut self, branch: &Ref<IfStmt>, place: Place) -> Vec<Task> {
        let span = &branch.span;
        let condition = self.places.field(place, "condition");
        let types: Rc<[_]> = branch
            .return_vars
            .iter()
            .map(|var| var.ty.clone())
            .collect();
        let then_body = self.places.field(place, "then_body");
        let mut tasks = vec![
            Task::Use(branch.condition.clone(), condition, span.clone()),
            Task::Start(self.body(&types, then_body, span, false)),
            Task::Stmt(branch.then_body.clone(), then_body, true),
            Task::EndThen,
        ];
        match &branch.else_body {
            Some(body) => {
                let place = self.places.field(place, "else_body");
                tasks.push(Task::Start(self.body(&types, place, span, false)));
                tasks.push(Task::Stmt(body.clone(), place, true));
                tasks.push(Task::EndElse);
            }
            None => tasks.push(Task::NoElse),
        }
        self.define_results(&mut tasks, &branch.return_vars, place, span);
        tasks
    }

    fn loop_parts(
        &mut self,
        tasks: &mut Vec<Task>,
        stmt: &Ref<Stmt>,
        place: Place,
        first: Vec<Task>,
        (iter_args, return_vars): (&crate::Array<Ref<IterArg>>, &crate::Array<Ref<Var>>),
        (condition, body): (Option<&Ref<Expr>>, &Ref<Stmt>),
    ) {
        let span = &stmt.span;
        let args = self.places.field(place, "iter_args");
        let mut definitions = first;
        for (position, arg) in iter_args.iter().enumerate() {
            let place = self.places.item(args, position);
            let init = self.places.field(place, "init_value");
            tasks.push(Task::Use(arg.init_value.clone(), init, span.clone()));
            definitions.push(Task::Define(arg.clone().upcast(), place, span.clone()));
        }
        let types: Rc<[_]> = iter_args.iter().map(|arg| arg.ty.clone()).collect();
        let of_body = self.places.field(place, "body");
        tasks.push(Task::Start(self.body(&types, of_body, span, true)));
        tasks.append(&mut definitions);
        if let Some(condition) = condition {
            let place = self.places.field(place, "condition");
            tasks.push(Task::Use(condition.clone(), place, span.clone()));
        }
        tasks.push(Task::Stmt(body.clone(), of_body, true));
        tasks.push(Task::EndLoop);
        self.define_results(tasks, return_vars, place, span);
    }

    fn define_results(
        &mut self,
        tasks: &mut Vec<Task>,
        vars: &crate::Array<Ref<Var>>,
        place: Place,
        span: &Ref<Span>,
    ) {
        let results = self.places.field(place, "return_vars");
        for (position, var) in vars.iter().enumerate() {
            let place = self.places.item(results, position);
            tasks.push(Task::Define(var.clone(), place, span.clone()));
        }
    }

    fn uses_of(
        &mut self,
        values: &crate::Array<Ref<Expr>>,
        place: Place,
        span: &Ref<Span>,
    ) -> Vec<Task> {
        let above = self.places.field(place, "value");
        let values = values.iter().enumerate();
        values
            .map(|(position, value)| {
                let place = self.places.item(above, position);
                Task::Use(value.clone(), place, span.clone())
            })
            .collect()
    }

    fn body(&self, types: &Rc<[Ref<Type>]>, place: Place, span: &Ref<Span>, is_loop: bool) -> Body {
        Body {
            types: Rc::clone(types),
            place,
            span: span.clone(),
            is_loop,
            yielded: false,
            mark: 0,
            diverged: false,
        }
    }

    fn start(&mut self, mut body: Body) {
        body.mark = self.scopes.mark();
        body.diverged = std::mem::take(&mut self.diverged);
        self.loops += usize::from(body.is_loop);
        self.bodies.push(body);
    }

    /// Leaves a body, which yields what is expected of it.
    fn end_body(&mut self) -> Body {
        let body = self.bodies.pop().unwrap_or_else(|| {
            let types: Rc<[Ref<Type>]> = Rc::new([]);
            self.body(&types, Places::ROOT, &Span::unknown(), false)
        });
        let expected = body.types.len();
        if expected > 0 && !body.yielded && !self.diverged {
            let text = format!("expected a yield of {expected} values at the end, got none");
            self.fail(body.place, &body.span, Error::value_error(text));
        }
        body
    }

    fn end_then(&mut self) {
        let body = self.end_body();
        let values = self.scopes.leave(body.mark);
        self.branches.push((values, self.diverged));
        self.diverged = body.diverged;
    }

    fn end_else(&mut self) {
        let body = self.end_body();
        let (values, then_diverged) = self.branches.pop().unwrap_or_default();
        let else_diverged = self.diverged;
        self.diverged = body.diverged || (then_diverged && else_diverged);
        if then_diverged {
            // Whoever comes here, comes through this branch.
            return;
        }
        let other = self.scopes.leave(body.mark);
        if else_diverged {
            values.into_iter().for_each(|var| self.scopes.assume(var));
            return;
        }
        let other: HashSet<u64> = other.into_iter().collect();
        let both = values.into_iter().filter(|var| other.contains(var));
        both.for_each(|var| self.scopes.assume(var));
    }

    fn yielded(&mut self, stmt: &Ref<YieldStmt>, place: Place, tail: bool) {
        let Some(body) = self.bodies.last_mut().filter(|_| tail) else {
            let text = "yield: expected at the end of the body of a loop or an if";
            return self.fail(place, &stmt.span, Error::value_error(text));
        };
        body.yielded = true;
        let types = Rc::clone(&body.types);
        let bodies = self.bodies.len();
        if let Some(record) = self.records.last_mut()
            && record.bodies == bodies
        {
            record.yielded = Some(stmt.clone());
        }
        self.values("yield", &stmt.value, &types, place, &stmt.span);
    }

    fn returned(&mut self, stmt: &Ref<ReturnStmt>, place: Place) {
        let Some(function) = &self.function else {
            return;
        };
        let types: Vec<_> = function.return_types.iter().cloned().collect();
        self.values("return", &stmt.value, &types, place, &stmt.span);
    }

    /// Values have the number and types that are expected.
    fn values(
        &mut self,
        what: &str,
        values: &crate::Array<Ref<Expr>>,
        types: &[Ref<Type>],
        place: Place,
        span: &Ref<Span>,
    ) {
        if values.len() != types.len() {
            let (expected, got) = (types.len(), values.len());
            let text = format!("{what}: expected {expected} values, got {got}");
            return self.fail(place, span, Error::value_error(text));
        }
        for (position, (value, ty)) in values.iter().zip(types).enumerate() {
            if !compatible(ty, &value.ty) {
                let (expected, got) = (shown(ty), shown(&value.ty));
                let text = format!("{what}: expected type {expected}, got {got}");
                let above = self.places.field(place, "value");
                let place = self.places.item(above, position);
                self.fail(place, span, Error::type_error(text));
            }
        }
    }

    fn jump(&mut self, loops: usize, stmt: &Ref<Stmt>, place: Place) {
        if loops == 0 {
            let name = match stmt.type_info().key() {
                "pto.BreakStmt" => "break",
                "pto.ContinueStmt" => "continue",
                _ => "break or continue",
            };
            let text = format!("{name}: expected in a loop");
            self.fail(place, &stmt.span, Error::value_error(text));
        }
        if let Some(record) = self.records.last_mut() {
            record.jump = record.jump.min(loops);
        }
    }

    fn define(&mut self, var: &Ref<Var>, place: Place, span: &Ref<Span>) {
        self.assume_sizes(&var.ty);
        if !self.records.is_empty() {
            self.definitions.push(var.clone());
        }
        let before = self.scopes.define(var.identity(), place, &self.places);
        if let Some(before) = before
            && !self.options.allow_redefinition
        {
            let text = format!(
                "variable '{}' is defined again, after {}",
                var.name_hint,
                self.places.path(before)
            );
            self.fail(place, span, Error::value_error(text));
        }
    }
}
