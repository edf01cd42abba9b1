//! Functions inside of functions become functions of the module.

use hashbrown::{HashMap, HashSet};

use super::form::Form;
use super::graph::{Graph, Id, Step, is_primitive};
use super::to_basic_block_normal_form;
use crate::analysis::{free_vars, type_vars};
use crate::rewrite::replace_free;
use crate::{AsExpr, Call, Function, Var, attribute, infer_type};
use isoform::compare::CompareOptions;
use isoform::{Array, Error, Ref, Result};
use isoform_ir::ir::{BaseFuncRef, GlobalVar, IRModule, RelayExpr};

/// Makes every function inside of a function a function of the module.
///
/// In the place of the function comes its name. A function that uses variables from outside
/// becomes a function of these variables that returns it, marked
/// [`Closure`](attribute::CLOSURE), and a call with the variables comes in its place. A
/// function that calls itself by the variable of a `let` calls its new name instead.
///
/// Values used inside and outside of a function are named first, by
/// [`to_basic_block_normal_form`], and computed once as before. New names are
/// `lifted_name` and a digest of the function, so equal functions are lifted once, and
/// names are the same in every run.
///
/// Types are inferred first, and afterwards if functions were lifted. Functions marked
/// `Primitive` stay, and so do functions inside of a function for which
/// [`Function::is_optimizable`] is false. A second run lifts nothing. The module is not
/// changed. O(n log n) in the number of expressions, because of scopes.
///
/// ```
/// use isoform_ir::ir::{GlobalVar, IRModule, IRModuleRef, TensorType};
/// use isoform_relay::passes::lambda_lift;
/// use isoform_relay::{AsExpr, Call, Function, Var};
///
/// let [x, y] = ["x", "y"].map(|name| Var::typed(name, TensorType::new([])));
/// let inner = Function::new([y.clone()], &x);
/// let main = Function::new([x.clone()], Call::new(inner, [x.expr()]));
/// let module = IRModule::new();
/// module.update_func(&GlobalVar::new("main"), main.upcast())?;
/// let lifted = lambda_lift(&module)?;
/// assert_eq!(lifted.functions.len(), 2);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// Errors of [`infer_type`]; `ValueError` for a variable bound twice; `TypeError` for an
/// expression of a class declared elsewhere.
pub fn lambda_lift(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    let typed = infer_type(module)?;
    if !any_inside(&typed)? {
        return Ok(typed);
    }
    let named = infer_type(&to_basic_block_normal_form(&typed)?)?;
    let vars = named.global_vars();
    let mut lifting = Lifting {
        module: named.copied(),
        names: HashMap::new(),
        taken: vars.iter().map(|var| var.name_hint.to_string()).collect(),
    };
    for var in vars {
        let func = named.lookup(&var)?;
        let Some(func) = func.downcast_ref::<Function>() else {
            continue;
        };
        if func.is_optimizable() {
            let noted = |error: Error| error.noted(format!("in function '{}'", var.name_hint));
            let body = lifting.function(func).map_err(noted)?;
            lifting.module.functions.insert(var, body.cast()?)?;
        }
    }
    infer_type(&lifting.module)
}

