//! The text of programs.

use isoform::objects::repr;
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Array, Map, Node, Ref, Value};
use isoform_ir::ir::{
    BaseFunc, BaseFuncRef, Constructor, DictAttrs, EnvFunc, FuncType, GlobalTypeVar, GlobalVar,
    IRModule, IRModuleRef, IncompleteType, IntImm, RelayExpr, RelayRefType, TupleType, TypeCall,
    TypeConstraint, TypeData, TypeRelation, TypeVar,
};
use isoform_ir::tir;
use isoform_ir::transform::{instruments::changes_text, script};
use isoform_relay::attrs::{Conv2DAttrs, ReduceAttrs, sizes};
use isoform_relay::{
    AsExpr, AttrsWildcard, Call, Clause, Function, Match, Pattern, PatternConstructor,
    PatternTuple, PatternVar, PatternWildcard, TempExpr, Var, Wildcard, relay_text,
};

use crate::support::*;

/// An expression declared a moment ago.
#[derive(Node)]
#[node(key = "relay_test.Scale", kind = dag)]
#[repr(C)]
struct Scale {
    #[node(base, default)]
    base: RelayExpr,
    by: f64,
    #[node(default = 1)]
    axis: i64,
    data: Value,
}

/// A temporary expression declared a moment ago.
#[derive(Node)]
#[node(key = "relay_test.Waiting", kind = dag)]
#[repr(C)]
struct Waiting {
    #[node(base, default)]
    base: TempExpr,
    data: Ref<RelayExpr>,
}

#[track_caller]
fn check(value: impl Into<Value>, expected: &str) {
    let value = value.into();
    let text = relay_text(&value).expect("a text");
    assert_eq!(text, expected, "for {}", repr(&value));
}

/// Checks the text of an expression with the free variables `x` and `y`.
#[track_caller]
fn check_body(make: impl FnOnce(&Expr, &Expr) -> Expr, expected: &str) {
    let (x, y) = (var("x"), var("y"));
    let body = make(&x.expr(), &y.expr());
    let lines: Vec<String> = expected.lines().map(|line| format!("  {line}\n")).collect();
    let expected = format!("fn (%x, %y) {{\n{}}}\n", lines.concat());
    check(func([&x, &y], body), &expected);
}

fn f(args: &[&Expr]) -> Expr {
    let args: Vec<Expr> = args.iter().map(|arg| (*arg).clone()).collect();
    Call::new(op("f"), args).expr()
}

#[test]
fn a_convolution_and_its_activation_have_five_lines() {
    let x = typed_var("x", "f32[1,3,224,224]");
    let w = typed_var("w", "f32[16,3,3,3]");
    let attrs = Conv2DAttrs::new()
        .with_padding(sizes([1, 1, 1, 1]))
        .with_kernel_size(Some(sizes([3, 3])));
    let conv = isoform_relay::op::conv2d(&x, &w, attrs);
    let relu = isoform_relay::op::relu(conv);
    check(
        Function::new([x, w], relu.expr()),
        "fn (%x: Tensor[(1, 3, 224, 224), float32], %w: Tensor[(16, 3, 3, 3), float32]) {\n  \
         %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], kernel_size=[3, 3]);\n  \
         nn.relu(%0)\n}\n",
    );
}

