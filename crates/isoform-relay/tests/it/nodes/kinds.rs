//! Every node type: construction and equality.

use isoform::objects::{construct, with_field};
use isoform::types::find_type;
use isoform::values::{DType, Tensor};
use isoform::{Node, Obj, Ref, Value, attrs};
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::{
    BaseFunc, Constructor, DictAttrs, FuncType, GlobalTypeVar, IncompleteType, IntImm, OpRegistry,
    RelayExpr, SourceName, Span, TensorType, Type, TypeVar,
};
use isoform_relay as relay;
use isoform_relay::{
    Any, AsExpr, Call, Clause, Constant, EmptyTuple, Function, Id, If, Let, Match, Pattern,
    PatternConstructor, PatternTuple, PatternVar, PatternWildcard, RefCreate, RefRead, RefWrite,
    TempExpr, Tuple, TupleGetItem, Var, attribute,
};

use crate::support::*;

#[test]
fn names_and_bases_are_those_of_the_classes() {
    relay::register().expect("the names are free");
    for name in [
        "Constant",
        "Tuple",
        "Var",
        "Call",
        "Let",
        "If",
        "TupleGetItem",
        "RefCreate",
        "RefRead",
        "RefWrite",
        "Match",
    ] {
        let info = find_type(&format!("relay.{name}")).expect("registered");
        assert!(
            info.lineage()
                .any(|index| index == relay::ExprWithOp::type_index()),
            "{name}"
        );
        assert!(
            info.lineage().any(|index| index == RelayExpr::type_index()),
            "{name}"
        );
    }
    assert!(
        find_type("relay.Function")
            .expect("registered")
            .lineage()
            .any(|index| index == BaseFunc::type_index())
    );
    // Unknown sizes are equal to unknown sizes, but not to a known size.
    compare(Any::new(), Any::new(), true);
    assert_eq!(Any::new().dtype, DType::INT32);
    compare(
        TensorType::new([Any::new().upcast()]),
        TensorType::new([Any::new().upcast()]),
        true,
    );
    let one = IntImm::new(DType::INT32, 1).expect("in range");
    compare(
        TensorType::new([Any::new().upcast()]),
        TensorType::new([one.upcast()]),
        false,
    );
}

#[test]
fn spans_and_checked_types_are_ignored() {
    let span = Span::new(SourceName::new("a.py"), 1, 1, 2, 3);
    let plain = RefCreate::new(int(1));
    let placed = with_field(plain.as_object(), "span", span.into()).expect("a span");
    let typed = with_field(&placed, "checked_type_", ty("i64[]").into()).expect("a type");
    compare(&plain, &placed, true);
    compare(&plain, &typed, true);
}

#[test]
fn constants_are_equal_by_contents() {
    compare(int(1), int(1), true);
    compare(int(1), int(2), false);
    let data = |shape: Vec<i64>| {
        let bytes = 1i32.to_le_bytes().to_vec();
        Constant::new(Tensor::new(DType::INT32, shape, bytes).expect("four bytes"))
    };
    compare(data(vec![]), data(vec![1]), false);
    assert!(data(vec![]).is_scalar() && !data(vec![1]).is_scalar());
    let ty = data(vec![1]).tensor_type().expect("a small shape");
    assert_eq!(ty.concrete_shape().expect("known"), [1]);
    assert_eq!(ty.shape.get(0).map(|size| size.dtype), Some(DType::INT32));
    // Sharing does not affect equality.
    let one = int(1);
    compare(
        Tuple::new([one.clone(), one]),
        Tuple::new([int(1), int(1)]),
        true,
    );
}

#[test]
fn sharing_of_tuples_matters_except_for_the_empty_one() {
    let pair = || Tuple::new([int(1), int(2)]).expr();
    let shared = pair();
    let twice = Tuple::new([shared.clone(), shared]);
    compare(&twice, Tuple::new([pair(), pair()]), false);
    let unit = Tuple::new([]);
    assert!(unit.isa::<EmptyTuple>() && unit.fields.is_empty());
    let shared = Tuple::new([unit.expr(), unit.expr()]);
    compare(
        &shared,
        Tuple::new([Tuple::new([]).expr(), Tuple::new([]).expr()]),
        true,
    );
}

