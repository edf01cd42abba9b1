//! Sentences about operations that differ.

use isoform::compare::Difference;
use isoform::{Array, Obj, Ref};

use super::pairs::OperationPairs;
use super::sites::{Part, block_of, entry, operations_in};
use super::{ChangedOperation, OperationChangeKind};
use crate::extract::symbol_name;
use crate::nodes::{Operation, Symbol, SymbolRefAttr, Value};
use crate::write::ProgramText;

/// The length in bytes of a text of an attribute or type.
const LENGTH: usize = 160;

/// A sentence, and the place of its operation.
pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) place: String,
}

/// The texts from which sentences take names.
pub(super) struct Words<'p> {
    texts: [ProgramText<'p>; 2],
    pairs: &'p OperationPairs,
}

impl<'p> Words<'p> {
    pub(super) fn new(texts: [ProgramText<'p>; 2], pairs: &'p OperationPairs) -> Self {
        Words { texts, pairs }
    }

    /// The lines of the operation on both sides, and their numbers.
    pub(super) fn lines(
        &self,
        changed: &ChangedOperation,
    ) -> ([Option<String>; 2], [Option<usize>; 2]) {
        let line = |side: usize| {
            let operation = changed.sides[side].as_ref()?;
            Some(self.texts[side].line(operation)?.to_owned())
        };
        let number = |side: usize| self.texts[side].line_number(changed.sides[side].as_ref()?);
        ([line(0), line(1)], [number(0), number(1)])
    }

    pub(super) fn sentence(&self, changed: &ChangedOperation, difference: &Difference) -> Sentence {
        let side = usize::from(changed.sides[1].is_some());
        let Some(operation) = &changed.sides[side] else {
            // Outside of all operations.
            let changes = changed.changes.iter();
            let texts: Vec<String> = changes
                .map(|&number| difference.changes()[number].to_string())
                .collect();
            return Sentence {
                text: texts.join("; "),
                place: String::new(),
            };
        };
        let place = self.place(side, operation);
        let subject = subject(operation);
        let text = match changed.kind {
            OperationChangeKind::Added => format!("added {}", whole(operation)),
            OperationChangeKind::Removed => format!("removed {}", whole(operation)),
            OperationChangeKind::Moved => format!("moved {}", whole(operation)),
            OperationChangeKind::Changed => match &changed.sides {
                [Some(left), Some(right)] => self.changed(changed, [left, right]),
                _ => {
                    let parts = changed
                        .parts
                        .iter()
                        .map(|part| self.one_sided(part, side, operation));
                    let parts: Vec<String> = parts.collect();
                    format!("{subject}: {}", parts.join("; "))
                }
            },
        };
        let text = match changed.places {
            0 | 1 => text,
            places => format!("{text} ({places} places)"),
        };
        Sentence { text, place }
    }

    /// The function around an operation: `, in @main`.
    fn place(&self, side: usize, operation: &Ref<Operation>) -> String {
        let mut around = self.pairs.around(side, operation);
        let name = around.find_map(|outer| symbol_name(outer));
        name.map_or_else(String::new, |name| format!(", in @{name}"))
    }

    /// A sentence about an operation on both sides.
    fn changed(&self, changed: &ChangedOperation, sides: [&Ref<Operation>; 2]) -> String {
        let [left, right] = sides;
        let mut parts: Vec<String> = Vec::new();
        let is_renamed = left.name != right.name;
        for part in &changed.parts {
            let text = match part {
                Part::Operands => {
                    let [before, after] =
                        [0, 1].map(|side| self.values(side, &sides[side].operands));
                    format!("operands ({before}) -> ({after})")
                }
                Part::Successors => {
                    let [before, after] = [0, 1].map(|side| self.successors(side, sides[side]));
                    format!("successors [{before}] -> [{after}]")
                }
                Part::Result(position) => {
                    let noun = match left.results.len().max(right.results.len()) {
                        1 => "result type".to_owned(),
                        _ => format!("type of result {position}"),
                    };
                    let types =
                        [0, 1].map(|side| self.ty(side, sides[side].results.get(*position)));
                    noun + " " + &pair_text(types)
                }
                Part::Entry { is_property, key } => {
                    let values = sides.map(|side| entry(side, *is_property, key));
                    self.entry_text(key, values)
                }
                Part::Arguments(region, block) => {
                    let [before, after] = [0, 1].map(|side| {
                        let block = block_of(sides[side], *region, *block);
                        let values = block.map(|block| &block.arguments);
                        let types = values
                            .into_iter()
                            .flatten()
                            .map(|value| self.object(side, &value.ty));
                        types.collect::<Vec<_>>().join(", ")
                    });
                    if before == after {
                        "arguments of a block".to_owned()
                    } else {
                        format!("arguments ({before}) -> ({after})")
                    }
                }
                Part::Block(region, _) => {
                    let count = |side: &Ref<Operation>| {
                        side.regions
                            .get(*region)
                            .map_or(0, |region| region.blocks.len())
                    };
                    match sides.map(count) {
                        [before, after] if before == after => "another block".to_owned(),
                        [before, after] => format!("{before} blocks -> {after}"),
                    }
                }
                Part::Region(position) => match sides.map(|side| side.regions.len()) {
                    [before, after] if before == after => format!("another region {position}"),
                    [before, after] => format!("{before} regions -> {after}"),
                },
                Part::Other(steps) => steps.trim_start_matches('.').to_owned(),
                Part::Operation | Part::Name | Part::Derived => continue,
            };
            parts.push(text);
        }
        let subject = if is_renamed {
            format!("{} became {}", subject(left), right.name)
        } else {
            subject(left)
        };
        match (parts.is_empty(), is_renamed) {
            (true, true) => subject,
            (true, false) => format!("{subject} differs"),
            (false, _) => format!("{subject}: {}", parts.join("; ")),
        }
    }

    fn one_sided(&self, part: &Part, side: usize, operation: &Ref<Operation>) -> String {
        let verb = ["removed", "added"][side];
        match part {
            Part::Entry { is_property, key } => match entry(operation, *is_property, key) {
                Some(value) => format!("{verb} {key} = {}", self.object(side, value)),
                None => format!("{verb} {key}"),
            },
            Part::Other(steps) => format!("{verb} {}", steps.trim_start_matches('.')),
            Part::Operands => format!("{verb} operands"),
            Part::Successors => format!("{verb} successors"),
            Part::Result(_) => format!("{verb} results"),
            Part::Arguments(..) => format!("{verb} arguments of a block"),
            Part::Block(..) => format!("{verb} blocks"),
            Part::Region(_) => format!("{verb} regions"),
            Part::Operation | Part::Name | Part::Derived => verb.to_owned(),
        }
    }

    fn entry_text(&self, key: &str, values: [Option<&Ref<Obj>>; 2]) -> String {
        let [before, after] = [0, 1].map(|side| Some(self.object(side, values[side]?)));
        match (before, after) {
            (None, None) => key.to_owned(),
            (None, Some(after)) => format!("added {key} = {after}"),
            (Some(before), None) => format!("removed {key} = {before}"),
            (Some(before), Some(after)) if before != after => {
                format!("{key} = {before} -> {after}")
            }
            (Some(text), Some(_)) => match values.map(|value| value.is_some_and(is_private)) {
                [true, false] => format!("{key} = {text}, private -> public"),
                [false, true] => format!("{key} = {text}, public -> private"),
                [true, true] => format!("{key} = {text}, another symbol of this name"),
                // The difference is in the part that was cut off.
                [false, false] => format!("{key} = {text}, which differs further on"),
            },
        }
    }

    fn object(&self, side: usize, object: &Ref<Obj>) -> String {
        self.texts[side].object(object, LENGTH)
    }

    fn ty(&self, side: usize, value: Option<&Ref<Value>>) -> Option<String> {
        Some(self.object(side, &value?.ty))
    }

    fn values(&self, side: usize, values: &Array<Ref<Value>>) -> String {
        let name = |value| self.texts[side].value_name(value);
        let names = values
            .iter()
            .map(|value| name(value).unwrap_or_else(|| "?".to_owned()));
        names.collect::<Vec<_>>().join(", ")
    }

    fn successors(&self, side: usize, operation: &Operation) -> String {
        let labels = operation.successors.iter();
        let name = |label| self.texts[side].label_name(label);
        let names = labels.map(|label| name(label).unwrap_or_else(|| "?".to_owned()));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Both sides of a part that may be missing.
fn pair_text(sides: [Option<String>; 2]) -> String {
    match sides {
        [Some(before), Some(after)] => format!("{before} -> {after}"),
        [Some(before), None] => format!("{before} removed"),
        [None, Some(after)] => format!("{after} added"),
        [None, None] => String::new(),
    }
}

/// The name of an operation, with its symbol: `func.func @main`.
fn subject(operation: &Ref<Operation>) -> String {
    match symbol_name(operation) {
        Some(name) => format!("{} @{name}", operation.name),
        None => operation.name.to_string(),
    }
}

/// The name of an operation, and how much is in it.
fn whole(operation: &Ref<Operation>) -> String {
    let subject = subject(operation);
    match operations_in(operation) {
        0 => subject,
        1 => format!("{subject} with 1 operation"),
        count => format!("{subject} with {count} operations"),
    }
}

/// True for a private symbol, and a reference to it.
fn is_private(object: &Ref<Obj>) -> bool {
    let reference = object.downcast_ref::<SymbolRefAttr>();
    object.isa::<Symbol>() || reference.is_some_and(|reference| reference.root.as_str().is_none())
}
