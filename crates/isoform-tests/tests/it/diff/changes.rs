//! The kinds, counts and sizes of changes, each in the smallest value with the change.

use isoform::compare::{ChangeKind, Difference, diff};
use isoform::values::{Bytes, DType, Tensor};
use isoform::{Ref, Value};

use crate::support::terms::*;

fn difference(left: impl Into<Value>, right: impl Into<Value>) -> Difference {
    diff(left.into(), right.into()).expect("a difference")
}

#[test]
fn a_node_of_another_type_is_replaced_alone() {
    let parts = || array((0..100).map(|at| add(at, 1).into()));
    let found = difference(Step::new(parts()), Stride::new(parts()));
    assert_eq!(found.counts(), [(ChangeKind::Replaced, 1)]);
    let change = &found.changes()[0];
    assert_eq!((change.left_size(), change.right_size()), (1, 1));
}

#[test]
fn a_dataflow_node_that_is_gone_is_one_change() {
    let graph = |is_there: bool| {
        let input = call("input", 1);
        let gone = call("gone", array([input.clone()]));
        let uses = [0, 1].map(|at| {
            if is_there {
                array([call("kept", at), gone.clone()])
            } else {
                array([call("kept", at)])
            }
        });
        array([input].into_iter().chain(uses))
    };
    let (left, right) = (graph(true), graph(false));
    for (found, kind) in [
        (difference(&left, &right), ChangeKind::Deleted),
        (difference(&right, &left), ChangeKind::Inserted),
    ] {
        assert_eq!(found.counts(), [(kind, 1)], "{found}");
    }
}

#[test]
fn a_change_in_a_dataflow_node_is_one_change_however_often_it_is_used() {
    let graph = |first: i64| {
        let mut node = call("input", first);
        for at in 0..70 {
            node = call("use", array([node.clone(), at.into(), node]));
        }
        node
    };
    let found = difference(graph(1), graph(2));
    assert_eq!(found.counts(), [(ChangeKind::Value, 1)], "{found}");
    // A shared part of a dataflow node is at each of its places there.
    let graph = |first: i64| {
        let part: Value = add(first, 1).into();
        let node = call("input", array([part.clone(), part]));
        array([node.clone(), node])
    };
    let found = difference(graph(1), graph(2));
    assert_eq!(found.counts(), [(ChangeKind::Value, 2)], "{found}");
}

#[test]
fn the_line_of_a_change_shows_the_difference() {
    let line = |left: Value, right: Value| difference(left, right).changes()[0].to_string();
    let long = |end: &str| Value::from("a".repeat(300) + end);
    let shown = line(long("left"), long("right"));
    let begin = "a".repeat(15);
    assert!(
        shown.ends_with(&format!("...\"{begin}left\" -> ...\"{begin}right\"")),
        "{shown}"
    );
    // The difference lies after the end of the shorter text.
    let shown = line(long(""), long("more"));
    assert!(
        shown.ends_with(&format!("...\"{begin}\" -> ...\"{begin}more\"")),
        "{shown}"
    );
    assert_eq!(
        line("short".into(), "shirt".into()),
        "value at <root>: \"short\" -> \"shirt\""
    );

    let mismatch = isoform::explain_mismatch(long("left"), long("right"));
    let mismatch = mismatch
        .expect("comparable")
        .expect("they differ")
        .to_string();
    assert!(
        mismatch.contains("left\"\n") && mismatch.ends_with("right\""),
        "{mismatch}"
    );
}

#[test]
fn the_line_of_a_change_tells_long_values_apart() {
    let line = |left: Value, right: Value| difference(left, right).changes()[0].to_string();
    let bytes = |end: &[u8]| Value::from(Bytes::from([&[7; 300], end].concat()));
    let number = |end: u32| Value::from((num_bigint::BigInt::from(1) << 2000u32) + end);
    let floats = |end: f32| {
        let data = [[0.0; 5].as_slice(), &[end]].concat();
        let data = data.iter().flat_map(|item: &f32| item.to_le_bytes());
        let tensor = Tensor::new(DType::FLOAT32, vec![6], data.collect::<Vec<u8>>());
        Value::from(tensor.expect("a tensor"))
    };
    let pairs = [
        (bytes(b"left"), bytes(b"right")),
        (bytes(b""), bytes(b"more")),
        (number(1), number(2)),
        (floats(1.0), floats(2.0)),
    ];
    for (left, right) in pairs {
        let shown = line(left, right);
        let (_, sides) = shown.split_once(": ").expect("sides");
        let (left, right) = sides.split_once(" -> ").expect("two sides");
        assert_ne!(left, right, "{shown}");
    }
    assert_eq!(
        line(floats(1.0), floats(2.0)),
        "tensor at <root>: Tensor(float32, [6]) with 0x3f800000 as element 5 -> \
         Tensor(float32, [6]) with 0x40000000 as element 5"
    );
}

