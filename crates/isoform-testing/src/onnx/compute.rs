//! Draws reductions, products, windows, normalisation, quantisation and random numbers.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::generator::{Draw, Generator};
use super::recurrent::recurrent;
use super::reshapes;
use super::values::{Size, Val, broadcast, product};

/// The operators that compute a result from many elements, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("reduction", reduction),
    ("arg", arg),
    ("matrix product", mat_mul),
    ("gemm", gemm),
    ("convolution", conv),
    ("transposed convolution", conv_transpose),
    ("pool", pool),
    ("global pool", global_pool),
    ("batch normalization", batch_normalization),
    ("softmax", softmax),
    ("layer normalization", layer_normalization),
    ("quantization", quantization),
    ("dynamic quantization", dynamic_quantization),
    ("dropout", dropout),
    ("top k", top_k),
    ("random", random),
    ("recurrent network", recurrent),
];

/// Float types whose arithmetic peers compute alike.
const FLOATS: [ElemType; 2] = [ElemType::Float, ElemType::Double];

fn reduction(g: &mut Generator<'_>) -> Option<()> {
    let names = [
        "ReduceSum",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceSumSquare",
        "ReduceLogSum",
        "ReduceLogSumExp",
    ];
    let name = *g.source.pick(&names);
    use ElemType::{Double, Float, Float16, Int8, Int32, Int64, Uint8};
    let mut elems = vec![Float, Int64, Double, Float16, Int32];
    if matches!(name, "ReduceMax" | "ReduceMin") && g.since(12) {
        elems.extend([Int8, Uint8]);
    }
    if name.contains("Log") || name == "ReduceL2" {
        elems = vec![Float, Double];
    }
    let x = g.operand_where(&elems, |x| !x.may_be_empty(), 4);
    if x.may_be_empty() {
        return None;
    }
    let mut axes: Vec<usize> = (0..x.rank()).filter(|_| g.source.chance(50)).collect();
    let keep = g.source.chance(60);
    let mut op = Op::new(name).on(&x);
    if axes.is_empty() && g.since(if name == "ReduceSum" { 13 } else { 18 }) && g.source.chance(30)
    {
        // Without axes, this asks for no reduction at all.
        op = op.skip().attr("noop_with_empty_axes", 1);
        if name == "ReduceSum" || name == "ReduceMax" {
            g.note("pattern: reduction of no axes");
            g.make(op, x.elem, x.dims.clone());
            return Some(());
        }
        return None;
    }
    let written: Vec<i64> = axes.iter().map(|&axis| g.written(axis, x.rank())).collect();
    if axes.is_empty() {
        axes = (0..x.rank()).collect();
    } else if g.since(if name == "ReduceSum" { 13 } else { 18 }) {
        let written = g.axes(&written);
        op = op.on(&written);
    } else {
        op = op.ints("axes", &written);
    }
    if !keep || g.source.chance(30) {
        op = op.attr("keepdims", i64::from(keep));
    }
    let result = g.make(op, x.elem, reduced(&x.dims, &axes, keep));
    if !keep && axes.len() == 1 && g.source.chance(35) {
        reshapes::unsqueeze_at(g, &result, &axes);
        g.note("pattern: unsqueeze of reduction");
    }
    Some(())
}

fn reduced(dims: &[Size], axes: &[usize], keep: bool) -> Vec<Size> {
    (0..dims.len())
        .filter_map(|at| match (axes.contains(&at), keep) {
            (true, true) => Some([1, 1]),
            (true, false) => None,
            (false, _) => Some(dims[at]),
        })
        .collect()
}

fn arg(g: &mut Generator<'_>) -> Option<()> {
    use ElemType::{Double, Float, Float16, Int8, Int32, Int64, Uint8};
    let name = *g.source.pick(&["ArgMax", "ArgMin"]);
    let elems = [Float, Int64, Double, Float16, Int32, Int8, Uint8];
    let x = g.operand_where(&elems, |x| x.rank() > 0 && !x.may_be_empty(), 3);
    if x.rank() == 0 || x.may_be_empty() {
        return None;
    }
    let (axis, written) = g.axis(x.rank());
    let keep = g.source.chance(60);
    let mut op = Op::new(name).on(&x).attr("axis", written);
    op = op.attr("keepdims", i64::from(keep));
    if g.since(12) && g.source.chance(30) {
        op = op.attr("select_last_index", 1);
    }
    g.make_tame(op, ElemType::Int64, reduced(&x.dims, &[axis], keep), true);
    Some(())
}

