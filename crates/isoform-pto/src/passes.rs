//! Programs as roots of passes, and the named passes of this dialect.

use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Array, Error, Node, Obj, Ref, Result, Str, Value, export};
use isoform_ir::transform::{Check, FunctionPass, PassContext, PassInfo, Root, Script, Signature};

use super::call::GlobalVar;
use super::cse::cse;
use super::function::{Function, Program};
use super::peephole::simplify;
use super::print::python_print;
use super::verifier::{VerifyOptions, verify};

/// In the order of the program.
impl Root for Program {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let entry =
            |(name, function): (&Str, &Ref<Function>)| (name.clone(), function.as_object().clone());
        Ok(self.functions.iter().map(entry).collect())
    }

    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let mut functions = self.functions.clone();
        for (name, function) in changed {
            let got = function.type_info().key();
            let function = function.cast::<Function>().map_err(|_| {
                Error::type_error(format!(
                    "function '{name}': expected pto.Function, got {got}"
                ))
            })?;
            if function.name != name {
                return Err(Error::value_error(format!(
                    "function '{name}': expected a function of this name, got '{}'; a pass over \
                     the whole program can rename functions and their calls",
                    function.name
                )));
            }
            functions.insert(name, function);
        }
        Ok(self.holding(functions).into_object())
    }

    fn callees(&self, function: &Ref<Obj>) -> Result<Option<Vec<Str>>> {
        let mut names = indexmap::IndexSet::new();
        walk_objects(function, |object: &Ref<Obj>, _| {
            if let Some(var) = object.downcast_ref::<GlobalVar>() {
                names.insert(var.name.clone());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(Some(names.into_iter().collect()))
    }
}

/// The types of parameters and results, and the directions.
impl Signature for Function {
    fn signature(&self) -> Result<Value> {
        let params: Vec<Value> = self.params.iter().map(|param| (&param.ty).into()).collect();
        let parts: [Value; 3] = [
            Array::from(params).into(),
            self.param_directions.clone().into(),
            self.return_types.clone().into(),
        ];
        Ok(Array::from(parts).into())
    }
}

// A shallow copy: printing and checking take a reference to the object.
impl Script for Program {
    fn script(&self) -> Result<Str> {
        Ok(python_print(Ref::new(self.clone_fields()))?.into())
    }
}

impl Script for Function {
    fn script(&self) -> Result<Str> {
        Ok(python_print(Ref::new(self.clone_fields()))?.into())
    }
}

impl Check for Program {
    fn check(&self) -> Result<()> {
        let copy = Ref::new(self.clone_fields());
        match verify(copy, &VerifyOptions::default())?.into_iter().next() {
            Some(failure) => Err(failure.error.at(failure.path)),
            None => Ok(()),
        }
    }
}

fn pass(name: &str, run: fn(&Value) -> Result<Value>) -> Ref<FunctionPass> {
    FunctionPass::new(
        &PassInfo::new(1, name),
        move |function: Ref<Function>, _: &Ref<Obj>, _: &Ref<PassContext>| {
            run(&function.into())?.extract()
        },
    )
}

/// Applies small identities of arithmetic to each function until none applies.
#[export("transform.pto.simplify")]
fn simplify_pass() -> Ref<FunctionPass> {
    pass("pto.simplify", |function| Ok(simplify(function)?.value))
}

/// Computes the common subexpressions of each function once.
#[export("transform.pto.cse")]
fn cse_pass() -> Ref<FunctionPass> {
    pass("pto.cse", |function| cse(function))
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![simplify_pass, cse_pass]
}