/// Puts each group of parts into a list with unique texts. The texts pair the list with the list
/// at the same position of the other side, even if all parts have left.
fn lists<const N: usize>(parts: [Vec<Value>; N]) -> Value {
    let around = |(at, parts): (usize, Vec<Value>)| {
        let own = (0..20).map(|item| Value::from(format!("{at}.{item}")));
        array(own.chain(parts))
    };
    array(parts.into_iter().enumerate().map(around))
}

/// A part of two nodes.
fn small() -> Value {
    add(add(1, 2), 3).into()
}

/// A part of `size` nodes.
fn chain(size: i64) -> Value {
    let chain = (1..size).fold(int(-1), |part, at| add(part, -at));
    chain.into()
}

#[test]
fn a_small_part_moves_if_it_is_the_only_one() {
    use ChangeKind::{Deleted, Inserted, Moved};
    let moved = |count| {
        let parts = || (0..count).map(|_| small()).collect();
        let (left, right) = (lists([parts(), vec![]]), lists([vec![], parts()]));
        difference(left, right).counts()
    };
    assert_eq!(moved(1), [(Moved, 1)]);
    assert_eq!(moved(2), [(Inserted, 2), (Deleted, 2)]);
    let shared = lists([vec![small()], vec![]]);
    let (left, right) = (lists([vec![shared.clone(), shared]]), {
        let shared = lists([vec![], vec![small()]]);
        lists([vec![shared.clone(), shared]])
    });
    assert_eq!(
        difference(left, right).counts(),
        [(Inserted, 2), (Deleted, 2)]
    );
}

#[test]
fn a_part_moves_once_with_all_that_is_in_it() {
    use ChangeKind::{Deleted, Moved};
    let outer = || Value::from(add(chain(6), Step::new(chain(3))));
    let left = lists([vec![outer()], vec![chain(6)], vec![]]);
    let right = lists([vec![], vec![], vec![outer()]]);
    assert_eq!(difference(left, right).counts(), [(Deleted, 1), (Moved, 1)]);
}

#[test]
fn places_move_not_objects() {
    use ChangeKind::{Deleted, Inserted, Moved};
    let around = |part: &Value| Value::from(add("around", Step::new(part)));
    let counts = |is_shared: bool, [from, to, into]: [usize; 3]| {
        let part = chain(6);
        let part = |_| if is_shared { part.clone() } else { chain(6) };
        let parts = |count| (0..count).map(part).collect::<Vec<_>>();
        let inside = parts(into).iter().map(around).collect();
        let left = lists([parts(from), vec![], vec![]]);
        difference(left, lists([vec![], parts(to), inside])).counts()
    };
    for is_shared in [false, true] {
        let changes = counts(is_shared, [3, 2, 0]);
        assert_eq!(changes, [(Deleted, 1), (Moved, 2)], "{is_shared}");
        let changes = counts(is_shared, [1, 2, 0]);
        assert_eq!(changes, [(Inserted, 1), (Moved, 1)], "{is_shared}");
        let changes = counts(is_shared, [3, 1, 2]);
        assert_eq!(changes, [(Inserted, 2), (Moved, 3)], "{is_shared}");
    }
    let nested = |is_shared: bool| {
        let both = |parts: fn() -> [Vec<Value>; 2]| {
            if is_shared {
                let part = lists(parts());
                array([part.clone(), part])
            } else {
                array([lists(parts()), lists(parts())])
            }
        };
        let (left, right) = (|| [vec![chain(6)], vec![]], || [vec![], vec![chain(6)]]);
        difference(both(left), both(right)).counts()
    };
    for is_shared in [false, true] {
        assert_eq!(nested(is_shared), [(Moved, 2)], "{is_shared}");
    }
}

