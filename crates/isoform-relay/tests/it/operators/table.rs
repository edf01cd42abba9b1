//! The table of operators, and constructor functions by name.

use isoform::functions::{global_function, list_functions};
use isoform::{Array, Ref, Value};
use isoform_ir::ir::{Op, OpRegistry, TensorType, Type};
use isoform_relay as relay;
use isoform_relay::op;
use isoform_relay::op::{CallTypes, OpPattern};
use isoform_relay::{Call, Var, is_primitive_op};

use crate::support::*;

fn get(name: &str) -> Ref<Op> {
    isoform_ir::ir::register().unwrap();
    relay::register().unwrap();
    Op::get(name).unwrap()
}

/// The operators of this library: tests may register others.
fn own() -> Vec<Ref<Op>> {
    relay::register().unwrap();
    let made = list_functions().into_iter();
    let names = made.filter_map(|name| Some(name.strip_prefix("relay.op._make.")?.to_owned()));
    names.map(|name| get(&name)).collect()
}

#[test]
fn every_operator_has_what_passes_need() {
    let all = own();
    assert!(all.len() > 100, "{}", all.len());
    for op in all {
        assert!(op.attribute("TOpPattern").is_some(), "{}", op.name);
        assert!(op.attribute("TOpIsStateful").is_some(), "{}", op.name);
        let callee = op.clone().upcast();
        assert!(is_primitive_op(&callee), "{}", op.name);
    }
}

#[test]
fn to_r146_patterns_and_levels() {
    let table = [
        ("exp", OpPattern::ElemWise, 1),
        ("floor", OpPattern::ElemWise, 3),
        ("logical_not", OpPattern::ElemWise, 4),
        ("add", OpPattern::Broadcast, 1),
        ("maximum", OpPattern::Broadcast, 4),
        ("less", OpPattern::Broadcast, 4),
        ("cast", OpPattern::ElemWise, 3),
        ("reshape", OpPattern::Injective, 3),
        ("expand_dims", OpPattern::Broadcast, 1),
        ("concatenate", OpPattern::Injective, 1),
        ("full", OpPattern::ElemWise, 3),
        ("arange", OpPattern::Opaque, 3),
        ("collapse_sum_like", OpPattern::CommReduce, 4),
        ("where", OpPattern::Broadcast, 4),
        ("one_hot", OpPattern::OutEWiseFusable, 10),
        ("sum", OpPattern::CommReduce, 4),
        ("nn.dense", OpPattern::OutEWiseFusable, 1),
        ("nn.bias_add", OpPattern::Broadcast, 1),
        ("nn.dropout", OpPattern::Opaque, 1),
        ("nn.pad", OpPattern::Injective, 2),
        ("nn.batch_flatten", OpPattern::Injective, 1),
    ];
    for (name, pattern, level) in table {
        assert_eq!(OpPattern::of(&get(name)), pattern, "{name}");
        let facts = global_function("ir.Op.facts").unwrap();
        let value = facts
            .call(&[get(name).into(), "support_level".into()])
            .unwrap();
        assert_eq!(value, level.into(), "{name}");
    }
    let unknown = OpRegistry::get_or_register("relay_ops.unknown").unwrap();
    assert_eq!(OpPattern::of(unknown.op()), OpPattern::Opaque);
}

#[test]
fn only_dropout_is_stateful() {
    let is = |op: &Ref<Op>, name: &str| op.attribute(name).and_then(Value::as_bool) == Some(true);
    let with = |name: &str| -> Vec<String> {
        let ops = own().into_iter().filter(|op| is(op, name));
        let mut names: Vec<_> = ops.map(|op| op.name.to_string()).collect();
        names.sort();
        names
    };
    assert_eq!(with("TOpIsStateful"), ["nn.dropout"]);
    assert_eq!(with("TNonComputational"), ["on_device"]);
    assert_eq!(
        with("TMayFail"),
        [
            "arange",
            "cast",
            "cast_like",
            "divide",
            "floor_divide",
            "floor_mod",
            "gather",
            "gather_nd",
            "left_shift",
            "mod",
            "right_shift",
            "take",
            "trunc_divide",
            "trunc_mod",
        ]
    );
    assert_eq!(
        with("TCommutative"),
        [
            "add",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "equal",
            "logical_and",
            "logical_or",
            "logical_xor",
            "maximum",
            "minimum",
            "multiply",
            "not_equal",
        ]
    );
    assert_eq!(
        with("TReshapeOp"),
        [
            "contrib_reverse_reshape",
            "expand_dims",
            "reshape",
            "squeeze"
        ]
    );
}

