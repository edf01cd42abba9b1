//! `Root`: the functions of a program, for passes over every function.

use crate::ir::module::IRModuleRef;
use std::sync::OnceLock;

use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Error, Obj, Ref, Result, Str, Value, export};

use crate::ir::{BaseFunc, GlobalVar, IRModule};

/// A program as a list of functions.
///
/// Types whose objects consist of functions implement this trait, for every
/// [`FunctionPass`](crate::transform::FunctionPass) to run on the functions. An object
/// of another type is its own only function. Derived types inherit the trait.
#[isoform::attrs::node_trait("transform.root")]
pub trait Root {
    /// The functions with their distinct names, in the order of passes.
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>>;

    /// The program with the functions of the given names replaced.
    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>>;

    /// An independent copy for passes that change the program in place; None if the
    /// objects of the program never change.
    fn working_copy(&self) -> Result<Option<Ref<Obj>>> {
        Ok(None)
    }

    /// The names of the functions used by a function, in order of occurrence. None if
    /// unknown: memoised passes then depend on the whole program.
    fn callees(&self, function: &Ref<Obj>) -> Result<Option<Vec<Str>>> {
        let _ = function;
        Ok(None)
    }
}

/// The type of a function, as visible to callers. Results of memoised passes for the
/// callers depend on this type, and not on the rest of the function.
#[isoform::attrs::node_trait("transform.signature")]
pub trait Signature {
    /// Any value with a digest.
    fn signature(&self) -> Result<Value>;
}

/// Writes a program, or a part of a program, as text for people, in place of the general
/// text of the library: where programs are shown, in mismatches, and in differences.
#[isoform::attrs::node_trait("transform.script")]
pub trait Script {
    /// The text.
    fn script(&self) -> Result<Str>;
}

/// Writes a module as text for people. The functions of a dialect implement this trait, so
/// that a module of such functions has the text of the dialect.
#[isoform::attrs::node_trait("transform.module_script")]
pub trait ModuleScript {
    /// The text of a module with this function.
    fn module_script(&self, module: &Ref<IRModule>) -> Result<Str>;
}

/// Checks a program, in addition to the verifiers of types.
#[isoform::attrs::node_trait("transform.check")]
pub trait Check {
    /// Fails with the first problem.
    fn check(&self) -> Result<()>;
}

/// The functions of a program. The program itself under an empty name if its type does
/// not implement [`Root`]. As expensive as [`Root::functions`].
///
/// # Errors
///
/// Errors of the implementation.
pub fn functions(root: &Ref<Obj>) -> Result<Vec<(Str, Ref<Obj>)>> {
    match root.implements_nearest::<dyn Root>() {
        Some(seen) => seen.functions(),
        None => Ok(vec![(Str::default(), root.clone())]),
    }
}

/// True for programs whose type implements [`Root`].
pub(super) fn has_functions(root: &Ref<Obj>) -> bool {
    root.implements_nearest::<dyn Root>().is_some()
}

/// The program with the functions of the given names replaced.
pub(super) fn with_functions(root: &Ref<Obj>, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
    match root.implements_nearest::<dyn Root>() {
        Some(seen) => seen.with_functions(changed),
        None => Err(Error::type_error(format!(
            "expected a program of functions, whose type implements transform.root, got {}",
            root.type_info().key()
        ))),
    }
}

/// A program or function as text for people: by [`Script`] if its type implements it, a
/// module by the [`ModuleScript`] of its first function that has one, otherwise as
/// [`to_text`](isoform::text::to_text).
///
/// # Errors
///
/// Errors of `to_text` and of the implementation.
pub fn script(object: &Ref<Obj>) -> Result<String> {
    match own_script(object)? {
        Some(text) => Ok(text.to_string()),
        None => isoform::text::to_text(object),
    }
}

/// The text in the format of the dialect, as [`script`] returns it; None if the dialect has
/// no format.
///
/// # Errors
///
/// Errors of the implementation.
pub fn own_script(object: &Ref<Obj>) -> Result<Option<Str>> {
    if let Some(text) = isoform::plumbing::own_text(object)? {
        return Ok(Some(text));
    }
    let Some(module) = object.downcast_ref::<IRModule>() else {
        return Ok(None);
    };
    for (_, function) in module.functions()? {
        if let Some(seen) = function.implements_nearest::<dyn ModuleScript>() {
            return seen.module_script(module).map(Some);
        }
    }
    Ok(None)
}

/// Fails if two functions of a program have the same name: new versions of the two
/// functions would be mixed up. O(functions).
pub(super) fn check_names(root: &Ref<Obj>, functions: &[(Str, Ref<Obj>)]) -> Result<()> {
    let mut seen = hashbrown::HashSet::with_capacity(functions.len());
    match functions.iter().find(|(name, _)| !seen.insert(&**name)) {
        None => Ok(()),
        Some((name, _)) => Err(Error::value_error(format!(
            "transform.root of {}: two functions have the name '{name}'; the names of a \
             program's functions differ",
            root.type_info().key()
        ))),
    }
}

