//! Rules that merge a call into the call before it. The last bits of results may
//! change; infinities and NaNs stay.

use isoform::Value;

use super::super::constants::{has_zero, is_finite};
use super::super::rule::{Row, Site};
use super::common::int_list;
use crate::facts::Size;
use crate::ir::Call;
use crate::values::constant;

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "fuse-batch-norm",
        versions: 7..=i64::MAX,
        patterns: &[
            "BatchNormalization(inner:Conv|ConvTranspose(x, #w, #b?), #scale, #shift, #mean, #variance)",
        ],
        replacement: "Conv(x, w · f, (b − mean) · f + shift) with f = scale ÷ √(variance + ε)",
        reason: "both are linear in each channel; the convolution has no other use; all numbers \
                 are finite",
        rewrite: batch_norm,
    },
    Row {
        name: "fuse-scale",
        versions: 7..=i64::MAX,
        patterns: &[
            "Mul(inner:Conv|ConvTranspose(x, #w, #b?), #c)",
            "Div(inner:Conv|ConvTranspose(x, #w, #b?), #c)",
        ],
        replacement: "Conv(x, w · c, b · c)",
        reason: "the constant has one number for each channel; the convolution has no other use; \
                 all numbers are finite, and no factor is zero",
        rewrite: scale,
    },
    Row {
        name: "fuse-scaled-input",
        versions: 7..=i64::MAX,
        patterns: &[
            "Conv|ConvTranspose(Mul(x, #c), #w, b?)",
            "Conv|ConvTranspose(Div(x, #c), #w, b?)",
        ],
        replacement: "Conv(x, w · c, b)",
        reason: "the constant is one number, and zeros of the padding stay zeros; the product has \
                 no other use; all numbers are finite, and the factor is not zero",
        rewrite: scaled_input,
    },
    Row {
        name: "fuse-scaled-matrix",
        versions: 7..=i64::MAX,
        patterns: &[
            "MatMul|Gemm(Mul(x, #c), #w, ...)",
            "MatMul|Gemm(Div(x, #c), #w, ...)",
            "Mul(product:MatMul(x, #w), #c)",
            "Div(product:MatMul(x, #w), #c)",
        ],
        replacement: "MatMul(x, w · c)",
        reason: "the constant is one number, so it can be multiplied to either operand; the inner \
                 result has no other use; all numbers are finite, and the factor is not \
                 zero",
        rewrite: scaled_matrix,
    },
    Row {
        name: "fuse-bias",
        versions: 7..=i64::MAX,
        patterns: &[
            "Add(inner:Conv|ConvTranspose(x, #w, #b?), #c)",
            "Sub(inner:Conv|ConvTranspose(x, #w, #b?), #c)",
        ],
        replacement: "Conv(x, w, b + c)",
        reason: "the constant has one number for each channel; the convolution has no other use; \
                 all numbers are finite",
        rewrite: bias,
    },
    Row {
        name: "fuse-gemm",
        versions: 7..=i64::MAX,
        patterns: &["Add(inner:MatMul(a, b), c)"],
        replacement: "Gemm(a, b, c)",
        reason: "both operands are matrices, and c is broadcast to the product only; the product \
                 has no other use",
        rewrite: gemm,
    },
    Row {
        name: "fuse-reshaped-gemm",
        versions: 7..=i64::MAX,
        patterns: &["Add(outer:Reshape(inner:MatMul(a, b), _), c)"],
        replacement: "Reshape(Gemm(a, b, c), …)",
        reason: "both operands are matrices, the columns of the product stay the last axis, and c \
                 has one number for each; neither result has another use",
        rewrite: reshaped_gemm,
    },
    Row {
        name: "fuse-pad",
        versions: 11..=i64::MAX,
        patterns: &["Conv(pad:Pad(x, #pads, #value?), w, b?)"],
        replacement: "Conv(x, w, b) with larger pads",
        reason: "zeros around all axes but the first two are what Conv adds itself",
        rewrite: pad,
    },
];

/// A convolution, prepared for changes of its channels.
struct Convolution {
    call: isoform::Ref<Call>,
    x: Value,
    w: Value,
    b: Option<Value>,
    /// Sizes of the weights.
    sizes: Vec<i64>,
    group: i64,
    channels: i64,
    is_transposed: bool,
}

