//! Tests of the tensor data module, hostile input included.

use super::*;
use crate::proto::{SegmentProto, StringStringEntryProto};

fn tensor(elem: ElemType, dims: &[i64]) -> TensorProto {
    TensorProto {
        name: "w".into(),
        dims: dims.to_vec(),
        data_type: elem.code(),
        ..Default::default()
    }
}

fn raw(elem: ElemType, dims: &[i64], bytes: &[u8]) -> TensorProto {
    TensorProto {
        raw_data: Some(Bytes::copy_from_slice(bytes)),
        ..tensor(elem, dims)
    }
}

fn narrow(elem: ElemType, dims: &[i64], values: &[i32]) -> TensorProto {
    TensorProto {
        int32_data: values.to_vec(),
        ..tensor(elem, dims)
    }
}

fn read(tensor: &TensorProto) -> Result<TensorData> {
    decode_tensor(tensor, &ExternalResolver::none())
}

#[track_caller]
fn assert_same(left: &TensorProto, right: &TensorProto) {
    assert_eq!(read(left).unwrap(), read(right).unwrap());
}

#[track_caller]
fn assert_error(tensor: &TensorProto, expected: &str) {
    let error = read(tensor).unwrap_err().to_string();
    assert!(error.starts_with("tensor 'w'"), "{error}");
    assert!(error.contains(expected), "{error}");
}

#[test]
fn both_encodings_of_wide_types_are_equal() {
    use ElemType::{Complex64, Complex128, Double, Float, Int32, Int64, Uint32, Uint64};
    let floats = [1.5_f32, -0.0, f32::NAN, f32::INFINITY];
    let float_bytes: Vec<u8> = floats
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let doubles = [1.5_f64, -0.0, f64::NAN, 1e300];
    let double_bytes: Vec<u8> = doubles
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    for (elem, dims) in [(Float, &[4][..]), (Complex64, &[2][..])] {
        let typed = TensorProto {
            float_data: floats.to_vec(),
            ..tensor(elem, dims)
        };
        assert_same(&typed, &raw(elem, dims, &float_bytes));
    }
    for (elem, dims) in [(Double, &[2, 2][..]), (Complex128, &[1, 2][..])] {
        let typed = TensorProto {
            double_data: doubles.to_vec(),
            ..tensor(elem, dims)
        };
        assert_same(&typed, &raw(elem, dims, &double_bytes));
    }
    let typed = TensorProto {
        int64_data: vec![-2],
        ..tensor(Int64, &[])
    };
    assert_same(&typed, &raw(Int64, &[], &(-2_i64).to_le_bytes()));
    let typed = TensorProto {
        uint64_data: vec![u64::MAX],
        ..tensor(Uint64, &[1])
    };
    assert_same(&typed, &raw(Uint64, &[1], &[255; 8]));
    let typed = TensorProto {
        uint64_data: vec![u32::MAX.into()],
        ..tensor(Uint32, &[1])
    };
    assert_same(&typed, &raw(Uint32, &[1], &[255; 4]));
    assert_same(
        &narrow(Int32, &[1], &[-2]),
        &raw(Int32, &[1], &(-2_i32).to_le_bytes()),
    );
}