fn mat_mul(g: &mut Generator<'_>) -> Option<()> {
    let elems = [&FLOATS[..], &[ElemType::Int32, ElemType::Int64]].concat();
    let x = g.operand_where(&elems, |x| x.rank() >= 2, 4);
    if x.rank() < 2 {
        return None;
    }
    let (rows, inner) = (x.dims[x.rank() - 2], x.dims[x.rank() - 1]);
    let fits = |y: &Val| y.elem == x.elem && y.rank() >= 2 && y.dims[y.rank() - 2] == inner;
    let y = match g.known(fits) {
        Some(val) if g.source.chance(50) => val,
        _ => {
            let columns = g.size();
            g.fresh(x.elem, vec![inner, columns])
        }
    };
    if y.dims[y.rank() - 2] != inner {
        return None;
    }
    let batch = broadcast(&x.dims[..x.rank() - 2], &y.dims[..y.rank() - 2])?;
    let dims = [batch, vec![rows, y.dims[y.rank() - 1]]].concat();
    if !g.is_small(&dims) {
        return None;
    }
    let x = if y.constant && g.source.chance(30) && FLOATS.contains(&x.elem) {
        scaled(g, &x)
    } else {
        x
    };
    let mut product = g.make(Op::new("MatMul").on(&x).on(&y), x.elem, dims);
    if product.rank() == 2 && g.source.chance(25) {
        // By way of another shape with the same last axis.
        let sizes = [vec![[1, 1]], product.dims.clone()].concat();
        let is_fixed = product.is_fixed() && !product.may_be_empty();
        if is_fixed {
            let numbers: Vec<i64> = sizes.iter().map(|size| size[0]).collect();
            product = reshapes::reshape_to(g, &product, &numbers, sizes);
            g.note("pattern: reshaped matrix product");
        }
    }
    if (2..=3).contains(&product.rank()) && g.source.chance(40) {
        let bias = g.matching(&Val {
            dims: product.dims[product.rank() - 1..].to_vec(),
            ..product.clone()
        });
        let dims = broadcast(&product.dims, &bias.dims)?;
        g.make(Op::new("Add").on(&product).on(&bias), product.elem, dims);
        g.note("pattern: add to matrix product");
    }
    Some(())
}

fn gemm(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&FLOATS, |x| x.rank() == 2, 2);
    if x.rank() != 2 {
        return None;
    }
    let (turn_x, turn_y) = (g.source.chance(30), g.source.chance(40));
    let (rows, inner) = if turn_x {
        (x.dims[1], x.dims[0])
    } else {
        (x.dims[0], x.dims[1])
    };
    let columns = g.size();
    let sizes = if turn_y {
        vec![columns, inner]
    } else {
        vec![inner, columns]
    };
    let y = g.fresh(x.elem, sizes.clone());
    if y.dims != sizes {
        return None;
    }
    let mut op = Op::new("Gemm").on(&x).on(&y);
    if !g.since(11) || g.source.chance(70) {
        let fixed = columns[0] == columns[1];
        let shape = if fixed { vec![columns[0]] } else { vec![1] };
        let bias = g.constant(x.elem, &shape);
        op = op.on(&bias);
    }
    for (name, turned) in [("transA", turn_x), ("transB", turn_y)] {
        if turned {
            op = op.attr(name, 1);
        }
    }
    if g.source.chance(25) {
        op = op.attr("alpha", 0.5);
    }
    if g.source.chance(25) {
        op = op.attr("beta", 2.0);
    }
    g.make(op, x.elem, vec![rows, columns]);
    Some(())
}

/// An image with the given number of channels: known or new.
fn image(g: &mut Generator<'_>, channels: i64) -> Val {
    let fits = |x: &Val| {
        x.elem == ElemType::Float
            && x.rank() == 4
            && x.dims[1] == [channels; 2]
            && x.dims[2..].iter().flatten().all(|&size| size >= 3)
    };
    if g.source.chance(60)
        && let Some(known) = g.known(fits)
    {
        return known;
    }
    let batch = g.size();
    let batch = if batch.contains(&0) { [1, 1] } else { batch };
    let height = *g.source.pick(&[4, 3, 5]);
    g.fresh(
        ElemType::Float,
        vec![batch, [channels; 2], [height; 2], [4, 4]],
    )
}

