//! The command line of `isoform diff`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::input::is_dash;
use crate::model_args::{FixArgs, sizes};
use crate::pages::pictures::PictureFormat;

/// Check whether two files are the same program, and if not, tell how they differ.
///
/// For models, a summary comes first: operator sets, inputs, outputs, operators, nodes
/// and weights that differ. Then follow all changes with the model's own names of
/// nodes, and with equal changes merged: attributes, inputs, added and removed nodes,
/// replaced parts of the graph, and weights with the number of differing elements. For
/// IR files, each change has a line with its place and values.
///
/// Two models are equal here if they mean the same: for each operator, any two operator
/// set versions with the same meaning are equal, and an attribute with its default
/// value equals an omitted attribute. `isoform hash` is stricter, so equal models may
/// have different digests; --strict compares like `isoform hash`.
///
/// The files of two folders are compared in pairs: first files with the same path
/// inside of the folders, then remaining files with the same name, and then a single
/// remaining file on both sides. If only one argument is a folder, the file is compared
/// with the file of the same name there.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = DIFF_HELP,
    group = ArgGroup::new("written").args(["html", "model_explorer"]).multiple(true)
)]
pub(crate) struct DiffArgs {
    /// A model or IR file, or a folder of files; - is standard input.
    #[arg(value_name = "LEFT")]
    pub(crate) left: PathBuf,
    /// The other file or folder.
    #[arg(value_name = "RIGHT")]
    pub(crate) right: PathBuf,
    /// Print at most this many different changes; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max: usize,
    /// Print long lines in full on a terminal, where they are cut at its width otherwise.
    #[arg(long)]
    pub(crate) wide: bool,
    /// Print the summary alone.
    #[arg(long, conflicts_with = "first")]
    pub(crate) stat: bool,
    /// Explain only the first difference: its place and value in both files, and the reason.
    ///
    /// The place is the first place in the order of comparison, with the nearest node
    /// of each model. For IR files, both sides are shown as text with the place
    /// underlined.
    #[arg(long)]
    pub(crate) first: bool,
    /// For models, also write files for model-explorer into this folder: left.json and
    /// right.json mark the nodes of each model, and mapping.json pairs the nodes of its two
    /// panes.
    ///
    /// The ids of nodes are those of the package model-explorer-onnx.
    #[arg(long, value_name = "FOLDER", conflicts_with = "first")]
    pub(crate) model_explorer: Option<PathBuf>,
    /// Also write a page for a browser: all changes, both sides beside each other, and why
    /// nodes were matched. The page is one file that needs nothing else; - is standard
    /// output, in place of the text.
    #[arg(long, value_name = "FILE", conflicts_with = "first")]
    pub(crate) html: Option<PathBuf>,
    /// Replace the files of --html and --model-explorer if they exist.
    #[arg(long, requires = "written")]
    pub(crate) force: bool,
    /// Print the difference in this form [default: text].
    #[arg(long, value_name = "FORMAT", value_enum, hide_default_value = true)]
    pub(crate) format: Option<DiffFormat>,
    #[command(flatten)]
    pub(crate) levels: LevelArgs,
    #[command(flatten)]
    pub(crate) fix: FixArgs,
    /// Simplify both models first, as `isoform optimize` does by default: models that
    /// differ only in removed parts are then equal.
    #[arg(long)]
    pub(crate) simplify: bool,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

impl DiffArgs {
    /// True if lines of text are printed on standard output.
    pub(crate) fn is_for_people(&self) -> bool {
        let is_page = self.html.as_deref().is_some_and(is_dash);
        !is_page && self.format.unwrap_or_default() == DiffFormat::Text
    }
}

/// Running both models.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Running both models")]
pub(crate) struct RunArgs {
    /// Run both models on the same inputs, and find the first node with different results.
    ///
    /// Values are paired by structure, what computes the same first, and outputs by position:
    /// names do not matter. The first divergence is the first pair of values that differ beyond the tolerance
    /// although everything that they are computed from agrees. --rtol and --atol are then
    /// the tolerance of results, by default 1e-3 and 1e-5. Inputs are random, and inputs
    /// with other names on the right are those at the same position. Wrappers of
    /// quantisation and Identity nodes of one model alone are looked through. Values inside
    /// of bodies and functions are not compared; the verdict names the first difference of
    /// structure inside. The Python package runs the models with
    /// onnxruntime if installed (`pip install 'isoform[verify]'`); otherwise they run with
    /// the evaluator of this program, which does not support every operator.
    #[arg(long, conflicts_with_all = ["first", "stat", "strict", "model_explorer"])]
    pub(crate) run: bool,
    /// The seed of the inputs for --run.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "run")]
    pub(crate) seed: u64,
    /// The number of sets of inputs for --run, the first few each with other sizes of dimensions
    /// without a size.
    #[arg(long, value_name = "COUNT", default_value_t = 2, requires = "run",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) sets: u16,
    /// A file with inputs for --run by their names in the left model, in the format of
    /// numpy.savez or safetensors; the remaining inputs are random.
    #[arg(long = "inputs", value_name = "FILE", requires = "run")]
    pub(crate) samples: Option<PathBuf>,
    /// The sizes of an input of the left model for --run, for example input:1,512; may be
    /// given several times.
    #[arg(long, value_name = "NAME:SIZES", value_parser = sizes, requires = "run")]
    pub(crate) run_shape: Vec<(String, Vec<i64>)>,
    /// Also tell where the relative L2 error first exceeds these numbers, separated by
    /// commas.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = tolerance,
          default_values_t = [1e-6, 1e-4, 1e-2], requires = "run")]
    pub(crate) thresholds: Vec<f64>,
}

