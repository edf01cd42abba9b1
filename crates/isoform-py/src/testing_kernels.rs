//! Kernels by name, for the tests in Python that compare them with NumPy.
//!
//! Kernels are called without `isoform_relay` and `isoform_onnx`, whose operators
//! check calls first, have fewer parameters and know fewer kinds of errors.

use isoform_kernels::attention::{Attention, Scores};
use isoform_kernels::create::{arange, full, shape_of, size_of};
use isoform_kernels::elementwise::{
    Binary, CastOptions, Comparison, OutOfRange, Unary, bias_add, binary, clip, compare,
    leaky_relu, select, unary,
};
use isoform_kernels::indexing::{
    GatherNd, IndexMode, OneHot, ScatterMode, Take, TupleAxis, argsort, gather, scatter_elements,
    scatter_nd, top_k,
};
use isoform_kernels::movement::{
    AxisSlice, PadMode, broadcast_to, concatenate, expand_dims, layout_transform, pad, repeat,
    reshape, reverse, split, squeeze, stack, strided_slice, tile, transpose,
};
use isoform_kernels::normalize::{BatchNorm, LayerNorm, log_softmax, softmax};
use isoform_kernels::products::MatMul;
use isoform_kernels::reduce::{Axes, Extreme, Reduction, collapse_sum};
use isoform_kernels::shape::{self, PoolRounding, Window, ZeroCode};
use isoform_kernels::windows::{Convolution, Pool, global_windows};
use isoform_kernels::{Control, ElementType, KernelError, Tensor, View, pack_bits, unpack_bits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

/// The element type, the shape and the bytes of an operand.
type Operand = (String, Vec<usize>, PyBackedBytes);
type Answer = (&'static str, Vec<usize>, Vec<u8>);

/// The results of a kernel on operands, each as element type, shape and bytes.
///
/// Raises ValueError with the kind and the message of the kernel's error.
#[pyfunction]
#[pyo3(signature = (name, *operands, **options))]
fn compute_kernel(
    name: &str,
    operands: Vec<Operand>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Answer>> {
    let views: Result<Vec<View<'_>>, KernelError> = operands
        .iter()
        .map(|(ty, shape, bytes)| View::new(ty.parse()?, shape, bytes))
        .collect();
    let tensors = compute(name, &Options(options), &views.map_err(raised)?)?;
    let answer = |tensor: Tensor| {
        let (ty, shape, bytes) = tensor.into_parts();
        (ty.name(), shape, bytes)
    };
    Ok(tensors.into_iter().map(answer).collect())
}

fn raised(error: KernelError) -> PyErr {
    PyValueError::new_err((format!("{:?}", error.kind()), error.to_string()))
}

/// The parameters of a kernel by name.
struct Options<'a, 'py>(Option<&'a Bound<'py, PyDict>>);

impl<'py> Options<'_, 'py> {
    fn maybe<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let given = self.0.map_or(Ok(None), |options| options.get_item(name))?;
        let given = given.filter(|given| !given.is_none());
        given
            .map(|given| given.extract().map_err(Into::into))
            .transpose()
    }

    fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        let missing = || PyValueError::new_err(format!("{name} is missing"));
        self.maybe(name)?.ok_or_else(missing)
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.maybe(name)?.unwrap_or(false))
    }

    fn sizes(&self, name: &str) -> PyResult<Vec<usize>> {
        self.get(name)
    }

    fn result_type(&self) -> PyResult<Option<ElementType>> {
        let ty: Option<String> = self.maybe("to")?;
        ty.map(|ty| ty.parse().map_err(raised)).transpose()
    }

    fn ty(&self) -> PyResult<ElementType> {
        self.get::<String>("to")?.parse().map_err(raised)
    }

    fn index_mode(&self) -> PyResult<IndexMode> {
        Ok(match self.get::<String>("mode")?.as_str() {
            "clip" => IndexMode::Clip,
            "wrap" => IndexMode::Wrap,
            "from_end" => IndexMode::FromEnd,
            _ => IndexMode::Reject,
        })
    }

    fn scatter_modes(&self) -> PyResult<(IndexMode, ScatterMode)> {
        let mode = match self.get::<String>("reduction")?.as_str() {
            "add" => ScatterMode::Add,
            "multiply" => ScatterMode::Multiply,
            "maximum" => ScatterMode::Maximum,
            "minimum" => ScatterMode::Minimum,
            _ => ScatterMode::Replace,
        };
        Ok((self.index_mode()?, mode))
    }

    fn tuples(&self) -> PyResult<TupleAxis> {
        Ok(if self.flag("last")? {
            TupleAxis::Last
        } else {
            TupleAxis::First
        })
    }

    fn windows(&self) -> PyResult<Vec<Window>> {
        let column = |name: &str| self.get::<Vec<usize>>(name);
        let (strides, dilations) = (column("stride")?, column("dilation")?);
        let (before, after) = (column("before")?, column("after")?);
        let window = |(at, size)| Window {
            size,
            stride: strides[at],
            dilation: dilations[at],
            before: before[at],
            after: after[at],
        };
        Ok(column("size")?
            .into_iter()
            .enumerate()
            .map(window)
            .collect())
    }

    fn slices(&self) -> PyResult<Vec<AxisSlice>> {
        let axes = self.maybe::<Vec<i64>>("axes")?.unwrap_or_default();
        let (begin, end) = (
            self.get::<Vec<Option<i64>>>("begin")?,
            self.get::<Vec<Option<i64>>>("end")?,
        );
        let steps: Vec<i64> = self.get("step")?;
        let slice = |(at, axis)| AxisSlice {
            axis,
            begin: begin[at],
            end: end[at],
            step: steps[at],
        };
        Ok(axes.into_iter().enumerate().map(slice).collect())
    }
}