/// Padding by a separate operator before a window.
fn padded(g: &mut Generator<'_>, x: &Val) -> Option<Val> {
    let mut op = Op::new("Pad").on(x);
    let pads = [0, 0, 1, 1, 0, 0, 1, 0];
    op = if g.since(11) {
        let pads = g.axes(&pads);
        op.on(&pads)
    } else {
        op.ints("pads", &pads)
    };
    let mut dims = x.dims.clone();
    dims[2] = dims[2].map(|size| size + 2);
    dims[3] = dims[3].map(|size| size + 1);
    g.note("pattern: pad before a window");
    g.is_small(&dims).then(|| g.make(op, x.elem, dims))
}

fn windows(size: Size, kernel: i64, before: i64, after: i64, stride: i64) -> Size {
    size.map(|size| (size + before + after - kernel) / stride + 1)
}

fn conv(g: &mut Generator<'_>) -> Option<()> {
    let channels = 2;
    let mut x = image(g, channels);
    match g.source.below(10) {
        0..3 => x = padded(g, &x)?,
        3..5 => x = scaled(g, &x),
        _ => {}
    }
    let (outputs, kernel) = (*g.source.pick(&[2, 1, 4]), *g.source.pick(&[1, 3, 2]));
    let group = if outputs % 2 == 0 && g.source.chance(25) {
        2
    } else {
        1
    };
    let weights = g.constant(x.elem, &[outputs, channels / group, kernel, kernel]);
    let mut op = Op::new("Conv").on(&x).on(&weights);
    if g.source.chance(50) {
        let bias = g.constant(x.elem, &[outputs]);
        op = op.on(&bias);
    }
    if group == 2 {
        op = op.attr("group", 2);
    }
    let (pad, stride) = (g.source.below(2) as i64, 1 + g.source.below(2) as i64);
    if pad > 0 {
        op = op.ints("pads", &[pad, 0, 0, pad]);
    }
    if stride > 1 || g.source.chance(20) {
        op = op.ints("strides", &[stride, stride]);
    }
    if g.source.chance(30) {
        op = op.ints("kernel_shape", &[kernel, kernel]);
    }
    let height = windows(x.dims[2], kernel, pad, 0, stride);
    let width = windows(x.dims[3], kernel, 0, pad, stride);
    let result = g.make(op, x.elem, vec![x.dims[0], [outputs; 2], height, width]);
    follow(g, &result, outputs);
    Some(())
}

/// A constant that scales or moves numbers; occasionally a constant beyond the reach of
/// weights.
fn factor(g: &mut Generator<'_>, elem: ElemType, shape: &[i64]) -> Val {
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    if g.source.chance(20) {
        let number = *g.source.pick(&special);
        g.note("pattern: special number beside weights");
        g.uniform(elem, shape, number)
    } else {
        g.constant(elem, shape)
    }
}

/// The operand of a product, scaled by one number.
fn scaled(g: &mut Generator<'_>, x: &Val) -> Val {
    let name = *g.source.pick(&["Mul", "Div"]);
    let shapes = [vec![], vec![1], vec![1; x.rank()]];
    let shape = g.source.pick(&shapes).clone();
    let by = factor(g, x.elem, &shape);
    g.note("pattern: scaled operand of a product");
    g.make(Op::new(name).on(x).on(&by), x.elem, x.dims.clone())
}

/// Draws calls for fusion into a convolution.
fn follow(g: &mut Generator<'_>, x: &Val, channels: i64) {
    match g.source.below(5) {
        0 => {
            normalize(g, x, channels);
            g.note("pattern: batch normalization of convolution");
        }
        1 | 2 => {
            let name = *g.source.pick(&["Add", "Mul", "Div", "Sub"]);
            let shape: &[i64] = if g.source.chance(70) {
                &[1, channels, 1, 1]
            } else {
                &[1]
            };
            let by = factor(g, x.elem, shape);
            g.make(Op::new(name).on(x).on(&by), x.elem, x.dims.clone());
            g.note("pattern: arithmetic on convolution");
        }
        _ => {}
    }
}

fn conv_transpose(g: &mut Generator<'_>) -> Option<()> {
    let x = image(g, 2);
    let weights = g.constant(x.elem, &[2, 2, 2, 2]);
    let mut op = Op::new("ConvTranspose").on(&x).on(&weights);
    let stride = 1 + g.source.below(2) as i64;
    op = op.ints("strides", &[stride, stride]);
    let grown = |size: Size| size.map(|size| (size - 1) * stride + 2);
    let dims = vec![x.dims[0], [2, 2], grown(x.dims[2]), grown(x.dims[3])];
    if !g.is_small(&dims) {
        return None;
    }
    let made = g.make(op, x.elem, dims);
    follow(g, &made, 2);
    Some(())
}

