//! The begin and the end of the parts of a function.

use super::frame::{Frame, Kind, Scope, placed};
use super::ir_builder::IRBuilder;
use crate::arguments::Extent;
use crate::scopes::{make_cluster, make_hierarchy, make_in_core, make_runtime, make_spmd};
use crate::{Expr, ForStmt, Function, IfStmt, IterArg, ScopeStmt, Span, Stmt, Var, WhileStmt};
use isoform::types::{IntoField, NodeEnum};
use isoform::{Error, Ref, Result};

impl IRBuilder {
    fn begin(&mut self, kind: Kind) -> Result<()> {
        let is_function = matches!(kind, Kind::Function { .. });
        if is_function != self.frames.is_empty() {
            let name = kind.name();
            return Err(match self.frames.last() {
                Some(frame) => frame.misuse(name, "nothing"),
                None => Error::value_error(format!(
                    "{name}: expected a function to be open, got nothing open"
                )),
            });
        }
        let span = self.span.clone();
        self.frames.push(Frame {
            kind,
            stmts: Vec::new(),
            span,
        });
        Ok(())
    }

    /// Closes the innermost open part, after checking its kind.
    fn end(&mut self, wanted: &str, is_wanted: impl Fn(&Kind) -> bool) -> Result<Frame> {
        let what = format!("end of {wanted}");
        match self.frames.pop() {
            Some(frame) if is_wanted(&frame.kind) => Ok(frame),
            Some(frame) => {
                let error = frame.misuse(&what, &format!("a {wanted}"));
                self.frames.push(frame);
                Err(error)
            }
            None => Err(Error::value_error(format!(
                "{what}: expected a {wanted} to be open, got nothing open"
            ))),
        }
    }

    /// Begins a function from a plan without parameters, results and body.
    ///
    /// # Errors
    ///
    /// `ValueError` if something is open.
    pub fn begin_function(&mut self, plan: Ref<Function>) -> Result<()> {
        self.begin(Kind::Function {
            plan,
            params: Vec::new(),
            return_types: Vec::new(),
        })
    }

    /// Ends the open function.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a function.
    pub fn end_function(&mut self) -> Result<Ref<Function>> {
        let mut frame = self.end("function", |kind| matches!(kind, Kind::Function { .. }))?;
        let body = frame.body();
        let Kind::Function {
            plan,
            params,
            return_types,
        } = frame.kind
        else {
            return Err(Error::value_error("end of function: expected a function"));
        };
        let (params, directions): (Vec<_>, Vec<_>) = params.into_iter().unzip();
        let directions: Vec<_> = directions.into_iter().map(NodeEnum::object).collect();
        let function = plan
            .with_params(params)
            .with_param_directions(directions)
            .with_return_types(return_types)
            .with_body(body);
        self.declare(&function);
        match frame.span {
            None => Ok(function),
            Some(span) => {
                isoform::objects::with_field(function.as_object(), "span", (&span).into())?.cast()
            }
        }
    }

    /// Begins a loop over numbers, given as a plan without body and carried values.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function.
    pub fn begin_for(&mut self, plan: Ref<ForStmt>) -> Result<()> {
        self.begin(Kind::For {
            plan,
            args: Vec::new(),
            results: Vec::new(),
        })
    }

    /// Begins a loop with a condition; the condition may come later.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function.
    pub fn begin_while(&mut self, condition: Option<Ref<Expr>>) -> Result<()> {
        self.begin(Kind::While {
            condition,
            args: Vec::new(),
            results: Vec::new(),
        })
    }