#[test]
fn names_differ() {
    let names = ["x", "x", "x_1", "", "0", "a.b/c", "_", "x"].map(var);
    let long = var(&"l".repeat(100));
    check(
        tuple(
            [&names[0], &names[1], &names[2], &names[3], &names[4]]
                .map(AsExpr::expr)
                .each_ref(),
        ),
        "free_var %x;\nfree_var %x_1;\nfree_var %x_1_1;\nfree_var %v;\nfree_var %v0;\n\
         (%x, %x_1, %x_1_1, %v, %v0)\n",
    );
    check(
        tuple([&names[5], &names[6], &long].map(AsExpr::expr).each_ref()),
        &format!(
            "free_var %a_b_c;\nfree_var %_;\nfree_var %{0};\n(%a_b_c, %_, %{0})\n",
            "l".repeat(60)
        ),
    );
    let [outer, inner] = ["x", "x"].map(var);
    check(
        func([&outer], func([&inner], f(&[&outer.expr(), &inner.expr()]))),
        "fn (%x) {\n  fn (%x_1) {\n    f(%x, %x_1)\n  }\n}\n",
    );
    check(GlobalVar::new("main"), "@main\n");
    check(GlobalVar::new("my main"), "@\"my main\"\n");
    check(Wildcard::new("w"), "free_var %w;\n%w\n");
    check(
        typed_var("x", "f32[2]"),
        "free_var %x: Tensor[(2,), float32];\n%x\n",
    );
}

#[test]
fn constants_are_literals_or_have_a_summary() {
    for (tensor, expected) in [
        (tensor(&[1.0], &[], F32), "1f"),
        (tensor(&[0.1], &[], F32), "0.1f"),
        (tensor(&[1e-5], &[], F32), "1e-5f"),
        (tensor(&[f64::INFINITY], &[], F32), "inff"),
        (tensor(&[f64::NAN], &[], F32), "nanf"),
        (tensor(&[0.1], &[], DType::FLOAT64), "0.1f64"),
        (tensor(&[0.5], &[], F16), "0.5f16"),
        (tensor(&[0.5], &[], BF16), "0.5bf16"),
        (ints(&[], &[-2]), "-2"),
        (tensor(&[-2.0], &[], I8), "-2i8"),
        (tensor(&[2.0], &[], DType::INT64), "2i64"),
        (tensor(&[255.0], &[], U8), "255u8"),
        (flag(true), "True"),
        (flag(false), "False"),
        (
            ints(&[2, 1], &[3, 4]),
            "meta[relay.Constant][0] /* Tensor[(2, 1), int32] [3, 4] */",
        ),
        (
            ints(&[0], &[]),
            "meta[relay.Constant][0] /* Tensor[(0,), int32] [] */",
        ),
    ] {
        check(constant(&tensor), &format!("{expected}\n"));
    }
    let vector = DType::new(DTypeCode::Float, 32).with_lanes(2);
    let lanes = Tensor::new(vector, vec![], vec![0; 8]).expect("eight bytes");
    check(
        constant(&lanes),
        "meta[relay.Constant][0] /* float32x2 */\n",
    );
    let numbers: Vec<i32> = (0..1000).collect();
    let (large, same) = (ints(&[1000], &numbers), ints(&[1000], &numbers));
    let text = relay_text(tuple([&constant(&large), &int(1), &constant(&same)])).expect("a text");
    let parts: Vec<&str> = text.split("meta[relay.Constant]").collect();
    assert!(
        parts[1].starts_with("[0] /* Tensor[(1000,), int32] [0, 1, 2, ...] #"),
        "{text}"
    );
    assert!(parts[2].starts_with("[0] /* "), "{text}");
    let mut other = numbers;
    other[999] = 0;
    let pair = tuple([&constant(&large), &constant(&ints(&[1000], &other))]);
    let text = relay_text(pair).expect("a text");
    let summaries: Vec<&str> = text.split("/*").skip(1).collect();
    assert!(
        text.contains("[1] /*") && summaries[0] != summaries[1],
        "{text}"
    );
}

