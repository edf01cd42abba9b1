//! Calls of operators on values.

use std::cell::Cell;

use isoform::functions::{Argument, Function};
use isoform::plumbing::Poll;
use isoform::values::{DType, Tensor};
use isoform::{Array, Error, Ref, Result, Value, export};
use isoform_ir::ir::{Attrs, Op, OpRegistry};
use isoform_ir::kernels::{element_type, tensor_of};
use isoform_kernels::{Control, ElementType, Tensor as Computed};

use super::call::{OpCall, Outcome, Refusal};
use super::contract::{Contract, check_result};
use super::kernels::Kernel;

/// The attribute of an operator with the kernel of a program.
pub(super) const KERNEL: &str = "FKernel";

/// Computes calls, with a limit for the size of results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runner {
    /// The largest result in bytes.
    pub(crate) max_bytes: usize,
}

impl Default for Runner {
    fn default() -> Self {
        let max_bytes = Control::default().max_bytes;
        Runner { max_bytes }
    }
}

/// The kernel of an operator; found once and used for many calls.
#[derive(Clone)]
pub(crate) struct Implementation {
    kernel: Source,
    /// The requirements of inference for a call, unless the kernel refuses the same calls itself.
    contract: Option<Contract>,
}

#[derive(Clone)]
enum Source {
    /// Of this library.
    Known(Kernel),
    /// Of a program.
    Custom(Function),
}

impl Implementation {
    /// The kernel of a program comes first.
    pub(crate) fn of(op: &Op) -> Option<Implementation> {
        let kernel = match op.attribute(KERNEL) {
            Some(custom) => Source::Custom(custom.extract().ok()?),
            None => Source::Known(super::kernels::find(&op.name)?),
        };
        let contract = match &kernel {
            // These operators have no attributes, and broadcast like type inference.
            Source::Known(Kernel::Unary(_) | Kernel::Binary(_) | Kernel::Comparison(_)) => None,
            _ => Contract::of(op),
        };
        Some(Implementation { kernel, contract })
    }

    fn run(&self, values: &[Value], attrs: Option<&Ref<Attrs>>, control: Control<'_>) -> Outcome {
        let promised = match &self.contract {
            Some(contract) => contract.result(values, attrs)?,
            None => None,
        };
        match &self.kernel {
            Source::Known(kernel) => {
                // Operators on tuples have a single input. Other operators may pass a tuple
                // through.
                let items = match values {
                    [value] => value.items(),
                    _ => None,
                };
                let mut call = OpCall::new(values, items.as_ref(), attrs, control);
                call.read()?;
                kernel.run(&call)
            }
            Source::Custom(function) => {
                let value = custom(function, values, attrs)?;
                if let Some(promised) = promised {
                    check_result(&promised, &value).map_err(Refusal::Failed)?;
                }
                Ok(value)
            }
        }
    }
}

impl Runner {
    /// The value of a call.
    pub(crate) fn run(
        self,
        op: &Op,
        implementation: Option<&Implementation>,
        values: &[Value],
        attrs: Option<&Ref<Attrs>>,
    ) -> Outcome {
        let stopped = Cell::new(None);
        let interrupted = || match Poll::now() {
            Ok(()) => false,
            Err(error) => {
                stopped.set(Some(error));
                true
            }
        };
        let control = Control {
            max_bytes: self.max_bytes,
            interrupted: Some(&interrupted),
        };
        let result = match implementation {
            Some(implementation) => implementation.run(values, attrs, control),
            None => Err(Refusal::Unknown(Error::value_error(
                "there is no kernel; isoform.relay.register_kernel adds one",
            ))),
        };
        // A kernel stopped by the user reports only the interruption.
        if let Some(error) = stopped.take() {
            return Err(Refusal::Failed(error));
        }
        result.map_err(|refusal| {
            let context = format_args!("operator {}", op.name);
            match refusal {
                Refusal::Unknown(error) => Refusal::Unknown(error.in_context(context)),
                Refusal::Failed(error) => Refusal::Failed(error.in_context(context)),
            }
        })
    }
}

