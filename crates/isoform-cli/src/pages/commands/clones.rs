//! The page of `isoform clones`.

use std::collections::{BTreeMap, HashMap, HashSet};

use isoform::traverse::children_of;
use isoform::types::{Kind, RegionKind};
use isoform::{Obj, Ref, Value};
use isoform_onnx::ir::{Call, Input, Program};
use isoform_page::page::{Cards, ChangeCard, Line, Listing, Page, Row, Section, Table, Verdict};
use isoform_page::picture::{NodeShape, PictureEdge, PictureNode};
use isoform_page::{Mark, Picture};

use super::hunks::code_line;
use super::{fact, row, table};
use crate::clones::{excerpt, node_of, operator};
use crate::output::counted;
use crate::pages::model_rows::{RowKind, rows_of};
use crate::pages::pictures::value_picture;

/// The nodes drawn and listed of one copy.
const MOST_NODES: usize = 200;
/// The objects visited to find the operands of a node.
const MOST_VISITS: usize = 1_000;

/// A part that occurs several times.
pub(crate) struct RepeatedPart {
    /// `block` or `subterm`.
    pub(crate) kind: &'static str,
    /// The nodes of a copy.
    pub(crate) size: u64,
    /// The nodes that would go if calls of a function replaced the copies.
    pub(crate) saved: u64,
    /// The contents in a few words.
    pub(crate) text: String,
    /// The number of copies, and of files with a copy.
    pub(crate) count: usize,
    pub(crate) files: usize,
    /// The places of the first copies.
    pub(crate) places: Vec<String>,
    /// The number and the contents of the file with the first copy.
    pub(crate) program: usize,
    pub(crate) value: Value,
    /// The nodes of the first copy.
    pub(crate) copy: Vec<Ref<Obj>>,
}

/// The numbers of everything that repeats, shown or not.
pub(crate) struct RepeatCounts {
    pub(crate) files: usize,
    pub(crate) blocks: usize,
    pub(crate) subterms: usize,
}

/// The page of parts that occur several times. Linear in the number of places, and bounded
/// for each part.
pub(crate) fn page_of_clones(title: String, parts: &[RepeatedPart], counts: &RepeatCounts) -> Page {
    let saved: u64 = parts.iter().map(|part| part.saved).sum();
    let copies: Vec<Vec<Ref<Obj>>> = parts.iter().map(copy_of).collect();
    let mut sections = Vec::new();
    if !parts.is_empty() {
        sections.push(Section::Table(overview(parts)));
        sections.push(Section::Cards(Cards {
            title: "Repeated parts".to_owned(),
            noun: "part".to_owned(),
            reason: "What a copy is".to_owned(),
            cards: (1..)
                .zip(parts.iter().zip(&copies))
                .map(|(number, (part, copy))| card(number, part, copy))
                .collect(),
        }));
        sections.push(Section::Listing(listing(parts, &copies)));
    }
    let mut facts = vec![
        fact("repeated blocks", counts.blocks, Mark::Same),
        fact("repeated subterms", counts.subterms, Mark::Same),
        fact("files", counts.files, Mark::Same),
    ];
    if saved > 0 {
        facts.push(fact("nodes that functions would save", saved, Mark::Same));
    }
    let all = counts.blocks + counts.subterms;
    if parts.len() < all {
        let shown = format!("the {} with the largest savings", parts.len());
        facts.push(fact("shown", shown, Mark::Same));
    }
    Page {
        title,
        verdict: Verdict::Shown,
        sentence: sentence(parts, counts),
        facts,
        sections,
    }
}

fn sentence(parts: &[RepeatedPart], counts: &RepeatCounts) -> String {
    let Some(first) = parts.iter().max_by_key(|part| part.saved) else {
        return "No part of this size occurs several times".to_owned();
    };
    let place = match counts.files {
        0 | 1 => String::new(),
        _ => format!(" in {}", counted(first.files, "file")),
    };
    format!(
        "A {} of {} occurs {} times{place}: {}",
        first.kind,
        counted(first.size as usize, "node"),
        first.count,
        first.text
    )
}