#[test]
fn an_identity_cannot_be_made() {
    let id = find_type("relay.Id");
    let id = id.or_else(|| relay::register().ok().and_then(|()| find_type("relay.Id")));
    let init = attrs::get(
        id.expect("registered").index(),
        "__ffi_init__",
        Default::default(),
    );
    let init = init
        .expect("a constructor")
        .extract::<isoform::functions::Function>();
    let error = init.expect("a function").call(&[]).expect_err("refused");
    assert!(error.message().starts_with("Cannot directly construct Id"));
    // A variable is its own identity.
    let x = Var::new("x");
    assert!(x.isa::<Id>() && &*x.name_hint == "x");
}

#[test]
fn variables_are_equal_by_binding_and_annotation() {
    let (x, y) = (Var::new("x"), Var::new("x"));
    compare(&x, &x, true);
    compare(&x, &y, false);
    compare_open(&x, &y, true);
    compare_open(&x, Var::new("another name"), true);
    let typed = |dtype| tensor_var(&[], dtype);
    compare_open(typed(DType::INT64), typed(DType::INT64), true);
    compare_open(typed(DType::INT64), typed(DType::INT32), false);
    compare_open(&x, typed(DType::INT64), false);
    // Another annotation makes another variable.
    let other = x.with_type_annotation(ty("i64[]"));
    compare_open(
        Tuple::new([x.expr(), other.expr()]),
        Tuple::new([x.expr(), x.expr()]),
        false,
    );
}

#[test]
fn type_arguments_of_primitive_operators_are_not_compared() {
    let (x, types) = (int(1), [ty("i32[]"), ty("i32[]")]);
    let relation = isoform::functions::Function::new(|_| Ok(Value::from(true)));
    let primitive = OpRegistry::get_or_register("relay_test.primitive")
        .expect("a name")
        .num_inputs(1)
        .type_relation("relay_test.primitive", Some(relation))
        .expect("a new relation")
        .op()
        .expr();
    assert!(relay::is_primitive_op(&primitive));
    let inferred = Call::new(&primitive, [x.clone()]).with_type_args(types.clone());
    assert_eq!(inferred.type_args().len(), 2);
    compare(&inferred, Call::new(&primitive, [int(1)]), true);
    // Of everything else, they are.
    let plain = op("relay_test.plain").expr();
    assert!(!relay::is_primitive_op(&plain) && !relay::is_primitive_op(&x));
    let explicit = Call::new(&plain, [x.clone()]).with_type_args(types);
    assert_eq!(explicit.type_args().len(), 2);
    compare(&explicit, Call::new(&plain, [int(1)]), false);
    // Attributes count: a call without attributes differs from a call with empty attributes.
    let with = Call::new(&plain, [x.clone()]).with_attrs(DictAttrs::new().upcast());
    compare(&with, Call::new(&plain, [x.clone()]), false);
    compare(
        &with,
        Call::new(&plain, [x.clone()]).with_attrs(DictAttrs::new().upcast()),
        true,
    );
    // Sharing matters.
    let shared = Call::new(&plain, [x]).expr();
    let other = || Call::new(&plain, [int(1)]).expr();
    compare(
        Tuple::new([shared.clone(), shared]),
        Tuple::new([other(), other()]),
        false,
    );
}

#[test]
fn the_variable_of_a_binding_is_bound_in_value_and_body() {
    let build = |name: &str| {
        let f = Var::new(name);
        let value = Function::new([], Call::new(&f, []));
        Let::new(&f, value, &f)
    };
    compare(build("f"), build("g"), true);
    let (x, y) = (Var::new("x"), Var::new("y"));
    compare(Let::new(&x, int(1), &x), Let::new(&y, int(1), &x), false);
    // After the end of the binding, the variable is free.
    let inside = |x: &Ref<Var>| Let::new(x, int(1), x).expr();
    compare(
        Tuple::new([inside(&x), x.expr()]),
        Tuple::new([inside(&y), y.expr()]),
        false,
    );
}

