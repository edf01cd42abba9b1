//! Single cases: operators replaced in place, names, hunks.

use super::super::{Graph, Hunk, align, hunks};
use super::model::{INPUT, Model};

/// A graph given by lines `name = op operands`, with operators as numbers; the last
/// node is the result. A node with operator 0 is an input.
fn read(text: &str) -> (Graph, Vec<String>) {
    let mut model = Model::default();
    let mut names: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a name");
        assert_eq!(words.next(), Some("="));
        let op = words
            .next()
            .expect("an operator")
            .parse()
            .expect("a number");
        let place = |word: &str| {
            let place = names.iter().position(|name| name == word);
            place.expect("an earlier node") as u32
        };
        let operands: Vec<u32> = words.map(place).collect();
        model.add(op, 0, &operands);
        let node = model.nodes.last_mut().expect("just added");
        node.name = name
            .bytes()
            .fold(1, |hash, byte| hash * 31 + u64::from(byte));
        names.push(name.to_owned());
    }
    model.results = model.nodes.last().map(|node| node.id).into_iter().collect();
    (model.graph(), names)
}

struct Case {
    hunks: Vec<Hunk>,
    names: [Vec<String>; 2],
    pairs: Vec<String>,
    replaced: Vec<String>,
}

impl Case {
    /// The hunks, written as names of nodes.
    fn hunks(&self) -> Vec<String> {
        let name = |side: usize, nodes: &[u32]| {
            let names: Vec<&str> = nodes
                .iter()
                .map(|node| self.names[side][*node as usize].as_str())
                .collect();
            names.join(" ")
        };
        self.hunks
            .iter()
            .map(|hunk| {
                let enclosed = if hunk.is_enclosed { "" } else { " (open)" };
                format!(
                    "{} -> {}{enclosed}",
                    name(0, &hunk.left),
                    name(1, &hunk.right)
                )
            })
            .collect()
    }
}

fn aligned(left: &str, right: &str) -> Case {
    let ((left, left_names), (right, right_names)) = (read(left), read(right));
    let count = left
        .ops
        .iter()
        .filter(|op| **op == u64::from(INPUT))
        .count() as u32;
    let fixed: Vec<(u32, u32)> = (0..count).map(|input| (input, input)).collect();
    let alignment = align(&left, &right, &fixed);
    super::model::check(&left, &right, &fixed, &alignment);
    let show =
        |(l, r): (u32, u32)| format!("{} {}", left_names[l as usize], right_names[r as usize]);
    let pairs = (0..)
        .zip(&alignment.left)
        .filter_map(|(l, r)| Some(show((l, (*r)?))));
    let pairs = pairs.collect();
    let replaced = alignment.replaced.iter().map(|pair| show(*pair)).collect();
    Case {
        hunks: hunks(&left, &right, &alignment),
        names: [left_names, right_names],
        pairs,
        replaced,
    }
}

#[test]
fn a_node_whose_operator_changed_is_replaced() {
    let case = aligned(
        "x = 0\n a = 1 x\n b = 2 a\n c = 3 b a",
        "x = 0\n a = 1 x\n d = 4 a\n c = 3 d a",
    );
    assert_eq!(case.replaced, ["b d"]);
    assert_eq!(case.hunks(), ["b -> d"]);
}

#[test]
fn a_replaced_node_keeps_its_own_weights() {
    let case = aligned(
        "x = 0\n w = 9\n a = 1 x w\n b = 2 a",
        "x = 0\n w = 9\n d = 4 x w\n b = 2 d",
    );
    assert_eq!(case.replaced, ["a d"]);
    assert!(case.pairs.contains(&"w w".to_owned()), "{:?}", case.pairs);
}

