//! The operator and the attributes of a call, for inference, evaluation and rewriting.

use isoform::values::ValueRef;
use isoform::{Ref, Value};

use crate::elem_type::ElemType;
use crate::ir::{AttrRef, Call, Graph};

/// An attribute is unknown because it belongs to the enclosing function, or has another
/// type than the operator declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Call {
    /// True for an operator of `ai.onnx` with this name.
    #[must_use]
    pub fn is(&self, op: &str) -> bool {
        self.callee.is_none() && self.domain.is_empty() && self.op == op
    }

    /// True for an operator of `ai.onnx`.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        self.callee.is_none() && self.domain.is_empty()
    }

    /// The name of an operator of `ai.onnx`; None for other domains and local
    /// functions.
    #[must_use]
    pub fn standard_op(&self) -> Option<&str> {
        let is_standard = self.callee.is_none() && self.domain.is_empty();
        is_standard.then(|| self.op.as_str())
    }

    /// The name of the operator or function in the file. In programs from elsewhere, a
    /// name is made up from the operator or function applied by the node.
    pub(crate) fn shown_op(&self) -> String {
        match (self.op_name.as_str(), &self.callee) {
            ("", Some(callee)) => callee.name.to_string(),
            ("", None) if self.domain.is_empty() => self.op.to_string(),
            ("", None) => format!("{}.{}", self.domain, self.op),
            (name, _) => name.to_owned(),
        }
    }

    /// The value of an input; None if omitted.
    #[must_use]
    pub fn input(&self, position: usize) -> Option<&Value> {
        self.inputs
            .values()
            .get(position)
            .filter(|value| !value.is_none())
    }

    fn attr<'a, T>(
        &'a self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Unknown> {
        match self.attrs.iter().find(|(key, _)| key.as_str() == name) {
            None => Ok(None),
            Some((_, value)) => read(value).map(Some).ok_or(Unknown),
        }
    }

    /// An int attribute; None if the call omits the attribute.
    ///
    /// # Errors
    ///
    /// [`Unknown`] if the attribute has another type; all readers of attributes fail
    /// alike.
    pub fn int(&self, name: &str) -> Result<Option<i64>, Unknown> {
        self.attr(name, Value::as_int)
    }

    /// An attribute that is a float.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int).
    pub fn float(&self, name: &str) -> Result<Option<f64>, Unknown> {
        self.attr(name, Value::as_float)
    }

    /// An attribute that is a string.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int).
    pub fn str(&self, name: &str) -> Result<Option<&str>, Unknown> {
        self.attr(name, Value::as_str)
    }

    /// An attribute that is a list of ints.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int).
    pub fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Unknown> {
        self.attr(name, |value| match value.view() {
            ValueRef::Array(items) => items.values().iter().map(Value::as_int).collect(),
            _ => None,
        })
    }

    /// An attribute that is a list of floats.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int).
    pub fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Unknown> {
        self.attr(name, |value| match value.view() {
            ValueRef::Array(items) => items.values().iter().map(Value::as_float).collect(),
            _ => None,
        })
    }

    /// An attribute that is a graph.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int).
    pub fn body(&self, name: &str) -> Result<Option<&Ref<Graph>>, Unknown> {
        self.attr(name, |value| value.as_object()?.downcast_ref::<Graph>())
    }

    /// An attribute of any type.
    ///
    /// # Errors
    ///
    /// [`Unknown`] if it is an attribute of the enclosing function.
    pub fn attribute(&self, name: &str) -> Result<Option<&Value>, Unknown> {
        self.attr(name, |value| {
            let is_ref = value
                .as_object()
                .is_some_and(|object| object.downcast_ref::<AttrRef>().is_some());
            (!is_ref).then_some(value)
        })
    }

    /// An attribute that holds the number of an element type, as in Cast.
    ///
    /// # Errors
    ///
    /// As [`int`](Self::int), and for a number without a type.
    pub fn elem(&self, name: &str) -> Result<Option<ElemType>, Unknown> {
        match self.int(name)? {
            None => Ok(None),
            Some(code) => i32::try_from(code)
                .ok()
                .and_then(ElemType::from_code)
                .map(Some)
                .ok_or(Unknown),
        }
    }
}
