//! The order in memory of the objects read from a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::errors::ErrorKind;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::construct;
use isoform::traverse::{WalkOptions, WalkOrder, WalkResult};
use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, find_type, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Map, Obj, Ref, Value, structural_equal};

use crate::support::{Expr, Lambda, add, chain, int, scaled, var};

/// The identity numbers of the nodes and arrays below a value, in the order of their
/// first occurrence. The numbers show the order of allocation of the blocks.
fn as_visited(root: &Value) -> Vec<u64> {
    let mut all = Vec::new();
    let options = WalkOptions::default()
        .order(WalkOrder::Pre)
        .include_ignored(true);
    options
        .walk(root, |visit| {
            // Other containers, and values without parts, are allocated while building.
            let laid_out = |object: &&Ref<Obj>| {
                let key = object.type_info().key();
                key == "isoform.Array" || !key.starts_with("isoform.")
            };
            all.extend(visit.object().filter(laid_out).map(Ref::identity));
            Ok(WalkResult::<()>::Advance)
        })
        .expect("the walk succeeds");
    all
}

/// Objects read from either form are in the order of visit.
#[track_caller]
fn check(value: impl Into<Value>) {
    let value = value.into();
    let bytes = to_bytes(&value).expect("writable");
    let text = to_json_graph(&value).expect("writable");
    let from_text = from_json_graph(&text).expect("readable");
    for read in [from_bytes(&bytes).expect("readable"), from_text] {
        assert!(structural_equal(&read, &value).expect("comparable"));
        let visited = as_visited(&read);
        assert!(visited.len() > 2 && visited.is_sorted(), "{visited:?}");
    }
}

fn tree(levels: u32, number: i64) -> Ref<Expr> {
    match levels {
        0 => int(number),
        _ => add(
            tree(levels - 1, 2 * number),
            tree(levels - 1, 2 * number + 1),
        ),
    }
}

fn any(name: &str) -> FieldDef {
    FieldDef::new(name, Schema::Any)
}

#[test]
fn a_tree_lies_in_the_order_of_visit() {
    check(tree(6, 0));
    check(chain(scaled(100_000)));
}

#[test]
fn arrays_lie_among_the_nodes_and_other_containers_do_not_disturb() {
    let calls = |from: i64| -> Value {
        let nodes = (from..from + 3).map(|number| Value::from(tree(2, number)));
        nodes.collect::<Array>().into()
    };
    check(vec![calls(0), vec![calls(3), calls(6)].into(), calls(9)]);
    let list = List::<Value>::from(vec![calls(0), calls(3)]);
    let map: Map = [(Value::from("k"), calls(6))].into_iter().collect();
    let dict: Dict = [(Value::from("k"), calls(9))].into_iter().collect();
    check(vec![Value::from(list), map.into(), dict.into(), calls(12)]);
}

#[test]
fn a_shared_node_lies_where_it_is_met_first() {
    let shared = tree(3, 0);
    let user = add(tree(1, 0), shared.clone());
    check(add(shared.clone(), add(user.clone(), shared.clone())));
    check(add(add(tree(2, 1), user.clone()), add(shared, user)));
    let x = var("x");
    check(Lambda::new(add(add(&x, int(1)), &x), vec![x]));
}

#[test]
fn the_order_of_visit_counts_and_not_the_one_of_the_fields() {
    let ty = register_type(
        TypeDef::new("layout.For")
            .visit_order(["lo", "hi", "var", "body"])
            .field(any("var").flag(FieldFlag::Def))
            .field(any("lo"))
            .field(FieldDef::new("step", Schema::Int).flag(FieldFlag::Ignore))
            .field(any("body"))
            .field(any("hi")),
    );
    let ty = ty.expect("registered");
    let node = |body: Value| -> Value {
        let fields = vec![
            Value::from(var("i")),
            tree(2, 0).into(),
            1.into(),
            body,
            tree(2, 4).into(),
        ];
        construct(ty, fields).expect("the fields fit").into()
    };
    check(node(node(tree(3, 0).into())));
}

/// Counts its live instances.
struct Witness(Arc<AtomicUsize>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn an_error_in_the_middle_leaves_nothing_behind() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (key, count) = ("layout.Held", Arc::clone(&alive));
    let read = move |_: &Value| {
        count.fetch_add(1, Ordering::SeqCst);
        let held = Value::opaque(Witness(Arc::clone(&count)));
        construct(find_type(key).expect("registered").index(), vec![held])
    };
    let hooks = (DynToJson::new(|_| Ok(1.into())), DynFromJson::new(read));
    let ty = TypeDef::new(key)
        .field(any("content"))
        .hook(hooks.0)
        .hook(hooks.1);
    let ty = register_type(ty).expect("registered");
    let held = || construct(ty, vec![Value::NONE]).expect("a value for any field");
    let root = add(tree(4, 0), int(7));
    let root = vec![
        Value::from(held()),
        root.into(),
        vec![Value::from(held())].into(),
        "no expression".into(),
    ];

    let bytes = to_bytes(root.clone()).expect("writable");
    drop(from_bytes(&bytes).expect("readable"));
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    // After the root, a sum of the root and the string, whose base is first.
    let mut broken = bytes[..bytes.len() - 9].to_vec();
    broken.extend([20, 1, 1, 2, 0]);
    let sum = blake3::hash(&broken);
    broken.extend_from_slice(&sum.as_bytes()[..8]);
    let error = from_bytes(&broken).expect_err("the sum is refused");
    assert_eq!(error.kind(), ErrorKind::Type);
    let message = error.message();
    assert!(
        message.contains("(it.Add): field 'lhs': expected it.Expr, got Array"),
        "{message}"
    );
    assert_eq!(alive.load(Ordering::SeqCst), 0);

    let text = to_json_graph(root).expect("writable");
    let last = text.rfind("]}]").expect("the array is the last node") + 2;
    let count = text.matches("\"type\"").count();
    let node = format!(
        ",{{\"type\":\"it.Add\",\"data\":{{\"lhs\":{},\"rhs\":0}}}}",
        count - 1
    );
    let broken = format!("{}{node}{}", &text[..last], &text[last..]);
    let error = from_json_graph(&broken).expect_err("the sum is refused");
    let message = error.message();
    assert!(
        message.contains("(it.Add): field 'lhs': expected it.Expr, got Array"),
        "{message}"
    );
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}
