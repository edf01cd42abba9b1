//! The evaluator of whole programs.

use std::sync::{Arc, Mutex};

use isoform::functions::Function as Callable;
use isoform::types::IntoField;
use isoform::{Error, Ref, Result, Value, export};
use isoform_ir::ir::{IRModule, RelayExpr, TensorType};

use super::contract::{fits, tensor_text, value_text};
use super::machine::Machine;
use super::plan::Unit;
use super::program::{Limits, Program};
use super::run::Runner;
use super::values::Closure;
use crate::{Constant, Function};

/// Computes the values of expressions and programs, for tests and for constant parts of
/// programs.
///
/// An expression with several users is computed once whenever the scope around all
/// users is entered. Scopes are the bodies of functions, the branches of an `if`, and
/// the results of clauses. The computation takes place at the first need in the scope,
/// before the branches and functions that need the value. Operands are computed from
/// left to right, arguments before the call.
///
/// Depth of nesting and of recursion is limited by memory only, and recursion by
/// [`max_depth`](Self::max_depth). Linear in the number of steps that the program takes;
/// beforehand, each function is put in order once, in O(n log n) for n expressions. A long
/// evaluation can be interrupted by the host.
///
/// ```
/// use isoform_relay::eval::Evaluator;
/// use isoform_relay::{AsExpr, Function, Var, op};
/// use isoform::values::{DType, Tensor};
///
/// let x = Var::new("x");
/// let double = Function::new([x.clone()], op::add(&x, &x));
/// let evaluator = Evaluator::new();
/// let function = evaluator.evaluate(double)?;
/// let three = Tensor::new(DType::INT32, vec![], 3_i32.to_le_bytes().to_vec())?;
/// let six: Tensor = evaluator.call(&function, &[three.into()])?.extract()?;
/// assert_eq!(six.data()[..], 6_i32.to_le_bytes());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Debug)]
pub struct Evaluator {
    program: Program,
}

impl Evaluator {
    /// An evaluator of expressions without names of functions of a module.
    pub fn new() -> Self {
        Evaluator {
            program: Program {
                module: None,
                limits: Limits {
                    runner: Runner::default(),
                    max_depth: 1_000_000,
                },
                globals: Mutex::default(),
            },
        }
    }

    /// Sets the module whose functions expressions may name. Changes of the module show in
    /// later evaluations.
    #[must_use]
    pub fn module(mut self, module: &Ref<IRModule>) -> Self {
        self.program.module = Some(module.clone());
        self
    }

    /// Sets the maximal number of open calls; a million by default. An open call takes
    /// about 100 bytes, and 16 bytes per expression of its function.
    #[must_use]
    pub fn max_depth(mut self, count: usize) -> Self {
        self.program.limits.max_depth = count;
        self
    }

    /// Sets the size of the largest result of an operator, in bytes; 2 GiB by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.program.limits.runner.max_bytes = bytes;
        self
    }

    /// The value of an expression.
    ///
    /// # Errors
    ///
    /// `ValueError` for a free variable, a variable bound twice or used outside of its
    /// scope, a name without a definition in the module, or a match without a fitting
    /// clause. `ValueError` also for undefined results of operators. `TypeError` for
    /// values that do not fit. `RecursionError` for too many open calls. Errors of the
    /// kernels of a program.
    pub fn evaluate(&self, expr: impl IntoField<Ref<RelayExpr>>) -> Result<Value> {
        let unit = Unit::of(&expr.into_field())?;
        Machine::new(&self.program).evaluate(Arc::new(unit))
    }

    /// The result of a function on values: a [`Closure`], an operator or a constructor.
    ///
    /// # Errors
    ///
    /// `TypeError` for another number of arguments, or for a tensor with another type
    /// than the annotation of its parameter; otherwise errors of
    /// [`evaluate`](Self::evaluate).
    pub fn call(&self, callee: impl Into<Value>, args: &[Value]) -> Result<Value> {
        let callee = &callee.into();
        if let Some(closure) = callee.peek::<Ref<Closure>>() {
            check_arguments(&closure.func, args)?;
        }
        Machine::new(&self.program).call(callee, args)
    }
}

impl Default for Evaluator {
    fn default() -> Self {
        Evaluator::new()
    }
}

/// Checks tensors against the annotations of parameters.
fn check_arguments(func: &Ref<Function>, args: &[Value]) -> Result<()> {
    for (param, value) in func.params.iter().zip(args) {
        let annotation = param.type_annotation.as_ref();
        let Some(expected) = annotation.and_then(|ty| ty.downcast_ref::<TensorType>()) else {
            continue;
        };
        if !fits(expected, value) {
            return Err(Error::type_error(format!(
                "argument '{}': expected a tensor of {}, got {}",
                param.name_hint,
                tensor_text(expected),
                value_text(value)
            )));
        }
    }
    Ok(())
}

/// Returns an evaluator: a function from an expression to its value, or from the value
/// of a function and its arguments to the result.
#[export("relay.eval.evaluator")]
fn make_evaluator(
    module: Option<Ref<IRModule>>,
    #[default = 1000000] max_depth: i64,
    max_bytes: Option<i64>,
) -> Callable {
    let limit = |number: i64| usize::try_from(number).unwrap_or(0);
    let mut evaluator = Evaluator::new().max_depth(limit(max_depth));
    if let Some(bytes) = max_bytes {
        evaluator = evaluator.max_bytes(limit(bytes));
    }
    evaluator.program.module = module;
    Callable::with_content(
        evaluator,
        |evaluator: &Evaluator, arguments| match arguments {
            [expr] => evaluator.evaluate(expr.extract::<Ref<RelayExpr>>()?),
            [callee, args] => {
                let args: Vec<Value> = args
                    .items()
                    .ok_or_else(|| {
                        Error::type_error(format!(
                            "expected the arguments in a sequence, got {}",
                            args.type_name()
                        ))
                    })?
                    .iter()
                    .map(argument)
                    .collect();
                evaluator.call(callee, &args)
            }
            _ => Err(Error::type_error(format!(
                "expected an expression, or a function and its arguments, got {} arguments",
                arguments.len()
            ))),
        },
    )
}

/// A value for a constant of a program.
fn argument(value: &Value) -> Value {
    match value.peek::<Ref<Constant>>() {
        Some(constant) => constant.data.clone().into(),
        None => value.clone(),
    }
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![make_evaluator]
}
