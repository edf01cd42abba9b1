//! Computes operators for another process: reads requests from standard input and
//! writes results to standard output. Tests in any language can thus compare results.
//!
//! All numbers are little-endian. A request is a frame: its length in bytes (`u32`),
//! the length of the text (`u32`), the text, the number of tensors (`u32`), and the
//! tensors. The text is the name of the operator followed by `name=value` pairs,
//! separated by spaces; a value may be a list separated by commas. A tensor is the
//! number of its element type in the order of `ElementType::ALL` (`u8`), its rank
//! (`u32`), its sizes (`u64` each) and its bytes. A reply is a frame as well, which
//! starts with its length (`u32`). A success continues with 0 (`u8`), the number of
//! tensors (`u32`) and the tensors. An error continues with 1, and the kind and the
//! message on two lines.

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Read, Write};

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
use isoform_kernels::shape::{self, PoolRounding, Window};
use isoform_kernels::windows::{Convolution, Pool, global_windows};
use isoform_kernels::{Control, ElementType, KernelError, Tensor, View, pack_bits, unpack_bits};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let mut length = [0; 4];
        if input.read_exact(&mut length).is_err() {
            return Ok(());
        }
        let mut frame = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut frame)?;
        let answer = match answer(&frame) {
            Ok(tensors) => {
                let mut bytes = vec![0];
                bytes.extend((tensors.len() as u32).to_le_bytes());
                tensors.iter().for_each(|tensor| write(tensor, &mut bytes));
                bytes
            }
            Err(error) => {
                let kind = error.downcast_ref::<KernelError>().map(KernelError::kind);
                let kind = kind.map_or("Request".to_owned(), |kind| format!("{kind:?}"));
                [&[1], format!("{kind}\n{error}").as_bytes()].concat()
            }
        };
        output.write_all(&(answer.len() as u32).to_le_bytes())?;
        output.write_all(&answer)?;
        output.flush()?;
    }
}

fn answer(frame: &[u8]) -> Fallible<Vec<Tensor>> {
    let mut reader = Reader { rest: frame };
    let length = reader.u32()? as usize;
    let text = String::from_utf8(reader.bytes(length)?.to_vec())?;
    let count = reader.u32()?;
    let tensors = (0..count)
        .map(|_| reader.tensor())
        .collect::<Fallible<Vec<Tensor>>>()?;
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let options = Options(words.filter_map(|word| word.split_once('=')).collect());
    compute(name, &options, &tensors)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: usize) -> Fallible<&'a [u8]> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or("the frame ends early")?;
        self.rest = rest;
        Ok(bytes)
    }

    fn u32(&mut self) -> Fallible<u32> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into()?))
    }

    fn tensor(&mut self) -> Fallible<Tensor> {
        let number = usize::from(self.bytes(1)?[0]);
        let ty = *ElementType::ALL.get(number).ok_or("no such element type")?;
        let rank = self.u32()?;
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(u64::from_le_bytes(self.bytes(8)?.try_into()?) as usize);
        }
        let bytes = self.bytes(shape.iter().product::<usize>() * ty.size())?;
        Ok(Tensor::new(ty, shape, bytes.to_vec())?)
    }
}

fn write(tensor: &Tensor, bytes: &mut Vec<u8>) {
    let position = ElementType::ALL
        .iter()
        .position(|ty| *ty == tensor.element_type());
    bytes.push(position.unwrap_or_default() as u8);
    bytes.extend((tensor.shape().len() as u32).to_le_bytes());
    for size in tensor.shape() {
        bytes.extend((*size as u64).to_le_bytes());
    }
    bytes.extend(tensor.bytes());
}

struct Options<'a>(HashMap<&'a str, &'a str>);