#[test]
fn branches_and_references_are_vertices_of_a_graph() {
    let makers: [fn() -> Expr; 4] = [
        || If::new(int(1), int(2), int(3)).expr(),
        || RefCreate::new(int(1)).expr(),
        || RefRead::new(int(1)).expr(),
        || RefWrite::new(int(1), int(2)).expr(),
    ];
    for make in makers {
        compare(make(), make(), true);
        let shared = make();
        compare(
            Tuple::new([shared.clone(), shared]),
            Tuple::new([make(), make()]),
            false,
        );
    }
    compare(
        If::new(int(1), int(2), int(3)),
        If::new(int(1), int(3), int(2)),
        false,
    );
    compare(
        RefWrite::new(int(1), int(2)),
        RefWrite::new(int(1), int(3)),
        false,
    );
}

#[test]
fn sharing_of_items_of_tuples_makes_no_difference() {
    let pair = Tuple::new([int(1), int(2)]);
    let get = |index| TupleGetItem::new(&pair, index).expr();
    let shared = get(0);
    compare(
        Tuple::new([shared.clone(), shared]),
        Tuple::new([get(0), get(0)]),
        true,
    );
    compare(get(0), get(1), false);
}

#[test]
fn functions_bind_parameters_and_type_parameters() {
    let identity = |name: &str| {
        let a = TypeVar::new(name);
        let x = Var::typed(name, &a);
        Function::new([x.clone()], &x)
            .with_ret_type(Some(a.clone().upcast()))
            .with_type_params([a])
    };
    compare(identity("a"), identity("b"), true);
    // A type variable in the annotation of a parameter is bound there already.
    let implicit = |name: &str| {
        let a = TypeVar::new(name);
        let x = Var::typed("x", &a);
        Function::new([x.clone()], &x)
    };
    compare(implicit("a"), implicit("b"), true);
    compare(identity("a"), implicit("a"), false);
    let func = Function::new([], int(1));
    assert!(
        func.attrs
            .as_ref()
            .is_some_and(|attrs| attrs.dict.is_empty())
    );
    let x = v("i64[]");
    let ty = Function::new([x.clone(), Var::new("y")], &x).func_type_annotation();
    assert!(ty.arg_types.get(0).is_some_and(|ty| ty.isa::<TensorType>()));
    assert!(
        ty.arg_types
            .get(1)
            .is_some_and(|ty| ty.isa::<IncompleteType>())
    );
    assert!(ty.ret_type.isa::<IncompleteType>() && ty.isa::<FuncType>());
}

#[test]
fn attributes_say_what_passes_may_change() {
    let func = || -> Ref<BaseFunc> { Function::new([], int(1)).upcast() };
    let is_optimizable = |func: Ref<BaseFunc>| {
        let func: Ref<Function> = func.cast().expect("a function");
        func.is_optimizable()
    };
    assert!(is_optimizable(func()));
    for name in [attribute::EXTERN, attribute::SKIP_OPTIMIZATION] {
        assert!(!is_optimizable(
            func().with_attr(name, 1).expect("an attribute")
        ));
        assert!(is_optimizable(
            func().with_attr(name, 0).expect("an attribute")
        ));
    }
    assert!(!is_optimizable(
        func()
            .with_attr(attribute::COMPILER, "dnnl")
            .expect("an attribute")
    ));
    let marked = func()
        .with_attr(attribute::PRIMITIVE, 1)
        .expect("an attribute");
    let marked: Ref<Function> = marked.cast().expect("a function");
    assert!(marked.has_nonzero_attribute(attribute::PRIMITIVE) && marked.is_optimizable());
    compare(&marked, func(), false);
}

#[test]
fn clauses_bind_the_variables_of_their_patterns() {
    let list = GlobalTypeVar::new("List");
    let cons = Constructor::new("cons", [], &list);
    let build = |names: [&str; 2]| {
        let [x, rest] = names.map(Var::new);
        let parts = [&x, &rest].map(|var| PatternVar::new(var).upcast());
        let pattern = PatternConstructor::new(&cons).with_patterns(parts);
        let tuple = PatternTuple::new().with_patterns([pattern.upcast()]);
        let clause = Clause::new(tuple, Tuple::new([rest.expr(), x.expr()]));
        let other = Clause::new(PatternWildcard::new(), int(1));
        Match::new(int(0), [clause, other])
    };
    compare(build(["x", "rest"]), build(["a", "b"]), true);
    assert!(build(["x", "rest"]).complete);
    compare(
        build(["x", "rest"]),
        build(["x", "rest"]).with_complete(false),
        false,
    );
    let free = Var::new("free");
    let bound = Clause::new(PatternVar::new(&free), &free);
    let unbound = Clause::new(PatternVar::new(Var::new("other")), &free);
    compare(bound, unbound, false);
    // Patterns are trees: sharing makes no difference.
    let shared: Ref<Pattern> = PatternTuple::new().upcast();
    let both = PatternTuple::new().with_patterns([shared.clone(), shared]);
    let apart = [PatternTuple::new().upcast(), PatternTuple::new().upcast()];
    compare(both, PatternTuple::new().with_patterns(apart), true);
}

