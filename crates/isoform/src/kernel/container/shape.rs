//! `Shape`: an immutable tuple of 64-bit integers.

use std::fmt;
use std::ops::Deref;

use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

/// The payload of a shape.
#[derive(Debug)]
pub(crate) struct ShapeObj {
    pub(crate) dims: Box<[i64]>,
}

impl ShapeObj {
    pub(crate) fn copy_payload(&self) -> Self {
        ShapeObj {
            dims: self.dims.clone(),
        }
    }
}

/// An immutable tuple of integers; cloning shares the tuple.
#[repr(transparent)]
#[derive(Clone)]
pub struct Shape(Ref<ShapeObj>);

impl Shape {
    /// True if both are the same object.
    pub fn same_as(&self, other: &Shape) -> bool {
        self.0.same_as(&other.0)
    }
}

impl Deref for Shape {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.0.dims
    }
}

impl From<Vec<i64>> for Shape {
    fn from(dims: Vec<i64>) -> Self {
        Shape(Ref::new(ShapeObj { dims: dims.into() }))
    }
}

impl<const N: usize> From<[i64; N]> for Shape {
    fn from(dims: [i64; N]) -> Self {
        dims.to_vec().into()
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&Shape> for Value {
    fn from(shape: &Shape) -> Self {
        shape.clone().into()
    }
}

impl From<Shape> for Value {
    fn from(shape: Shape) -> Self {
        Value::from_object(shape.0.into_object())
    }
}
