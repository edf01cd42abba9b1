//! `Value`, `Str`, `DType` and `Device`.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::values::{Bytes, DType, DTypeCode, Device, Dict, List, Shape, Tensor, ValueRef};
use isoform::{Array, Map, Obj, Ref, Str, Value};
use num_bigint::BigInt;

use crate::support::{Expr, Int, Var, int, var};

#[test]
fn values_are_sixteen_bytes_and_threads_may_share_them() {
    fn shared<T: Send + Sync>() -> usize {
        size_of::<T>()
    }
    assert_eq!(shared::<Value>(), 16);
    assert_eq!(shared::<Str>(), 16);
    assert_eq!(shared::<Ref<Obj>>(), 8);
}

#[test]
fn strings_of_every_length_come_back() {
    let letters = ["a", "é", "→", "🦀"];
    for length in 0..40 {
        for letter in letters {
            // Multi-byte letters cross the end of the inline bytes everywhere.
            for prefix in 0..letter.len() {
                let text = "-".repeat(prefix) + &letter.repeat(length);
                let value = Value::from(text.as_str());
                assert_eq!(value.as_str(), Some(text.as_str()));
                assert!(value.is_str());
                assert!(matches!(value.view(), ValueRef::Str(found) if found == text));
                assert_eq!(value.as_object().is_some(), text.len() > 14, "{text:?}");
                assert_eq!(value, Value::from(text.clone()));
                assert_eq!(value.clone(), value);
                let str = value.extract::<Str>().expect("it is a string");
                assert_eq!(&*str, text);
                assert_eq!(str.to_string(), text);
            }
        }
    }
}

#[test]
fn strings_with_a_common_start_differ() {
    let texts = [
        "",
        "\0",
        "a",
        "a\0",
        "abcdefghijklmn",
        "abcdefghijklm",
        "abcdefghijklmno",
    ];
    for (i, left) in texts.iter().enumerate() {
        for (j, right) in texts.iter().enumerate() {
            assert_eq!(
                Value::from(*left) == Value::from(*right),
                i == j,
                "{left:?} {right:?}"
            );
        }
    }
}

#[test]
fn integers_are_kept_at_any_size() {
    let big = |text: &str| -> BigInt { text.parse().expect("digits") };
    for (text, small) in [
        ("9223372036854775806", true),
        ("9223372036854775807", true),
        ("9223372036854775808", false),
        ("-9223372036854775808", true),
        ("-9223372036854775809", false),
        ("0", true),
        ("123456789012345678901234567890", false),
    ] {
        let value = Value::from(big(text));
        assert_eq!(value.as_int().is_some(), small, "{text}");
        assert_eq!(value.type_name(), "int");
        assert_eq!(format!("{value:?}"), text);
        match value.view() {
            ValueRef::Int(number) => assert_eq!(number.to_string(), text),
            ValueRef::BigInt(number) => assert_eq!(number.to_string(), text),
            _ => panic!("{text} is no integer"),
        }
        assert_eq!(value, Value::from(big(text)));
        assert_ne!(value, Value::from(big(text) + 1));
    }
    assert_eq!(Value::from(u64::MAX), Value::from(i128::from(u64::MAX)));
    assert_eq!(Value::from(i64::MAX as u64), Value::from(i64::MAX));
    assert_eq!(Value::from(7usize), Value::from(7i32));
}

