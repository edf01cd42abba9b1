//! Models as roots of passes: the main graph and the local functions.

use std::collections::HashMap;

use isoform::traverse::{MapOptions, WalkOptions, WalkOrder, WalkResult};
use isoform::{Error, Node, Obj, Ref, Result, Str, Value};
use isoform_ir::transform::Root;

use crate::ir::{Function, Graph, Program};

/// The name of the main graph among the functions of a model. The names of local
/// functions have a domain before a dot.
const MAIN: &str = "graph";

/// The local functions that a program calls, callees first. Linear in the program.
pub(crate) fn local_functions(program: &Program) -> Result<Vec<(Str, Ref<Function>)>> {
    let mut found: Vec<(Str, Ref<Function>)> = Vec::new();
    let mut names: HashMap<Str, usize> = HashMap::new();
    let options = WalkOptions::default().order(WalkOrder::Post);
    options.walk_objects(&program.graph, |object: &Ref<Obj>, _| {
        if let Some(function) = object.downcast_ref::<Function>() {
            // Programs from other sources than files may have several functions of the
            // same name.
            let count = names.entry(function.name.clone()).or_default();
            let name = match *count {
                0 => function.name.clone(),
                number => format!("{}#{number}", function.name).into(),
            };
            *count += 1;
            found.push((name, function.clone()));
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// Local functions come before their callers, and the main graph comes last.
impl Root for Program {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let functions = local_functions(self)?.into_iter();
        let mut all: Vec<_> = functions
            .map(|(name, function)| (name, function.into_object()))
            .collect();
        all.push((MAIN.into(), self.graph.as_object().clone()));
        Ok(all)
    }

    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let functions: HashMap<Str, Ref<Function>> = local_functions(self)?.into_iter().collect();
        let mut graph = self.graph.clone();
        let mut replaced: HashMap<u64, Value> = HashMap::new();
        for (name, function) in changed {
            if name == MAIN {
                graph = expected::<Graph>(&name, function)?;
                continue;
            }
            let old = functions.get(&name).ok_or_else(|| {
                Error::value_error(format!("the program calls no function '{name}'"))
            })?;
            let new = expected::<Function>(&name, function)?;
            replaced.insert(old.identity(), new.into());
        }
        if !replaced.is_empty() {
            // In pre-order, the contents of a replacement are mapped as well, and may call
            // further replaced functions.
            let options = MapOptions::default().order(WalkOrder::Pre);
            let function = Function::type_index();
            let mapped = options.map_selected(
                &graph,
                |ty| ty == Some(function),
                |visit| {
                    let ident = visit.object().map(Ref::identity);
                    Ok(ident.and_then(|ident| replaced.get(&ident).cloned()))
                },
            )?;
            graph = mapped.extract()?;
        }
        let fields = self.clone_fields();
        Ok(Ref::new(Program { graph, ..fields }).into_object())
    }

    /// A function contains its callees, so the digest covers the callees.
    fn callees(&self, _function: &Ref<Obj>) -> Result<Option<Vec<Str>>> {
        Ok(Some(Vec::new()))
    }
}

fn expected<T: Node>(name: &str, function: Ref<Obj>) -> Result<Ref<T>> {
    let got = function.type_info().key();
    function.cast::<T>().map_err(|_| {
        Error::type_error(format!(
            "function '{name}': expected {}, got {got}",
            T::TYPE_KEY
        ))
    })
}
