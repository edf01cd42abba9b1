//! Element-wise calls.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "drop-zero",
        with: &[],
        fires: &[
            (7, "x: float[N] => Neg(Add(x, float(-0.0)))", "Neg(x)"),
            (17, "x: float[N] => Neg(Add(float[-0.0], x))", "Neg(x)"),
            (
                17,
                "x: double[N, 3] => Neg(Add(x, double[-0.0, -0.0, -0.0]))",
                "Neg(x)",
            ),
            (17, "x: float16[N] => Neg(Sub(x, float16(0)))", "Neg(x)"),
            (17, "x: bfloat16[N] => Neg(Sub(x, bfloat16(0)))", "Neg(x)"),
            (17, "x: int64[N] => Neg(Add(x, int64(0)))", "Neg(x)"),
            (17, "x: int8[] => Neg(Sub(x, int8(0)))", "Neg(x)"),
            (17, "x: bool[N] => Not(Or(x, bool(0)))", "Not(x)"),
            (17, "x: bool[N] => Not(Xor(x, bool(0)))", "Not(x)"),
            (
                17,
                "x: uint8[N] => Neg(BitShift{direction=\"LEFT\"}(x, uint8(0)))",
                "Neg(x)",
            ),
            (18, "x: int32[N] => Neg(BitwiseOr(x, int32(0)))", "Neg(x)"),
            (18, "x: int32[N] => Neg(BitwiseXor(x, int32(0)))", "Neg(x)"),
        ],
        stays: &[
            (6, "x: int32[N] => Neg(Add(x, int32(0)))"),
            (17, "x: float[N] => Neg(Add(x, float(0)))"),
            (17, "x: float[N] => Neg(Sub(x, float(-0.0)))"),
            (17, "x: float[N] => Neg(Sub(float(0), x))"),
            (17, "x: float16[N] => Neg(Add(x, float16(0)))"),
            (17, "x: int64[N] => Neg(Sub(int64(0), x))"),
            (17, "x: int64[N] => Neg(Add(x, int64[0, 0]))"),
            (17, "x: int64[] => Neg(Add(x, int64[0]))"),
            (17, "x: int64[N] => Neg(Add(x, int64<1,1>[0]))"),
            (17, "x: int64[2] => Neg(Add(x, int64[0, 1]))"),
            (17, "x: int64[1] => Neg(Add(x, int64<0>[0]))"),
            (17, "x: int64[*] => Neg(Add(x, int64[0]))"),
            (17, "x: bool[N] => Not(Or(x, bool(1)))"),
            (
                17,
                "x: uint8[N] => BitShift{direction=\"LEFT\"}(uint8(0), x)",
            ),
        ],
    },
    Case {
        rule: "drop-one",
        with: &[],
        fires: &[
            (7, "x: float[N] => Neg(Mul(x, float(1)))", "Neg(x)"),
            (17, "x: float[N] => Neg(Mul(float[1], x))", "Neg(x)"),
            (17, "x: float16[N] => Neg(Div(x, float16(1)))", "Neg(x)"),
            (17, "x: bfloat16[N] => Neg(Mul(x, bfloat16(1)))", "Neg(x)"),
            (17, "x: int32[N, 2] => Neg(Div(x, int32[1, 1]))", "Neg(x)"),
            (17, "x: float[N] => Neg(Pow(x, int64(1)))", "Neg(x)"),
            (17, "x: int32[N] => Neg(Pow(x, int32(1)))", "Neg(x)"),
            (17, "x: bool[N] => Not(And(x, bool(1)))", "Not(x)"),
        ],
        stays: &[
            (17, "x: int64[N] => Neg(Pow(x, int64(1)))"),
            (6, "x: float[N] => Neg(Mul(x, float(1)))"),
            (17, "x: float[N] => Neg(Mul(x, float(-1)))"),
            (17, "x: float[N] => Neg(Div(float(1), x))"),
            (17, "x: float[N] => Neg(Pow(float(1), x))"),
            (17, "x: float[N] => Neg(Mul(x, float[1, 1]))"),
            (17, "x: float[] => Neg(Mul(x, float[1]))"),
            (17, "x: float[N] => Neg(Mul(x, float(0)))"),
            (17, "x: bool[N] => Not(And(x, bool(0)))"),
            (17, "x: float[*] => Neg(Mul(x, float[1]))"),
        ],
    },
    Case {
        rule: "undo-twice",
        with: &[],
        fires: &[
            (1, "x: bool[N] => Identity(Not(Not(x)))", "Identity(x)"),
            (17, "x: float[N] => Relu(Neg(Neg(x)))", "Relu(x)"),
            (17, "x: int8[N] => Identity(Neg(Neg(x)))", "Identity(x)"),
            (
                18,
                "x: int8[N] => Identity(BitwiseNot(BitwiseNot(x)))",
                "Identity(x)",
            ),
            (
                17,
                "x: float[N] => a = Neg(x); Relu(Neg(a)), Relu(a)",
                "Relu(x), Relu(Neg(x))",
            ),
        ],
        stays: &[
            (17, "x: float[N] => Relu(Neg(x))"),
            (17, "x: float[N] => Neg(Abs(Neg(x)))"),
            (17, "x: float[N] => Reciprocal(Reciprocal(x))"),
        ],
    },
    Case {
        rule: "once-is-enough",
        with: &[],
        fires: &[
            (6, "x: float[N] => Abs(Abs(x))", "Abs(x)"),
            (17, "x: float[N] => Relu(Relu(Relu(x)))", "Relu(x)"),
            (17, "x: float[N] => Ceil(Ceil(x))", "Ceil(x)"),
            (17, "x: float[N] => Floor(Floor(x))", "Floor(x)"),
            (17, "x: float[N] => Round(Round(x))", "Round(x)"),
            (17, "x: int32[N] => Sign(Sign(x))", "Sign(x)"),
            (
                17,
                "x: float[N] => a = Relu(x); Relu(a), Neg(a)",
                "a = Relu(x); a, Neg(a)",
            ),
        ],
        stays: &[
            (5, "x: float[N] => Relu(Relu(x))"),
            (17, "x: float[N] => Abs(Relu(x))"),
            (17, "x: float[N] => Floor(Ceil(x))"),
            (17, "x: float[N] => Exp(Exp(x))"),
        ],
    },
    Case {
        rule: "drop-cast",
        with: &[],
        fires: &[
            (6, "x: float[N] => Relu(Cast{to=float}(x))", "Relu(x)"),
            (17, "x: int64[*] => Neg(Cast{to=int64}(x))", "Neg(x)"),
            (17, "x: bool[N] => Not(Cast{to=bool}(x))", "Not(x)"),
        ],
        stays: &[
            (5, "x: float[N] => Relu(Cast{to=float}(x))"),
            (17, "x: float[N] => Neg(Cast{to=double}(x))"),
            (17, "fn(t=1) x: float[N] => Neg(Cast{to=@t}(x))"),
            (17, "fn() x: float[N] => Neg(Cast{to=float}(x))"),
        ],
    },
    Case {
        rule: "merge-casts",
        with: &[],
        fires: &[
            (
                6,
                "x: float[N] => Cast{to=float}(Cast{to=double}(x))",
                "Cast{to=float}(x)",
            ),
            (
                17,
                "x: float16[N] => Cast{to=bfloat16}(Cast{to=float}(x))",
                "Cast{to=bfloat16}(x)",
            ),
            (
                17,
                "x: int32[N] => Cast{to=int8}(Cast{to=int64}(x))",
                "Cast{to=int8}(x)",
            ),
            (
                17,
                "x: int32[N] => Cast{to=bool}(Cast{to=int64}(x))",
                "Cast{to=bool}(x)",
            ),
            (
                17,
                "x: bool[N] => Cast{to=int64}(Cast{to=float}(x))",
                "Cast{to=int64}(x)",
            ),
            (
                17,
                "x: uint8[N] => Cast{to=float}(Cast{to=float16}(x))",
                "Cast{to=float}(x)",
            ),
            (
                17,
                "x: uint8[N] => Cast{to=int16}(Cast{to=bfloat16}(x))",
                "Cast{to=int16}(x)",
            ),
            (
                17,
                "x: int32[N] => Cast{to=float}(Cast{to=double}(x))",
                "Cast{to=float}(x)",
            ),
            (
                17,
                "x: int32[N] => a = Cast{to=int64}(x); Cast{to=float}(a), Neg(a)",
                "Cast{to=float}(x), Neg(Cast{to=int64}(x))",
            ),
        ],
        stays: &[
            (5, "x: float[N] => Cast{to=float}(Cast{to=double}(x))"),
            (17, "x: float[N] => Cast{to=float}(Cast{to=float16}(x))"),
            (17, "x: float16[N] => Cast{to=float}(Cast{to=bfloat16}(x))"),
            (17, "x: bfloat16[N] => Cast{to=float}(Cast{to=float16}(x))"),
            (17, "x: int64[N] => Cast{to=int64}(Cast{to=int32}(x))"),
            (17, "x: int32[N] => Cast{to=int64}(Cast{to=uint64}(x))"),
            (17, "x: uint32[N] => Cast{to=int64}(Cast{to=int32}(x))"),
            (17, "x: int32[N] => Cast{to=double}(Cast{to=float}(x))"),
            (17, "x: int64[N] => Cast{to=int64}(Cast{to=double}(x))"),
            (17, "x: uint16[N] => Cast{to=float}(Cast{to=float16}(x))"),
            // Out of the range of the last type, floats do not wrap around.
            (17, "x: int16[N] => Cast{to=int8}(Cast{to=float}(x))"),
            (17, "x: int64[N] => Cast{to=int32}(Cast{to=bool}(x))"),
            (17, "x: float[N] => Cast{to=float}(Cast{to=int32}(x))"),
            (
                17,
                "fn(t=1) x: float[N] => Cast{to=@t}(Cast{to=double}(Cast{to=float}(x)))",
            ),
        ],
    },
    Case {
        rule: "drop-clip",
        with: &[],
        fires: &[
            (11, "x: int32[N] => Neg(Clip(x))", "Neg(x)"),
            (17, "x: int32[N] => Neg(Clip(x))", "Neg(x)"),
            (17, "x: int32[N] => Neg(Clip(x, _, _))", "Neg(x)"),
        ],
        stays: &[
            // Left out, the attributes are the limits of the type, and infinity is beyond.
            (10, "x: float[N] => Neg(Clip(x))"),
            (6, "x: float[N] => Neg(Clip(x))"),
            (17, "x: float[N] => Neg(Clip(x))"),
            (17, "x: float[N] => Neg(Clip(x, float(0)))"),
            (17, "x: float[N] => Neg(Clip(x, _, float(0)))"),
        ],
    },
    Case {
        rule: "decided-where",
        with: &[],
        fires: &[
            (
                9,
                "x: float[N], y: float[N] => Neg(Where(bool(1), x, y))",
                "Neg(x)",
            ),
            (
                17,
                "x: float[N], y: float[N] => Neg(Where(bool[0], x, y))",
                "Neg(y)",
            ),
            (
                17,
                "x: float[2], y: float[] => Neg(Where(bool[1, 1], x, y))",
                "Neg(x)",
            ),
        ],
        stays: &[
            (8, "x: float[N], y: float[N] => Neg(Where(bool(1), x, y))"),
            (17, "x: float[N], y: float[M] => Neg(Where(bool(1), x, y))"),
            (17, "x: float[], y: float[2] => Neg(Where(bool(1), x, y))"),
            (
                17,
                "x: float[2], y: float[2] => Neg(Where(bool[1, 0], x, y))",
            ),
            (
                17,
                "x: float[1], y: float[1] => Neg(Where(bool[1, 1], x, y))",
            ),
            (
                17,
                "x: float[1], y: float[1] => Neg(Where(bool<0>[1], x, y))",
            ),
            (
                17,
                "x: float[N], y: float[N], c: bool[] => Neg(Where(c, x, y))",
            ),
        ],
    },
    Case {
        rule: "where-equal",
        with: &[],
        fires: &[
            (9, "x: float[N], c: bool[] => Neg(Where(c, x, x))", "Neg(x)"),
            (
                17,
                "x: float[N, 3], c: bool[3] => Neg(Where(c, x, x))",
                "Neg(x)",
            ),
        ],
        stays: &[
            (8, "x: float[N], c: bool[] => Neg(Where(c, x, x))"),
            (17, "x: float[], c: bool[2] => Neg(Where(c, x, x))"),
            (17, "x: float[N], c: bool[M] => Neg(Where(c, x, x))"),
            (17, "x: float[N], c: bool[*] => Neg(Where(c, x, x))"),
            (
                17,
                "x: float[N], y: float[N], c: bool[] => Neg(Where(c, x, y))",
            ),
        ],
    },
    Case {
        rule: "drop-expand",
        with: &[],
        fires: &[
            (
                8,
                "x: float[2, 3], y: float[3] => Add(x, Expand(y, [2, 3]))",
                "Add(x, y)",
            ),
            (
                17,
                "x: float[2, 3], y: float[3] => Sub(Expand(y, [2, 3]), x)",
                "Sub(y, x)",
            ),
            (
                17,
                "x: float[2, 3], y: float[3] => Sub(x, Expand(y, [2, 3]))",
                "Sub(x, y)",
            ),
            (
                17,
                "x: float[2, 3], y: float[] => Mul(x, Expand(y, [2, 3]))",
                "Mul(x, y)",
            ),
            (
                17,
                "x: float[2], y: float[1] => Div(x, Expand(y, [2]))",
                "Div(x, y)",
            ),
            (
                17,
                "x: int32[2], y: int32[1] => Pow(x, Expand(y, [2]))",
                "Pow(x, y)",
            ),
            (
                17,
                "x: bool[2], y: bool[1] => And(x, Expand(y, [2]))",
                "And(x, y)",
            ),
            (
                17,
                "x: bool[2], y: bool[1] => Or(x, Expand(y, [2]))",
                "Or(x, y)",
            ),
            (
                17,
                "x: bool[2], y: bool[1] => Xor(x, Expand(y, [2]))",
                "Xor(x, y)",
            ),
            (
                17,
                "x: float[2], y: float[1] => Equal(Expand(y, [2]), x)",
                "Equal(y, x)",
            ),
            (
                17,
                "x: float[2], y: float[1] => Less(Expand(y, [2]), x)",
                "Less(y, x)",
            ),
            (
                17,
                "x: float[2], y: float[1] => Greater(x, Expand(y, [2]))",
                "Greater(x, y)",
            ),
            (
                17,
                "x: float[2], y: float[1] => LessOrEqual(x, Expand(y, [2]))",
                "LessOrEqual(x, y)",
            ),
            (
                17,
                "x: float[2], y: float[1] => GreaterOrEqual(x, Expand(y, [2]))",
                "GreaterOrEqual(x, y)",
            ),
            (
                17,
                "x: float[N, 3], y: float[3] => Add(x, Expand(y, Shape(x)))",
                "Add(x, y)",
            ),
        ],
        stays: &[
            (
                7,
                "x: float[2, 3], y: float[3] => Add(x, Expand(y, [2, 3]))",
            ),
            (17, "x: float[3], y: float[3] => Add(x, Expand(y, [2, 3]))"),
            (17, "x: float[1], y: float[1] => Add(x, Expand(y, [2]))"),
            (17, "x: float[1], y: float[1] => Add(x, Expand(y, [0]))"),
            (17, "x: float[], y: float[] => Add(x, Expand(y, [1]))"),
            (
                17,
                "x: float[N], y: float[M], s: int64[1] => Add(x, Expand(y, s))",
            ),
            (17, "x: float[*], y: float[3] => Add(x, Expand(y, [2, 3]))"),
        ],
    },
];

#[test]
fn arithmetic() {
    check_all(CASES);
}