fn convolution(site: &mut Site<'_, '_>) -> Option<Convolution> {
    let inner = site.labelled("inner")?;
    let inner_output = site
        .root()
        .inputs
        .values()
        .iter()
        .filter(|value| constant(value).is_none())
        .find(|value| crate::layout::call_of(value).is_some_and(|call| call.same_as(&inner)))?
        .clone();
    if !site.has_one_use(&inner_output) {
        return None;
    }
    let w = site.value("w")?;
    let sizes = site.sizes(&w).filter(|sizes| sizes.len() >= 3)?;
    let group = inner.int("group").ok()?.unwrap_or(1);
    let is_transposed = inner.is("ConvTranspose");
    let channels = if is_transposed {
        sizes[1].checked_mul(group)?
    } else {
        sizes[0]
    };
    (group > 0 && channels > 0).then_some(())?;
    Some(Convolution {
        call: inner,
        x: site.value("x")?,
        b: site.value("b"),
        w,
        sizes,
        group,
        channels,
        is_transposed,
    })
}

impl Convolution {
    /// The weights, with the weights of each channel multiplied or divided by a number.
    fn scaled(&self, site: &mut Site<'_, '_>, op: &str, factors: Value) -> Option<Value> {
        let ones = |count: usize| std::iter::repeat_n(1, count);
        if !self.is_transposed {
            let shape: Vec<i64> = [self.channels]
                .into_iter()
                .chain(ones(self.sizes.len() - 1))
                .collect();
            let factors = reshaped(site, factors, &shape)?;
            return folded(site, op, vec![self.w.clone(), factors]);
        }
        // In a transposed convolution, the second axis has the channels of one group.
        let inputs = self.sizes[0].checked_div(self.group)?;
        let mut grouped = vec![self.group, inputs];
        grouped.extend(&self.sizes[1..]);
        let shape: Vec<i64> = [self.group, 1, self.sizes[1]]
            .into_iter()
            .chain(ones(self.sizes.len() - 2))
            .collect();
        let w = reshaped(site, self.w.clone(), &grouped)?;
        let factors = reshaped(site, factors, &shape)?;
        let scaled = folded(site, op, vec![w, factors])?;
        reshaped(site, scaled, &self.sizes)
    }

    fn replace(self, site: &mut Site<'_, '_>, w: Value, b: Option<Value>) -> Option<Vec<Value>> {
        let inputs = vec![self.x, w, b.unwrap_or(Value::NONE)];
        site.replace(&self.call.op, inputs, &Site::attrs(&self.call))
    }

    /// Reshapes a constant to a list with a number per channel; a single number is
    /// repeated. None if the constant varies along another axis.
    fn per_channel(&self, site: &mut Site<'_, '_>, c: Value) -> Option<Value> {
        let rank = self.sizes.len();
        let shape = site.sizes(&c)?;
        let leading = rank.checked_sub(shape.len())?;
        let mut count = 1;
        for (at, size) in shape.iter().enumerate() {
            match (at + leading, *size) {
                (_, 1) => {}
                (1, size) if size == self.channels => count = size,
                _ => return None,
            }
        }
        let list = reshaped(site, c, &[count])?;
        if count == self.channels {
            return Some(list);
        }
        let target = site.int64s(&[self.channels]);
        folded(site, "Expand", vec![list, target])
    }
}

/// The value of a call on constants, or None unless the value can be computed and all
/// numbers are finite. In a product, an infinite operand or a NaN spreads to other
/// elements than in the results.
fn folded(site: &mut Site<'_, '_>, op: &str, inputs: Vec<Value>) -> Option<Value> {
    let value = site.make(op, inputs, &[])?;
    is_finite(&value).then_some(value)
}

/// True for factors that weights can absorb: finite and not zero, because zero times an
/// infinity is a NaN.
fn is_finite_factor(factors: &Value) -> bool {
    is_finite(factors) && !has_zero(factors)
}

fn reshaped(site: &mut Site<'_, '_>, value: Value, shape: &[i64]) -> Option<Value> {
    let target = site.int64s(shape);
    folded(site, "Reshape", vec![value, target])
}

