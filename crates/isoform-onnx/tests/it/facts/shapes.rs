//! Shapes through operators.

use super::build::{Dims, call, check, fact, floats, int, ints, list, op, output, with};
use isoform::Value;

/// The shape of a result of one input with a type.
#[track_caller]
fn one(ty: &str, node: &str, others: &[&Value], attrs: Vec<(&str, Value)>, expected: &str) {
    let x = Dims::default().input("x", ty);
    let value = Value::from(&x);
    let mut inputs = vec![&value];
    inputs.extend(others);
    check(&[&x], &with(node, &inputs, attrs), expected);
}

/// The shape of a result of two inputs.
#[track_caller]
fn two(left: &str, right: &str, node: &str, expected: &str) {
    let mut dims = Dims::default();
    let (x, y) = (dims.input("x", left), dims.input("y", right));
    let value = op(node, &[&Value::from(&x), &Value::from(&y)]);
    check(&[&x, &y], &value, expected);
}

#[test]
fn elementwise_operators_keep_shapes() {
    one("float32 n 3", "Relu", &[], vec![], "float[n, 3]");
    one("int64 n", "Not", &[], vec![], "bool[n]");
    let to = |code: i64| vec![("to", Value::from(code))];
    one("float32 n", "Cast", &[], to(7), "int64[n]");
    one("float32 n", "Cast", &[], to(99), "?[n]");
}

#[test]
fn broadcasting_claims_only_what_is_certain() {
    two("float32 n 1", "float32 3", "Add", "float[n, 3]");
    two("float32 n", "float32 n", "Add", "float[n]");
    // The extent `n` is 3, or 1.
    two("float32 n", "float32 3", "Add", "float[3]");
    two("float32 n", "float32 m", "Add", "float[broadcast(n, m)]");
    two("float32 n", "float32 0", "Mul", "float[0]");
    two("float32 2 3", "float32 5 1 1", "Equal", "bool[5, 2, 3]");
    // The second input was stretched to the first input.
    two("float32 2 3", "float32 3", "Add:6", "float[2, 3]");
}

#[test]
fn products() {
    two("float32 b m k", "float32 k n", "MatMul", "float[b, m, n]");
    two("float32 k", "float32 k n", "MatMul", "float[n]");
    two("float32 m k", "float32 k", "MatMul", "float[m]");
    two("float32 k", "float32 k", "MatMul", "float");
    two(
        "float32 2 1 m k",
        "float32 5 k n",
        "MatMul",
        "float[2, 5, m, n]",
    );
    two("float32 m k", "float32 k n", "Gemm", "float[m, n]");
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 k m"),
        dims.input("y", "float32 n k"),
    );
    let flags = vec![("transA", Value::from(1)), ("transB", Value::from(1))];
    let gemm = with("Gemm", &[&Value::from(&x), &Value::from(&y)], flags);
    check(&[&x, &y], &gemm, "float[m, n]");
    let equation = vec![("equation", Value::from("bij, bjk -> bki"))];
    let (x, y) = (
        dims.input("x", "float32 b i j"),
        dims.input("y", "float32 b j k"),
    );
    let einsum = with("Einsum", &[&Value::from(&x), &Value::from(&y)], equation);
    check(&[&x, &y], &einsum, "float[b, k, i]");
}