/// Asks the kernel of a program.
fn custom(function: &Function, values: &[Value], attrs: Option<&Ref<Attrs>>) -> Outcome {
    let outcome = match CustomKernel::of(function) {
        Some(kernel) => (kernel.0)(&KernelCall { values, attrs }),
        None => {
            let inputs: Array = values.iter().cloned().collect();
            function.call(&[inputs.into(), attrs.cloned().into()])
        }
    };
    let value = outcome.map_err(Refusal::Failed)?;
    if value.is_none() {
        return Err(Refusal::Unknown(Error::value_error(
            "the kernel returned None, so there is no result for these inputs",
        )));
    }
    result_of(value).map_err(Refusal::Failed)
}

/// The result of a kernel of a program: a tensor, or a sequence of tensors as a tuple.
fn result_of(value: Value) -> Result<Value> {
    if value.peek::<Tensor>().is_some() {
        return Ok(value);
    }
    if let Some(items) = value.items() {
        let parts = items
            .iter()
            .map(|item| Tensor::from_value(item.clone()).map(Value::from));
        return Ok(parts.collect::<Result<Array>>()?.into());
    }
    // Arrays of other libraries are converted like arguments.
    Tensor::from_value(value)
        .map(Value::from)
        .map_err(|error| error.in_context("the result of a kernel, a tensor or a tuple of tensors"))
}

/// Numbers as a tensor of a type; they are counted as int32 unless that is int64.
pub(crate) fn integers(numbers: &[i64], shape: &[usize], dtype: DType, runner: Runner) -> Outcome {
    let control = Control {
        max_bytes: runner.max_bytes,
        interrupted: None,
    };
    let ty = element_type(dtype)?;
    let counted = match ty {
        ElementType::Int64 => Computed::from_slice(shape, numbers)?,
        _ => {
            let small: Result<Vec<i32>, _> = numbers.iter().map(|n| i32::try_from(*n)).collect();
            let small = small.map_err(|_| Error::value_error("a size does not fit in int32"))?;
            Computed::from_slice(shape, &small)?
        }
    };
    let made = isoform_kernels::elementwise::cast(counted.view(), ty, &control)?;
    Ok(tensor_of(made, &control)?.into())
}

/// The inputs and attributes of a call, for the kernel of a program.
#[derive(Debug)]
pub struct KernelCall<'a> {
    values: &'a [Value],
    attrs: Option<&'a Ref<Attrs>>,
}

impl<'a> KernelCall<'a> {
    /// The values of the arguments: tensors, and arrays for tuples.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }

    /// An argument, checked to be a tensor.
    ///
    /// # Errors
    ///
    /// `TypeError` for another value, or for a missing argument.
    pub fn tensor(&self, position: usize) -> Result<&'a Tensor> {
        let value = self.values.get(position).ok_or_else(|| {
            Error::type_error(format!(
                "expected at least {} arguments, got {}",
                position + 1,
                self.values.len()
            ))
        })?;
        value.peek::<Tensor>().ok_or_else(|| {
            let got = value.type_name();
            Error::type_error(format!(
                "argument {}: expected a tensor, got {got}",
                position + 1
            ))
        })
    }

    /// The attributes of the call.
    pub fn attrs(&self) -> Option<&'a Ref<Attrs>> {
        self.attrs
    }
}