#[test]
fn computations_have_lines_of_their_own() {
    check_body(|x, y| f(&[x, y]), "f(%x, %y)");
    check_body(
        |x, y| f(&[&f(&[x]), &tuple([y]), &tuple([])]),
        "%0 = f(%x);\n%1 = (%y,);\nf(%0, %1, ())",
    );
    check_body(|x, _| item(&item(x, 1), 0), "%x.1.0");
    check_body(|x, y| item(&f(&[x, y]), 1), "%0 = f(%x, %y);\n%0.1");
    check_body(
        |x, y| {
            let once = f(&[x]);
            f(&[&once, y, &once])
        },
        "%0 = f(%x);\nf(%0, %y, %0)",
    );
    check_body(
        |x, y| write(&create(x), &read(y)),
        "%0 = ref(%x);\n%1 = ref_read(%y);\nref_write(%0, %1)",
    );
    check_body(
        |x, y| apply(&func([], x.clone()), [y]),
        "%0 = fn () {\n  %x\n};\n%0(%y)",
    );
    check_body(|x, y| apply(&GlobalVar::new("g"), [x, y]), "@g(%x, %y)");
}

#[test]
fn bindings_are_lines() {
    let (a, b) = (var("a"), typed_var("b", "i32[]"));
    check_body(
        |x, y| {
            let rest = bind(&b, &f(&[&f(&[y])]), &f(&[&a.expr(), &b.expr()]));
            bind(&a, &f(&[x]), &rest)
        },
        "let %a = f(%x);\n%0 = f(%y);\nlet %b: int32 = f(%0);\nf(%a, %b)",
    );
    check_body(
        |x, y| f(&[&bind(&a, x, &a.expr()), y]),
        "%0 = {\n  let %a = %x;\n  %a\n};\nf(%0, %y)",
    );
    check_body(
        |x, y| bind(&b, &bind(&a, x, y), &f(&[&b.expr()])),
        "let %b: int32 = {\n  let %a = %x;\n  %y\n};\nf(%b)",
    );
    // A binding with two uses is computed once.
    check_body(
        |x, _| {
            let bound = bind(&a, x, &f(&[&a.expr()]));
            bind(&b, &bound, &f(&[&bound]))
        },
        "%0 = {\n  let %a = %x;\n  f(%a)\n};\nlet %b: int32 = %0;\nf(%0)",
    );
    // Only the uses after the binding need its variable.
    check_body(
        |x, _| {
            let used = f(&[&a.expr()]);
            bind(&a, x, &choose(&boolean(true), &used, &f(&[&used])))
        },
        "let %a = %x;\n%0 = f(%a);\nif (True) {\n  %0\n} else {\n  f(%0)\n}",
    );
}

#[test]
fn lines_are_in_the_innermost_scope_of_their_uses() {
    check_body(
        |x, y| {
            let (once, both) = (f(&[x]), f(&[y]));
            choose(&f(&[]), &f(&[&both, &once, &once]), &both)
        },
        "%0 = f();\n%1 = f(%y);\nif (%0) {\n  %2 = f(%x);\n  f(%1, %2, %2)\n} else {\n  %1\n}",
    );
    check_body(
        |x, y| {
            let shared = f(&[x]);
            let inner = choose(y, &f(&[&shared]), &f(&[&shared, &shared]));
            choose(y, &inner, x)
        },
        "if (%y) {\n  %0 = f(%x);\n  if (%y) {\n    f(%0)\n  } else {\n    f(%0, %0)\n  }\n\
         } else {\n  %x\n}",
    );
    check_body(
        |x, y| {
            let shared = f(&[x]);
            f(&[&func([], f(&[&shared])), &shared, y])
        },
        "%0 = f(%x);\n%1 = fn () {\n  f(%0)\n};\nf(%1, %0, %y)",
    );
}

