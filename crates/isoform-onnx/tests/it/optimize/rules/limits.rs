//! Chains of limits and of constant operands.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "merge-limits",
        with: &[],
        fires: &[
            (
                11,
                "x: float[N] => Clip(Clip(x, float(-1), float(6)), float(0.5), float(7))",
                "Clip(x, float(0.5), float(6))",
            ),
            (
                17,
                "x: float[N] => Clip(Clip(x, float(1)), _, float(3))",
                "Clip(x, float(1), float(3))",
            ),
            (
                17,
                "x: float[N] => Clip(Clip(x, _, float(1)), float(3))",
                "Clip(x, float(3), float(3))",
            ),
            (
                17,
                "x: float[N] => Clip(Clip(x, float(0), float(1)), float(2), float(3))",
                "Clip(x, float(2), float(2))",
            ),
            (
                17,
                "x: float[N] => Relu(Clip(x, float(-1), float(6)))",
                "Clip(x, float(0), float(6))",
            ),
            (
                17,
                "x: float[N] => Clip(Clip(x, float(0)), float(-2))",
                "Clip(x, float(0))",
            ),
            // Relu makes 0.0 of lower numbers.
            (
                17,
                "x: float[N] => Clip(Clip(x, float(-0.0)), float(-2))",
                "Clip(x, float(-0.0))",
            ),
            (
                17,
                "x: int32[N] => Clip(Clip(x, int32(-5)), int32(2))",
                "Clip(x, int32(2))",
            ),
            (
                17,
                "x: float[N] => Relu(Clip(x, float(1), float(6)))",
                "Clip(x, float(1), float(6))",
            ),
            (
                17,
                "x: float[N] => Clip(Relu(x), float(1), float(6))",
                "Clip(x, float(1), float(6))",
            ),
            (
                17,
                "x: float[N] => a = Clip(x, float(1)); Clip(a, float(2)), Neg(a)",
                "Clip(x, float(2)), Neg(Clip(x, float(1)))",
            ),
        ],
        stays: &[
            // The sign of a zero result depends on the limit met first.
            (
                17,
                "x: float[N] => Clip(Clip(x, float(-0.0), float(6)), float(0))",
            ),
            (17, "x: float[N] => Relu(Clip(x, float(-3), float(-1)))"),
            (17, "x: float[N] => Relu(Clip(x, float(-0.0), float(6)))"),
            (10, "x: float[N] => Clip{max=6.0}(Clip{min=1.0}(x))"),
            (10, "x: float[N] => Clip{max=6.0}(Relu(x))"),
            (17, "x: float[N] => Relu(Relu(x))"),
            (17, "x: float[N], a: float[] => Clip(Clip(x, a), float(1))"),
            (
                17,
                "x: float[N] => Clip(Clip(x, float(3), float(1)), float(0))",
            ),
            (
                17,
                "x: float[N] => Clip(Clip(x, float(0)), float(3), float(1))",
            ),
            (17, "x: float[N] => Clip(Clip(x, float(nan)), float(1))"),
            (
                17,
                "x: int64[N] => Clip(Clip(x, int64(9007199254740993)), int64(9007199254740992))",
            ),
            // A limit of -0.0 differs from the limit of Relu.
            (17, "x: float[N] => Neg(Abs(Clip(x, float(-0.0))))"),
        ],
    },
    Case {
        rule: "merge-constant-operands",
        with: &["fold-constants"],
        fires: &[
            (
                8,
                "x: int32[N] => Add(Add(x, int32(3)), int32(4))",
                "Add(x, int32(7))",
            ),
            (
                17,
                "x: int8[N] => Add(int8(100), Add(int8(100), x))",
                "Add(x, int8(-56))",
            ),
            (
                17,
                "x: int64[N] => Mul(Mul(x, int64(3)), int64(4))",
                "Mul(x, int64(12))",
            ),
            (
                17,
                "x: int32[N] => Max(Max(x, int32(3)), int32(4))",
                "Max(x, int32(4))",
            ),
            (
                17,
                "x: uint8[N] => Min(Min(x, uint8(3)), uint8(4))",
                "Min(x, uint8(3))",
            ),
            (
                17,
                "x: bool[2] => And(And(x, bool[1, 0]), bool(1))",
                "And(x, bool[1, 0])",
            ),
            (
                17,
                "x: bool[2] => Or(Or(x, bool[1, 0]), bool(0))",
                "Or(x, bool[1, 0])",
            ),
            (
                17,
                "x: int32[N, 2] => Add(Add(x, int32[1, 2]), int32<2,1>[10, 20])",
                "Add(x, int32<2,2>[11, 12, 21, 22])",
            ),
        ],
        stays: &[
            (7, "x: int32[N] => Add(Add(x, int32(3)), int32(4))"),
            (17, "x: float[N] => Add(Add(x, float(3)), float(4))"),
            (17, "x: float[N] => Max(Max(x, float(3)), float(4))"),
            (17, "x: int32[N] => Sub(Sub(x, int32(3)), int32(4))"),
            (17, "x: int32[N] => Mul(Add(x, int32(3)), int32(4))"),
            (
                17,
                "x: int32[N] => a = Add(x, int32(3)); Add(a, int32(4)), Neg(a)",
            ),
            (17, "x: int32[N], y: int32[N] => Add(Add(x, y), int32(4))"),
            (
                17,
                "x: int32[N] => a = Add(x, int32(3)); Add(a, int32(4)), a",
            ),
        ],
    },
];

#[test]
fn limits() {
    check_all(CASES);
}
