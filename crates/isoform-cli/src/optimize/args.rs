//! The command lines of `isoform optimize` and `isoform extract`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::model_args::{FixArgs, ModelArgs, sizes};
use crate::pages::file::PageArgs;

/// Make an ONNX model smaller without changing its results.
///
/// Nodes that compute nothing new are removed: constants are folded, known shapes
/// become constants, equal nodes are merged, decided branches are inlined, and rules
/// replace patterns by smaller ones, in every subgraph and function. By default every
/// bit of every output stays the same, for all inputs. Names, types and order of inputs
/// and outputs, metadata and documentation are kept.
///
/// OUT is written completely or not at all; an existing file, even IN, is replaced only
/// with --force. Constants in files beside IN stay in files beside OUT. The page of --html
/// shows both models, and which rules were used where, and why the results stay the same.
#[derive(Args, Debug)]
#[command(after_help = OPTIMIZE_HELP)]
pub(crate) struct OptimizeArgs {
    /// The model to read.
    #[arg(value_name = "IN", required_unless_present = "list_rules")]
    pub(crate) input: Option<PathBuf>,
    /// The model to write; - is standard output.
    #[arg(value_name = "OUT", required_unless_present = "list_rules")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) fix: FixArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Print the rules used, with the places and the savings.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Replace OUT, and the file of --html, if they exist.
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Write all constants into OUT itself, also constants in files beside IN.
    #[arg(long, conflicts_with = "external_data")]
    pub(crate) inline: bool,
    /// Run both models on sample inputs, and write nothing if an output differs.
    ///
    /// Inputs are random, and dimensions without a size get two assignments of sizes;
    /// see --verify-shape and --inputs. Outputs have to agree bit by bit, either
    /// directly or with the constants of both models computed first, because runtimes
    /// multiply by constants in another order. With --fuse or --fold all, outputs have
    /// to agree up to a relative difference of 1e-3. The Python package runs the models
    /// with onnxruntime if installed (`pip install 'isoform[verify]'`); otherwise they
    /// run with the evaluator of this program, which does not support every operator.
    #[arg(long)]
    pub(crate) verify: bool,
    /// The seed of the inputs for --verify.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "verify")]
    pub(crate) seed: u64,
    /// The sizes of an input for --verify, for example input:1,512; may be given
    /// several times.
    #[arg(long, value_name = "NAME:SIZES", value_parser = sizes, requires = "verify")]
    pub(crate) verify_shape: Vec<(String, Vec<i64>)>,
    /// A file with inputs for --verify by name, in the format of numpy.savez or
    /// safetensors; the remaining inputs are random.
    #[arg(long = "inputs", value_name = "FILE", requires = "verify")]
    pub(crate) samples: Option<PathBuf>,
    /// List the rules with their patterns, replacements and reasons, instead of
    /// optimizing.
    #[arg(long, visible_alias = "rules")]
    pub(crate) list_rules: bool,
}

/// Options of simplification.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rules")]
pub(crate) struct RuleArgs {
    /// The operators on constants to be computed.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = FoldArg::Exact)]
    pub(crate) fold: FoldArg,
    /// Also fuse operators, for example BatchNormalization into Conv: the last bits of
    /// results may change.
    #[arg(long)]
    pub(crate) fuse: bool,
    /// The largest constant made by folding, unless it replaces larger constants:
    /// bytes, or a number with KB, MB or GB, which are powers of 1024. By default up to
    /// 1MB, and less if all constants together would grow by more than 16KB and more
    /// than a tenth.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_constant: Option<u64>,
    /// Use only these rules, separated by commas; may be given several times.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Leave out these rules, separated by commas; may be given several times.
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
}

/// The operators on constants to be computed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FoldArg {
    /// None.
    None,
    /// Operators whose results the standard fixes bit by bit.
    Exact,
    /// All operators: for transcendental functions, sums and products of matrices, the
    /// last bits may differ from the results of a runtime.
    All,
}

