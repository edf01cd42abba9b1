//! Circles of imports, and where to cut them.

use std::collections::{BTreeMap, VecDeque};

use crate::Finding;
use crate::imports::{Import, imports, short};
use crate::python_imports::python_imports;
use crate::repo::Repo;

/// The imports of the files: a single import for each imported file.
type Graph<'i> = [BTreeMap<usize, &'i Import>];

/// Reports each set of files with circular imports: the shortest circle, with an imported name
/// for each step. All files of a knot count as a single file.
pub(crate) fn circles(
    imports: &[Import],
    knot_of: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let mut numbers = BTreeMap::new();
    let mut graph: Vec<BTreeMap<usize, &Import>> = Vec::new();
    for import in imports {
        let [from, to] = [&import.from, &import.to].map(|file| {
            let node = knot_of(file).unwrap_or_else(|| file.clone());
            let number = *numbers.entry(node).or_insert(graph.len());
            if number == graph.len() {
                graph.push(BTreeMap::new());
            }
            number
        });
        if from != to {
            graph[from].entry(to).or_insert(import);
        }
    }
    let findings = components(&graph)
        .into_iter()
        .filter(|component| component.len() > 1);
    findings
        .map(|component| describe(&graph, &component))
        .collect()
}

fn describe(graph: &Graph<'_>, component: &[usize]) -> Finding {
    let starts = component.iter().map(|start| shortest_circle(graph, *start));
    let rank =
        |circle: &Vec<&Import>| (circle.len(), circle.first().map(|first| first.from.clone()));
    let circle = starts.min_by_key(rank).unwrap_or_default();
    let steps: Vec<String> = circle
        .iter()
        .map(|import| {
            format!(
                "{} -> {} ({})",
                short(&import.from),
                short(&import.to),
                import.name
            )
        })
        .collect();
    let what = format!(
        "in a circle of imports among {} files: {}",
        component.len(),
        steps.join(", ")
    );
    let (path, line) = circle
        .first()
        .map_or(("", 1), |first| (first.from.as_str(), first.line));
    Finding::new(path, line, what)
}

/// The shortest way along imports from a file in a circle back to itself.
fn shortest_circle<'i>(graph: &Graph<'i>, start: usize) -> Vec<&'i Import> {
    // The file and the import by which a file was first reached.
    let mut reached: BTreeMap<usize, (usize, &Import)> = BTreeMap::new();
    let mut pending = VecDeque::from([start]);
    while let Some(node) = pending.pop_front()
        && !reached.contains_key(&start)
    {
        for (next, import) in &graph[node] {
            reached.entry(*next).or_insert_with(|| {
                pending.push_back(*next);
                (node, import)
            });
        }
    }
    let mut circle = Vec::new();
    let mut node = start;
    while let Some((from, import)) = reached.get(&node) {
        circle.push(*import);
        node = *from;
        if node == start {
            break;
        }
    }
    circle.reverse();
    circle
}

/// The strongly connected components, by Tarjan's algorithm without recursion.
fn components(graph: &Graph<'_>) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; graph.len()];
    // The earliest open node that is known to be reachable; `NEW` again once a node is done.
    let mut low = vec![NEW; graph.len()];
    let mut open = Vec::new();
    let mut found = Vec::new();
    let mut count = 0;
    for root in 0..graph.len() {
        let mut frames = vec![(root, false)];
        while let Some((node, left)) = frames.pop() {
            if !left && order[node] == NEW {
                (order[node], low[node]) = (count, count);
                count += 1;
                open.push(node);
                frames.push((node, true));
                let new = graph[node].keys().filter(|next| order[**next] == NEW);
                frames.extend(new.map(|next| (*next, false)));
            } else if left {
                low[node] = graph[node]
                    .keys()
                    .map(|next| low[*next])
                    .fold(low[node], usize::min);
                if low[node] == order[node] {
                    let at = open.iter().rposition(|other| *other == node).unwrap_or(0);
                    let component = open.split_off(at);
                    component.iter().for_each(|done| low[*done] = NEW);
                    found.push(component);
                }
            }
        }
    }
    found
}

