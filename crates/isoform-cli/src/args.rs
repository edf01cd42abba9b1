//! The command line: commands and options, and the text of `--help`.
//!
//! [`input`](crate::input) defines the effect of the options on the engine.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::cache::args::CacheArgs;
use crate::check::CheckArgs;
use crate::corpus::args::{FindArgs, IndexArgs, StatsArgs};
use crate::diff::args::DiffArgs;
use crate::git::args::GitArgs;
use crate::input::TargetForm;
use crate::input::types::TypeSources;
use crate::man::ManArgs;
use crate::merge::args::MergeArgs;
use crate::mlir::args::{MlirArgs, MlirLevelArgs};
use crate::model_args::{FixArgs, ModelArgs};
use crate::optimize::args::{ExtractArgs, OptimizeArgs};
use crate::pages::file::PageArgs;
use crate::pages::pictures::PictureFormat;
use crate::reduce::args::ReduceArgs;
use crate::store::args::StoreArgs;
use crate::terminal::ColorWhen;

/// Compare ONNX models and IR files as programs: are they equal, or where do they
/// differ?
///
/// A file is an ONNX model, or any value of the library as a JSON graph, as text or in
/// the binary form, or named tensors as safetensors, GGUF, .npz or .npy. Weights in
/// several safetensors files are read through their index,
/// `model.safetensors.index.json`, as if they were in one. Every file may be compressed
/// with gzip or zstd, except an index and its shards. The format is detected from the
/// contents, whatever the name. `-` is standard input; external data of a model from
/// standard input is looked up in the current folder.
///
/// A model is compared as a program. The names of tensors, nodes and functions,
/// documentation, producer and metadata, the order in which independent nodes are
/// listed, and nodes that no output needs are ignored. Operators, versions, attributes,
/// wiring, types, shapes and weights are compared.
#[derive(Parser, Debug)]
#[command(
    name = "isoform",
    bin_name = "isoform",
    version,
    after_help = ROOT_HELP,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const ROOT_HELP: &str = "\
Exit status:
  0  done; for `diff`: the files are equal
  1  for `diff`: the files differ; for `merge`: there are conflicts; for `optimize --verify`:
     the results differ
  2  error: a file could not be read or written, or the command line is wrong

