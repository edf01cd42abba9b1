//! Calls that move elements.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "merge-transposes",
        with: &[],
        fires: &[
            (
                1,
                "x: float[2, 3, 4] => Transpose{perm=[1, 2, 0]}(Transpose{perm=[0, 2, 1]}(x))",
                "Transpose{perm=[2, 1, 0]}(x)",
            ),
            (
                17,
                "x: float[N, M] => Relu(Transpose(Transpose(x)))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[2, 3, 4] => Transpose{perm=[1, 0, 2]}(Transpose(x))",
                "Transpose{perm=[1, 2, 0]}(x)",
            ),
            (
                17,
                "x: float[2, 3] => a = Transpose(x); Relu(Transpose(a)), Relu(a)",
                "Relu(x), Relu(Transpose(x))",
            ),
        ],
        stays: &[
            (17, "x: float[*] => Transpose(Transpose(x))"),
            (17, "x: float[2, 3] => Transpose(Relu(Transpose(x)))"),
            (
                17,
                "fn(p=[1, 0]) x: float[2, 3] => Transpose{perm=@@p}(Transpose{perm=[1, 0]}(x))",
            ),
            (
                17,
                "x: float[2, 3] => Transpose{perm=[0, 1, 2]}(Transpose{perm=[1, 0]}(x))",
            ),
        ],
    },
    Case {
        rule: "drop-transpose",
        with: &[],
        fires: &[
            (
                1,
                "x: float[2, 3] => Relu(Transpose{perm=[0, 1]}(x))",
                "Relu(x)",
            ),
            (17, "x: float[N] => Relu(Transpose(x))", "Relu(x)"),
            (17, "x: float[] => Relu(Transpose(x))", "Relu(x)"),
            (
                17,
                "x: float[2, 3, N] => Relu(Transpose{perm=[0, 1, 2]}(x))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (17, "x: float[2, 3] => Relu(Transpose{perm=[1, 0]}(x))"),
            (17, "x: float[2, 3] => Relu(Transpose(x))"),
            (17, "x: float[1, 1] => Relu(Transpose(x))"),
            (17, "x: float[*] => Relu(Transpose(x))"),
            (
                17,
                "fn(p=[0, 1]) x: float[2, 3] => Relu(Transpose{perm=@@p}(x))",
            ),
        ],
    },
    Case {
        rule: "merge-concats",
        with: &[],
        fires: &[
            (
                4,
                "x: float[N], y: float[M] => Concat{axis=0}(Concat{axis=0}(x, y), x)",
                "Concat{axis=0}(x, y, x)",
            ),
            (
                17,
                "x: float[N, 2], y: float[N, 3] => Concat{axis=1}(x, Concat{axis=-1}(x, y))",
                "Concat{axis=1}(x, x, y)",
            ),
            (
                17,
                "x: float[N] => Concat{axis=0}(Concat{axis=0}(x, x), Concat{axis=0}(x, x, x))",
                "Concat{axis=0}(x, x, x, x, x)",
            ),
            (
                17,
                "x: float[N], y: float[M] => Concat{axis=0}(Concat{axis=0}(x, Concat{axis=0}(y, x)), y)",
                "Concat{axis=0}(x, y, x, y)",
            ),
        ],
        stays: &[
            (
                3,
                "x: float[N], y: float[M] => Concat{axis=0}(Concat{axis=0}(x, y), x)",
            ),
            (
                17,
                "x: float[2, 2] => Concat{axis=0}(Concat{axis=1}(x, x), Concat{axis=1}(x, x))",
            ),
            (
                17,
                "x: float[N] => a = Concat{axis=0}(x, x); Concat{axis=0}(a, x), Neg(a)",
            ),
            (
                17,
                "x: float[N] => a = Concat{axis=0}(x, x); Concat{axis=0}(a, a)",
            ),
            (
                17,
                "x: float[N] => a = Concat{axis=0}(x, x); Concat{axis=0}(a, x), a",
            ),
            (
                17,
                "x: float[*] => Concat{axis=-1}(Concat{axis=1}(x, x), x)",
            ),
            (
                17,
                "fn(a=0) x: float[N] => Concat{axis=0}(Concat{axis=@a}(x, x), x)",
            ),
        ],
    },
    Case {
        rule: "drop-empty-parts",
        with: &[],
        fires: &[
            (
                4,
                "x: float[N], e: float[0] => Concat{axis=0}(x, e, x)",
                "Concat{axis=0}(x, x)",
            ),
            (
                17,
                "x: float[2, N], e: float[2, 0] => Concat{axis=-1}(e, x)",
                "Concat{axis=-1}(x)",
            ),
        ],
        stays: &[
            (3, "x: float[N], e: float[0] => Concat{axis=0}(x, e, x)"),
            (17, "e: float[0], f: float[0] => Concat{axis=0}(e, f)"),
            (17, "x: float[N, 2], y: float[M, 2] => Concat{axis=0}(x, y)"),
            (17, "x: float[2, 0], y: float[3, 0] => Concat{axis=0}(x, y)"),
            (17, "x: float[*], e: float[0] => Concat{axis=0}(x, e)"),
        ],
    },
    Case {
        rule: "concat-of-split",
        with: &[],
        fires: &[
            (
                4,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(a, b))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 4] => a, b = Split{axis=-1}(x, [1, 3]); Relu(Concat{axis=1}(a, b))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (
                3,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(a, b))",
            ),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(b, a))",
            ),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(a, a))",
            ),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(a)), b",
            ),
            (
                17,
                "x: float[4, 4] => a, b = Split{axis=0}(x); Relu(Concat{axis=1}(a, b))",
            ),
            (
                17,
                "x: float[6] => a, b, c = Split{axis=0}(x); Relu(Concat{axis=0}(a, b)), c",
            ),
            (
                17,
                "x: float[*] => a, b = Split{axis=0}(x); Relu(Concat{axis=0}(a, b))",
            ),
            (
                17,
                "x: float[4], y: float[4] => a, b = Split{axis=0}(x); c, d = Split{axis=0}(y); Relu(Concat{axis=0}(a, d)), b, c",
            ),
        ],
    },
    Case {
        rule: "merge-slices",
        with: &[],
        fires: &[
            (
                10,
                "x: float[9, 9] => Slice(Slice(x, [1], [5], [0]), [2], [6], [1])",
                "Slice(x, [1, 2], [5, 6], [0, 1])",
            ),
            (
                17,
                "x: float[N] => Slice(Slice(x, [1], [8]), [1], [2])",
                "Slice(x, [2], [3], [0])",
            ),
            (
                17,
                "x: float[N] => Slice(Slice(x, [2], [5]), [4], [10])",
                "Slice(x, [6], [5], [0])",
            ),
            (
                17,
                "x: float[9] => Slice(Slice(x, [3], [1]), [0], [5])",
                "Slice(x, [3], [1], [0])",
            ),
            (
                17,
                "x: float[N] => Slice(Slice(x, [1], [9223372036854775807]), [1], [9223372036854775807])",
                "Slice(x, [2], [9223372036854775807], [0])",
            ),
            (
                17,
                "x: float[9, 9] => Slice(Slice(x, [-1], [-9], [0], [-2]), [1], [3], [1])",
                "Slice(x, [-1, 1], [-9, 3], [0, 1], [-2, 1])",
            ),
            (
                17,
                "x: float[9, 9] => Slice(Slice(x, int32[1], int32[5], int32[-1]), [2], [3], [1])",
                "Slice(x, [3], [4], [1])",
            ),
        ],
        stays: &[
            (
                9,
                "x: float[9, 9] => Slice(Slice(x, [1], [5], [0]), [2], [6], [1])",
            ),
            (17, "x: float[N] => Slice(Slice(x, [1], [-1]), [1], [2])"),
            (17, "x: float[N] => Slice(Slice(x, [1], [5]), [-2], [9])"),
            (17, "x: float[N] => Slice(Slice(x, [1], [5]), [0], [-1])"),
            (17, "x: float[N] => Slice(Slice(x, [-5], [9]), [1], [2])"),
            (
                17,
                "x: float[9] => Slice(Slice(x, [0], [9], [0], [2]), [1], [3])",
            ),
            (
                17,
                "x: float[9] => Slice(Slice(x, [0], [9]), [1], [8], [0], [2])",
            ),
            (
                17,
                "x: float[*] => Slice(Slice(x, [0], [3], [-1]), [1], [2], [0])",
            ),
            (
                17,
                "x: float[N], s: int64[1] => Slice(Slice(x, s, [9]), [1], [2])",
            ),
            (
                17,
                "x: float[N], s: int64[1] => Slice(Slice(x, [1], [9], s), [1], [2], [0])",
            ),
        ],
    },
];

#[test]
fn moves() {
    check_all(CASES);
}
