//! Calls that compute with shapes.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "part-of-shape",
        with: &[],
        fires: &[
            (
                15,
                "x: float[N, M, K] => Neg(Gather(Shape(x), [1]))",
                "Neg(Shape{start=1, end=2}(x))",
            ),
            (
                17,
                "x: float[N, M, K] => Neg(Slice(Shape(x), [1], [9]))",
                "Neg(Shape{start=1}(x))",
            ),
            (
                17,
                "x: float[N, M, K] => Neg(Slice(Shape(x), [0], [2]))",
                "Neg(Shape{end=2}(x))",
            ),
            (
                17,
                "x: float[N, M] => Neg(Unsqueeze(Gather(Shape(x), int64(1)), [0]))",
                "Neg(Shape{start=1}(x))",
            ),
            (
                17,
                "x: float[N, M] => Neg(Reshape(Gather(Shape(x), int64(-2)), [-1]))",
                "Neg(Shape{end=1}(x))",
            ),
            (
                17,
                "x: float[N, M] => Neg(Concat{axis=0}(Shape{end=1}(x), Shape{start=1}(x)))",
                "Neg(Shape(x))",
            ),
        ],
        stays: &[
            (14, "x: float[N, M, K] => Neg(Gather(Shape(x), [1]))"),
            (17, "x: float[N, M, K] => Neg(Gather(Shape(x), int64(1)))"),
            (17, "x: float[N, M, K] => Neg(Gather(Shape(x), [2, 0]))"),
            (
                17,
                "x: float[N, M, K] => Neg(Slice(Shape(x), [0], [3], [0], [2]))",
            ),
            (17, "x: float[N, M, K] => Neg(Slice(Shape(x), [2], [1]))"),
            (
                17,
                "x: float[N, M, K], i: int64[1] => Neg(Gather(Shape(x), i))",
            ),
            (17, "x: float[*] => Neg(Gather(Shape(x), [0]))"),
            (
                17,
                "x: float[N, M] => Neg(Concat{axis=0}(Shape{start=1}(x), Shape{end=1}(x)))",
            ),
        ],
    },
    Case {
        rule: "gather-of-shape",
        with: &[],
        fires: &[
            (
                1,
                "x: float[N, M] => Identity(Unsqueeze{axes=[0]}(Gather(Shape(x), int64(1))))",
                "Identity(Gather(Shape(x), [1]))",
            ),
            (
                14,
                "x: float[N, M] => Identity(Reshape(Gather(Shape(x), int64(0)), [1]))",
                "Identity(Gather(Shape(x), [0]))",
            ),
            (
                14,
                "x: float[N, M] => s = Shape(x); Identity(Reshape(Gather(s, int64(0)), [1])), Neg(s)",
                "s = Shape(x); Identity(Gather(s, [0])), Neg(s)",
            ),
        ],
        stays: &[
            (
                15,
                "x: float[N, M] => Identity(Unsqueeze(Gather(Shape(x), int64(1)), [0]))",
            ),
            (
                14,
                "x: float[N, M] => Identity(Unsqueeze(Gather(Shape(x), int64(1)), [0, 1]))",
            ),
            (
                14,
                "x: float[N, M], i: int64[] => Identity(Unsqueeze(Gather(Shape(x), i), [0]))",
            ),
            (
                14,
                "x: float[*] => Identity(Unsqueeze(Gather(Shape(x), int64(1)), [0]))",
            ),
        ],
    },
    Case {
        rule: "constant-expand",
        with: &[],
        fires: &[
            (
                8,
                "x: float[N, 1] => Relu(Expand(x, Concat{axis=0}(Slice{starts=[0], ends=[1]}(Shape(x)), [4])))",
                "Relu(Expand(x, [1, 4]))",
            ),
            (
                17,
                "x: float[N, 1] => Relu(Expand(x, Concat{axis=0}([2], Shape{end=1}(x), [4])))",
                "Relu(Expand(x, [2, 1, 4]))",
            ),
        ],
        stays: &[
            (
                7,
                "x: float[N, 1] => Relu(Expand(x, Concat{axis=0}(Slice{starts=[0], ends=[1]}(Shape(x)), [4])))",
            ),
            (17, "x: float[N, 1] => Relu(Expand(x, [1, 4]))"),
            (
                17,
                "x: float[N, 1], y: float[M] => Relu(Expand(x, Concat{axis=0}(Shape{end=1}(x), Shape(y))))",
            ),
            (17, "x: float[N, 1], s: int64[2] => Relu(Expand(x, s))"),
            (17, "x: float[*] => Relu(Expand(x, Shape(x)))"),
        ],
    },
    Case {
        rule: "shape-of-same",
        with: &[],
        fires: &[
            (
                1,
                "x: float[N] => Identity(Shape(Relu(x)))",
                "Identity(Shape(x))",
            ),
            (
                17,
                "x: float[*] => Identity(Size(Sigmoid(Tanh(x))))",
                "Identity(Size(x))",
            ),
            (
                17,
                "x: float[N, M] => Identity(Shape{start=1}(Clip(x, float(0))))",
                "Identity(Shape{start=1}(x))",
            ),
            (
                17,
                "x: float[N, M] => Identity(Shape(Cast{to=int64}(x)))",
                "Identity(Shape(x))",
            ),
        ],
        stays: &[
            (17, "x: float[N, M] => Identity(Shape(Transpose(x)))"),
            (17, "x: float[N, M] => Identity(Shape(demo::Relu(x)))"),
            (17, "x: float[N, M] => Identity(Shape(Add(x, x)))"),
        ],
    },
];

#[test]
fn shapes() {
    check_all(CASES);
}