fn batch_norm(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    if root.outputs != 1 || root.int("training_mode").ok()?.unwrap_or(0) != 0 {
        return None;
    }
    let conv = convolution(site)?;
    let elem = site.fact(&conv.w).elem?;
    let epsilon = root.float("epsilon").ok()?.unwrap_or(1e-5);
    let epsilon = site.constant(super::arithmetic::scalar_float(elem, epsilon)?);
    let (scale, shift) = (site.value("scale")?, site.value("shift")?);
    let (mean, variance) = (site.value("mean")?, site.value("variance")?);
    let variance = folded(site, "Add", vec![variance, epsilon])?;
    let deviation = folded(site, "Sqrt", vec![variance])?;
    let factor = folded(site, "Div", vec![scale, deviation])?;
    let w = conv.scaled(site, "Mul", factor.clone())?;
    let centred = match &conv.b {
        Some(b) => folded(site, "Sub", vec![b.clone(), mean])?,
        None => folded(site, "Neg", vec![mean])?,
    };
    let scaled = folded(site, "Mul", vec![centred, factor])?;
    let b = folded(site, "Add", vec![scaled, shift])?;
    conv.replace(site, w, Some(b))
}

fn scale(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let op = site.root().op.clone();
    let conv = convolution(site)?;
    let c = site.value("c")?;
    let factors = conv.per_channel(site, c)?;
    if !is_finite_factor(&factors) {
        return None;
    }
    let w = conv.scaled(site, &op, factors.clone())?;
    let b = match &conv.b {
        Some(b) => Some(folded(site, &op, vec![b.clone(), factors])?),
        None => None,
    };
    conv.replace(site, w, b)
}

fn bias(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let is_difference = site.root().is("Sub");
    let conv = convolution(site)?;
    let c = site.value("c")?;
    let c = conv.per_channel(site, c)?;
    if !is_finite(&c) {
        return None;
    }
    let b = match (&conv.b, is_difference) {
        (Some(b), false) => folded(site, "Add", vec![b.clone(), c])?,
        (Some(b), true) => folded(site, "Sub", vec![b.clone(), c])?,
        (None, false) => c,
        (None, true) => folded(site, "Neg", vec![c])?,
    };
    let w = conv.w.clone();
    conv.replace(site, w, Some(b))
}

/// The unscaled input, and the constant scaled in its place, for a root whose first
/// operand scales an input by one number. The first operand has the form given by the
/// patterns.
fn scaled_constant(
    site: &mut Site<'_, '_>,
    scaling: &Call,
    made: &Value,
) -> Option<(Value, Value)> {
    let (x, w, c) = (site.value("x")?, site.value("w")?, site.value("c")?);
    let is_float = super::arithmetic::is_float(site.fact(&w).elem?);
    let is_one_number = site.sizes(&c)?.iter().all(|size| *size == 1);
    // The number must not give x more axes, nor come first in a division.
    let fits = site.fact(&c).rank()? <= site.fact(&x).rank()?;
    if !is_float || !is_one_number || !fits || !site.has_one_use(made) {
        return None;
    }
    let c = reshaped(site, c, &[])?;
    if !is_finite_factor(&c) {
        return None;
    }
    let w = folded(site, &scaling.op, vec![w, c])?;
    Some((x, w))
}

/// The call that makes the first input of the root.
fn first_operand(site: &Site<'_, '_>) -> Option<(isoform::Ref<Call>, Value)> {
    let made = site.root().input(0)?;
    Some((crate::layout::call_of(made)?.clone(), made.clone()))
}

fn scaled_input(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    let (scaling, made) = first_operand(site)?;
    let (x, w) = scaled_constant(site, &scaling, &made)?;
    let mut inputs = vec![x, w];
    inputs.extend(site.value("b"));
    site.replace(&root.op, inputs, &Site::attrs(&root))
}

fn scaled_matrix(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let root = site.root().clone();
    if let Some(product) = site.labelled("product") {
        let made = crate::values::output(&product, 0);
        // A vector times a matrix has one axis less than the number may add.
        let fits = site.fact(&site.value("c")?).rank()? <= site.fact(&made).rank()?;
        let (x, w) = scaled_constant(site, &root, &made)?;
        return if fits {
            site.replace("MatMul", vec![x, w], &[])
        } else {
            None
        };
    }
    let (scaling, made) = first_operand(site)?;
    let (x, w) = scaled_constant(site, &scaling, &made)?;
    let mut inputs = vec![x, w];
    inputs.extend(root.inputs.values()[2..].iter().cloned());
    site.replace(&root.op, inputs, &Site::attrs(&root))
}