#[test]
fn parts_that_came_inside_of_shared_ones_moved_at_each_place() {
    let counts = |is_shared: bool| {
        let around = || Value::from(add("around", Step::new(chain(6))));
        let shared = around();
        let inside = |_| if is_shared { shared.clone() } else { around() };
        let (gone, new) = ((0..3).map(|_| chain(6)), (0..3).map(inside));
        let left = lists([gone.collect(), vec![]]);
        difference(left, lists([vec![], new.collect()])).counts()
    };
    for is_shared in [false, true] {
        assert_eq!(
            counts(is_shared),
            [(ChangeKind::Inserted, 3), (ChangeKind::Moved, 3)],
            "{is_shared}"
        );
    }
}

#[test]
fn equal_findings_lose_what_moved_one_after_another() {
    use ChangeKind::{Inserted, Moved, Replaced};
    let replaced = || array((0..100).map(|index| add(index, Step::new(index)).into()));
    let left_part = || lists([vec![add("x", replaced()).into()], vec![]]);
    let right_part = || lists([vec![add("x", chain(10)).into()], vec![chain(10)]]);
    let counts = |is_shared: bool| {
        let twice = |part: &dyn Fn() -> Value| {
            let first = part();
            if is_shared {
                array([first.clone(), first])
            } else {
                array([first, part()])
            }
        };
        let gone = lists([vec![chain(10), chain(10)]]);
        let left = array([twice(&left_part), gone]);
        difference(left, array([twice(&right_part), lists([vec![]])])).counts()
    };
    // Both chains took the place of the replaced parts.
    let expected = [(Inserted, 2), (Moved, 2), (Replaced, 2)];
    for is_shared in [false, true] {
        assert_eq!(counts(is_shared), expected, "{is_shared}");
    }
}

#[test]
fn what_also_stays_moves_as_a_whole_only() {
    use ChangeKind::{Deleted, Inserted, Moved};
    let common = chain(6);
    let inside = |name: &str| vec![Value::from(add(name, &common))];
    let counts = |left: [Vec<Value>; 2], right: [Vec<Value>; 2]| {
        let stays = || array([common.clone()]);
        let values = [left, right].map(|parts| array([stays(), lists(parts)]));
        let [left, right] = values;
        difference(left, right).counts()
    };
    assert_eq!(
        counts([inside("old"), vec![]], [vec![], inside("new")]),
        [(Inserted, 1), (Deleted, 1)]
    );
    assert_eq!(
        counts([vec![common.clone()], vec![]], [vec![], inside("new")]),
        [(Inserted, 1), (Moved, 1)]
    );
}

#[test]
fn nothing_moves_out_of_a_dataflow_node_that_another_one_replaced() {
    let graph = |name: &str| {
        let input = call("input", 1);
        let node = call(name, array([input.clone(), chain(10)]));
        array([input, call("user", array([node]))])
    };
    let found = difference(graph("old"), graph("new"));
    assert_eq!(found.counts(), [(ChangeKind::Replaced, 1)], "{found}");
}

#[test]
fn types_stay_with_their_variables() {
    let uses = || vec![Value::from(add(chain(3), typed(chain(10))))];
    let found = difference(lists([uses(), vec![]]), lists([vec![], uses()]));
    let kinds = found.changes().iter().map(|change| change.kind());
    let is_moved = kinds.filter(|kind| *kind == ChangeKind::Moved).count();
    assert_eq!(is_moved, 1, "{found}");
    let use_of = |name: &str| vec![Value::from(add(name, typed(chain(10))))];
    let (left, right) = ([use_of("old"), vec![]], [vec![], use_of("new")]);
    let found = difference(lists(left), lists(right));
    assert_eq!(
        found.counts(),
        [(ChangeKind::Inserted, 1), (ChangeKind::Deleted, 1)],
        "{found}"
    );
}

#[test]
fn a_part_that_moved_out_of_another_one_does_not_count_there() {
    let around = |part: Value| {
        let own = (0..5).map(|item| Value::from(int(item)));
        Value::from(Step::new(array(own.chain([part]))))
    };
    let left = lists([vec![around(chain(10))], vec![]]);
    let found = difference(left, lists([vec![], vec![chain(10)]]));
    assert_eq!(
        found.counts(),
        [(ChangeKind::Deleted, 1), (ChangeKind::Moved, 1)]
    );
    // The step, and the items of the list.
    assert_eq!(found.changes()[0].left_size(), 6);
}

