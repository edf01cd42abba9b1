//! Labels of nodes that have no name, by their kind instead of a number.
//!
//! An edit should change the labels of few other nodes, because each label also occurs in
//! the lines of the users. A number shifts with each line before it, and a digest of all
//! operands changes everything downstream of an edit.
//!
//! Therefore a label consists of a word and of digits for the *kind* of the node, for the
//! *segment* of its line, and for its number among the nodes of this kind in the segment. The
//! kind is the type with the names in its fields: singletons, members of enums and short words.
//! Operands, numbers and long texts have no influence, so editing them changes one line. A
//! segment begins where the hash of the last kinds says so, as in content-defined chunking
//! (Muthitacharoen et al., "A low-bandwidth network file system", 2001): an edit moves the
//! beginnings near by and no others, so the lines of later segments keep their labels, unless
//! the edit adds or removes a segment that begins with the same kinds.

use hashbrown::HashMap;
use rapidhash::v3::rapidhash_v3;

use crate::kernel::types::FieldFlag;
use crate::text::graph::{Graph, Item, NodeKind, Part};
use crate::text::spelling::is_name_char;

/// The digits of a label: enough for a thousand nodes of one word with few clashes.
const DIGITS: usize = 6;

/// Longer words are texts rather than names.
const LONGEST: usize = 24;

/// The number of kinds that decide about the beginning of a segment.
const WINDOW: usize = 3;

/// One in this many sequences of kinds begins a segment.
const SEGMENT: u64 = 8;

type Counts = HashMap<u64, u64, rapidhash::fast::RandomState>;

/// The labels of a block, whose nodes come in the order of the text.
#[derive(Default)]
pub(super) struct BlockLabels {
    /// The last kinds, the last one first.
    window: [u64; WINDOW],
    segment: u64,
    /// The number of segments that begin with these kinds.
    segments: Counts,
    /// The number of nodes of a kind in a segment.
    nodes: Counts,
}

impl BlockLabels {
    /// The label of the next node. O(parts).
    pub(super) fn next(&mut self, graph: &Graph<'_>, node: u32) -> String {
        let (kind, word) = kind_of(graph, node);
        self.window.rotate_right(1);
        self.window[0] = kind;
        let beginning = hash(&self.window);
        if beginning.is_multiple_of(SEGMENT) {
            self.segment = hash(&[beginning, counted(&mut self.segments, beginning)]);
        }
        let near = hash(&[kind, self.segment]);
        let label = hash(&[near, counted(&mut self.nodes, near)]);
        let digits = format!("{label:016x}");
        format!("{word}.{}", &digits[..DIGITS])
    }
}

/// Counts one more; returns the number.
fn counted(counts: &mut Counts, what: u64) -> u64 {
    let count = counts.entry(what).or_default();
    *count += 1;
    *count
}

/// The hash of the kind of a node, and a word for it.
fn kind_of(graph: &Graph<'_>, number: u32) -> (u64, String) {
    let (head, mut word) = match graph.node(number).what {
        NodeKind::Object(ty) => {
            let head = graph.types[ty as usize].head.as_str();
            let key = head.trim_end_matches(['(', '"']);
            (head, key.rsplit('.').next().unwrap_or(key).to_lowercase())
        }
        NodeKind::Sequence(open) => (open, "list".to_owned()),
        NodeKind::Mapping(open) => (open, "map".to_owned()),
        NodeKind::Tensor(_) => ("", "tensor".to_owned()),
        NodeKind::Leaf(_) | NodeKind::Whole(_) => ("", "value".to_owned()),
    };
    let mut kind = String::from(head);
    let mut has_name = false;
    for part in graph.parts_of(number) {
        let Some(name) = name_in(graph, number, part) else {
            continue;
        };
        // Separators are no letters of names.
        kind.push('\n');
        kind.push_str(&part.field.to_string());
        kind.push('=');
        kind.push_str(name);
        if !has_name {
            word = name.to_lowercase();
            has_name = true;
        }
    }
    if !word.chars().all(is_name_char) {
        word = "value".to_owned();
    }
    (rapidhash_v3(kind.as_bytes()), word)
}

/// The name in a field of an object: of a singleton, of a member of an enum, or a word.
fn name_in<'g>(graph: &'g Graph<'_>, parent: u32, part: &Part) -> Option<&'g str> {
    let field = graph.type_of(parent)?.fields.get(part.field as usize)?;
    let Item::Node(item) = part.item else {
        return None;
    };
    if field.flag == FieldFlag::Ignore {
        return None;
    }
    let name = match graph.node(item).what {
        NodeKind::Leaf(text) => {
            let text = graph.text(text);
            match text.strip_prefix('"') {
                Some(text) => text.strip_suffix('"')?,
                // The name or the number of a member.
                None => text.rsplit_once('!')?.1.trim_matches('"'),
            }
        }
        NodeKind::Object(_) if graph.is_singleton(item) => graph.hints.get(&item)?.as_str()?,
        _ => return None,
    };
    let is_word = !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_name_char);
    is_word.then_some(name)
}

fn hash<const N: usize>(numbers: &[u64; N]) -> u64 {
    rapidhash_v3(&numbers.map(u64::to_le_bytes).concat())
}