/// A number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "expected bytes, or a number with KB, MB or GB, such as 16KB or 1.5MB, got '{text}'"
        )
    };
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return Err(wrong()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        let bytes = whole.checked_mul(1 << shift);
        return bytes.ok_or_else(|| format!("'{text}' is more than 2^64 bytes"));
    }
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = number * f64::from(1_u32 << shift);
    if shift > 0 && bytes.is_finite() && bytes < 2_f64.powi(53) {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

const OPTIMIZE_HELP: &str = "\
Exit status:
  0  OUT was written
  1  with --verify: the results differ; OUT is unchanged
  2  error: IN could not be read, OUT not be written, or nothing be verified; OUT is unchanged

Ctrl-C ends the command at once, as status 130 of a shell; OUT is left as it was.

JSON (--json), one object:
  {\"file\": NAME, \"to\": NAME, \"nodes\": PAIR, \"copies\": COUNT, \"bytes\": PAIR,
   \"constants\": PAIR, \"external_bytes\": PAIR, \"rounds\": COUNT, \"seconds\": NUMBER, \"written\": BOOL,
   \"rules\": [{\"rule\": NAME, \"times\", \"nodes\", \"bytes\"}...], \"verified\": null or VERIFIED}
  PAIR is {\"before\": COUNT, \"after\": COUNT}; `bytes` are those of the model and of the
    files beside it, which are the external ones, and `constants` those of all constants. Numbers of rules count what they saved, and `copies`
    the nodes of the result that give an input or an output another name.
  VERIFIED is {\"same\": BOOL, \"cases\": [{\"inputs\", \"runner\", \"outcome\": \"same\", \"close\",
    \"different\" or \"not run\", \"max_abs\", \"reason\", \"differences\": [{\"output\", \"node\",
    \"reason\", \"max_abs\"}...]}...]}
  --explain adds \"applications\": [{\"rule\", \"op\", \"node\", \"output\", \"graph\", \"nodes\",
    \"bytes\"}...], one for each use of a rule, in order
  --list-rules prints one object per line and rule: {\"name\", \"group\": \"step\", \"exact\" or
    \"fuse\", \"opsets\": [FIRST, LAST or null], \"before\": [TEXT...], \"after\", \"reason\"}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform optimize model.onnx smaller.onnx
  isoform optimize --explain --verify model.onnx smaller.onnx
  isoform optimize --html optimized.html model.onnx smaller.onnx
  isoform optimize --fuse --fold all --verify model.onnx fast.onnx
  isoform optimize --without merge-slices,drop-cast model.onnx smaller.onnx
  isoform optimize --verify --verify-shape input:1,512 model.onnx smaller.onnx
  isoform optimize --verify --inputs sample.npz model.onnx smaller.onnx
  isoform optimize --force model.onnx model.onnx
  isoform optimize --max-constant 1MB --json model.onnx smaller.onnx | jq .nodes
  isoform optimize --dim batch=1 --input-shape x:1,3,224,224 model.onnx fixed.onnx
  isoform optimize --list-rules | less";

/// Cut a part out of an ONNX model: the nodes that compute some values from others.
///
/// Inputs, outputs and results of nodes of the main graph have their names from the
/// file, printed by `isoform show --names`. The values in --from become the inputs of
/// the part, with their known types, and the values in --to become its outputs. Without
/// --from, the part has the inputs that it needs.
///
/// OUT is written completely or not at all; an existing file is replaced only with
/// --force. Constants in files beside IN stay in files beside OUT.
#[derive(Args, Debug)]
#[command(after_help = EXTRACT_HELP)]
pub(crate) struct ExtractArgs {
    /// The model, or the program of MLIR, to read.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file to write; - is standard output.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The values that become inputs, separated by commas; may be given several times.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub(crate) from: Vec<String>,
    /// The values that become outputs, separated by commas; may be given several times. In a
    /// program of MLIR, the symbols whose operations are kept, such as functions, with
    /// everything that they refer to.
    #[arg(long, value_name = "VALUE", value_delimiter = ',', required = true)]
    pub(crate) to: Vec<String>,
    /// Replace OUT if it exists.
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Write all constants into OUT itself, also constants in files beside IN.
    #[arg(long, conflicts_with = "external_data")]
    pub(crate) inline: bool,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

const EXTRACT_HELP: &str = "\
Exit status:
  0  OUT was written
  2  error: there is no such value, the part needs more inputs, IN could not be read, or OUT
     not be written; OUT is unchanged

JSON (--json), one object:
  {\"file\": NAME, \"to\": NAME, \"inputs\": [NAME...], \"outputs\": [NAME...], \"bytes\": COUNT,
   \"external_bytes\": COUNT}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform extract model.onnx encoder.onnx --to /encoder/output
  isoform extract model.onnx head.onnx --from features,mask --to boxes,scores
  isoform extract module.mlir main.mlir --to @main";

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        let cases = [
            ("0", 0),
            ("65536", 65536),
            ("16KB", 16 << 10),
            ("1.5 MB", 3 << 19),
            ("1gb", 1 << 30),
            ("2KiB", 2048),
        ];
        for (text, bytes) in cases {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "KB",
            "1.5",
            "12 parsecs",
            "-1",
            "99999999999999999999GB",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(size("99999999999GB").is_err());
    }
}
