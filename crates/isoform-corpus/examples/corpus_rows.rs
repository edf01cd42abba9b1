//! Writes an index of invented rows, to measure questions to large indexes:
//!
//! ```text
//! cargo run --release -p isoform-corpus --example corpus_rows -- INDEX COUNT
//! ```
//!
//! One row of twenty has the program of another one, and ten rows on average have the same
//! architecture. The numbers and lengths of the columns are those of small real models.

use std::fs::File;

use isoform::{Error, Result};
use isoform_corpus::{Block, Row, RowWriter};

const OPERATORS: [&str; 12] = [
    "Add",
    "Cast",
    "Concat",
    "Conv",
    "Gather",
    "Gemm",
    "MatMul",
    "Mul",
    "Relu",
    "Reshape",
    "Softmax",
    "Transpose",
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let count = |text: String| text.parse::<u64>().ok();
    let (Some(path), Some(count)) = (arguments.next(), arguments.next().and_then(count)) else {
        return Err(Error::value_error(
            "expected the name of an index and a number of rows",
        ));
    };
    let file = File::create(&path).map_err(|error| Error::value_error(error.to_string()))?;
    let mut writer = RowWriter::new(file, path, &["models".to_owned()])?;
    for number in 0..count {
        writer.push(row(number, count))?;
    }
    writer.finish()?;
    Ok(())
}

fn row(number: u64, count: u64) -> Row {
    let program = match number % 20 {
        0 => mixed(number) % count.max(1),
        _ => number,
    };
    let shape = mixed(program) % (count / 10).max(1);
    let digest = digest(program, 1);
    let mut row = Row::default();
    row.path = format!(
        "models/{:05}/{:03}/model-{number:010}.onnx",
        number / 1_000_000,
        number / 1000 % 1000
    );
    row.size = 1000 + mixed(program) % 1_000_000;
    row.stamp = mixed(number ^ 0x5555) | 1;
    row.kind = Some("onnx".to_owned());
    row.digest = Some(digest);
    row.architecture = Some(self::digest(shape, 2));
    row.nodes = Some(5 + mixed(shape) % 200);
    row.parameters = Some(row.size / 4);
    let operators = OPERATORS.iter().enumerate();
    let operators = operators.filter(|(place, _)| mixed(shape) >> place & 3 == 0);
    row.operators = operators
        .map(|(place, name)| ((*name).to_owned(), 1 + mixed(shape) % (place as u64 + 2)))
        .collect();
    row.opsets = vec![(String::new(), 9 + shape % 12)];
    row.elements = vec![("float32".to_owned(), row.size / 4)];
    row.inputs = vec!["input: float32[batch, 3, 224, 224]".to_owned()];
    row.outputs = vec!["output: float32[batch, 1000]".to_owned()];
    row.blocks = (0..mixed(shape) % 3)
        .map(|place| Block {
            digest: self::digest(shape % 1000, 3 + place),
            nodes: 4 + shape % 20,
            count: 2 + place,
        })
        .collect();
    row
}

/// Digits that look like a digest.
fn digest(number: u64, salt: u64) -> String {
    let word = |place: u64| mixed(mixed(number.wrapping_mul(8) + place) ^ salt);
    (0..4)
        .map(|place| format!("{:016x}", word(place)))
        .collect()
}

/// The finaliser of SplitMix64, whose results look random.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