#[test]
fn constructors_are_equal_by_name_and_inputs() {
    let [list, tree] = ["List", "Tree"].map(GlobalTypeVar::new);
    let made = |name: &str, inputs: &[Ref<Type>], of: &Ref<GlobalTypeVar>| {
        Constructor::new(name, inputs.to_vec(), of)
    };
    compare(made("cons", &[], &list), made("cons", &[], &tree), true);
    compare(made("cons", &[], &list), made("nil", &[], &list), false);
    compare(
        made("cons", &[], &list),
        made("cons", &[ty("i64[]")], &list),
        false,
    );
}

#[test]
fn with_fields_is_the_node_itself_if_nothing_changes() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    let node = Call::new(op("relay_test.plain"), [x.expr(), y.expr()]);
    let changed = |fields: Vec<(&'static str, Value)>| -> Ref<Obj> {
        relay::with_fields(node.as_object(), fields).expect("known fields")
    };
    let args = |args: [&Ref<Var>; 2]| Value::from(args.map(Value::from).to_vec());
    assert!(changed(vec![]).same_as(&node));
    assert!(changed(vec![("args", args([&x, &y])), ("op", (&node.op).into())]).same_as(&node));
    let swapped = changed(vec![("args", args([&y, &x]))]);
    let swapped = swapped.downcast_ref::<Call>().expect("a call");
    assert!(swapped.args.get(0).is_some_and(|arg| arg.same_as(&y)) && swapped.op.same_as(&node.op));
    let error = relay::with_fields(node.as_object(), [("none", Value::NONE)]);
    assert!(error.expect_err("no field").message().contains("none"));
}

#[test]
fn temporary_expressions_are_realized_by_their_type() {
    #[derive(Node)]
    #[node(key = "relay_test.Scaled")]
    #[repr(C)]
    struct Scaled {
        #[node(base, default)]
        base: TempExpr,
        value: Expr,
    }
    let scaled = Scaled::new(int(3)).upcast();
    let error = TempExpr::realize(&scaled).expect_err("no attribute");
    assert!(
        error
            .message()
            .contains("relay_test.Scaled: expected the attribute 'relay.realize'")
    );
    let realize = isoform::functions::Function::typed(|of: Ref<Scaled>| of.value.clone());
    attrs::set(Scaled::type_index(), "relay.realize", realize).expect("a new attribute");
    compare(
        TempExpr::realize(&scaled).expect("a function"),
        int(3),
        true,
    );
}

#[test]
fn constructors_for_other_languages_take_the_classic_arguments() {
    relay::register().expect("the names are free");
    let get = construct(
        find_type("relay.Any").expect("registered").index(),
        vec![Value::NONE, DType::INT32.into()],
    );
    get.expect("the fields of the size");
    for (name, params) in [
        ("relay.Let", "variable, value, body, span"),
        ("relay.If", "cond, true_branch, false_branch, span"),
        ("relay.Call", "op, args, attrs, type_args, span"),
        (
            "relay.Function",
            "params, body, ret_type, type_params, attrs, span",
        ),
        ("relay.RefWrite", "ref, value, span"),
        ("relay.Match", "data, clauses, complete, span"),
        ("relay.PatternConstructor", "constructor, patterns, span"),
    ] {
        let info = find_type(name).expect("registered");
        let init = attrs::get(info.index(), "__ffi_init__", Default::default());
        let init = init
            .expect("a constructor")
            .extract::<isoform::functions::Function>();
        let init = init.expect("a function");
        let signature = init.signature().expect("a signature");
        let names: Vec<_> = signature
            .parameters()
            .iter()
            .filter_map(|param| param.name())
            .collect();
        assert_eq!(names.join(", "), params, "{name}");
    }
}