fn overview(parts: &[RepeatedPart]) -> Table {
    let numbered: Vec<(usize, &RepeatedPart)> = (1..).zip(parts).collect();
    let rows = numbered.iter().map(|(number, part)| {
        row(vec![
            number.to_string(),
            part.kind.to_owned(),
            part.size.to_string(),
            part.count.to_string(),
            part.files.to_string(),
            part.saved.to_string(),
            part.text.clone(),
        ])
    });
    let columns = [
        "",
        "kind",
        "nodes",
        "copies",
        "files",
        "nodes saved",
        "contents",
    ];
    table("What repeats", &columns, rows)
}

fn card(number: usize, part: &RepeatedPart, copy: &[Ref<Obj>]) -> ChangeCard {
    let size = counted(part.size as usize, "node");
    let title = format!("{} of {size}: {}", part.kind, part.text);
    let reason = match part.kind {
        "block" => {
            "the same operators and attributes in the same order, with the same wiring; the \
             values that enter a copy and the elements of constants may differ"
        }
        _ => "equal parts with everything that they use, except for the names of variables",
    };
    let caption = format!("one copy of {title}");
    let picture = match &*part.copy {
        [subterm] if !part.is_in_model() => value_picture(&Value::from(subterm), &caption),
        _ => copy_picture(copy, caption),
    };
    ChangeCard {
        anchor: format!("part-{number}"),
        kind: part.kind.to_owned(),
        text: format!("{number}. {title}"),
        count: part.count as u64,
        places: part.places.clone(),
        why: reason.to_owned(),
        picture: Some(picture),
        ..ChangeCard::default()
    }
}

/// One copy of each part as text. O(nodes of the files with a first copy).
fn listing(parts: &[RepeatedPart], copies: &[Vec<Ref<Obj>>]) -> Listing {
    let lines = lines_of_models(parts, copies);
    let mut rows = Vec::new();
    let mut add = |line: Line| {
        rows.push(Row {
            left: Some(line),
            ..Row::default()
        });
    };
    for (number, (part, copy)) in (1..).zip(parts.iter().zip(copies)) {
        let first = part.places.first().map_or("", String::as_str);
        add(code_line(&format!("// {number}. {}: {first}", part.kind)));
        let shown = copy.iter().take(MOST_NODES).map(|node| {
            let line = lines.get(&node.identity());
            line.cloned()
                .unwrap_or_else(|| (0, code_line(&excerpt(node))))
        });
        let mut shown: Vec<(usize, Line)> = shown.collect();
        // Nodes of a model keep the order of the model.
        shown.sort_by_key(|(position, _)| *position);
        shown.into_iter().for_each(|(_, line)| add(line));
        if let Some(more @ 1..) = copy.len().checked_sub(MOST_NODES) {
            add(code_line(&format!("// … {}", counted(more, "more node"))));
        }
    }
    Listing {
        title: "One copy of each".to_owned(),
        sides: vec!["text".to_owned()],
        rows,
        ..Listing::default()
    }
}

/// The positions and the lines of the nodes of copies that lie in models, by identity. Bindings
/// of different models have different numbers.
fn lines_of_models(
    parts: &[RepeatedPart],
    copies: &[Vec<Ref<Obj>>],
) -> HashMap<u64, (usize, Line)> {
    let mut wanted: BTreeMap<usize, (&Value, HashSet<u64>)> = BTreeMap::new();
    for (part, copy) in parts.iter().zip(copies) {
        let (_, nodes) = wanted
            .entry(part.program)
            .or_insert((&part.value, HashSet::new()));
        nodes.extend(copy.iter().take(MOST_NODES).map(|node| node.identity()));
    }
    let mut lines = HashMap::new();
    let mut bindings: HashMap<(usize, u32), u32> = HashMap::new();
    for (program, (value, nodes)) in wanted {
        let Some(model) = value.peek::<Ref<Program>>() else {
            continue;
        };
        for (position, row) in rows_of(model, true, true).rows.into_iter().enumerate() {
            let RowKind::Node(call) = row.what else {
                continue;
            };
            if !nodes.contains(&call.identity()) {
                continue;
            }
            let mut line = row.line;
            line.depth = 1;
            for binding in line
                .pieces
                .iter_mut()
                .filter_map(|piece| piece.binding.as_mut())
            {
                let next = bindings.len() as u32;
                *binding = *bindings.entry((program, *binding)).or_insert(next);
            }
            lines.insert(call.identity(), (position, line));
        }
    }
    lines
}

