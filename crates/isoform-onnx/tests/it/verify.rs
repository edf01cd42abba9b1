//! Two programs on the same inputs.

use std::cell::Cell;

use isoform::values::{DType, Tensor};
use isoform::{Array, Node as _, Ref, Value};
use isoform_onnx::ir::{Call, Dim, Graph, Output, Program, TensorType};
use isoform_onnx::verify::{
    Evaluator, Inputs, Outcome, Ran, Runner, Subject, Tolerance, VerifyOptions, verify,
};

use crate::parts::{self, named_input};

/// A program that applies an operator to a matrix of floats, `n` rows of `m`.
fn program(op: &str, sizes: [Value; 2]) -> Ref<Program> {
    let ty: Value = Ref::new(TensorType {
        elem: DType::FLOAT32.into(),
        shape: Some(Array::from(sizes.to_vec())),
    })
    .into();
    let x = named_input("x", ty);
    let call = Ref::new(Call {
        name: "the node".into(),
        output_names: Array::from(["y".into()]),
        graph: "main".into(),
        ..parts::call(op, vec![Value::from(&x)], vec![], 1).clone_fields()
    });
    let graph = parts::graph([x], [parts::output(&call, 0)]);
    parts::program(Ref::new(Graph {
        result_names: Array::from(["y".into()]),
        ..graph.clone_fields()
    }))
}

fn free() -> [Value; 2] {
    ["n", "m"].map(|name| Value::from(&Dim::new(name)))
}

#[test]
fn equal_programs_agree_on_two_assignments() {
    let found = verify(&program("Relu", free()), &program("Relu", free())).unwrap();
    assert!(found.is_same());
    let inputs: Vec<&str> = found.cases.iter().map(|case| &*case.inputs).collect();
    assert_eq!(inputs, ["n=2, m=3", "n=3, m=4"]);
    let fixed = || [Value::from(2), Value::from(2)];
    let found = verify(&program("Relu", fixed()), &program("Relu", fixed())).unwrap();
    assert_eq!(found.judged(), 2);
}

/// The inputs of the cases, and the sizes of the values fed.
fn inputs_of(options: VerifyOptions, sizes: [Value; 2]) -> Vec<String> {
    let (left, right) = (program("Relu", sizes.clone()), program("Relu", sizes));
    let found = options.verify((&left).into(), (&right).into(), &[&Evaluator]);
    let found = found.unwrap();
    assert!(found.is_same(), "{found}");
    found.cases.into_iter().map(|case| case.inputs).collect()
}

#[test]
fn sizes_and_inputs_are_those_of_the_user() {
    let shaped = |shape: &[i64]| VerifyOptions::default().shapes([("x", shape.to_vec())]);
    assert_eq!(
        inputs_of(shaped(&[1, 512]), free()),
        ["n=1, m=512", "n=1, m=512"]
    );
    let unknown = [Value::NONE, Value::from(-1)];
    assert_eq!(
        inputs_of(shaped(&[1, 5]), unknown.clone()),
        ["x[0]=1, x[1]=5", "x[0]=1, x[1]=5"]
    );
    // Without a size, negative extents count as unknown.
    assert_eq!(
        inputs_of(VerifyOptions::default(), unknown),
        ["x[0]=2, x[1]=3", "x[0]=3, x[1]=4"]
    );
    let x = Tensor::new(DType::FLOAT32, vec![1, 2], vec![0; 8]).unwrap();
    let given = VerifyOptions::default().inputs([("x", Value::from(x))]);
    assert_eq!(inputs_of(given, free()), ["the given inputs"]);
}

