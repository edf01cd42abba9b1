//! How a [`ModulePass`] runs; constructors from Rust functions.

use super::context::PassContext;
use super::info::PassInfo;
use super::nodes::{ModulePass, RunPass};
use super::root::has_functions;
use isoform::functions::Function;
use isoform::{Error, Node, Obj, Ref, Result};

impl ModulePass {
    /// Makes a pass from a function of the program and the context.
    ///
    /// ```
    /// use isoform_ir::transform::PassRef;
    /// use isoform_ir::ir::IRModule;
    /// use isoform_ir::transform::{ModulePass, PassContext, PassInfo};
    /// use isoform::{Node, Ref, Result, Str};
    ///
    /// /// A program of a single number.
    /// #[derive(Node)]
    /// #[node(key = "doc.module_pass.Program")]
    /// #[repr(C)]
    /// struct Program {
    ///     number: i64,
    /// }
    ///
    /// let double = ModulePass::new(
    ///     &PassInfo::new(1, "Double"),
    ///     |program: Ref<Program>, _ctx: &Ref<PassContext>| -> Result<Ref<Program>> {
    ///         Ok(program.with_number(2 * program.number))
    ///     },
    /// );
    /// assert_eq!(double.run(&Program::new(4))?.number, 8);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn new<R: Node>(
        info: &Ref<PassInfo>,
        func: impl Fn(Ref<R>, &Ref<PassContext>) -> Result<Ref<R>> + Send + Sync + 'static,
    ) -> Ref<ModulePass> {
        let func = Function::typed(move |root: Ref<R>, ctx: Ref<PassContext>| func(root, &ctx))
            .with_parameters(&["root", "ctx"])
            .named(&info.name);
        ModulePass::of(info, func)
    }
}

impl RunPass for ModulePass {
    fn run_on(&self, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
        let result = self.func.call(&[root.into(), ctx.into()])?;
        // A function in the place of a program of functions would be taken for a program
        // by the next pass.
        let is_program = |result: &&Ref<Obj>| has_functions(result) || !has_functions(root);
        let program = result.as_object().filter(is_program);
        program.cloned().ok_or_else(|| {
            Error::type_error(format!(
                "expected the new program, such as {}, got {}; a pass returns a program, its \
                 input if nothing changes",
                root.type_info().key(),
                result.type_name()
            ))
        })
    }
}
