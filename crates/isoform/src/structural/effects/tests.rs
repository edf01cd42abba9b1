//! The amount searched, the effects remembered, and the time of forgetting.

use isoform_macros::Node;

use super::{EffectTable, FEW, LIMIT, SURPLUS, Skip, find_effects};
use crate::kernel::container::{Array, Str};
use crate::kernel::object::access;
use crate::kernel::object::reference::Ref;
use crate::kernel::value::Value;

#[derive(Node)]
#[node(key = "effects.tests.Pair", crate = crate)]
#[repr(C)]
struct Pair {
    lhs: Value,
    rhs: Value,
}

#[derive(Node)]
#[node(key = "effects.tests.Var", kind = var, crate = crate)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
}

#[derive(Node)]
#[node(key = "effects.tests.Assign", crate = crate)]
#[repr(C)]
struct Assign {
    #[node(def)]
    var: Value,
    value: Value,
}

#[derive(Node)]
#[node(key = "effects.tests.Shared", kind = dag, crate = crate)]
#[repr(C)]
struct Shared {
    part: Value,
}

fn var() -> Ref<Var> {
    Var::new("v")
}

fn array(items: impl IntoIterator<Item = Value>) -> Value {
    items.into_iter().collect::<Array<Value>>().into()
}

/// A tree of `2^depth - 1` pairs with single owners.
fn tree(depth: u32) -> Value {
    match depth {
        0 => 1.into(),
        _ => Pair::new(tree(depth - 1), tree(depth - 1)).into(),
    }
}

/// The result of a search, and its visits.
fn search(table: &mut EffectTable, value: &Value) -> (Skip, u64) {
    let object = value.object_ref().expect("an object");
    let mut visits = 0;
    let skip = access::traversing(|section| find_effects(table, section, object, &mut visits));
    (skip.expect("no signal"), visits)
}

/// The number of listed occurrences of a searched object.
fn listed(table: &EffectTable, value: &Value) -> usize {
    let object = value.object_ref().expect("an object");
    table.find(object.ident()).expect("it is remembered").len()
}

#[test]
fn one_of_sixteen_objects_is_remembered() {
    let mut table = EffectTable::default();
    assert_eq!(search(&mut table, &tree(10)), (Skip::Repeat, 1023));
    // All with at least 31 pairs.
    assert_eq!(table.known.len(), 63);
    let mut chain = Value::from(0);
    for level in 0..200 {
        chain = Pair::new(level, chain).into();
    }
    let mut table = EffectTable::default();
    assert_eq!(search(&mut table, &chain), (Skip::Repeat, 200));
    // Every sixteenth, and the outermost pair.
    assert_eq!(table.known.len(), 13);
}

#[test]
fn an_occurrence_that_changes_nothing_is_not_listed() {
    let x = var();
    let uses = |count: usize| array(vec![Value::from(&x); count]);
    let assign = |value: Value| Value::from(Assign::new(&x, value));
    for (value, count) in [
        (uses(100), 1),
        (array([uses(3), assign(1.into()), uses(3)]), 2),
        (array([assign(1.into()), uses(3), assign(2.into())]), 1),
        (assign(uses(3)), 1),
        (array([tree(4)]), 0),
    ] {
        let mut table = EffectTable::default();
        assert_eq!(search(&mut table, &value).0, Skip::Repeat);
        assert_eq!(listed(&table, &value), count, "{value:?}");
    }
}

#[test]
fn many_variables_are_not_listed() {
    let vars: Vec<Value> = (0..=FEW).map(|_| var().into()).collect();
    let (few, many) = (array(vars[..FEW].to_vec()), array(vars.clone()));
    let mut table = EffectTable::default();
    assert_eq!(search(&mut table, &few).0, Skip::Repeat);
    assert_eq!(listed(&table, &few), FEW);
    assert!(matches!(search(&mut table, &many).0, Skip::Whole(_)));
    assert_eq!(listed(&table, &many), 0);
    // The same if the last variable comes from another part, or is defined.
    let last = vars[FEW].clone();
    let parts = array([few.clone(), last.clone()]);
    assert!(matches!(search(&mut table, &parts).0, Skip::Whole(_)));
    let defined = array([few.clone(), Assign::new(last, 1).into()]);
    assert!(matches!(search(&mut table, &defined).0, Skip::Defines(_)));
}

