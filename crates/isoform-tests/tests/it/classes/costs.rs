//! The work for a table of classes, as counts.

use isoform::compare::{ClassCosts, ClassOptions, subterm_classes};
use isoform::{Obj, Ref, Value};

use isoform_testing::source::scaled;

use crate::support::terms::*;

fn costs(value: &Value, options: ClassOptions) -> ClassCosts {
    options.classes(value).expect("has classes").costs()
}

/// n log2 n.
fn bound(visits: u64) -> u64 {
    visits * u64::from(visits.ilog2() + 1)
}

fn workload(depth: u32) -> Value {
    let x = var("x");
    let leaves = (0..1i64 << depth).map(|number| match number % 2 {
        0 => x.as_object().clone(),
        _ => int(number),
    });
    fun([&x], tree(leaves.collect()))
}

#[test]
fn a_tree_is_visited_once() {
    for map_free_vars in [false, true] {
        let options = ClassOptions {
            map_free_vars,
            ..ClassOptions::default()
        };
        let costs = costs(&workload(12), options);
        // The parameter is met in a definition, and separately.
        assert!(costs.visits <= (1 << 12) + (1 << 11) + 4, "{costs:?}");
        assert!(costs.map_updates <= 1 << 12, "{costs:?}");
        assert_eq!((costs.comparisons, costs.compared), (0, 0));
    }
}

#[test]
fn closed_subterms_need_no_maps() {
    let costs = costs(
        &tree((0..1000).map(int).collect()).into(),
        ClassOptions::default(),
    );
    assert_eq!((costs.map_updates, costs.map_copies), (0, 0));
}

#[test]
fn many_variables_take_n_log_n_updates() {
    for count in [9usize, 100, 4096] {
        let vars: Vec<Ref<Var>> = (0..count).map(|_| var("v")).collect();
        let leaves = || {
            vars.iter()
                .map(|var| var.as_object().clone())
                .collect::<Vec<_>>()
        };
        // A balanced tree, and chains leaning to each side.
        let left = leaves().into_iter().reduce(add);
        let right = leaves().into_iter().reduce(|one, other| add(other, one));
        for body in [tree(leaves()), left.expect("some"), right.expect("some")] {
            let costs = costs(&fun(&vars, body), ClassOptions::default());
            assert!(
                costs.map_updates <= bound(costs.visits),
                "{count}: {costs:?}"
            );
            assert_eq!(costs.comparisons, 0);
        }
    }
}

#[test]
fn random_trees_take_n_log_n_updates() {
    let mut state = 3;
    for _ in 0..40 {
        let mut next =
            |limit: usize| isoform_testing::source::split_mix(&mut state) as usize % limit;
        let vars: Vec<Ref<Var>> = (0..1 + next(300)).map(|_| var("v")).collect();
        let mut parts: Vec<Ref<Obj>> = (0..2000)
            .map(|number| match next(3) {
                0 => int(number),
                _ => vars[next(vars.len())].as_object().clone(),
            })
            .collect();
        while parts.len() > 1 {
            let one = parts.swap_remove(next(parts.len()));
            let other = parts.swap_remove(next(parts.len()));
            parts.push(add(one, other));
        }
        let costs = costs(&fun(&vars, parts.swap_remove(0)), ClassOptions::default());
        assert!(costs.map_updates <= bound(costs.visits), "{costs:?}");
    }
}

/// The way in which a variable holds earlier variables.
#[derive(Clone, Copy, Debug)]
enum Held {
    /// In the way that a type holds the type of elements.
    Last,
    /// In the way that the value of an instruction holds operands.
    Sum,
}

/// Variables that hold their predecessors.
fn holders(count: usize, held: Held) -> Vec<Ref<Var>> {
    let mut vars = vec![var("v"), var("v")];
    while vars.len() < count {
        let [before, last] = [2, 1].map(|back| &vars[vars.len() - back]);
        let value = match held {
            Held::Last => last.as_object().clone(),
            Held::Sum => add(last, before),
        };
        vars.push(typed(value));
    }
    vars
}

