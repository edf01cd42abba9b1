//! Dumps of a pass pipeline, as `-mlir-print-ir-after-all` prints them.
//!
//! | file | job |
//! |---|---|
//! | `mod.rs` | the dumps of a text |
//! | `history.rs` | the changes that each pass made |

mod history;

pub use history::{OperationHistory, PassHistory, PassStep, UnitChange};

use isoform::{Error, Ref, Result};

use crate::extract::symbol_name;
use crate::nodes::{Operation, Program};
use crate::read::ReadOptions;

/// The beginning of the line before a dump.
const MARK: &[u8] = b"// -----// IR Dump ";
/// The end of the line.
const END: &[u8] = b" //----- //";

/// When a dump was printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DumpMoment {
    /// Before the pass ran.
    Before,
    /// After the pass.
    After,
    /// After the pass failed.
    Failed,
    /// Without a pass: the text before the first dump and the result after the last one.
    Text,
}

/// A dump of a pass pipeline.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PassDump {
    /// The name of the pass: `Canonicalizer`; empty without a pass.
    pub pass: String,
    /// Its name on the command line: `canonicalize`; empty if the dump lacks it.
    pub argument: String,
    /// When the dump was printed.
    pub moment: DumpMoment,
    /// The line of the text before the dump, counted from 1.
    pub line: usize,
    /// The program. If the pass ran on a function, the function alone is in a module. Symbols
    /// are names.
    pub program: Ref<Program>,
}

impl PassDump {
    /// True for a function or another operation with a symbol alone, on which a pass ran.
    pub fn is_part(&self) -> bool {
        let module = &self.program.module;
        let blocks = module
            .regions
            .iter()
            .flat_map(|region| region.blocks.iter());
        let mut operations = blocks.flat_map(|block| block.operations.iter());
        let only = operations.next().filter(|_| operations.next().is_none());
        module.properties.is_empty()
            && module.attributes.is_empty()
            && only.is_some_and(|only| symbol_name(only).is_some())
    }
}