#[test]
fn a_part_that_another_one_replaced_is_gone() {
    let gone = array((0..100).map(|at| add(at, Step::new(at)).into()));
    let left = lists([vec![add("x", gone).into()], vec![chain(10)]]);
    let right = lists([vec![add("x", chain(10)).into()], vec![]]);
    let found = difference(left, right);
    let sizes = found.changes().iter().map(|change| change.left_size());
    assert_eq!(sizes.max(), Some(200), "{found}");
}

#[test]
fn a_part_that_moved_may_use_another_variable() {
    let function = |[first, second]: [bool; 2], which: usize| {
        let params = [var("x"), var("y")];
        let part = || Value::from(add(&params[which], chain(6)));
        let parts = |is_here: bool| is_here.then(part).into_iter().collect();
        let uses = params.each_ref().map(Value::from);
        fun(
            &params,
            array(
                uses.into_iter()
                    .chain([lists([parts(first), parts(second)])]),
            ),
        )
    };
    let found = difference(function([true, false], 0), function([false, true], 1));
    assert_eq!(
        found.counts(),
        [(ChangeKind::Moved, 1), (ChangeKind::Variable, 1)],
        "{found}"
    );
}

#[test]
fn a_binding_ends_with_its_scope() {
    let x = var("x");
    let value = |edited: i64| {
        let bound = fun([&x], add(&x, edited));
        array([bound, add(&x, edited).into()])
    };
    let found = difference(value(1), value(2));
    assert_eq!(found.counts(), [(ChangeKind::Value, 2)], "{found}");
}

#[test]
fn what_was_taken_out_from_around_a_part_is_counted_whole() {
    let inner = || add(add(1, 2), add(3, 4));
    let around = |part: Value| add(add(Step::new(Step::new(part)), 7), 8);
    let found = difference(
        array([around(inner().into()).into()]),
        array([inner().into()]),
    );
    assert_eq!(found.counts(), [(ChangeKind::Unwrapped, 1)], "{found}");
    assert_eq!(found.changes()[0].left_size(), 4);
}

#[test]
fn a_singleton_in_a_small_tree_is_replaced_as_a_whole() {
    let (one, other) = (Single::new(chain(2)), Single::new(chain(2)));
    let around = |single: &Ref<Single>, rest: i64| add(add(single, 1), Step::new(add(rest, 2)));
    let found = difference(around(&one, 3), add(around(&other, 3), Step::new(chain(3))));
    let kinds: Vec<_> = found.counts();
    assert!(kinds.contains(&(ChangeKind::Replaced, 1)), "{found}");
    let found = difference(around(&one, 3), add(around(&one, 3), Step::new(chain(3))));
    assert_eq!(found.counts(), [(ChangeKind::Wrapped, 1)], "{found}");
}

#[test]
fn a_field_that_became_empty_is_one_deletion() {
    let kept = || add(add(1, 2), add(3, 4));
    let (left, right) = (add(Step::new(int(5)), kept()), add(Value::NONE, kept()));
    let found = difference(&left, &right);
    assert_eq!(found.counts(), [(ChangeKind::Deleted, 1)], "{found}");
    let found = difference(&right, &left);
    assert_eq!(found.counts(), [(ChangeKind::Inserted, 1)], "{found}");
}

#[test]
fn a_dataflow_node_in_small_trees_is_one_change() {
    let tree = |value: i64, is_wrapped: bool| {
        let node = call("a", value);
        let part = Value::from(add(7, 8));
        let part = if is_wrapped {
            Value::from(add(part, 9))
        } else {
            part
        };
        add(&node, add(&node, part))
    };
    let found = difference(tree(1, false), tree(2, true));
    assert_eq!(
        found.counts(),
        [(ChangeKind::Value, 1), (ChangeKind::Wrapped, 1)],
        "{found}"
    );
}

#[test]
fn a_part_is_compared_with_each_of_its_partners() {
    // Twelve left parts and twelve right parts, in all 144 pairings.
    let value = |first: i64, swapped: bool| {
        let shared: Vec<_> = (0..12).map(|at| add(first + at, chain(3))).collect();
        let mut around: Value = 0.into();
        for place in 0..144 {
            let which = if swapped { place % 12 } else { place / 12 };
            around = add(&shared[which], around).into();
        }
        around
    };
    let found = difference(value(0, false), value(100, true));
    assert_eq!(found.counts(), [(ChangeKind::Value, 144)], "{found}");
}

