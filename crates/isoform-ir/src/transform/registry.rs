//! Passes by name: a global function makes the pass from its options.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::info::PassInfo;
use super::nodes::Pass;
use isoform::functions::{
    Function, Parameter, Signature, global_function, list_functions, register_function,
};
use isoform::host::name_hint;
use isoform::plumbing::table;
use isoform::types::{Schema, find_type};
use isoform::{Error, Node, Ref, Result, Str, Value};

/// The prefixes of the global functions for passes, in the order of search.
const PREFIXES: [&str; 2] = ["transform.", "relay._transform."];

/// A pass with a name for [`make_pass`].
#[derive(Clone, Debug)]
pub struct PassEntry {
    name: String,
    factory: Function,
}

impl PassEntry {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The documentation, or an empty text.
    pub fn doc(&self) -> &str {
        self.factory.doc().unwrap_or_default()
    }

    /// The options, in order.
    pub fn options(&self) -> &[Parameter] {
        self.factory.signature().map_or(&[], Signature::parameters)
    }

    /// The name, level and requirements of the pass; None if the pass cannot be made
    /// without options.
    pub fn info(&self) -> Option<Ref<PassInfo>> {
        let pass = make(&self.name, &self.factory, &[]).ok()?;
        Some(pass.info.clone())
    }
}

/// Registers a pass under a name, for texts of pipelines and requirements: a function
/// from its options to the pass. An option is a parameter of the function, with its
/// type, and an optional default.
///
/// # Errors
///
/// `ValueError` if the name is empty, or taken and `replace` is false.
///
/// ```
/// use isoform_ir::transform::PassRef;
/// use isoform::functions::Function;
/// use isoform_ir::transform::{ModulePass, PassContext, PassInfo, make_pass, register_pass};
/// use isoform::{Node, Obj, Ref};
///
/// let factory = Function::typed(|times: i64| {
///     let run = move |root: Ref<Obj>, _: &Ref<PassContext>| {
///         assert_eq!(times, 3);
///         Ok(root)
///     };
///     ModulePass::new(&PassInfo::new(0, "doc.Repeat"), run)
/// });
/// let factory = factory.with_parameters(&["times"]).with_default(0, 1);
/// register_pass("doc.Repeat", factory, false)?;
/// let pass = make_pass("doc.Repeat", [("times", 3.into())])?;
/// let program = Ref::new(Obj {});
/// assert!(pass.run(&program)?.same_as(&program));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_pass(name: &str, factory: Function, replace: bool) -> Result<()> {
    if name.is_empty() {
        return Err(Error::value_error("a pass needs a name"));
    }
    let return_schema = factory
        .signature()
        .map(|signature| signature.returns().clone());
    let factory = match return_schema {
        Some(Schema::Object(_)) => factory,
        // Listing recognises passes by the declared return type of the function.
        _ => {
            let (parameters, language) = match factory.signature() {
                Some(signature) => (signature.parameters().to_vec(), signature.written_in()),
                None => (Vec::new(), "rust"),
            };
            let signature = Signature::new(parameters, Schema::object::<Pass>());
            factory.with_signature(signature.language(language))
        }
    };
    register_function(&format!("transform.{name}"), factory, replace)?;
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    modules.remove(name);
    Ok(())
}

/// The modules of a host language that register passes, by the names of the passes.
static MODULES: Mutex<BTreeMap<String, Str>> = Mutex::new(BTreeMap::new());

/// Like [`register_pass`], for a pass registered by a module of a host language:
/// commands import the module. An unknown module is empty.
pub(super) fn register_of_module(
    name: &str,
    factory: Function,
    replace: bool,
    module: Str,
) -> Result<()> {
    register_pass(name, factory, replace)?;
    if !module.is_empty() {
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        modules.insert(name.to_owned(), module);
    }
    Ok(())
}

/// The module that registers a pass of a host language.
pub(super) fn module_of(name: &str) -> Option<Str> {
    let modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    modules.get(name).cloned()
}