Examples:
  isoform hash model.onnx                   name a model's program by a digest
  isoform diff before.onnx after.onnx       find out whether and how two models differ
  isoform diff --architecture a.onnx b.onnx the same, ignoring the contents of weights
  isoform merge base.onnx a.onnx b.onnx     combine two edited versions of a model
  isoform summary a.onnx b.onnx             compare operators and weights in numbers
  isoform show model.onnx | less            read a model as program text
  isoform dedup ~/models                    find models that occur more than once
  isoform clones model.onnx                 find layers and other parts that repeat
  isoform index ~/models -o models.parquet  list a collection with digests and operators
  isoform dedup models.parquet              find the duplicates in the list
  isoform optimize model.onnx smaller.onnx  make a model smaller, with the same results
  isoform extract m.onnx part.onnx --to y   cut out what computes a value
  isoform show module.json                  read a JSON graph as text
  isoform convert module.json module.iso    write it as text
  isoform check --canonical golden/*.iso    check files before a commit
  isoform passes                            list the passes
  isoform run pto.simplify,pto.cse k.json   apply passes to a program
  isoform run --import mine.py Mine k.json  apply passes written in Python
  isoform reduce m.onnx -o s.onnx -- ./t.sh find a small model that still fails
  isoform cache run --key m.json --out m.o -- mycc m.json -o m.o
                                            run a compiler for new programs alone
  isoform cache why                         tell why the last run was a miss
  isoform git install                       let git diff show models as text

See `isoform COMMAND --help` for details of each command.";

/// The command to run.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Hash(HashArgs),
    Diff(DiffArgs),
    Merge(MergeArgs),
    Check(CheckArgs),
    Summary(SummaryArgs),
    Show(ShowArgs),
    Dedup(DedupArgs),
    Clones(ClonesArgs),
    Index(IndexArgs),
    Stats(StatsArgs),
    Find(FindArgs),
    Convert(ConvertArgs),
    Optimize(OptimizeArgs),
    Extract(ExtractArgs),
    Passes(PassesArgs),
    Run(RunArgs),
    Bisect(BisectArgs),
    Reduce(ReduceArgs),
    Cache(CacheArgs),
    Store(StoreArgs),
    Mlir(MlirArgs),
    Git(GitArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

impl Cli {
    /// True if long lines are cut at the width of a terminal.
    pub(crate) fn cuts_lines(&self) -> bool {
        let is_cut = match &self.command {
            Command::Show(args) => !args.wide && args.format.is_none() && !args.page.is_output(),
            Command::Diff(args) => !args.wide && args.is_for_people(),
            _ => false,
        };
        is_cut && !self.common.json
    }
}

/// Print the digest of each file's program.
///
/// Prints one line for each file, in the order given: the digest, two spaces, the
/// file's name. Two files have the same digest exactly if `isoform diff --strict`
/// reports them as equal under the same options. A digest is the same on every machine,
/// in every format of a file, and in every release that keeps the digest format, and
/// can therefore name a model in a cache. The files are read in parallel, and
/// uncompressed models in files are never copied into memory.
#[derive(Args, Debug)]
#[command(after_help = HASH_HELP)]
pub(crate) struct HashArgs {
    /// The models or IR files to hash; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Simplify models first, as `isoform optimize` does by default.
    #[arg(long)]
    pub(crate) simplify: bool,
}

const HASH_HELP: &str = "\
Exit status:
  0  every file was hashed
  2  a file could not be read; the others were hashed anyway

JSON (--json), one object per line and file:
  {\"file\": NAME, \"digest\": HEX}
  {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform hash model.onnx
  isoform hash --architecture checkpoints/*.onnx
  isoform hash --simplify exported.onnx
  isoform hash module.json module.iso module.isob
  isoform hash --json *.onnx | jq -r .digest";

/// Print the contents of a model, or the differences of two models, in numbers.
///
/// For one model: operator sets, inputs and outputs, the number of uses of each
/// operator, and the weights by type. For two models: the same side by side, and the
/// distances of the weights. Weights with the same name are paired first, and then
/// equal weights. Nodes of bodies and of local functions are counted once. For IR
/// files, the objects of each type are counted.
///
/// A summary is not a verdict, and the status does not depend on it; see `isoform diff`.
#[derive(Args, Debug)]
#[command(after_help = SUMMARY_HELP)]
pub(crate) struct SummaryArgs {
    /// The model or IR file; - is standard input.
    #[arg(value_name = "LEFT")]
    pub(crate) left: PathBuf,
    /// Another file to compare with.
    #[arg(value_name = "RIGHT")]
    pub(crate) right: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) fix: FixArgs,
    /// Simplify models first, as `isoform optimize` does by default.
    #[arg(long)]
    pub(crate) simplify: bool,
}

const SUMMARY_HELP: &str = "\
Exit status:
  0  the summary was printed
  2  a file could not be read

JSON (--json), one object, for a model
  {\"file\": NAME, \"model\": MODEL}
for an IR file, or a file of tensors, whose KEYs are types of elements
  {\"file\": NAME, \"types\": {KEY: COUNT}}
for two models
  {\"left\": {\"file\": NAME, \"model\": MODEL}, \"right\": the same,
   \"opsets\": [{\"domain\": NAME, \"left\": [VERSION...] or null, \"right\": the same}...],
   \"inputs\": [{\"position\": COUNT, \"left\": VALUE or null, \"right\": the same}...],
   \"outputs\": the same, all three only where they differ,
   \"operators\": [{\"operator\": NAME, \"left\": COUNT, \"right\": COUNT}...],
   \"weights\": {\"pairs\": COUNT, \"changed\": [WEIGHT...], \"left_only\": [NAME...],
     \"right_only\": [NAME...], \"elements\": COUNT, \"differing\": COUNT, \"max_abs\": NUMBER}}
and for two IR files
  {\"left\": {\"file\": NAME}, \"right\": the same,
   \"types\": [{\"type\": KEY, \"left\": COUNT, \"right\": COUNT}...]}
  MODEL is {\"ir_version\", \"producer\", \"opsets\": {DOMAIN: [VERSION...]}, \"inputs\": [VALUE...],
    \"outputs\": [VALUE...], \"nodes\": COUNT, \"depth\": COUNT of nodes in the longest chain,
    \"nesting\": depth of bodies, \"constants\": COUNT, \"weights\": {DTYPE: {\"count\",
    \"elements\", \"bytes\"}}, \"functions\": [{\"name\", \"nodes\"}...], \"operators\": {NAME: COUNT}}
  VALUE is {\"name\": NAME, \"dtype\": TEXT, \"shape\": TEXT}
  WEIGHT is {\"left\": {\"name\", \"dtype\", \"shape\"}, \"right\": the same, \"elements\": COUNT,
    \"differing\": COUNT, \"first\": [INDEX...], \"max_abs\", \"max_rel\",
    \"relative_l2\", \"cosine\"}; the numbers are null where shapes differ, and where they are not
    finite
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform summary model.onnx
  isoform summary pretrained.onnx finetuned.onnx
  isoform summary --dim batch=1 --simplify exported.onnx
  isoform summary --json model.onnx | jq .model.operators";

/// Print a model as program text, or an IR file as text.
///
/// The text of an IR file can be read back by every command, unless large tensors are
/// abbreviated; --full-tensors writes them in full. It is coloured on a terminal. With
/// --canonical, nodes without a name are named by their kind instead of a number, so that
/// an edit changes few lines.
///
/// For models, inputs and results have the file's own names after a %, so `git diff` of
/// two texts shows the changes made by an edit: an inserted node is one new line and
/// one changed line. If a name is missing, taken, long, or has characters other than
/// letters, digits and _ . / : -, the name of the operator replaces it. Equal programs
/// may have different names. With --numbers, values are %0, %1 and so on in an order of
/// computation instead, and the text contains no names outside of comments. With
/// --canonical, names follow from the structure, so a renamed and reordered model has
/// the same text, and an edit changes few lines.
///
/// Symbolic dimensions are d0, d1, and the model's own functions f0, f1, which follow
/// the graph. If an operator does not have the usual version of its domain, the version
/// follows after a colon. Subgraphs are indented inside their node. Constants of more
/// than 8 elements are abbreviated, and the first 12 digits of their digest follow
/// after a #, to distinguish different weights. `_` is an omitted input, `?` is
/// unknown, for example external data whose file is missing, and `$a` in a function is
/// the attribute `a` of its call. Lines starting with # are comments. The last comment
/// counts the nodes of the graph, of nested bodies and of each function once, without
/// constants and nodes that no output needs, like all commands.
///
/// The page of --html has the whole text of the file, with the numbers of `isoform summary` and
/// statistics of tensors.
#[derive(Args, Debug, Default)]
#[command(after_help = SHOW_HELP)]
pub(crate) struct ShowArgs {
    /// The model or IR file to print; - is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// For models, print nodes of subgraphs only down to this depth; 0 omits all subgraphs.
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// For models, print only the first N nodes of every body.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// For models, add the file's own names as comments: of nodes, their inputs and their outputs.
    #[arg(long)]
    pub(crate) names: bool,
    /// For models, number inputs and results instead of writing the file's own names.
    #[arg(long)]
    pub(crate) numbers: bool,
    /// Name inputs and results of models by the structure around them instead of by the
    /// file's own names, so that only lines of edited nodes differ between two versions.
    /// In IR files, name nodes by their kind that have no name of their own.
    ///
    /// A renamed, renumbered or reordered model has the same text. A name consists of the
    /// operator and digits that depend on the operator, the types of constant inputs, and
    /// the position among nodes of this kind since the last larger layer; attributes and
    /// elements of weights have no influence.
    #[arg(long, conflicts_with = "numbers")]
    pub(crate) canonical: bool,
    /// Print long lines in full on a terminal, where they are cut at its width otherwise.
    #[arg(long)]
    pub(crate) wide: bool,
    /// For models, skip external data, shown as `{?}` as if the file were missing.
    #[arg(long)]
    pub(crate) skip_external_data: bool,
    /// True if options for models alone have no effect on other files, instead of being an error.
    #[arg(skip)]
    pub(crate) any_file: bool,
    /// For IR files, print programs in the format of their dialect, such as that of Relay;
    /// this text cannot be read back.
    #[arg(long)]
    pub(crate) script: bool,
    /// For models, add the derived types of results of nodes as comments, and list
    /// outputs whose declared type is wrong.
    ///
    /// Types are derived from the types of the inputs and from constants alone. An
    /// extent is a number, or a formula over dimensions of the inputs and unknown
    /// numbers _1, _2 and so on. The elements of small tensors of integers follow an
    /// equals sign.
    #[arg(long)]
    pub(crate) shapes: bool,
    /// Print a picture in this format instead of text.
    ///
    /// Models: nodes, inputs and outputs, with the graphs in attributes and functions as
    /// blocks. Copies of a repeated block, and parts of large models by their names, are
    /// single nodes. IR files: objects, and the fields between them.
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        conflicts_with_all = ["depth", "limit", "names", "numbers", "script", "shapes"]
    )]
    pub(crate) format: Option<PictureFormat>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Replace the file of --html if it exists.
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) fix: FixArgs,
    #[command(flatten)]
    pub(crate) text: TextArgs,
}

/// How values are written as text.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Text of IR files")]
pub(crate) struct TextArgs {
    /// The maximum width of a line.
    #[arg(long, value_name = "COLUMNS", default_value_t = DEFAULT_WIDTH)]
    pub(crate) width: usize,
    /// Leave out fields called `span`, the locations in a source text.
    #[arg(long, overrides_with = "spans")]
    pub(crate) no_spans: bool,
    /// Print fields called `span`, the default; overrides an earlier --no-spans.
    #[arg(long, overrides_with = "no_spans")]
    pub(crate) spans: bool,
    /// Print the types of expressions as trailing comments.
    #[arg(long)]
    pub(crate) types: bool,
    /// Print all elements of tensors in place.
    #[arg(long)]
    pub(crate) full_tensors: bool,
}

impl Default for TextArgs {
    fn default() -> Self {
        TextArgs {
            width: DEFAULT_WIDTH,
            no_spans: false,
            spans: false,
            types: false,
            full_tensors: false,
        }
    }
}

const DEFAULT_WIDTH: usize = 100;

const SHOW_HELP: &str = "\
Exit status:
  0  the file was printed
  2  the file could not be read

JSON (--json), one object, for an IR file
  {\"file\": NAME, \"form\": FORM, \"type\": TEXT, \"text\": TEXT}
  FORM is \"json\", \"text\", \"binary\", \"safetensors\", \"safetensors-index\", \"gguf\",
    \"npz\" or \"npy\"; an index adds \"files\", the names of its shards
and for a model
  {\"file\": NAME, \"counts\": {...}, \"opsets\": {DOMAIN: VERSION},
   \"program\": GRAPH, \"functions\": [GRAPH...]}
  GRAPH is {\"inputs\": [TEXT...], \"nodes\": [NODE...], \"omitted\": COUNT, \"outputs\": [TEXT...]}
    and \"result_types\" of a graph, \"function\" and \"attributes\" of a function
  NODE is {\"op_type\", \"domain\", \"version\", \"inputs\", \"attributes\", \"outputs\"},
    or \"function\" instead of the first three; subgraphs are among the attributes
  Values, types, constants and attributes are written as in the text. --names adds
  \"name\", \"input_names\" and \"output_names\" to nodes, \"name\" to graphs, and \"dims\".
  --shapes adds \"types\" to nodes, the derived types of their outputs, and \"problems\".
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform show model.onnx | less
  isoform show --depth 1 --limit 20 model.onnx
  isoform show --names model.onnx | grep '/encoder/layer.3/'
  isoform show --shapes --dim batch=1 model.onnx
  isoform show --html model.html model.onnx > model.txt
  isoform show --format svg model.onnx > model.svg
  diff <(isoform show --canonical a.onnx) <(isoform show --canonical b.onnx)
  isoform show --width 80 --no-spans module.json";

/// Group the models and IR files that are the same program.
///
/// Searches folders for `.onnx`, `.safetensors` and `.gguf` files, also with `.gz` or
/// `.zst` at the end, for `.safetensors.index.json` files, whose shards are files of
/// their own, too, and for `.json`, `.iso` (text) and `.isob` (binary) files that hold
/// IR, reads them in parallel and prints the groups of equal models, largest first. Links
/// to folders are followed, and a file reachable in two ways counts once. Groups are
/// found by digest and confirmed by comparison. As for `isoform hash`, the same model in
/// another operator set, or with a default written out, is another program.
#[derive(Args, Debug)]
#[command(after_help = DEDUP_HELP)]
pub(crate) struct DedupArgs {
    /// Folders to search, models, IR files, or the index of a collection.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

const DEDUP_HELP: &str = "\
Exit status:
  0  every model was read, whether or not some are equal
  2  a file or folder could not be read; the others were compared anyway; failures that an
     index records do not count

JSON (--json), one object:
  {\"groups\": [{\"digest\": HEX, \"files\": [NAME...]}...],
   \"models\": COUNT, \"distinct\": COUNT, \"failed\": [{\"file\": NAME, \"error\": MESSAGE}...]}
  `models` counts the models read, `distinct` the different programs among them.

Examples:
  isoform dedup ~/models
  isoform dedup --architecture checkpoints/ exports/
  isoform dedup models.parquet              the same by an index, without reading models
  isoform dedup --json . | jq '.groups[].files'";

/// Find parts that occur several times inside of programs: layers, and equal subterms.
///
/// A block is a run of dataflow nodes with several copies, like a layer of a model: the
/// same operators and attributes in the same order, with the same wiring. The values
/// that enter a copy and the elements of constants may differ: a function that replaced
/// the copies would take them as parameters. A subterm is a part of a program together
/// with everything it uses; copies of a subterm are equal except for the names of
/// variables, and their weights are the same. Copies may be in different files.
///
/// For each group the first and last node, or the place, of each copy is printed.
/// Groups with the largest savings come first, and groups that only occur inside of
/// another group are left out. The page of --html shows a copy of each group.
#[derive(Args, Debug)]
#[command(after_help = CLONES_HELP)]
pub(crate) struct ClonesArgs {
    /// The models or IR files to search, or the index of a collection, whose blocks that
    /// occur in several files are printed; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The smallest number of nodes in a copy, without nodes shared by the copies of a
    /// subterm.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) min_size: usize,
    /// The smallest number of copies.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) min_count: usize,
    /// The largest number of groups to print, for blocks and for subterms.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max: usize,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Replace the file of --html if it exists.
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
}

const CLONES_HELP: &str = "\
Exit status:
  0  every file was searched, whether or not something repeats
  2  a file could not be read; the others were searched anyway

JSON (--json), one object:
  {\"blocks\": [GROUP...], \"subterms\": [GROUP...],
   \"programs\": [{\"file\": NAME, \"places\": [TEXT...]}...],
   \"counts\": {\"programs\": COUNT, \"blocks\": COUNT, \"subterms\": COUNT},
   \"failed\": [{\"file\": NAME, \"error\": MESSAGE}...]}
  GROUP is {\"size\": COUNT, \"saved\": COUNT, \"text\": TEXT, \"places\": [PLACE...]}, where
    `saved` counts the nodes that would go if calls of a function replaced the copies
  For an index: {\"blocks\": [{\"digest\": HEX, \"size\": COUNT, \"files\": [{\"file\": NAME,
    \"count\": COUNT}...]}...], \"counts\": {\"blocks\": COUNT}}
  PLACE is {\"file\": NAME, \"ends\": [TEXT...], \"paths\": [TEXT or null...]}, the first and
    the last node of a block, or the subterm. Paths of models name nodes, as in
    \"<node 7 of 'main'>\", counted from 0 as in the file. Those of IR files begin at \"<root>\", or
    after more than 64 steps at \"<N>\", the text at position N of the program's \"places\"
  `counts` are those of all groups, printed or not.

Examples:
  isoform clones model.onnx
  isoform clones --min-size 20 --max 3 model.onnx
  isoform clones teacher.onnx student.onnx
  isoform clones --html layers.html model.onnx
  isoform clones --json model.onnx | jq '.blocks[0].places | length'";

/// Convert a file to another format: a JSON graph, text, binary, or an ONNX model.
///
/// All formats preserve the value and its sharing, so the digest stays the same. The
/// format of the target is determined by its name, .json, .iso or .txt for text, .isob or
/// .bin for binary, .onnx for a model, or by --to. The target is written completely or not
/// at all, and an existing file is replaced only with --force. An ONNX model is read as its
/// program, and only programs of models can be written as ONNX models. The metadata of a
/// JSON graph is kept if the target is a JSON graph.
#[derive(Args, Debug)]
#[command(after_help = CONVERT_HELP)]
pub(crate) struct ConvertArgs {
    /// The file to read; - is standard input.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// The file to write; - is standard output.
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
    /// The format to write.
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) to: Option<TargetForm>,
    /// Replace the target if it exists.
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) text: TextArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

const CONVERT_HELP: &str = "\
Exit status:
  0  the target was written
  2  the source could not be read, or the target not be written; it is unchanged

JSON (--json), one object:
  {\"file\": NAME, \"to\": NAME, \"form\": \"json\", \"text\", \"binary\" or \"onnx\", \"bytes\": COUNT}
  For a model also \"external\": [NAME...], the files of external data
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform convert module.json module.iso
  isoform convert model.isob model.onnx
  isoform convert --external-data model.onnx large.onnx
  isoform convert --force --to text --width 80 module.isob notes/module
  isoform convert module.json - --to binary | isoform hash -";

/// List the passes that `isoform run` knows, with their options.
///
/// A pass is printed with its level, the required passes, and its options with their
/// types and defaults.
#[derive(Args, Debug)]
#[command(after_help = PASSES_HELP)]
pub(crate) struct PassesArgs {}

const PASSES_HELP: &str = "\
Exit status:
  0  the passes were listed

JSON (--json), one object per line and pass:
  {\"name\": NAME, \"opt_level\": NUMBER or null, \"required\": [NAME...], \"doc\": TEXT,
   \"options\": [{\"name\": NAME, \"type\": TEXT, \"default\": TEXT or null}...]}

Examples:
  isoform passes
  isoform passes --import my_passes.py
  isoform passes --json | jq -r .name";

/// How passes run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Passes")]
pub(crate) struct PipelineArgs {
    /// The level of optimization: passes of higher levels are skipped, with a note on
    /// standard error.
    #[arg(long, value_name = "LEVEL", default_value_t = 2)]
    pub(crate) opt_level: i64,
    /// Skip a pass; may be given several times.
    #[arg(long, value_name = "PASS")]
    pub(crate) disable: Vec<String>,
    /// Set an option for passes; may be given several times. A value is written as in a
    /// pipeline.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Check the program after each pass, and check that no pass changes its input in
    /// place.
    #[arg(long)]
    pub(crate) verify: bool,
}

/// Apply passes to a program.
///
/// PIPELINE lists passes with their options, like
/// `FoldConstant,FuseOps{depth=1},(A,B)`; parentheses make a separate sequence. `@NAME`
/// reads the text from a file. The result is printed like in `isoform show`, or written
/// with --output. The page of --html shows what each pass changed.
#[derive(Args, Debug)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The passes, or @ and the name of a file with them.
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: String,
    /// The program: an ONNX model or IR file; - is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The file to write; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// The format to write; by default the format given by the name, and text for
    /// people on standard output.
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) to: Option<TargetForm>,
    /// Replace the output, and the file of --html, if they exist.
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print the time of each pass and its changes, as diffs, instead of the result.
    #[arg(long)]
    pub(crate) changes: bool,
    /// Print at most this many lines of each diff, cut to the width of --width.
    #[arg(long, value_name = "LINES", requires = "changes")]
    pub(crate) limit: Option<usize>,
    /// Print how long each pass takes on standard error.
    #[arg(long)]
    pub(crate) timing: bool,
    /// Write the input of a pass that fails, and the pass, to this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) reproducer: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passes: PipelineArgs,
    #[command(flatten)]
    pub(crate) text: TextArgs,
}

const RUN_HELP: &str = "\
Exit status:
  0  the passes were applied
  2  the pipeline is wrong, a pass failed, or a file could not be read or written

Ctrl-C ends the command at once, as status 130 of a shell; the output is left as it was.

JSON (--json) with --output, one object:
  {\"file\": NAME, \"to\": NAME, \"form\": \"json\", \"text\", \"binary\" or \"onnx\", \"bytes\": COUNT}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform run 'onnx.Simplify{fuse=true}' model.onnx -o smaller.onnx
  isoform run pto.simplify,pto.cse kernel.json -o smaller.json
  isoform run --changes --limit 20 --width 80 pto.simplify kernel.json
  isoform run --html passes.html pto.simplify,pto.cse kernel.json -o smaller.json
  isoform run --import my_passes.py Shrink,pto.cse kernel.json
  isoform run --reproducer failures pto.cse kernel.json
  isoform run @failures/pto.cse-000.pipeline failures/pto.cse-000.json";

/// Find the pass, and the functions, that make a program fail a check.
///
/// COMMAND is run with the name of a file that holds a program, in the format of FILE.
/// It ends with status 0 for a good program, and with 1 to 125 for a bad program; any
/// other status, or a signal, ends the search with an error. The command has to accept
/// FILE and reject the result of the whole pipeline. The search finds the first pass
/// after which the command fails, and then a smallest set of functions changed by this
/// pass. The page of --html shows the changes of the pass, and what the command said.
#[derive(Args, Debug)]
#[command(after_help = BISECT_HELP)]
pub(crate) struct BisectArgs {
    /// The passes, or @ and the name of a file with them.
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: String,
    /// The program: an IR file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The command and its arguments; the name of a file is added.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Replace the file of --html if it exists.
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) passes: PipelineArgs,
}

const BISECT_HELP: &str = "\
Exit status:
  0  the pass was found
  2  error: there is nothing to find, a pass failed, or a file could not be read

JSON (--json), one object:
  {\"pass\": NAME, \"position\": COUNT of passes before it, \"functions\": [NAME...],
   \"checks\": COUNT, \"changes\": TEXT}
  On error: {\"file\": NAME, \"error\": MESSAGE}

Examples:
  isoform bisect pto.simplify,pto.cse kernel.json -- ./still_correct.sh
  isoform bisect --html guilty.html pto.simplify,pto.cse kernel.json -- ./still_correct.sh";

/// Print a completion script for a shell.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell that will read the script.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

const COMPLETIONS_HELP: &str = "\
Exit status:
  0  the script was printed

Examples:
  isoform completions bash > ~/.local/share/bash-completion/completions/isoform
  isoform completions zsh > ~/.zfunc/_isoform
  isoform completions fish > ~/.config/fish/completions/isoform.fish";

/// Options of all commands.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Ignore the contents of weights.
    ///
    /// The elements of tensors are ignored, both in initializers and in attributes, for
    /// example the value of a Constant node. Everything else is still compared: element
    /// types and shapes, operators, wiring, types, tensors of strings, and all numbers
    /// and strings in attributes that are not tensors. The elements of tensors that
    /// control a computation, like the target of a Reshape, are ignored, too. Files of
    /// external data are not read, and may be missing.
    #[arg(long, global = true)]
    pub(crate) architecture: bool,
    /// Compare the names of the graph's inputs and outputs, and in MLIR those of arguments and
    /// results.
    ///
    /// Callers feed and fetch by these names. By default, inputs and outputs are identified
    /// by position alone. In MLIR the names are attributes such as `jax.result_info`; the
    /// names of values never count.
    #[arg(long, global = true)]
    pub(crate) io_names: bool,
    #[command(flatten)]
    pub(crate) mlir: MlirLevelArgs,
    /// Also read external data and shards through a symbolic link that leads out of the
    /// model's folder.
    ///
    /// Caches of downloaded models, for example from Hugging Face, consist of links
    /// like this. They are refused by default, because the author of a model could
    /// otherwise make the command read any of your files.
    #[arg(long, global = true)]
    pub(crate) follow_links: bool,
    /// Import a Python module or file first: its passes and node types are then known.
    ///
    /// MODULE is the name of a module, which is also searched for in the current folder, or
    /// the name of a file that ends with .py. May be given several times, before and after the
    /// command. Only the command of the Python package, `python -m isoform`, can import
    /// modules.
    ///
    /// Modules that `import` under `[tool.isoform]` of the project's pyproject.toml names, and
    /// installed packages with entry points of the group `isoform.types`, are imported when
    /// a file names an unknown type, without this option.
    #[arg(long, global = true, value_name = "MODULE")]
    pub(crate) import: Vec<String>,
    /// Import nothing that pyproject.toml or an installed package names; use this in folders
    /// of other people.
    #[arg(long, global = true)]
    pub(crate) no_config: bool,
    /// The origin of unknown types.
    #[arg(skip)]
    pub(crate) types: TypeSources,
    /// Print JSON for other programs; the help of each command describes the form.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour; `auto` means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto)]
    pub(crate) color: ColorWhen,
    /// Print less: no progress, no notes and summaries; nothing at all from `diff`.
    ///
    /// Failures are still reported on standard error.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}