type CustomBody = dyn Fn(&KernelCall<'_>) -> Result<Value> + Send + Sync;

/// The content of a function around a kernel written in Rust.
struct CustomKernel(Box<CustomBody>);

impl CustomKernel {
    fn of(function: &Function) -> Option<&CustomKernel> {
        function.content()
    }
}

/// Makes a kernel: a function of the inputs and attributes of a call. The function
/// returns a tensor, an array of tensors for a tuple, or None if these inputs have no
/// result.
///
/// Called as a function of a list of inputs and the attributes, the interface of
/// kernels written in Python, the kernel returns the same.
pub fn kernel(body: impl Fn(&KernelCall<'_>) -> Result<Value> + Send + Sync + 'static) -> Function {
    let content = CustomKernel(Box::new(body));
    Function::with_content(content, |kernel: &CustomKernel, arguments| {
        let [inputs, rest @ ..] = arguments else {
            return Err(Error::type_error(
                "a kernel expects the inputs of a call and its attributes, got no arguments",
            ));
        };
        let inputs = Array::<Value>::from_value(inputs.clone())?;
        let attrs = match rest {
            [] => None,
            [attrs, ..] => Option::<Ref<Attrs>>::from_value(attrs.clone())?,
        };
        let values: Vec<_> = inputs.iter().cloned().collect();
        (kernel.0)(&KernelCall {
            values: &values,
            attrs: attrs.as_ref(),
        })
    })
}

/// Sets the kernel of an operator, by which calls are evaluated and folded: one made by
/// [`kernel`], or any function of a list of inputs and the attributes. The new kernel
/// replaces the built-in kernel and any kernel set before.
///
/// ```
/// use isoform_relay::eval::{evaluate_call, kernel, register_kernel};
/// use isoform::values::{DType, Tensor};
/// use isoform::Value;
/// use isoform_ir::register_op;
///
/// // The first byte of a tensor.
/// let first = kernel(|call| {
///     let data = call.tensor(0)?;
///     // None leaves the call in the program.
///     let Some(byte) = data.data().first() else { return Ok(Value::NONE) };
///     Ok(Tensor::new("uint8".parse()?, vec![], vec![*byte])?.into())
/// });
/// let op = register_op!("doc.first_byte")?.num_inputs(1).op().clone();
/// register_kernel("doc.first_byte", first)?;
/// let data = Tensor::new(DType::INT32, vec![1], 258_i32.to_le_bytes().to_vec())?;
/// let result: Tensor = evaluate_call(&op, &[data.into()], None)?.extract()?;
/// assert_eq!(result.data()[..], [2]);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `AttributeError` if the operator is not registered.
pub fn register_kernel(op_name: &str, function: Function) -> Result<()> {
    Op::get(op_name)?;
    let entry = OpRegistry::get_or_register(op_name)?;
    let priority = entry
        .attribute_info(KERNEL)
        .map_or(10, |info| info.priority + 1);
    entry.attr(KERNEL, function, priority).map(drop)
}

/// The result of an operator on values, with the data type and shape that type
/// inference finds for the call: a tensor, or an array of tensors for a tuple.
///
/// Operators behave as in inference: `nn.dropout` returns its input. The time is the
/// time of the kernel.
///
/// ```
/// use isoform_relay as relay;
/// use isoform_relay::eval::evaluate_call;
/// use isoform_ir::ir::Op;
/// use isoform::values::{DType, Tensor};
///
/// relay::register()?;
/// let number = |x: i32| Tensor::new(DType::INT32, vec![], x.to_le_bytes().to_vec());
/// let difference = evaluate_call(&*Op::get("subtract")?, &[number(7)?.into(), number(9)?.into()], None)?;
/// let difference: Tensor = difference.extract()?;
/// assert_eq!(difference.data()[..], (-2_i32).to_le_bytes());
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` or `TypeError` if the operator has no kernel, or if the result is not
/// defined (an integer division by zero, an index outside of a tensor). `ValueError` or
/// `TypeError` also if the result is larger than 2 GiB, and if type inference rejects
/// the inputs and attributes. Errors of the kernel of a program, and `TypeError` if its
/// result does not have the type found by inference.
pub fn evaluate_call(op: &Op, values: &[Value], attrs: Option<&Ref<Attrs>>) -> Result<Value> {
    let implementation = Implementation::of(op);
    let runner = Runner::default();
    let result = runner.run(op, implementation.as_ref(), values, attrs);
    result.map_err(Refusal::into_error)
}

#[export("relay.eval.evaluate_call")]
fn exported_evaluate_call(op: &Ref<Op>, values: Array, attrs: Option<Ref<Attrs>>) -> Result<Value> {
    evaluate_call(op, values.values(), attrs.as_ref())
}

#[export("relay.eval.register_kernel")]
fn exported_register_kernel(op_name: &str, kernel: Function) -> Result<()> {
    register_kernel(op_name, kernel)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_evaluate_call, exported_register_kernel]
}