#[test]
fn several_nodes_become_one() {
    let case = aligned(
        "x = 0\n w = 0\n b = 0\n p = 1 x\n m = 2 p w\n a = 3 m b\n r = 4 a\n s = 5 r",
        "x = 0\n w = 0\n b = 0\n p = 1 x\n g = 6 p w b\n s = 5 g",
    );
    assert_eq!(case.hunks(), ["m a r -> g"]);
    let hunk = &case.hunks[0];
    assert_eq!(hunk.entering.each_ref().map(Vec::len), [3, 3]);
    assert_eq!(hunk.leaving.each_ref().map(Vec::len), [1, 1]);
}

#[test]
fn an_inserted_node_is_a_hunk_with_an_empty_side() {
    let case = aligned(
        "x = 0\n a = 1 x\n b = 2 a",
        "x = 0\n a = 1 x\n n = 7 a\n b = 2 n",
    );
    assert_eq!(case.hunks(), [" -> n"]);
    let case = aligned(
        "x = 0\n a = 1 x\n n = 7 a\n b = 2 n",
        "x = 0\n a = 1 x\n b = 2 a",
    );
    assert_eq!(case.hunks(), ["n -> "]);
}

#[test]
fn a_hunk_whose_place_uses_another_value_is_not_enclosed() {
    // The place of the deleted node uses a value that did not enter the node.
    let case = aligned(
        "x = 0\n y = 0\n a = 1 x\n n = 7 a\n b = 2 n y",
        "x = 0\n y = 0\n a = 1 x\n b = 2 y y",
    );
    assert!(
        case.hunks().iter().any(|hunk| hunk.ends_with("(open)")),
        "{:?}",
        case.hunks()
    );
}

#[test]
fn equal_hunks_have_equal_hashes_and_others_do_not() {
    let case = aligned(
        "x = 0\n a = 1 x\n b = 2 a\n c = 3 b\n d = 4 c\n e = 5 d\n f = 6 e",
        "x = 0\n a = 1 x\n n1 = 11 a\n m1 = 12 n1 n1\n b = 2 m1\n c = 3 b\n n2 = 11 c\n \
         m2 = 12 n2 n2\n d = 4 m2\n e = 5 d\n n3 = 11 e\n m3 = 12 n3 e\n f = 6 m3",
    );
    assert_eq!(case.hunks(), [" -> n1 m1", " -> n2 m2", " -> n3 m3"]);
    let hashes: Vec<u64> = case.hunks.iter().map(|hunk| hunk.hash).collect();
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
}

#[test]
fn names_choose_among_equal_candidates() {
    // Names decide which of three equal nodes in a row is gone.
    for gone in ["b1", "b2", "b3"] {
        let all = ["b1", "b2", "b3"];
        let row = |names: &[&str]| {
            let mut text = "x = 0\n a = 1 x\n".to_owned();
            let mut last = "a";
            for name in names {
                text += &format!("{name} = 2 {last}\n");
                last = name;
            }
            text + &format!("c = 3 {last}")
        };
        let kept: Vec<&str> = all.into_iter().filter(|name| *name != gone).collect();
        let case = aligned(&row(&all), &row(&kept));
        for name in kept {
            let pair = format!("{name} {name}");
            assert!(
                case.pairs.contains(&pair),
                "without {gone}: {:?}",
                case.pairs
            );
        }
    }
}

#[test]
fn names_do_not_override_structure() {
    let case = aligned(
        "x = 0\n p = 1 x\n q = 1 p\n r = 2 q p",
        "x = 0\n q = 1 x\n p = 1 q\n r = 2 p q",
    );
    assert_eq!(case.pairs, ["x x", "p q", "q p", "r r"]);
}

#[test]
fn a_name_does_not_outweigh_an_edge() {
    // The remaining node has the name of the deleted node.
    let case = aligned(
        "x = 0\n d = 2 x\n e = 4 d\n f = 2 x\n g = 5 e f",
        "x = 0\n f = 2 x\n e = 4 f\n g = 5 e x",
    );
    assert_eq!(case.pairs, ["x x", "d f", "e e", "g g"]);
}