#[test]
fn attributes_with_defaults_are_left_out() {
    let x = var("x");
    let sum = |attrs| isoform_relay::op::sum(&x, attrs);
    check(
        func([&x], sum(ReduceAttrs::new()).expr()),
        "fn (%x) {\n  sum(%x)\n}\n",
    );
    check(
        func([&x], sum(ReduceAttrs::new().with_keepdims(true)).expr()),
        "fn (%x) {\n  sum(%x, keepdims=True)\n}\n",
    );
    let dict: Map<isoform::Str, Value> = [
        ("text".into(), "a\nb".into()),
        ("none".into(), Value::NONE),
        ("type".into(), I8.into()),
        (
            "list".into(),
            Array::from([Value::from(1), 2.5.into()]).into(),
        ),
        (
            "odd name".into(),
            IntImm::new(DType::BOOL, 1).expect("a bool").into(),
        ),
    ]
    .into_iter()
    .collect();
    check_body(
        |x, _| {
            Call::new(op("f"), [x.clone()])
                .with_attrs(DictAttrs::from_map(dict))
                .expr()
        },
        "f(%x, list=[1, 2.5], none=None, \"odd name\"=True, text=\"a\\nb\", type=\"int8\")",
    );
    let hole = AttrsWildcard::new("any");
    let call = Call::new(op("f"), []).with_attrs(&hole);
    check(call, "free_var %any;\nf(attrs=%any)\n");
    let function: Ref<BaseFunc> = func([&x], x.expr()).cast().expect("a function");
    let function = function.with_attr("Primitive", 1).expect("an attribute");
    check(function, "fn (%x, Primitive=1) {\n  %x\n}\n");
}

#[test]
fn types_are_short() {
    let a = TypeVar::new("A");
    let list = GlobalTypeVar::new("List");
    let n = tir::Var::new("n", DType::INT64);
    let f32 = || ty("f32[]");
    for (ty, expected) in [
        (ty("f32[2,?]"), "Tensor[(2, ?), float32]"),
        (ty("i32[]"), "int32"),
        (ty("(f32[2]; i32[])"), "(Tensor[(2,), float32], int32)"),
        (ty("(f32[2])"), "(Tensor[(2,), float32],)"),
        (ty("()"), "()"),
        (RelayRefType::new(f32()).upcast(), "ref(float32)"),
        (TypeCall::new(&list, [f32()]).upcast(), "List[float32]"),
        (IncompleteType::new().upcast(), "?"),
        (list.clone().upcast(), "List"),
        (isoform_ir::ir::PrimType::new(I8).upcast(), "int8"),
        (
            isoform_ir::ir::TensorType::new([n.upcast()]).upcast(),
            "Tensor[(n,), float32]",
        ),
        (
            FuncType::new([a.clone().upcast(), f32()], a.clone().upcast())
                .with_type_params([a.clone()])
                .upcast(),
            "fn[A] (A, float32) -> A",
        ),
    ] {
        check(ty, &format!("{expected}\n"));
    }
    isoform_relay::register().expect("the dialect");
    let relation = TypeRelation::new(
        EnvFunc::get("relay.ir.script").expect("a function"),
        [a.clone().upcast()],
        1,
        None,
    );
    let constraint: Ref<TypeConstraint> = relation.upcast();
    check(
        FuncType::new([a.clone().upcast()], a.clone().upcast())
            .with_type_params([a.clone()])
            .with_type_constraints([constraint]),
        "fn[A] (A) -> A where relay.ir.script(A)\n",
    );
    let x = Var::typed("x", a.clone().upcast());
    check(
        Function::new([x.clone()], x.expr())
            .with_type_params([a.clone()])
            .with_ret_type(Some(a.clone().upcast())),
        "fn [A](%x: A) -> A {\n  %x\n}\n",
    );
    let cons = Constructor::new("Cons", [a.clone().upcast()], &list);
    let nil = Constructor::new("Nil", [], &list);
    check(
        TypeData::new(&list, [a], [cons, nil]),
        "type List[A] {\n  Cons(A),\n  Nil,\n}\n",
    );
}

