//! The passes of the infrastructure itself.

use crate::ir::module::IRModuleRef;
use hashbrown::{HashMap, HashSet};
use isoform::functions::{Function, Parameter};
use isoform::types::Schema;
use isoform::{Array, Error, Map, Obj, Ref, Result, Str, Value, export};

use super::config;
use super::context::PassContext;
use super::info::PassInfo;
use super::nodes::{ModulePass, Pass};
use super::registry::{PassEntry, make_pass, register_of_module, registered_passes};
use super::root::{functions, script, with_functions};
use super::run::run;
use crate::ir::{BaseFunc, IRModule};

/// Logs the program as text, at level `INFO`, and returns it unchanged.
#[export("transform.PrintIR")]
fn print_ir(#[default = ""] header: Str) -> Ref<ModulePass> {
    ModulePass::new(
        &PassInfo::new(0, "PrintIR"),
        move |root: Ref<Obj>, _: &Ref<PassContext>| {
            let text = script(&root)?;
            tracing::info!(target: "isoform.transform", "PrintIR({header}):\n{text}");
            Ok(root)
        },
    )
}

/// Makes a pass that runs another pass only on the functions whose name `wanted`
/// accepts.
///
/// The pass sees a program in which every other function is replaced by the result of
/// `stub` for the function, possibly the function itself. The wanted and the new
/// functions are then taken over from the result of the pass; all other functions stay
/// unchanged, even if the pass deletes them. If no name is accepted and `must_match` is
/// set, the pass fails with a `ValueError`.
pub fn apply_to_functions(
    pass: &Ref<Pass>,
    info: &Ref<PassInfo>,
    must_match: bool,
    wanted: impl Fn(&str) -> Result<bool> + Send + Sync + 'static,
    stub: impl Fn(&Ref<Obj>) -> Result<Ref<Obj>> + Send + Sync + 'static,
) -> Ref<ModulePass> {
    let (pass, name) = (pass.clone(), info.name.clone());
    ModulePass::new(info, move |root: Ref<Obj>, ctx: &Ref<PassContext>| {
        let all_functions = functions(&root)?;
        let mut stubs = Vec::new();
        for (name, function) in &all_functions {
            if !wanted(name)? {
                stubs.push((name.clone(), stub(function)?));
            }
        }
        if stubs.len() == all_functions.len() {
            return if must_match {
                Err(Error::value_error(format!(
                    "pass '{name}': no function of the program has a name that matches"
                )))
            } else {
                Ok(root)
            };
        }
        let stubbed: HashSet<Str> = stubs.iter().map(|(name, _)| name.clone()).collect();
        let reduced = if stubs.is_empty() {
            root.clone()
        } else {
            with_functions(&root, stubs)?
        };
        let result = run(&pass, &reduced, ctx)?;
        if result.same_as(&reduced) {
            Ok(root)
        } else {
            taken_over(&root, &all_functions, &stubbed, &result)
        }
    })
}

/// The program with all functions of a result except stubs. A function missing from the
/// result stays: functions hidden from the pass may use the missing function.
fn taken_over(
    root: &Ref<Obj>,
    all_functions: &[(Str, Ref<Obj>)],
    stubbed: &HashSet<Str>,
    result: &Ref<Obj>,
) -> Result<Ref<Obj>> {
    let before: HashMap<&Str, &Ref<Obj>> = all_functions
        .iter()
        .map(|(name, function)| (name, function))
        .collect();
    let after = functions(result)?;
    let left = after
        .iter()
        .filter(|(name, _)| before.contains_key(name))
        .count();
    let is_wanted = |(name, function): &&(Str, Ref<Obj>)| {
        let old = before.get(name);
        !stubbed.contains(name) && !old.is_some_and(|old| old.same_as(function))
    };
    let wanted: Vec<_> = after.iter().filter(is_wanted).cloned().collect();
    if wanted.is_empty() {
        return Ok(root.clone());
    }
    let adds = wanted.iter().any(|(name, _)| !before.contains_key(name));
    if let (Some(module), Some(result)) = (
        root.downcast_ref::<IRModule>(),
        result.downcast_ref::<IRModule>(),
    ) {
        return with_new_functions(module, result, &before, &wanted);
    }
    if adds && left == all_functions.len() {
        // Other types of programs add functions themselves: the result contains them.
        let originals = all_functions
            .iter()
            .filter(|(name, _)| stubbed.contains(name));
        with_functions(result, originals.cloned().collect())
    } else {
        with_functions(root, wanted)
    }
}

