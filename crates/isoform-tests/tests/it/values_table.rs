//! The values of `tests/cases/values.txt`, and values without text.

use isoform::compare::StructuralKey;
use isoform::text::from_text;
use isoform::values::{DType, List, Tensor};
use isoform::{Array, Map, Value};

use crate::build::{PLAIN, SKIPPED, Says, arr, builds, judge, map};

/// The number of lines of values in the file.
const GROUPS: usize = 69;

fn tensor(dtype: &str, shape: &[i64], data: impl Into<bytes::Bytes>) -> Value {
    let dtype: DType = dtype.parse().expect("a dtype");
    let made = Tensor::new(dtype, shape.to_vec(), data);
    made.expect("the sizes fit").into()
}

/// NaNs other than the NaN of text: signalling, and with a payload.
fn other_nans() -> [Value; 2] {
    [0x7ff0_0000_0000_0001, 0xfff8_0000_0000_0123].map(|bits| f64::from_bits(bits).into())
}

/// Values of one group are equal, values of two groups are not.
fn groups() -> Vec<Vec<Value>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/values.txt");
    let text = std::fs::read_to_string(path).expect("the file of values");
    let lines = text.lines().filter(|line| line.starts_with('['));
    let group = |line: &str| {
        let values: Array = from_text(line).and_then(|line| line.extract()).expect(line);
        let mut values: Vec<Value> = values.iter().cloned().collect();
        // A number of another type is the same value, and NaNs have one text only.
        match line {
            "[1]" => values.push(1i128.into()),
            "[nan, nan]" => values.extend(other_nans()),
            _ => (),
        }
        values
    };
    lines.map(group).collect()
}

#[test]
fn every_pair_of_values() {
    let groups = groups();
    assert_eq!(groups.len(), GROUPS);
    assert!(groups.iter().all(|group| !group.is_empty()));
    let mut failures = Vec::new();
    for build in builds() {
        for (i, left) in groups.iter().enumerate() {
            for (j, right) in groups.iter().enumerate().skip(i) {
                let says = if i == j { Says::Equal } else { Says::Differ };
                for (l, r) in left.iter().flat_map(|l| right.iter().map(move |r| (l, r))) {
                    let name = format!("{l:?} and {r:?}");
                    failures.extend(judge(&name, l, r, PLAIN, says));
                    let (l, r) = (build.constant(l), build.constant(r));
                    failures.extend(judge(&format!("{name} in a field"), &l, &r, PLAIN, says));
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn zeros_and_nans_compare_alike_at_every_place() {
    let payload = f64::from_bits(f64::NAN.to_bits() ^ 1);
    for b in builds() {
        let doubles = |x: f64| {
            let data = [1.0, x].into_iter().flat_map(|x| x.to_le_bytes());
            tensor("float64", &[2], data.collect::<Vec<u8>>())
        };
        // All places for a number; the rule is the same in all of them.
        let places: [&dyn Fn(f64) -> Value; 9] = [
            &|x| x.into(),
            &|x| b.constant(x),
            &|x| b.frozen(x, 1),
            &|x| {
                b.node(
                    isoform_testing::family::Role::Literal,
                    vec![().into(), 1.into(), x.into()],
                )
            },
            &|x| [x].into(),
            &|x| List::from(vec![x]).into(),
            &|x| map([("k".into(), x.into())]),
            &|x| map([(x.into(), 1.into())]),
            &doubles,
        ];
        for (index, place) in places.into_iter().enumerate() {
            for (left, right, says) in [
                (0.0, -0.0, Says::Differ),
                (-0.0, -0.0, Says::Equal),
                (f64::NAN, payload, Says::Equal),
                (f64::NAN, -payload, Says::Equal),
                (f64::NAN, f64::INFINITY, Says::Differ),
            ] {
                let name = format!("{left} and {right} at place {index}");
                let failures = judge(&name, &place(left), &place(right), PLAIN, says);
                assert!(failures.is_empty(), "\n{}", failures.join("\n"));
                let key = |x: f64| StructuralKey::new(place(x)).expect("hashable");
                assert_eq!(key(left) == key(right), says == Says::Equal, "{name}");
            }
        }
    }
    // `==` of values and the lookup in maps follow the same rule.
    let table: Map = [(0.0.into(), 1.into()), (f64::NAN.into(), 2.into())]
        .into_iter()
        .collect();
    assert_eq!(table.get(0.0), Some(&1.into()));
    assert_eq!(table.get(-0.0), None);
    assert_eq!(table.get(payload), Some(&2.into()));
    assert_ne!(Value::from(0.0), Value::from(-0.0));
    assert_eq!(Value::from(f64::NAN), Value::from(payload));
}

#[test]
fn skipped_tensor_content() {
    let data = [0, 0, 128, 63, 0, 0, 128, 63];
    let one = tensor("float32", &[2], data.to_vec());
    let cases = [
        ("content", tensor("float32", &[2], vec![0; 8]), Says::Equal),
        (
            "shape",
            tensor("float32", &[1, 2], data.to_vec()),
            Says::Differ,
        ),
        ("dtype", tensor("int32", &[2], data.to_vec()), Says::Differ),
    ];
    let mut failures = Vec::new();
    for (name, other, says) in cases {
        failures.extend(judge(name, &one, &other, SKIPPED, says));
        failures.extend(judge(name, &one, &other, PLAIN, Says::Differ));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn tensors_at_any_part_of_a_buffer_compare_by_content() {
    let block = bytes::Bytes::from((0..=255u8).chain(0..=255).collect::<Vec<_>>());
    let part = |from: usize| tensor("int32", &[2, 3], block.slice(from..from + 24));
    let wide = |shape: &[i64]| tensor("int32", shape, block.slice(0..24));
    for (left, right, says) in [
        (part(1), part(257), Says::Equal),
        (part(1), part(2), Says::Differ),
        (wide(&[2, 3]), wide(&[3, 2]), Says::Differ),
        (
            tensor("int32", &[], vec![0; 4]),
            tensor("int32", &[], vec![0; 4]),
            Says::Equal,
        ),
        (
            tensor("int32", &[0, 7], vec![]),
            tensor("int32", &[0, 7], vec![]),
            Says::Equal,
        ),
    ] {
        let failures = judge("tensors", &left, &right, PLAIN, says);
        assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    }
}

/// Only values with a text are in the file: an opaque value has none.
#[test]
fn an_opaque_value_is_not_compared_with_itself() {
    let opaque = Value::opaque(1u8);
    let failures = judge("opaque", &opaque, &opaque, PLAIN, Says::TypeError("<root>"));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    let pair = arr([&1.into(), &opaque]);
    let failures = judge("opaque", &pair, &pair, PLAIN, Says::TypeError("<root>[1]"));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
