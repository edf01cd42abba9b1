//! The builder of functions from closures for their parts.

use super::frame::{Frame, Kind, Scope};
use crate::expr::{make_iter_arg, make_var};
use crate::*;
use hashbrown::HashMap;
use isoform::types::IntoField;
use isoform::{Array, Error, Ref, Result, Str};

/// Builds functions statement by statement.
///
/// Each part takes a closure that builds its contents; if the closure fails, the part is
/// left out, and so are the enclosing ones. Statements are not verified here, see
/// [`verify`](crate::verify()); only obvious mistakes, such as a `return`
/// outside of a function, are errors at once.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{Add, ConstInt, DataType, IRBuilder, ScalarType};
///
/// let int = ScalarType::new(DataType::Int64);
/// let [zero, one] = [0, 1].map(|n| ConstInt::new(n, DataType::Int64));
/// let mut ib = IRBuilder::new();
/// let function = ib.function("sum", |ib| {
///     let n = ib.param("n", &int)?;
///     ib.return_type(&int)?;
///     let total = ib.for_loop("i", &zero, &n, &one, |ib, i| {
///         let acc = ib.iter_arg("acc", &zero)?;
///         let total = ib.return_var("total", None)?;
///         let next = ib.let_("next", Add::new(&acc, i, DataType::Int64))?;
///         ib.emit_yield([next.upcast()])?;
///         Ok(total)
///     })?;
///     ib.emit_return([total.upcast()])
/// })?;
/// assert!(pto::verify(&function, &Default::default())?.is_empty());
/// assert_eq!(pto::python_print(&function)?, "\
/// @pl.function
/// def sum(n: pl.INT64) -> pl.INT64:
///     for i, (acc,) in pl.range(0, n, 1, init_values=(0,)):  # acc: pl.INT64
///         next: pl.INT64 = acc + i
///         total: pl.INT64 = pl.yield_(next)
///     return total
/// ");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Default)]
pub struct IRBuilder {
    pub(super) frames: Vec<Frame>,
    /// The source location of the following parts.
    pub(super) span: Option<Ref<Span>>,
    /// The types of the results of known functions, by name.
    pub(super) declared: HashMap<Str, Array<Ref<Type>>>,
}

impl std::fmt::Debug for IRBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let open: Vec<_> = self.frames.iter().map(|frame| frame.kind.name()).collect();
        f.debug_struct("IRBuilder")
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

impl IRBuilder {
    /// Makes a builder without open parts.
    pub fn new() -> Self {
        IRBuilder::default()
    }

    /// Sets the source location of the following parts; None if unknown.
    pub fn at(&mut self, span: Option<Ref<Span>>) -> &mut Self {
        self.span = span;
        self
    }