/// The form of the printed difference.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum DiffFormat {
    /// Lines for people.
    #[default]
    Text,
    /// JSON for other programs, as with --json.
    Json,
    /// Markdown for a review, of less than 60,000 characters.
    Markdown,
    /// A picture of the changed nodes and those around them, for browsers.
    Svg,
    /// The same picture in the language of graphviz.
    Dot,
    /// The same picture in the language of mermaid.
    Mermaid,
}

impl DiffFormat {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            DiffFormat::Text => "text",
            DiffFormat::Json => "json",
            DiffFormat::Markdown => "markdown",
            DiffFormat::Svg => "svg",
            DiffFormat::Dot => "dot",
            DiffFormat::Mermaid => "mermaid",
        }
    }

    /// The format of a picture.
    pub(crate) fn picture(self) -> Option<PictureFormat> {
        match self {
            DiffFormat::Text | DiffFormat::Json | DiffFormat::Markdown => None,
            DiffFormat::Svg => Some(PictureFormat::Svg),
            DiffFormat::Dot => Some(PictureFormat::Dot),
            DiffFormat::Mermaid => Some(PictureFormat::Mermaid),
        }
    }
}

const DIFF_HELP: &str = "\
Exit status:
  0  the files are equal, or nothing differs beyond the tolerance
  1  the files differ, or one of two folders lacks a file
  2  error: a file could not be read
  With --run: 0 if no pair of values differs beyond the tolerance, 1 if a pair does, and 2 if a
    model could not be run, or the inputs of the models differ

Ctrl-C ends the command at once, as status 130 of a shell.

