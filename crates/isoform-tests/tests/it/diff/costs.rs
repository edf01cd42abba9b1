//! The work for a difference, as counts.

use isoform::compare::{ChangeKind, Difference, diff};
use isoform::files::DifferenceRecord;
use isoform::paths::AccessPath;
use isoform::values::Tensor;
use isoform::{Map, Value, structural_equal};

use isoform_testing::source::{scaled, split_mix};

use crate::support::terms::*;

/// The difference, which builds the right value in at most this many steps for each part
/// of both sides.
#[track_caller]
fn check(left: &Value, right: &Value, parts: u64, changes: usize) -> Difference {
    let found = diff(left, right).expect("a difference");
    let costs = found.costs();
    assert!(!costs.is_whole);
    // Where a part may have been wrapped, up to 32 parts are searched for it.
    assert!(costs.visits <= 40 * parts, "{costs:?}");
    assert_eq!(found.changes().len(), changes, "{}", found.summary());
    let built = found.apply(left).expect("a value");
    assert!(structural_equal(built, right).expect("comparable"));
    found
}

fn ints(count: i64) -> Vec<i64> {
    (0..count).collect()
}

#[test]
fn a_deep_chain() {
    let depth = scaled(1_000_000);
    let chain = |leaf: i64| steps(depth, int(leaf));
    let (left, right) = (chain(1), chain(2));
    let found = check(&left, &right, 2 * depth as u64, 1);
    assert_eq!(found.changes()[0].left_path().steps().len(), depth + 1);
    drop((left, right));
    drop(found);
}

/// A chain of nodes in which every tenth node has this number beside the rest.
fn numbered(depth: usize, number: i64) -> Value {
    let mut value = Value::from(int(0));
    for at in 0..depth {
        value = match at % 10 {
            0 => add(value, int(number + at as i64)).into(),
            _ => Step::new(value).into(),
        };
    }
    value
}

#[test]
fn the_places_of_many_changes_in_a_deep_chain_share_their_paths() {
    let text = |depth: usize| {
        let (left, right) = (numbered(depth, 0), numbered(depth, 1_000_000));
        let found = diff(&left, &right).expect("a difference");
        assert_eq!(found.changes().len(), depth / 10);
        let text = found.to_json().expect("a text");
        let record = DifferenceRecord::from_json(&text).expect("a record");
        let changes = record.changes.iter().zip(found.changes());
        for (record, change) in changes.step_by(97) {
            assert_eq!(record.left_path(), change.left_path());
            assert_eq!(record.right_path(), change.right_path());
        }
        assert_eq!(record.to_json().expect("a text"), text);
        text
    };
    let (short, long) = (text(2_000).len(), text(8_000).len());
    assert!(long < 5 * short, "{short} {long}");
}

#[test]
fn a_place_leads_outwards_without_its_path() {
    let depth = 100_000;
    let (left, right) = (numbered(depth, 0), numbered(depth, 1_000_000));
    let found = diff(&left, &right).expect("a difference");
    let mut steps = 0;
    for change in found.changes() {
        for (left, right) in change.places() {
            for place in [left, right] {
                let (owner, step) = place.around().next().expect("a part of something");
                let at = AccessPath::from_steps(vec![step]).get(&owner);
                assert_eq!(at.ok(), place.value());
                steps += 1;
            }
        }
    }
    assert_eq!(steps, depth / 5);
}

#[test]
fn deep_chains_that_are_wrapped_at_the_leaf() {
    let depth = scaled(100_000);
    let chain = |leaf: Value| steps(depth, leaf);
    check(
        &chain(add(int(1), int(2)).into()),
        &chain(add(add(int(1), int(2)), int(3)).into()),
        2 * depth as u64,
        1,
    );
}

#[test]
fn wide_lists() {
    let width = scaled(1_000_000) as i64;
    let left = Value::from(ints(width));
    for step in [width, 1000] {
        let mut items = ints(width);
        for at in (0..items.len()).step_by(step as usize) {
            items[at] = -1;
        }
        let changes = (width / step) as usize;
        check(&left, &Value::from(items), 2 * width as u64, changes);
    }
    let others: Vec<i64> = (width..2 * width).collect();
    check(
        &left,
        &Value::from(others),
        2 * width as u64,
        width as usize,
    );
}