    /// Ends the open loop, and adds the loop to the enclosing part.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a loop, if the numbers of
    /// carried values and results of the loop differ, or if it has no condition.
    pub fn end_loop(&mut self) -> Result<Ref<Stmt>> {
        let is_loop = |kind: &Kind| matches!(kind, Kind::For { .. } | Kind::While { .. });
        let mut frame = self.end("loop", is_loop)?;
        let body = frame.body();
        let counted = |args: &[Ref<IterArg>], results: &[Ref<Var>]| match args.len() {
            count if count == results.len() => Ok(()),
            count => Err(Error::value_error(format!(
                "end of loop: expected {count} return_var, as many as there are iter_arg, got {}",
                results.len()
            ))),
        };
        let stmt: Ref<Stmt> = match frame.kind {
            Kind::For {
                plan,
                args,
                results,
            } => {
                counted(&args, &results)?;
                let plan = plan.with_iter_args(args).with_return_vars(results);
                plan.with_body(body).upcast()
            }
            Kind::While {
                condition,
                args,
                results,
            } => {
                counted(&args, &results)?;
                let Some(condition) = condition else {
                    return Err(Error::value_error(
                        "end of loop: expected a condition of the while loop, got none",
                    ));
                };
                WhileStmt::new(condition, args, body, results).upcast()
            }
            _ => return Err(Error::value_error("end of loop: expected a loop")),
        };
        self.finish(stmt, frame.span.as_ref())
    }

    /// Begins the first branch of an `if`.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function.
    pub fn begin_if(&mut self, condition: impl IntoField<Ref<Expr>>) -> Result<()> {
        let condition = condition.into_field();
        self.begin(Kind::If {
            condition,
            then_body: None,
            results: Vec::new(),
        })
    }

    /// Begins the other branch of the open `if`.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not an `if`, or if its other branch
    /// is already open.
    pub fn begin_else(&mut self) -> Result<()> {
        let frame = self.innermost("else", "an if")?;
        let body = match &frame.kind {
            Kind::If {
                then_body: None, ..
            } => frame.body(),
            Kind::If { .. } => {
                return Err(Error::value_error(
                    "else: expected one for each if, got two",
                ));
            }
            _ => return Err(frame.misuse("else", "an if")),
        };
        if let Kind::If { then_body, .. } = &mut frame.kind {
            *then_body = Some(body);
        }
        Ok(())
    }

    /// Ends the open `if`, and adds the statement to the enclosing part.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not an `if`.
    pub fn end_if(&mut self) -> Result<Ref<Stmt>> {
        let mut frame = self.end("if", |kind| matches!(kind, Kind::If { .. }))?;
        let body = frame.body();
        let Kind::If {
            condition,
            then_body,
            results,
        } = frame.kind
        else {
            return Err(Error::value_error("end of if: expected an if"));
        };
        let (then_body, else_body) = match then_body {
            Some(then_body) => (then_body, Some(body)),
            None => (body, None),
        };
        let stmt = IfStmt::new(condition, then_body, else_body, results);
        self.finish(stmt.upcast(), frame.span.as_ref())
    }

    /// Begins the body of a scope statement.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function.
    pub fn begin_scope(&mut self, scope: Scope) -> Result<()> {
        self.begin(Kind::Scope(scope))
    }

    /// Ends the open scope statement, and adds the statement to the enclosing part.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a scope statement.
    pub fn end_scope(&mut self) -> Result<Ref<Stmt>> {
        let mut frame = self.end("scope", |kind| matches!(kind, Kind::Scope(_)))?;
        let body = frame.body();
        let Kind::Scope(scope) = frame.kind else {
            return Err(Error::value_error("end of scope: expected a scope"));
        };
        let span = frame.span;
        let stmt: Ref<ScopeStmt> = match scope {
            Scope::InCore { split, name_hint } => {
                make_in_core(split.object(), name_hint, body, span).upcast()
            }
            Scope::Cluster { name_hint } => make_cluster(name_hint, body, span).upcast(),
            Scope::Hierarchy {
                level,
                role,
                name_hint,
            } => {
                let role = role.map(NodeEnum::object);
                make_hierarchy(level.object(), role, name_hint, body, span).upcast()
            }
            Scope::Spmd {
                core_num,
                sync_start,
                name_hint,
            } => {
                let core_num = Extent(core_num);
                make_spmd(core_num, sync_start, name_hint, body, span).upcast()
            }
            Scope::Runtime { manual, name_hint } => {
                make_runtime(manual, name_hint, body, span).upcast()
            }
        };
        self.finish(stmt.upcast(), None)
    }

    fn finish(&mut self, stmt: Ref<Stmt>, span: Option<&Ref<Span>>) -> Result<Ref<Stmt>> {
        let stmt = placed(stmt, span)?;
        self.emit(&stmt)?;
        Ok(stmt)
    }
}
