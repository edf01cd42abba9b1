//! Errors of inference, which show the place.

use isoform::Ref;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule, Span, TypeVar};
use isoform_relay as relay;
use isoform_relay::attrs::*;
use isoform_relay::{AsExpr, Call, Function, If, Let, RefRead, Tuple, TupleGetItem, Var, op};

use crate::support::*;

#[track_caller]
fn check(body: impl isoform::types::IntoField<Expr>, expected: &str) {
    let error = relay::infer_type(&main_of(Function::new([], body))).unwrap_err();
    assert_eq!(error.kind_name(), "DiagnosticError");
    assert!(error.message().contains(expected), "{}", error.message());
}

#[test]
fn calls_are_checked() {
    let (x, y, p) = (v("f32[2]"), v("i32[2]"), v("f32[2]"));
    let f = Function::new([p.clone()], &p);
    check(
        Call::new(&f, []),
        "the function is provided too few arguments expected 1, found 0",
    );
    check(
        Call::new(&f, [x.expr(), x.expr()]),
        "the function is provided too many arguments expected 1, found 2",
    );
    check(
        Call::new(&f, [y.expr()]),
        "expected Tensor[(2,), float32], got Tensor[(2,), int32]; in particular: Tensor[(2,), \
         float32] has data type float32, while Tensor[(2,), int32] has data type int32",
    );
    check(
        Call::new(&x, [y.expr()]),
        "only expressions with function types can be called, found Tensor[(2,), float32]",
    );
    check(
        Call::new(&f, [x.expr()]).with_type_args([ty("f32[2]")]),
        "Expected 0 but got 1",
    );
    let op = op::exp(&x).op.clone();
    check(
        Call::new(op, [x.expr(), x.expr()]),
        "too many arguments expected 1, found 2",
    );
    check(
        Call::new(GlobalVar::new("nowhere"), []),
        "the module has no function @nowhere",
    );
    let bare = isoform_ir::ir::OpRegistry::get_or_register("relay_ops.bare").unwrap();
    check(
        Call::new(bare.op(), []),
        "the operator relay_ops.bare has no type relation",
    );
}

#[test]
fn conflicts_name_the_dimension() {
    let condition = v("bool[]");
    let branches = |left: &str, right: &str| If::new(&condition, v(left), v(right));
    check(
        branches("f32[2,3]", "f32[2,4]"),
        "dimension 1 conflicts: 3 does not match 4",
    );
    check(
        branches("f32[2,3]", "f32[3,4]"),
        "dimension 0 conflicts: 2 does not match 3; dimension 1 conflicts: 3 does not match 4",
    );
    check(
        branches("f32[n]", "f32[m]"),
        "dimension 0 conflicts: n does not match m",
    );
    check(
        branches("f32[2,3]", "f32[2]"),
        "has 2 dimensions, while Tensor[(2,), float32] has 1 dimensions",
    );
    check(
        branches("(f32[2];)", "f32[2]"),
        "(Tensor[(2,), float32],) does not match Tensor[(2,), float32]",
    );
    check(
        branches("(f32[2];)", "(f32[2]; f32[2])"),
        "has 1 fields, while",
    );
    check(
        If::new(v("bool[1]"), v("f32[]"), v("f32[]")),
        "has 0 dimensions",
    );
    check(
        If::new(v("f32[]"), v("f32[]"), v("f32[]")),
        "expected bool, got float32",
    );
    check(RefRead::new(v("f32[]")), "expected ref(?), got float32");
}

#[test]
fn items_are_inside_the_tuple() {
    let pair = Tuple::new([v("f32[]").expr(), v("f32[]").expr()]);
    check(
        TupleGetItem::new(&pair, 2),
        "the index 2 is not inside a tuple of 2 fields",
    );
    check(
        TupleGetItem::new(&pair, -1),
        "the index -1 is not inside a tuple of 2 fields",
    );
    check(
        TupleGetItem::new(v("f32[]"), 0),
        "expected a tuple, got float32",
    );
}