#[test]
fn matches_have_a_block_for_each_clause() {
    let list = GlobalTypeVar::new("List");
    let cons = Constructor::new("Cons", [], &list);
    let (head, tail) = (var("h"), var("t"));
    let bound = |var: &Ref<Var>| PatternVar::new(var).upcast();
    let pair = PatternTuple::new().with_patterns([bound(&tail), PatternWildcard::new().upcast()]);
    let first = PatternConstructor::new(&cons).with_patterns([bound(&head), pair.upcast()]);
    let nil = PatternConstructor::new(Constructor::new("Nil", [], &list));
    check_body(
        |x, y| {
            let used = f(&[&head.expr()]);
            let clauses = [
                Clause::new(first.upcast(), f(&[&used, &tail.expr()])),
                Clause::new(nil.upcast(), y.clone()),
            ];
            Match::new(f(&[x]), clauses).with_complete(false).expr()
        },
        "%0 = f(%x);\nmatch? (%0) {\n  Cons(%h, (%t, _)) => {\n    %1 = f(%h);\n    f(%1, %t)\n  \
         },\n  Nil => {\n    %y\n  },\n}",
    );
    check(Call::new(&cons, [int(1)]), "Cons(1)\n");
}

#[test]
fn nodes_of_other_types_show_their_fields() {
    check_body(
        |x, y| {
            let inner: Ref<RelayExpr> = Waiting::new(f(&[x])).expr();
            let data: Value = Array::from([Value::from(&inner), y.into(), Value::NONE]).into();
            Scale::new(0.5, data).expr()
        },
        "%0 = f(%x);\n%1 = relay_test.Waiting(data=%0);\n\
         relay_test.Scale(by=0.5, data=[%1, %y, None])",
    );
    let dict = Map::from_iter([(Value::from("k"), Value::from(int(1)))]);
    check(Value::from(dict), "{\"k\": 1}\n");
    check(Value::from("text"), "\"text\"\n");
    check(DictAttrs::new(), "ir.DictAttrs()\n");
}

#[test]
fn modules_list_types_and_functions() {
    let (x, main, helper) = (var("x"), GlobalVar::new("main"), GlobalVar::new("helper"));
    let large = constant(&ints(&[2], &[1, 2]));
    let call = apply(&helper, [&large]);
    let module = module([
        (&main, &func([&x], f(&[&call, &f(&[&large])]))),
        (&helper, &func([&var("x")], int(1))),
    ]);
    let list = GlobalTypeVar::new("List");
    module
        .update_type(&list, TypeData::new(&list, [], []))
        .expect("a new name");
    let attrs = DictAttrs::from_map(Map::from_iter([("k".into(), 1.into())]));
    let module = changed(&module, "attrs", attrs);
    let text = "attributes (k=1)\n\ntype List {\n}\n\ndef @helper(%x) {\n  1\n}\n\n\
         def @main(%x) {\n  %0 = @helper(meta[relay.Constant][0] /* Tensor[(2,), int32] [1, 2] */);\
         \n  %1 = f(meta[relay.Constant][0] /* Tensor[(2,), int32] [1, 2] */);\n  f(%0, %1)\n}\n";
    check(&module, text);
    // Any program with a function of Relay is printed like this.
    assert_eq!(script(module.as_object()).expect("a text"), text);
    let other = IRModule::new();
    let plain = isoform::text::to_text(&other).expect("a text");
    assert_eq!(script(other.as_object()).expect("a text"), plain);
    let function = lookup(&module, &helper);
    assert_eq!(
        script(function.as_object()).expect("a text"),
        "fn (%x) {\n  1\n}\n"
    );
    let other = module.copied();
    other
        .update_func(
            &helper,
            func([&var("x")], int(2)).cast().expect("a function"),
        )
        .expect("an update");
    let difference = changes_text(module.as_object(), other.as_object()).expect("a text");
    assert!(difference.contains("\n-  1\n+  2\n"), "{difference}");
}

