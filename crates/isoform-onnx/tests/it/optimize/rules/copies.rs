//! Calls that return one of their inputs.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "drop-identity",
        with: &[],
        fires: &[
            (1, "x: float[N] => Relu(Identity(x))", "Relu(x)"),
            (17, "x: float[N] => Relu(Identity(Identity(x)))", "Relu(x)"),
            (
                17,
                "x: float[N] => Relu(Identity(x)), Neg(x)",
                "Relu(x), Neg(x)",
            ),
            (17, "x: bool[*] => Not(Identity(x))", "Not(x)"),
            (17, "fn() x: float[N] => Relu(Identity(x))", "Relu(x)"),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Relu(Identity(x))}, else_branch={=> Neg(x)}}(c)",
                "If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(c)",
            ),
        ],
        stays: &[
            (17, "x: float[N] => demo::Identity(x)"),
            (17, "x: float[N] => Relu(x)"),
        ],
    },
    Case {
        rule: "drop-dropout",
        with: &[],
        fires: &[
            (6, "x: float[N] => Relu(Dropout{is_test=1}(x))", "Relu(x)"),
            (7, "x: float[N] => Relu(Dropout{ratio=0.5}(x))", "Relu(x)"),
            (11, "x: float[N] => Relu(Dropout(x))", "Relu(x)"),
            (12, "x: float[N] => Relu(Dropout(x, float(0.5)))", "Relu(x)"),
            (
                17,
                "x: float[N], r: float[] => Relu(Dropout(x, r, bool(0)))",
                "Relu(x)",
            ),
            (17, "x: float[N] => a, m = Dropout(x); Relu(a)", "Relu(x)"),
            (12, "x: float16[N] => a, m = Dropout(x); Neg(a)", "Neg(x)"),
        ],
        stays: &[
            (6, "x: float[N] => Relu(Dropout(x))"),
            (6, "x: float[N] => Relu(Dropout{is_test=0}(x))"),
            (17, "x: float[N] => Relu(Dropout(x, float(0.5), bool(1)))"),
            (
                17,
                "x: float[N], t: bool[] => Relu(Dropout(x, float(0.5), t))",
            ),
            (17, "x: float[N] => a, m = Dropout(x); Relu(a), Not(m)"),
            (6, "fn(t=1) x: float[N] => Relu(Dropout{is_test=@t}(x))"),
        ],
    },
    Case {
        rule: "drop-single",
        with: &[],
        fires: &[
            (8, "x: float[N] => Relu(Concat{axis=0}(x))", "Relu(x)"),
            (8, "x: float[N] => Relu(Sum(x))", "Relu(x)"),
            (17, "x: float[N] => Relu(Max(x))", "Relu(x)"),
            (17, "x: float[] => Relu(Min(x))", "Relu(x)"),
            (17, "x: float[N] => Relu(Mean(x))", "Relu(x)"),
        ],
        stays: &[
            (7, "x: float[N] => Relu(Sum(x))"),
            (17, "x: float[N] => Relu(Sum(x, x))"),
            (17, "x: float[N] => Relu(Concat{axis=0}(x, x))"),
        ],
    },
    Case {
        rule: "drop-single-split",
        with: &[],
        fires: &[
            (2, "x: float[4] => Relu(Split{axis=0}(x))", "Relu(x)"),
            (
                13,
                "x: float[N, 4] => Relu(Split{axis=1}(x, [4]))",
                "Relu(x)",
            ),
            (
                18,
                "x: float[N] => Relu(Split{num_outputs=1}(x))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (1, "x: float[4] => Relu(Split{axis=0}(x))"),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); Relu(a), Neg(b)",
            ),
            (
                17,
                "x: float[0] => a, b = Split{axis=0}(x); Relu(a), Neg(b)",
            ),
            (17, "x: float[*] => Relu(Split{axis=0}(x))"),
        ],
    },
    Case {
        rule: "drop-slice",
        with: &[],
        fires: &[
            (
                1,
                "x: float[4] => Relu(Slice{starts=[0], ends=[4]}(x))",
                "Relu(x)",
            ),
            (
                10,
                "x: float[4, N] => Relu(Slice(x, [0], [9], [0]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 3] => Relu(Slice(x, [0, -3], [9223372036854775807, 3], [0, -1], [1, 1]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[1] => Relu(Slice(x, [0], [5], [0], [2]))",
                "Relu(x)",
            ),
            (17, "x: float[0] => Relu(Slice(x, [0], [5]))", "Relu(x)"),
        ],
        stays: &[
            (17, "x: float[4] => Relu(Slice(x, [1], [9]))"),
            (17, "x: float[4] => Relu(Slice(x, [0], [3]))"),
            (17, "x: float[N] => Relu(Slice(x, [0], [100]))"),
            (17, "x: float[4] => Relu(Slice(x, [-1], [-5], [0], [-1]))"),
            (17, "x: float[4] => Relu(Slice(x, [0], [4], [0], [2]))"),
            (
                17,
                "x: float[4], s: int64[1] => Relu(Slice(x, [0], [4], [0], s))",
            ),
            (17, "x: float[4], s: int64[1] => Relu(Slice(x, s, [4]))"),
            (17, "x: float[*] => Relu(Slice(x, [0], [4]))"),
        ],
    },
    Case {
        rule: "drop-pad",
        with: &[],
        fires: &[
            (2, "x: float[N] => Relu(Pad{pads=[0, 0]}(x))", "Relu(x)"),
            (11, "x: float[N] => Relu(Pad(x, [0, 0]))", "Relu(x)"),
            (
                17,
                "x: float[N, M] => Relu(Pad(x, [0, 0, 0, 0], float(1)))",
                "Relu(x)",
            ),
            (
                18,
                "x: float[N, M] => Relu(Pad(x, [0, 0], _, [1]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 3] => Relu(Pad{mode=\"edge\"}(x, [0, 0, 0, 0]))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (1, "x: float[N] => Relu(Pad{paddings=[0, 0]}(x))"),
            (17, "x: float[N] => Relu(Pad(x, [0, 1]))"),
            (17, "x: float[N] => Relu(Pad(x, [-1, 1]))"),
            (10, "x: float[N] => Relu(Pad{pads=[0, 1]}(x))"),
            (17, "x: float[N], p: int64[2] => Relu(Pad(x, p))"),
            (10, "fn(p=[0, 0]) x: float[N] => Relu(Pad{pads=@@p}(x))"),
        ],
    },
    Case {
        rule: "drop-tile",
        with: &[],
        fires: &[
            (6, "x: float[N] => Relu(Tile(x, [1]))", "Relu(x)"),
            (17, "x: float[N, M] => Relu(Tile(x, [1, 1]))", "Relu(x)"),
        ],
        stays: &[
            (5, "x: float[N] => Relu(Tile(x, [1]))"),
            (17, "x: float[N, M] => Relu(Tile(x, [1, 2]))"),
            (17, "x: float[N] => Relu(Tile(x, [0]))"),
            (17, "x: float[N], r: int64[1] => Relu(Tile(x, r))"),
        ],
    },
    Case {
        rule: "drop-block",
        with: &[],
        fires: &[
            (
                1,
                "x: float[N, 4, 2, 2] => Relu(DepthToSpace{blocksize=1}(x))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 4, 2, 2] => Relu(SpaceToDepth{blocksize=1}(x))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[N, 4, 2, 2] => Relu(DepthToSpace{blocksize=2}(x))",
            ),
            (
                17,
                "fn(b=1) x: float[N, 4, 2, 2] => Relu(DepthToSpace{blocksize=@b}(x))",
            ),
        ],
    },
    Case {
        rule: "drop-pool",
        with: &[],
        fires: &[
            (
                1,
                "x: float[1, 1, 3] => Neg(MaxPool{kernel_shape=[1]}(x))",
                "Neg(x)",
            ),
            (
                17,
                "x: float[N, 2, 3, 3] => Neg(MaxPool{kernel_shape=[1, 1], strides=[1, 1], pads=[0, 0, 0, 0]}(x))",
                "Neg(x)",
            ),
            (
                17,
                "x: float[N, 2, 3] => Neg(MaxPool{kernel_shape=[1], auto_pad=\"VALID\"}(x))",
                "Neg(x)",
            ),
        ],
        stays: &[
            (17, "x: float[1, 1, 3] => Neg(MaxPool{kernel_shape=[2]}(x))"),
            // The sum of one -0.0, added to 0.0, is 0.0.
            (
                17,
                "x: float[1, 1, 3] => Neg(AveragePool{kernel_shape=[1]}(x))",
            ),
            (
                17,
                "x: float[1, 1, 3] => Neg(MaxPool{kernel_shape=[1], strides=[2]}(x))",
            ),
            (
                17,
                "x: float[1, 1, 3] => Neg(MaxPool{kernel_shape=[1], pads=[0, 1]}(x))",
            ),
            (
                17,
                "x: float[1, 1, 3] => a, i = MaxPool{kernel_shape=[1]}(x); Neg(a), Neg(i)",
            ),
            (
                17,
                "fn(s=[1]) x: float[1, 1, 3] => Neg(MaxPool{kernel_shape=[1], strides=@@s}(x))",
            ),
        ],
    },
    Case {
        rule: "drop-gather",
        with: &[],
        fires: &[
            (1, "x: float[3] => Relu(Gather(x, [0, 1, 2]))", "Relu(x)"),
            (
                17,
                "x: float[N, 2] => Relu(Gather{axis=-1}(x, int32[0, 1]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N, 1] => Relu(Gather{axis=1}(x, [0]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[0, N] => Relu(Gather(x, int64<0>[1]))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (17, "x: float[3] => Relu(Gather(x, [0, 2, 1]))"),
            (17, "x: float[3] => Relu(Gather(x, [0, 1]))"),
            (17, "x: float[1] => Relu(Gather(x, int64(0)))"),
            (17, "x: float[2] => Relu(Gather(x, int64<1,2>[0, 1]))"),
            (17, "x: float[N] => Relu(Gather(x, [0]))"),
            (17, "x: float[2] => Relu(Gather{axis=5}(x, [0, 1]))"),
            (17, "fn(a=0) x: float[1] => Relu(Gather{axis=@a}(x, [0]))"),
        ],
    },
    Case {
        rule: "drop-resize",
        with: &[],
        fires: &[
            (
                10,
                "x: float[1, 1, N] => Relu(Resize(x, float[1, 1, 1]))",
                "Relu(x)",
            ),
            (
                11,
                "x: float[1, 1, N] => Relu(Resize(x, float[], float[1, 1, 1]))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[1, 1, 3] => Relu(Resize{coordinate_transformation_mode=\"asymmetric\"}(x, _, _, [1, 1, 3]))",
                "Relu(x)",
            ),
            (
                10,
                "x: float[1, 1, N] => Relu(Upsample(x, float[1, 1, 1]))",
                "Relu(x)",
            ),
        ],
        stays: &[
            (9, "x: float[1, 1, N] => Relu(Upsample(x, float[1, 1, 1]))"),
            (
                17,
                "x: float[1, 1, 3] => Relu(Resize(x, _, float[1, 1, 2]))",
            ),
            (17, "x: float[1, 1, 3] => Relu(Resize(x, _, _, [1, 1, 4]))"),
            (
                17,
                "x: float[1, 1, 3] => Relu(Resize{mode=\"cubic\"}(x, _, float[1, 1, 1]))",
            ),
            (
                17,
                "x: float[1, 1, 3] => Relu(Resize{coordinate_transformation_mode=\"tf_crop_and_resize\"}(x, float[0, 0, 0, 1, 1, 1], float[1, 1, 1]))",
            ),
            // The size stays, but samples lie between elements.
            (
                17,
                "x: float[1, 1, 3] => Relu(Resize(x, _, float[1, 1, 1.2]))",
            ),
            (
                17,
                "x: float[1, 1, 3], s: float[3] => Relu(Resize(x, _, s))",
            ),
        ],
    },
];

#[test]
fn copies() {
    check_all(CASES);
}
