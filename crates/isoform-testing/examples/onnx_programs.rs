//! Writes random ONNX models, the same models optimised, and the results of both, for
//! `scripts/judge_with_onnxruntime.py`.
//!
//! ```text
//! cargo run --release -p isoform-testing --features onnx --example onnx_programs -- FOLDER COUNT SEED
//! ```
#![expect(
    clippy::disallowed_macros,
    reason = "the program's report goes to its streams"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use isoform::Value;
use isoform::values::Tensor;
use isoform_onnx::eval::{Control, run};
use isoform_onnx::ir::StringTensor;
use isoform_onnx::optimize::OptimizeOptions;
use isoform_onnx::save;
use isoform_testing::onnx::{RandomProgram, random_onnx_program};

/// The approximate number of constructs in a program.
const SIZE: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count, seed] = arguments.as_slice() else {
        return Err("expected FOLDER COUNT SEED".into());
    };
    let (folder, count, seed) = (
        Path::new(folder),
        count.parse::<u64>()?,
        seed.parse::<u64>()?,
    );
    fs::create_dir_all(folder)?;
    let mut written = 0;
    for seed in seed..seed + count {
        let drawn = random_onnx_program(seed, SIZE);
        match write(folder, seed, &drawn) {
            Ok(()) => written += 1,
            Err(error) => println!("seed {seed}: {error:#}"),
        }
    }
    println!("{written} of {count} models in {}", folder.display());
    Ok(())
}

/// Writes one model, the optimised form and a description of inputs and results.
fn write(folder: &Path, seed: u64, drawn: &RandomProgram) -> isoform::Result<()> {
    let optimized = OptimizeOptions::default().optimize(&drawn.program)?;
    save(&drawn.program, folder.join(format!("{seed}.onnx")))?;
    save(
        &optimized.program,
        folder.join(format!("{seed}.optimized.onnx")),
    )?;
    let mut sets = Vec::new();
    for inputs in &drawn.inputs {
        let named = inputs.iter().map(|(name, value)| {
            let value = described(value);
            format!("{{\"name\": \"{name}\", {value}}}")
        });
        let named: Vec<String> = named.collect();
        // Without results, the runtime alone is asked.
        let results = run(&drawn.program, inputs, &Control::default());
        let results: Vec<String> = results
            .unwrap_or_default()
            .iter()
            .map(|value| format!("{{{}}}", described(value)))
            .collect();
        sets.push(format!(
            "{{\"inputs\": [{}], \"results\": [{}]}}",
            named.join(", "),
            results.join(", ")
        ));
    }
    let text = format!("[{}]\n", sets.join(",\n"));
    fs::write(folder.join(format!("{seed}.json")), text)
        .map_err(|error| isoform::Error::value_error(error.to_string()))
}

/// The element type, shape and bytes of a value as fields of JSON.
fn described(value: &Value) -> String {
    if let Some(tensor) = value.peek::<Tensor>() {
        let (dtype, shape) = (tensor.dtype(), tensor.shape());
        let bytes = hex(tensor.data());
        return format!("\"type\": \"{dtype}\", \"shape\": {shape:?}, \"bytes\": \"{bytes}\"");
    }
    let strings = value
        .as_object()
        .and_then(|object| object.downcast_ref::<StringTensor>());
    let Some(strings) = strings else {
        return "\"type\": \"unknown\"".to_owned();
    };
    let shape: Vec<i64> = strings.shape.iter().copied().collect();
    let texts: Vec<String> = strings
        .values
        .iter()
        .map(|text| format!("\"{}\"", hex(text)))
        .collect();
    let texts = texts.join(", ");
    format!("\"type\": \"string\", \"shape\": {shape:?}, \"strings\": [{texts}]")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
