//! The steps of simplification besides rules.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[
    Case {
        rule: "fold-constants",
        with: &[],
        fires: &[
            (
                17,
                "x: float[2] => Mul(x, Add(float[1, 2], float[3, 4]))",
                "Mul(x, float[4, 6])",
            ),
            (
                17,
                "x: float[2] => Add(x, Cast{to=float}([1, 2]))",
                "Add(x, float[1, 2])",
            ),
            (
                17,
                "x: int64[2] => Add(x, Shape(float<3,4>[0]))",
                "Add(x, [3, 4])",
            ),
            (
                17,
                "x: string[1] => Concat{axis=0}(x, Gather(string[a, b, c], [2]))",
                "Concat{axis=0}(x, string[c])",
            ),
            (
                17,
                "x: float[2], c: bool[] => If{then_branch={=> Add(x, Neg(float(1)))}, else_branch={=> Neg(x)}}(c)",
                "If{then_branch={=> Add(x, float(-1))}, else_branch={=> Neg(x)}}(c)",
            ),
            (
                17,
                "fn() x: float[2] => Mul(x, Add(float(1), float(2)))",
                "Mul(x, float(3))",
            ),
            (
                17,
                "x: float[M] => Add(x, ConstantOfShape{value=float[2]}([3]))",
                "Add(x, float[2, 2, 2])",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[2] => Mul(x, RandomNormal{shape=[2], seed=1.0}())",
            ),
            (
                17,
                "x: float[2] => Mul(x, Bernoulli{seed=1.0}(float[0.5, 0.5]))",
            ),
            (
                17,
                "x: float[2] => Mul(x, Dropout{seed=1}(float[0.5, 0.5], float(0.5), bool(1)))",
            ),
            (
                17,
                "x: float[2] => Mul(x, DequantizeLinear(uint8[1, 2], float(0.5)))",
            ),
            (
                17,
                "x: uint8[2] => Equal(x, QuantizeLinear(float[1, 2], float(0.5)))",
            ),
            (
                17,
                "x: float[2] => y, s, z = DynamicQuantizeLinear(float[1, 2]); Mul(x, s)",
            ),
            (17, "x: float[2] => Mul(x, Exp(float[1, 2]))"),
            (
                17,
                "x: float[2] => Mul(x, ReduceSum(float<2,2>[1, 2], [0]))",
            ),
            (
                17,
                "x: float[2] => Mul(x, MatMul(float<2,2>[1, 2], float[3, 4]))",
            ),
            (
                17,
                "x: float[2] => Mul(x, demo::Add(float[1, 2], float[3, 4]))",
            ),
            (17, "x: int32[2] => Mul(x, Div(int32[1, 2], int32[0, 1]))"),
            (17, "x: float[2] => Mul(x, Reshape(float[1, 2], [3]))"),
            (17, "fn(t=1) x: float[2] => Mul(x, Cast{to=@t}([1, 2]))"),
            // Two million elements made from one element by a node.
            (17, "x: float[2] => Mul(x, Tile(float[1, 2], [1000000]))"),
            (
                17,
                "x: float[1] => Mul(x, ConstantOfShape{value=float[2]}([1000000]))",
            ),
            (
                17,
                "x: int64[1] => Mul(x, Range(int64(0), int64(1000000), int64(1)))",
            ),
        ],
    },
    Case {
        rule: "known-values",
        with: &[],
        fires: &[
            (17, "x: float[2, 3] => Neg(Shape(x))", "[-2, -3]"),
            (
                17,
                "x: float[N, 3] => Neg(Gather(Shape(x), [1])), Relu(x)",
                "[-3], Relu(x)",
            ),
            (
                17,
                "x: float[N] => Neg(Sub(Shape(x), Shape(x))), Relu(x)",
                "[0], Relu(x)",
            ),
            (17, "x: float[2, 3] => Neg(Size(x))", "int64(-6)"),
            (
                17,
                "x: float[N, M] => Not(Equal(Shape(Transpose(x)), Shape(Transpose(x)))), x",
                "bool[0, 0], x",
            ),
            // Where a size is 0, the division has no result.
            (17, "x: float[N] => Neg(Div(Shape(x), Shape(x)))", "[-1]"),
        ],
        stays: &[
            (17, "x: float[N] => Neg(Shape(x))"),
            (17, "x: float[*] => Neg(Shape(x))"),
            (
                17,
                "x: float[N, M] => Neg(Sub(Shape{end=1}(x), Shape{start=1}(x)))",
            ),
            (
                17,
                "x: float[?, ?] => Neg(Sub(Shape{end=1}(x), Shape{start=1}(x)))",
            ),
        ],
    },
    Case {
        rule: "merge-equal-calls",
        with: &[],
        fires: &[
            (
                17,
                "x: float[N] => Add(Relu(x), Relu(x))",
                "a = Relu(x); Add(a, a)",
            ),
            (
                17,
                "x: float[N], y: float[N] => Mul(Add(x, y), Add(y, x))",
                "a = Add(x, y); Mul(a, a)",
            ),
            (
                17,
                "x: float[N] => Add(Elu{alpha=0.5}(x), Elu{alpha=0.5}(x))",
                "a = Elu{alpha=0.5}(x); Add(a, a)",
            ),
            (
                17,
                "x: float[N] => Add(Add(x, float(1)), Add(x, float(1)))",
                "a = Add(x, float(1)); Add(a, a)",
            ),
            (
                17,
                "x: float[N], c: bool[] => a = Relu(x); a, If{then_branch={=> Neg(Relu(x))}, else_branch={=> Abs(Relu(x))}}(c)",
                "a = Relu(x); a, If{then_branch={=> Neg(a)}, else_branch={=> Abs(a)}}(c)",
            ),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); c, d = Split{axis=0}(x); Add(a, d), Sub(b, c)",
                "a, b = Split{axis=0}(x); Add(a, b), Sub(b, a)",
            ),
            (
                14,
                "x: float[2] => SequenceConstruct(x, x), SequenceConstruct(x, x)",
                "a = SequenceConstruct(x, x); a, a",
            ),
        ],
        stays: &[
            // The second result would be Identity, which takes no sequences yet.
            (
                12,
                "x: float[2] => SequenceConstruct(x, x), SequenceConstruct(x, x)",
            ),
            (15, "x: float[2] => Optional(x), Optional(x)"),
            (
                17,
                "x: float[2] => Add(RandomNormal{shape=[2]}(), RandomNormal{shape=[2]}())",
            ),
            (
                17,
                "x: float[2] => Add(RandomNormal{shape=[2], seed=1.0}(), RandomNormal{shape=[2], seed=1.0}())",
            ),
            (
                17,
                "x: float[N] => Add(RandomUniformLike(x), RandomUniformLike(x))",
            ),
            (17, "x: float[N] => Add(Bernoulli(x), Bernoulli(x))"),
            (17, "x: float[1, 3] => Add(Multinomial(x), Multinomial(x))"),
            (
                17,
                "x: float[N], t: bool[] => Add(Dropout(x, float(0.5), t), Dropout(x, float(0.5), t))",
            ),
            (17, "x: float[N] => Add(demo::Relu(x), demo::Relu(x))"),
            (17, "x: float[N] => Add(Relu(x), Abs(x))"),
            (17, "x: float[N], y: float[N] => Mul(Sub(x, y), Sub(y, x))"),
            (17, "x: float[N], y: float[N] => Mul(Max(x, y), Max(y, x))"),
            (
                17,
                "x: float[N] => Add(Elu{alpha=0.5}(x), Elu{alpha=0.25}(x))",
            ),
            (
                17,
                "x: float[N] => Add(Elu{alpha=0.0}(x), Elu{alpha=-0.0}(x))",
            ),
            (
                17,
                "x: float[N] => Add(Add(x, float(0)), Add(x, float(-0.0)))",
            ),
            (17, "x: float[N] => Add(Mul(x, float(1)), Mul(x, float[1]))"),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Relu(x)}, else_branch={=> Neg(Relu(x))}}(c)",
            ),
            (
                17,
                "x: float[2], c: bool[] => Add(If{then_branch={=> RandomNormal{shape=[2]}()}, else_branch={=> Identity(x)}}(c), If{then_branch={=> RandomNormal{shape=[2]}()}, else_branch={=> Identity(x)}}(c))",
            ),
            (
                17,
                "x: float[4] => a, b = Split{axis=0}(x); c = Split{axis=0}(x); Add(a, b), c",
            ),
        ],
    },
    Case {
        rule: "merge-known-values",
        with: &[],
        fires: &[
            (
                17,
                "x: float[N] => Add(Neg(Shape(x)), Neg(Shape(Relu(x))))",
                "n = Neg(Shape(x)); Add(n, n)",
            ),
            (
                17,
                "x: float[N, 3] => Add(Shape{end=1}(x), Gather(Shape(x), [0]))",
                "s = Shape{end=1}(x); Add(s, s)",
            ),
            (
                17,
                "s: int64[2] => Add(Expand(float(2), s), Expand(float[2], s))",
                "e = Expand(float(2), s); Add(e, e)",
            ),
        ],
        stays: &[
            (17, "x: float[N], y: float[M] => Add(Shape(x), Shape(y))"),
            (17, "x: float[?], y: float[?] => Add(Shape(x), Shape(y))"),
            (
                17,
                "x: float[N] => Add(Shape(x), Cast{to=int64}(Cast{to=int32}(Relu(x))))",
            ),
            (
                17,
                "s: int64[2] => Add(Expand(float(0), s), Expand(float(-0.0), s))",
            ),
            (
                17,
                "s: int64[2], t: int64[2] => Add(Expand(float(0), s), Expand(float(0), t))",
            ),
            (
                17,
                "s: int64[2] => Expand(float(0), s), Expand(int32(0), s)",
            ),
        ],
    },
    Case {
        rule: "inline-if",
        with: &[],
        fires: &[
            (
                17,
                "x: float[N] => If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(bool(1))",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N] => If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(bool[0])",
                "Neg(x)",
            ),
            (
                17,
                "x: float[2] => c = Equal(Size(x), int64(2)); If{then_branch={=> a = Relu(x); a, Neg(a)}, else_branch={=> Neg(x), Abs(x)}}(c)",
                "Relu(x)",
            ),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> If{then_branch={=> Abs(x)}, else_branch={=> Neg(x)}}(bool(0))}, else_branch={=> Relu(x)}}(c)",
                "If{then_branch={=> Neg(x)}, else_branch={=> Relu(x)}}(c)",
            ),
            (
                17,
                "x: float[2] => If{then_branch={=> RandomNormalLike(x)}, else_branch={=> Neg(x)}}(bool(0))",
                "Neg(x)",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(c)",
            ),
            (
                17,
                "x: float[N] => If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(bool[1, 0])",
            ),
            (
                17,
                "x: float[N] => demo::If{then_branch={=> Relu(x)}, else_branch={=> Neg(x)}}(bool(1))",
            ),
        ],
    },
    Case {
        rule: "merge-equal-branches",
        with: &["merge-equal-calls"],
        fires: &[
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Neg(Relu(x))}, else_branch={=> Neg(Relu(x))}}(c)",
                "Neg(Relu(x))",
            ),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> a, b = Split{axis=0}(x, [0, 2]); b, a}, else_branch={=> a, b = Split{axis=0}(x, [0, 2]); b, a}}(c)",
                "a, b = Split{axis=0}(x, [0, 2]); b",
            ),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Identity(x)}, else_branch={=> Identity(x)}}(c)",
                "Identity(x)",
            ),
            (
                17,
                "x: float[2], c: bool[] => If{then_branch={=> Add(x, float[1, 2])}, else_branch={=> Add(x, float[1, 2])}}(c)",
                "Add(x, float[1, 2])",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Neg(Relu(x))}, else_branch={=> Neg(Abs(x))}}(c)",
            ),
            (
                17,
                "x: float[N], y: float[N], c: bool[] => If{then_branch={=> Neg(x)}, else_branch={=> Neg(y)}}(c)",
            ),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> a, b = Split{axis=0}(x, [0, 2]); a, b}, else_branch={=> a, b = Split{axis=0}(x, [0, 2]); b, a}}(c)",
            ),
            (
                17,
                "x: float[N], c: bool[] => If{then_branch={=> Elu{alpha=1.0}(x)}, else_branch={=> Elu{alpha=2.0}(x)}}(c)",
            ),
            (
                17,
                "x: float[2], c: bool[] => If{then_branch={=> Add(x, float[0, 2])}, else_branch={=> Add(x, float[-0.0, 2])}}(c)",
            ),
            // Two random numbers are two, though made by equal calls.
            (
                17,
                "x: float[2], c: bool[] => a = RandomNormalLike(x); b = RandomNormalLike(x); If{then_branch={=> Neg(a)}, else_branch={=> Neg(b)}}(c), Sub(a, b)",
            ),
        ],
    },
    Case {
        rule: "drop-failing-branch",
        with: &["inline-if"],
        fires: &[
            (
                17,
                "x: float[3, N, 2] => c = Greater(Size(x), int64(0)); GRU{hidden_size=1}(If{then_branch={=> Identity(x)}, else_branch={=> Unsqueeze(x, [0])}}(c), float<1,3,2>[1], float<1,3,1>[0.5])",
                "GRU{hidden_size=1}(Identity(x), float<1,3,2>[1], float<1,3,1>[0.5])",
            ),
            // By way of other calls.
            (
                17,
                "x: float[N, 1, 3] => c = Greater(Size(x), int64(100)); y = If{then_branch={=> Squeeze(x, [1])}, else_branch={=> Neg(x)}}(c); Squeeze(Transpose{perm=[1, 3, 0, 2]}(Unsqueeze(Relu(y), [1])), [0])",
                "Squeeze(Transpose{perm=[1, 3, 0, 2]}(Unsqueeze(Relu(Neg(x)), [1])), [0])",
            ),
            // The decision holds for other branches on the same condition.
            (
                17,
                "x: float[N, 3] => c = Greater(Size(x), int64(0)); y = If{then_branch={=> Neg(x)}, else_branch={=> Unsqueeze(x, [0])}}(c); z = Gemm(y, float<3,2>[1]); If{then_branch={=> Neg(z)}, else_branch={=> Relu(z)}}(c)",
                "Neg(Gemm(Neg(x), float<3,2>[1]))",
            ),
            // By the possible numbers of axes of a result, of which only one number
            // fits.
            (
                17,
                "x: float[N, 1, 3] => c = Equal(Shape{end=1}(x), [1]); y = If{then_branch={=> Squeeze(x, [1])}, else_branch={=> Neg(x)}}(c); d = Equal(Size(x), int64(1000)); Transpose{perm=[2, 0, 1]}(If{then_branch={=> Unsqueeze(y, [0, 1])}, else_branch={=> Neg(y)}}(d))",
                "Transpose{perm=[2, 0, 1]}(Neg(Neg(x)))",
            ),
            (
                17,
                "x: float[N, 1, 5] => c = Greater(Size(x), int64(0)); Conv(If{then_branch={=> Neg(x)}, else_branch={=> Squeeze(x, [1])}}(c), float<1,1,2>[1, 2])",
                "Conv(Neg(x), float<1,1,2>[1, 2])",
            ),
        ],
        stays: &[
            (
                17,
                "x: float[N, 3], c: bool[] => If{then_branch={=> Neg(x)}, else_branch={=> Unsqueeze(x, [0])}}(c)",
            ),
            (
                17,
                "x: float[N, 3], c: bool[] => Transpose(If{then_branch={=> Neg(x)}, else_branch={=> Unsqueeze(x, [0])}}(c))",
            ),
            (
                17,
                "x: float[N, 3], c: bool[] => Transpose{perm=[1, 0]}(If{then_branch={=> Neg(x)}, else_branch={=> Relu(x)}}(c))",
            ),
            // A need inside a branch that may not run.
            (
                17,
                "x: float[N, 3], c: bool[], d: bool[] => y = If{then_branch={=> Neg(x)}, else_branch={=> Unsqueeze(x, [0])}}(c); If{then_branch={=> Transpose{perm=[1, 0]}(y)}, else_branch={=> Neg(y)}}(d), Size(y)",
            ),
            // Both branches fail.
            (
                17,
                "x: float[N, 3], c: bool[] => Transpose{perm=[1, 0, 2, 3]}(If{then_branch={=> Neg(x)}, else_branch={=> Unsqueeze(x, [0])}}(c))",
            ),
        ],
    },
];

#[test]
fn steps() {
    check_all(CASES);
}
