//! How a [`FunctionPass`] runs; constructors from Rust functions.

use super::cache::{Memo, NoProgram};
use super::context::PassContext;
use super::frames;
use super::info::PassInfo;
use super::memo;
use super::nodes::{FunctionPass, RunPass};
use super::registry::make_pass;
use super::root::{Root, are_same, check_names};
use super::run::run;
use crate::ir::{BaseFunc, IRModule};
use isoform::functions::Function;
use isoform::plumbing::table;
use isoform::types::{Schema, TypeIndex};
use isoform::{Error, Node, Obj, Ref, Result, Str, Value};

impl FunctionPass {
    /// Makes a pass from a function of a function, the program and the context. Functions
    /// of other classes than `F` are left alone.
    ///
    /// ```
    /// use isoform_ir::transform::PassRef;
    /// use isoform_ir::transform::{FunctionPass, PassContext, PassInfo};
    /// use isoform::{Node, Obj, Ref, Result};
    ///
    /// /// A function without a program: the pass runs on it alone.
    /// #[derive(Node)]
    /// #[node(key = "doc.function_pass.Fun")]
    /// #[repr(C)]
    /// struct Fun {
    ///     number: i64,
    /// }
    ///
    /// let next = FunctionPass::new(
    ///     &PassInfo::new(1, "Next"),
    ///     |fun: Ref<Fun>, _root: &Ref<Obj>, _ctx: &Ref<PassContext>| -> Result<Ref<Fun>> {
    ///         Ok(fun.with_number(fun.number + 1))
    ///     },
    /// );
    /// assert_eq!(next.run(&Fun::new(4))?.number, 5);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn new<F: Node, R: Node>(
        info: &Ref<PassInfo>,
        func: impl Fn(Ref<F>, &Ref<R>, &Ref<PassContext>) -> Result<Ref<F>> + Send + Sync + 'static,
    ) -> Ref<FunctionPass> {
        let func = Function::typed(
            move |function: Ref<F>, root: Ref<R>, ctx: Ref<PassContext>| {
                func(function, &root, &ctx)
            },
        )
        .with_parameters(&["function", "root", "ctx"])
        .named(&info.name);
        FunctionPass::of(info, func).with_function_class(F::TYPE_KEY)
    }

    /// Makes a pure pass from a function of a function and the context. The cache of
    /// the context may keep the results. The key of a result consists of the function,
    /// the options of the pass and the options of the context; captures of the Rust
    /// function are not recorded.
    ///
    /// For a pass that also reads the program, use [`new`](Self::new) with a memo that
    /// declares the reads.
    ///
    /// ```
    /// use isoform_ir::transform::PassRef;
    /// use isoform_ir::transform::{FunctionPass, Memo, PassContext, PassInfo};
    /// use isoform::{Node, Obj, Ref};
    ///
    /// #[derive(Node)]
    /// #[node(key = "doc.pure_pass.Fun")]
    /// #[repr(C)]
    /// struct Fun {
    ///     number: i64,
    /// }
    ///
    /// let double = FunctionPass::pure(
    ///     &PassInfo::new(1, "Double"),
    ///     Memo::new("1"),
    ///     |fun: Ref<Fun>, _ctx: &Ref<PassContext>| Ok(fun.with_number(2 * fun.number)),
    /// );
    /// assert_eq!(double.run(&Fun::new(4))?.number, 8);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn pure<F: Node>(
        info: &Ref<PassInfo>,
        memo: Ref<Memo>,
        func: impl Fn(Ref<F>, &Ref<PassContext>) -> Result<Ref<F>> + Send + Sync + 'static,
    ) -> Ref<FunctionPass> {
        let of_function =
            move |function: Ref<F>, _: &Ref<Obj>, ctx: &Ref<PassContext>| func(function, ctx);
        FunctionPass::new(info, of_function).with_memo(memo)
    }

    /// The program visible to the pass. A pure pass without declared reads gets a
    /// placeholder instead.
    fn seen(&self, root: &Ref<Obj>) -> Ref<Obj> {
        let reads_all = self.memo.as_ref().is_none_or(|memo| memo.reads.is_some());
        if reads_all || root.implements_nearest::<dyn Root>().is_none() {
            root.clone()
        } else {
            NoProgram::new(self.info.name.clone()).into_object()
        }
    }

    /// The class whose functions are transformed; None for all functions.
    fn class(&self) -> Result<Option<TypeIndex>> {
        if self.function_class.is_empty() {
            return Ok(None);
        }
        match table::find(&self.function_class) {
            Some(info) => Ok(Some(info.index())),
            None => Err(Error::type_error(format!(
                "transform.FunctionPass.function_class: expected the key of a class, got '{}', \
                 which is not registered",
                self.function_class
            ))),
        }
    }

    fn is_wanted(&self, class: Option<TypeIndex>, function: &Ref<Obj>) -> Result<bool> {
        if class.is_some_and(|class| !table::is_a(function.type_index(), class)) {
            return Ok(false);
        }
        match &self.filter {
            None => Ok(true),
            Some(filter) => {
                let answer = Schema::Bool.convert(filter.call(&[function.into()])?)?;
                Ok(answer.as_bool() == Some(true))
            }
        }
    }

    /// The functions changed by the pass.
    fn changes(
        &self,
        functions: &[(Str, Ref<Obj>)],
        root: &Ref<Obj>,
        ctx: &Ref<PassContext>,
    ) -> Result<Vec<(Str, Ref<Obj>)>> {
        let class = self.class()?;
        let run = match (&self.memo, &ctx.cache) {
            (Some(memo), Some(cache)) => {
                let settings = memo::Settings::of(self, memo, ctx)?;
                settings.map(|settings| memo::Run::new(memo, cache, settings, functions, root))
            }
            _ => None,
        };
        let seen = self.seen(root);
        let mut changed = Vec::new();
        for (position, (name, function)) in functions.iter().enumerate() {
            let compute = || {
                let arguments = [function.into(), Value::from(&seen), Value::from(ctx)];
                self.func.call(&arguments).map_err(no_program)
            };
            let result = match self.is_wanted(class, function) {
                Ok(false) => continue,
                Ok(true) => match &run {
                    Some(run) => {
                        let fits = |result: &Value| {
                            let result = checked(class, function, result);
                            result.is_ok_and(|result| may_belong(&result, root))
                        };
                        run.result(self, position, function, fits, compute)
                    }
                    None => compute(),
                },
                Err(error) => Err(error),
            };
            let result = result
                .and_then(|result| checked(class, function, &result))
                .map_err(|error| {
                    if name.is_empty() {
                        error
                    } else {
                        error.noted(format!("in function '{name}'"))
                    }
                })?;
            if !result.same_as(function) {
                changed.push((name.clone(), result));
            }
        }
        Ok(changed)
    }
}

