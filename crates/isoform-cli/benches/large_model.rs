//! The command on models with 500 MB of weights, against `cmp` on the same
//! files: both have to look at every byte, and neither should hold them.
//!
//! The files are in the page cache, to measure the work and not the disk. Needs 1 GB in
//! the folder for temporary files, and `cmp`.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use isoform_onnx::proto::{
    DimensionProto, DimensionValue, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, TypeValue, ValueInfoProto,
};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

const TENSORS: usize = 256;
/// Per tensor; together 500 MB.
const FLOATS: usize = 500_000_000 / 4 / TENSORS + 1;
/// The code of 32-bit floats.
const FLOAT: i32 = 1;
/// Pairs of runs; the median counts.
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    if Command::new("cmp").arg("--version").output().is_err() {
        println!("large_model: skipped, there is no cmp here");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let (left, right) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    write_model(&left)?;
    fs::copy(&left, &right)?;
    let size = fs::metadata(&left)?.len();
    println!("two models of {:.0} MB each", size as f64 / 1e6);

    let files = [left.as_path(), right.as_path()];
    let diff = |options: &[&str]| isoform("diff", options, &files);
    compare(
        "diff of a model and its copy",
        size,
        &files,
        || diff(&[]),
        0,
    )?;

    let digest = |_: usize| -> Outcome<Run> { isoform("hash", &[], &files[..1])?.expect_status(0) };
    let best = best((0..ROUNDS).map(digest).collect::<Outcome<_>>()?);
    let speed = size as f64 / 1e9 / best.time.as_secs_f64();
    println!(
        "hash: {speed:.2} GB/s {}",
        verdict(speed >= 1.0, "≥ 1 GB/s")
    );

    change_last_weight(&right)?;
    compare(
        "diff, the last weight differs",
        size,
        &files,
        || diff(&[]),
        1,
    )?;
    let architecture = || diff(&["--architecture"]);
    compare(
        "diff --architecture, likewise",
        size,
        &files,
        architecture,
        0,
    )?;
    Ok(())
}

/// Runs the command and `cmp` in turn, and prints time and memory.
fn compare(
    what: &str,
    size: u64,
    files: &[&Path],
    ours: impl Fn() -> Outcome<Run>,
    status: i32,
) -> Outcome<()> {
    let mut runs = Vec::new();
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let run = ours()?.expect_status(status)?;
        let mut cmp = Command::new("cmp");
        let cmp = Run::of(cmp.arg("--silent").args(files))?;
        ratios.push(run.time.as_secs_f64() / cmp.time.as_secs_f64());
        runs.push(run);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let ratio = ratios[ROUNDS / 2];
    let best = best(runs);
    println!(
        "{what}: {:.0} ms, {ratio:.2}× cmp {}",
        best.time.as_secs_f64() * 1e3,
        verdict(ratio <= 2.0, "≤ 2×")
    );
    let Some(peak) = best.peak else {
        println!("  peak memory is not known on this system");
        return Ok(());
    };
    let limit = 1.2 * 2.0 * size as f64 + 50e6;
    println!(
        "  peak memory {:.0} MB {}",
        peak as f64 / 1e6,
        verdict(
            peak as f64 <= limit,
            &format!("≤ {:.0} MB, 1.2× the files and 50 MB", limit / 1e6)
        )
    );
    Ok(())
}

fn verdict(reached: bool, limit: &str) -> String {
    let reached = if reached { "reached" } else { "not reached" };
    format!("({limit}: {reached})")
}

/// One run of a program.
struct Run {
    time: Duration,
    status: Option<i32>,
    /// The largest resident memory, mapped files included, in bytes.
    peak: Option<u64>,
    errors: String,
}

/// The shortest time and the largest memory.
fn best(runs: Vec<Run>) -> Run {
    let peak = runs.iter().filter_map(|run| run.peak).max();
    let fastest = runs.into_iter().min_by_key(|run| run.time);
    Run {
        peak,
        ..fastest.expect("there is a run")
    }
}

impl Run {
    /// Runs the program to its end, and watches its memory meanwhile.
    fn of(command: &mut Command) -> Outcome<Run> {
        let start = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        // The kernel keeps the peak: reading the peak now and then misses only memory
        // added between the last look and the end.
        let process = format!("/proc/{}/status", child.id());
        let watch = thread::spawn(move || {
            let mut peak = None;
            while let Some(now) = fs::read_to_string(&process)
                .ok()
                .as_deref()
                .and_then(peak_of)
            {
                peak = Some(now);
                thread::sleep(Duration::from_millis(1));
            }
            peak
        });
        let mut errors = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut errors)?;
        }
        let status = child.wait()?;
        Ok(Run {
            time: start.elapsed(),
            status: status.code(),
            peak: watch.join().unwrap_or(None),
            errors,
        })
    }

    fn expect_status(self, wanted: i32) -> Outcome<Run> {
        if self.status == Some(wanted) {
            return Ok(self);
        }
        let (status, errors) = (self.status, self.errors);
        Err(format!("isoform ended with {status:?}, expected {wanted}: {errors}").into())
    }
}

