//! How operators treat a factor for each channel of their data or of their result.

use crate::Call;
use crate::attrs::{BiasAddAttrs, Conv2DAttrs, DenseAttrs};
use crate::eval::numbers;
use crate::op::dims;
use crate::passes::effects::Effects;
use crate::passes::form::Form;
use crate::passes::graph::{Graph, Id};
use isoform::values::{DTypeCode, Tensor};
use isoform::{Ref, Result};
use isoform_ir::ir::{Op, TensorType};

/// An operator with regard to factors.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A product with a weight.
    Product(Product),
    /// A positive factor of the data is a factor of the result.
    Positive,
    /// A factor of one operand is a factor of the result.
    Multiply,
    /// A common factor of both operands is a factor of the result.
    Add,
    /// The sum of the data and a vector along this axis.
    Bias(usize),
    Other,
}

/// A convolution, or a product of matrices.
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// The axis of the channels of the result.
    pub(super) out_axis: usize,
    /// The axis of the channels of the data.
    pub(super) data_axis: usize,
    /// The rank of the weight, and its axis for the channels of the result.
    pub(super) out_weight: (usize, usize),
    /// The rank of the weight, and its axis for the channels of the data, if each has one.
    pub(super) data_weight: Option<(usize, usize)>,
}

/// The operators of a program, with types of floats; others have the kind `Other`.
pub(super) struct Kinds<'g> {
    pub(super) graph: &'g Graph,
    effects: &'g Effects,
    kinds: Vec<Kind>,
}

impl<'g> Kinds<'g> {
    pub(super) fn of(graph: &'g Graph, effects: &'g Effects) -> Result<Kinds<'g>> {
        let mut kinds = Vec::with_capacity(graph.len());
        for id in 0..graph.len() as Id {
            kinds.push(match graph.form(id)? {
                Form::Call(call) if is_float(graph, id) => kind(call).unwrap_or(Kind::Other),
                _ => Kind::Other,
            });
        }
        Ok(Kinds {
            graph,
            effects,
            kinds,
        })
    }

    pub(super) fn kind(&self, id: Id) -> &Kind {
        &self.kinds[id as usize]
    }

    pub(super) fn shape(&self, id: Id) -> Option<Vec<i64>> {
        let ty = self.graph.expr(id).checked_type_.as_ref()?;
        let ty = ty.downcast_ref::<TensorType>()?;
        ty.shape.iter().map(dims::known).collect()
    }

    /// An argument of a call.
    pub(super) fn arg(&self, id: Id, position: usize) -> Id {
        self.graph.operands(id)[position + 1]
    }

    /// The operand of a broadcast operator that has the shape of the result, and the other.
    pub(super) fn whole_and_other(&self, id: Id) -> Option<(usize, usize)> {
        let whole = self.shape(id)?;
        let fits = |position: &usize| self.shape(self.arg(id, *position)).as_ref() == Some(&whole);
        let position = [0, 1].into_iter().find(fits)?;
        Some((position, 1 - position))
    }

    /// The number of elements of a factor along an axis of a tensor: 1, or the size of the
    /// axis. None for other tensors.
    pub(super) fn factor(&self, id: Id, whole: Id, axis: usize) -> Option<i64> {
        let (small, large) = (self.shape(id)?, self.shape(whole)?);
        let missing = large.len().checked_sub(small.len())?;
        let mut count = 1;
        for (position, size) in small.iter().enumerate() {
            if position + missing == axis && *size == large[axis] {
                count = *size;
            } else if *size != 1 {
                return None;
            }
        }
        Some(count)
    }

    /// True if an expression can be evaluated anywhere in its scope as a factor: a constant
    /// is finite. With `positive`, it is a constant of positive numbers.
    pub(super) fn may_be_factor(&self, id: Id, positive: bool) -> Result<bool> {
        let mut inner = id;
        loop {
            match self.graph.form(inner)? {
                Form::Constant(constant) => return Ok(all_finite(&constant.data, positive)),
                Form::Call(call) if is_move(call) => inner = self.arg(inner, 0),
                _ => return Ok(!positive && self.effects.may_move(id)),
            }
        }
    }
}