fn pool(g: &mut Generator<'_>) -> Option<()> {
    let mut x = image(g, 2);
    if g.source.chance(35) {
        x = padded(g, &x)?;
    }
    let average = g.source.chance(50);
    let (pad, stride) = (g.source.below(2) as i64, 1 + g.source.below(2) as i64);
    let mut op = Op::new(if average { "AveragePool" } else { "MaxPool" }).on(&x);
    op = op
        .ints("kernel_shape", &[2, 2])
        .ints("strides", &[stride, stride]);
    if pad > 0 {
        op = op.ints("pads", &[pad, pad, 0, 0]);
    }
    if average && g.source.chance(40) {
        op = op.attr("count_include_pad", 1);
    }
    let height = windows(x.dims[2], 2, pad, 0, stride);
    let width = windows(x.dims[3], 2, pad, 0, stride);
    g.make_tame(
        op,
        x.elem,
        vec![x.dims[0], [2, 2], height, width],
        x.tame && !average,
    );
    Some(())
}

fn global_pool(g: &mut Generator<'_>) -> Option<()> {
    let x = image(g, 2);
    let name = *g.source.pick(&["GlobalAveragePool", "GlobalMaxPool"]);
    g.make(
        Op::new(name).on(&x),
        x.elem,
        vec![x.dims[0], [2, 2], [1, 1], [1, 1]],
    );
    Some(())
}

fn normalize(g: &mut Generator<'_>, x: &Val, channels: i64) -> Val {
    let mut op = Op::new("BatchNormalization").on(x);
    for kind in 0..4 {
        let numbers = match kind {
            // The variance is not negative.
            3 => g.uniform(x.elem, &[channels], 2.0),
            _ => g.constant(x.elem, &[channels]),
        };
        op = op.on(&numbers);
    }
    if g.source.chance(30) {
        op = op.attr("epsilon", 0.001);
    }
    g.make(op, x.elem, x.dims.clone())
}

fn batch_normalization(g: &mut Generator<'_>) -> Option<()> {
    let x = image(g, 2);
    normalize(g, &x, 2);
    Some(())
}

fn softmax(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&FLOATS, |x| x.rank() > 0 && !x.may_be_empty(), 3);
    if x.rank() == 0 || x.may_be_empty() {
        return None;
    }
    let name = *g.source.pick(&["Softmax", "LogSoftmax", "Hardmax"]);
    let (_, written) = g.axis(x.rank());
    g.make(
        Op::new(name).on(&x).attr("axis", written),
        x.elem,
        x.dims.clone(),
    );
    Some(())
}

fn layer_normalization(g: &mut Generator<'_>) -> Option<()> {
    let fits = |x: &Val| {
        x.rank() > 0 && !x.may_be_empty() && x.dims.last().is_some_and(|size| size[0] == size[1])
    };
    let x = g.operand_where(&FLOATS, fits, 3);
    if !g.since(17) || !fits(&x) {
        return None;
    }
    let last = x.dims[x.rank() - 1][0];
    let (scale, bias) = (g.constant(x.elem, &[last]), g.constant(x.elem, &[last]));
    let op = Op::new("LayerNormalization").on(&x).on(&scale).on(&bias);
    g.make(op, x.elem, x.dims.clone());
    Some(())
}

fn quantization(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(10) {
        return None;
    }
    let elem = *g.source.pick(&[ElemType::Uint8, ElemType::Int8]);
    let scale = *g.source.pick(&[0.5, 1.0, 2.0]);
    let scale = g.uniform(ElemType::Float, &[], scale);
    let zero = *g.source.pick(&[0.0, 3.0]);
    let zero = g.uniform(elem, &[], zero);
    // Weights stored in quantised form, in a constant.
    let narrow = if g.source.chance(40) {
        g.constant(elem, &[2, 3])
    } else {
        let x = g.operand(&[ElemType::Float]);
        let op = Op::new("QuantizeLinear").on(&x).on(&scale).on(&zero);
        g.make(op, elem, x.dims.clone())
    };
    let op = Op::new("DequantizeLinear").on(&narrow).on(&scale).on(&zero);
    let wide = g.make(op, ElemType::Float, narrow.dims.clone());
    g.note("pattern: quantized and back");
    if g.source.chance(30) {
        let op = Op::new("QuantizeLinear").on(&wide).on(&scale).on(&zero);
        g.make(op, elem, wide.dims.clone());
    }
    Some(())
}