#[test]
fn what_stays_unknown_is_an_error() {
    let x = Var::new("x");
    check(
        Function::new([x.clone()], &x),
        "unable to infer a type for this expression",
    );
    let y = Var::new("y");
    check(
        Function::new([y.clone()], op::exp(&y)),
        "unable to infer a type for this expression",
    );
    // A function that is its own argument.
    let f = Var::new("f");
    check(
        Function::new(
            [f.clone()],
            If::new(v("bool[]"), Call::new(&f, [f.expr()]), v("f32[]")),
        ),
        "the type of this expression contains itself",
    );
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let (x, y) = (v("f32[2,3]"), v("f32[4,3]"));
    let (first, second) = (
        op::add(&x, &y),
        op::dense(&x, v("f32[2,8]"), DenseAttrs::new(None)),
    );
    // Consequences of the errors are not reported.
    let (a, b) = (Var::new("a"), Var::new("b"));
    let body = Let::new(&a, first, Let::new(&b, second, op::add(&a, &b)));
    let main = Function::new([x.clone(), y.clone()], body);
    let other = Function::new([], op::exp(Tuple::new([])));
    let error = relay::infer_type(&closed_module([
        (&GlobalVar::new("main"), main),
        (&GlobalVar::new("other"), other),
    ]))
    .unwrap_err();
    let text = error.message();
    assert_eq!(text.matches("error: ").count(), 3, "{text}");
    for part in [
        "Incompatible broadcast type Tensor[(2, 3), float32] and Tensor[(4, 3), float32]",
        "the last axis of the input has size 3",
        "argument 1: expected a tensor, got ()",
        "in the function @main:",
        "in the function @other:",
        "^^",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn spans_show_the_source() {
    let module = IRModule::new();
    let name = module
        .source_map
        .add("model.txt", "x = read()\ny = x + 'text'\n")
        .unwrap();
    let span = Span::new(name, 2, 2, 5, 15);
    let x = v("f32[2]");
    let y = v("i32[2]");
    let call = changed(&op::add(&x, &y), "span", &span);
    let main = Function::new([x, y], call);
    module
        .update_func(&GlobalVar::new("main"), main.upcast())
        .unwrap();
    let error = relay::infer_type(&module).unwrap_err();
    assert_eq!(
        error.message(),
        "\
error: data types float32 and int32 do not match in BroadcastRel
 --> model.txt:2:5
  |
2 | y = x + 'text'
  |     ^^^^^^^^^^"
    );
}

#[test]
fn the_text_around_a_place_is_shown() {
    let (x, y) = (v("f32[2]"), v("i32[2]"));
    let error = relay::infer_type(&main_of(Function::new(
        [x.clone(), y.clone()],
        op::exp(op::add(&x, &y)),
    )));
    let text = error.unwrap_err().message().to_owned();
    let place = "
       in the function @main:
         def @main(%x: Tensor[(2,), float32], %x_1: Tensor[(2,), int32]) {
           %0 = add(%x, %x_1);
                ^^^^^^^^^^^^^
           exp(%0)
         }";
    assert!(text.ends_with(place), "{text}");
}

#[test]
fn type_parameters_stay_in_their_function() {
    let (a, c) = (TypeVar::new("A"), v("bool[]"));
    // An expression outside of the function has the type of its parameter: `y` is an A.
    let choice = |y: &Ref<Var>| {
        let n = Var::typed("n", &a);
        Function::new([n.clone()], If::new(&c, y, &n)).with_type_params([a.clone()])
    };
    let error = |y: Ref<Var>, body: Expr| {
        let main = Function::new([y, c.clone()], body);
        let error = relay::infer_type(&main_of(main)).unwrap_err();
        error.message().to_owned()
    };
    let (f, y) = (Var::new("f"), Var::new("y"));
    let call = Let::new(&f, choice(&y), Call::new(&f, [y.expr()]));
    let message = error(y.clone(), call.expr());
    let expected =
        "the type of this call is A, but the type variable A means something only inside";
    assert!(message.contains(expected), "{message}");
    let unused = Let::new(&f, choice(&y), &c);
    let message = error(y, unused.expr());
    let expected = "the type of this expression is A, but";
    assert!(message.contains(expected), "{message}");
    assert_eq!(message.matches("the type of this").count(), 1, "{message}");
}

#[test]
fn functions_may_have_a_type_parameter_in_common() {
    let a = TypeVar::new("A");
    let twice = |x: &Ref<Var>| {
        let n = Var::typed("n", &a);
        let function = Function::new([n.clone()], Tuple::new([&n, &n].map(AsExpr::expr)));
        Call::new(function.with_type_params([a.clone()]), [x.expr()]).expr()
    };
    let (x, y) = (v("f32[2]"), v("i32[]"));
    let both = Tuple::new([twice(&x), twice(&y)]);
    relay::infer_type(&main_of(Function::new([x, y], both))).unwrap();
}