/// A value of every kind; values of one row are equal, all other pairs differ.
fn classes() -> Vec<Vec<Value>> {
    let shared = Value::from(var("x"));
    let bytes = |text: &[u8]| Value::from(text);
    vec![
        vec![Value::NONE, Value::default(), ().into(), None::<i64>.into()],
        vec![false.into()],
        vec![true.into()],
        vec![0.into(), 0u32.into()],
        vec![1.into(), Some(1).into()],
        vec![(-1).into()],
        vec![0.0.into()],
        vec![(-0.0).into()],
        vec![1.0.into()],
        vec![
            f64::NAN.into(),
            (-f64::NAN).into(),
            f64::from_bits(0x7ff0_0000_0000_0001).into(),
        ],
        vec![f64::INFINITY.into()],
        vec![f64::NEG_INFINITY.into()],
        vec![u64::MAX.into(), i128::from(u64::MAX).into()],
        vec!["".into()],
        vec!["1".into(), Str::from("1").into(), "1".to_string().into()],
        vec![
            "a text of more than 14 bytes".into(),
            "a text of more than 14 bytes".into(),
        ],
        vec!["a text of more than 15 bytes".into()],
        vec![bytes(b""), bytes(b"")],
        vec![bytes(b"1"), Bytes::from(b"1".to_vec()).into()],
        vec![DType::INT64.into()],
        vec![
            DType::FLOAT32.into(),
            DType::new(DTypeCode::Float, 32).into(),
        ],
        vec![DType::FLOAT32.with_lanes(4).into()],
        vec![Device::CPU.into(), Device::new(1, 0).into()],
        vec![Device::new(1, 1).into()],
        vec![Device::new(2, 0).into()],
        vec![shared.clone(), shared],
        vec![var("x").into()],
        vec![Array::<Value>::new().into()],
        vec![Array::<Value>::new().into()],
        vec![List::<Value>::new().into()],
        vec![Map::<Value, Value>::new().into()],
        vec![Dict::<Value, Value>::new().into()],
        vec![Shape::from([1]).into()],
        vec![Shape::from([1]).into()],
        vec![Function::new(|_| Ok(Value::NONE)).into()],
        vec![Value::opaque(1)],
    ]
}

#[test]
fn equality_separates_exactly_the_classes() {
    let classes = classes();
    for (i, lefts) in classes.iter().enumerate() {
        for (j, rights) in classes.iter().enumerate() {
            for left in lefts {
                for right in rights {
                    assert_eq!(left == right, i == j, "{left:?} and {right:?}");
                }
            }
        }
    }
}

#[test]
fn equal_values_have_equal_hashes_and_work_as_keys() {
    let state = RandomState::new();
    let classes = classes();
    for class in &classes {
        for value in class {
            assert_eq!(
                state.hash_one(value),
                state.hash_one(&class[0]),
                "{value:?}"
            );
        }
    }
    let keys: HashSet<Value> = classes.iter().flatten().cloned().collect();
    assert_eq!(keys.len(), classes.len());
    let mut map = Map::new();
    for (index, class) in classes.iter().enumerate() {
        for key in class {
            map.insert(key.clone(), Value::from(index));
        }
    }
    assert_eq!(map.len(), classes.len());
    for (index, class) in classes.iter().enumerate() {
        for key in class {
            assert_eq!(map.get(key), Some(&Value::from(index)), "{key:?}");
        }
    }
}

#[test]
fn accessors_answer_for_their_own_kind_only() {
    for value in classes().into_iter().flatten() {
        let answers = [
            value.is_none(),
            value.as_bool().is_some(),
            value.as_int().is_some(),
            value.as_float().is_some(),
            value.as_str().is_some(),
            value.as_dtype().is_some(),
            value.as_device().is_some(),
        ];
        let count = answers.iter().filter(|answer| **answer).count();
        let object = value.as_object().is_some();
        assert!(count == 1 || (count == 0 && object), "{value:?}");
    }
    assert_eq!(Value::from(true).as_bool(), Some(true));
    assert_eq!(Value::from(-5).as_int(), Some(-5));
    assert_eq!(Value::from(2.5).as_float(), Some(2.5));
    assert_eq!(
        Value::from(Device::new(2, 3)).as_device(),
        Some(Device::new(2, 3))
    );
    let dtype = DType::new(DTypeCode::UInt, 4).with_lanes(u16::MAX);
    assert_eq!(Value::from(dtype).as_dtype(), Some(dtype));
}

