//! `AccessPath` and `AccessStep`.

use std::collections::HashSet;

use isoform::compare::first_structural_mismatch;
use isoform::errors::ErrorKind;
use isoform::paths::{AccessPath, AccessStep};
use isoform::values::{Dict, List, Shape};
use isoform::{Map, Value};

use crate::support::{Call, Link, add, chain, int, scaled, var};

fn root() -> AccessPath {
    AccessPath::root()
}

/// One step of each kind.
fn steps() -> Vec<(AccessStep, &'static str)> {
    vec![
        (AccessStep::Attr("body".into()), ".body"),
        (AccessStep::ArrayItem(3), "[3]"),
        (AccessStep::MapItem("k".into()), "[\"k\"]"),
        (AccessStep::MapItem(1.into()), "[1]"),
        (AccessStep::AttrMissing("body".into()), ".<missing:body>"),
        (AccessStep::ArrayItemMissing(3), "[<missing:3>]"),
        (AccessStep::MapItemMissing("k".into()), "[<missing:\"k\">]"),
    ]
}

#[test]
fn paths_print_as_expressions() {
    assert_eq!(root().to_string(), "<root>");
    let mut all = root();
    let mut text = "<root>".to_string();
    for (step, printed) in steps() {
        assert_eq!(step.to_string(), printed);
        all = all.join(step);
        text += printed;
    }
    assert_eq!(all.to_string(), text);
    assert_eq!(format!("{all:?}"), text);
}

#[test]
fn paths_are_built_compared_and_taken_apart() {
    let path = root().attr("body").array_item(1).map_item("k");
    assert_eq!(path.to_string(), "<root>.body[1][\"k\"]");
    assert_eq!(path.depth(), 3);
    let steps = path.steps().to_vec();
    assert_eq!(AccessPath::from_steps(steps), path);
    let parent = path.parent().expect("not the root");
    assert_eq!(parent, root().attr("body").array_item(1));
    assert_eq!(root().parent(), None);
    assert!(parent.is_prefix_of(&path) && path.is_prefix_of(&path));
    assert!(!path.is_prefix_of(&parent));
    assert!(!root().attr("bod").is_prefix_of(&path));
    // An array's position and a map's key are different steps.
    assert_ne!(root().array_item(1), root().map_item(1));
    assert_ne!(root().map_item(1), root().map_item(true));
}

#[test]
fn paths_are_followed() {
    let map: Map = [("k".into(), Shape::from([7, 8]).into())]
        .into_iter()
        .collect();
    let dict: Dict = [(1.into(), map.into())].into_iter().collect();
    let list: List = List::from(vec![Value::from(dict)]);
    let value = Value::from(Link::new(Call::new(vec![Value::from(0), list.into()])));
    let path = root().attr("next").attr("args").array_item(1).array_item(0);
    let path = path.map_item(1).map_item("k").array_item(1);
    assert_eq!(path.get(&value).unwrap(), Value::from(8));
    assert_eq!(root().get(&value).unwrap(), value);
}

#[track_caller]
fn fails(value: impl Into<Value>, path: AccessPath, kind: ErrorKind, message: &str) {
    let error = path.get(value).expect_err("the path leads nowhere");
    assert_eq!(error.kind(), kind);
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_step_that_leads_nowhere_names_the_place() {
    let call = || Call::new(vec![Value::from(0)]);
    let map = || -> Map { [("k".into(), call().into())].into_iter().collect() };
    fails(
        call(),
        root().attr("arg"),
        ErrorKind::Attribute,
        "AttributeError: type it.Call has no field 'arg', did you mean 'args'? (at <root>)",
    );
    fails(
        call(),
        root().attr("args").array_item(1),
        ErrorKind::Index,
        "IndexError: no element 1 (at <root>.args)",
    );
    fails(
        map(),
        root().map_item("k").attr("args").attr("x"),
        ErrorKind::Attribute,
        "AttributeError: type isoform.Array has no field 'x' (at <root>[\"k\"].args)",
    );
    fails(
        map(),
        root().map_item("q"),
        ErrorKind::Key,
        "KeyError: no key \"q\" (at <root>)",
    );
    fails(
        5,
        root().attr("x"),
        ErrorKind::Type,
        "TypeError: expected an object with a field 'x', got int (at <root>)",
    );
    fails(
        map(),
        root().array_item(0),
        ErrorKind::Type,
        "TypeError: expected a sequence for step [0], got Map (at <root>)",
    );
    fails(
        call(),
        root().attr("args").map_item(0),
        ErrorKind::Type,
        "TypeError: expected a map for step [0], got Array (at <root>.args)",
    );
    fails(
        List::from(vec![1i64]),
        root().array_item(usize::MAX),
        ErrorKind::Index,
        &format!("IndexError: no element {} (at <root>)", usize::MAX),
    );
}

#[test]
fn missing_steps_never_lead_anywhere() {
    let call = Value::from(Call::new(vec![Value::from(0)]));
    let map: Map = [("k".into(), 1.into())].into_iter().collect();
    let list = Value::from(vec![1]);
    for (value, step, kind) in [
        (
            call,
            AccessStep::AttrMissing("args".into()),
            ErrorKind::Attribute,
        ),
        (list, AccessStep::ArrayItemMissing(0), ErrorKind::Index),
        (
            map.into(),
            AccessStep::MapItemMissing("k".into()),
            ErrorKind::Key,
        ),
    ] {
        let error = root().join(step).get(&value).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.message().ends_with("is missing here"), "{error}");
    }
}