#[test]
fn a_variable_whose_definition_moved_is_another_one() {
    // The same object on both sides is as little evidence as a name.
    let [x, y] = [var("x"), var("y")];
    let found = difference(
        fun([&x, &y], Value::from(&x)),
        fun([&y, &x], Value::from(&x)),
    );
    let renamed = difference(
        fun([&x, &y], Value::from(&x)),
        fun([&x, &y], Value::from(&y)),
    );
    assert_eq!(found.counts(), [(ChangeKind::Variable, 1)], "{found}");
    assert_eq!(found.counts(), renamed.counts(), "{renamed}");
}

#[test]
fn what_moved_with_a_larger_part_does_not_stay() {
    let outer = || Value::from(add("q", Step::new(add(chain(10), "and more"))));
    let left = lists([
        vec![add("old", Step::new(chain(10))).into()],
        vec![outer()],
        vec![],
        vec![],
    ]);
    let right = lists([
        vec![],
        vec![],
        vec![outer()],
        vec![add("new", Stride::new(chain(10))).into()],
    ]);
    let difference = difference(left, right);
    assert_eq!(
        difference.counts(),
        [
            (ChangeKind::Inserted, 1),
            (ChangeKind::Deleted, 1),
            (ChangeKind::Moved, 2)
        ],
        "{difference}"
    );
}

#[test]
fn what_also_stays_never_moves_from_inside_to_inside() {
    let value = |is_left: bool| {
        let vars = ["x", "y", "z"].map(var);
        let part = |index: usize| Value::from(add(&vars[index], chain(6)));
        let old = |index: usize| vec![Value::from(add("old", Step::new(part(index))))];
        let new = |name: &str, index: usize| vec![Value::from(add(name, Stride::new(part(index))))];
        let parts = if is_left {
            [vec![part(0)], old(1), vec![], vec![]]
        } else {
            [vec![], vec![], new("new", 1), new("other", 2)]
        };
        let uses = vars.each_ref().map(Value::from).into_iter();
        fun(&vars, array(uses.chain([part(2), lists(parts)])))
    };
    let difference = difference(value(true), value(false));
    let moved = |change: &&isoform::compare::Change| change.kind() == ChangeKind::Moved;
    let moved: Vec<_> = difference.changes().iter().filter(moved).collect();
    assert_eq!(moved.len(), 1, "{difference}");
    // The whole part disappeared: it is in the first list, after 20 strings.
    let path = moved[0].left_path().to_string();
    assert!(path.ends_with("[4][0][20]"), "{path}");
}

#[test]
fn sizes_leave_out_what_moved() {
    let other = || (1..5).fold(int(77), |part, at| add(part, -at));
    let gone = || Value::from(add(chain(10), Step::new(other())));
    let sizes = |is_shared: bool| {
        let first = gone();
        let second = if is_shared { first.clone() } else { gone() };
        let left = lists([vec![first, second], vec![], vec![]]);
        let found = difference(left, lists([vec![], vec![gone()], vec![chain(10)]]));
        assert_eq!(
            found.counts(),
            [(ChangeKind::Deleted, 1), (ChangeKind::Moved, 2)],
            "{found}"
        );
        found.changes()[0].left_size()
    };
    assert_eq!([sizes(false), sizes(true)], [7, 7]);
}

#[test]
fn a_dataflow_node_inside_of_what_moved_is_counted_once() {
    let value = |place: usize, which: usize| {
        let vars = [var("x"), var("y")];
        let node = call("f", array([Value::from(&vars[which])]));
        let part = vec![Value::from(add(node, chain(6)))];
        let parts = match place {
            0 => [part, vec![]],
            _ => [vec![], part],
        };
        let uses = vars.each_ref().map(Value::from).into_iter();
        let others = [call("g", 1), lists(parts)];
        fun(&vars, array(uses.chain(others)))
    };
    assert_eq!(
        difference(value(0, 0), value(1, 1)).counts(),
        [(ChangeKind::Moved, 1), (ChangeKind::Variable, 1)]
    );
}