impl Options<'_> {
    fn text(&self, name: &str) -> Fallible<&str> {
        Ok(self
            .0
            .get(name)
            .ok_or_else(|| format!("{name} is missing"))?)
    }

    fn number<T: std::str::FromStr<Err: Error + 'static>>(&self, name: &str) -> Fallible<T> {
        Ok(self.text(name)?.parse()?)
    }

    fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&"1")
    }

    fn list<T: std::str::FromStr<Err: Error + 'static>>(&self, name: &str) -> Fallible<Vec<T>> {
        let parts = self.text(name)?.split(',').filter(|part| !part.is_empty());
        Ok(parts.map(str::parse).collect::<Result<_, _>>()?)
    }

    fn optional_list(&self, name: &str) -> Fallible<Option<Vec<i64>>> {
        self.0
            .contains_key(name)
            .then(|| self.list(name))
            .transpose()
    }

    fn ty(&self, name: &str) -> Fallible<ElementType> {
        Ok(self.text(name)?.parse()?)
    }

    fn index_mode(&self) -> Fallible<IndexMode> {
        Ok(match self.text("mode")? {
            "clip" => IndexMode::Clip,
            "wrap" => IndexMode::Wrap,
            "from_end" => IndexMode::FromEnd,
            _ => IndexMode::Reject,
        })
    }

    fn tuples(&self) -> TupleAxis {
        if self.flag("last") {
            TupleAxis::Last
        } else {
            TupleAxis::First
        }
    }

    fn windows(&self) -> Fallible<Vec<Window>> {
        let fields = ["size", "stride", "dilation", "before", "after"];
        let [size, stride, dilation, before, after] = fields.map(|name| self.list(name));
        let (size, stride, dilation, before, after) = (size?, stride?, dilation?, before?, after?);
        let window = |at: usize| Window {
            size: size[at],
            stride: stride[at],
            dilation: dilation[at],
            before: before[at],
            after: after[at],
        };
        Ok((0..size.len()).map(window).collect())
    }

    fn scatter_mode(&self) -> Fallible<ScatterMode> {
        Ok(match self.text("reduction")? {
            "add" => ScatterMode::Add,
            "multiply" => ScatterMode::Multiply,
            "maximum" => ScatterMode::Maximum,
            "minimum" => ScatterMode::Minimum,
            _ => ScatterMode::Replace,
        })
    }
}

/// The shape as a tensor, for functions that compute only shapes.
fn sizes(shape: &[usize]) -> Fallible<Vec<Tensor>> {
    let values: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    Ok(vec![Tensor::from_slice(&[values.len()], &values)?])
}

