//! The pass over the statements in execution order: the parts and definitions of each
//! statement.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::super::failure::{Failure, VerifyOptions};
use super::super::scopes::Scopes;
use super::super::types::{compatible, shown};
use super::repeated::repeated;
use super::state::{Checker, Task};
use crate::visitor::definitions_of;
use crate::*;
use isoform::host::{Place, Places, Step};
use isoform::traverse::{WalkResult, children_of, walk_objects};
use isoform::types::RegionKind;
use isoform::{Error, Ref, Result, Value};

/// Returns all errors in the interaction of a value's statements.
pub(in crate::verifier) fn failures(root: &Value, options: &VerifyOptions) -> Result<Vec<Failure>> {
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

/// The variables defined in a statement.
fn defined_in(stmt: &Ref<Stmt>) -> Result<HashSet<u64>> {
    let mut found = HashSet::new();
    // A walk visits an object once, so the visit of a definition may look like a use.
    walk_objects(stmt, |object, _| {
        let vars = definitions_of(object)?;
        found.extend(vars.iter().map(Ref::identity));
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

impl Checker<'_> {
    fn run(&mut self, task: Task) -> Result<()> {
        self.tasks.push(task);
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Function(function, place) => self.start_function(&function, place),
                Task::EndFunction(function, place) => self.end_function(&function, place),
                Task::Stmt(stmt, place, tail) => self.stmt(&stmt, place, tail),
                Task::Use(expr, place, span) => self.visit_use(&expr, place, &span)?,
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

    /// The steps for checking a statement.
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

    /// The parts of a statement of a user-defined class: its fields.
    fn other_parts(&mut self, stmt: &Ref<Stmt>, place: Place) -> Vec<Task> {
        let mut tasks = Vec::new();
        let fields = children_of(stmt);
        for field in fields.iter(RegionKind::Use) {
            let values = match field.value.as_array() {
                Some(items) => items.iter().cloned().collect(),
                None => vec![field.value.clone()],
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
        (iter_args, return_vars): (&isoform::Array<Ref<IterArg>>, &isoform::Array<Ref<Var>>),
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
        vars: &isoform::Array<Ref<Var>>,
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
        values: &isoform::Array<Ref<Expr>>,
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