fn compute(name: &str, o: &Options<'_, '_>, views: &[View<'_>]) -> PyResult<Vec<Tensor>> {
    let control = &Control::default();
    // A missing operand is empty.
    let empty = View::new(ElementType::Bool, &[0], &[]).map_err(raised)?;
    let operand = |index: usize| views.get(index).copied();
    let [x, y, z] = [0, 1, 2].map(|index| operand(index).unwrap_or(empty));
    let axis = || o.get::<i64>("axis");
    let list: Option<Vec<i64>> = o.maybe("axes")?;
    let axes = Axes {
        axes: list.as_deref(),
        keep_dims: o.flag("keep_dims")?,
        exclude: o.flag("exclude")?,
    };
    if let Some(op) = Unary::ALL.iter().find(|op| op.name() == name) {
        return one(unary(*op, x, control));
    }
    if let Some(op) = Binary::ALL.iter().find(|op| op.name() == name) {
        return one(binary(*op, x, y, control));
    }
    if let Some(op) = Comparison::ALL.iter().find(|op| op.name() == name) {
        return one(compare(*op, x, y, control));
    }
    if let Some(op) = Reduction::ALL.iter().find(|op| op.name() == name) {
        return one(axes.reduce(*op, x, control));
    }
    one(match name {
        "variance" => axes.variance(x, operand(1), o.flag("unbiased")?, control),
        "argmax" | "argmin" => {
            let extreme = Extreme {
                largest: name == "argmax",
                last: o.flag("last")?,
                index_type: o.ty()?,
            };
            axes.position(extreme, x, control)
        }
        "collapse_sum" => collapse_sum(x, &o.sizes("shape")?, control),
        "leaky_relu" => leaky_relu(x, o.get("alpha")?, control),
        "bias_add" => bias_add(x, y, axis()?, control),
        "select" => select(x, y, z, control),
        "clip" => {
            let (low, high) = (o.flag("low")?, o.flag("high")?);
            clip(
                x,
                low.then_some(y),
                high.then_some(if low { z } else { y }),
                control,
            )
        }
        "cast" => {
            let mut cast = CastOptions {
                saturate_float8: o.flag("saturate_float8")?,
                ..CastOptions::default()
            };
            if o.flag("saturate")? {
                cast.out_of_range = OutOfRange::Saturate;
            }
            cast.cast(x, o.ty()?, control)
        }
        "full" => full(&o.sizes("shape")?, x, control),
        "arange" => arange(x, y, z, control),
        "shape_of" => shape_of(x, o.ty()?),
        "size_of" => size_of(x, o.ty()?),
        "reshape" => {
            let zero = match (o.flag("allow_zero")?, o.flag("counted")?) {
                (true, _) => ZeroCode::Size,
                (false, true) => ZeroCode::CopyCounted,
                (false, false) => ZeroCode::Copy,
            };
            reshape(x, &o.get::<Vec<i64>>("codes")?, zero, control)
        }
        "reverse_reshape" => shape::reverse_reshape(x.shape(), &o.get::<Vec<i64>>("codes")?)
            .and_then(|shape| {
                let sizes: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
                Tensor::from_slice(&[sizes.len()], &sizes)
            }),
        "squeeze" => squeeze(x, axes.axes, control),
        "expand_dims" => expand_dims(x, axis()?, o.get("count")?, control),
        "transpose" => transpose(x, axes.axes, control),
        "broadcast_to" => broadcast_to(x, &o.sizes("shape")?, control),
        "concatenate" => concatenate(views, axis()?, control),
        "stack" => stack(views, axis()?, control),
        "split" => return split(x, &o.sizes("indices")?, axis()?, control).map_err(raised),
        "strided_slice" => strided_slice(x, &o.slices()?, control),
        "reverse" => reverse(x, axis()?, control),
        "repeat" => repeat(x, o.get("repeats")?, axis()?, control),
        "tile" => tile(x, &o.sizes("repeats")?, control),
        "pad" => {
            let mode = match o.get::<String>("mode")?.as_str() {
                "edge" => PadMode::Edge,
                "reflect" => PadMode::Reflect,
                "symmetric" => PadMode::Symmetric,
                "wrap" => PadMode::Wrap,
                _ => PadMode::Constant(y),
            };
            let (before, after) = (o.get::<Vec<i64>>("before")?, o.get::<Vec<i64>>("after")?);
            let widths: Vec<(i64, i64)> = before.into_iter().zip(after).collect();
            pad(x, &widths, mode, control)
        }
        "layout_transform" => {
            let (from, to) = (o.get::<String>("from")?, o.get::<String>("to")?);
            layout_transform(x, &from, &to, control)
        }
        "take" => {
            let take = Take {
                axis: o.maybe("axis")?,
                batch_dims: o.get("batch_dims")?,
                mode: o.index_mode()?,
            };
            take.apply(x, y, control)
        }
        "gather" => gather(x, y, axis()?, o.index_mode()?, control),
        "gather_nd" => {
            let gather = GatherNd {
                tuples: o.tuples()?,
                batch_dims: o.get("batch_dims")?,
                mode: o.index_mode()?,
            };
            gather.apply(x, y, control)
        }
        "scatter_elements" => scatter_elements(x, [y, z], axis()?, o.scatter_modes()?, control),
        "scatter_nd" => scatter_nd(x, [y, z], o.tuples()?, o.scatter_modes()?, control),
        "one_hot" => {
            let one_hot = OneHot {
                on: y,
                off: z,
                depth: o.get("depth")?,
                axis: axis()?,
                from_end: o.flag("from_end")?,
            };
            one_hot.apply(x, control)
        }
        "argsort" => argsort(x, axis()?, o.flag("ascending")?, o.ty()?, control),
        "top_k" => {
            let top = top_k(x, o.get("k")?, axis()?, o.flag("largest")?, control);
            return top
                .map(|(values, indices)| vec![values, indices])
                .map_err(raised);
        }
        "matmul" => {
            let product = MatMul {
                transpose_left: o.flag("left")?,
                transpose_right: o.flag("right")?,
                result_type: o.result_type()?,
            };
            product.apply(x, y, control)
        }
        "convolution" => {
            let convolution = Convolution {
                windows: &o.windows()?,
                groups: o.get("groups")?,
                result_type: o.result_type()?,
            };
            convolution.apply(x, y, control)
        }
        "max_pool" | "avg_pool" => {
            let windows = if o.flag("global")? {
                global_windows(x.shape())
            } else {
                o.windows()?
            };
            let rounding = match o.get::<String>("rounding")?.as_str() {
                "up" => PoolRounding::Up,
                "up_within" => PoolRounding::UpWithin,
                _ => PoolRounding::Down,
            };
            let pool = Pool {
                windows: &windows,
                rounding,
            };
            if name == "max_pool" {
                pool.max(x, control)
            } else {
                pool.average(x, o.flag("count_padding")?, control)
            }
        }
        "softmax" => softmax(x, axis()?, control),
        "log_softmax" => log_softmax(x, axis()?, control),
        "batch_norm" => {
            let norm = BatchNorm {
                gamma: Some(y),
                beta: Some(z),
                mean: operand(3).unwrap_or(empty),
                variance: operand(4).unwrap_or(empty),
                axis: axis()?,
                epsilon: o.get("epsilon")?,
            };
            norm.apply(x, control)
        }
        "layer_norm" => {
            let norm = LayerNorm {
                gamma: operand(1),
                beta: operand(2),
                axes: axes.axes.unwrap_or_default(),
                epsilon: o.get("epsilon")?,
            };
            norm.apply(x, control)
        }
        "attention" => {
            let scores = match o.get::<String>("scores")?.as_str() {
                "products" => Some(Scores::Products),
                "capped" => Some(Scores::Capped),
                "biased" => Some(Scores::Biased),
                "weights" => Some(Scores::Weights),
                _ => None,
            };
            let attention = Attention {
                scale: o.get("scale")?,
                softcap: Some(o.get("softcap")?).filter(|softcap| *softcap > 0.0),
                bias: operand(3),
                softmax_type: None,
                scores,
            };
            let (result, scores) = attention.apply(x, y, z, control).map_err(raised)?;
            return Ok([Some(result), scores].into_iter().flatten().collect());
        }
        "pack" => pack_bits(x, control)
            .and_then(|packed| Tensor::new(ElementType::UInt8, vec![packed.len()], packed)),
        "unpack" => unpack_bits(o.ty()?, &o.sizes("shape")?, x.bytes(), control),
        _ => return Err(PyValueError::new_err(format!("no kernel {name}"))),
    })
}

fn one(result: Result<Tensor, KernelError>) -> PyResult<Vec<Tensor>> {
    result.map(|tensor| vec![tensor]).map_err(raised)
}

pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(compute_kernel, module)?)
}