#[test]
fn sharing_is_linear() {
    let count = levels() / 100;
    let mut expr = var("x").expr();
    for _ in 0..count {
        expr = f(&[&expr, &expr]);
    }
    let text = relay_text(&expr).expect("a text");
    assert_eq!(text.lines().count(), count + 1);
    let mut ty = ty("f32[]");
    for _ in 0..count {
        ty = TupleType::new([ty.clone(), ty]).upcast();
    }
    let text = relay_text(Var::typed("x", ty)).expect("a text");
    assert!(text.len() < 200 * count, "{} bytes", text.len());
    let mut pattern: Ref<Pattern> = PatternWildcard::new().upcast();
    let mut value: Value = Array::from([Value::from(1)]).into();
    for _ in 0..count {
        let parts = [pattern.clone(), pattern];
        pattern = PatternTuple::new().with_patterns(parts).upcast();
        value = Array::from([value.clone(), value]).into();
    }
    for value in [pattern.into(), value] {
        let text = relay_text(&value).expect("a text");
        assert!(text.len() < 200 * count, "{} bytes", text.len());
    }
}

#[test]
fn equal_programs_have_equal_texts_whatever_they_share() {
    let one = |shares: bool| {
        let x = var("x");
        let get = |index| item(&x.expr(), index);
        let (first, again) = (get(0), get(0));
        let again = if shares { first.clone() } else { again };
        let types = [ty("(f32[2]; f32[2])"), ty("(f32[2]; f32[2])")];
        let vars = types.map(|ty| Var::typed("y", TupleType::new([ty.clone(), ty])));
        func(
            [&x, &vars[0], &vars[1]],
            f(&[&first, &again, &constant(&ints(&[1], &[1]))]),
        )
    };
    assert!(isoform::structural_equal(one(true), one(false)).expect("comparable"));
    assert_eq!(
        relay_text(one(true)).expect("a text"),
        relay_text(one(false)).expect("a text")
    );
}

#[test]
fn every_depth_has_a_text() {
    let count = levels() / 5;
    let x = var("x");
    type Step = fn(&Expr, usize) -> Expr;
    let steps: [Step; 8] = [
        |expr, _| f(&[expr]),
        |expr, _| func([], expr.clone()),
        |expr, _| choose(&boolean(true), expr, expr),
        |expr, _| choose(&boolean(true), &f(&[]), expr),
        |expr, _| bind(&var("y"), expr, &int(1)),
        |expr, _| bind(&var("y"), &int(1), expr),
        |expr, _| item(expr, 0),
        |expr, _| Scale::new(1.0, expr).expr(),
    ];
    for step in steps {
        let expr = (0..count).fold(x.expr(), |expr, level| step(&expr, level));
        let text = relay_text(&expr).expect("a text");
        assert!(text.len() < 500 * count, "{} bytes", text.len());
    }
    let ty = (0..count).fold(ty("f32[]"), |ty, _| TupleType::new([ty]).upcast());
    assert_eq!(
        relay_text(ty).expect("a text").len(),
        "float32\n".len() + 3 * count
    );
    let nested = (0..count).fold(Value::from(1), |value, _| Array::from([value]).into());
    assert_eq!(relay_text(nested).expect("a text").len(), 2 + 2 * count);
}

#[test]
fn messages_of_type_inference_show_the_lines_around_a_place() {
    let (a, b) = (typed_var("a", "f32[2,3]"), typed_var("b", "f32[4,3]"));
    let relus = |expr: Expr| (0..3).fold(expr, |expr, _| isoform_relay::op::relu(expr).expr());
    let sum = isoform_relay::op::add(relus(a.expr()), &b);
    let main = func([&a, &b], relus(sum.expr()));
    let error = isoform_relay::infer_type(&module([(&GlobalVar::new("main"), &main)]));
    let message = error.expect_err("sizes that do not fit").to_string();
    let place = "
       in the function @main:
         ...
           %1 = nn.relu(%0);
           %2 = nn.relu(%1);
           %3 = add(%2, %b);
                ^^^^^^^^^^^
           %4 = nn.relu(%3);
           %5 = nn.relu(%4);
         ...";
    assert!(message.contains(place), "{message}");
}