#[test]
fn views_and_type_names_cover_every_kind() {
    let tensor = Tensor::new(DType::BOOL, vec![1], vec![1]).expect("one byte");
    for (value, name) in [
        (Value::NONE, "None"),
        (true.into(), "bool"),
        (1.into(), "int"),
        (u64::MAX.into(), "int"),
        (1.5.into(), "float"),
        ("".into(), "str"),
        ("a text of more than 14 bytes".into(), "str"),
        (Value::from(&b"b"[..]), "bytes"),
        (DType::BOOL.into(), "dtype"),
        (Device::CPU.into(), "Device"),
        (Array::<Value>::new().into(), "Array"),
        (List::<Value>::new().into(), "List"),
        (Map::<Value, Value>::new().into(), "Map"),
        (Dict::<Value, Value>::new().into(), "Dict"),
        (Shape::from([]).into(), "Shape"),
        (tensor.into(), "Tensor"),
        (Function::new(|_| Ok(Value::NONE)).into(), "Function"),
        (int(1).into(), "it.Int"),
        (Value::opaque(1u8), "u8"),
    ] {
        assert_eq!(value.type_name(), name);
        assert_ne!(format!("{value:?}"), "");
    }
}

#[test]
fn extraction_follows_the_type_and_names_both_sides() {
    assert_eq!(Value::from(3).extract::<i64>().unwrap(), 3);
    assert_eq!(Value::from(3.5).extract::<f64>().unwrap(), 3.5);
    let node = Value::from(int(4));
    assert_eq!(node.extract::<Ref<Int>>().unwrap().value, 4);
    assert!(node.peek::<Ref<Expr>>().is_some());
    assert!(node.peek::<Ref<Var>>().is_none());
    assert!(node.peek::<i64>().is_none());

    let error = node.extract::<Ref<Var>>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(error.message(), "expected it.Var, got it.Int");
    let error = Value::from(true).extract::<i64>().unwrap_err();
    assert_eq!(error.message(), "expected int, got bool");
    let error = Value::from(1).extract::<f64>().unwrap_err();
    assert_eq!(error.message(), "expected float, got int");
    let error = Value::from(vec![1, 2]).extract::<Array<Str>>().unwrap_err();
    assert_eq!(error.message(), "expected Array[str], got Array");
    let typed = Value::from(vec![1, 2]).extract::<Array<i64>>().unwrap();
    assert_eq!(typed.iter().copied().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn dtypes_print_and_parse_back() {
    let codes = [
        DTypeCode::Int,
        DTypeCode::UInt,
        DTypeCode::Float,
        DTypeCode::Handle,
        DTypeCode::BFloat,
        DTypeCode::Complex,
        DTypeCode::Bool,
        DTypeCode::Float8E3M4,
        DTypeCode::Float8E4M3,
        DTypeCode::Float8E4M3B11FNUZ,
        DTypeCode::Float8E4M3FN,
        DTypeCode::Float8E4M3FNUZ,
        DTypeCode::Float8E5M2,
        DTypeCode::Float8E5M2FNUZ,
        DTypeCode::Float8E8M0FNU,
        DTypeCode::Float6E2M3FN,
        DTypeCode::Float6E3M2FN,
        DTypeCode::Float4E2M1FN,
    ];
    let mut names = HashSet::new();
    for code in codes {
        for bits in 1..=255 {
            for lanes in [1, 2, 16, u16::MAX] {
                let dtype = DType::new(code, bits).with_lanes(lanes);
                let name = dtype.to_string();
                assert_eq!(name.parse::<DType>().unwrap(), dtype, "{name}");
                assert_eq!(Value::from(dtype).as_dtype(), Some(dtype));
                assert!(names.insert(name.clone()), "{name} names two dtypes");
            }
        }
    }
}

#[test]
fn dtype_names_are_the_usual_ones() {
    for (name, code, bits, lanes) in [
        ("int64", DTypeCode::Int, 64, 1),
        ("uint8", DTypeCode::UInt, 8, 1),
        ("float32x4", DTypeCode::Float, 32, 4),
        ("bfloat16", DTypeCode::BFloat, 16, 1),
        ("bool", DTypeCode::Bool, 8, 1),
        ("bool1", DTypeCode::Bool, 1, 1),
        ("boolx8", DTypeCode::Bool, 8, 8),
        ("handle", DTypeCode::Handle, 64, 1),
        ("float8_e4m3fn", DTypeCode::Float8E4M3FN, 8, 1),
        ("float8_e4m3fnx2", DTypeCode::Float8E4M3FN, 8, 2),
        ("float4_e2m1fnx2", DTypeCode::Float4E2M1FN, 4, 2),
    ] {
        let dtype: DType = name.parse().expect("a known name");
        assert_eq!(
            (dtype.code(), dtype.bits(), dtype.lanes()),
            (code, bits, lanes)
        );
        assert_eq!(dtype.to_string(), name);
    }
}

#[test]
fn bad_dtype_names_are_refused() {
    for name in [
        "",
        "int",
        "uint",
        "float",
        "int0",
        "int256",
        "int-8",
        "int+8",
        "int 8",
        " int8",
        "int8 ",
        "int8x",
        "int8x0",
        "int8x65536",
        "int8x-1",
        "int8x+1",
        "int8x2x2",
        "x4",
        "Int8",
        "integer8",
        "float8_",
        "float8_e9m9",
        "int٣",
        "8",
        "int8.0",
        "boolean",
    ] {
        let error = name.parse::<DType>().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(
            error.message().ends_with(&format!("got {name:?}")),
            "{error}"
        );
    }
}

#[test]
fn packed_sizes_round_up_and_do_not_overflow() {
    assert_eq!(DType::FLOAT32.byte_size(3), Some(12));
    assert_eq!(DType::new(DTypeCode::Int, 4).byte_size(3), Some(2));
    assert_eq!(
        DType::new(DTypeCode::Int, 1).with_lanes(3).byte_size(3),
        Some(2)
    );
    assert_eq!(DType::INT64.byte_size(0), Some(0));
    assert_eq!(DType::INT64.byte_size(u64::MAX), None);
}

#[test]
fn devices_print_and_parse_back() {
    for kind in 0..40 {
        for ordinal in [0, 1, u32::MAX] {
            let device = Device::new(kind, ordinal);
            let name = device.to_string();
            assert_eq!(name.parse::<Device>().unwrap(), device, "{name}");
            assert_eq!(Value::from(device).as_device(), Some(device));
        }
    }
    assert_eq!("cuda:1".parse::<Device>().unwrap(), Device::new(2, 1));
    assert_eq!("cpu".parse::<Device>().unwrap(), Device::CPU);
    assert_eq!(Device::CPU.to_string(), "cpu:0");
}

#[test]
fn bad_device_names_are_refused() {
    for name in [
        "",
        ":",
        ":0",
        "cpu:",
        "cpu:x",
        "cpu:-1",
        "cpu:+1",
        "cpu: 1",
        "CPU",
        "gpu9",
        "cuda:1:2",
        "cuda:4294967296",
        "device:0",
        "device-1:0",
        "devices",
    ] {
        let error = name.parse::<Device>().expect_err(name);
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(
            error.message().ends_with(&format!("got {name:?}")),
            "{error}"
        );
    }
}

#[test]
fn values_that_differ_have_different_short_texts() {
    let unlike: [Value; 16] = [
        1.into(),
        1.0.into(),
        true.into(),
        "1".into(),
        b"1".as_slice().into(),
        Value::NONE,
        "None".into(),
        1e20.into(),
        100_000_000_000_000_000_000i128.into(),
        0.0.into(),
        (-0.0).into(),
        0.into(),
        [1].into(),
        List::from(vec![1i64]).into(),
        Map::<Value, Value>::new().into(),
        Dict::<Value, Value>::new().into(),
    ];
    let texts: HashSet<String> = unlike.iter().map(|v| format!("{v:?}")).collect();
    assert_eq!(texts.len(), unlike.len(), "{texts:?}");
}
