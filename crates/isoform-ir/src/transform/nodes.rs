//! The node types of passes. The files with the names of the passes define how the
//! passes run.

use std::fmt;

use isoform::functions::Function;
use isoform::values::Dict;
use isoform::{Array, Node, Obj, Ref, Result, Str, Value, export};

use super::cache::Memo;
use super::context::PassContext;
use super::info::{PassInfo, make_info};

/// Runs a pass; every kind of pass implements this trait.
///
/// [`run`](super::PassRef::run) is the method to call: it also calls the instruments.
#[isoform::attrs::node_trait("transform.run_pass")]
pub trait RunPass {
    /// The transformed program; the same object without changes.
    fn run_on(&self, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>>;
}

/// A function from program to program.
///
/// The base of [`ModulePass`], [`FunctionPass`] and [`Sequential`]; another kind of
/// pass extends this type and implements [`RunPass`].
#[derive(Node)]
#[node(key = "transform.Pass", kind = none)]
#[repr(C)]
pub struct Pass {
    /// The name, and the conditions.
    pub info: Ref<PassInfo>,
    /// The options used to make the pass by name, for text and files.
    #[node(default, repr = false)]
    pub options: Dict<Str, Value>,
}

impl Pass {
    /// The fields of a pass made without a name.
    pub fn about(info: &Ref<PassInfo>) -> Pass {
        Pass {
            info: info.clone(),
            options: Dict::new(),
        }
    }
}

/// A pass over a whole program.
#[derive(Node)]
#[node(
    key = "transform.ModulePass", kind = none, init = make_module_pass, no_new,
    attrs(dyn RunPass)
)]
#[repr(C)]
pub struct ModulePass {
    #[node(base)]
    base: Pass,
    /// Called with the program and the context; returns the new program.
    pub func: Function,
}

impl ModulePass {
    /// The pass running a function of the core.
    pub fn of(info: &Ref<PassInfo>, func: Function) -> Ref<ModulePass> {
        Ref::new(ModulePass {
            base: Pass::about(info),
            func,
        })
    }
}

/// Makes a pass from a function of the program and the context.
#[export("transform.ModulePass")]
fn make_module_pass(func: Function, info: Ref<PassInfo>) -> Ref<ModulePass> {
    ModulePass::of(&info, func)
}

/// A pass over every function of a program.
///
/// Functions do not see each other's changes: the pass puts all changes into the
/// program together, at the end.
#[derive(Node)]
#[node(
    key = "transform.FunctionPass", kind = none, init = make_function_pass, no_new,
    attrs(dyn RunPass)
)]
#[repr(C)]
pub struct FunctionPass {
    #[node(base)]
    base: Pass,
    /// Called with a function, the program and the context; returns the new function.
    pub func: Function,
    /// The key of the class whose functions are transformed; all functions if empty.
    pub function_class: Str,
    /// Called with a function; returns false to leave the function alone.
    pub filter: Option<Function>,
    /// The names of passes to run on the result.
    pub after: Array<Str>,
    /// The declaration that a cache may keep results, if the pass is pure.
    pub memo: Option<Ref<Memo>>,
}

impl FunctionPass {
    /// The pass running a function of the core on functions of any class.
    pub fn of(info: &Ref<PassInfo>, func: Function) -> Ref<FunctionPass> {
        Ref::new(FunctionPass {
            base: Pass::about(info),
            func,
            function_class: Str::default(),
            filter: None,
            after: Array::new(),
            memo: None,
        })
    }
}

/// Makes a pass from a function of a function, the program and the context.
#[export("transform.FunctionPass")]
fn make_function_pass(
    func: Function,
    info: Ref<PassInfo>,
    #[default = ""] function_class: Str,
    filter: Option<Function>,
    #[default = Array::<Str>::new()] after: Array<Str>,
    memo: Option<Ref<Memo>>,
) -> Ref<FunctionPass> {
    Ref::new(FunctionPass {
        base: Pass::about(&info),
        func,
        function_class,
        filter,
        after,
        memo,
    })
}

/// A pass running a list of passes in order.
#[derive(Node)]
#[node(
    key = "transform.Sequential", kind = none, init = make_sequential, no_new,
    attrs(dyn RunPass)
)]
#[repr(C)]
pub struct Sequential {
    #[node(base)]
    base: Pass,
    /// The passes in order.
    pub passes: Array<Ref<Pass>>,
}

impl Sequential {
    /// The passes under the name `sequential`, enabled at every level.
    ///
    /// ```
    /// use isoform_ir::transform::{Sequential, make_pass};
    /// isoform_ir::transform::register()?;
    /// let twice = Sequential::new([make_pass("PrintIR", [])?, make_pass("PrintIR", [])?]);
    /// assert_eq!(twice.info.name, "sequential");
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn new(passes: impl IntoIterator<Item = Ref<Pass>>) -> Ref<Sequential> {
        Sequential::named(&PassInfo::new(0, SEQUENTIAL), passes)
    }

    /// The passes under another name, or with a level or requirements.
    pub fn named(
        info: &Ref<PassInfo>,
        passes: impl IntoIterator<Item = Ref<Pass>>,
    ) -> Ref<Sequential> {
        Ref::new(Sequential {
            base: Pass::about(info),
            passes: passes.into_iter().collect::<Vec<_>>().into(),
        })
    }
}

/// The default name of a sequence.
pub(super) const SEQUENTIAL: &str = "sequential";

/// Makes a pass that runs other passes.
#[export("transform.Sequential")]
fn make_sequential(
    #[default = Array::<Ref<Pass>>::new()] passes: Array<Ref<Pass>>,
    #[default = 0] opt_level: i64,
    #[default = SEQUENTIAL] name: Str,
    required: Option<Array<Str>>,
    #[default = false] traceable: bool,
) -> Result<Ref<Sequential>> {
    let info = make_info(opt_level, name, required, traceable, None)?;
    Ok(Sequential::named(&info, passes.iter().cloned()))
}

/// The text for people: the kind, name and level, and the passes of a sequence.
impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Module", &self.info)
    }
}

impl fmt::Display for ModulePass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Module", &self.info)
    }
}

impl fmt::Display for FunctionPass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Function", &self.info)
    }
}

impl fmt::Display for Sequential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, "Sequential", &self.info)?;
        f.write_str(". The passes will be executed are: [")?;
        let mut passes = self.passes.iter();
        passes.try_for_each(|pass| write!(f, "{} ", pass.info.name))?;
        f.write_str("]")
    }
}

fn describe(f: &mut fmt::Formatter<'_>, kind: &str, info: &PassInfo) -> fmt::Result {
    let PassInfo {
        name, opt_level, ..
    } = info;
    write!(
        f,
        "Run {kind} pass: {name} at the optimization level {opt_level}"
    )
}

/// The description of a pass for people.
#[export("passes.describe")]
fn described(pass: &Ref<Pass>) -> String {
    let sequence = pass
        .downcast_ref::<Sequential>()
        .map(|pass| pass.to_string());
    let function = || Some(pass.downcast_ref::<FunctionPass>()?.to_string());
    sequence
        .or_else(function)
        .unwrap_or_else(|| pass.to_string())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![described]
}