#[test]
fn object_keys_are_found_by_identity() {
    let (x, twin) = (var("x"), var("x"));
    let map: Map = [(Value::from(&x), 1.into())].into_iter().collect();
    assert_eq!(root().map_item(x).get(map.clone()).unwrap(), Value::from(1));
    let error = root().map_item(twin).get(map).unwrap_err();
    assert!(error.message().starts_with("no key it.Var("), "{error}");
}

#[test]
fn long_paths_and_keys_are_printed_short() {
    let length = scaled(1_000_000);
    let path = AccessPath::from_steps(vec![AccessStep::Attr("next".into()); length + 64]);
    let text = path.to_string();
    assert!(text.starts_with("<root>.next.next"), "{text}");
    assert!(text.contains(&format!("...<{length} steps>...")), "{text}");
    assert_eq!(text.matches(".next").count(), 64);

    let key = Value::from("k".repeat(1000));
    assert!(root().map_item(key).to_string().len() < 100);
    let deep = root().map_item(chain(length)).to_string();
    assert!(deep.len() < 200, "{deep}");
}

#[test]
fn a_deep_path_is_followed() {
    let depth = scaled(300_000);
    let mut value = Value::from(add(int(1), int(2)));
    for _ in 0..depth {
        value = Link::new(value).into();
    }
    let mut steps = vec![AccessStep::Attr("next".into()); depth];
    steps.push(AccessStep::Attr("rhs".into()));
    steps.push(AccessStep::Attr("value".into()));
    let path = AccessPath::from_steps(steps);
    assert_eq!(path.get(&value).unwrap(), Value::from(2));
    let error = path.attr("no").get(&value).unwrap_err();
    assert_eq!(error.path().map(AccessPath::depth), Some(depth + 2));
}

#[test]
fn every_kind_of_step_is_read_back() {
    let mut all = root();
    for (step, text) in steps() {
        let single = root().join(step.clone());
        // A number is read as a position, whatever it was before.
        let expected = match step {
            AccessStep::MapItem(key) if key == Value::from(1) => root().array_item(1),
            _ => single,
        };
        let parsed = AccessPath::parse(&format!("<root>{text}")).expect("a path");
        assert_eq!(parsed, expected);
        all = all.join(expected.steps()[0].clone());
    }
    assert_eq!(all.to_string().parse::<AccessPath>().expect("a path"), all);
    assert_eq!(AccessPath::parse("<root>").unwrap(), root());
    // The alternate form omits nothing.
    let mut long = root().map_item("a long key ".repeat(30));
    for index in 0..100 {
        long = long.array_item(index);
    }
    assert!(AccessPath::parse(&long.to_string()).is_err());
    assert_eq!(AccessPath::parse(&format!("{long:#}")).unwrap(), long);
}

