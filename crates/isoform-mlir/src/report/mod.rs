//! Differences of programs, told operation by operation.
//!
//! | file | job |
//! |---|---|
//! | `pairs.rs` | the operations that correspond |
//! | `sites.rs` | the operation and the part of it that a change concerns |
//! | `words.rs` | sentences about operations |

pub(crate) mod pairs;
mod sites;
mod words;

use hashbrown::{HashMap, HashSet};
use isoform::compare::{ChangeKind, Difference};
use isoform::{Error, Ref, Result};
use rapidhash::fast::RandomState;

use crate::nodes::{Operation, Program};
use crate::write::{ProgramText, WriteOptions};
pub(crate) use pairs::OperationPairs;
use sites::{ChangeSite, Part};
use words::Words;

/// The number of elements of constants that sentences show.
const ELEMENTS: usize = 8;

/// The differences of two programs as sentences about operations.
///
/// ```
/// use isoform_mlir::{OperationChangeKind, Report};
///
/// let program = |name: &str| isoform_mlir::read(format!(r#"
///     func.func @main(%x: f32) -> f32 {{
///       %y = "{name}"(%x, %x) : (f32, f32) -> f32
///       return %y : f32
///     }}"#));
/// let difference = isoform::compare::diff(program("arith.addf")?, program("arith.mulf")?)?;
/// let report = Report::new(&difference)?;
/// assert_eq!(report.changes[0].kind, OperationChangeKind::Changed);
/// assert_eq!(report.changes[0].text, "arith.addf became arith.mulf, in @main");
/// assert_eq!(report.summary(), "1 operation changed");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Report {
    /// The changes, in the order of the programs; operations with the same sentence are one.
    pub changes: Vec<OperationChange>,
    /// The identities of the operations on the right that differ themselves.
    changed: HashSet<u64, RandomState>,
}

/// How an operation differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationChangeKind {
    /// The operation is on both sides.
    Changed,
    /// The operation is on the left alone.
    Removed,
    /// The operation is on the right alone.
    Added,
    /// The operation is at another place on the right.
    Moved,
}

impl OperationChangeKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            OperationChangeKind::Changed => "changed",
            OperationChangeKind::Removed => "removed",
            OperationChangeKind::Added => "added",
            OperationChangeKind::Moved => "moved",
        }
    }
}

/// Operations that differ in the same way.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationChange {
    /// How they differ.
    pub kind: OperationChangeKind,
    /// The sentence.
    pub text: String,
    /// The lines of the first operation on the left and on the right, as far as it is there.
    pub lines: [Option<String>; 2],
    /// True if the lines have nothing to add to the sentence.
    pub is_complete: bool,
    /// The numbers of these lines in the texts that [`write()`](crate::write()) makes.
    pub line_numbers: [Option<usize>; 2],
    /// The number of operations.
    pub count: usize,
    /// The positions in [`Difference::changes`] of the changes of the operations.
    pub changes: Vec<usize>,
}

/// An operation on both sides, or on one, with the parts that changed.
struct ChangedOperation {
    kind: OperationChangeKind,
    sides: [Option<Ref<Operation>>; 2],
    parts: Vec<Part>,
    changes: Vec<usize>,
    /// The places at which a change occurs, if not all are listed: those of a shared type.
    places: u64,
}

impl ChangedOperation {
    /// True if a sentence tells both sides of everything that changed.
    fn is_complete(&self) -> bool {
        let is_told = |part: &Part| matches!(part, Part::Entry { .. } | Part::Result(_));
        self.kind == OperationChangeKind::Changed && self.parts.iter().all(is_told)
    }
}

impl Report {
    /// Tells the difference of two programs. Linear in the programs and the changes, apart
    /// from the length of sentences.
    ///
    /// # Errors
    ///
    /// `TypeError` if a side is not a [`Program`]; as [`write()`](crate::write()).
    pub fn new(difference: &Difference) -> Result<Report> {
        let left = program_of(difference.left())?;
        let right = program_of(difference.right())?;
        if difference.is_empty() {
            return Ok(Report {
                changes: Vec::new(),
                changed: HashSet::default(),
            });
        }
        let options = WriteOptions::default().max_elements(ELEMENTS);
        let texts = [
            ProgramText::new(&left, options)?,
            ProgramText::new(&right, options)?,
        ];
        let pairs = OperationPairs::new(difference, [&left, &right]);
        let words = Words::new(texts, &pairs);
        let operations = changed_operations(difference, &pairs);
        let rights = operations
            .iter()
            .filter_map(|operation| operation.sides[1].as_ref());
        let changed = rights.map(Ref::identity).collect();
        let mut changes: Vec<OperationChange> = Vec::new();
        let mut known: HashMap<(u8, String), usize, RandomState> = HashMap::default();
        for operation in operations {
            let sentence = words.sentence(&operation, difference);
            let key = (operation.kind as u8, sentence.text);
            if let Some(&at) = known.get(&key) {
                changes[at].count += 1;
                changes[at].changes.extend(operation.changes);
                continue;
            }
            let (lines, line_numbers) = words.lines(&operation);
            changes.push(OperationChange {
                kind: operation.kind,
                text: key.1.clone() + &sentence.place,
                lines,
                is_complete: operation.is_complete(),
                line_numbers,
                count: 1,
                changes: operation.changes,
            });
            known.insert(key, changes.len() - 1);
        }
        for change in &mut changes {
            change.changes.sort_unstable();
            change.changes.dedup();
            if change.count > 1 {
                change.text = format!("{}, and {} more", change.text, change.count - 1);
            }
        }
        Ok(Report { changes, changed })
    }

