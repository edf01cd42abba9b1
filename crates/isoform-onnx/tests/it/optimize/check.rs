//! Requirements on every optimised program.

use std::collections::HashMap;

use isoform::values::Tensor;
use isoform::{Ref, Value, explain_mismatch};
use isoform_onnx::ElemType;
use isoform_onnx::eval::{Control, run};
use isoform_onnx::ir::Program;
use isoform_onnx::optimize::{OptimizeOptions, Optimized};

use crate::build;
use crate::optimize::text::{self, input_types};

/// Where a rule fires and where it must not.
pub(crate) struct Case {
    /// The rule or step.
    pub(crate) rule: &'static str,
    /// Further rules and steps on which the rule depends.
    pub(crate) with: &'static [&'static str],
    /// Version of the operators, the program before, and the results after.
    pub(crate) fires: &'static [(i64, &'static str, &'static str)],
    /// Version of the operators, and programs that the rule has to leave alone.
    pub(crate) stays: &'static [(i64, &'static str)],
}

#[track_caller]
pub(crate) fn program(opset: i64, text: &str) -> Ref<Program> {
    build::load(&text::model(opset, text)).program().clone()
}

#[track_caller]
pub(crate) fn optimize(options: &OptimizeOptions, program: &Ref<Program>) -> Optimized {
    options
        .optimize(program)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The first difference of two programs, for people.
pub(crate) fn mismatch(left: &Ref<Program>, right: &Ref<Program>) -> Option<String> {
    let (left, right) = (Value::from(left), Value::from(right));
    let found = explain_mismatch(&left, &right).unwrap();
    found.map(|mismatch| mismatch.to_string())
}

#[track_caller]
pub(crate) fn check_equal(expected: &Ref<Program>, got: &Ref<Program>, what: &str) {
    if let Some(found) = mismatch(expected, got) {
        panic!(
            "{what}: expected {:#?}, got {:#?}: {found}",
            lines(expected),
            lines(got)
        );
    }
}

/// The nodes of a program, for messages.
pub(crate) fn lines(program: &Ref<Program>) -> Vec<String> {
    let listing = isoform_onnx::layout::list(program);
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes.map(|node| node.call.op_name.to_string()).collect()
}

/// The names of the rules that fired.
pub(crate) fn fired(done: &Optimized) -> Vec<&str> {
    done.report
        .fired
        .iter()
        .map(|it| it.rule.as_str())
        .collect()
}

/// Rules for operators that have no kernel.
const NOT_COMPUTED: &[&str] = &["drop-resize"];

impl Case {
    fn options(&self) -> OptimizeOptions {
        let names = [self.rule].into_iter().chain(self.with.iter().copied());
        OptimizeOptions::default().only(names)
    }

    /// Runs the case, and adds a line for every fault.
    pub(crate) fn check(&self, wrong: &mut Vec<String>) {
        for (opset, before, after) in self.fires {
            let what = format!("{} at {opset}: {before}", self.rule);
            let original = program(*opset, before);
            let expected = program(*opset, &text::with_header(before, after));
            let done = match self.options().optimize(&original) {
                Ok(done) => done,
                Err(error) => {
                    wrong.push(format!("{what}: {error}"));
                    continue;
                }
            };
            if !fired(&done).contains(&self.rule) {
                wrong.push(format!("{what}: does not fire"));
                continue;
            }
            if let Some(difference) = mismatch(&expected, &done.program) {
                let got = lines(&done.program);
                wrong.push(format!("{what}: got {got:?}: {difference}"));
            }
            let again = optimize(&self.options(), &done.program);
            if !again.program.same_as(&done.program) {
                wrong.push(format!("{what}: not idempotent, then {:?}", fired(&again)));
            }
            let tolerance = self.rule.starts_with("fuse-").then_some(1e-5);
            match check_results(before, &original, &done.program, tolerance) {
                Ok(0) if NOT_COMPUTED.contains(&self.rule) => {}
                Ok(0) => wrong.push(format!("{what}: no run has results")),
                Ok(_) => {}
                Err(reason) => wrong.push(format!("{what}: {reason}")),
            }
        }
        for (opset, text) in self.stays {
            let what = format!("{} at {opset} must not change: {text}", self.rule);
            let original = program(*opset, text);
            match self.options().optimize(&original) {
                Err(error) => wrong.push(format!("{what}: {error}")),
                Ok(done) => {
                    if fired(&done).contains(&self.rule) {
                        wrong.push(format!("{what}: got {:?}", lines(&done.program)));
                    }
                }
            }
        }
    }
}

/// Checks all cases of a family, and reports all faults at once.
#[track_caller]
pub(crate) fn check_all(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        case.check(&mut wrong);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The number of assignments of the dimensions with results, which are the same bits.
pub(crate) fn check_results(
    text: &str,
    original: &Ref<Program>,
    optimised: &Ref<Program>,
    tolerance: Option<f64>,
) -> Result<usize, String> {
    let mut ran = 0;
    // By the order of their first use, names become these sizes; the last size repeats.
    for sizes in [
        &[2, 3, 4][..],
        &[1],
        &[0],
        &[3, 1, 2],
        &[0, 2],
        &[2, 0],
        &[4, 2],
    ] {
        let inputs = inputs(text, sizes);
        let control = Control::default();
        let Ok(expected) = run(original, &inputs, &control) else {
            continue;
        };
        ran += 1;
        let got = run(optimised, &inputs, &control)
            .map_err(|error| format!("sizes {sizes:?}: the optimised program fails: {error}"))?;
        if expected.len() != got.len() {
            return Err(format!("{} results, not {}", got.len(), expected.len()));
        }
        for (index, (left, right)) in expected.iter().zip(&got).enumerate() {
            if !agree(left, right, tolerance) {
                return Err(format!(
                    "sizes {sizes:?}: result {index} is {}, not {}",
                    data(right),
                    data(left)
                ));
            }
        }
    }
    Ok(ran)
}

fn data(value: &Value) -> String {
    match value.peek::<Tensor>() {
        Some(tensor) => format!(
            "{:?} {:?} {:x?}",
            tensor.dtype(),
            tensor.shape(),
            &tensor.data()[..]
        ),
        None => format!("{value:?}"),
    }
}

fn agree(left: &Value, right: &Value, tolerance: Option<f64>) -> bool {
    let (Some(left), Some(right)) = (left.peek::<Tensor>(), right.peek::<Tensor>()) else {
        return isoform::structural_equal(left, right).unwrap();
    };
    if left.dtype() != right.dtype() || left.shape() != right.shape() {
        return false;
    }
    let Some(tolerance) = tolerance else {
        return left.data() == right.data();
    };
    let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    let pairs = left.data().chunks(4).zip(right.data().chunks(4));
    pairs.into_iter().all(|(left, right)| {
        let (left, right) = (float(left), float(right));
        left == right
            || left.is_nan() && right.is_nan()
            || f64::from((left - right).abs()) <= tolerance * f64::from(left.abs().max(1.0))
    })
}

/// Values for the inputs of a text, with floats including zeros of both signs,
/// infinities and NaN.
fn inputs(text: &str, sizes: &[i64]) -> Vec<(String, Value)> {
    let mut symbols: HashMap<String, i64> = HashMap::new();
    let inputs = input_types(text).into_iter().enumerate();
    inputs
        .map(|(position, (name, elem, dims))| {
            let dims = dims.unwrap_or_else(|| vec!["2".into(), "3".into()]);
            let dims: Vec<String> = dims
                .iter()
                .map(|dim| match dim.parse::<i64>() {
                    Ok(size) => size,
                    Err(_) => {
                        let next = symbols.len().min(sizes.len() - 1);
                        *symbols.entry(dim.clone()).or_insert(sizes[next])
                    }
                })
                .map(|size| size.to_string())
                .collect();
            let numbers = match elem {
                ElemType::Float | ElemType::Double | ElemType::Float16 | ElemType::Bfloat16 => {
                    "-0.0, 1.5, -2.25, nan, 0.0, inf, -inf, 3, 0.5, -1, 7, -0.0, 100, 2.5, -3.5"
                }
                ElemType::Bool => "1, 0, 0, 1, 1, 1, 0",
                ElemType::Uint8 | ElemType::Uint16 | ElemType::Uint32 | ElemType::Uint64 => {
                    "2, 3, 0, 1, 200, 7, 1"
                }
                _ => "2, 3, 1, -1, 0, 100, -7",
            };
            // Each input starts elsewhere in the list.
            let mut numbers: Vec<&str> = numbers.split(", ").collect();
            let start = position * 2 % numbers.len();
            numbers.rotate_left(start);
            let text = format!(
                "=> {}<{}>[{}]",
                elem.name(),
                dims.join(","),
                numbers.join(",")
            );
            let value = program(17, &text).graph.results.values()[0].clone();
            (name, value)
        })
        .collect()
}
