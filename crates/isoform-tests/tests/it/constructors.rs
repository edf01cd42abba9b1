//! Arguments of constructors for containers, enums and strings, and methods that containers
//! share with those of the standard library.

use std::collections::HashMap;

use isoform::values::{Dict, List};
use isoform::{Array, Map, Node, Ref, Result, Str, nodes};

/// An expression.
#[derive(Node, Default)]
#[node(key = "constructors.Expr")]
#[repr(C)]
struct Expr {}

/// A number.
#[derive(Node)]
#[node(key = "constructors.Int")]
#[repr(C)]
struct Int {
    #[node(base, default)]
    base: Expr,
    /// The number.
    value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "constructors.Sum")]
#[repr(C)]
struct Sum {
    #[node(base, default)]
    base: Expr,
    /// The terms.
    terms: Array<Ref<Expr>>,
}

/// A module.
#[derive(Node)]
#[node(key = "constructors.Module")]
#[repr(C)]
struct Module {
    /// The name.
    name: Str,
    /// Expressions by name.
    entries: Map<Str, Ref<Expr>>,
    /// Options by name.
    options: Dict<Str, i64>,
    /// Events.
    log: List<Str>,
}

fn terms(sum: &Ref<Sum>) -> Vec<i64> {
    let number = |term: &Ref<Expr>| term.downcast_ref::<Int>().map_or(0, |int| int.value);
    sum.terms.iter().map(number).collect()
}

#[test]
fn arrays_of_nodes_take_nodes_of_several_types() {
    let one = Int::new(1);
    let sum = Sum::new(nodes![&one, Int::new(2), Sum::new([])]);
    assert_eq!(terms(&sum), [1, 2, 0]);
    assert!(sum.terms[0].same_as(&one));
    // An array of the library, of the standard library, and none.
    assert_eq!(terms(&Sum::new(&sum.terms)), [1, 2, 0]);
    assert_eq!(terms(&sum.with_terms(sum.terms.clone())), [1, 2, 0]);
    assert_eq!(terms(&Sum::new(vec![one.clone().upcast()])), [1]);
    assert_eq!(terms(&Sum::new(nodes![])), [0; 0]);
    assert_eq!(terms(&Sum::new(vec![])), [0; 0]);
    assert_eq!(terms(&Sum::new(Array::new())), [0; 0]);
    let array: Array<Ref<Expr>> = nodes![one, &sum].into();
    assert_eq!(array.len(), 2);
}

#[test]
fn maps_take_pairs_that_convert() -> Result<()> {
    let (name, int) = (Str::from("m"), Int::new(1));
    let module = Module::new(&name, [("a", &int)], [("level", 3)], [Str::from("made")]);
    assert_eq!(module.name, name);
    assert_eq!(module.entries["a"].identity(), int.identity());
    assert_eq!(module.options.get("level"), Some(3));
    let map: Map<Str, i64> = Map::from([("x", 1), ("y", 2), ("x", 3)]);
    assert_eq!(map.values().copied().collect::<Vec<_>>(), [3, 2]);
    Ok(())
}

#[test]
fn containers_are_iterated_by_for() -> Result<()> {
    let array = Array::from([1i64, 2, 3]);
    let mut sum = 0;
    for number in &array {
        sum += number;
    }
    for number in array.clone() {
        sum += number;
    }
    assert_eq!(sum, 12);
    assert_eq!(
        (&array).into_iter().rev().copied().collect::<Vec<_>>(),
        [3, 2, 1]
    );

    let map: Map<Str, i64> = Map::from([("b", 1), ("a", 2)]);
    let owned: HashMap<String, i64> = (&map)
        .into_iter()
        .map(|(key, value)| (key.to_string(), *value))
        .collect();
    assert_eq!((owned.len(), owned["b"]), (2, 1));

    // Lists and dicts may change meanwhile.
    let list = List::from([1i64, 2]);
    for number in &list {
        list.push(number + 10)?;
    }
    assert_eq!((&list).into_iter().collect::<Vec<_>>(), [1, 2, 11, 12]);
    let dict: Dict<Str, i64> = Dict::from([("x", 1)]);
    for (key, value) in &dict {
        dict.insert(format!("{key}{key}").into(), value + 1)?;
    }
    assert_eq!(dict.get("xx"), Some(2));
    Ok(())
}

#[test]
fn arrays_and_strings_have_the_methods_of_the_standard_library() {
    let array = Array::from([5i64, 7]);
    assert_eq!(
        (array[1], array.first(), array.last()),
        (7, Some(&5), Some(&7))
    );
    assert_eq!((array.contains(&7), array.contains(&8)), (true, false));
    assert_eq!(array.to_vec(), [5, 7]);
    let empty = Array::<i64>::new();
    assert_eq!((empty.first(), empty.last()), (None, None));

    let text = Str::from("name");
    let owned = "name".to_owned();
    assert_eq!(text, owned);
    assert_eq!(owned, text);
    assert_eq!(String::from(text), "name");
}

#[test]
#[should_panic(expected = "position 2 in a sequence of 2 elements")]
fn a_position_behind_the_end_panics_as_in_a_slice() {
    let array = Array::from([5i64, 7]);
    assert_eq!(array[2], 0);
}

#[test]
#[should_panic(expected = "the map has no key \"b\"")]
fn a_missing_key_panics_as_in_a_hash_map() {
    let map: Map<Str, i64> = Map::from([("a", 1)]);
    assert_eq!(map["b"], 0);
}