#[test]
fn inputs_that_cannot_be_are_refused() {
    let (left, right) = (program("Relu", free()), program("Relu", free()));
    let error = |options: VerifyOptions| {
        let result = options.verify((&left).into(), (&right).into(), &[&Evaluator]);
        result.unwrap_err().to_string()
    };
    let shaped =
        |name: &str, shape: &[i64]| VerifyOptions::default().shapes([(name, shape.to_vec())]);
    assert_eq!(
        error(shaped("y", &[1, 2])),
        "KeyError: input 'y': the model has the inputs 'x'"
    );
    assert_eq!(
        error(shaped("x", &[1])),
        "ValueError: input 'x': expected 2 sizes, as the model declares, got 1"
    );
    assert_eq!(
        error(shaped("x", &[-1, 2])),
        "ValueError: input 'x': expected sizes from 0, got -1"
    );
    let doubles = Tensor::new(DType::FLOAT64, vec![1, 1], vec![0; 8]).unwrap();
    assert_eq!(
        error(VerifyOptions::default().inputs([("x", Value::from(doubles))])),
        "ValueError: input 'x': expected elements of float32, as the model declares, got float64"
    );
    let fixed = [Value::from(2), Value::from(&Dim::new("m"))];
    let (left, right) = (program("Relu", fixed.clone()), program("Relu", fixed));
    let result = shaped("x", &[3, 1]).verify((&left).into(), (&right).into(), &[&Evaluator]);
    assert_eq!(
        result.unwrap_err().to_string(),
        "ValueError: input 'x': expected 2 at axis 0, as the model declares, got 3"
    );
}

/// A runtime that adds a little to the results of programs that compute a constant. It
/// represents runtimes that multiply by constants in another order.
struct Rounding(f32);

impl Runner for Rounding {
    fn name(&self) -> String {
        "rounding".to_owned()
    }

    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>> {
        let listing = isoform_onnx::layout::list(subject.program);
        let calls = listing.bodies.iter().flat_map(|body| &body.nodes);
        let mut calls = calls.map(|node| node.call.clone());
        let computes = calls.any(|call| call.is("Identity"));
        let ran = Evaluator.run(subject, cases)?;
        let changed = |value: &Value| {
            let tensor = value.peek::<Tensor>().unwrap();
            let numbers = tensor.data().chunks_exact(4);
            let numbers = numbers.map(|it| f32::from_le_bytes(it.try_into().unwrap()));
            let offset = if computes { self.0 } else { 0.0 };
            let bytes: Vec<u8> = numbers.flat_map(|it| (it + offset).to_le_bytes()).collect();
            Value::from(Tensor::new(DType::FLOAT32, tensor.shape().to_vec(), bytes).unwrap())
        };
        let ran = ran.into_iter();
        Ok(ran
            .map(|values| values.map(|values| values.iter().map(changed).collect()))
            .collect())
    }
}

/// A call on `x` and a constant, which is either computed or stored.
fn with_constant(op: &str, computed: bool) -> Ref<Program> {
    let program = program(op, free());
    let output: Ref<Output> = program.graph.results.get(0).unwrap().extract().unwrap();
    let call = &output.call;
    let constant = Tensor::new(DType::FLOAT32, vec![1], 1.0_f32.to_le_bytes().to_vec()).unwrap();
    let mut constant = Value::from(constant);
    if computed {
        let call = Ref::new(Call {
            op: "Identity".into(),
            op_name: "Identity".into(),
            inputs: Array::from(vec![constant]),
            ..call.clone_fields()
        });
        constant = Ref::new(Output { call, index: 0 }).into();
    }
    let x = call.input(0).unwrap().clone();
    let call = Ref::new(Call {
        inputs: Array::from(vec![x, constant]),
        ..call.clone_fields()
    });
    let result: Value = Ref::new(Output { call, index: 0 }).into();
    Ref::new(Program {
        graph: Ref::new(Graph {
            results: Array::from(vec![result]),
            ..program.graph.clone_fields()
        }),
        ..program.clone_fields()
    })
}

