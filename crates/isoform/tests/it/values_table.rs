//! The contract's table of values: groups of equal values, all others differ.

use isoform::{Array, Bytes, DType, Device, Dict, List, Shape, Tensor, Value};

use crate::build::{PLAIN, SKIPPED, Says, builds, judge, map};

fn tensor(dtype: &str, shape: &[i64], data: &[u8]) -> Value {
    let dtype: DType = dtype.parse().expect("a dtype");
    let made = Tensor::new(dtype, shape.to_vec(), data.to_vec());
    made.expect("the sizes fit").into()
}

fn floats(bits: [u32; 2]) -> Value {
    let data: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    tensor("float32", &[2], &data)
}

fn bytes(content: &[u8]) -> Value {
    Bytes::from(content.to_vec()).into()
}

/// Values of one group are equal, values of two groups are not.
fn groups() -> Vec<Vec<Value>> {
    let nan = |bits: u64| Value::from(f64::from_bits(bits));
    let long = "a string of more than fourteen bytes";
    let dict = |value: i64| Value::from([(1.into(), value.into())].into_iter().collect::<Dict>());
    let one = 1f32.to_bits();
    vec![
        vec![Value::NONE, ().into()],
        vec![false.into()],
        vec![true.into()],
        vec![0.into()],
        vec![1.into(), 1i128.into()],
        vec![(-1).into()],
        vec![i64::MAX.into()],
        vec![(1i128 << 64).into(), (1i128 << 64).into()],
        vec![((1i128 << 64) + 1).into()],
        vec![(-(1i128 << 64)).into()],
        vec![1.0.into(), 1.0.into()],
        vec![0.0.into()],
        vec![(-0.0).into()],
        vec![
            f64::NAN.into(),
            nan(0x7ff0_0000_0000_0001),
            nan(0xfff8_0000_0000_0123),
        ],
        vec![f64::INFINITY.into()],
        vec![f64::NEG_INFINITY.into()],
        vec!["".into()],
        vec![bytes(b"")],
        vec!["a".into()],
        vec![bytes(b"a"), bytes(b"a")],
        vec!["a\0".into()],
        vec!["1".into()],
        vec![long.into(), long.to_string().into()],
        vec![bytes(long.as_bytes())],
        vec![
            DType::FLOAT32.into(),
            "float32".parse::<DType>().expect("a dtype").into(),
        ],
        vec![DType::INT32.into()],
        vec![Device::CPU.into(), Device::new(1, 0).into()],
        vec![Device::new(1, 1).into()],
        vec![Device::new(2, 0).into()],
        vec![
            Value::from(Array::<Value>::new()),
            Value::from(Array::<Value>::new()),
        ],
        vec![
            Value::from(List::<Value>::new()),
            Value::from(List::<Value>::new()),
        ],
        vec![map([]), map([])],
        vec![Value::from(Dict::<Value, Value>::new())],
        vec![Shape::from([]).into()],
        vec![[1].into(), [1].into()],
        vec![[1, 2].into()],
        vec![[2, 1].into()],
        vec![Value::from([Value::from([1]), 2.into()])],
        vec![Value::from([Value::from(1), [2].into()])],
        vec![List::from(vec![1i64]).into(), List::from(vec![1i64]).into()],
        vec![List::from(vec![1i64, 2]).into()],
        vec![Shape::from([1]).into(), Shape::from([1]).into()],
        vec![Shape::from([1, 2]).into()],
        vec![map([(1.into(), 1.into())])],
        vec![map([(1.into(), 2.into())])],
        vec![dict(1), dict(1)],
        vec![dict(2)],
        vec![
            floats([one, 0x7fc0_0000]),
            floats([one, 0xff80_0001]),
            floats([one, 0x7fff_ffff]),
        ],
        vec![floats([one, 0])],
        vec![floats([one, 0x8000_0000])],
        vec![floats([one, one]), floats([one, one])],
        vec![tensor("int32", &[2], &[0, 0, 128, 63, 0, 0, 128, 63])],
        vec![tensor("float32", &[1, 2], &[0, 0, 128, 63, 0, 0, 128, 63])],
        vec![tensor("float32", &[2, 1], &[0, 0, 128, 63, 0, 0, 128, 63])],
        vec![
            tensor("float16", &[1], &[0x00, 0x7e]),
            tensor("float16", &[1], &[0x01, 0xfc]),
        ],
        vec![tensor("float16", &[1], &[0x00, 0x7c])],
        vec![
            tensor("bfloat16", &[1], &[0xc0, 0x7f]),
            tensor("bfloat16", &[1], &[0x81, 0xff]),
        ],
        vec![
            tensor("float64", &[1], &f64::NAN.to_le_bytes()),
            tensor("float64", &[1], &(-f64::NAN).to_le_bytes()),
        ],
        // What would be a NaN as a float is a number as an integer.
        vec![tensor("int16", &[1], &[0x00, 0x7e])],
        vec![tensor("int16", &[1], &[0x01, 0xfc])],
    ]
}

#[test]
fn every_pair_of_values() {
    let groups = groups();
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
fn skipped_tensor_content() {
    let data = [0, 0, 128, 63, 0, 0, 128, 63];
    let one = tensor("float32", &[2], &data);
    let cases = [
        ("content", tensor("float32", &[2], &[0; 8]), Says::Equal),
        ("shape", tensor("float32", &[1, 2], &data), Says::Differ),
        ("dtype", tensor("int32", &[2], &data), Says::Differ),
    ];
    let mut failures = Vec::new();
    for (name, other, says) in cases {
        failures.extend(judge(name, &one, &other, SKIPPED, says));
        failures.extend(judge(name, &one, &other, PLAIN, Says::Differ));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
