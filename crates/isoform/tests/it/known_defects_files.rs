//! Known defects of similar engines that concern files: none of them may exist
//! here.

use isoform::{
    Function, JsonOptions, JsonReadOptions, List, Node, Ref, Str, Tensor, Value, from_bytes,
    from_json_graph, structural_equal, to_bytes, to_json_graph,
};

use crate::known_prelude::{add, cell};
use crate::support::scaled;

fn write(value: &Value) -> isoform::Result<String> {
    to_json_graph(value, &JsonOptions::default())
}

fn read(text: &str) -> isoform::Result<Value> {
    from_json_graph(text, &JsonReadOptions::default())
}

#[test]
fn defect_03_04_depth_crashes_writing_and_reading() {
    let mut deep = Value::from(0);
    for _ in 0..scaled(1_000_000) {
        deep = cell(deep);
    }
    let text = write(&deep).expect("writable");
    let again = read(&text).expect("readable");
    assert!(structural_equal(&again, &deep).expect("comparable"));
    let again = from_bytes(&to_bytes(&deep).expect("writable")).expect("readable");
    assert!(structural_equal(&again, &deep).expect("comparable"));
}

#[test]
fn defect_10_11_cycles_crash_writing_and_reading() {
    let list = List::<Value>::new();
    list.push(cell(list.clone())).unwrap();
    let value = Value::from(list.clone());
    let message = "cyclic value: the List contains itself";
    assert_eq!(write(&value).expect_err("cyclic").message(), message);
    assert_eq!(to_bytes(&value).expect_err("cyclic").message(), message);
    list.clear();
    let text = r#"{"root_index":0,"nodes":[{"type":"ffi.Array","data":[0]}]}"#;
    assert_eq!(
        read(text).expect_err("cyclic").message(),
        "JSON graph: node 0 (ffi.Array): the node is part of itself"
    );
}

#[test]
fn defect_28_subnormal_floats_are_written_and_not_read() {
    for bits in [1, 2, 0x000f_ffff_ffff_ffff, 1 << 63 | 1] {
        let text = write(&Value::from(f64::from_bits(bits))).expect("writable");
        let again = read(&text).expect("readable").as_float();
        assert_eq!(again.map(f64::to_bits), Some(bits), "{text}");
    }
}

#[test]
fn defect_29_tensors_have_no_text_and_floats_lose_their_type() {
    let tensor = Tensor::new("int8".parse().expect("a dtype"), vec![2], vec![1, 2]);
    let values = Value::from([
        Value::from(1e16),
        tensor.expect("a tensor").into(),
        1.into(),
    ]);
    let again = read(&write(&values).expect("writable")).expect("readable");
    assert!(structural_equal(&again, &values).expect("comparable"));
    let function = Value::from([Function::new(|_| Ok(Value::NONE))]);
    let error = write(&function).expect_err("nothing could read it");
    assert_eq!(error.path().expect("there is one").to_string(), "<root>[0]");
}

/// An operator.
#[derive(Node)]
#[node(key = "kd.files.Op", kind = singleton)]
#[repr(C)]
struct Op {
    name: Str,
}

#[test]
fn defect_30_a_round_trip_breaks_singletons() {
    let op: Ref<Op> = Op::new("add");
    let value = add(cell(&op), cell(&op));
    for again in [
        read(&write(&value).expect("writable")).expect("readable"),
        from_bytes(&to_bytes(&value).expect("writable")).expect("readable"),
    ] {
        assert!(structural_equal(&again, &value).expect("comparable"));
    }
}
