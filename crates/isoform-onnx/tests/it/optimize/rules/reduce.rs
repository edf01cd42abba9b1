//! Reductions next to calls that change axes.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "reduce-keeping-axes",
        with: &[],
        fires: &[
            (
                1,
                "x: float[2, 3] => Unsqueeze{axes=[1]}(ReduceSum{axes=[1], keepdims=0}(x))",
                "ReduceSum{axes=[1], keepdims=1}(x)",
            ),
            (
                13,
                "x: float[N, 3] => Unsqueeze(ReduceMean{axes=[-1], keepdims=0}(x), [1])",
                "ReduceMean{axes=[-1], keepdims=1}(x)",
            ),
            (
                13,
                "x: float[N, 3, M] => Unsqueeze(ReduceSum{keepdims=0}(x, [0, 2]), [2, 0])",
                "ReduceSum{keepdims=1}(x, [0, 2])",
            ),
            (
                18,
                "x: float[N, 3] => Unsqueeze(ReduceMax{keepdims=0}(x), [0, 1])",
                "ReduceMax{keepdims=1}(x)",
            ),
            (
                18,
                "x: int32[N, 3] => Unsqueeze(ReduceProd{keepdims=0}(x, [1]), [-1])",
                "ReduceProd{keepdims=1}(x, [1])",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[2, 3] => Unsqueeze(ReduceSum{keepdims=0}(x, [1]), [0])",
            ),
            (
                17,
                "x: float[2, 3] => Unsqueeze(ReduceSum{keepdims=1}(x, [1]), [1])",
            ),
            (17, "x: float[2, 3] => Unsqueeze(ReduceSum(x, [1]), [1])"),
            (
                17,
                "x: float[2, 3] => Unsqueeze(ReduceSum{keepdims=0, noop_with_empty_axes=1}(x), [0, 1])",
            ),
            (
                17,
                "x: float[2, 3] => a = ReduceSum{keepdims=0}(x, [1]); Unsqueeze(a, [1]), Neg(a)",
            ),
            (
                17,
                "x: float[2, 3] => a = ReduceSum{keepdims=0}(x, [1]); Unsqueeze(a, [1]), a",
            ),
            (
                17,
                "x: float[2, 3], a: int64[1] => Unsqueeze(ReduceSum{keepdims=0}(x, a), [1])",
            ),
            (
                17,
                "x: float[2, 3], a: int64[1] => Unsqueeze(ReduceSum{keepdims=0}(x, [1]), a)",
            ),
            (
                17,
                "x: float[*] => Unsqueeze(ReduceSum{keepdims=0}(x, [1]), [1])",
            ),
            (
                17,
                "x: float[2, 3] => Unsqueeze(ArgMax{keepdims=0, axis=1}(x), [1])",
            ),
            (
                17,
                "x: float[2, 3] => Unsqueeze(ReduceSum{keepdims=0}(x, [7]), [1])",
            ),
            (
                17,
                "fn(k=0) x: float[2, 3] => Unsqueeze(ReduceSum{keepdims=@k}(x, [1]), [1])",
            ),
        ],
    },
    Case {
        rule: "reduce-dropping-axes",
        with: &[],
        fires: &[
            (
                1,
                "x: float[2, 3] => Squeeze{axes=[1]}(ReduceSum{axes=[1]}(x))",
                "ReduceSum{axes=[1], keepdims=0}(x)",
            ),
            (
                13,
                "x: float[N, 3] => Squeeze(ReduceL1{axes=[1], keepdims=1}(x), [-1])",
                "ReduceL1{axes=[1], keepdims=0}(x)",
            ),
            (
                18,
                "x: float[N, M] => Squeeze(ReduceMin(x), [0, 1])",
                "ReduceMin{keepdims=0}(x)",
            ),
            (
                18,
                "x: int32[N, M] => Squeeze(ReduceSumSquare(x, [0]), [0])",
                "ReduceSumSquare{keepdims=0}(x, [0])",
            ),
        ],
        stays: &[
            (17, "x: float[2, 3] => Squeeze(ReduceSum(x, [1]))"),
            (17, "x: float[1, 3] => Squeeze(ReduceSum(x, [1]), [0])"),
            (17, "x: float[1, 3] => Squeeze(ReduceSum(x, [1]), [0, 1])"),
            (
                17,
                "x: float[2, 3, 1] => Squeeze(ReduceSum{keepdims=0}(x, [1]), [1])",
            ),
            (
                17,
                "x: float[1, 1] => Squeeze(ReduceSum{noop_with_empty_axes=1}(x), [0, 1])",
            ),
            (
                17,
                "x: float[2, 3] => a = ReduceSum(x, [1]); Squeeze(a, [1]), Neg(a)",
            ),
            (
                17,
                "fn(k=1) x: float[2, 3] => Squeeze(ReduceSum{keepdims=@k}(x, [1]), [1])",
            ),
        ],
    },
    Case {
        rule: "reduce-transposed",
        with: &[],
        fires: &[
            (
                1,
                "x: int32[2, 3, 4] => ReduceMax{axes=[1], keepdims=0}(Transpose{perm=[0, 2, 1]}(x))",
                "ReduceMax{axes=[2], keepdims=0}(x)",
            ),
            (
                18,
                "x: int32[2, 3, 4] => ReduceMin{keepdims=0}(Transpose{perm=[2, 0, 1]}(x), [0, -1])",
                "ReduceMin{keepdims=0}(x, [1, 2])",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[2, 3] => ReduceMax{axes=[0], keepdims=1}(Transpose(x))",
            ),
            (17, "x: float[2, 3] => ReduceMax{axes=[0]}(Transpose(x))"),
            (
                17,
                "x: float[2, 3, 4] => ReduceMax{axes=[0], keepdims=0}(Transpose(x))",
            ),
            (
                17,
                "x: float[2, 3] => ReduceSum{keepdims=0}(Transpose(x), [0])",
            ),
            (
                17,
                "x: float[*] => ReduceMax{axes=[0], keepdims=0}(Transpose(x))",
            ),
            (
                18,
                "x: float[2, 3] => ReduceMax{keepdims=0, noop_with_empty_axes=1}(Transpose(x))",
            ),
            (
                18,
                "x: float[2, 3], a: int64[1] => ReduceMax{keepdims=0}(Transpose(x), a)",
            ),
        ],
    },
];

#[test]
fn reduce() {
    check_all(CASES);
}