    /// Builds a function; the closure also adds its parameters and results.
    ///
    /// # Errors
    ///
    /// `ValueError` if a part is open; errors of the closure.
    pub fn function<R>(
        &mut self,
        name: impl Into<Str>,
        build: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<Ref<Function>> {
        self.begin_function(Function::new(name, [], [], SeqStmts::new([])))?;
        self.within(build)?;
        self.end_function()
    }

    /// Builds a loop over numbers. The closure gets the loop variable with the type of
    /// `start`, and may make the loop carry values, by [`iter_arg`](Self::iter_arg) and
    /// [`return_var`](Self::return_var). The result is that of the closure.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function, and for different numbers of carried values
    /// and results; errors of the closure.
    pub fn for_loop<R>(
        &mut self,
        name: impl Into<Str>,
        start: impl IntoField<Ref<Expr>>,
        stop: impl IntoField<Ref<Expr>>,
        step: impl IntoField<Ref<Expr>>,
        build: impl FnOnce(&mut Self, &Ref<Var>) -> Result<R>,
    ) -> Result<R> {
        let start = start.into_field();
        let var = Var::new(name, &start.ty);
        let body = SeqStmts::new([]);
        self.begin_for(ForStmt::new(
            &var,
            start,
            stop.into_field(),
            step.into_field(),
            body,
        ))?;
        let result = self.within(|ib| build(ib, &var))?;
        self.end_loop()?;
        Ok(result)
    }

    /// Builds a loop with a condition. The closure sets the condition with
    /// [`while_condition`](Self::while_condition), after defining the values used in
    /// the condition.
    ///
    /// # Errors
    ///
    /// Errors of [`for_loop`](Self::for_loop), and `ValueError` without a condition.
    pub fn while_loop<R>(&mut self, build: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        self.begin_while(None)?;
        let result = self.within(build)?;
        self.end_loop()?;
        Ok(result)
    }

    /// Builds two branches; the second closure is called for the other branch.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function; errors of the closures.
    pub fn if_else<R>(
        &mut self,
        condition: impl IntoField<Ref<Expr>>,
        then_body: impl FnOnce(&mut Self) -> Result<R>,
        else_body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<R> {
        self.begin_if(condition)?;
        let result = self.within(then_body)?;
        self.begin_else()?;
        self.within(else_body)?;
        self.end_if()?;
        Ok(result)
    }

    /// Builds the statement for the case that a condition holds.
    ///
    /// # Errors
    ///
    /// Errors of [`if_else`](Self::if_else).
    pub fn if_then<R>(
        &mut self,
        condition: impl IntoField<Ref<Expr>>,
        body: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        self.begin_if(condition)?;
        let result = self.within(body)?;
        self.end_if()?;
        Ok(result)
    }

    /// Builds the body of a scope statement.
    ///
    /// # Errors
    ///
    /// `ValueError` outside of a function; errors of the closure.
    pub fn scope<R>(
        &mut self,
        scope: Scope,
        build: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        self.begin_scope(scope)?;
        let result = self.within(build)?;
        self.end_scope()?;
        Ok(result)
    }

    /// Runs a closure in the part that was just begun, and drops the part if the
    /// closure fails.
    fn within<R>(&mut self, build: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let depth = self.frames.len();
        let result = build(self);
        if result.is_err() {
            self.abort(depth.saturating_sub(1));
        }
        result
    }

    /// Returns the number of open parts.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Drops unfinished parts, down to the given number of open parts.
    pub fn abort(&mut self, depth: usize) {
        self.frames.truncate(depth);
    }

    /// True if a function is open.
    pub fn in_function(&self) -> bool {
        self.frames
            .iter()
            .any(|frame| matches!(frame.kind, Kind::Function { .. }))
    }

    /// True if a loop is open.
    pub fn in_loop(&self) -> bool {
        let is_loop = |frame: &Frame| matches!(frame.kind, Kind::For { .. } | Kind::While { .. });
        self.frames.iter().any(is_loop)
    }

    /// True if a branch is open.
    pub fn in_if(&self) -> bool {
        self.frames
            .iter()
            .any(|frame| matches!(frame.kind, Kind::If { .. }))
    }

    /// Adds an input parameter to the open function.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a function.
    pub fn param(
        &mut self,
        name: impl Into<Str>,
        ty: impl IntoField<Ref<Type>>,
    ) -> Result<Ref<Var>> {
        self.param_with(name, ty, ParamDirection::In)
    }

    /// Adds a parameter with this direction to the open function.
    ///
    /// # Errors
    ///
    /// As [`param`](Self::param).
    pub fn param_with(
        &mut self,
        name: impl Into<Str>,
        ty: impl IntoField<Ref<Type>>,
        direction: ParamDirection,
    ) -> Result<Ref<Var>> {
        let var = self.placed_var(name.into(), ty.into_field());
        match self.innermost("param", "a function")? {
            Frame {
                kind: Kind::Function { params, .. },
                ..
            } => {
                params.push((var.clone(), direction));
                Ok(var)
            }
            frame => Err(frame.misuse("param", "a function")),
        }
    }

    /// Adds the type of the next result of the open function.
    ///
    /// # Errors
    ///
    /// As [`param`](Self::param).
    pub fn return_type(&mut self, ty: impl IntoField<Ref<Type>>) -> Result<()> {
        match self.innermost("return_type", "a function")? {
            Frame {
                kind: Kind::Function { return_types, .. },
                ..
            } => {
                return_types.push(ty.into_field());
                Ok(())
            }
            frame => Err(frame.misuse("return_type", "a function")),
        }
    }

    /// A variable carried by the open loop, with the value in the first iteration; the
    /// variable has the type of the value.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a loop.
    pub fn iter_arg(
        &mut self,
        name: impl Into<Str>,
        init_value: impl IntoField<Ref<Expr>>,
    ) -> Result<Ref<IterArg>> {
        self.iter_arg_of(name.into(), init_value.into_field(), None)
    }

    /// A variable carried by the open loop, of a type; None for the type of the value.
    pub(super) fn iter_arg_of(
        &mut self,
        name: Str,
        init_value: Ref<Expr>,
        ty: Option<Ref<Type>>,
    ) -> Result<Ref<IterArg>> {
        let ty = ty.unwrap_or_else(|| init_value.ty.clone());
        let arg = make_iter_arg(name, ty, init_value, self.span.clone());
        match &mut self.innermost("iter_arg", "a loop")? {
            Frame {
                kind: Kind::For { args, .. } | Kind::While { args, .. },
                ..
            } => {
                args.push(arg.clone());
                Ok(arg)
            }
            frame => Err(frame.misuse("iter_arg", "a loop")),
        }
    }

    /// Adds a variable that receives a value yielded in the open loop or `if`. In a
    /// loop, the type defaults to the type of the carried variable.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is neither, or the type is unknown.
    pub fn return_var(&mut self, name: impl Into<Str>, ty: Option<Ref<Type>>) -> Result<Ref<Var>> {
        let frame = self.innermost("return_var", "a loop or an if")?;
        let (carried, count) = match &frame.kind {
            Kind::For { args, results, .. } | Kind::While { args, results, .. } => (
                args.get(results.len()).map(|arg| arg.ty.clone()),
                results.len(),
            ),
            Kind::If { results, .. } => (None, results.len()),
            _ => return Err(frame.misuse("return_var", "a loop or an if")),
        };
        let Some(ty) = ty.or(carried) else {
            return Err(Error::value_error(format!(
                "return_var: expected a type for result {count} of the {}, got none",
                frame.kind.name()
            )));
        };
        let var = self.placed_var(name.into(), ty);
        if let Kind::For { results, .. } | Kind::While { results, .. } | Kind::If { results, .. } =
            &mut self.innermost("return_var", "a loop or an if")?.kind
        {
            results.push(var.clone());
        }
        Ok(var)
    }

    /// Sets the condition of the open `while` loop.
    ///
    /// # Errors
    ///
    /// `ValueError` if the innermost open part is not a `while` loop.
    pub fn while_condition(&mut self, expr: impl IntoField<Ref<Expr>>) -> Result<()> {
        match self.innermost("while_condition", "a while loop")? {
            Frame {
                kind: Kind::While { condition, .. },
                ..
            } => {
                *condition = Some(expr.into_field());
                Ok(())
            }
            frame => Err(frame.misuse("while_condition", "a while loop")),
        }
    }

    pub(super) fn placed_var(&self, name: Str, ty: Ref<Type>) -> Ref<Var> {
        make_var(name, ty, self.span.clone())
    }

    pub(super) fn innermost(&mut self, what: &str, wanted: &str) -> Result<&mut Frame> {
        let nothing = || {
            Error::value_error(format!(
                "{what}: expected {wanted} to be open, got nothing open"
            ))
        };
        self.frames.last_mut().ok_or_else(nothing)
    }

    pub(super) fn outside(&self, what: &str, wanted: &str) -> Error {
        match self.frames.last() {
            Some(frame) => frame.misuse(what, wanted),
            None => Error::value_error(format!(
                "{what}: expected {wanted} to be open, got nothing open"
            )),
        }
    }
}
