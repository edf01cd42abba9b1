//! A call with the facts of its inputs, and short ways to query them.

use std::sync::Arc;

use isoform::values::DTypeCode;

use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;
use crate::facts::symbols::Symbols;
use crate::ir::Call;

/// The inputs of a transfer function.
pub(in crate::facts) struct Context<'a> {
    pub(in crate::facts) call: &'a Call,
    pub(in crate::facts) inputs: &'a [Option<Arc<Fact>>],
    pub(in crate::facts) symbols: &'a mut Symbols,
}

impl<'a> Context<'a> {
    /// The fact of an input; None if omitted.
    pub(in crate::facts) fn fact(&self, at: usize) -> Option<&'a Fact> {
        self.inputs.get(at)?.as_deref()
    }

    pub(in crate::facts) fn has(&self, at: usize) -> bool {
        self.fact(at).is_some()
    }

    pub(in crate::facts) fn elem(&self, at: usize) -> Option<ElemType> {
        let fact = self.fact(at)?;
        fact.elem
    }

    pub(in crate::facts) fn shape(&self, at: usize) -> Option<&'a [Size]> {
        self.fact(at)?.shape.as_deref()
    }

    pub(in crate::facts) fn rank(&self, at: usize) -> Option<usize> {
        self.shape(at).map(<[Size]>::len)
    }

    pub(in crate::facts) fn elements(&self, at: usize) -> Option<&'a [Size]> {
        self.fact(at)?.elements.as_deref()
    }

    /// The elements of an input, if all are known numbers.
    pub(in crate::facts) fn consts(&self, at: usize) -> Option<Vec<i64>> {
        self.fact(at)?.elements_const()
    }

    /// The only element of an input.
    pub(in crate::facts) fn element(&self, at: usize) -> Option<&'a Size> {
        match self.elements(at)? {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The only element of an input, if it is a known number.
    pub(in crate::facts) fn const_element(&self, at: usize) -> Option<i64> {
        self.element(at)?.as_const()
    }

    /// The elements of an input that is a constant of 32-bit or 64-bit floats.
    pub(in crate::facts) fn floats(&self, at: usize) -> Option<Vec<f64>> {
        let tensor = self.fact(at)?.constant_tensor()?;
        let data = tensor.data();
        if data.len() > 8 * crate::facts::MAX_ELEMENTS || tensor.dtype().code() != DTypeCode::Float
        {
            return None;
        }
        match tensor.dtype().bits() {
            32 => {
                let numbers = data.chunks_exact(4);
                let number = |bytes: &[u8]| bytes.try_into().ok().map(f32::from_le_bytes);
                numbers.map(|bytes| number(bytes).map(f64::from)).collect()
            }
            64 => {
                let numbers = data.chunks_exact(8);
                let number = |bytes: &[u8]| bytes.try_into().ok().map(f64::from_le_bytes);
                numbers.map(number).collect()
            }
            _ => None,
        }
    }

    /// The operator set version.
    pub(in crate::facts) fn version(&self) -> i64 {
        self.call.version
    }

    /// An attribute, or its default; None if the value is unknown.
    pub(in crate::facts) fn int(&self, name: &str, default: i64) -> Option<i64> {
        self.call
            .int(name)
            .ok()
            .map(|given| given.unwrap_or(default))
    }

    /// An attribute, if given; None if the value is unknown.
    pub(in crate::facts) fn given_ints(&self, name: &str) -> Option<Option<Vec<i64>>> {
        self.call.ints(name).ok()
    }

    /// An attribute, or the default repeated to the requested length. None if the value
    /// is unknown or has another length.
    pub(in crate::facts) fn ints(
        &self,
        name: &str,
        count: usize,
        default: i64,
    ) -> Option<Vec<i64>> {
        let ints = self.call.ints(name).ok()?;
        match ints {
            None => Some(vec![default; count]),
            Some(ints) => (ints.len() == count).then_some(ints),
        }
    }

    /// An attribute, or its default; None if the value is unknown.
    pub(in crate::facts) fn str<'s>(&self, name: &str, default: &'s str) -> Option<&'s str>
    where
        'a: 's,
    {
        self.call
            .str(name)
            .ok()
            .map(|given| given.unwrap_or(default))
    }

    /// The element type encoded as a number in an attribute.
    pub(in crate::facts) fn elem_attr(&self, name: &str) -> Option<Option<ElemType>> {
        match self.call.int(name).ok()? {
            None | Some(0) => Some(None),
            Some(_) => self.call.elem(name).ok(),
        }
    }
}

/// The position of an axis that may count from the end; None if out of range.
pub(in crate::facts) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let rank_signed = i64::try_from(rank).ok()?;
    let axis = if axis < 0 {
        axis.checked_add(rank_signed)?
    } else {
        axis
    };
    usize::try_from(axis).ok().filter(|axis| *axis < rank)
}

/// The positions of distinct axes.
pub(in crate::facts) fn axes_of(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut found = Vec::with_capacity(axes.len());
    for axis in axes {
        let axis = axis_of(*axis, rank)?;
        if found.contains(&axis) {
            return None;
        }
        found.push(axis);
    }
    Some(found)
}