fn compute(name: &str, options: &Options<'_>, tensors: &[Tensor]) -> Fallible<Vec<Tensor>> {
    let control = &Control::default();
    let views: Vec<View<'_>> = tensors.iter().map(Tensor::view).collect();
    let x = || views.first().copied().ok_or("a tensor is missing");
    let y = || views.get(1).copied().ok_or("a second tensor is missing");
    let axis = || options.number::<i64>("axis");
    if let Some(op) = Unary::ALL.iter().find(|op| op.name() == name) {
        return Ok(vec![unary(*op, x()?, control)?]);
    }
    if let Some(op) = Binary::ALL.iter().find(|op| op.name() == name) {
        return Ok(vec![binary(*op, x()?, y()?, control)?]);
    }
    if let Some(op) = Comparison::ALL.iter().find(|op| op.name() == name) {
        return Ok(vec![compare(*op, x()?, y()?, control)?]);
    }
    let list = options.optional_list("axes")?;
    let axes = Axes {
        axes: list.as_deref(),
        keep_dims: options.flag("keep_dims"),
        exclude: options.flag("exclude"),
    };
    if let Some(op) = Reduction::ALL.iter().find(|op| op.name() == name) {
        return Ok(vec![axes.reduce(*op, x()?, control)?]);
    }
    let result = match name {
        "variance" => axes.variance(
            x()?,
            views.get(1).copied(),
            options.flag("unbiased"),
            control,
        )?,
        "argmax" | "argmin" => {
            let extreme = Extreme {
                largest: name == "argmax",
                last: options.flag("last"),
                index_type: options.ty("to")?,
            };
            axes.position(extreme, x()?, control)?
        }
        "collapse_sum" => collapse_sum(x()?, &options.list("shape")?, control)?,
        "leaky_relu" => leaky_relu(x()?, options.number("alpha")?, control)?,
        "bias_add" => bias_add(x()?, y()?, axis()?, control)?,
        "select" => select(x()?, y()?, views[2], control)?,
        "clip" => {
            let (low, high) = (options.flag("low"), options.flag("high"));
            let bound = |given: bool, at: usize| given.then(|| views[at]);
            clip(
                x()?,
                bound(low, 1),
                bound(high, if low { 2 } else { 1 }),
                control,
            )?
        }
        "cast" => {
            let out_of_range = if options.flag("saturate") {
                OutOfRange::Saturate
            } else {
                OutOfRange::Undefined
            };
            let cast = CastOptions {
                out_of_range,
                saturate_float8: options.flag("saturate_float8"),
                ..CastOptions::default()
            };
            cast.cast(x()?, options.ty("to")?, control)?
        }
        "full" => full(&options.list("shape")?, x()?, control)?,
        "arange" => arange(x()?, y()?, views[2], control)?,
        "shape_of" => shape_of(x()?, options.ty("to")?)?,
        "size_of" => size_of(x()?, options.ty("to")?)?,
        "reshape" => {
            let zero = match (options.flag("allow_zero"), options.flag("counted")) {
                (true, _) => shape::ZeroCode::Size,
                (false, true) => shape::ZeroCode::CopyCounted,
                (false, false) => shape::ZeroCode::Copy,
            };
            reshape(x()?, &options.list::<i64>("codes")?, zero, control)?
        }
        "reverse_reshape" => {
            return sizes(&shape::reverse_reshape(
                x()?.shape(),
                &options.list::<i64>("codes")?,
            )?);
        }
        "squeeze" => squeeze(x()?, list.as_deref(), control)?,
        "expand_dims" => expand_dims(x()?, axis()?, options.number("count")?, control)?,
        "transpose" => transpose(x()?, list.as_deref(), control)?,
        "broadcast_to" => broadcast_to(x()?, &options.list("shape")?, control)?,
        "concatenate" => concatenate(&views, axis()?, control)?,
        "stack" => stack(&views, axis()?, control)?,
        "split" => return Ok(split(x()?, &options.list("indices")?, axis()?, control)?),
        "strided_slice" => {
            let part = |name: &str| -> Fallible<Vec<Option<i64>>> {
                let parts = options
                    .text(name)?
                    .split(',')
                    .filter(|part| !part.is_empty());
                Ok(parts.map(|part| part.parse().ok()).collect())
            };
            let (begin, end, step) = (part("begin")?, part("end")?, options.list::<i64>("step")?);
            let slices: Vec<AxisSlice> = list
                .unwrap_or_default()
                .iter()
                .enumerate()
                .map(|(at, axis)| AxisSlice {
                    axis: *axis,
                    begin: begin[at],
                    end: end[at],
                    step: step[at],
                })
                .collect();
            strided_slice(x()?, &slices, control)?
        }
        "reverse" => reverse(x()?, axis()?, control)?,
        "repeat" => repeat(x()?, options.number("repeats")?, axis()?, control)?,
        "tile" => tile(x()?, &options.list("repeats")?, control)?,
        "pad" => {
            let mode = match options.text("mode")? {
                "edge" => PadMode::Edge,
                "reflect" => PadMode::Reflect,
                "symmetric" => PadMode::Symmetric,
                "wrap" => PadMode::Wrap,
                _ => PadMode::Constant(y()?),
            };
            let (before, after) = (
                options.list::<i64>("before")?,
                options.list::<i64>("after")?,
            );
            let widths: Vec<(i64, i64)> = before.into_iter().zip(after).collect();
            pad(x()?, &widths, mode, control)?
        }
        "layout_transform" => {
            layout_transform(x()?, options.text("from")?, options.text("to")?, control)?
        }
        "take" => {
            let axis = options.0.contains_key("axis").then(axis).transpose()?;
            let take = Take {
                axis,
                batch_dims: options.number("batch_dims")?,
                mode: options.index_mode()?,
            };
            take.apply(x()?, y()?, control)?
        }
        "gather" => gather(x()?, y()?, axis()?, options.index_mode()?, control)?,
        "gather_nd" => {
            let gather = GatherNd {
                tuples: options.tuples(),
                batch_dims: options.number("batch_dims")?,
                mode: options.index_mode()?,
            };
            gather.apply(x()?, y()?, control)?
        }
        "scatter_elements" => {
            let modes = (options.index_mode()?, options.scatter_mode()?);
            scatter_elements(x()?, [y()?, views[2]], axis()?, modes, control)?
        }
        "scatter_nd" => {
            let modes = (options.index_mode()?, options.scatter_mode()?);
            scatter_nd(x()?, [y()?, views[2]], options.tuples(), modes, control)?
        }
        "one_hot" => {
            let one_hot = OneHot {
                on: y()?,
                off: views[2],
                depth: options.number("depth")?,
                axis: axis()?,
                from_end: options.flag("from_end"),
            };
            one_hot.apply(x()?, control)?
        }
        "argsort" => argsort(
            x()?,
            axis()?,
            options.flag("ascending"),
            options.ty("to")?,
            control,
        )?,
        "top_k" => {
            let (values, indices) = top_k(
                x()?,
                options.number("k")?,
                axis()?,
                options.flag("largest"),
                control,
            )?;
            return Ok(vec![values, indices]);
        }
        "matmul" => {
            let result_type = options
                .0
                .contains_key("to")
                .then(|| options.ty("to"))
                .transpose()?;
            let product = MatMul {
                transpose_left: options.flag("left"),
                transpose_right: options.flag("right"),
                result_type,
            };
            product.apply(x()?, y()?, control)?
        }
        "convolution" => {
            let result_type = options
                .0
                .contains_key("to")
                .then(|| options.ty("to"))
                .transpose()?;
            let convolution = Convolution {
                windows: &options.windows()?,
                groups: options.number("groups")?,
                result_type,
            };
            convolution.apply(x()?, y()?, control)?
        }
        "max_pool" | "avg_pool" => {
            let windows = if options.flag("global") {
                global_windows(x()?.shape())
            } else {
                options.windows()?
            };
            let rounding = match options.text("rounding")? {
                "up" => PoolRounding::Up,
                "up_within" => PoolRounding::UpWithin,
                _ => PoolRounding::Down,
            };
            let pool = Pool {
                windows: &windows,
                rounding,
            };
            if name == "max_pool" {
                pool.max(x()?, control)?
            } else {
                pool.average(x()?, options.flag("count_padding"), control)?
            }
        }
        "softmax" => softmax(x()?, axis()?, control)?,
        "log_softmax" => log_softmax(x()?, axis()?, control)?,
        "batch_norm" => {
            let norm = BatchNorm {
                gamma: Some(y()?),
                beta: Some(views[2]),
                mean: views[3],
                variance: views[4],
                axis: axis()?,
                epsilon: options.number("epsilon")?,
            };
            norm.apply(x()?, control)?
        }
        "layer_norm" => {
            let norm = LayerNorm {
                gamma: views.get(1).copied(),
                beta: views.get(2).copied(),
                axes: &list.unwrap_or_default(),
                epsilon: options.number("epsilon")?,
            };
            norm.apply(x()?, control)?
        }
        "attention" => {
            let scores = match options.text("scores")? {
                "products" => Some(Scores::Products),
                "capped" => Some(Scores::Capped),
                "biased" => Some(Scores::Biased),
                "weights" => Some(Scores::Weights),
                _ => None,
            };
            let softcap: f64 = options.number("softcap")?;
            let attention = Attention {
                scale: options.number("scale")?,
                softcap: (softcap > 0.0).then_some(softcap),
                bias: views.get(3).copied(),
                softmax_type: None,
                scores,
            };
            let (result, scores) = attention.apply(x()?, y()?, views[2], control)?;
            return Ok([Some(result), scores].into_iter().flatten().collect());
        }
        "pack" => {
            let packed = pack_bits(x()?, control)?;
            Tensor::new(ElementType::UInt8, vec![packed.len()], packed)?
        }
        "unpack" => unpack_bits(
            options.ty("to")?,
            &options.list("shape")?,
            x()?.bytes(),
            control,
        )?,
        _ => return Err(format!("no operator {name}").into()),
    };
    Ok(vec![result])
}
