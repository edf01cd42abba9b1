//! The changes that each pass of a pipeline made.

use hashbrown::{HashMap, HashSet};
use isoform::compare::DiffOptions;
use isoform::{Map, Ref, Result, Str};
use rapidhash::fast::RandomState;

use super::{DumpMoment, PassDump};
use crate::extract::symbol_name;
use crate::nodes::{Block, Label, Operation, Program, Region};
use crate::report::{OperationPairs, Report};

/// The pass before an operation that every dump has: the module without its operations.
const MODULE: &str = "";

/// The dumps of a pipeline, and the changes between them.
///
/// A pass on functions is compared function by function with the latest dump of each, so that
/// dumps of modules and of single functions may alternate.
///
/// ```
/// let text = r#"
/// // -----// IR Dump After A (a) //----- //
/// func.func @f() { "x.y"() : () -> () return }
/// // -----// IR Dump After B (b) //----- //
/// func.func @f() { return }
/// // -----// IR Dump After C (c) //----- //
/// func.func @f() { return }"#;
/// let history = isoform_mlir::PassHistory::new(&isoform_mlir::read_dumps(text)?)?;
/// let texts: Vec<String> = history.steps.iter().map(|step| step.summary()).collect();
/// assert_eq!(texts, ["first dump", "@f: 1 operation removed", "nothing"]);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct PassHistory {
    /// A step for each dump.
    pub steps: Vec<PassStep>,
}

/// A dump, compared with the dumps before it.
#[derive(Debug)]
#[non_exhaustive]
pub struct PassStep {
    /// The name of the pass; empty for a text without a pass.
    pub pass: String,
    /// The name of the pass on the command line, or empty.
    pub argument: String,
    /// When the dump was printed.
    pub moment: DumpMoment,
    /// The line of the text before the dump.
    pub line: usize,
    /// True if nothing of the dump was known before.
    pub is_first: bool,
    /// The functions and other symbols that differ from their latest dumps.
    pub changes: Vec<UnitChange>,
}

/// A function, another operation with a symbol, or the module itself, that differs.
#[derive(Debug)]
pub enum UnitChange {
    /// The symbol is new.
    Added(String),
    /// The symbol is gone.
    Removed(String),
    /// The operation of the symbol changed; an empty symbol is the module without the
    /// operations in it.
    Changed(String, Report),
}

/// The origin of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OperationHistory {
    /// The symbol of the operation around it.
    pub symbol: String,
    /// The line of the operation in the last dump.
    pub text: String,
    /// The step that has the operation first, by its position.
    pub origin: usize,
    /// The steps that changed the operation itself later.
    pub changed: Vec<usize>,
}

/// The latest dump of a symbol.
struct Unit {
    program: Ref<Program>,
    /// The steps of each operation: the first one with the operation, and the steps that
    /// changed the operation later.
    origins: HashMap<u64, (usize, Vec<usize>), RandomState>,
}

impl PassHistory {
    /// Compares dumps. Linear in the dumps, apart from the comparison of what differs.
    ///
    /// # Errors
    ///
    /// As [`isoform::compare::diff`] and [`Report::new`].
    pub fn new(dumps: &[PassDump]) -> Result<PassHistory> {
        Ok(History::of(dumps, false)?.0)
    }

    /// The origin of each operation of this name in the last dumps.
    ///
    /// # Errors
    ///
    /// As [`PassHistory::new`].
    pub fn origins(dumps: &[PassDump], name: &str) -> Result<Vec<OperationHistory>> {
        let (_, units) = History::of(dumps, true)?;
        let mut found = Vec::new();
        for (symbol, unit) in units {
            let options = crate::WriteOptions::default().max_elements(8);
            let text = crate::ProgramText::new(&unit.program, options)?;
            for operation in operations_of(&unit.program) {
                if operation.name != name {
                    continue;
                }
                if let Some((origin, changed)) = unit.origins.get(&operation.identity()) {
                    found.push(OperationHistory {
                        symbol: symbol.clone(),
                        text: text.line(&operation).unwrap_or_default().to_owned(),
                        origin: *origin,
                        changed: changed.clone(),
                    });
                }
            }
        }
        Ok(found)
    }

    /// The steps of passes that changed nothing, by their positions.
    pub fn idle(&self) -> impl Iterator<Item = usize> {
        let steps = self.steps.iter().enumerate();
        steps.filter_map(|(at, step)| {
            let is_idle = step.moment == DumpMoment::After && !step.is_first;
            (is_idle && step.changes.is_empty()).then_some(at)
        })
    }
}

impl PassStep {
    /// The changes in one line: `nothing`, `@f: 2 operations removed; added @g`.
    pub fn summary(&self) -> String {
        if self.is_first {
            return "first dump".to_owned();
        }
        if self.changes.is_empty() {
            return "nothing".to_owned();
        }
        let texts = self.changes.iter().map(|change| match change {
            UnitChange::Added(symbol) => format!("added @{symbol}"),
            UnitChange::Removed(symbol) => format!("removed @{symbol}"),
            UnitChange::Changed(symbol, report) if symbol == MODULE => {
                format!("the module: {}", report.summary())
            }
            UnitChange::Changed(symbol, report) => format!("@{symbol}: {}", report.summary()),
        });
        texts.collect::<Vec<_>>().join("; ")
    }
}

