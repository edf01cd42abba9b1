//! Draws layers of networks and models: attention, quantised convolution, and labels.

use isoform::Value;
use isoform_onnx::ElemType;

use super::build;
use super::calls::Op;
use super::generator::{Draw, Generator};
use super::values::{Val, product};

/// The layers, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("attention", attention),
    ("rotary embedding", rotary_embedding),
    ("quantized convolution", quantized_convolution),
    ("label encoder", label_encoder),
];

/// Tokens with heads of this many elements: small numbers, to keep weights above 0.
fn tokens(g: &mut Generator<'_>, dims: &[i64]) -> Val {
    let fits = |x: &Val| x.elem == ElemType::Float && x.tame && x.shape(0) == dims && x.is_fixed();
    if g.source.chance(40)
        && let Some(known) = g.known(fits)
    {
        return known;
    }
    let number = *g.source.pick(&[0.5, 1.0, -0.25]);
    let base = g.constant(ElemType::Float, dims);
    if base.tame && g.source.chance(70) {
        base
    } else {
        g.uniform(ElemType::Float, dims, number)
    }
}

fn attention(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(23) {
        return None;
    }
    let (groups, width) = (1 + g.source.below(2) as i64, 2);
    let heads = groups * (1 + g.source.below(2) as i64);
    let (queries, keys) = (1 + g.source.below(3) as i64, 1 + g.source.below(3) as i64);
    let joins = g.source.chance(40);
    let shape = |heads: i64, length: i64| {
        if joins {
            vec![1, length, heads * width]
        } else {
            vec![1, heads, length, width]
        }
    };
    let query = tokens(g, &shape(heads, queries));
    let (key, value) = (
        tokens(g, &shape(groups, keys)),
        tokens(g, &shape(groups, keys)),
    );
    let mut op = Op::new("Attention").on(&query).on(&key).on(&value);
    let is_causal = g.source.chance(30);
    if g.source.chance(40) {
        // A key attended to by every query leaves a weight.
        let mask = g.uniform(ElemType::Bool, &[queries, keys], 1.0);
        op = op.on(&mask);
    } else if g.source.chance(30) {
        op = op.skip();
        let past = |g: &mut Generator<'_>| g.uniform(ElemType::Float, &[1, groups, 2, width], 0.5);
        let (keys, values) = (past(g), past(g));
        op = op.on(&keys).on(&values);
    }
    if joins {
        op = op.attr("q_num_heads", heads).attr("kv_num_heads", groups);
    }
    if is_causal {
        op = op.attr("is_causal", 1);
    }
    if g.source.chance(30) {
        op = op.attr("softcap", 2.0);
    }
    if g.source.chance(30) {
        op = op.attr("scale", 0.5);
    }
    g.make(op, query.elem, query.dims.clone());
    Some(())
}

fn rotary_embedding(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(23) {
        return None;
    }
    let (heads, length, width) = (1 + g.source.below(2) as i64, 2, 4);
    let joins = g.source.chance(50);
    let x = if joins {
        tokens(g, &[1, length, heads * width])
    } else {
        tokens(g, &[1, heads, length, width])
    };
    let rotated = *g.source.pick(&[4, 2]);
    let mut op = Op::new("RotaryEmbedding").on(&x);
    if g.source.chance(50) {
        let (cos, sin) = (tokens(g, &[3, rotated / 2]), tokens(g, &[3, rotated / 2]));
        let positions = g.int_constant(&[1, length], &[2, 0]);
        op = op.on(&cos).on(&sin).on(&positions);
    } else {
        let shape = [1, length, rotated / 2];
        let (cos, sin) = (tokens(g, &shape), tokens(g, &shape));
        op = op.on(&cos).on(&sin);
    }
    if joins {
        op = op.attr("num_heads", heads);
    }
    if rotated < width {
        op = op.attr("rotary_embedding_dim", rotated);
    }
    if g.source.chance(40) {
        op = op.attr("interleaved", 1);
    }
    g.make(op, x.elem, x.dims.clone());
    Some(())
}

fn quantized_convolution(g: &mut Generator<'_>) -> Option<()> {
    if !g.since(10) {
        return None;
    }
    let elem = *g.source.pick(&[ElemType::Uint8, ElemType::Int8]);
    let (channels, outputs) = (2, 1 + g.source.below(3) as i64);
    let (kernel, pad) = (1 + g.source.below(2) as i64, g.source.below(2) as i64);
    let x = g.constant(elem, &[1, channels, 4, 4]);
    let weights = g.constant(ElemType::Int8, &[outputs, channels, kernel, kernel]);
    let scale = |g: &mut Generator<'_>, shape: &[i64]| {
        let number = *g.source.pick(&[0.5, 0.25, 2.0]);
        g.uniform(ElemType::Float, shape, number)
    };
    let (from, to) = (scale(g, &[]), scale(g, &[]));
    let by_channel = g.source.chance(50);
    let by = if by_channel {
        scale(g, &[outputs])
    } else {
        scale(g, &[])
    };
    let number = *g.source.pick(&[0.0, 3.0]);
    let zero = g.uniform(elem, &[], number);
    let weight_zero = if by_channel {
        g.uniform(ElemType::Int8, &[outputs], 0.0)
    } else {
        g.uniform(ElemType::Int8, &[], 0.0)
    };
    let mut op = Op::new("QLinearConv")
        .on(&x)
        .on(&from)
        .on(&zero)
        .on(&weights)
        .on(&by)
        .on(&weight_zero)
        .on(&to)
        .on(&zero);
    if g.source.chance(40) {
        let bias = g.uniform(ElemType::Int32, &[outputs], 7.0);
        op = op.on(&bias);
    }
    if pad > 0 {
        op = op.ints("pads", &[pad; 4]);
    }
    let size = [4 + 2 * pad - kernel + 1; 2];
    g.make(op, elem, vec![[1, 1], [outputs; 2], size, size]);
    Some(())
}

fn label_encoder(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(
        &[ElemType::Int64, ElemType::String],
        |x| !x.may_be_empty(),
        3,
    );
    if product(&x.dims).iter().any(|&count| count > 100) {
        return None;
    }
    let op = Op::new("LabelEncoder").of("ai.onnx.ml", 2).on(&x);
    let op = match x.elem {
        ElemType::Int64 => op.ints("keys_int64s", &[1, 2, -3]),
        _ => {
            let keys = ["a", "", "1"].map(Value::from);
            op.attr("keys_strings", Value::from(keys.to_vec()))
        }
    };
    let (elem, op) = match g.source.below(2) {
        0 => (
            ElemType::Float,
            op.attr("values_floats", build::float_list(&[0.5, -2.0, 0.0]))
                .attr("default_float", 7.0),
        ),
        _ => (ElemType::Int64, op.ints("values_int64s", &[5, 6, 7])),
    };
    g.make(op, elem, x.dims.clone());
    Some(())
}
