//! `isoform diff` on models of many nodes with one replaced operator: the whole
//! command, including its start and the reading of both files.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use isoform_onnx::proto::{
    GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, ValueInfoProto,
};
use prost::Message;

const NODES: [usize; 3] = [240, 1_200, 3_600];
const LIMIT_MS: f64 = 100.0;
/// The median of this many runs counts.
const RUNS: usize = 21;
/// The operators of a block; true for an operator with a weight.
const BLOCK: [(&str, bool); 6] = [
    ("MatMul", true),
    ("Add", true),
    ("Relu", false),
    ("Mul", true),
    ("Tanh", false),
    ("Abs", false),
];
const WIDTH: usize = 8;
/// The code of 32-bit floats.
const FLOAT: i32 = 1;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let (left, right) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    for nodes in NODES {
        fs::write(&left, model(nodes, None).encode_to_vec())?;
        // The third operator of a block takes no weight.
        fs::write(&right, model(nodes, Some(nodes / 2 + 2)).encode_to_vec())?;
        let mut times = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            times.push(milliseconds(&left, &right)?);
        }
        times.sort_unstable_by(f64::total_cmp);
        let median = times[RUNS / 2];
        let reached = if median <= LIMIT_MS {
            "reached"
        } else {
            "not reached"
        };
        println!(
            "diff of two models of {nodes} nodes, one operator replaced: {median:.1} ms \
             (≤ {LIMIT_MS} ms: {reached}), best {:.1} ms",
            times[0]
        );
    }
    Ok(())
}

/// The time of one run, which has to find a difference.
fn milliseconds(left: &Path, right: &Path) -> Outcome<f64> {
    let start = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_isoform"));
    let command = command
        .arg("diff")
        .args([left, right])
        .stdout(Stdio::null());
    let status = command.status()?;
    let time = start.elapsed();
    match status.code() {
        Some(1) => Ok(time.as_secs_f64() * 1e3),
        other => Err(format!("isoform diff ended with {other:?}, expected 1").into()),
    }
}

/// A chain of blocks, in which one operator may be replaced.
fn model(nodes: usize, replaced: Option<usize>) -> ModelProto {
    let mut graph = GraphProto {
        name: "blocks".to_owned(),
        input: vec![value("x")],
        output: vec![value(&format!("v{}", nodes - 1))],
        ..Default::default()
    };
    let mut last = "x".to_owned();
    for number in 0..nodes {
        let (op, is_weighted) = BLOCK[number % BLOCK.len()];
        let mut input = vec![last];
        if is_weighted {
            let weight = weight(number, op == "MatMul");
            input.push(weight.name.clone());
            graph.initializer.push(weight);
        }
        let op = if replaced == Some(number) {
            "Sigmoid"
        } else {
            op
        };
        last = format!("v{number}");
        graph.node.push(NodeProto {
            op_type: op.to_owned(),
            input,
            output: vec![last.clone()],
            name: format!("node{number}"),
            ..Default::default()
        });
    }
    ModelProto {
        ir_version: Some(9),
        opset_import: vec![OperatorSetIdProto {
            version: 21,
            ..Default::default()
        }],
        graph: Some(graph),
        ..Default::default()
    }
}

fn weight(number: usize, is_matrix: bool) -> TensorProto {
    let dims = if is_matrix {
        vec![WIDTH as i64; 2]
    } else {
        vec![WIDTH as i64]
    };
    let count: i64 = dims.iter().product();
    let floats = (0..count).map(|at| (number as i64 * 31 + at) as f32 / 100.0);
    TensorProto {
        dims,
        data_type: FLOAT,
        name: format!("w{number}"),
        raw_data: Some(
            floats
                .flat_map(f32::to_le_bytes)
                .collect::<Vec<u8>>()
                .into(),
        ),
        ..Default::default()
    }
}

fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: name.to_owned(),
        ..Default::default()
    }
}