/// True if a function has a function to lift inside.
fn any_inside(module: &Ref<IRModule>) -> Result<bool> {
    for var in module.global_vars() {
        let func = module.lookup(&var)?;
        let Some(func) = func.downcast_ref::<Function>() else {
            continue;
        };
        if func.is_optimizable() {
            let graph = Graph::of(&func.expr())?;
            for id in 0..graph.len() as Id {
                if is_lifted(&graph, id)? {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

/// True for the functions that move: neither the root, nor a kernel, nor the closure that a
/// lifted function returns.
fn is_lifted(graph: &Graph, id: Id) -> Result<bool> {
    let form = graph.form(id)?;
    if id == 0 || !matches!(form, Form::Function(_)) || is_primitive(form) {
        return Ok(false);
    }
    let returns_closure = match graph.form(0)? {
        Form::Function(root) => root.has_nonzero_attribute(attribute::CLOSURE),
        _ => false,
    };
    Ok(!(returns_closure && graph.operands(0) == [id]))
}

struct Lifting {
    /// The new module.
    module: Ref<IRModule>,
    /// The lifted functions by the text of their digest.
    names: HashMap<String, Ref<GlobalVar>>,
    /// The names of the functions of the module.
    taken: HashSet<String>,
}

impl Lifting {
    /// A function without functions inside.
    fn function(&mut self, func: &Ref<Function>) -> Result<Ref<RelayExpr>> {
        let graph = Graph::of(&func.expr())?;
        // The variables by which functions call themselves.
        let mut own_names: Vec<Option<Ref<Var>>> = vec![None; graph.len()];
        for id in 0..graph.len() as Id {
            if let Form::Let(binding) = graph.form(id)?
                && graph.is_recursive(id)
            {
                own_names[graph.operands(id)[0] as usize] = Some(binding.var.clone());
            }
        }
        let mut results = graph.exprs.clone();
        for step in &graph.steps {
            let Step::Done(id) = *step else {
                continue;
            };
            if graph.operands(id).is_empty() {
                continue;
            }
            let rebuilt = graph.rebuilt(id, &results)?;
            results[id as usize] = if is_lifted(&graph, id)? {
                self.lifted(&rebuilt.cast()?, own_names[id as usize].as_ref())?
            } else {
                rebuilt
            };
        }
        results
            .into_iter()
            .next()
            .ok_or_else(|| Error::value_error("expected a function"))
    }

    /// The expression in the place of a function without functions inside.
    fn lifted(&mut self, func: &Ref<Function>, own: Option<&Ref<Var>>) -> Result<Ref<RelayExpr>> {
        let is_own = |var: &Ref<Var>| own.is_some_and(|own| own.same_as(var));
        let free = free_vars(func)?.into_iter();
        let captured: Vec<Ref<Var>> = free.filter(|var| !is_own(var)).collect();
        // Each binding has a variable of its own.
        let fresh: Vec<Ref<Var>> = captured
            .iter()
            .map(|var| match &var.type_annotation {
                Some(ty) => Var::typed(var.name_hint.clone(), ty),
                None => Var::new(var.name_hint.clone()),
            })
            .collect();
        let pairs = captured.iter().zip(&fresh);
        let pairs: Vec<_> = pairs.map(|(old, new)| (old.clone(), new.expr())).collect();
        let moved: Ref<Function> = replace_free(&func.expr(), &pairs)?.cast()?;
        let template = closing(&moved, &fresh)?;
        let digest = CompareOptions {
            map_free_vars: true,
            ..CompareOptions::default()
        };
        let digest = digest.digest(&template)?.to_string();
        let name = match self.names.get(&digest) {
            Some(name) => name.clone(),
            None => {
                let name = self.name(&digest);
                self.names.insert(digest, name.clone());
                let global = match own {
                    None => template,
                    Some(own) => {
                        let pair = (own.clone(), call(&name, &fresh, None));
                        closing(&replace_free(&moved.expr(), &[pair])?.cast()?, &fresh)?
                    }
                };
                self.module
                    .functions
                    .insert(name.clone(), global.upcast())?;
                name
            }
        };
        Ok(call(&name, &captured, Some(func)))
    }

    /// A new name for the function of a digest.
    fn name(&mut self, digest: &str) -> Ref<GlobalVar> {
        let mut name = format!("lifted_name{}", &digest[..digest.len().min(16)]);
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        GlobalVar::new(name)
    }
}

/// The use of a lifted function with these captured variables.
fn call(
    name: &Ref<GlobalVar>,
    captured: &[Ref<Var>],
    place: Option<&Ref<Function>>,
) -> Ref<RelayExpr> {
    if captured.is_empty() {
        return name.expr();
    }
    let args: Array<Ref<RelayExpr>> = captured.iter().map(AsExpr::expr).collect();
    Call::made(name.expr(), args, place.and_then(|func| func.span.clone())).expr()
}

/// The global function: the function itself, or a function of the captured variables that
/// returns it. It binds the type variables of the functions around.
fn closing(func: &Ref<Function>, captured: &[Ref<Var>]) -> Result<Ref<Function>> {
    let global = if captured.is_empty() {
        func.clone()
    } else {
        let closure = Function::new(captured.to_vec(), func.expr());
        let closure = closure.with_ret_type(func.checked_type_.clone());
        closure.upcast().with_attr(attribute::CLOSURE, 1)?.cast()?
    };
    let mut type_params: Vec<_> = global.type_params.iter().cloned().collect();
    type_params.extend(type_vars(&global, None)?.free());
    Ok(global.with_type_params(type_params))
}
