//! Recurrent networks.

use crate::optimize::check::{Case, check_all};

pub(crate) const CASES: &[Case] = &[Case {
    rule: "drop-zero-state",
    with: &[],
    fires: &[
        (
            7,
            "x: float[3, 2, 2] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, float<1,2,1>[0])",
            "GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5])",
        ),
        (
            9,
            "x: float[3, N, 2] => RNN{hidden_size=1}(x, float<1,1,2>[1], float<1,1,1>[0.5], float<1,2>[1], _, ConstantOfShape(Concat{axis=0}([1], Gather(Shape(x), [1]), [1])))",
            "RNN{hidden_size=1}(x, float<1,1,2>[1], float<1,1,1>[0.5], float<1,2>[1])",
        ),
        // Both states, by way of other calls.
        (
            17,
            "x: float[3, N, 2] => z = ConstantOfShape(Concat{axis=0}([4], Shape{start=1, end=2}(x), [1])); a, b = Split{axis=0}(z, [1, 3]); h = Cast{to=float}(Cast{to=int64}(a)); c = Slice(b, [1], [2], [0]); LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5], _, _, h, c)",
            "LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5])",
        ),
        (
            17,
            "x: float[3, N, 2] => n = Concat{axis=0}([1], Shape{start=1, end=2}(x), [1]); h = Concat{axis=0}(Expand(float<1,1,1>[0], n), float<1,0,1>[0]); LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5], _, _, Expand(float<1,1,1>[0], n))",
            "LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5])",
        ),
        // Only one of the two states, followed by weights.
        (
            17,
            "x: float[3, 2, 2], h: float[1, 2, 1] => LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5], _, _, h, float<1,2,1>[0], float<1,3>[2])",
            "LSTM{hidden_size=1}(x, float<1,4,2>[1], float<1,4,1>[0.5], _, _, h, _, float<1,3>[2])",
        ),
        (
            17,
            "x: float[3, 2, 2] => a, b, c = LSTM{hidden_size=1, direction=\"bidirectional\"}(x, float<2,4,2>[1], float<2,4,1>[0.5], _, _, float<2,2,1>[0], float<2,2,1>[0]); a, c",
            "a, b, c = LSTM{hidden_size=1, direction=\"bidirectional\"}(x, float<2,4,2>[1], float<2,4,1>[0.5]); a, c",
        ),
    ],
    stays: &[
        (
            6,
            "x: float[3, 2, 2] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, float<1,2,1>[0])",
        ),
        (
            17,
            "x: float[3, 2, 2] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5])",
        ),
        (
            17,
            "x: float[3, 2, 2] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, float<1,2,1>[-0.0])",
        ),
        (
            17,
            "x: float[3, 2, 2] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, float<1,2,1>[0, 1])",
        ),
        (
            17,
            "x: float[3, N, 2] => n = Concat{axis=0}([1], Shape{start=1, end=2}(x), [1]); GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, ConstantOfShape{value=float[1]}(n))",
        ),
        (
            17,
            "x: float[3, 2, 2], h: float[1, 2, 1] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, h)",
        ),
        // A product with zero can be a NaN.
        (
            17,
            "x: float[3, 2, 2], h: float[1, 2, 1] => GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, Mul(h, float(0)))",
        ),
        (
            17,
            "x: float[3, N, 2], h: float[1, 1, 1] => n = Concat{axis=0}([1], Shape{start=1, end=2}(x), [1]); GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, Concat{axis=1}(float<1,1,1>[0], h))",
        ),
        (
            17,
            "x: float[3, 2, 2] => demo::GRU{hidden_size=1}(x, float<1,3,2>[1], float<1,3,1>[0.5], _, _, float<1,2,1>[0])",
        ),
    ],
}];

#[test]
fn recurrent() {
    check_all(CASES);
}
