//! Products of matrices.

use super::broadcast::broadcast_shapes;
use super::dims::{self, Dim};
use crate::attrs::{BatchMatmulAttrs, DenseAttrs, MatmulAttrs};
use crate::op::relation::CallTypes;
use crate::text::{dim_text, shape_text};
use isoform::values::DType;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::{PrimExpr, Type};

/// The result of `nn.dense`: the product with a transposed weight.
pub(in super::super) fn dense(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<DenseAttrs>()?;
    let settings = Settings {
        name: "nn.dense",
        units: attrs.units.as_ref(),
        out_dtype: attrs.out_dtype,
        transpose_a: false,
        transpose_b: true,
    };
    settings.product(types)
}

/// The result of `nn.matmul`.
pub(in super::super) fn matmul(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<MatmulAttrs>()?;
    let settings = Settings {
        name: "nn.matmul",
        units: attrs.units.as_ref(),
        out_dtype: attrs.out_dtype,
        transpose_a: attrs.transpose_a,
        transpose_b: attrs.transpose_b,
    };
    settings.product(types)
}

/// The common settings of both products.
struct Settings<'a> {
    name: &'static str,
    units: Option<&'a Ref<PrimExpr>>,
    out_dtype: DType,
    transpose_a: bool,
    transpose_b: bool,
}

impl Settings<'_> {
    fn product(&self, types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
        let Some(data) = types.tensor(0)? else {
            return Ok(None);
        };
        let mut shape = dims::shape_of(data);
        let name = self.name;
        let rank = shape.len();
        if rank == 0 || self.transpose_a && rank != 2 {
            return Err(Error::value_error(format!(
                "{name}: expected {} as the first input, got a tensor of shape {}",
                if self.transpose_a {
                    "a matrix"
                } else {
                    "at least one dimension"
                },
                shape_text(&shape)
            )));
        }
        if self.transpose_a {
            shape.swap(0, 1);
        }
        let Some(inner) = shape.pop() else {
            return Ok(None);
        };
        let units = match (types.tensor(1)?, self.units) {
            (Some(weight), units) => {
                let sizes = dims::shape_of(weight);
                dims::expect_rank(&format!("{name}: weight"), &sizes, 2)?;
                let (columns, rows) = if self.transpose_b {
                    (&sizes[0], &sizes[1])
                } else {
                    (&sizes[1], &sizes[0])
                };
                if !dims::may_be_equal(&inner, rows) {
                    return Err(Error::value_error(format!(
                        "{name}: the last axis of the input has size {}, and that of the weight \
                         of shape {} has size {}",
                        dim_text(&inner),
                        shape_text(&sizes),
                        dim_text(rows)
                    )));
                }
                if let Some(units) = units
                    && !dims::may_be_equal(units, columns)
                {
                    return Err(Error::value_error(format!(
                        "{name}: units={} do not agree with the weight of shape {}",
                        dim_text(units),
                        shape_text(&sizes)
                    )));
                }
                columns.clone()
            }
            (None, Some(units)) => {
                let weight = if self.transpose_b {
                    [units.clone(), inner]
                } else {
                    [inner, units.clone()]
                };
                types.assign(1, dims::tensor(weight, data.dtype));
                units.clone()
            }
            (None, None) => return Ok(None),
        };
        shape.push(units);
        let dtype = dims::dtype_or(self.out_dtype, data.dtype);
        Ok(Some(dims::tensor(shape, dtype)))
    }
}

/// The result of `nn.batch_matmul`.
pub(in super::super) fn batch_matmul(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<BatchMatmulAttrs>()?;
    let (Some(left), Some(right)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    let (mut a, mut b) = (dims::shape_of(left), dims::shape_of(right));
    for (name, shape) in [("the first input", &a), ("the second input", &b)] {
        dims::expect_rank(&format!("nn.batch_matmul: {name}"), shape, 3)?;
    }
    let shapes = [shape_text(&a), shape_text(&b)];
    if attrs.transpose_a {
        a.swap(1, 2);
    }
    if attrs.transpose_b {
        b.swap(1, 2);
    }
    let disagree = |what: &str, left: &Dim, right: &Dim| {
        Error::value_error(format!(
            "nn.batch_matmul: {what} {} and {} do not agree in inputs of shapes {} and {}",
            dim_text(left),
            dim_text(right),
            shapes[0],
            shapes[1]
        ))
    };
    if !dims::may_be_equal(&a[2], &b[1]) {
        return Err(disagree("the inner sizes", &a[2], &b[1]));
    }
    let batch = broadcast_shapes(&a[..1], &b[..1]);
    let batch = batch.ok_or_else(|| disagree("the batch sizes", &a[0], &b[0]))?;
    let dtype = dims::dtype_or(attrs.out_dtype, left.dtype);
    let shape = vec![batch[0].clone(), a[1].clone(), b[2].clone()];
    Ok(Some(dims::tensor(shape, dtype)))
}
