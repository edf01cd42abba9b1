//! The passes of the infrastructure itself.

use hashbrown::HashSet;
use isoform_macros::export;

use super::context::PassContext;
use super::info::PassInfo;
use super::nodes::{ModulePass, Pass};
use super::registry::{PassEntry, make_pass, register_pass, registered_passes};
use super::root::{functions, script, with_functions};
use super::run::{IMMUTABLE, run};
use super::{config, reproducer};
use crate::kernel::container::{Array, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::{Function, Parameter};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Schema;
use crate::kernel::value::Value;

/// Logs the program as text, at level `INFO`, and returns it unchanged.
#[export("transform.PrintIR", crate = crate)]
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

/// Makes a pass that runs another one only on the functions whose name `wanted` accepts.
///
/// The pass sees a program in which each other function is replaced by `stub` of it; then
/// the functions that are wanted or new are taken over from its result. If no name is
/// accepted and `must_match` is set, the pass fails with a `ValueError`.
pub fn apply_to_functions(
    pass: &Ref<Pass>,
    info: &Ref<PassInfo>,
    must_match: bool,
    wanted: impl Fn(&str) -> Result<bool> + Send + Sync + 'static,
    stub: impl Fn(&Ref<Obj>) -> Result<Ref<Obj>> + Send + Sync + 'static,
) -> Ref<ModulePass> {
    let (pass, name) = (pass.clone(), info.name.clone());
    ModulePass::new(info, move |root: Ref<Obj>, ctx: &Ref<PassContext>| {
        let known = functions(&root)?;
        let mut stubs = Vec::new();
        for (name, function) in &known {
            if !wanted(name)? {
                stubs.push((name.clone(), stub(function)?));
            }
        }
        if stubs.len() == known.len() {
            return match must_match {
                true => Err(Error::value_error(format!(
                    "pass '{name}': no function of the program has a name that matches"
                ))),
                false => Ok(root),
            };
        }
        let replaced: HashSet<Str> = stubs.iter().map(|(name, _)| name.clone()).collect();
        let reduced = match stubs.is_empty() {
            true => root.clone(),
            false => with_functions(&root, stubs)?,
        };
        let result = run(&pass, &reduced, ctx)?;
        if result.same_as(&reduced) {
            return Ok(root);
        }
        // Functions that the pass deleted or added are those of its result.
        let originals = known
            .into_iter()
            .filter(|(name, _)| replaced.contains(name));
        let left: HashSet<Str> = functions(&result)?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let originals: Vec<_> = originals.filter(|(name, _)| left.contains(name)).collect();
        match originals.is_empty() {
            true => Ok(result),
            false => with_functions(&result, originals),
        }
    })
}

/// Makes a pass that runs another one only on the functions whose name a function accepts.
#[export("passes.apply_to_functions", crate = crate)]
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
#[export("passes.run", crate = crate)]
fn run_exported(pass: &Ref<Pass>, root: &Ref<Obj>) -> Result<Ref<Obj>> {
    run(pass, root, &PassContext::current())
}

/// Registers a pass: a function from its options to the pass.
#[export("passes.register", crate = crate)]
fn register_exported(
    name: &str,
    factory: Function,
    #[default = false] replace: bool,
) -> Result<()> {
    register_pass(name, factory, replace)
}

/// Makes a pass by its name and options.
#[export("passes.make", crate = crate)]
fn make_exported(name: &str, options: Option<Map<Str, Value>>) -> Result<Ref<Pass>> {
    let options = options.unwrap_or_default();
    let options = options.iter().map(|(name, value)| (&**name, value.clone()));
    make_pass(name, options)
}

/// For each pass that can be made by name: its name, documentation and options, each of
/// these with name, type and, if it has one, default; and its description, None if it
/// cannot be made without options.
#[export("passes.list", crate = crate)]
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
        IMMUTABLE,
        Schema::Bool,
        false,
        "Check that every pass leaves its input alone: one that changes it in place fails.",
    )?;
    config::register_config_option(
        reproducer::REPRODUCER,
        Schema::Str,
        Value::NONE,
        "The folder where the input and the text of a pass that fails are written.",
    )?;
    crate::ir::functions![
        print_ir,
        apply_exported,
        run_exported,
        register_exported,
        make_exported,
        list_exported
    ]
}