/// A part without variables is the same in all definition fields, and is searched once.
#[test]
fn what_a_search_knows_is_not_searched_in_definition_fields() {
    let part = tree(9);
    let fields = |count: usize| {
        let pattern = || array([Value::from(var()), part.clone()]);
        array((0..count).map(|_| Assign::new(pattern(), 1).into()))
    };
    let mut table = EffectTable::default();
    assert_eq!(search(&mut table, &part), (Skip::Repeat, 511));
    // A list of statements whose patterns contain a variable and the part.
    let (skip, visits) = search(&mut table, &fields(200));
    assert!(matches!(skip, Skip::Defines(_)));
    assert_eq!(visits, 1 + 4 * 200);

    // Otherwise the part is searched in every field, until the limit.
    let mut table = EffectTable::default();
    assert_eq!(
        search(&mut table, &fields(5)),
        (Skip::Repeat, 1 + 5 * (3 + 511))
    );
    let (skip, visits) = search(&mut EffectTable::default(), &fields(200));
    assert_eq!(skip, Skip::Never);
    assert!((4096..8192).contains(&visits), "{visits}");

    // The second meeting in one field does not search the part.
    let twice = Value::from(Assign::new(array([part.clone(), part.clone()]), 1));
    let (_, visits) = search(&mut EffectTable::default(), &twice);
    assert_eq!(visits, 1 + 1 + 511 + 1);
}

/// A second visit of the dag node, in another scope, does not repeat the definition, so no
/// object around the node can be skipped, whether the search enters the node or knows it.
#[test]
fn a_part_around_a_definition_in_a_dag_node_is_never_skipped() {
    let node = Value::from(Shared::new(Value::from(Assign::new(var(), 1))));
    let around = array([node.clone()]);
    assert_eq!(search(&mut EffectTable::default(), &around).0, Skip::Never);
    let mut table = EffectTable::default();
    assert_eq!(search(&mut table, &node).0, Skip::Never);
    assert_eq!(search(&mut table, &around).0, Skip::Never);
    let plain = Value::from(Shared::new(1));
    assert_ne!(search(&mut table, &array([plain])).0, Skip::Never);
}

#[test]
fn a_table_is_forgotten_when_programs_need_a_fraction_of_it() {
    let put = |table: &mut EffectTable, idents: std::ops::Range<usize>| {
        idents.for_each(|ident| table.put(ident as u64, Skip::Never, &[], None));
    };
    // Many small programs.
    let mut table = EffectTable::default();
    table.begin();
    for start in (0..LIMIT).step_by(1 << 10) {
        put(&mut table, start..start + (1 << 10));
        table.begin();
    }
    assert_eq!(table.size(), LIMIT);
    put(&mut table, LIMIT..LIMIT + 1);
    table.begin();
    assert_eq!(table.size(), 0);
    // One large program, and small programs.
    put(&mut table, 0..LIMIT + 1);
    table.begin();
    assert_eq!(table.size(), LIMIT + 1);
    let most = SURPLUS * (LIMIT + 1);
    put(&mut table, LIMIT + 1..2 * LIMIT);
    table.begin();
    put(&mut table, 2 * LIMIT..3 * LIMIT);
    table.begin();
    put(&mut table, 3 * LIMIT..4 * LIMIT);
    table.begin();
    put(&mut table, 4 * LIMIT..most);
    table.begin();
    assert_eq!(table.size(), most);
    put(&mut table, most..most + 1);
    table.begin();
    assert_eq!(table.size(), 0);
}
