//! Calls that become one with what precedes them.

use crate::check::{Case, check_all};

const FOLD: &[&str] = &["fold-constants"];

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "fuse-batch-norm",
        with: FOLD,
        fires: &[
            (
                7,
                "x: float[N, 1, 5] => BatchNormalization{epsilon=0.0}(Conv(x, float<2,1,2>[1, 2, 3, 4]), float[2, 4], float[1, -1], float[0.5, 0.25], float[4, 16])",
                "Conv(x, float<2,1,2>[1, 2, 3, 4], float[0.5, -1.25])",
            ),
            (
                17,
                "x: float[N, 1, 5] => BatchNormalization{epsilon=0.0}(Conv{pads=[1, 1]}(x, float<2,1,2>[1, 2, 3, 4], float[1, 2]), float[4, 4], float[0, 0], float[0, 0], float[4, 16])",
                "Conv{pads=[1, 1]}(x, float<2,1,2>[2, 4, 3, 4], float[2, 2])",
            ),
            (
                17,
                "x: float[N, 2, 3] => BatchNormalization{epsilon=0.0}(ConvTranspose(x, float<2,2,1>[1, 2, 3, 4]), float[2, 4], float[0, 0], float[0, 0], float[1, 1])",
                "ConvTranspose(x, float<2,2,1>[2, 8, 6, 16], float[0, 0])",
            ),
            (
                17,
                "x: float[N, 2, 3] => BatchNormalization{epsilon=0.0}(ConvTranspose{group=2}(x, float<2,1,1>[1, 2]), float[2, 4], float[1, 1], float[0, 0], float[1, 4])",
                "ConvTranspose{group=2}(x, float<2,1,1>[2, 4], float[1, 1])",
            ),
        ],
        stays: &[
            (
                6,
                "x: float[N, 1, 5] => BatchNormalization(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => a = Conv(x, float<1,1,2>[1, 2]); BatchNormalization(a, float[2], float[1], float[0], float[4]), Neg(a)",
            ),
            (
                17,
                "x: float[N, 1, 5], s: float[1] => BatchNormalization(Conv(x, float<1,1,2>[1, 2]), s, float[1], float[0], float[4])",
            ),
            (
                17,
                "x: float[N, 1, 5], w: float[1, 1, 2] => BatchNormalization(Conv(x, w), float[1], float[1], float[0], float[4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => BatchNormalization{training_mode=1}(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => a, b, c = BatchNormalization{training_mode=1}(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[4]); a, b",
            ),
            (
                17,
                "x: float[N, 1, 5] => BatchNormalization(Relu(Conv(x, float<1,1,2>[1, 2])), float[2], float[1], float[0], float[4])",
            ),
            (
                17,
                "fn(t=0) x: float[N, 1, 5] => BatchNormalization{training_mode=@t}(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[4])",
            ),
        ],
    },
    Case {
        rule: "fuse-scale",
        with: FOLD,
        fires: &[
            (
                7,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2], float[1, 1]), float<2,1>[2, 4])",
                "Conv(x, float<2,1,1>[2, 8], float[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(float(2), Conv(x, float<2,1,1>[1, 2]))",
                "Conv(x, float<2,1,1>[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Div(Conv(x, float<2,1,1>[1, 2]), float<1,2,1>[2, 4])",
                "Conv(x, float<2,1,1>[0.5, 0.5])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(ConvTranspose(x, float<1,2,1>[1, 2]), float<2,1>[3, 5])",
                "ConvTranspose(x, float<1,2,1>[3, 10])",
            ),
        ],
        stays: &[
            (
                6,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float(2))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Div(float(2), Conv(x, float<2,1,1>[1, 2]))",
            ),
            (
                17,
                "x: float[N, 1, 2] => Mul(Conv(x, float<2,1,1>[1, 2]), float[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<1,1,1>[1]), float<2,1>[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<1,1,1>[1]), float<1,1,1,1>[2])",
            ),
            (
                17,
                "x: float[1, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float<2,1,1>[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => a = Conv(x, float<2,1,1>[1, 2]); Mul(a, float(2)), a",
            ),
            (
                17,
                "x: float[N, 1, 5], c: float[] => Mul(Conv(x, float<2,1,1>[1, 2]), c)",
            ),
            (
                17,
                "fn(g=1) x: float[N, 1, 5] => Mul(Conv{group=@g}(x, float<2,1,1>[1, 2]), float(2))",
            ),
        ],
    },
    Case {
        rule: "fuse-bias",
        with: FOLD,
        fires: &[
            (
                7,
                "x: float[N, 1, 5] => Add(Conv(x, float<2,1,1>[1, 2]), float<2,1>[2, 4])",
                "Conv(x, float<2,1,1>[1, 2], float[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Add(float(3), Conv(x, float<2,1,1>[1, 2], float[1, 2]))",
                "Conv(x, float<2,1,1>[1, 2], float[4, 5])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Sub(Conv(x, float<2,1,1>[1, 2]), float<2,1>[2, 4])",
                "Conv(x, float<2,1,1>[1, 2], float[-2, -4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Sub(ConvTranspose(x, float<1,2,1>[1, 2], float[1, 2]), float(3))",
                "ConvTranspose(x, float<1,2,1>[1, 2], float[-2, -1])",
            ),
        ],
        stays: &[
            (
                6,
                "x: float[N, 1, 5] => Add(Conv(x, float<2,1,1>[1, 2]), float(2))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Sub(float(2), Conv(x, float<2,1,1>[1, 2]))",
            ),
            (
                17,
                "x: float[N, 1, 2] => Add(Conv(x, float<2,1,1>[1, 2]), float[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Add(Conv(x, float<1,1,1>[1]), float<2,1>[2, 4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => a = Conv(x, float<2,1,1>[1, 2]); Add(a, a)",
            ),
            (
                17,
                "x: float[N, 1, 5] => a = Conv(x, float<2,1,1>[1, 2]); Add(a, float(2)), Neg(a)",
            ),
            (
                17,
                "x: float[N, 1, 5], b: float[2] => Add(Conv(x, float<2,1,1>[1, 2], b), float(2))",
            ),
        ],
    },
    Case {
        rule: "fuse-gemm",
        with: &[],
        fires: &[
            (
                7,
                "a: float[N, 3], b: float[3, 2], c: float[2] => Add(MatMul(a, b), c)",
                "Gemm(a, b, c)",
            ),
            (
                17,
                "a: float[2, 3], b: float[3, M], c: float[] => Add(c, MatMul(a, b))",
                "Gemm(a, b, c)",
            ),
            (
                17,
                "a: float[2, 3], b: float[3, 2], c: float[2, 1] => Add(MatMul(a, b), c)",
                "Gemm(a, b, c)",
            ),
        ],
        stays: &[
            (
                6,
                "a: float[N, 3], b: float[3, 2], c: float[2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[K, N, 3], b: float[3, 2], c: float[2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[3], b: float[3, 2], c: float[2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[N, 3], b: float[3, 1], c: float[2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[N, 3], b: float[3, M], c: float[K] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[1, 3], b: float[3, 2], c: float[4, 2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[N, 3], b: float[3, 2], c: float[1, 1, 2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[N, 3], b: float[3, 2], c: float[2] => m = MatMul(a, b); Add(m, c), Neg(m)",
            ),
            (
                17,
                "a: int32[N, 3], b: int32[3, 2], c: int32[2] => Add(MatMul(a, b), c)",
            ),
            (
                17,
                "a: float[*], b: float[3, 2], c: float[2] => Add(MatMul(a, b), c)",
            ),
        ],
    },
    Case {
        rule: "fuse-pad",
        with: &[],
        fires: &[
            (
                11,
                "x: float[N, 1, 5] => Conv(Pad(x, [0, 0, 1, 0, 0, 2]), float<1,1,2>[1, 2])",
                "Conv{pads=[1, 2]}(x, float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv{pads=[1, 1], strides=[2]}(Pad(x, [0, 0, 1, 0, 0, 2], float(0)), float<1,1,2>[1, 2], float[1])",
                "Conv{strides=[2], pads=[2, 3]}(x, float<1,1,2>[1, 2], float[1])",
            ),
        ],
        stays: &[
            (
                10,
                "x: float[N, 1, 5] => Conv(Pad{pads=[0, 0, 1, 0, 0, 2]}(x), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Pad(x, [0, 0, 1, 0, 0, 2], float(1)), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Pad{mode=\"edge\"}(x, [0, 0, 1, 0, 0, 2]), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Pad(x, [0, 1, 1, 0, 0, 2]), float<1,2,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Pad(x, [1, 0, 1, 0, 0, 2]), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Pad(x, [0, 0, -1, 0, 0, 2]), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv{auto_pad=\"SAME_UPPER\"}(Pad(x, [0, 0, 1, 0, 0, 2]), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => p = Pad(x, [0, 0, 1, 0, 0, 2]); Conv(p, float<1,1,2>[1, 2]), p",
            ),
            (
                17,
                "x: float[N, 1, 5], p: int64[6] => Conv(Pad(x, p), float<1,1,2>[1, 2])",
            ),
            (
                18,
                "x: float[N, 1, 5] => Conv(Pad(x, [1, 2], _, [2]), float<1,1,2>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => MaxPool{kernel_shape=[2]}(Pad(x, [0, 0, 1, 0, 0, 2]))",
            ),
            (
                17,
                "fn(p=[1, 1]) x: float[N, 1, 5] => Conv{pads=@@p}(Pad(x, [0, 0, 1, 0, 0, 2]), float<1,1,2>[1, 2])",
            ),
        ],
    },
];

#[test]
fn fuse() {
    check_all(CASES);
}