#[test]
fn a_runtime_may_round_otherwise_where_a_weight_is_a_constant() {
    let outcomes = |right: &Ref<Program>, offset: f32| {
        let left = with_constant("Add", true);
        let runner = Rounding(offset);
        let verification =
            VerifyOptions::default().verify((&left).into(), right.into(), &[&runner]);
        let verification = verification.unwrap();
        let text = verification.to_string();
        (
            verification
                .cases
                .into_iter()
                .map(|case| case.outcome)
                .collect::<Vec<_>>(),
            text,
        )
    };
    let right = with_constant("Add", false);
    let (judged, text) = outcomes(&right, 1e-6);
    assert!(
        judged
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Rounded { max_abs } if *max_abs > 0.0)),
        "{text}"
    );
    assert!(
        text.contains("with all constants computed first, every bit is the same"),
        "{text}"
    );
    // A difference this large does not come from rounding.
    let (judged, text) = outcomes(&right, 1e-1);
    assert!(
        judged
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Different(_))),
        "{text}"
    );
    // Nor is a little that stays when the constants are computed.
    let mut wrong = with_constant("Add", false);
    let tiny = Tensor::new(
        DType::FLOAT32,
        vec![1],
        1.000_001_f32.to_le_bytes().to_vec(),
    );
    let output: Ref<Output> = wrong.graph.results.get(0).unwrap().extract().unwrap();
    let x = output.call.input(0).unwrap().clone();
    let call = Ref::new(Call {
        inputs: Array::from(vec![x, Value::from(tiny.unwrap())]),
        ..output.call.clone_fields()
    });
    wrong = Ref::new(Program {
        graph: Ref::new(Graph {
            results: Array::from(vec![Value::from(Ref::new(Output { call, index: 0 }))]),
            ..wrong.graph.clone_fields()
        }),
        ..wrong.clone_fields()
    });
    let (judged, text) = outcomes(&wrong, 0.0);
    assert!(
        judged
            .iter()
            .all(|outcome| matches!(outcome, Outcome::Different(_))),
        "{text}"
    );
}

#[test]
fn differences_name_output_and_node() {
    let found = verify(&program("Relu", free()), &program("Neg", free())).unwrap();
    assert!(!found.is_same());
    let difference = found.differences().next().unwrap();
    assert_eq!(
        (&*difference.output, &*difference.node),
        ("y", "Neg 'the node'")
    );
    assert!(difference.max_abs.unwrap() > 0.0);
    let wide = Tolerance {
        rtol: 0.0,
        atol: 100.0,
    };
    let (left, right) = (program("Relu", free()), program("Neg", free()));
    let options = VerifyOptions::default().tolerance(wide);
    let found = options
        .verify((&left).into(), (&right).into(), &[&Evaluator])
        .unwrap();
    assert!(found.is_same());
    assert!(matches!(found.cases[0].outcome, Outcome::Close { .. }));
}

#[test]
fn a_result_that_cannot_run_where_the_original_can_is_a_difference() {
    let found = verify(&program("Relu", free()), &program("Unheard", free())).unwrap();
    assert!(!found.is_same());
    assert!(
        found
            .to_string()
            .contains("the original runs, but the other does not")
    );
    let found = verify(&program("Unheard", free()), &program("Relu", free())).unwrap();
    assert_eq!((found.judged(), found.is_same()), (0, false));
}

/// Counts the requests, and runs only inputs with this many rows.
struct Counting {
    rows: i64,
    asked: Cell<usize>,
    reason: fn(i64) -> String,
}

impl Runner for Counting {
    fn name(&self) -> String {
        "counting".to_owned()
    }

    fn run(&self, subject: Subject<'_>, cases: &[Inputs]) -> isoform::Result<Vec<Ran>> {
        self.asked.set(self.asked.get() + cases.len());
        let ran = Evaluator.run(subject, cases)?;
        let rows = |inputs: &Inputs| inputs[0].1.peek::<Tensor>().unwrap().shape()[0];
        let pairs = cases.iter().map(rows).zip(ran);
        let allowed = pairs.map(|(rows, ran)| {
            if rows == self.rows {
                ran
            } else {
                Err((self.reason)(rows))
            }
        });
        Ok(allowed.collect())
    }
}

fn counted(rows: i64, reason: fn(i64) -> String) -> (usize, isoform_onnx::verify::Verification) {
    let runner = Counting {
        rows,
        asked: Cell::new(0),
        reason,
    };
    let (left, right) = (program("Relu", free()), program("Relu", free()));
    let found = VerifyOptions::default().verify((&left).into(), (&right).into(), &[&runner]);
    (runner.asked.get(), found.unwrap())
}

#[test]
fn other_sizes_are_tried() {
    let (_, found) = counted(1, |rows| format!("{rows} rows"));
    assert!(found.is_same(), "{found}");
    assert_eq!(found.judged(), 2);
}

#[test]
fn a_runner_that_cannot_run_is_asked_a_few_times() {
    let (asked, found) = counted(-1, |_| "no kernel".to_owned());
    assert_eq!((asked, found.judged()), (4, 0));
    assert_eq!(found.to_string().lines().count(), 1, "{found}");
    let (asked, found) = counted(-1, |rows| format!("{rows} rows"));
    assert!(asked <= 22, "{asked}");
    assert_eq!(found.judged(), 0);
}