#[test]
fn a_list_that_is_reversed() {
    let width = scaled(1_000_000) as i64;
    let mut items = ints(width);
    items.reverse();
    let found = diff(ints(width), items).expect("a difference");
    assert!(!found.costs().is_whole);
}

#[test]
fn equal_items_and_one_more() {
    let items = |count: usize| array((0..count).map(|_| add(int(1), int(2)).into()));
    check(&items(100_000), &items(100_001), 200_001, 1);
    let ints = |count: usize| Value::from(vec![7i64; count]);
    check(&ints(100_000), &ints(100_001), 200_001, 1);
}

#[test]
fn shared_sums() {
    let tower = |leaf: i64| Value::from(doubled(70, int(leaf)));
    let found = check(&tower(1), &tower(2), 140, 1);
    assert_eq!(found.changes()[0].count(), u64::MAX);
}

fn butterfly(
    levels: usize,
    make: impl Fn(&Value, &Value) -> Value,
    leaf: impl Fn(i64) -> Value,
) -> Value {
    let width = 1 << levels;
    let mut row: Vec<Value> = (0..width).map(leaf).collect();
    for level in 0..levels {
        row = (0..row.len())
            .map(|at| make(&row[at], &row[at ^ (1 << level)]))
            .collect();
    }
    array(row)
}

#[test]
fn butterflies() {
    for which in [0, 31] {
        let tree = |edited: i64| {
            let leaf = |at| Value::from(int(if at == which { edited } else { at }));
            butterfly(6, |l, r| add(l, r).into(), leaf)
        };
        check(&tree(which), &tree(-5), 64 * 7 * 8, 1);
        let dag = |edited: i64| {
            let leaf = |at| call("input", if at == which { edited } else { at });
            butterfly(6, |l, r| call("add", array([l.clone(), r.clone()])), leaf)
        };
        check(&dag(which), &dag(-5), 64 * 7 * 8, 1);
    }
}

#[test]
fn maps_with_other_keys() {
    let count = scaled(100_000) as i64;
    let map = |name: &dyn Fn(i64) -> String| {
        let entries = (0..count).map(|at| (Value::from(name(at)), Value::from(int(at))));
        Value::from(entries.collect::<Map<Value, Value>>())
    };
    let left = map(&|at| format!("k{at}"));
    let few = map(&|at| match at % (count / 10) {
        0 => format!("new{at}"),
        _ => format!("k{at}"),
    });
    check(&left, &few, 2 * count as u64, 10);
    let all = map(&|at| format!("new{at}"));
    check(&left, &all, 2 * count as u64, count as usize);
}

#[test]
fn maps_that_lose_all_keys() {
    let count = scaled(100_000) as i64;
    let map = |from: i64| {
        let entries = (from..from + count).map(|at| (Value::from(at), Value::from(int(at))));
        Value::from(entries.collect::<Map<Value, Value>>())
    };
    check(&map(0), &map(count), 2 * count as u64, 2 * count as usize);
}

#[test]
fn trees_that_have_nothing_in_common() {
    let leaves = scaled(100_000);
    let left = Value::from(tree((0..leaves as i64).map(int).collect()));
    let mut chain = Value::from(1);
    for _ in 0..leaves {
        chain = Step::new(array([chain, Value::from("x")])).into();
    }
    check(&left, &chain, 4 * leaves as u64, 1);
    let other = Value::from(tree((leaves as i64..2 * leaves as i64).map(int).collect()));
    check(&left, &other, 4 * leaves as u64, leaves);
}

#[test]
fn permuted_parameters() {
    const COUNT: usize = 10_000;
    let function = |permuted: bool| {
        let vars: Vec<_> = (0..COUNT).map(|_| var("v")).collect();
        let body = array(
            vars.iter()
                .enumerate()
                .map(|(at, var)| add(var, int(at as i64)).into()),
        );
        let mut params = vars;
        if permuted {
            params.reverse();
        }
        fun(&params, body)
    };
    let found = diff(function(false), function(true)).expect("a difference");
    assert!(!found.costs().is_whole);
}

