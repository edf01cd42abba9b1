//! Labels of values: the file's own names, numbers, or names by structure.
//!
//! Names are chosen to make the texts of two versions of a model differ little.

use std::collections::{HashMap, HashSet};

use isoform_onnx::layout::{BodyKind, Listing, Node};

use super::canonical::Structure;

/// The longest name that is a label.
const MAX_NAME: usize = 80;

/// Where labels come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Naming {
    /// The names in the file.
    #[default]
    File,
    /// Numbers from first to last.
    Numbers,
    /// The structure around each node.
    Structure,
}

/// The labels of inputs and of the outputs of nodes, by identity; functions by number.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pub(super) values: HashMap<u64, Vec<String>>,
    pub(super) functions: HashMap<u64, usize>,
    /// The bodies in the order of printing.
    pub(super) bodies: Vec<usize>,
}

impl Labels {
    /// Labels all values and functions in printing order. O(values).
    ///
    /// A name becomes a label if the name is short, consists of letters, digits and a few
    /// signs, and is new in the graph or function. Other values are labelled by operator.
    /// So an inserted node does not change the labels of other values, unless several
    /// values share a name. The other namings do not look at names.
    pub(super) fn new(listing: &Listing, naming: Naming) -> Self {
        let mut labels = Labels::default();
        let mut names = Unique::new(naming);
        for &root in std::iter::once(&0).chain(&listing.functions) {
            names.start_root();
            if let BodyKind::Function(function) = &listing.bodies[root].kind {
                let number = labels.functions.len();
                labels.functions.insert(function.identity(), number);
            }
            // Bodies still open, with the position of their next node.
            let mut stack = vec![(root, 0)];
            while let Some((body, position)) = stack.pop() {
                let body_ref = &listing.bodies[body];
                if position == 0 {
                    labels.bodies.push(body);
                    for (place, param) in body_ref.kind.params().iter().enumerate() {
                        let label = match naming {
                            Naming::Structure => names.named(&names.structure.input(body, place)),
                            _ => names.label(param.name.as_str(), "input"),
                        };
                        labels.values.insert(param.identity(), vec![label]);
                    }
                }
                let Some(node) = body_ref.nodes.get(position) else {
                    continue;
                };
                labels.add_node(body, node, &mut names);
                stack.push((body, position + 1));
                stack.extend(node.bodies.iter().rev().map(|(_, inner)| (*inner, 0)));
            }
        }
        labels
    }

    fn add_node(&mut self, body: usize, node: &Node, names: &mut Unique) {
        let call = &node.call;
        let outputs = usize::try_from(call.outputs).unwrap_or(0);
        if names.naming == Naming::Structure {
            let wanted = names.structure.node(body, node);
            let labels = (0..outputs).map(|index| names.named(&Structure::output(&wanted, index)));
            self.values.insert(call.identity(), labels.collect());
            return;
        }
        let op = match &call.callee {
            Some(callee) => callee.name.as_str(),
            None => call.op.as_str(),
        };
        let outputs = (0..outputs).map(|index| {
            let name = call.output_names.get(index);
            names.label(name.map_or("", |name| name.as_str()), op)
        });
        self.values.insert(call.identity(), outputs.collect());
    }
}

/// The labels given so far.
struct Unique {
    naming: Naming,
    structure: Structure,
    next: usize,
    taken: HashSet<String>,
    /// The number with which the next value of the same name ends.
    counters: HashMap<String, usize>,
}

impl Unique {
    fn new(naming: Naming) -> Self {
        Unique {
            naming,
            structure: Structure::default(),
            next: 0,
            taken: HashSet::new(),
            counters: HashMap::new(),
        }
    }

    /// Functions have separate names; numbers go on.
    fn start_root(&mut self) {
        self.taken.clear();
        self.counters.clear();
    }

    fn label(&mut self, name: &str, op: &str) -> String {
        if self.naming == Naming::Numbers {
            self.next += 1;
            return format!("%{}", self.next - 1);
        }
        match (is_label(name), is_label(op)) {
            (true, _) => self.named(name),
            (false, true) => self.named(&op.to_lowercase()),
            (false, false) => self.named("value"),
        }
    }

    /// A label of this name, with a number if the name is taken.
    fn named(&mut self, name: &str) -> String {
        let mut label = format!("%{name}");
        while !self.taken.insert(label.clone()) {
            let count = self.counters.entry(name.to_owned()).or_insert(1);
            *count += 1;
            label = format!("%{name}.{count}");
        }
        label
    }
}

/// True if a name can be printed unchanged, and a reader sees where it ends.
pub(super) fn is_label(name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '-');
    !name.is_empty()
        && name.chars().take(MAX_NAME + 1).count() <= MAX_NAME
        && name.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[(&str, &str)], expected: &[&str]) {
        let mut unique = Unique::new(Naming::File);
        let labels: Vec<String> = names
            .iter()
            .map(|(name, op)| unique.label(name, op))
            .collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn names_are_labels_if_a_reader_can_tell_them_apart() {
        check(
            &[("x", "input"), ("/a/b.0/Add:0", "Add"), ("名前", "Add")],
            &["%x", "%/a/b.0/Add:0", "%名前"],
        );
        let long = "x".repeat(MAX_NAME + 1);
        check(
            &[
                ("", "Relu"),
                ("a b", "Relu"),
                ("\u{1b}[31m", "Add"),
                (&long, "a b"),
                ("(x)", "Add"),
            ],
            &["%relu", "%relu.2", "%add", "%value", "%add.2"],
        );
    }

    #[test]
    fn no_two_labels_are_the_same() {
        check(
            &[("a", ""), ("a.2", ""), ("a", ""), ("a", ""), ("a.2", "")],
            &["%a", "%a.2", "%a.3", "%a.4", "%a.2.2"],
        );
    }
}
