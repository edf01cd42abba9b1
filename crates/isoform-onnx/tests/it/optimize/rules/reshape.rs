//! Calls that give the same elements another shape.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "drop-reshape",
        with: &[],
        fires: &[
            (
                1,
                "x: float[2, 3] => Relu(Reshape{shape=[2, 3]}(x))",
                "Relu(x)",
            ),
            (17, "x: float[N, 3] => Relu(Reshape(x, [0, 3]))", "Relu(x)"),
            (
                17,
                "x: float[N, 3] => Relu(Reshape(x, Shape(x)))",
                "Relu(x)",
            ),
            (17, "x: float[N, 3] => Relu(Flatten(x))", "Relu(x)"),
            (17, "x: float[2, 3] => Relu(Squeeze(x))", "Relu(x)"),
            (
                17,
                "x: float[N] => Relu(Squeeze(x, int64<0>[0]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N] => Relu(Unsqueeze(x, int64<0>[0]))",
                "Relu(x)",
            ),
            (17, "x: float[N, 3] => Relu(Expand(x, [1, 3]))", "Relu(x)"),
            (17, "x: float[] => Relu(Reshape(x, int64<0>[0]))", "Relu(x)"),
            (17, "x: float[N, M] => Relu(Reshape(x, [-1, 0]))", "Relu(x)"),
            (
                17,
                "x: float[2], s: int64[1] => Relu(Expand(x, s))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (17, "x: float[2, 3] => Relu(Reshape(x, [3, 2]))"),
            (17, "x: float[N] => Relu(Squeeze(x))"),
            (17, "x: float[N, M, 2] => Relu(Flatten(x))"),
            (17, "x: float[1] => Relu(Expand(x, [2]))"),
            (17, "x: float[N] => Relu(Expand(x, [3]))"),
            (17, "x: float[3] => Relu(Expand(x, [1, 3]))"),
            (17, "x: float[*] => Relu(Reshape(x, [2, 3]))"),
        ],
    },
    Case {
        rule: "merge-reshapes",
        with: &[],
        fires: &[
            (
                5,
                "x: float[2, 6] => Relu(Reshape(Reshape(x, [3, 4]), [12]))",
                "Relu(Reshape(x, [12]))",
            ),
            (
                17,
                "x: float[N, 3, 2] => Relu(Unsqueeze(Flatten(x), [2]))",
                "Relu(Reshape(x, [0, 6, 1]))",
            ),
            (
                17,
                "x: float[2, 3] => Relu(Squeeze(Unsqueeze(x, [1]), [1]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 2, 3] => Relu(Flatten(Reshape(x, [0, 3, 2])))",
                "Relu(Reshape(x, [0, 6]))",
            ),
            (
                17,
                "x: float[N, 1, 3] => Relu(Reshape(Squeeze(x, [1]), [-1]))",
                "Relu(Reshape(x, [-1]))",
            ),
            (
                17,
                "x: float[0, 3] => Relu(Unsqueeze(Reshape(x, [0, 3]), [2]))",
                "Relu(Reshape(x, [0, 3, 1]))",
            ),
            (
                17,
                "x: float[2, 0] => Relu(Reshape{allowzero=1}(Reshape{allowzero=1}(x, [0, 5]), [7, 0]))",
                "Relu(Reshape(x, [7, 0]))",
            ),
        ],
        stays: &[
            (
                4,
                "x: float[2, 6] => Relu(Reshape(Reshape{shape=[3, 4]}(x), [12]))",
            ),
            // A size that may be 0 leaves the -1 undetermined.
            (
                17,
                "x: float[A, B, C, D] => Relu(Flatten(Unsqueeze(x, [4])))",
            ),
            (17, "x: float[N, M] => Relu(Unsqueeze(Transpose(x), [0]))"),
            (
                17,
                "x: float[2, 6] => Relu(Reshape(Relu(Reshape(x, [3, 4])), [12]))",
            ),
            (17, "x: float[*] => Relu(Reshape(Flatten(x), [2, 3]))"),
            (
                17,
                "x: float[0, 2] => Relu(Reshape{allowzero=1}(Reshape{allowzero=1}(x, [5, 0]), [7, 0]))",
            ),
        ],
    },
    Case {
        rule: "constant-reshape",
        with: &[],
        fires: &[
            (
                5,
                "x: float[N, 6] => s = Concat{axis=0}(Slice{starts=[0], ends=[1]}(Shape(x)), [2, 3]); Relu(Reshape(x, s))",
                "Relu(Reshape(x, [0, 2, 3]))",
            ),
            (
                17,
                "x: float[N, 2, 3], y: float[M] => s = Concat{axis=0}(Shape{end=1}(x), [6]); Relu(Reshape(x, s))",
                "Relu(Reshape(x, [0, 6]))",
            ),
        ],
        stays: &[
            (
                4,
                "x: float[N, 6] => s = Concat{axis=0}(Slice{starts=[0], ends=[1]}(Shape(x)), [2, 3]); Relu(Reshape(x, s))",
            ),
            (17, "x: float[N, 6] => Relu(Reshape(x, [0, 2, 3]))"),
            (17, "x: float[N, 6], s: int64[2] => Relu(Reshape(x, s))"),
            (
                17,
                "x: float[A, B, C] => s = Concat{axis=0}(Mul(Shape{end=1}(x), Shape{start=1, end=2}(x)), Shape{start=2}(x)); Relu(Reshape(x, s))",
            ),
            (
                17,
                "x: float[0, 3] => s = Concat{axis=0}([3], Mul(Shape{end=1}(x), Shape{end=1}(x))); Relu(Reshape{allowzero=1}(x, s))",
            ),
        ],
    },
    Case {
        rule: "transpose-to-reshape",
        with: &[],
        fires: &[
            (
                5,
                "x: float[3, 1, 4] => Relu(Transpose{perm=[1, 0, 2]}(x))",
                "Relu(Reshape(x, [1, 3, 4]))",
            ),
            (
                17,
                "x: float[N, 1] => Relu(Transpose(x))",
                "Relu(Reshape(x, [1, -1]))",
            ),
            (
                17,
                "x: float[0, 1] => Relu(Transpose{perm=[0, 1]}(x))",
                "Relu(x)",
            ),
            (17, "x: float[1, 1] => Relu(Transpose(x))", "Relu(x)"),
        ],
        stays: &[
            (4, "x: float[3, 1, 4] => Relu(Transpose{perm=[1, 0, 2]}(x))"),
            (17, "x: float[3, 2] => Relu(Transpose(x))"),
            (17, "x: float[N, M] => Relu(Transpose(x))"),
            (
                17,
                "x: float[N, M, 1] => Relu(Transpose{perm=[2, 0, 1]}(x))",
            ),
            (17, "x: float[0, 1] => Relu(Transpose(x))"),
            (17, "x: float[*] => Relu(Transpose(x))"),
            (
                17,
                "fn(p=[1, 0]) x: float[3, 1] => Relu(Transpose{perm=@@p}(x))",
            ),
        ],
    },
];

#[test]
fn reshape() {
    check_all(CASES);
}