#[test]
fn both_encodings_of_narrow_types_are_equal() {
    for &elem in ElemType::ALL {
        match (elem, elem.bits()) {
            (ElemType::Bool, _) => {
                assert_same(&narrow(elem, &[2], &[1, 0]), &raw(elem, &[2], &[1, 0]));
            }
            (_, Some(16)) => {
                let bytes = [0x34, 0x12, 0xfe, 0xff];
                assert_same(
                    &narrow(elem, &[2], &[0x1234, 0xfffe]),
                    &raw(elem, &[2], &bytes),
                );
                assert_same(&narrow(elem, &[2], &[0x1234, -2]), &raw(elem, &[2], &bytes));
            }
            (_, Some(8)) => {
                let bytes = [0x12, 0xfe];
                assert_same(&narrow(elem, &[2], &[0x12, 0xfe]), &raw(elem, &[2], &bytes));
                assert_same(&narrow(elem, &[2], &[0x12, -2]), &raw(elem, &[2], &bytes));
            }
            (_, Some(4)) => {
                // Three elements, with rubbish in the padding of one encoding.
                let typed = narrow(elem, &[3], &[0x21, 0xf3]);
                assert_same(&typed, &raw(elem, &[3], &[0x21, 0x03]));
                assert_eq!(read(&typed).unwrap().bytes().unwrap()[..], [0x21, 0x03]);
            }
            (_, Some(2)) => {
                let typed = narrow(elem, &[5], &[0b11_10_01_00, 0b01_11_01_10]);
                assert_same(&typed, &raw(elem, &[5], &[0b11_10_01_00, 0b10]));
            }
            (_, Some(6)) => {
                // The layout of the specification, spelled out.
                let [a, b, c, d, e] = [0x2a_u8, 0x15, 0x3f, 0x01, 0x33];
                let typed = narrow(elem, &[5], &[a, b, c, d, e].map(i32::from));
                let bytes = [
                    a | (b & 0x3) << 6,
                    b >> 2 | (c & 0xf) << 4,
                    c >> 4 | d << 2,
                    e,
                ];
                assert_same(&typed, &raw(elem, &[5], &bytes));
                let mut dirty = bytes;
                dirty[3] |= 0xc0;
                assert_same(&typed, &raw(elem, &[5], &dirty));
            }
            _ => {}
        }
    }
}

#[test]
fn raw_data_is_shared_and_strings_are_kept() {
    let tensor_proto = raw(ElemType::Int4, &[2, 2], &[0x21, 0x43]);
    let data = read(&tensor_proto).unwrap();
    assert_eq!(
        data.bytes().unwrap().as_ptr(),
        tensor_proto.raw_data.unwrap().as_ptr()
    );
    assert_eq!(data.len(), 4);

    let strings = vec![Bytes::from_static(b"a"), Bytes::from_static(b"\xff")];
    let text = TensorProto {
        string_data: strings.clone(),
        ..tensor(ElemType::String, &[2])
    };
    let data = read(&text).unwrap();
    assert_eq!(data.strings(), Some(&strings[..]));
    assert_eq!(data.bytes(), None);
}

#[test]
fn empty_tensors_need_no_field() {
    for &elem in ElemType::ALL {
        let data = read(&tensor(elem, &[3, 0, i64::MAX])).unwrap();
        assert!(data.is_empty());
        if elem != ElemType::String {
            assert_eq!(data, read(&raw(elem, &[3, 0, i64::MAX], &[])).unwrap());
        }
        assert_error(&tensor(elem, &[1]), "got 0");
        assert_error(&tensor(elem, &[]), "got 0");
    }
}

#[test]
fn bad_shapes_are_errors() {
    assert_error(
        &raw(ElemType::Float, &[2, -1], &[0; 8]),
        "negative dimension -1",
    );
    for dims in [
        &[i64::MAX, i64::MAX][..],
        &[1 << 32, 1 << 32][..],
        &[i64::MAX, 2, 2][..],
    ] {
        assert_error(&raw(ElemType::Float, dims, &[0; 8]), "too many elements");
    }
    // The elements can be counted, but not their bytes.
    for elem in [ElemType::Float, ElemType::Complex128] {
        assert_error(&raw(elem, &[i64::MAX], &[0; 8]), "too many elements");
    }
    let complex = TensorProto {
        float_data: vec![0.0; 2],
        ..tensor(ElemType::Complex64, &[i64::MAX, 2])
    };
    assert_error(&complex, "too many elements");
    // A huge shape with little data must not reserve memory.
    assert_error(
        &raw(ElemType::Uint8, &[1 << 50], &[0; 8]),
        "expected 1125899906842624 bytes",
    );
    assert_error(&narrow(ElemType::Int32, &[1 << 50], &[0; 8]), "got 8");
}