#[test]
fn windows_move_along_symbolic_axes() {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 n 3 h w");
    let w = dims.input("w", "float32 8 3 3 3");
    let conv = |attrs| with("Conv", &[&Value::from(&x), &Value::from(&w)], attrs);
    check(&[&x, &w], &conv(vec![]), "float[n, 8, h - 2, w - 2]");
    let same = vec![("pads", list(&[1, 1, 1, 1]))];
    check(&[&x, &w], &conv(same), "float[n, 8, h, w]");
    let halved = vec![("pads", list(&[1, 1, 1, 1])), ("strides", list(&[2, 2]))];
    check(
        &[&x, &w],
        &conv(halved),
        "float[n, 8, floordiv(h + 1, 2), floordiv(w + 1, 2)]",
    );
    let upper = vec![
        ("auto_pad", Value::from("SAME_UPPER")),
        ("strides", list(&[2, 2])),
    ];
    check(
        &[&x, &w],
        &conv(upper),
        "float[n, 8, floordiv(h + 1, 2), floordiv(w + 1, 2)]",
    );
    let kernel = || ("kernel_shape", list(&[2, 2]));
    let strides = || ("strides", list(&[2, 2]));
    let pool = |ty: &str, attrs, expected: &str| one(ty, "MaxPool", &[], attrs, expected);
    pool(
        "float32 1 2 6 6",
        vec![kernel(), strides()],
        "float[1, 2, 3, 3]",
    );
    let ceil = ("ceil_mode", Value::from(1));
    pool(
        "float32 1 2 5 6",
        vec![kernel(), strides(), ceil],
        "float[1, 2, 3, 3]",
    );
    one(
        "float32 n c h w",
        "GlobalAveragePool",
        &[],
        vec![],
        "float[n, c, 1, 1]",
    );
    let v = dims.input("v", "float32 3 5 2 2");
    let transpose = with(
        "ConvTranspose",
        &[&Value::from(&x), &Value::from(&v)],
        vec![strides()],
    );
    check(&[&x, &v], &transpose, "float[n, 5, h*2, w*2]");
}

#[test]
fn the_same_quotient_is_the_same_symbol() {
    let x = Dims::default().input("x", "float32 n 1 h h");
    let kernel = || vec![("kernel_shape", list(&[3, 3])), ("strides", list(&[2, 2]))];
    let left = with("MaxPool", &[&Value::from(&x)], kernel());
    let right = with("AveragePool", &[&Value::from(&x)], kernel());
    let size = "floordiv(h + 1, 2) - 1";
    check(
        &[&x],
        &op("Add", &[&left, &right]),
        &format!("float[n, 1, {size}, {size}]"),
    );
}

#[test]
fn reshape() {
    let reshape = |ty: &str, target: &[i64], expected: &str| {
        one(ty, "Reshape", &[&ints(target)], vec![], expected);
    };
    reshape("float32 n 3 4", &[0, 12], "float[n, 12]");
    reshape("float32 n 3 4", &[-1, 6], "float[n*2, 6]");
    reshape("float32 n 3 4", &[0, -1], "float[n, 12]");
    reshape("float32 n 6", &[-1, 4], "float[truncdiv(n*6, 4), 4]");
    reshape("float32 2 3", &[], "float");
    let keep = vec![("allowzero", Value::from(1))];
    one(
        "float32 0 3",
        "Reshape",
        &[&ints(&[3, 0])],
        keep,
        "float[3, 0]",
    );
    let mut dims = Dims::default();
    let (x, t) = (dims.input("x", "float32 n"), dims.input("t", "int64 2"));
    let value = op("Reshape", &[&Value::from(&x), &Value::from(&t)]);
    assert_eq!(fact(&[&x, &t], &value).rank(), Some(2));
}

#[test]
fn a_symbolic_zero_of_a_target_may_copy_another_extent() {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 b s 8");
    let shape = op("Shape", &[&Value::from(&x)]);
    let part = |start: i64| {
        let end = ints(&[start + 1]);
        op("Slice", &[&shape, &ints(&[start]), &end])
    };
    let heads = with(
        "Concat",
        &[&part(0), &part(1), &ints(&[2, 4])],
        vec![("axis", Value::from(0))],
    );
    let value = op("Reshape", &[&Value::from(&x), &heads]);
    check(&[&x], &value, "float[b, s, 2, 4]");
    // If both are zero, the target 0 for `s` copies the 3.
    let y = dims.input("y", "float32 b 3 s");
    let swapped = with(
        "Concat",
        &[&part(0), &part(1), &ints(&[3])],
        vec![("axis", Value::from(0))],
    );
    let value = op("Reshape", &[&Value::from(&y), &swapped]);
    check(&[&x, &y], &value, "float[b, or_if_zero(s, 3), 3]");
}