#[test]
fn variables_that_hold_each_other_take_n_log_n_updates_and_copies() {
    const COUNT: usize = 4096;
    for (map_free_vars, held) in [false, true]
        .into_iter()
        .flat_map(|renames| [Held::Last, Held::Sum].map(|held| (renames, held)))
    {
        let options = ClassOptions {
            map_free_vars,
            ..ClassOptions::default()
        };
        let vars = holders(COUNT, held);
        let last = &vars[COUNT - 1];
        let uses = || array(vars.iter().map(Value::from));
        let statements = |body: Value| {
            let statements = vars.iter().map(|var| Value::from(Assign::new(1, var)));
            fun([], array(statements.chain([body])))
        };
        let mut shapes = vec![
            ("the last one", Value::from(last)),
            ("a parameter", fun([last], last)),
            ("parameters", fun(&vars, uses())),
            ("statements", statements(Value::from(last))),
            ("uses", uses()),
        ];
        // Without other owners than each other.
        let vars = holders(COUNT, held);
        let last = vars[COUNT - 1].clone();
        drop(vars);
        shapes.push(("a parameter alone", fun([&last], &last)));
        for (shape, value) in &shapes {
            let costs = costs(value, options);
            let n = costs.visits;
            let account = format!("{shape}, {held:?}, {options:?}: {costs:?}");
            assert!(n <= 10 * COUNT as u64, "{account}");
            assert!(costs.map_updates <= bound(n), "{account}");
            assert!(costs.map_copies <= bound(n), "{account}");
            assert_eq!(costs.comparisons, 0, "{account}");
        }
    }
}

#[test]
fn nested_expressions_that_are_referred_to_take_n_log_n_copies() {
    const COUNT: usize = 4096;
    let mut parts = vec![int(0)];
    for _ in 0..COUNT {
        let last = parts[parts.len() - 1].clone();
        parts.push(add(last, var("v")));
    }
    let costs = costs(&Value::from(&parts[COUNT]), ClassOptions::default());
    assert!(costs.map_updates <= bound(costs.visits), "{costs:?}");
    assert!(costs.map_copies <= bound(costs.visits), "{costs:?}");
}

#[test]
fn shared_trees_are_visited_once() {
    let value = doubled(60, int(1));
    let classes = subterm_classes(&value).expect("has classes");
    assert_eq!(classes.costs().visits, 61);
    assert_eq!(classes.len(), 61);
    let root = classes.class_of(&value).expect("the root");
    assert_eq!(classes.size(root), (1 << 61) - 1);
    let value = doubled(10, value);
    let classes = subterm_classes(&value).expect("has classes");
    let root = classes.class_of(&value).expect("the root");
    assert_eq!(classes.size(root), u64::MAX);
}

#[test]
fn exact_sharing_compares_only_where_equal_nodes_are_not_shared() {
    let options = ClassOptions {
        sharing: true,
        ..ClassOptions::default()
    };
    let chain = |count: i64| {
        let mut value = Value::from(0);
        for number in 0..count {
            value = call("f", vec![value, Value::from(number)]);
        }
        value
    };
    assert_eq!(costs(&chain(500), options).comparisons, 0);
    // An object containing a node of the equal pair is hashed completely.
    let both = costs(&array([chain(50), chain(50)]), options);
    assert!(
        both.comparisons > 0 && both.compared <= 100 * 200,
        "{both:?}"
    );
    let by_contents = costs(&array([chain(50), chain(50)]), ClassOptions::default());
    assert_eq!(by_contents.comparisons, 0);
}

#[test]
fn chains_of_a_million_levels() {
    let levels = scaled(1_000_000);
    let x = var("x");
    let steps = steps(levels, &x);
    let functions = (0..levels).fold(Value::from(&x), |inner, _| fun([&x], inner));
    for map_free_vars in [false, true] {
        let options = ClassOptions {
            map_free_vars,
            ..ClassOptions::default()
        };
        let classes = options.classes(&steps).expect("has classes");
        assert_eq!(classes.len(), levels + 1);
        assert!(classes.costs().map_updates <= 2);
        let classes = options.classes(&functions).expect("has classes");
        // The functions, one array of parameters in many objects, and the variable.
        assert_eq!(classes.len(), levels + 2);
        let costs = classes.costs();
        assert!(
            costs.map_updates <= 3 && costs.map_copies as usize <= levels,
            "{costs:?}"
        );
    }
}