/// True for operators that only give a tensor another shape.
fn is_move(call: &Call) -> bool {
    let op = call.op.downcast_ref::<Op>();
    op.is_some_and(|op| matches!(&*op.name, "expand_dims" | "reshape" | "squeeze"))
}

fn all_finite(tensor: &Tensor, positive: bool) -> bool {
    let fits = |number: f64| number.is_finite() && (number > 0.0 || !positive);
    numbers(tensor).is_some_and(|numbers| numbers.into_iter().all(fits))
}

/// True if the result and all arguments of a call are tensors of one type of floats.
fn is_float(graph: &Graph, id: Id) -> bool {
    let dtype = |id: Id| {
        let ty = graph.expr(id).checked_type_.as_ref()?;
        Some(ty.downcast_ref::<TensorType>()?.dtype)
    };
    let Some(result) = dtype(id) else {
        return false;
    };
    matches!(result.code(), DTypeCode::Float | DTypeCode::BFloat)
        && graph.operands(id)[1..]
            .iter()
            .all(|arg| dtype(*arg) == Some(result))
}

fn kind(call: &Ref<Call>) -> Option<Kind> {
    Some(match &*call.op.downcast_ref::<Op>()?.name {
        "nn.conv2d" => Kind::Product(conv2d(call)?),
        "nn.dense" => Kind::Product(dense(call)?),
        "nn.relu" | "nn.leaky_relu" => Kind::Positive,
        "multiply" => Kind::Multiply,
        "add" | "subtract" => Kind::Add,
        "nn.bias_add" => Kind::Bias(bias_axis(call)?),
        _ => Kind::Other,
    })
}

fn bias_axis(call: &Ref<Call>) -> Option<usize> {
    let attrs = call.attrs.as_ref()?.downcast_ref::<BiasAddAttrs>()?;
    let data = call.args.get(0)?.checked_type_.as_ref()?;
    let rank = data.downcast_ref::<TensorType>()?.shape.len();
    dims::axis_of("nn.bias_add", attrs.axis, rank).ok()
}

fn conv2d(call: &Ref<Call>) -> Option<Product> {
    let attrs = call.attrs.as_ref()?.downcast_ref::<Conv2DAttrs>()?;
    let out_layout = if attrs.out_layout.is_empty() {
        &attrs.data_layout
    } else {
        &attrs.out_layout
    };
    let size = |arg: usize, axis: usize| {
        let ty = call.args.get(arg)?.checked_type_.as_ref()?;
        dims::known(ty.downcast_ref::<TensorType>()?.shape.get(axis)?)
    };
    let data_axis = attrs.data_layout.find('C')?;
    let [outputs, inputs] = ['O', 'I'].map(|letter| attrs.kernel_layout.find(letter));
    let (outputs, inputs) = (outputs?, inputs?);
    let channels = size(0, data_axis)?;
    let is_depthwise = attrs.groups == channels && size(1, outputs)? == channels;
    let data_weight = match attrs.groups {
        1 => Some((4, inputs)),
        _ if is_depthwise => Some((4, outputs)),
        _ => None,
    };
    Some(Product {
        out_axis: out_layout.find('C')?,
        data_axis,
        out_weight: (4, outputs),
        data_weight,
    })
}

fn dense(call: &Ref<Call>) -> Option<Product> {
    call.attrs.as_ref()?.downcast_ref::<DenseAttrs>()?;
    let ty = call.args.get(0)?.checked_type_.as_ref()?;
    let last = ty
        .downcast_ref::<TensorType>()?
        .shape
        .len()
        .checked_sub(1)?;
    Some(Product {
        out_axis: last,
        data_axis: last,
        out_weight: (2, 0),
        data_weight: Some((2, 1)),
    })
}