#[test]
fn constructors_by_name_take_inputs_and_then_attributes() {
    relay::register().unwrap();
    let make = global_function("relay.op._make.nn.dense").unwrap();
    assert_eq!(
        make.signature().unwrap().to_string(),
        "(data: ir.RelayExpr, weight: ir.RelayExpr, units: ir.PrimExpr | None, \
         out_dtype: dtype = dtype(void)) -> relay.Call"
    );
    let (x, w) = (v("f32[4,8]"), v("f32[2,8]"));
    let call = make.call(&[(&x).into(), (&w).into(), 2.into()]).unwrap();
    let call: Ref<Call> = call.extract().unwrap();
    let same = op::dense(&x, &w, relay::attrs::DenseAttrs::new(relay::attrs::size(2)));
    assert!(MAPPED.equal(&call, &same).unwrap());
    gives(call, "f32[4,2]");

    let error = make.call(&[(&x).into()]).unwrap_err();
    assert_eq!(
        error.message(),
        "relay.op._make.nn.dense() expects 3 to 4 arguments, got 1"
    );
    let error = make
        .call(&[(&x).into(), 3.into(), Value::NONE])
        .unwrap_err();
    assert_eq!(
        error.message(),
        "relay.op._make.nn.dense() argument 'weight': expected ir.RelayExpr, got int"
    );
}

#[test]
fn operators_of_users_have_relations_of_their_own() {
    let rows = op::relation(|types: &mut CallTypes<'_>| {
        let Some(data) = types.tensor(0)? else {
            return Ok(None);
        };
        let rows: Array<_> = data.shape.iter().take(1).cloned().collect();
        Ok(Some(TensorType::new(rows).with_dtype(data.dtype).upcast()))
    });
    let entry = OpRegistry::get_or_register("relay_ops.rows").unwrap();
    let entry = entry
        .num_inputs(1)
        .type_relation("RelayOpsRows", Some(rows))
        .unwrap();
    gives(
        Call::new(entry.op(), [v("f32[4,8]").upcast().upcast().upcast()]),
        "f32[4]",
    );

    // A relation of another language takes the types of inputs, and attributes.
    let python = isoform::functions::Function::new(|arguments| {
        let inputs: Array<Ref<Type>> = arguments[0].extract()?;
        Ok(inputs.get(1).cloned().into())
    });
    let entry = OpRegistry::get_or_register("relay_ops.second").unwrap();
    let entry = entry
        .num_inputs(2)
        .type_relation("RelayOpsSecond", Some(python))
        .unwrap();
    let arg = |text: &str| -> Ref<isoform_ir::ir::RelayExpr> { relay::AsExpr::expr(&v(text)) };
    gives(
        Call::new(entry.op(), [arg("f32[4]"), arg("i8[2]")]),
        "i8[2]",
    );
}

#[test]
fn relations_are_functions_under_global_names() {
    relay::register().unwrap();
    let broadcast = global_function("tvm.relay.type_relation.Broadcast").unwrap();
    let types: Array<Ref<Type>> = [ty("f32[2,1]"), ty("f32[3]")].into();
    let found = broadcast.call(&[types.into(), Value::NONE]).unwrap();
    assert!(isoform::structural_equal(found, ty("f32[2,3]")).unwrap());
    let unknown: Array<Ref<Type>> =
        [isoform_ir::ir::IncompleteType::new().upcast(), ty("f32[3]")].into();
    assert!(broadcast.call(&[unknown.into()]).unwrap().is_none());
    assert!(broadcast.call(&[]).is_err());
}

#[test]
fn registration_is_idempotent() {
    relay::register().unwrap();
    relay::register().unwrap();
    let x = Var::new("x");
    assert!(op::exp(&x).op.same_as(&op::exp(&x).op));
}