fn dynamic_quantization(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(
        &[ElemType::Float],
        |x| x.rank() == 2 && !x.may_be_empty(),
        2,
    );
    if !g.since(11) || x.rank() != 2 || x.may_be_empty() {
        return None;
    }
    let outputs = [
        (ElemType::Uint8, x.dims.clone()),
        (ElemType::Float, vec![]),
        (ElemType::Uint8, vec![]),
    ];
    let results = g.make_all(Op::new("DynamicQuantizeLinear").on(&x), &outputs);
    if x.dims[1][0] == x.dims[1][1] && g.source.chance(60) {
        let weights = g.constant(ElemType::Int8, &[x.dims[1][0], 3]);
        let op = Op::new("MatMulInteger")
            .on(&results[0])
            .on(&weights)
            .on(&results[2]);
        g.make(op, ElemType::Int32, vec![x.dims[0], [3, 3]]);
    }
    Some(())
}

fn dropout(g: &mut Generator<'_>) -> Option<()> {
    let elems = [ElemType::Float, ElemType::Double, ElemType::Float16];
    let x = g.operand(&elems);
    let mut op = Op::new("Dropout").on(&x);
    if g.since(12) {
        if g.source.chance(50) {
            let ratio = g.uniform(ElemType::Float, &[], 0.5);
            op = op.on(&ratio);
            if g.source.chance(40) {
                let training = g.uniform(ElemType::Bool, &[], 0.0);
                op = op.on(&training);
            }
        }
    } else if g.source.chance(50) {
        op = op.attr("ratio", 0.25);
    }
    let kept = (x.elem, x.dims.clone());
    if g.source.chance(35) && g.since(10) {
        g.make_all(op, &[kept, (ElemType::Bool, x.dims.clone())]);
    } else {
        g.make_tame(op, x.elem, x.dims.clone(), x.tame);
    }
    Some(())
}

fn top_k(g: &mut Generator<'_>) -> Option<()> {
    let elems = [ElemType::Float, ElemType::Double];
    let fits = |x: &Val| x.rank() > 0 && !x.may_be_empty() && x.tame;
    let x = g.operand_where(&elems, fits, 3);
    if !fits(&x) {
        return None;
    }
    let (axis, written) = g.axis(x.rank());
    let least = x.dims[axis][0].min(x.dims[axis][1]);
    let k = 1 + g.source.below(least as usize) as i64;
    let mut op = Op::new("TopK").on(&x);
    op = if g.since(10) {
        let k = g.axes(&[k]);
        op.on(&k)
    } else {
        op.attr("k", k)
    };
    op = op.attr("axis", written);
    if g.since(11) && g.source.chance(40) {
        op = op.attr("largest", 0);
    }
    let mut dims = x.dims.clone();
    dims[axis] = [k, k];
    g.make_all(op, &[(x.elem, dims.clone()), (ElemType::Int64, dims)]);
    Some(())
}

/// A call of an operator with results that differ from run to run, identified by a
/// seed.
pub(super) fn random(g: &mut Generator<'_>) -> Option<()> {
    let seed = 1.0 + g.made as f64;
    if g.source.chance(50) {
        let dims: Vec<Size> = vec![[2, 2], [3, 3]];
        let name = *g.source.pick(&["RandomNormal", "RandomUniform"]);
        let op = Op::new(name);
        let shape: Vec<i64> = dims.iter().map(|size| size[0]).collect();
        let op = op.ints("shape", &shape).attr("seed", seed);
        g.make(op, ElemType::Float, dims);
        return Some(());
    }
    let x = g.operand(&[ElemType::Float]);
    let names = ["RandomUniformLike", "RandomNormalLike"];
    let name = *g.source.pick(&names);
    let op = Op::new(name).on(&x).attr("seed", seed);
    if product(&x.dims).iter().any(|&count| count > 100) {
        return None;
    }
    g.make(op, ElemType::Float, x.dims.clone());
    Some(())
}

/// An operator whose results, of the size of `x`, differ from run to run.
pub(super) fn random_operator(g: &mut Generator<'_>, x: &Val) -> Op {
    let shape = x.shape(0);
    match g.source.below(6) {
        0 => Op::new("RandomNormal").ints("shape", &shape),
        1 => Op::new("RandomUniform").ints("shape", &shape),
        2 => Op::new("RandomUniformLike").on(x),
        3 if g.since(15) => Op::new("Bernoulli").on(x),
        4 if g.since(12) => {
            let ratio = g.uniform(ElemType::Float, &[], 0.5);
            let training = g.uniform(ElemType::Bool, &[], 1.0);
            Op::new("Dropout").on(x).on(&ratio).on(&training)
        }
        _ => Op::new("RandomNormalLike").on(x),
    }
}