#[test]
fn bad_amounts_are_errors() {
    assert_error(
        &raw(ElemType::Float, &[2], &[0; 7]),
        "expected 8 bytes for 2 elements of type float, got 7",
    );
    assert_error(
        &narrow(ElemType::Int8, &[2], &[1, 2, 3]),
        "expected 2 entries of int32_data for the shape and type int8, got 3",
    );
    assert_error(
        &narrow(ElemType::Int4, &[3], &[1, 2, 3]),
        "expected 2 entries",
    );
    let floats = TensorProto {
        float_data: vec![0.0; 3],
        ..tensor(ElemType::Complex64, &[2])
    };
    assert_error(&floats, "expected 4 entries of float_data");
    let strings = TensorProto {
        string_data: vec![Bytes::new()],
        ..tensor(ElemType::String, &[2])
    };
    assert_error(&strings, "expected 2 entries of string_data");
}

#[test]
fn contradictions_are_errors() {
    let twice = TensorProto {
        float_data: vec![0.0],
        ..raw(ElemType::Float, &[1], &[0; 4])
    };
    assert_error(&twice, "in raw_data and in float_data");
    let twice = TensorProto {
        int64_data: vec![0],
        ..narrow(ElemType::Int32, &[1], &[0])
    };
    assert_error(&twice, "in int32_data and in int64_data");
    let wrong = TensorProto {
        int64_data: vec![0],
        ..tensor(ElemType::Int32, &[1])
    };
    assert_error(&wrong, "belong in int32_data, got int64_data");
    assert_error(
        &raw(ElemType::String, &[1], b"x"),
        "belong in string_data, got raw_data",
    );

    for code in [0, 29, -1, i32::MAX] {
        let unknown = TensorProto {
            data_type: code,
            ..tensor(ElemType::Float, &[0])
        };
        assert_error(&unknown, "is not an element type");
    }
    let chunk = TensorProto {
        segment: Some(SegmentProto { begin: 0, end: 1 }),
        ..tensor(ElemType::Float, &[0])
    };
    assert_error(&chunk, "several chunks");
    let place = TensorProto {
        data_location: 7,
        ..tensor(ElemType::Float, &[0])
    };
    assert_error(&place, "7 is not a data location");

    let external = TensorProto {
        data_location: DataLocation::External.into(),
        external_data: vec![StringStringEntryProto {
            key: "location".into(),
            value: "weights".into(),
        }],
        ..tensor(ElemType::Float, &[0])
    };
    let twice = TensorProto {
        raw_data: Some(Bytes::new()),
        ..external.clone()
    };
    assert_error(&twice, "declared to be external but raw_data is present");
    let strings = TensorProto {
        data_type: ElemType::String.code(),
        ..external
    };
    assert_error(&strings, "strings cannot be stored");
}

#[test]
fn values_that_do_not_fit_are_errors() {
    assert_error(
        &narrow(ElemType::Uint8, &[2], &[0, 256]),
        "int32_data[1] is 256",
    );
    assert_error(&narrow(ElemType::Int8, &[1], &[-129]), "does not fit int8");
    assert_error(
        &narrow(ElemType::Float16, &[1], &[0x10000]),
        "does not fit float16",
    );
    assert_error(
        &narrow(ElemType::Uint4, &[2], &[0x100]),
        "does not fit uint4",
    );
    assert_error(
        &narrow(ElemType::Float6E2m3, &[1], &[64]),
        "does not fit float6e2m3",
    );
    assert_error(
        &narrow(ElemType::Float6E2m3, &[1], &[-1]),
        "does not fit float6e2m3",
    );
    assert_error(
        &narrow(ElemType::Bool, &[2], &[1, 2]),
        "element 1 of type bool",
    );
    assert_error(
        &raw(ElemType::Bool, &[2], &[1, 255]),
        "element 1 of type bool",
    );
    let wide = TensorProto {
        uint64_data: vec![1 << 32],
        ..tensor(ElemType::Uint32, &[1])
    };
    assert_error(&wide, "uint64_data[0] is 4294967296");
}