/// Adds advice to the error of a function that takes a program but got a placeholder.
fn no_program(error: Error) -> Error {
    if error.message().contains(NoProgram::TYPE_KEY) {
        error.noted(
            "a pure pass sees the program only if it declares what it reads of it: give `reads`, \
             a function of the function and the program, whose result becomes part of the key",
        )
    } else {
        error
    }
}

/// The result of the pass for a function, checked to be a function.
fn checked(class: Option<TypeIndex>, function: &Ref<Obj>, result: &Value) -> Result<Ref<Obj>> {
    let fits =
        |object: &&Ref<Obj>| class.is_none_or(|class| table::is_a(object.type_index(), class));
    result.as_object().filter(fits).cloned().ok_or_else(|| {
        let expected = class.map_or(function.type_info(), table::info);
        Error::type_error(format!(
            "expected the new function, {}, got {}; a function pass returns a function, its \
             input if nothing changes",
            expected.key(),
            result.type_name()
        ))
    })
}

/// True if a program can have a function of this type.
fn may_belong(function: &Ref<Obj>, root: &Ref<Obj>) -> bool {
    !root.isa::<IRModule>() || function.isa::<BaseFunc>()
}

impl RunPass for FunctionPass {
    fn run_on(&self, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
        let mut result = match root.implements_nearest::<dyn Root>() {
            Some(seen) => {
                let functions = seen.functions()?;
                let changes = |program: &Ref<Obj>| -> Result<Vec<(Str, Ref<Obj>)>> {
                    let changed = self.changes(&functions, program, ctx)?;
                    if !changed.is_empty() {
                        check_names(root, &functions)?;
                    }
                    Ok(changed)
                };
                match seen.working_copy()? {
                    // Functions added to the copy by the pass are part of the result.
                    Some(copy) => {
                        frames::works_on(&copy);
                        let changed = changes(&copy)?;
                        let copied = copy.implements_nearest::<dyn Root>();
                        match copied {
                            Some(copied) if !changed.is_empty() => {
                                copied.with_functions(changed)?
                            }
                            _ if !are_same(&copy, root)? => copy,
                            _ => root.clone(),
                        }
                    }
                    None => match changes(root)? {
                        changed if changed.is_empty() => root.clone(),
                        changed => seen.with_functions(changed)?,
                    },
                }
            }
            None => {
                let alone = [(Str::default(), root.clone())];
                let changed = self.changes(&alone, root, ctx)?.pop();
                changed.map_or_else(|| root.clone(), |(_, changed)| changed)
            }
        };
        for name in self.after.iter() {
            let pass = make_pass(name, [])?;
            result = run(&pass, &result, ctx)?;
        }
        Ok(result)
    }
}