impl RepeatedPart {
    fn is_in_model(&self) -> bool {
        self.value.peek::<Ref<Program>>().is_some()
    }
}

/// The nodes of one copy; of a subterm of a model, the nodes from which it is computed, nearest
/// ones first, and at most a little more than are shown.
fn copy_of(part: &RepeatedPart) -> Vec<Ref<Obj>> {
    let mut nodes: Vec<Ref<Obj>> = part.copy.iter().map(|node| node_of(node).clone()).collect();
    if part.kind == "block" || !part.is_in_model() {
        return nodes;
    }
    let mut met: HashSet<u64> = nodes.iter().map(|node| node.identity()).collect();
    let mut next = 0;
    while next < nodes.len() && nodes.len() <= MOST_NODES {
        let inner = operands(&nodes[next]).into_iter();
        let inner = inner.filter(|node| node.type_info().kind() == Kind::Dag);
        nodes.extend(inner.filter(|node| met.insert(node.identity())));
        next += 1;
    }
    nodes
}

/// The nodes of one copy, the values that enter it, and the edges between them. O(nodes),
/// of which the first ones are drawn.
fn copy_picture(nodes: &[Ref<Obj>], title: String) -> Picture {
    let shown = &nodes[..nodes.len().min(MOST_NODES)];
    let members = shown.iter().enumerate();
    let members: HashMap<u64, usize> = members
        .map(|(place, node)| (node.identity(), place))
        .collect();
    let mut picture = Picture {
        title,
        ..Picture::default()
    };
    picture.nodes = shown.iter().map(drawn).collect();
    let mut outside: HashMap<u64, usize> = HashMap::new();
    for (to, node) in shown.iter().enumerate() {
        for operand in operands(node) {
            let identity = operand.identity();
            let from = match members.get(&identity) {
                Some(&place) => place,
                None => *outside.entry(identity).or_insert_with(|| {
                    picture.nodes.push(PictureNode {
                        shape: NodeShape::Port,
                        ..drawn(&operand)
                    });
                    picture.nodes.len() - 1
                }),
            };
            picture.edges.push(PictureEdge {
                from,
                to,
                ..PictureEdge::default()
            });
        }
    }
    if nodes.len() > shown.len() {
        picture.nodes.push(PictureNode {
            label: counted(nodes.len() - shown.len(), "more node"),
            shape: NodeShape::Ellipsis,
            ..PictureNode::default()
        });
    }
    picture
}

fn drawn(node: &Ref<Obj>) -> PictureNode {
    let (label, name) = match (node.downcast_ref::<Call>(), node.downcast_ref::<Input>()) {
        (Some(call), _) => (operator(node), call.name.to_string()),
        (None, Some(input)) => ("input".to_owned(), input.name.to_string()),
        (None, None) => (operator(node), String::new()),
    };
    PictureNode {
        label,
        lines: Some(name)
            .filter(|name| !name.is_empty())
            .into_iter()
            .collect(),
        ..PictureNode::default()
    }
}

/// The nodes whose results a node uses, each once: the nearest objects of the program, not
/// the lists and results in between.
fn operands(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let mut operands = Vec::new();
    let mut met = HashSet::from([node.identity()]);
    let mut stack = vec![Value::from(node)];
    let mut visits = 0;
    while let Some(value) = stack.pop() {
        let children = children_of(&value);
        let mut inner: Vec<Value> = Vec::new();
        for child in children.iter(RegionKind::Use) {
            visits += 1;
            if visits > MOST_VISITS {
                return operands;
            }
            let Some(object) = child.value.as_object() else {
                continue;
            };
            let owner = node_of(object);
            let info = owner.type_info();
            if info.is_builtin() {
                inner.push(child.value.clone());
            } else if is_value(owner) && met.insert(owner.identity()) {
                operands.push(owner.clone());
            }
        }
        stack.extend(inner.into_iter().rev());
    }
    operands
}

/// True for objects that compute or carry a value: nodes of a dataflow graph, and variables.
fn is_value(object: &Ref<Obj>) -> bool {
    matches!(object.type_info().kind(), Kind::Dag | Kind::Var)
}