#[test]
fn slices() {
    let slice = |ty: &str, start: i64, end: i64, step: i64, expected: &str| {
        let parts = [ints(&[start]), ints(&[end]), ints(&[0]), ints(&[step])];
        one(ty, "Slice", &parts.each_ref(), vec![], expected);
    };
    slice("float32 n", 0, i64::MAX, 1, "float[n]");
    slice("float32 n", 0, i32::MAX.into(), 1, "float[n]");
    slice("float32 n", 1, i64::MAX, 1, "float[max(n - 1, 0)]");
    slice("float32 n", 0, -1, 1, "float[max(n - 1, 0)]");
    slice("float32 n", 0, 5, 1, "float[min(5, n)]");
    slice("float32 n", -1, i64::MIN, -1, "float[n]");
    slice("float32 n", 0, i64::MAX, 2, "float[floordiv(n + 1, 2)]");
    slice("float32 10", 8, 2, -3, "float[2]");
    slice("float32 10", -100, 100, 3, "float[4]");
    slice("float32 10", 5, 2, 1, "float[0]");
    let old = vec![
        ("starts", list(&[1])),
        ("ends", list(&[-1])),
        ("axes", list(&[1])),
    ];
    one("float32 n 5", "Slice:9", &[], old, "float[n, 3]");
}

#[test]
fn moves() {
    one(
        "float32 a b c",
        "Transpose",
        &[],
        vec![("perm", list(&[2, 0, 1]))],
        "float[c, a, b]",
    );
    one("float32 a b c", "Transpose", &[], vec![], "float[c, b, a]");
    one(
        "float32 a b c",
        "Flatten",
        &[],
        vec![("axis", Value::from(2))],
        "float[a*b, c]",
    );
    one(
        "float32 1 n 1",
        "Squeeze",
        &[&ints(&[0])],
        vec![],
        "float[n, 1]",
    );
    one(
        "float32 1 n 1",
        "Squeeze:11",
        &[],
        vec![("axes", list(&[-1]))],
        "float[1, n]",
    );
    one("float32 1 3 1", "Squeeze", &[], vec![], "float[3]");
    // An axis of unknown length may be squeezed too.
    one("float32 1 n", "Squeeze", &[], vec![], "float[...]");
    one(
        "float32 n",
        "Unsqueeze",
        &[&ints(&[0, 2])],
        vec![],
        "float[1, n, 1]",
    );
    one(
        "float32 n 1",
        "Expand",
        &[&ints(&[2, 1, 4])],
        vec![],
        "float[2, n, 4]",
    );
    one(
        "float32 n 2",
        "Tile",
        &[&ints(&[3, 2])],
        vec![],
        "float[n*3, 4]",
    );
    one(
        "float32 n 2",
        "Pad",
        &[&ints(&[1, 0, 2, 0])],
        vec![],
        "float[n + 3, 2]",
    );
    let block = vec![("blocksize", Value::from(2))];
    one(
        "float32 n 8 h w",
        "DepthToSpace",
        &[],
        block,
        "float[n, 2, h*2, w*2]",
    );
    let mut dims = Dims::default();
    let (x, y) = (
        dims.input("x", "float32 n 2"),
        dims.input("y", "float32 m 2"),
    );
    let both = with(
        "Concat",
        &[&Value::from(&x), &Value::from(&y)],
        vec![("axis", Value::from(0))],
    );
    check(&[&x, &y], &both, "float[n + m, 2]");
}

#[test]
fn parts_of_a_split() {
    let x = Dims::default().input("x", "float32 n 7");
    let split = |op: &str, inputs: Vec<Value>, attrs, count: i64| {
        let mut all = vec![Value::from(&x)];
        all.extend(inputs);
        call(op, all, attrs, count)
    };
    let axis = || ("axis", Value::from(1));
    let given = split("Split", vec![ints(&[3, 4])], vec![axis()], 2);
    check(&[&x], &output(&given, 1), "float[n, 4]");
    let parts = vec![axis(), ("num_outputs", Value::from(3))];
    let uneven = split("Split:18", vec![], parts, 3);
    check(&[&x], &output(&uneven, 0), "float[n, 3]");
    check(&[&x], &output(&uneven, 2), "float[n, 1]");
    let old = split("Split:2", vec![], vec![axis(), ("split", list(&[5, 2]))], 2);
    check(&[&x], &output(&old, 0), "float[n, 5]");
}