/// Compares the circles of an example with the files of `knot/` in one knot.
#[cfg(test)]
#[track_caller]
fn check<const N: usize>(files: [(&str, &str); N], expected: &[&str]) {
    let repo = Repo::example(files);
    let mut all = imports(&repo);
    all.extend(python_imports(&repo));
    let knot_of = |file: &str| file.contains("/knot/").then(|| "knot".to_owned());
    let found: Vec<String> = circles(&all, knot_of)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_circle_through_re_exports_is_found() {
    check(
        [
            ("crates/a/src/lib.rs", "mod b;\npub use b::{B, C};\nmod d;"),
            (
                "crates/a/src/b/mod.rs",
                "mod b;\nmod c;\nmod e;\npub use b::B;\npub use c::*;",
            ),
            (
                "crates/a/src/b/b.rs",
                "use crate::b::C;\nuse crate::d::D;\npub struct B;",
            ),
            ("crates/a/src/b/c.rs", "use super::e::E;\npub struct C;"),
            (
                "crates/a/src/b/e.rs",
                "fn f() -> crate::B {}\npub struct E;",
            ),
            (
                "crates/a/src/d.rs",
                "fn f() { crate::b::e::f() }\npub struct D;",
            ),
        ],
        &[
            "crates/a/src/b/b.rs:1: in a circle of imports among 4 files: \
           b/b.rs -> b/c.rs (C), b/c.rs -> b/e.rs (E), b/e.rs -> b/b.rs (B)",
        ],
    );
}

#[test]
fn imports_of_tests_make_no_circle() {
    check(
        [
            ("crates/a/src/lib.rs", "mod b;\nmod c;"),
            ("crates/a/src/b.rs", "use crate::c::C;\npub struct B;"),
            (
                "crates/a/src/c.rs",
                "#[cfg(test)]\nmod tests { use crate::b::B; }\n#[cfg(doctest)]\nuse crate::b::B;\npub struct C;",
            ),
        ],
        &[],
    );
}

#[test]
fn a_knot_is_in_a_circle_only_with_other_files() {
    let root = ("crates/a/src/lib.rs", "mod b;\nmod knot;");
    let knot = ("crates/a/src/knot/mod.rs", "mod c;\nmod d;");
    let down = (
        "crates/a/src/knot/d.rs",
        "use super::c::C;\nuse crate::b::B;\npub struct D;",
    );
    let inner = ("crates/a/src/knot/c.rs", "use super::d::D;\npub struct C;");
    check(
        [
            root,
            knot,
            down,
            inner,
            ("crates/a/src/b.rs", "pub struct B;"),
        ],
        &[],
    );
    check(
        [
            root,
            knot,
            down,
            inner,
            ("crates/a/src/b.rs", "use crate::knot::c::C;\npub struct B;"),
        ],
        &[
            "crates/a/src/b.rs:1: in a circle of imports among 2 files: \
           b.rs -> knot/c.rs (C), knot/d.rs -> b.rs (B)",
        ],
    );
}

#[test]
fn a_circle_in_python_is_found() {
    check(
        [
            (
                "python/isoform/__init__.py",
                "from isoform.a import A\nfrom isoform.b import B\n",
            ),
            ("python/isoform/a.py", "from isoform import (\n    B,\n)\n"),
            ("python/isoform/b.py", "from . import a\n"),
            (
                "python/isoform/c.py",
                "if TYPE_CHECKING:\n    from isoform.d import D\n",
            ),
            ("python/isoform/d.py", "import isoform.c\n"),
        ],
        &[
            "python/isoform/a.py:1: in a circle of imports among 2 files: \
           python/isoform/a.py -> python/isoform/b.py (B), python/isoform/b.py -> python/isoform/a.py (a)",
        ],
    );
}