/// Reads the dumps of a text. Linear in the text.
///
/// ```
/// let text = r#"
/// // -----// IR Dump After CSE (cse) //----- //
/// module { func.func @f() { return } }
/// // -----// IR Dump After InlinerPass: inline{max-iterations=4} //----- //
/// module {}"#;
/// let dumps = isoform_mlir::read_dumps(text)?;
/// assert_eq!(dumps[0].pass, "CSE");
/// assert_eq!(dumps[1].argument, "inline");
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` for a text without dumps, and as [`read`](crate::read()), with the line in the
/// whole text.
pub fn read_dumps(text: impl AsRef<[u8]>) -> Result<Vec<PassDump>> {
    match read_dumps_so_far(text) {
        (dumps, None) => Ok(dumps),
        (_, Some(error)) => Err(error),
    }
}

/// As [`read_dumps`], with the dumps before the first mistake, for the output of a compiler that
/// crashed. Lines of diagnostics, `FILE:1:2: error: …`, are skipped.
pub fn read_dumps_so_far(text: impl AsRef<[u8]>) -> (Vec<PassDump>, Option<Error>) {
    let mut dumps = Vec::new();
    let text = without_diagnostics(text.as_ref());
    let error = add_dumps(&text, &mut dumps).err();
    (dumps, error)
}

fn add_dumps(text: &[u8], dumps: &mut Vec<PassDump>) -> Result<()> {
    let options = ReadOptions::default().symbol_names(true);
    let mut header = Header::none();
    // The dump begins after its header.
    let (mut start, mut line_start, mut line) = (0, 0, 0);
    for content in text.split_inclusive(|&byte| byte == b'\n') {
        line += 1;
        if let Some(next) = Header::read(content.trim_ascii(), line) {
            header.finish(&options, text, start..line_start, dumps)?;
            header = next;
            start = line_start + content.len();
        }
        line_start += content.len();
    }
    if start == 0 {
        return Err(Error::value_error(
            "expected dumps of passes, which lines '// -----// IR Dump After PASS //----- //' \
             separate; mlir-opt prints them with -mlir-print-ir-after-all -mlir-print-op-generic",
        ));
    }
    header.finish(&options, text, start..text.len(), dumps)
}

/// The text with spaces in place of diagnostics, and of the lines of the source after them.
fn without_diagnostics(text: &[u8]) -> Vec<u8> {
    let mut cleared = text.to_vec();
    let mut lines: Vec<std::ops::Range<usize>> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        lines.push(start..start + line.trim_ascii_end().len());
        start += line.len();
    }
    for (at, line) in lines.iter().enumerate() {
        if !is_diagnostic(&text[line.clone()]) {
            continue;
        }
        let is_caret = |line: &std::ops::Range<usize>| {
            let marks = text[line.clone()].trim_ascii();
            !marks.is_empty() && marks.iter().all(|byte| b"^~ ".contains(byte))
        };
        let count = if lines.get(at + 2).is_some_and(is_caret) {
            3
        } else {
            1
        };
        for line in &lines[at..at + count] {
            cleared[line.clone()].fill(b' ');
        }
    }
    cleared
}

/// True for a line `FILE:LINE:COLUMN: SEVERITY: …`. Programs have such a text in strings alone, which
/// begin with a quote on the same line.
fn is_diagnostic(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    ["error", "warning", "remark", "note"]
        .iter()
        .any(|severity| {
            let Some((place, _)) = text.split_once(&format!(": {severity}: ")) else {
                return false;
            };
            let mut numbers = place.rsplit(':').take(2);
            !place.contains('"')
                && place.matches(':').count() >= 2
                && numbers.all(|number| number.parse::<u32>().is_ok())
        })
}

/// The line before a dump.
struct Header {
    pass: String,
    argument: String,
    moment: DumpMoment,
    line: usize,
}

impl Header {
    fn none() -> Header {
        Header {
            pass: String::new(),
            argument: String::new(),
            moment: DumpMoment::Text,
            line: 0,
        }
    }

    /// Reads a line: `// -----// IR Dump After CSE (cse) ('func.func' operation: @f) //----- //`, or
    /// in newer versions `// -----// IR Dump After CSEPass: cse{max=1} //----- //`.
    fn read(line: &[u8], number: usize) -> Option<Header> {
        let rest = line.strip_prefix(MARK)?.strip_suffix(END)?;
        let rest = String::from_utf8_lossy(rest);
        let (moment, rest) = rest.split_once(' ')?;
        let moment = match moment {
            "Before" => DumpMoment::Before,
            "After" => DumpMoment::After,
            _ => return None,
        };
        // The operation is what the dump holds.
        let rest = rest.split_once(" ('").map_or(rest, |(rest, _)| rest);
        // `CSE (cse) Failed`, `CSE Failed (cse)` and `CSEPass Failed: cse` have all been printed.
        let (rest, is_last) = match rest.strip_suffix(" Failed") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let in_brackets = rest
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once(" ("));
        let (pass, argument) = match (in_brackets, rest.split_once(": ")) {
            (Some(both), _) => both,
            (None, Some((pass, pipeline))) => {
                let argument = pipeline.split(['{', ' ']).next();
                (pass, argument.unwrap_or_default())
            }
            (None, None) => (rest, ""),
        };
        let failed = [
            pass.strip_suffix(" Failed"),
            argument.strip_suffix(" Failed"),
        ];
        let moment = match failed {
            [None, None] if !is_last => moment,
            _ => DumpMoment::Failed,
        };
        let (pass, argument) = (failed[0].unwrap_or(pass), failed[1].unwrap_or(argument));
        Some(Header {
            pass: pass.to_owned(),
            argument: argument.to_owned(),
            moment,
            line: number,
        })
    }

    /// Adds the dump in these bytes of the text.
    fn finish(
        self,
        options: &ReadOptions,
        text: &[u8],
        bytes: std::ops::Range<usize>,
        dumps: &mut Vec<PassDump>,
    ) -> Result<()> {
        let has_text = !text[bytes.clone()].trim_ascii().is_empty();
        if self.moment == DumpMoment::Text && !has_text {
            return Ok(());
        }
        let program = options.read_part(&text[..bytes.end], bytes.start)?;
        let modules = modules_of(&program);
        let result = modules.get(1).cloned();
        dumps.push(PassDump {
            pass: self.pass,
            argument: self.argument,
            moment: self.moment,
            line: self.line,
            program: match modules.into_iter().next() {
                Some(first) if result.is_some() => Program::new(first),
                _ => program,
            },
        });
        if let Some(result) = result {
            // A tool prints its result after the last dump, without a line between them.
            dumps.push(PassDump {
                pass: String::new(),
                argument: String::new(),
                moment: DumpMoment::Text,
                line: self.line,
                program: Program::new(result),
            });
        }
        Ok(())
    }
}

/// The modules of a text that consists of modules.
fn modules_of(program: &Program) -> Vec<Ref<Operation>> {
    let mut operations = program.module.inner();
    if operations.any(|operation| operation.name != program.module.name) {
        return Vec::new();
    }
    program.module.inner().cloned().collect()
}