/// True if a copy of a program has the same contents. O(functions); O(1) for modules of `ir`
/// that have not changed.
pub(super) fn are_same(copy: &Ref<Obj>, root: &Ref<Obj>) -> Result<bool> {
    if let (Some(copy), Some(root)) = (
        copy.downcast_ref::<IRModule>(),
        root.downcast_ref::<IRModule>(),
    ) {
        return Ok(copy.has_contents_of(root));
    }
    let (left, right) = (functions(copy)?, functions(root)?);
    let mut pairs = left.iter().zip(&right);
    Ok(left.len() == right.len()
        && pairs.all(|((name, left), (other, right))| name == other && left.same_as(right)))
}

/// A difference between two programs: the name, and the function in both programs. The
/// functions are different objects, or a program lacks the function.
pub(super) type FunctionChange = (Str, Option<Ref<Obj>>, Option<Ref<Obj>>);

/// The functions with differences as objects, in the order of the old program, new
/// functions last. O(functions).
pub(super) fn changed(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<Vec<FunctionChange>> {
    if old.same_as(new) {
        return Ok(Vec::new());
    }
    let (before, after) = (functions(old)?, functions(new)?);
    let mut rest: indexmap::IndexMap<Str, Ref<Obj>> = after.into_iter().collect();
    let mut found = Vec::new();
    for (name, function) in before {
        match rest.swap_remove(&name) {
            Some(same) if same.same_as(&function) => {}
            other => found.push((name, Some(function), other)),
        }
    }
    let added = found.len();
    found.extend(
        rest.into_iter()
            .map(|(name, function)| (name, None, Some(function))),
    );
    found[added..].sort_by(|(left, ..), (right, ..)| left.as_str().cmp(right));
    Ok(found)
}

/// Sorted by name, for the same passes and messages in every run.
impl Root for IRModule {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let entries = self.functions.snapshot();
        let entry = |(key, value): (&Value, &Value)| {
            let name = key.peek::<Ref<GlobalVar>>()?.name_hint.clone();
            Some((name, value.as_object()?.clone()))
        };
        let mut functions: Vec<_> = entries.iter().filter_map(entry).collect();
        functions.sort_by(|(left, _), (right, _)| (**left).cmp(right));
        Ok(functions)
    }

    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let module = self.copied();
        for (name, function) in changed {
            let var = module.global_var(&name)?;
            let got = function.type_info().key();
            let function = function.cast::<BaseFunc>().map_err(|_| {
                Error::type_error(format!(
                    "function '{name}': expected ir.BaseFunc, got {got}"
                ))
            })?;
            module.update_func(&var, function)?;
        }
        Ok(module.into_object())
    }

    fn working_copy(&self) -> Result<Option<Ref<Obj>>> {
        Ok(Some(self.copied().into_object()))
    }

    fn callees(&self, function: &Ref<Obj>) -> Result<Option<Vec<Str>>> {
        let mut names = indexmap::IndexSet::new();
        walk_objects(function, |object: &Ref<Obj>, _| {
            if let Some(var) = object.downcast_ref::<GlobalVar>() {
                names.insert(var.name_hint.clone());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(Some(names.into_iter().collect()))
    }
}

/// Registers modules as programs: otherwise a pass over functions would take a module
/// for a function, and leave the module alone.
pub(super) fn ready() -> Result<()> {
    static READY: OnceLock<()> = OnceLock::new();
    if READY.get().is_none() {
        register()?;
        READY.get_or_init(|| ());
    }
    Ok(())
}

pub(super) fn register() -> Result<()> {
    isoform::attrs::declare_trait::<dyn Script>()?;
    isoform::attrs::declare_trait::<dyn ModuleScript>()?;
    isoform::attrs::declare_trait::<dyn Check>()?;
    isoform::attrs::declare_trait::<dyn Signature>()?;
    isoform::attrs::implement::<dyn Root, IRModule>()?;
    isoform::register_functions![functions_exported, script_exported, own_script_exported]
}

/// The functions of a program with their names.
#[export("passes.functions")]
fn functions_exported(root: &Ref<Obj>) -> Result<Vec<(Str, Ref<Obj>)>> {
    functions(root)
}

/// The program as text for people.
#[export("passes.script")]
fn script_exported(root: &Ref<Obj>) -> Result<String> {
    script(root)
}

/// The program in the format of its dialect; None if the dialect has no format.
#[export("passes.own_script")]
fn own_script_exported(root: &Ref<Obj>) -> Result<Option<Str>> {
    own_script(root)
}
