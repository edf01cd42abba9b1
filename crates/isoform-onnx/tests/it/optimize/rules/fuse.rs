//! Rules that merge a call into the preceding call.

use crate::optimize::check::{Case, check_all};

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
                "x: float[N, 1, 5] => BatchNormalization{epsilon=0.0}(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[0])",
            ),
            (
                17,
                "x: float[N, 1, 5] => BatchNormalization(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[inf], float[4])",
            ),
            (
                17,
                "x: float[N, 1, 5] => BatchNormalization(Conv(x, float<1,1,2>[1, 2]), float[2], float[1], float[0], float[-4])",
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
            // Weights cannot absorb infinities, NaN, or zero.
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float<2,1>[2, inf])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float(nan))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float<2,1>[0, 1])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Div(Conv(x, float<2,1,1>[1, 2]), float(-0.0))",
            ),
            (
                17,
                "x: double[N, 1, 5] => Div(Conv(x, double<2,1,1>[1, 2]), double(0))",
            ),
            (
                17,
                "x: float16[N, 1, 5] => Mul(Conv(x, float16<2,1,1>[1, 2]), float16(inf))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1e30, 2]), float(1e30))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2], float[nan, 1]), float(2))",
            ),
        ],
    },
    Case {
        rule: "fuse-scaled-input",
        with: FOLD,
        fires: &[
            (
                7,
                "x: float[N, 1, 5] => Conv(Mul(x, float(2)), float<2,1,1>[1, 2])",
                "Conv(x, float<2,1,1>[2, 4])",
            ),
            (
                17,
                "x: float[N, 2, 5] => Conv{group=2, pads=[1, 1]}(Div(x, float[2]), float<2,1,2>[1, 2, 3, 4], float[1, 2])",
                "Conv{group=2, pads=[1, 1]}(x, float<2,1,2>[0.5, 1, 1.5, 2], float[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5], b: float[2] => ConvTranspose(Mul(float<1,1,1>[2], x), float<1,2,1>[1, 2], b)",
                "ConvTranspose(x, float<1,2,1>[2, 4], b)",
            ),
        ],
        stays: &[
            (
                6,
                "x: float[N, 1, 5] => Conv(Mul(x, float(2)), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 2, 5] => Conv(Mul(x, float<2,1>[2, 3]), float<1,2,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Div(float(2), x), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float<1,1,1,1>[2]), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[1, 5] => Conv(Mul(x, float<1,1,1>[2]), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => a = Mul(x, float(2)); Conv(a, float<2,1,1>[1, 2]), a",
            ),
            (
                17,
                "x: float[N, 1, 5], w: float[2, 1, 1] => Conv(Mul(x, float(2)), w)",
            ),
            (
                17,
                "x: float[N, 1, 5], c: float[] => Conv(Mul(x, c), float<2,1,1>[1, 2])",
            ),
            // Weights cannot absorb infinities, NaN, or zero.
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float(inf)), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float(nan)), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float(0)), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Div(x, float(-0.0)), float<2,1,1>[1, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float(1e30)), float<2,1,1>[1e30, 2])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Conv(Mul(x, float(2)), float<2,1,1>[inf, 2])",
            ),
        ],
    },
    Case {
        rule: "fuse-scaled-matrix",
        with: FOLD,
        fires: &[
            (
                7,
                "x: float[N, 2] => MatMul(Mul(x, float(2)), float<2,2>[1, 2, 3, 4])",
                "MatMul(x, float<2,2>[2, 4, 6, 8])",
            ),
            (
                17,
                "x: float[N, K, 2] => MatMul(Div(x, float<1,1,1>[2]), float<2,1>[1, 2])",
                "MatMul(x, float<2,1>[0.5, 1])",
            ),
            (
                17,
                "x: float[N, 2], c: float[1] => Gemm{alpha=0.5, transB=1}(Mul(float[2], x), float<1,2>[1, 2], c)",
                "Gemm{alpha=0.5, transB=1}(x, float<1,2>[2, 4], c)",
            ),
            (
                17,
                "x: float[N, 2] => Mul(MatMul(x, float<2,1>[1, 2]), float<1,1>[2])",
                "MatMul(x, float<2,1>[2, 4])",
            ),
            (
                17,
                "x: float[2] => Div(MatMul(x, float<2,2>[1, 2, 3, 4]), float[2])",
                "MatMul(x, float<2,2>[0.5, 1, 1.5, 2])",
            ),
        ],
        stays: &[
            (
                6,
                "x: float[N, 2] => MatMul(Mul(x, float(2)), float<2,2>[1, 2, 3, 4])",
            ),
            (
                17,
                "x: float[N, 2] => MatMul(Mul(x, float[2, 3]), float<2,2>[1, 2, 3, 4])",
            ),
            (
                17,
                "x: float[N, 2] => Mul(MatMul(x, float<2,2>[1, 2, 3, 4]), float[2, 3])",
            ),
            (
                17,
                "x: float[N, 2] => MatMul(float<2,2>[1, 2, 3, 4], Mul(x, float(2)))",
            ),
            (17, "x: float[2] => Mul(MatMul(x, float[1, 2]), float[2])"),
            (
                17,
                "x: float[2] => MatMul(Mul(x, float<1,1>[2]), float<2,2>[1, 2, 3, 4])",
            ),
            (
                17,
                "x: int32[N, 2] => MatMul(Mul(x, int32(2)), int32<2,2>[1, 2, 3, 4])",
            ),
            (
                17,
                "x: float[N, 2] => a = Mul(x, float(2)); MatMul(a, float<2,2>[1, 2, 3, 4]), a",
            ),
            (
                17,
                "x: float[N, 2] => a = MatMul(x, float<2,2>[1, 2, 3, 4]); Mul(a, float(2)), a",
            ),
            (
                17,
                "x: float[N, 2], w: float[2, 2] => MatMul(Mul(x, float(2)), w)",
            ),
            (
                17,
                "x: float[N, 2] => Div(float(2), MatMul(x, float<2,2>[1, 2, 3, 4]))",
            ),
            (
                17,
                "x: float[N, 2] => Mul(MatMul(x, float<2,2>[1, 2, 3, 4]), float(inf))",
            ),
            (
                17,
                "x: float[N, 2] => Div(MatMul(x, float<2,2>[1, 2, 3, 4]), float(0))",
            ),
            (
                17,
                "x: float[N, 2] => MatMul(Mul(x, float(2)), float<2,2>[1, 2, nan, 4])",
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
            (
                17,
                "x: float[N, 1, 5] => Add(Conv(x, float<2,1,1>[1, 2]), float(inf))",
            ),
            (
                17,
                "x: float[N, 1, 5] => Sub(Conv(x, float<2,1,1>[1, 2]), float<2,1>[nan, 1])",
            ),
            (
                17,
                "x: float[N, 1, 5] => Add(Conv(x, float<2,1,1>[1, 2], float[-inf, 1]), float(2))",
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
        rule: "fuse-reshaped-gemm",
        with: &[],
        fires: &[
            (
                7,
                "a: float[N, 3], b: float[3, 2], c: float[2] => Add(Reshape(MatMul(a, b), [1, -1, 2]), c)",
                "Reshape(Gemm(a, b, c), [1, -1, 2])",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 2], c: float[] => Add(c, Reshape(MatMul(a, b), [2, 2, -1]))",
                "Reshape(Gemm(a, b, c), [2, 2, -1])",
            ),
        ],
        stays: &[
            (
                6,
                "a: float[N, 3], b: float[3, 2], c: float[2] => Add(Reshape(MatMul(a, b), [1, -1, 2]), c)",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 2], c: float[4] => Add(Reshape(MatMul(a, b), [1, 2, 4]), c)",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 2], c: float[2, 2] => Add(Reshape(MatMul(a, b), [2, 2, 2]), c)",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 1], c: float[2] => Add(Reshape(MatMul(a, b), [2, 2, 1]), c)",
            ),
            (
                17,
                "a: float[K, 4, 3], b: float[3, 2], c: float[2] => Add(Reshape(MatMul(a, b), [-1, 2]), c)",
            ),
            (
                17,
                "a: int32[4, 3], b: int32[3, 2], c: int32[2] => Add(Reshape(MatMul(a, b), [2, 2, 2]), c)",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 2], c: float[2] => m = Reshape(MatMul(a, b), [2, 2, 2]); Add(m, c), Neg(m)",
            ),
            (
                17,
                "a: float[4, 3], b: float[3, 2], c: float[2] => m = MatMul(a, b); Add(Reshape(m, [2, 2, 2]), c), Neg(m)",
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