#[test]
fn dag_nodes_that_share_many_others() {
    const COUNT: i64 = 10_000;
    let graph = |edited: i64| {
        let many = array((0..COUNT).map(|at| call("input", at)));
        let users = (0..COUNT).map(|at| {
            let own = Value::from(if at == 77 { edited } else { at });
            call("use", array([many.clone(), own]))
        });
        array(users)
    };
    check(&graph(77), &graph(-1), 8 * COUNT as u64, 1);
}

#[test]
fn parts_that_are_shared_inside_of_dag_nodes() {
    let graph = |op: &str| {
        let mut tower = array([Value::from(1)]);
        for _ in 0..60 {
            tower = array([tower.clone(), tower.clone()]);
        }
        array([call("one", 1), call(op, tower)])
    };
    diff(graph("a"), array([call("one", 1)])).expect("a difference");
    diff(graph("a"), graph("b")).expect("a difference");
}

#[test]
fn objects_with_one_wide_list() {
    const COUNT: i64 = 2_000;
    let value = |edited: i64| {
        let wide = Value::from(ints(1_000_000));
        let users = (0..COUNT).map(|at| add(int(at + edited), wide.clone()).into());
        array(users)
    };
    let (left, right) = (value(0), value(1_000_000));
    check(&left, &right, 4 * 1_000_000, COUNT as usize);
}

#[test]
fn large_tensors() {
    let make = |edited: bool| {
        let mut bytes = vec![0u8; 100 << 20];
        if edited {
            bytes[77] = 1;
        }
        Value::from(
            Tensor::new("int8".parse().expect("a dtype"), vec![100 << 20], bytes)
                .expect("a tensor"),
        )
    };
    let (left, right) = (make(false), make(true));
    check(
        &array([left.clone(), Value::from(1)]),
        &array([right, Value::from(1)]),
        4,
        1,
    );
    let difference = check(
        &array([left.clone(), Value::from(1)]),
        &array([make(false), Value::from(2)]),
        4,
        1,
    );
    assert_eq!(difference.changes()[0].kind(), ChangeKind::Value);
}

#[test]
fn layers_of_shared_parts_that_all_differ() {
    const WIDTH: u64 = 300;
    let layers = |seed: u64| {
        let mut state = seed;
        let mut layer: Vec<Value> = (0..WIDTH as i64)
            .map(|index| add(index, seed as i64).into())
            .collect();
        for _ in 0..30 {
            let mut part = || layer[(split_mix(&mut state) % WIDTH) as usize].clone();
            layer = (0..WIDTH).map(|_| add(part(), part()).into()).collect();
        }
        let sum = |sum: Value, part| add(part, sum).into();
        layer.into_iter().fold(0.into(), sum)
    };
    let (left, right) = (layers(1), layers(2));
    let difference = diff(&left, &right).expect("a difference");
    // In every layer, any of 300 parts may be paired with any part of the other side.
    let costs = difference.costs();
    assert!(costs.visits <= (1 << 20) + 16 * costs.objects, "{costs:?}");
    let built = difference.apply(&left).expect("a value");
    assert!(structural_equal(built, right).expect("comparable"));
}

#[test]
fn shared_parts_whose_variables_are_bound_again() {
    const COUNT: i64 = 4_000;
    let nested = |partners: [usize; 2], last: i64| {
        let vars = [var("x"), var("y")];
        let shared = (0..COUNT).fold(Value::from(last), |sum, at| {
            add(add(&vars[0], at), sum).into()
        });
        let around = |inner: Value, at: i64| {
            let bound = &vars[partners[(at % 2) as usize]];
            fun([bound], array([shared.clone(), inner]))
        };
        (0..COUNT).fold(0.into(), around)
    };
    // Each scope binds the variable on the left to a different variable.
    let (left, right) = (nested([0, 0], 1), nested([0, 1], 2));
    let found = diff(&left, &right).expect("a difference");
    let costs = found.costs();
    assert!(costs.visits <= (1 << 22) + 16 * costs.objects, "{costs:?}");
    let built = found.apply(&left).expect("a value");
    assert!(structural_equal(built, right).expect("comparable"));
}