    /// True if an operation on the right differs from the one on the left, apart from the
    /// operations inside.
    pub(crate) fn is_changed(&self, operation: &Ref<Operation>) -> bool {
        self.changed.contains(&operation.identity())
    }

    /// The numbers of operations by kind: `2 operations changed, 1 added`; empty for equal
    /// programs.
    pub fn summary(&self) -> String {
        use OperationChangeKind::{Added, Changed, Moved, Removed};
        let count = |kind| {
            let changes = self.changes.iter().filter(|change| change.kind == kind);
            changes.map(|change| change.count).sum::<usize>()
        };
        let counts = [Changed, Removed, Added, Moved].map(|kind| (kind.name(), count(kind)));
        let mut parts: Vec<String> = Vec::new();
        for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            let noun = match (parts.is_empty(), count) {
                (true, 1) => " operation",
                (true, _) => " operations",
                (false, _) => "",
            };
            parts.push(format!("{count}{noun} {name}"));
        }
        parts.join(", ")
    }
}

fn program_of(value: &isoform::Value) -> Result<Ref<Program>> {
    value.extract::<Ref<Program>>().map_err(|_| {
        let got = value.type_name();
        Error::type_error(format!("expected a difference of mlir.Program, got {got}"))
    })
}

/// The operations that changes concern, in the order of the changes.
fn changed_operations(difference: &Difference, pairs: &OperationPairs) -> Vec<ChangedOperation> {
    let mut operations: Vec<ChangedOperation> = Vec::new();
    let mut known: HashMap<[Option<u64>; 2], usize, RandomState> = HashMap::default();
    let mut told: HashSet<(usize, Part), RandomState> = HashSet::default();
    for (number, change) in difference.changes().iter().enumerate() {
        for (left, right) in change.places() {
            let kind = change.kind();
            let sides = [
                (kind != ChangeKind::Inserted).then_some(left),
                (kind != ChangeKind::Deleted).then_some(right),
            ];
            let sites = sides.map(|place| place.map(|place| ChangeSite::of(&place)));
            let Some(site) = sites[1].as_ref().or(sites[0].as_ref()) else {
                continue;
            };
            let part = site.part.clone();
            let mut operation = sites
                .each_ref()
                .map(|site| site.as_ref().and_then(|site| site.operation.clone()));
            let operation_kind = if part == Part::Operation {
                match kind {
                    ChangeKind::Inserted => OperationChangeKind::Added,
                    ChangeKind::Deleted => OperationChangeKind::Removed,
                    ChangeKind::Moved => OperationChangeKind::Moved,
                    _ => OperationChangeKind::Changed,
                }
            } else {
                pairs.complete(&mut operation);
                OperationChangeKind::Changed
            };
            let key = operation
                .each_ref()
                .map(|side| side.as_ref().map(Ref::identity));
            let at = *known.entry(key).or_insert_with(|| {
                operations.push(ChangedOperation {
                    kind: operation_kind,
                    sides: operation,
                    parts: Vec::new(),
                    changes: Vec::new(),
                    places: 1,
                });
                operations.len() - 1
            });
            let known = &mut operations[at];
            if told.insert((at, part.clone())) {
                known.parts.push(part);
            }
            if known.changes.last() != Some(&number) {
                known.changes.push(number);
            }
            if change.count() > change.places().len() as u64 {
                known.places = known.places.max(change.count());
            }
        }
    }
    // Lists of symbols, labels and early values follow from the operations.
    let is_told = |operation: &ChangedOperation| operation.parts != [Part::Derived];
    if operations.iter().any(is_told) {
        operations.retain(is_told);
    }
    operations
}