/// The peak in a process's status; None after the end of the process.
fn peak_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

fn isoform(command: &str, options: &[&str], files: &[&Path]) -> Outcome<Run> {
    let mut isoform = Command::new(env!("CARGO_BIN_EXE_isoform"));
    Run::of(isoform.arg(command).args(options).args(files))
}

fn change_last_weight(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    // Weights come last in the file, and the lowest bit of a float is in its first
    // byte. The change is one unit in the last place.
    file.seek(SeekFrom::End(-4))?;
    let mut weight = [0; 4];
    file.read_exact(&mut weight)?;
    weight[0] ^= 1;
    file.seek(SeekFrom::End(-4))?;
    file.write_all(&weight)
}

/// Writes the sum of an input and all weights, without holding the weights.
fn write_model(path: &Path) -> io::Result<()> {
    let head = ModelProto {
        ir_version: Some(9),
        opset_import: vec![OperatorSetIdProto {
            version: 21,
            ..Default::default()
        }],
        ..Default::default()
    };
    let graph = graph_without_weights().encode_to_vec();
    let tensors: Vec<Vec<u8>> = (0..TENSORS).map(tensor_without_data).collect();
    let raw = (FLOATS * 4) as u64;
    // Lengths come before contents: field 9 of a tensor holds its bytes, field
    // 5 of the graph the tensor, field 7 of the model the graph.
    let tensor_len = |tensor: &Vec<u8>| tensor.len() as u64 + field_len(9, raw);
    let weights: u64 = tensors
        .iter()
        .map(|tensor| field_len(5, tensor_len(tensor)))
        .sum();

    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&head.encode_to_vec())?;
    open_field(&mut file, 7, graph.len() as u64 + weights)?;
    file.write_all(&graph)?;
    let mut bits = 1u32;
    let mut data = Vec::with_capacity(raw as usize);
    for tensor in &tensors {
        open_field(&mut file, 5, tensor_len(tensor))?;
        file.write_all(tensor)?;
        open_field(&mut file, 9, raw)?;
        data.clear();
        for _ in 0..FLOATS {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let weight = f64::from(bits) / f64::from(u32::MAX) - 0.5;
            data.extend_from_slice(&(weight as f32).to_le_bytes());
        }
        file.write_all(&data)?;
    }
    file.into_inner()?.sync_all()
}

fn field_len(tag: u32, len: u64) -> u64 {
    key_len(tag) as u64 + encoded_len_varint(len) as u64 + len
}

fn open_field(file: &mut impl Write, tag: u32, len: u64) -> io::Result<()> {
    let mut header = Vec::new();
    encode_key(tag, WireType::LengthDelimited, &mut header);
    encode_varint(len, &mut header);
    file.write_all(&header)
}

fn tensor_without_data(index: usize) -> Vec<u8> {
    let tensor = TensorProto {
        dims: vec![FLOATS as i64],
        data_type: FLOAT,
        name: format!("weight_{index}"),
        ..Default::default()
    };
    tensor.encode_to_vec()
}

fn graph_without_weights() -> GraphProto {
    let sum = |index: usize| format!("sum_{index}");
    let node = |index: usize| NodeProto {
        op_type: "Add".to_owned(),
        input: vec![
            index.checked_sub(1).map_or("x".to_owned(), sum),
            format!("weight_{index}"),
        ],
        output: vec![sum(index)],
        ..Default::default()
    };
    GraphProto {
        name: "sums".to_owned(),
        node: (0..TENSORS).map(node).collect(),
        input: vec![floats("x")],
        output: vec![floats(&sum(TENSORS - 1))],
        ..Default::default()
    }
}

fn floats(name: &str) -> ValueInfoProto {
    let dimension = DimensionProto {
        value: Some(DimensionValue::DimValue(FLOATS as i64)),
        ..Default::default()
    };
    let shape = TensorShapeProto {
        dim: vec![dimension],
    };
    let ty = TensorTypeProto {
        elem_type: FLOAT,
        shape: Some(shape),
    };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto {
            value: Some(TypeValue::TensorType(ty)),
            ..Default::default()
        }),
        ..Default::default()
    }
}
