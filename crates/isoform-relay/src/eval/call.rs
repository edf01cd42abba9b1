//! The call of an operator in the form for kernels of this library: inputs, attributes,
//! refusals.

use isoform_kernels::{
    Control, ElementType, ErrorKind as KernelFault, KernelError, Tensor as Computed, View,
};
use smallvec::SmallVec;

use isoform::values::Tensor;
use isoform::{Array, Error, Node, Ref, Result, Value};
use isoform_ir::ir::Attrs;
use isoform_ir::kernels::{Input, InputError, tensor_of};

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The call has no result: a missing kernel, undefined values such as a division by
    /// zero, a result beyond the size limit, or unfit inputs. The message names the
    /// operator.
    Unknown(Error),
    /// Something else failed: the kernel of a program, or the user interrupted.
    Failed(Error),
}

impl Refusal {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Refusal::Unknown(error) | Refusal::Failed(error) => error,
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Unknown(error)
    }
}

impl From<KernelError> for Refusal {
    fn from(error: KernelError) -> Self {
        Refusal::Unknown(match error.kind() {
            KernelFault::Type => Error::type_error(error.to_string()),
            _ => Error::value_error(error.to_string()),
        })
    }
}

impl From<InputError> for Refusal {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Unknown(error) => error.into(),
            InputError::Kernel(error) => error.into(),
        }
    }
}

pub(crate) type Outcome = std::result::Result<Value, Refusal>;

/// The call of an operator in the form for kernels of this library.
pub(crate) struct OpCall<'a> {
    pub(super) values: &'a [Value],
    attrs: Option<&'a Ref<Attrs>>,
    /// The items of the only value, if the value is a tuple.
    items: Option<&'a Array>,
    /// The tensor inputs; most operators have up to two.
    inputs: SmallVec<[Option<Input<'a>>; 2]>,
    /// The inputs in the tuple.
    parts: Vec<Input<'a>>,
    pub(super) control: Control<'a>,
}

impl<'a> OpCall<'a> {
    pub(super) fn new(
        values: &'a [Value],
        items: Option<&'a Array>,
        attrs: Option<&'a Ref<Attrs>>,
        control: Control<'a>,
    ) -> Self {
        OpCall {
            values,
            attrs,
            items,
            inputs: SmallVec::new(),
            parts: Vec::new(),
            control,
        }
    }

    /// Reads the values in place: the call is too large to be moved for every scalar.
    pub(super) fn read(&mut self) -> std::result::Result<(), Refusal> {
        for value in self.values {
            self.inputs.push(match value.peek::<Tensor>() {
                Some(tensor) => Some(Input::new(tensor, &self.control)?),
                None => None,
            });
        }
        for item in self.items.into_iter().flat_map(Array::values) {
            let Some(tensor) = item.peek::<Tensor>() else {
                self.parts.clear();
                break;
            };
            self.parts.push(Input::new(tensor, &self.control)?);
        }
        Ok(())
    }

    /// An input, checked to be a tensor.
    pub(super) fn input(&self, position: usize) -> Result<&Input<'a>> {
        match self.inputs.get(position) {
            Some(Some(input)) => Ok(input),
            Some(None) => Err(Error::type_error(format!(
                "argument {}: expected a tensor, got {}",
                position + 1,
                self.values[position].type_name()
            ))),
            None => Err(Error::type_error(format!(
                "expected at least {} arguments, got {}",
                position + 1,
                self.inputs.len()
            ))),
        }
    }

    pub(super) fn view(&self, position: usize) -> std::result::Result<View<'_>, Refusal> {
        Ok(self.input(position)?.view()?)
    }

    /// The fields of the only input, a tuple.
    pub(super) fn fields(&self) -> std::result::Result<Vec<View<'_>>, Refusal> {
        if let Some(Some(_)) = self.inputs.first() {
            let error = "argument 1: expected a tuple of tensors, got a tensor";
            return Err(Error::type_error(error).into());
        }
        let views = self.parts.iter().map(Input::view);
        Ok(views.collect::<std::result::Result<_, _>>()?)
    }

    /// An input with its elements converted.
    pub(super) fn cast(
        &self,
        position: usize,
        ty: ElementType,
    ) -> std::result::Result<Computed, Refusal> {
        let view = self.view(position)?;
        Ok(isoform_kernels::elementwise::cast(view, ty, &self.control)?)
    }

    pub(super) fn attrs<T: Node>(&self) -> Result<&'a Ref<T>> {
        let attrs = self.attrs;
        attrs
            .and_then(|attrs| attrs.downcast_ref::<T>())
            .ok_or_else(|| {
                let got = attrs.map_or("None", |attrs| attrs.type_info().key());
                Error::type_error(format!("attributes: expected {}, got {got}", T::TYPE_KEY))
            })
    }

    /// The result of a kernel as a value.
    pub(super) fn made(&self, computed: Computed) -> Outcome {
        Ok(tensor_of(computed, &self.control)?.into())
    }

    /// Several results as a tuple.
    pub(super) fn tuple(&self, computed: impl IntoIterator<Item = Computed>) -> Outcome {
        let fields = computed.into_iter().map(|part| self.made(part));
        Ok(fields
            .collect::<std::result::Result<Array, Refusal>>()?
            .into())
    }

    /// An input in another shape with the same number of elements, without copying the
    /// elements.
    pub(super) fn reshaped(&self, position: usize, shape: &[usize]) -> Outcome {
        let tensor = &self.input(position)?.tensor;
        let shape = shape.iter().map(|size| *size as i64).collect();
        Ok(Tensor::new(tensor.dtype(), shape, tensor.data().clone())?.into())
    }
}