#[test]
fn random_paths_are_read_back() {
    let mut state = 7u64;
    let mut below = move |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(3);
        (state >> 33) as usize % limit
    };
    let pieces = [
        "a", "_", "9", ".", "[", "]", "<", ">", "\"", "'", "\\", "\n", "\r", "\t", "\0", "\u{1b}",
        "é", "日", "\u{200b}", " ", "missing:", "...", "u{41}", "\u{7f}",
    ];
    for _ in 0..scaled(20_000) {
        let mut path = root();
        for _ in 0..below(5) {
            let text: String = (0..1 + below(4))
                .map(|_| pieces[below(pieces.len())])
                .collect();
            let bytes: Vec<u8> = (0..below(4)).map(|_| below(256) as u8).collect();
            let floats = [
                0.0,
                -0.0,
                1.5,
                1e300,
                5e-324,
                f64::NAN,
                f64::INFINITY,
                -1e-7,
            ];
            let key = match below(9) {
                0 => Value::NONE,
                1 => Value::from(below(2) == 1),
                2 => Value::from(-1 - below(100) as i64),
                3 => Value::from(floats[below(floats.len())]),
                4 => Value::from(&bytes[..]),
                5 => Value::from(isoform::values::DType::FLOAT32),
                6 => Value::from("cuda:1".parse::<isoform::values::Device>().unwrap()),
                7 => Value::from(i128::MAX - below(9) as i128),
                _ => Value::from(text.as_str()),
            };
            path = match below(6) {
                0 => path.attr(text),
                1 => path.attr_missing(text),
                2 => path.array_item(below(1000)),
                3 => path.array_item_missing(below(1000)),
                4 => path.map_item(key),
                _ => path.map_item_missing(key),
            };
        }
        let text = format!("{path:#}");
        let parsed = AccessPath::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed, path, "{text}");
        assert_eq!(format!("{parsed:#}"), text);
        // Whatever is cut off, the rest is a path or an error, never a panic.
        let mut cut = below(text.len() + 1);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        if let Ok(shorter) = AccessPath::parse(&text[..cut]) {
            assert_eq!(format!("{shorter:#}"), text[..cut]);
        }
        let _ = AccessPath::parse(&format!("<root>{}", &text[cut..]));
    }
}

#[test]
fn text_that_is_no_path_is_an_error() {
    let check = |text: &str, expected: &str| {
        let error = AccessPath::parse(text).expect_err("no path");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert_eq!(
            error.message(),
            format!("access path: {expected}"),
            "{text}"
        );
    };
    check("", "expected \"<root>\" at byte 0, got the end");
    check("root.a", "expected \"<root>\" at byte 0, got \"root.a\"");
    check(
        "<root>a",
        "expected a step: '.' or '[' at byte 6, got \"a\"",
    );
    check(
        "<root>.",
        "expected the name of a field at byte 7, got the end",
    );
    check("<root>[1", "expected \"]\" at byte 8, got the end");
    check(
        "<root>[\"a\\q\"]",
        "expected an escape sequence at byte 10, got \"q\\\"]\"",
    );
    let object = root().map_item(int(1)).to_string();
    let error = AccessPath::parse(&object)
        .expect_err("an object")
        .message()
        .to_string();
    assert!(
        error.contains("an object as key cannot be read back"),
        "{error}"
    );
    let cut = AccessPath::parse("<root>.a...<9 steps>...[1]").expect_err("cut short");
    assert!(cut.message().contains("cut short"), "{cut}");
}

#[test]
fn a_number_is_looked_up_in_maps_too() {
    let map: Map = [(7.into(), "seven".into())].into_iter().collect();
    let dict: Dict = [(7.into(), "seven".into())].into_iter().collect();
    let path = AccessPath::parse("<root>[7]").unwrap();
    assert_eq!(path.get(map).unwrap(), Value::from("seven"));
    assert_eq!(path.get(dict).unwrap(), Value::from("seven"));
}

#[test]
fn equal_paths_hash_alike() {
    let value = |last: i64| {
        let map: Map = [("a long key of a map".into(), [last].into())]
            .into_iter()
            .collect();
        Value::from([Value::from(1), map.into()])
    };
    let paths = |last: i64| {
        let found = first_structural_mismatch(value(last), value(0)).expect("comparable");
        found.expect("they differ")
    };
    let ((a, b), (c, _)) = (paths(2), paths(3));
    assert_eq!(a, b);
    assert_eq!(a, c);
    assert_eq!(HashSet::from([a, b, c]).len(), 1);
    let nan = |bits: u64| root().map_item(f64::from_bits(bits));
    let quiet = f64::NAN.to_bits();
    assert_eq!(HashSet::from([nan(quiet), nan(quiet ^ 1)]).len(), 1);
    let different = [root(), root().array_item(1), root().map_item(1)];
    assert_eq!(HashSet::from(different).len(), 3);
}
