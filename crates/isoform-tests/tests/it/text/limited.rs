//! Texts with a limited number of parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform_ir::tir::IntImm;

use super::*;

fn limited(value: impl Into<Value>, parts: usize) -> String {
    let text = TextOptions::default().parts(parts).to_text(value);
    text.expect("it has a text").trim_end().to_owned()
}

fn numbers(count: i64) -> Array<i64> {
    (0..count).collect::<Vec<i64>>().into()
}

#[test]
fn further_parts_are_an_ellipsis() {
    assert_eq!(limited(numbers(5), 0), "...");
    assert_eq!(limited(numbers(5), 1), "[...]");
    assert_eq!(limited(numbers(5), 3), "[0, 1, ...]");
    assert_eq!(limited(numbers(5), 5), "[0, 1, 2, 3, ...]");
    // The array and its elements.
    assert_eq!(limited(numbers(5), 6), "[0, 1, 2, 3, 4]");
    let nested = Value::from([Value::from(numbers(3)), numbers(3).into(), 7.into()]);
    assert_eq!(limited(nested.clone(), 4), "[[0, 1, ...], ...]");
    assert_eq!(limited(nested, 6), "[[0, 1, 2], [...], ...]");
}

#[test]
fn maps_end_after_a_value() {
    let map = || {
        let entries = (0..4_i64).map(|key| (Value::from(key), Value::from(key * 10)));
        Value::from(entries.collect::<Map<Value, Value>>())
    };
    assert_eq!(limited(map(), 3), "{0: 0, ...: ...}");
    // The key has room, and its value has none.
    assert_eq!(limited(map(), 4), "{0: 0, 1: ..., ...: ...}");
    assert_eq!(limited(map(), 9), "{0: 0, 1: 10, 2: 20, 3: 30}");
    let dict = Value::from(Dict::<Value, Value>::new());
    assert_eq!(limited(dict, 1), "Dict{}");
}

#[test]
fn sharing_is_kept() {
    let shared = Value::from(List::from(vec![Value::from(1)]));
    let items = [shared.clone(), shared, numbers(100).into()];
    // A part that occurs again counts again.
    assert_eq!(
        limited(Value::from(items), 6),
        "%0 = List[1]\n[%0, %0, [0, ...]]"
    );
}

#[test]
fn long_texts_are_cut() {
    let long = "é".repeat(2_000);
    let text = limited(Value::from(long.as_str()), 9);
    assert!(text.ends_with("\"..."), "{text}");
    assert!(text.chars().count() < 600);
    let bytes = Value::from(Bytes::from(vec![0_u8; 5_000]));
    assert!(limited(bytes, 9).ends_with("..."));
    // Without a limit, the whole string is printed.
    assert_eq!(
        text_of(Value::from(long.as_str()))
            .trim_end()
            .chars()
            .count(),
        2_002
    );
    assert_eq!(limited(Value::from("short..."), 9), "\"short...\"");
}

#[test]
fn a_part_that_contains_itself_is_no_text() {
    let list = List::from(vec![Value::from(1)]);
    list.push(Value::from(list.clone())).expect("a list");
    let options = TextOptions::default().parts(100);
    let error = options.to_text(list).expect_err("a cycle");
    assert!(error.to_string().contains("contains itself"), "{error}");
}

#[test]
fn the_cost_is_that_of_the_printed_parts() {
    let objects = |count: i64| {
        let objects = (0..count).map(|number| IntImm::new(DType::INT64, number));
        let objects = objects.map(|object| Value::from(object.expect("in range")));
        Value::from(Array::<Value>::from(objects.collect::<Vec<_>>()))
    };
    let visited = |count: i64| {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let options = TextOptions::default().parts(50).annotate(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        });
        options.to_text(objects(count)).expect("it has a text");
        calls.load(Ordering::Relaxed)
    };
    assert_eq!(visited(1_000), visited(100_000));
    assert!(visited(1_000) < 50);
}