JSON (--json or --format json), one object; docs/schema/diff-2.schema.json is its JSON Schema:
  {\"format\": \"isoform.diff\", \"version\": 2, \"equal\": BOOL, \"left\": {\"file\": NAME},
   \"right\": the same, \"summary\": SUMMARY}
    and, unless --stat is given, \"changes\": [CHANGE...], \"hunks\": [HUNK...], and for models
    \"groups\": [{\"kind\": TEXT, \"count\": COUNT, \"text\": TEXT, \"nodes\": [ORIGIN...]}...], the
    printed lines; --max does not apply
  SUMMARY is {\"counts\": {KIND: COUNT}}; for models, it also has \"nodes\": {\"same\",
    \"changed\", \"added\", \"removed\"}, and \"opsets\", \"inputs\", \"outputs\", \"operators\" and
    \"weights\" as printed by `isoform summary --json`
  CHANGE is {\"kind\": KIND, \"count\": COUNT, \"left_path\": TEXT, \"right_path\": TEXT,
    \"left\": TEXT or null, \"right\": TEXT or null, \"left_size\": COUNT of nodes,
    \"right_size\": COUNT, \"origin\": ORIGIN or null, \"tensor\": null or {\"elements\",
    \"differing\", \"first\": [INDEX...], \"max_abs\", \"max_rel\", \"relative_l2\", \"cosine\"},
    \"places\": [{\"left_path\", \"right_path\", \"origin\"}...]}; the paths and the origin
    of a change are those of its first place
  Paths of models begin at the nearest node, graph or function, as \"<node 7 of 'main'>.inputs[1]\",
    where nodes count from 0 as in the file. Those of IR files begin at \"<root>\", or after more
    than 64 steps at \"<N>\", the text at position N of \"places\": [TEXT...], which may itself
    begin at one before it
  KIND is \"value\", \"inserted\", \"deleted\", \"moved\", \"wrapped\", \"unwrapped\", \"replaced\",
    \"variable\", \"sharing\", \"key renamed\", \"tensor\", \"attribute\" or \"rewired\"
  HUNK is {\"left\": [TEXT...], \"right\": [TEXT...], \"is_enclosed\": BOOL, \"group\": TEXT}, nodes
    that became others; those that are alike have one group
  ORIGIN is {\"kind\": \"node\", \"input\" or \"output\", \"name\", \"op\", \"outputs\", \"graph\",
    \"in_function\", \"position\", \"input\"}, the part of the file by its own names; \"input\"
    names the weight or other input concerned. A removed node is named as in the left file,
    everything else as in the right one if it is there
  With --first:
    {\"equal\": BOOL, \"reason\": TEXT or null, \"left\": SIDE, \"right\": SIDE}
    and, if they differ, \"text\": both sides of IR files underlined, or null
    SIDE is {\"file\": NAME}; if the files differ, also \"path\": TEXT, the place in the program,
    \"value\": TEXT or null, and \"origin\": ORIGIN or null
  With --run:
    {\"format\": \"isoform.divergence\", \"version\": 1, \"same\": BOOL, \"left\": {\"file\": NAME},
     \"right\": the same, \"first\": POSITION in \"pairs\" or null, \"origins\": [POSITION...] of all
     pairs that differ although their inputs agree, \"crossings\": [{\"threshold\": NUMBER,
     \"pair\": POSITION or null}...], \"runner\": NAME, \"inputs\": [TEXT...], \"rtol\", \"atol\",
     \"unpaired\": [LEFT, RIGHT] nodes, \"inner\": [LEFT, RIGHT] nodes in bodies and
     functions, whose values are not compared, \"inside\": TEXT, the first difference of
     structure in bodies or functions of the first pair, or null,
     \"outputs\": [LEFT, RIGHT], \"open_outputs\": the same, those that were not compared,
     \"pairs\": [PAIR...]}
    PAIR is {\"left\": {\"node\": ORIGIN, \"value\": NAME}, \"right\": the same, \"kind\":
      \"structure\", \"use\", \"output\" or \"quantized\", \"status\": \"same\", \"close\",
      \"different\" or \"skipped\", \"inputs_agree\": BOOL, \"shape\": [SIZE...], \"types\": [LEFT,
      RIGHT], \"count\", \"beyond\": COUNT of elements, \"max_abs\", \"max_rel\", \"relative_l2\",
      \"cosine\", \"snr_db\", \"note\": TEXT}; a number is null if it is infinite or unknown
  Of folders, each pair of files is one such object on a line of its own; \"left\" or \"right\"
    is null where a file has no partner
  On error: {\"failed\": [{\"file\": NAME, \"error\": MESSAGE}...]}

Examples:
  isoform diff before.onnx after.onnx
  isoform diff --stat pretrained.onnx finetuned.onnx
  isoform diff --rtol 1e-3 --atol 1e-5 float.onnx exported.onnx
  isoform diff --architecture pretrained.onnx finetuned.onnx
  isoform diff --dim batch=1 dynamic.onnx fixed.onnx
  isoform diff --simplify exported.onnx optimized.onnx
  isoform diff --run float.onnx int8.onnx
  isoform diff --run --inputs sample.npz --rtol 1e-2 a.onnx b.onnx
  isoform diff --first before.json after.iso
  isoform diff --model-explorer explorer before.onnx after.onnx
  isoform diff --html difference.html before.onnx after.onnx
  isoform diff --format markdown before.onnx after.onnx >> summary.md
  isoform diff --format svg before.onnx after.onnx > changes.svg
  isoform diff --json a.onnx b.onnx | jq -r '.groups[].text'
  isoform diff --stat exports/main exports/pull-request
  isoform diff -q a.onnx b.onnx && echo same program";

/// The differences that count.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Differences that count")]
pub(crate) struct LevelArgs {
    /// Compare operator sets by number, and written-out defaults as attributes: models
    /// are equal exactly if they have the same digest.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Ignore declared shapes, and declared types of bodies and outputs that follow from the
    /// computation.
    #[arg(long)]
    pub(crate) ignore_shapes: bool,
    /// Ignore differences of floats and of elements of tensors up to this part of the right
    /// number, as numpy.isclose does with the right file as the reference.
    #[arg(long, value_name = "NUMBER", value_parser = tolerance, conflicts_with = "first")]
    pub(crate) rtol: Option<f64>,
    /// Ignore differences of floats and of elements of tensors up to this number; added
    /// to the tolerance of --rtol.
    #[arg(long, value_name = "NUMBER", value_parser = tolerance, conflicts_with = "first")]
    pub(crate) atol: Option<f64>,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 => Ok(number),
        _ => Err("expected a number that is not negative, such as 1e-5".to_owned()),
    }
}