/// The module with functions of another module. New functions keep the global variables
/// of the other module.
fn with_new_functions(
    module: &Ref<IRModule>,
    other: &Ref<IRModule>,
    before: &HashMap<&Str, &Ref<Obj>>,
    wanted: &[(Str, Ref<Obj>)],
) -> Result<Ref<Obj>> {
    let copy = module.copied();
    for (name, function) in wanted {
        let owner = if before.contains_key(name) {
            module
        } else {
            other
        };
        let var = owner.global_var(name)?;
        copy.update_func(&var, function.clone().cast::<BaseFunc>()?)?;
    }
    Ok(copy.into_object())
}

/// Makes a pass that runs another pass only on the functions whose name a function
/// accepts.
#[export("passes.apply_to_functions")]
fn apply_exported(
    pass: &Ref<Pass>,
    info: &Ref<PassInfo>,
    must_match: bool,
    wanted: Function,
    stub: Function,
) -> Ref<ModulePass> {
    let is_wanted = move |name: &str| {
        let answer = Schema::Bool.convert(wanted.call(&[Str::from(name).into()])?)?;
        Ok(answer.as_bool() == Some(true))
    };
    let stub = move |function: &Ref<Obj>| stub.call(&[Value::from(function)])?.extract();
    apply_to_functions(pass, info, must_match, is_wanted, stub)
}

/// Runs a pass under the current context.
#[export("passes.run")]
fn run_exported(pass: &Ref<Pass>, root: &Ref<Obj>) -> Result<Ref<Obj>> {
    run(pass, root, &PassContext::current())
}

/// Registers a pass: a function from its options to the pass.
#[export("passes.register")]
fn register_exported(
    name: &str,
    factory: Function,
    #[default = false] replace: bool,
    #[default = ""] module: Str,
) -> Result<()> {
    register_of_module(name, factory, replace, module)
}

/// Makes a pass by its name and options.
#[export("passes.make")]
fn make_exported(name: &str, options: Option<Map<Str, Value>>) -> Result<Ref<Pass>> {
    let options = options.unwrap_or_default();
    let options = options.iter().map(|(name, value)| (&**name, value.clone()));
    make_pass(name, options)
}

/// For every pass with a name: the name, documentation and options, and the
/// description, None if the pass needs options. An option has a name, a type and
/// possibly a default.
#[export("passes.list")]
fn list_exported() -> Vec<Map<Str, Value>> {
    let option = |parameter: &Parameter| {
        let mut parts = Map::<Str, Value>::new();
        parts.insert("name".into(), parameter.name().unwrap_or_default().into());
        parts.insert("type".into(), parameter.schema().to_string().into());
        if let Some(default) = parameter.default() {
            parts.insert("default".into(), default.clone());
        }
        Value::from(parts)
    };
    let entry = |entry: PassEntry| {
        let options: Vec<Value> = entry.options().iter().map(option).collect();
        let info = entry.info().map_or(Value::NONE, Value::from);
        Map::from_iter([
            ("name".into(), Value::from(entry.name())),
            ("doc".into(), Value::from(entry.doc())),
            ("options".into(), Array::from(options).into()),
            ("info".into(), info),
        ])
    };
    registered_passes().into_iter().map(entry).collect()
}

pub(super) fn register() -> Result<()> {
    config::register_config_option(
        config::IMMUTABLE,
        Schema::Bool,
        false,
        "Check that every pass leaves its input alone: one that changes it in place fails.",
    )?;
    config::register_config_option(
        config::REPRODUCER,
        Schema::Str,
        Value::NONE,
        "The folder where the input and the text of a pass that fails are written.",
    )?;
    isoform::register_functions![
        print_ir,
        apply_exported,
        run_exported,
        register_exported,
        make_exported,
        list_exported
    ]
}