struct History {
    units: HashMap<String, Unit, RandomState>,
    /// The symbols in the order of their first dumps.
    order: Vec<String>,
    with_origins: bool,
}

impl History {
    fn of(dumps: &[PassDump], with_origins: bool) -> Result<(PassHistory, Vec<(String, Unit)>)> {
        let mut history = History {
            units: HashMap::default(),
            order: Vec::new(),
            with_origins,
        };
        let mut steps = Vec::with_capacity(dumps.len());
        for (at, dump) in dumps.iter().enumerate() {
            steps.push(history.step(dump, at)?);
        }
        let mut units = history.units;
        let order = history.order.into_iter();
        let units = order
            .filter_map(|symbol| units.remove_entry(&symbol))
            .collect();
        Ok((PassHistory { steps }, units))
    }

    fn step(&mut self, dump: &PassDump, at: usize) -> Result<PassStep> {
        let units = units_of(&dump.program);
        // The module of a dump of a function is not a part of the program.
        let is_whole = !dump.is_part();
        let mut changes = Vec::new();
        let mut is_first = true;
        let symbols: HashSet<String, RandomState> =
            units.iter().map(|(symbol, _)| symbol.clone()).collect();
        for (symbol, program) in units {
            if symbol == MODULE && !is_whole {
                continue;
            }
            let is_empty = self.units.is_empty();
            let Some(known) = self.units.get_mut(&symbol) else {
                if !is_empty && symbol != MODULE && is_whole && self.units.contains_key(MODULE) {
                    changes.push(UnitChange::Added(symbol.clone()));
                }
                let mut unit = Unit {
                    program,
                    origins: HashMap::default(),
                };
                if self.with_origins {
                    let operations = operations_of(&unit.program);
                    let origins = operations
                        .iter()
                        .map(|it| (it.identity(), (at, Vec::new())));
                    unit.origins = origins.collect();
                }
                self.order.push(symbol.clone());
                self.units.insert(symbol, unit);
                continue;
            };
            is_first = false;
            if let Some(report) = known.advance(program, at, self.with_origins)? {
                changes.push(UnitChange::Changed(symbol, report));
            }
        }
        if is_whole {
            let order = std::mem::take(&mut self.order).into_iter();
            let (kept, gone) = order.partition(|known| symbols.contains(known));
            self.order = kept;
            for symbol in gone {
                self.units.remove(&symbol);
                changes.push(UnitChange::Removed(symbol));
            }
        }
        Ok(PassStep {
            pass: dump.pass.clone(),
            argument: dump.argument.clone(),
            moment: dump.moment,
            line: dump.line,
            is_first: is_first && changes.is_empty(),
            changes,
        })
    }
}

impl Unit {
    /// Goes on to the next dump; None if it is equal.
    fn advance(
        &mut self,
        program: Ref<Program>,
        at: usize,
        with_origins: bool,
    ) -> Result<Option<Report>> {
        let difference = DiffOptions::default().diff(&self.program, &program)?;
        if !with_origins && difference.is_empty() {
            return Ok(None);
        }
        let report = Report::new(&difference)?;
        if with_origins {
            let pairs = OperationPairs::new(&difference, [&self.program, &program]);
            let mut origins: HashMap<u64, (usize, Vec<usize>), RandomState> = HashMap::default();
            for operation in operations_of(&program) {
                let before = pairs.on_left(&operation);
                let known = before.and_then(|before| self.origins.get(&before.identity()));
                let mut origin = known.cloned().unwrap_or((at, Vec::new()));
                let is_changed = report.is_changed(&operation);
                if known.is_some() && is_changed {
                    origin.1.push(at);
                }
                origins.insert(operation.identity(), origin);
            }
            self.origins = origins;
        }
        self.program = program;
        Ok((!difference.is_empty()).then_some(report))
    }
}

/// The module without its operations, and each operation in a module of its own, with its symbol.
/// Operations without a symbol stay in the module.
fn units_of(program: &Ref<Program>) -> Vec<(String, Ref<Program>)> {
    let mut units = Vec::new();
    let mut rest: Vec<Ref<Operation>> = Vec::new();
    for operation in program.module.inner() {
        match symbol_name(operation) {
            Some(symbol) => {
                let only = Operation::new(program.module.name.clone(), []);
                let only = only.with_regions([region_of(vec![operation.clone()])]);
                units.push((symbol.to_string(), Program::new(only)));
            }
            None => rest.push(operation.clone()),
        }
    }
    let module = program.module.clone().with_regions([region_of(rest)]);
    let no_resources: Map<Str, _> = Map::new();
    let module = Program::new(module).with_resources(no_resources);
    units.insert(0, (MODULE.to_owned(), module));
    units
}

fn region_of(operations: Vec<Ref<Operation>>) -> Ref<Region> {
    Region::new([Block::new(Label::new(), [], operations)])
}

/// All operations inside of the module, in the order of the text.
fn operations_of(program: &Program) -> Vec<Ref<Operation>> {
    let mut operations = Vec::new();
    let mut open = vec![program.module.clone()];
    while let Some(operation) = open.pop() {
        open.extend(operation.inner().rev().cloned());
        operations.push(operation);
    }
    operations.remove(0);
    operations
}