#[test]
fn a_shared_body_is_compared_under_each_binding() {
    let [p, q, a, b] = ["p", "q", "a", "b"].map(var);
    let left = || array([Value::from(&p), Value::from(&p), Value::from(&q), 1.into()]);
    let right = || array([Value::from(&a), Value::from(&a), Value::from(&a), 2.into()]);
    let counts = |is_shared: bool| {
        let (l, r) = (left(), right());
        let (m, s) = if is_shared {
            (l.clone(), r.clone())
        } else {
            (left(), right())
        };
        let params = [p.clone(), q.clone()];
        let left = array([fun(&params, l), fun(&params, m)]);
        let swapped = [b.clone(), a.clone()];
        let right = array([fun([&a, &b], r), fun(&swapped, s)]);
        difference(left, right).counts()
    };
    assert_eq!(counts(true), counts(false));
    assert!(counts(true).contains(&(ChangeKind::Variable, 4)));
}

#[test]
fn a_pair_that_is_visited_again_is_one_partner() {
    let [x, a, b] = ["x", "a", "b"].map(var);
    let items = |var: &Ref<Var>, other: i64| {
        let item = |at| Value::from(add(var, if at == 7 { other } else { at }));
        array((0..400).map(item))
    };
    let nested = |vars: [&Ref<Var>; 2], part: Value| {
        (0..20).fold(Value::from(0), |inner, at| {
            fun([vars[at % 2]], add(part.clone(), inner))
        })
    };
    let left = nested([&x, &x], items(&x, 7));
    let found = difference(left, nested([&a, &b], items(&a, -1)));
    let counts = found.counts();
    assert_eq!(counts[0], (ChangeKind::Value, 20), "{found}");
    assert_eq!(counts[1..], [(ChangeKind::Variable, 4000)], "{found}");
}

/// The lines of the changes of a difference.
fn lines(left: impl Into<Value>, right: impl Into<Value>) -> Vec<String> {
    let found = difference(left, right).to_string();
    found.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn parts_are_shown_as_in_texts() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    // Variables by name; ignored fields, and types that are absent, are left out.
    assert_eq!(
        lines(add(Value::from(&x), 1), add(Value::from(&y), 1)),
        ["variable at <root>.lhs: %x -> %y"]
    );
    let step = |rest: Value| Value::from(Step::new(rest));
    assert_eq!(
        lines(
            step(Int::new(1).into()),
            step(add(Value::from(&x), 2).into())
        ),
        ["replaced at <root>.rest: term.Int(value=1) -> term.Add(lhs=%x, rhs=2)"]
    );
    // A name that is not a word cannot stand for a variable.
    let odd = Var::new("a b");
    assert_eq!(
        lines(add(Value::from(&odd), 1), add(Value::from(&y), 1)),
        ["variable at <root>.lhs: term.Var() -> %y"]
    );
}

#[test]
fn a_tree_of_which_nothing_is_kept_is_replaced_as_a_whole() {
    let x = Value::from(Var::new("x"));
    let step = |rest: Value| Value::from(Step::new(rest));
    let sum = |value: &Value| add(value.clone(), add(1, 2));
    // As in constant folding, at the root and below nodes that stay.
    let folded: Value = Int::new(3).into();
    let around: [fn(Value) -> Value; 2] =
        [|value| value, |value| Value::from(Step::new(add(value, 7)))];
    for around in around {
        let sum = |value: &Value| Value::from(sum(value));
        let found = lines(around(sum(&folded)), around(folded.clone()));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("unwrapped at "), "{found:?}");
        let found = lines(around(sum(&x)), around(folded.clone()));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("replaced at "), "{found:?}");
    }
    // A part that stays is wrapped.
    let found = lines(step(sum(&x).into()), step(step(sum(&x).into())));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("wrapped at <root>: "), "{found:?}");
}

#[test]
fn places_of_both_sides_are_named_if_they_differ() {
    let values = |first: &[i64], inner: i64| {
        let outer = first.iter().map(|&number| Value::from(number));
        let chain = Value::from(Step::new(Value::from(Step::new(add(inner, 100)))));
        array(outer.chain([chain]))
    };
    let found = lines(values(&[], 1), values(&[5], 2));
    let expected = "value at <root>[0].rest.rest.lhs on the left, <root>[1].rest.rest.lhs on the \
                    right: 1 -> 2";
    assert_eq!(found, ["inserted at <root>[0]: 5", expected]);
    let found = difference(values(&[], 1), values(&[5], 2));
    let record = found.record().expect("a record");
    assert_eq!(record.changes[1].to_string(), expected);
}