#[test]
fn reductions_and_indices() {
    one(
        "float32 a b",
        "ReduceSum",
        &[&ints(&[1])],
        vec![],
        "float[a, 1]",
    );
    let drop = || ("keepdims", Value::from(0));
    one(
        "float32 a b",
        "ReduceMean",
        &[],
        vec![("axes", list(&[0])), drop()],
        "float[b]",
    );
    one("float32 a b", "ReduceMax", &[], vec![drop()], "float");
    let noop = ("noop_with_empty_axes", Value::from(1));
    one("float32 a b", "ReduceSum", &[], vec![noop], "float[a, b]");
    one(
        "float32 a b",
        "ArgMax",
        &[],
        vec![("axis", Value::from(1)), drop()],
        "int64[a]",
    );
    one(
        "float32 a b",
        "Gather",
        &[&ints(&[1, 2, 0])],
        vec![],
        "float[3, b]",
    );
    one(
        "float32 a b",
        "Gather",
        &[&int(1)],
        vec![("axis", Value::from(1))],
        "float[a]",
    );
    one(
        "int64 a b",
        "OneHot",
        &[&int(5), &floats(&[0.0, 1.0])],
        vec![],
        "float[a, b, 5]",
    );
    one("float32 a b", "TopK", &[&ints(&[4])], vec![], "float[a, 4]");
}

#[test]
fn recurrences_and_normalisations() {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 t b 8");
    let w = dims.input("w", "float32 2 64 8");
    let r = dims.input("r", "float32 2 64 16");
    let attrs = vec![
        ("hidden_size", Value::from(16)),
        ("direction", Value::from("bidirectional")),
    ];
    let inputs = [&x, &w, &r].map(Value::from).to_vec();
    let lstm = call("LSTM", inputs, attrs, 3);
    check(&[&x, &w, &r], &output(&lstm, 0), "float[t, 2, b, 16]");
    check(&[&x, &w, &r], &output(&lstm, 2), "float[2, b, 16]");
    let data = dims.input("data", "float32 n 6 8");
    let layer = call("LayerNormalization", vec![Value::from(&data)], vec![], 2);
    check(&[&data], &output(&layer, 1), "float[n, 6, 1]");
    let dropout = call("Dropout:13", vec![Value::from(&data)], vec![], 2);
    check(&[&data], &output(&dropout, 1), "bool[n, 6, 8]");
}

#[test]
fn resizing() {
    let doubled = floats(&[1.0, 1.0, 2.0, 2.0]);
    one(
        "float32 n 3 h w",
        "Resize",
        &[&Value::NONE, &doubled],
        vec![],
        "float[n, 3, h*2, w*2]",
    );
    let sizes = ints(&[1, 3, 10, 20]);
    let none = Value::NONE;
    one(
        "float32 n 3 h w",
        "Resize",
        &[&none, &none, &sizes],
        vec![],
        "float[1, 3, 10, 20]",
    );
    one(
        "float32 n 3 5 5",
        "Upsample:9",
        &[&floats(&[1.0, 1.0, 1.5, 2.0])],
        vec![],
        "float[n, 3, 7, 10]",
    );
}

#[test]
fn unknown_operators_and_attributes_claim_nothing() {
    one("float32 n", "NoSuchOperator", &[], vec![], "?");
    let odd = vec![("perm", Value::from("reverse"))];
    one("float32 a b", "Transpose", &[], odd, "float[...]");
    one(
        "float32 a b",
        "Transpose",
        &[],
        vec![("perm", list(&[0, 0]))],
        "float[...]",
    );
    one(
        "float32 a",
        "Transpose",
        &[],
        vec![("perm", list(&[5]))],
        "float[...]",
    );
    let strides = vec![("kernel_shape", list(&[2])), ("strides", list(&[0]))];
    let x = Dims::default().input("x", "float32 n c 9");
    let pooled = with("MaxPool", &[&Value::from(&x)], strides);
    assert_eq!(fact(&[&x], &pooled).shape.unwrap()[2].as_const(), None);
}
