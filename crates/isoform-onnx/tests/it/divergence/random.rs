//! Random programs against themselves, with other names and in another order.

use isoform_onnx::divergence::{DivergenceOptions, PairStatus};
use isoform_onnx::verify::Evaluator;
use isoform_testing::onnx::{random_onnx_program, rebuilt};
use isoform_testing::source::{Source, random_bytes};

/// How many programs are tried.
const CASES: u64 = 60;

#[test]
fn copies_agree_in_every_pair() {
    let (mut judged, mut refused) = (0, 0);
    for seed in 0..CASES {
        let drawn = random_onnx_program(seed, 24);
        let bytes = random_bytes(seed, 64);
        let copy = rebuilt(&drawn.program, &mut Source::new(&bytes));
        for inputs in drawn.inputs {
            let options = DivergenceOptions::default().inputs(inputs);
            let result = options.compare(&drawn.program, &copy, &[&Evaluator], &mut |_, _| ());
            let result = match result {
                Ok(result) => result,
                Err(error) if error.message().contains("draws random numbers") => {
                    refused += 1;
                    continue;
                }
                Err(error) => panic!("seed {seed}: {error:#}"),
            };
            judged += 1;
            assert_eq!(result.unpaired, [0, 0], "seed {seed}: {result}");
            let differs = |status: PairStatus| status != PairStatus::Same;
            let other = result.pairs.iter().find(|pair| differs(pair.status));
            assert_eq!(other, None, "seed {seed}: {result}");
        }
    }
    assert!(
        judged > refused,
        "{judged} programs were judged, {refused} draw random numbers"
    );
}
