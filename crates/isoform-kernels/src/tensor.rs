//! Tensors: borrowed and owned.

use crate::control::Control;
use crate::element::{Element, Native};
use crate::element_type::ElementType;
use crate::error::{KernelError, Result};

/// A borrowed tensor: an element type, a shape, and elements in row-major order.
///
/// ```
/// use isoform_kernels::{ElementType, View};
///
/// let bytes = [1, 0, 2, 0, 3, 0];
/// let view = View::new(ElementType::Int16, &[3], &bytes)?;
/// assert_eq!(view.to_vec::<i16>()?, [1, 2, 3]);
/// assert!(View::new(ElementType::Int16, &[4], &bytes).is_err());
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View<'a> {
    element_type: ElementType,
    shape: &'a [usize],
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// A tensor in borrowed bytes, which need no alignment.
    ///
    /// # Errors
    ///
    /// A shape error if the number of bytes does not fit the shape, or if the product
    /// of the sizes other than 0 is out of range.
    pub fn new(element_type: ElementType, shape: &'a [usize], bytes: &'a [u8]) -> Result<Self> {
        let size = element_type.size();
        if shape.is_empty() && bytes.len() == size {
            return Ok(View {
                element_type,
                shape,
                bytes,
            });
        }
        let mut dims = shape.iter().filter(|dim| **dim != 0);
        let length = dims
            .try_fold(size, |size, dim| size.checked_mul(*dim))
            .filter(|length| isize::try_from(*length).is_ok())
            .map(|length| if shape.contains(&0) { 0 } else { length });
        if length != Some(bytes.len()) {
            return Err(KernelError::shape(format!(
                "a tensor of shape {shape:?} with elements of {size} bytes: expected {} bytes, got {}",
                length.map_or("a number in range".to_owned(), |length| length.to_string()),
                bytes.len()
            )));
        }
        Ok(View {
            element_type,
            shape,
            bytes,
        })
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The sizes of the axes, outermost first; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The elements: row-major, little-endian.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number of elements.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a view is not a collection")]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.element_type.size()
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The elements as values of Rust.
    ///
    /// # Errors
    ///
    /// A type error if the elements have another type.
    pub fn to_vec<T: Native>(&self) -> Result<Vec<T>> {
        T::expect(self.element_type)?;
        Ok(self
            .elements::<T>()
            .iter()
            .map(|raw| T::read(*raw))
            .collect())
    }

    /// An owned copy.
    ///
    /// # Errors
    ///
    /// A size error beyond the limit of `control`.
    pub fn to_tensor(&self, control: &Control<'_>) -> Result<Tensor> {
        Ok(Tensor {
            element_type: self.element_type,
            shape: self.shape.to_vec(),
            bytes: self.copied(control)?,
        })
    }

    pub(crate) fn copied(&self, control: &Control<'_>) -> Result<Vec<u8>> {
        let mut bytes = control.zeros(self.shape, self.element_type.size())?;
        bytes.copy_from_slice(self.bytes);
        Ok(bytes)
    }

    /// The stored elements; the caller has matched the type.
    pub(crate) fn elements<T: Element>(&self) -> &'a [T::Raw] {
        debug_assert_eq!(self.element_type.size(), T::TYPE.size());
        T::chunks(self.bytes)
    }

    /// The same elements with another shape of as many elements.
    pub(crate) fn with_shape<'b>(self, shape: &'b [usize]) -> View<'b>
    where
        'a: 'b,
    {
        View { shape, ..self }
    }
}

/// An owned tensor.
///
/// ```
/// use isoform_kernels::Tensor;
///
/// let tensor = Tensor::from_slice(&[2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(tensor.element_type().name(), "float32");
/// assert_eq!(tensor.bytes().len(), 16);
/// # Ok::<(), isoform_kernels::KernelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    element_type: ElementType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of owned bytes: row-major, little-endian.
    ///
    /// # Errors
    ///
    /// A shape error if the number of bytes does not fit the shape.
    pub fn new(element_type: ElementType, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Self> {
        View::new(element_type, &shape, &bytes)?;
        Ok(Tensor {
            element_type,
            shape,
            bytes,
        })
    }

    /// A tensor with the values of a slice.
    ///
    /// # Errors
    ///
    /// A shape error if the number of values does not fit the shape.
    pub fn from_slice<T: Native>(shape: &[usize], values: &[T]) -> Result<Self> {
        let mut bytes = vec![0; size_of_val(values)];
        for (out, value) in T::chunks_mut(&mut bytes).iter_mut().zip(values) {
            *out = value.write();
        }
        Tensor::new(T::TYPE, shape.to_vec(), bytes)
    }

    /// A tensor of rank 0.
    #[must_use]
    pub fn scalar<T: Native>(value: T) -> Self {
        let mut bytes = vec![0; size_of::<T>()];
        T::chunks_mut(&mut bytes)[0] = value.write();
        Tensor::raw(T::TYPE, Vec::new(), bytes)
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// The sizes of the axes, outermost first; empty for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements: row-major, little-endian.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The tensor as the argument of a kernel.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View {
            element_type: self.element_type,
            shape: &self.shape,
            bytes: &self.bytes,
        }
    }

    /// The parts, without a copy.
    #[must_use]
    pub fn into_parts(self) -> (ElementType, Vec<usize>, Vec<u8>) {
        (self.element_type, self.shape, self.bytes)
    }

    /// A tensor with one element, in a shape of one element.
    pub(crate) fn single<T: Element>(
        element: T::Raw,
        shape: &[usize],
        control: &Control<'_>,
    ) -> Result<Self> {
        control.elements(shape, T::TYPE.size())?;
        let bytes = element.as_ref().to_vec();
        Ok(Tensor::raw(T::TYPE, shape.to_vec(), bytes))
    }

    /// A tensor whose parts are known to fit.
    pub(crate) fn raw(element_type: ElementType, shape: Vec<usize>, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(
            shape.iter().product::<usize>() * element_type.size(),
            bytes.len()
        );
        Tensor {
            element_type,
            shape,
            bytes,
        }
    }
}