fn gemm(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (a, b, c) = (site.value("a")?, site.value("b")?, site.value("c")?);
    let inner = site.labelled("inner")?;
    let product = crate::values::output(&inner, 0);
    let is_float = super::arithmetic::is_float(site.fact(&a).elem?);
    if !site.has_one_use(&product) || !is_float {
        return None;
    }
    let (left, right) = (site.shape(&a)?, site.shape(&b)?);
    let ([rows, _], [_, columns]) = (left.as_slice(), right.as_slice()) else {
        return None;
    };
    let fits =
        |size: &Size, of: &Size| size.as_const() == Some(1) || size.known_eq(of) == Some(true);
    let c_shape = site.shape(&c)?;
    let is_broadcast = match c_shape.as_slice() {
        [] => true,
        [size] => fits(size, columns),
        [first, second] => fits(first, rows) && fits(second, columns),
        _ => false,
    };
    if !is_broadcast {
        return None;
    }
    site.replace("Gemm", vec![a, b, c], &[])
}

fn reshaped_gemm(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (a, b, c) = (site.value("a")?, site.value("b")?, site.value("c")?);
    let (outer, inner) = (site.labelled("outer")?, site.labelled("inner")?);
    let (product, moved) = (
        crate::values::output(&inner, 0),
        crate::values::output(&outer, 0),
    );
    let is_float = super::arithmetic::is_float(site.fact(&a).elem?);
    if !is_float || !site.has_one_use(&product) || !site.has_one_use(&moved) {
        return None;
    }
    let (left, right) = (site.fact(&a).rank()?, site.shape(&b)?);
    let (2, [_, columns]) = (left, right.as_slice()) else {
        return None;
    };
    let moved = site.shape(&moved)?;
    let keeps_columns = moved.last()?.known_eq(columns) == Some(true);
    let fits = match site.shape(&c)?.as_slice() {
        [] => true,
        [size] => size.as_const() == Some(1) || size.known_eq(columns) == Some(true),
        _ => false,
    };
    if !keeps_columns || !fits {
        return None;
    }
    let sum = site.make("Gemm", vec![a, b, c], &[])?;
    let target = outer.input(1)?.clone();
    site.replace("Reshape", vec![sum, target], &Site::attrs(&outer))
}

fn pad(site: &mut Site<'_, '_>) -> Option<Vec<Value>> {
    let (root, pad): (_, isoform::Ref<Call>) = (site.root().clone(), site.labelled("pad")?);
    let is_zero = match site.value("value") {
        None => true,
        Some(value) => site.floats(&value)?.iter().all(|number| *number == 0.0),
    };
    let mode = pad.str("mode").ok()?.unwrap_or("constant");
    let auto_pad = root.str("auto_pad").ok()?.unwrap_or("NOTSET");
    let result = root.input(0)?.clone();
    if !is_zero || mode != "constant" || auto_pad != "NOTSET" || !site.has_one_use(&result) {
        return None;
    }
    let added = site.value("pads")?;
    let added = site.ints(&added)?;
    let x = site.value("x")?;
    let rank = site
        .fact(&x)
        .rank()
        .filter(|rank| added.len() == rank * 2)?;
    let outer = [0, 1, rank, rank + 1];
    if rank < 3 || added.iter().any(|pad| *pad < 0) || outer.iter().any(|index| added[*index] != 0)
    {
        return None;
    }
    let old = root
        .ints("pads")
        .ok()?
        .unwrap_or_else(|| vec![0; (rank - 2) * 2]);
    if old.len() != (rank - 2) * 2 {
        return None;
    }
    let begin = added[2..rank].iter();
    let spatial = begin.chain(&added[rank + 2..]);
    let pads: Vec<i64> = spatial
        .zip(&old)
        .map(|(added, old)| added.checked_add(*old))
        .collect::<Option<_>>()?;
    let mut attrs = Site::attrs(&root);
    attrs.retain(|(name, _)| *name != "pads");
    attrs.push(("pads", int_list(pads)));
    let mut inputs = vec![x];
    inputs.extend(root.inputs.values()[1..].iter().cloned());
    site.replace("Conv", inputs, &attrs)
}
