//! Two programs on the same inputs.

use std::cell::Cell;

use isoform::values::DType;
use isoform::{Array, Map, Ref, Value};
use isoform_onnx::ir::{Call, Dim, Graph, Input, Output, Program, TensorType};
use isoform_onnx::verify::{
    Evaluator, Inputs, Outcome, Ran, Runner, Subject, Tolerance, VerifyOptions, verify,
};

/// A program that applies an operator to a matrix of floats, `n` rows of `m`.
fn program(op: &str, sizes: [Value; 2]) -> Ref<Program> {
    let ty: Value = Ref::new(TensorType {
        elem: DType::FLOAT32.into(),
        shape: Some(Array::from(sizes.to_vec())),
    })
    .into();
    let x = Ref::new(Input {
        name: "x".into(),
        ty,
        default: Value::NONE,
        graph: "main".into(),
        in_function: false,
        position: 0,
        meta: None,
    });
    let call = Ref::new(Call {
        domain: "".into(),
        op: op.into(),
        version: 17,
        callee: None,
        attrs: Map::default(),
        inputs: Array::from(vec![Value::from(&x)]),
        outputs: 1,
        name: "the node".into(),
        op_name: op.into(),
        doc: "".into(),
        input_names: Array::default(),
        output_names: Array::from(["y".into()]),
        graph: "main".into(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    });
    let result: Value = Ref::new(Output { call, index: 0 }).into();
    let graph = Ref::new(Graph {
        params: [x].into_iter().collect(),
        result_types: Array::from(vec![Value::NONE]),
        results: Array::from(vec![result]),
        name: "main".into(),
        result_names: Array::from(["y".into()]),
        doc: "".into(),
        meta: None,
    });
    Ref::new(Program {
        graph,
        io_names: Array::default(),
        ir_version: 8,
        producer: "".into(),
        meta: None,
    })
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

/// Counts what it is asked, and runs only inputs with this many rows.
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
        let rows = |inputs: &Inputs| {
            inputs[0]
                .1
                .peek::<isoform::values::Tensor>()
                .unwrap()
                .shape()[0]
        };
        let pairs = cases.iter().map(rows).zip(ran);
        let allowed = pairs.map(|(rows, ran)| match rows == self.rows {
            true => ran,
            false => Err((self.reason)(rows)),
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
    assert!(asked <= 18, "{asked}");
    assert_eq!(found.judged(), 0);
}