/// The passes with names for [`make_pass`], sorted.
pub fn registered_passes() -> Vec<PassEntry> {
    let mut entries: Vec<PassEntry> = Vec::new();
    for full in list_functions() {
        let Some(name) = PREFIXES.iter().find_map(|prefix| full.strip_prefix(prefix)) else {
            continue;
        };
        // Classes of passes have constructors under their keys.
        if find_type(&full).is_some() {
            continue;
        }
        let Ok(factory) = global_function(&full) else {
            continue;
        };
        let returns = factory
            .signature()
            .map(|signature| signature.returns().clone());
        let class = match returns {
            Some(Schema::Object(ty)) => ty.index(),
            _ => None,
        };
        if class.is_some_and(|class| table::is_a(class, Pass::type_index())) {
            let name = name.to_owned();
            entries.push(PassEntry { name, factory });
        }
    }
    entries.sort_by(|left, right| left.name.cmp(&right.name));
    entries.dedup_by(|later, first| later.name == first.name);
    entries
}

/// The function for making a pass.
pub(super) fn factory(name: &str) -> Result<Function> {
    // A full name begins with a prefix; `my_transform.Pass` is a name like any other.
    let is_full = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let full = is_full.then(|| global_function(name).ok()).flatten();
    let found = full.or_else(|| {
        PREFIXES
            .iter()
            .find_map(|prefix| global_function(&format!("{prefix}{name}")).ok())
    });
    found.ok_or_else(|| {
        let passes = registered_passes();
        let names = || passes.iter().map(PassEntry::name);
        // Without its dialect, a name is not similar.
        let mut full = names().filter(|full| full.rsplit('.').next() == Some(name));
        let hint = match full.next() {
            Some(full) => format!(", did you mean '{full}'?"),
            None => name_hint(name, names()),
        };
        Error::value_error(format!("no pass is registered as '{name}'{hint}"))
    })
}

/// Makes a pass by its name and options; omitted options take their defaults.
///
/// # Errors
///
/// `ValueError` for an unknown pass. `TypeError` for an unknown or missing option, or a
/// value that does not fit. Errors of the function that makes the pass.
pub fn make_pass<'a>(
    name: &str,
    options: impl IntoIterator<Item = (&'a str, Value)>,
) -> Result<Ref<Pass>> {
    let options: Vec<_> = options.into_iter().collect();
    make(name, &factory(name)?, &options)
}

/// Makes a pass of a known function.
pub(super) fn make(name: &str, factory: &Function, options: &[(&str, Value)]) -> Result<Ref<Pass>> {
    let parameters = factory.signature().map_or(&[][..], Signature::parameters);
    let mut arguments: Vec<Option<Value>> = vec![None; parameters.len()];
    for (option, value) in options {
        let position = position(name, parameters, option)?;
        let value = parameters[position]
            .schema()
            .convert(value.clone())
            .map_err(|error| error.in_context(format_args!("pass '{name}', option '{option}'")))?;
        if arguments[position].replace(value).is_some() {
            return Err(Error::type_error(format!(
                "pass '{name}': option '{option}' is given twice"
            )));
        }
    }
    while arguments.last().is_some_and(Option::is_none)
        && parameters[arguments.len() - 1].default().is_some()
    {
        arguments.pop();
    }
    let fill =
        |(value, parameter): (Option<Value>, &Parameter)| {
            value.or_else(|| parameter.default().cloned()).ok_or_else(|| {
            let option = parameter.name().unwrap_or_default();
            let schema = parameter.schema();
            Error::type_error(format!(
                "pass '{name}': option '{option}' is missing; write {name}{{{option}=...}}, a \
                 value of type {schema}"
            ))
        })
        };
    let arguments = arguments.into_iter().zip(parameters).map(fill);
    let result = factory.call(&arguments.collect::<Result<Vec<_>>>()?)?;
    let pass = result
        .extract::<Ref<Pass>>()
        .map_err(|error| error.in_context(format_args!("the function that makes pass '{name}'")))?;
    for (option, value) in options {
        let position = position(name, parameters, option)?;
        let value = parameters[position].schema().convert(value.clone())?;
        pass.options.insert((*option).into(), value)?;
    }
    Ok(pass)
}

/// The position of an option among the parameters.
pub(super) fn position(name: &str, parameters: &[Parameter], option: &str) -> Result<usize> {
    let found = parameters
        .iter()
        .position(|parameter| parameter.name() == Some(option));
    found.ok_or_else(|| {
        let names = || parameters.iter().filter_map(Parameter::name);
        let hint = name_hint(option, names());
        let known: Vec<_> = names().collect();
        let known = if known.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}", known.join(", "))
        };
        Error::type_error(format!(
            "pass '{name}' has no option '{option}'{hint}; {known}"
        ))
    })
}
