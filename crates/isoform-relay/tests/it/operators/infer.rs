//! Inference of whole programs.

use isoform::values::{DType, Tensor};
use isoform::{Array, Ref, structural_equal};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{
    Constructor, FuncType, GlobalTypeVar, GlobalVar, IRModule, RelayRefType, SourceName, Span,
    TupleType, TypeCall, TypeData, TypeVar,
};
use isoform_relay as relay;
use isoform_relay::attrs::*;
use isoform_relay::{
    AsExpr, Call, Clause, Constant, Function, If, Let, Match, PatternConstructor, PatternTuple,
    PatternVar, PatternWildcard, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var, op,
};

use crate::support::*;

/// A convolution with normalization and activation, as in ResNet.
fn block(x: &Ref<Var>, channels: i64) -> (Expr, Vec<Ref<Var>>) {
    let names = ["w", "gamma", "beta", "mean", "var"];
    let params: Vec<Ref<Var>> = names.map(Var::new).to_vec();
    let [w, gamma, beta, mean, var] = &params[..] else {
        unreachable!()
    };
    let attrs = Conv2DAttrs::new()
        .with_channels(size(channels))
        .with_kernel_size(sizes([3, 3]))
        .with_padding(sizes([1, 1]));
    let conv = op::conv2d(x, w, attrs);
    let normal = op::batch_norm(conv, gamma, beta, mean, var, BatchNormAttrs::new());
    let result = op::relu(op::add(TupleGetItem::new(normal, 0), x));
    (result.expr(), params)
}

#[test]
fn a_block_of_resnet_finds_the_types_of_its_weights() {
    let x = v("f32[1,16,32,32]");
    let (body, mut params) = block(&x, 16);
    params.insert(0, x);
    let main = inferred(Function::new(params, body));
    let expected = [
        "f32[1,16,32,32]",
        "f32[16,16,3,3]",
        "f32[16]",
        "f32[16]",
        "f32[16]",
        "f32[16]",
    ];
    for (param, expected) in main.params.iter().zip(expected) {
        assert_type(param, expected);
        let annotation = param.type_annotation.as_ref().unwrap();
        assert!(structural_equal(annotation, ty(expected)).unwrap());
    }
    assert_type(&main.body, "f32[1,16,32,32]");
    assert!(structural_equal(main.ret_type.as_ref().unwrap(), ty("f32[1,16,32,32]")).unwrap());
}

#[test]
fn a_perceptron_in_bindings() {
    let x = v("f32[4,784]");
    let (w1, b1, w2) = (Var::new("w1"), Var::new("b1"), Var::new("w2"));
    let (h, y) = (Var::new("h"), Var::new("y"));
    let hidden = op::relu(op::bias_add(
        op::dense(&x, &w1, DenseAttrs::new(size(128))),
        &b1,
        BiasAddAttrs::new().with_axis(-1),
    ));
    let output = op::dense(&h, &w2, DenseAttrs::new(size(10)));
    let body = Let::new(
        &h,
        hidden,
        Let::new(&y, output, op::softmax(&y, SoftmaxAttrs::new())),
    );
    let main = inferred(Function::new([x, w1, b1, w2], body));
    assert_type(&main.body, "f32[4,10]");
    let types = ["f32[4,784]", "f32[128,784]", "f32[128]", "f32[10,128]"];
    for (param, expected) in main.params.iter().zip(types) {
        assert_type(param, expected);
    }
    // The binding and the uses of a variable are the same object.
    let outer: &Ref<Let> = main.body.downcast_ref().unwrap();
    let inner: &Ref<Let> = outer.body.downcast_ref().unwrap();
    let dense: &Ref<Call> = inner.value.downcast_ref().unwrap();
    assert!(dense.args.get(0).unwrap().same_as(&outer.var));
    assert!(outer.var.type_annotation.is_some());
}

#[test]
fn type_arguments_of_operators_are_the_types_of_arguments() {
    let x = v("f32[2,1]");
    let main = inferred(Function::new([x.clone()], op::add(&x, op::exp(&x))));
    let call: &Ref<Call> = main.body.downcast_ref().unwrap();
    assert_eq!(call.type_args().len(), 2);
    for arg in call.type_args().iter() {
        assert!(structural_equal(arg, ty("f32[2,1]")).unwrap());
    }
}

#[test]
fn what_is_right_stays_and_spans_are_kept() {
    let x = v("f32[2]");
    let main = inferred(Function::new([x.clone()], op::exp(&x)));
    // A new call over typed parts: only it is rebuilt.
    let body = op::tanh(&main.body);
    let module = relay::infer_type(&main_of(Function::new(main.params.clone(), body))).unwrap();
    let again = function_in(&module, "main");
    let call: &Ref<Call> = again.body.downcast_ref().unwrap();
    assert!(call.args.get(0).unwrap().same_as(&main.body));
    assert!(
        again
            .params
            .get(0)
            .unwrap()
            .same_as(main.params.get(0).unwrap())
    );
    // A wrong type is replaced.
    let wrong = changed(&main.body, "checked_type_", ty("i8[]"));
    let fixed = inferred(Function::new(main.params.clone(), wrong));
    assert_type(&fixed.body, "f32[2]");
    let span = Span::new(SourceName::new("file"), 1, 1, 2, 3);
    let call = changed(&op::exp(&x), "span", &span);
    let main = inferred(Function::new([x], call));
    assert!(main.body.span.as_ref().unwrap().same_as(&span));
}

#[test]
fn annotated_variables_stay_the_same_objects() {
    let (x, y) = (v("f32[2]"), Var::new("y"));
    let sum = op::bias_add(&x, &y, BiasAddAttrs::new().with_axis(0));
    let main = inferred(Function::new([x.clone(), y.clone()], sum));
    assert!(main.params.get(0).unwrap().same_as(&x));
    assert!(!main.params.get(1).unwrap().same_as(&y));
    // A copy with another annotation has another type.
    let wide = x.with_type_annotation(ty("f32[3]"));
    let local = relay::infer_type_local(op::exp(&wide)).unwrap();
    assert!(structural_equal(local, ty("f32[3]")).unwrap());
    let main = inferred(Function::new([wide.clone()], op::exp(&wide)));
    assert_type(&main.body, "f32[3]");
}

#[test]
fn constants_tuples_and_items() {
    let data = Tensor::new(DType::INT64, vec![1, 2], vec![0; 16]).unwrap();
    let pair = Tuple::new([Constant::new(data).expr(), Tuple::new([]).expr()]);
    let main = inferred(Function::new([], pair.clone()));
    assert!(
        structural_equal(
            type_of(&main.body),
            isoform_ir::ir::TupleType::new([ty("i64[1,2]"), ty("()")])
        )
        .unwrap()
    );
    let main = inferred(Function::new([], TupleGetItem::new(pair, 0)));
    assert_type(&main.body, "i64[1,2]");
    // An item of a tuple, determined only by its use.
    let t = Var::new("t");
    let item = TupleGetItem::new(&t, 1);
    let branch = If::new(v("bool[]"), &t, v("(f32[1]; i8[2])"));
    let main = inferred(Function::new([t], Tuple::new([item.expr(), branch.expr()])));
    assert_type(main.params.get(0).unwrap(), "(f32[1]; i8[2])");
}

#[test]
fn branches_unify_and_sizes_become_unknown() {
    let (c, x, y) = (v("bool[]"), v("f32[?,3]"), v("f32[2,3]"));
    let main = inferred(Function::new(
        [c.clone(), x.clone(), y.clone()],
        If::new(&c, &x, &y),
    ));
    assert_type(&main.body, "f32[?,3]");
    let cond = Var::new("c");
    let main = inferred(Function::new(
        [cond.clone(), y.clone()],
        If::new(&cond, &y, &y),
    ));
    assert_type(main.params.get(0).unwrap(), "bool[]");
}

#[test]
fn symbolic_sizes_fit_numbers() {
    let x = v("f32[n]");
    let f = Function::new([x.clone()], op::exp(&x));
    let y = v("f32[3]");
    let main = inferred(Function::new([y.clone()], Call::new(f, [y.expr()])));
    assert_type(&main.body, "f32[n]");
}

#[test]
fn references() {
    let (x, r, u) = (v("f32[2]"), Var::new("r"), Var::new("u"));
    let write = RefWrite::new(&r, op::exp(RefRead::new(&r)));
    let body = Let::new(
        &r,
        RefCreate::new(&x),
        Let::new(&u, write, RefRead::new(&r)),
    );
    let main = inferred(Function::new([x], body));
    assert_type(&main.body, "f32[2]");
    let outer: &Ref<Let> = main.body.downcast_ref().unwrap();
    assert!(structural_equal(type_of(&outer.var), RelayRefType::new(ty("f32[2]"))).unwrap());
    let inner: &Ref<Let> = outer.body.downcast_ref().unwrap();
    assert_type(&inner.var, "()");
    // A reference that is a parameter.
    let r = Var::new("r");
    let main = inferred(Function::new([r.clone()], RefWrite::new(&r, v("i32[]"))));
    assert!(
        structural_equal(
            type_of(main.params.get(0).unwrap()),
            RelayRefType::new(ty("i32[]"))
        )
        .unwrap()
    );
}

#[test]
fn local_functions_may_call_themselves() {
    let (f, x, y) = (Var::new("f"), Var::new("x"), v("f32[2]"));
    let again = Call::new(&f, [op::negative(&x).expr()]);
    let body = If::new(op::any(op::less(&x, &y), ReduceAttrs::new()), again, &x);
    let function = Function::new([x.clone()], body);
    let program = Let::new(&f, function, Call::new(&f, [y.expr()]));
    let main = inferred(Function::new([y], program));
    assert_type(&main.body, "f32[2]");
    let binding: &Ref<Let> = main.body.downcast_ref().unwrap();
    assert!(
        structural_equal(
            type_of(&binding.var),
            FuncType::new([ty("f32[2]")], ty("f32[2]"))
        )
        .unwrap()
    );
}

#[test]
fn functions_with_type_parameters_are_instantiated_by_each_call() {
    let a = TypeVar::new("A");
    let (x, f) = (Var::typed("x", &a), Var::new("f"));
    let identity = Function::new([x.clone()], &x)
        .with_ret_type(a.clone().upcast())
        .with_type_params([a.clone()]);
    let (p, q) = (v("f32[2]"), v("(i8[]; i8[])"));
    let both = Tuple::new([
        Call::new(&f, [p.expr()]).expr(),
        Call::new(&f, [q.expr()]).expr(),
    ]);
    let main = inferred(Function::new([p, q], Let::new(&f, identity, both)));
    let binding: &Ref<Let> = main.body.downcast_ref().unwrap();
    let pair: &Ref<Tuple> = binding.body.downcast_ref().unwrap();
    for (field, expected) in pair.fields.iter().zip(["f32[2]", "(i8[]; i8[])"]) {
        assert_type(field, expected);
        let call: &Ref<Call> = field.downcast_ref().unwrap();
        assert_eq!(call.type_args().len(), 1);
        assert!(structural_equal(call.type_args().get(0), Some(ty(expected))).unwrap());
    }
}

#[test]
fn functions_of_a_module_call_each_other() {
    let (f, g, main) = (
        GlobalVar::new("f"),
        GlobalVar::new("g"),
        GlobalVar::new("main"),
    );
    let (x, y, z) = (Var::new("x"), Var::new("y"), v("f32[7]"));
    // Only the call in `main` determines the types.
    let of_f = Function::new([x.clone()], Call::new(&g, [op::exp(&x).expr()]));
    let of_g = Function::new(
        [y.clone()],
        If::new(
            op::any(op::isnan(&y), ReduceAttrs::new()),
            &y,
            Call::new(&f, [y.expr()]),
        ),
    );
    let of_main = Function::new([z.clone()], Call::new(&f, [z.expr()]));
    let typed =
        relay::infer_type(&closed_module([(&f, of_f), (&g, of_g), (&main, of_main)])).unwrap();
    for var in typed.global_vars() {
        let function: Ref<Function> = typed.lookup(&var).unwrap().cast().unwrap();
        assert!(
            structural_equal(
                type_of(&function),
                FuncType::new([ty("f32[7]")], ty("f32[7]"))
            )
            .unwrap()
        );
    }
    assert!(relay::infer_type(&typed).unwrap().same_as(&typed));
}

/// A function with a type parameter and without a result type, and the variable of its
/// parameter: `fn<A>(n: A) { body }`.
fn open_function(body: impl FnOnce(&Ref<Var>) -> Expr) -> Ref<Function> {
    let a = TypeVar::new("A");
    let n = Var::typed("n", &a);
    let body = body(&n);
    Function::new([n], body).with_type_params([a])
}

#[test]
fn results_without_annotation_are_instantiated_too() {
    let (p, q) = (v("i32[]"), v("f32[2]"));
    // As the callee itself.
    let call = Call::new(open_function(|n| n.expr()), [p.expr()]);
    let main = inferred(Function::new([p.clone()], op::add(&call, &p)));
    assert_type(&main.body, "i32[]");
    // As a binding called with two types.
    let f = Var::new("f");
    let pair = open_function(|n| Tuple::new([n.expr(), n.expr()]).expr());
    let second = |x: &Ref<Var>| TupleGetItem::new(Call::new(&f, [x.expr()]), 1).expr();
    let both = Tuple::new([second(&p), second(&q)]);
    let main = inferred(Function::new(
        [p.clone(), q.clone()],
        Let::new(&f, pair, both),
    ));
    assert_type(&main.body, "(i32[]; f32[2])");
    // Likewise, a function that calls itself before the result type is known.
    let (f, stop) = (Var::new("f"), v("bool[]"));
    let again = open_function(|n| If::new(&stop, Call::new(&f, [n.expr()]), n).expr());
    let both = Tuple::new([&p, &q].map(|x| Call::new(&f, [x.expr()]).expr()));
    let main = inferred(Function::new(
        [p, q, stop.clone()],
        Let::new(&f, again, both),
    ));
    assert_type(&main.body, "(i32[]; f32[2])");
}

#[test]
fn results_of_functions_of_a_module_are_instantiated_in_any_order() {
    for order in 0..2 {
        let names = if order == 0 {
            ["a", "b", "c"]
        } else {
            ["c", "b", "a"]
        };
        let [main, f, g] = names.map(GlobalVar::new);
        let (p, q) = (v("i32[]"), v("f32[2]"));
        let stop = || op::any(op::less(&p, &p), ReduceAttrs::new());
        // The two functions need each other's result types.
        let of_f = open_function(|n| {
            let inner = TupleGetItem::new(Call::new(&g, [n.expr()]), 1);
            Let::new(&p, zero(), If::new(stop(), inner, n)).expr()
        });
        let of_g = open_function(|n| {
            let again = Call::new(&f, [n.expr()]);
            Tuple::new([n.expr(), again.expr()]).expr()
        });
        let (x, y) = (v("i32[]"), q);
        let calls = [
            op::add(Call::new(&f, [x.expr()]), &x).expr(),
            TupleGetItem::new(Call::new(&g, [y.expr()]), 1).expr(),
        ];
        let of_main = Function::new([x, y], Tuple::new(calls));
        let functions = [(&main, of_main), (&f, of_f), (&g, of_g)];
        let typed = relay::infer_type(&closed_module(functions)).unwrap();
        let function: Ref<Function> = typed.lookup(&main).unwrap().cast().unwrap();
        assert_type(&function.body, "(i32[]; f32[2])");
        assert!(relay::infer_type(&typed).unwrap().same_as(&typed));
    }
}

/// The number 0.
fn zero() -> Ref<Constant> {
    let data = Tensor::new(DType::INT32, vec![], vec![0; 4]).unwrap();
    Constant::new(data)
}

#[test]
fn a_result_that_contains_itself_is_an_error() {
    let (f, x) = (Var::new("f"), v("f32[]"));
    for fields in 1..3 {
        let grows = open_function(|n| {
            let calls = (0..fields).map(|_| Call::new(&f, [n.expr()]).expr());
            Tuple::new(calls.collect::<Vec<_>>()).expr()
        });
        let program = Let::new(&f, grows, Call::new(&f, [x.expr()]));
        let error = relay::infer_type(&main_of(Function::new([x.clone()], program))).unwrap_err();
        assert!(
            error.message().contains("contain themselves"),
            "{}",
            error.message()
        );
    }
}

#[test]
fn functions_as_values() {
    let (f, x) = (Var::new("f"), v("f32[3]"));
    let apply = Function::new([f.clone()], Call::new(&f, [x.expr()]));
    let y = Var::new("y");
    let square = Function::new([y.clone()], op::multiply(&y, &y));
    let main = inferred(Function::new([x], Call::new(apply, [square.expr()])));
    assert_type(&main.body, "f32[3]");
}

/// A list type: `Cons(A, List[A])` and `Nil`.
struct Lists {
    list: Ref<GlobalTypeVar>,
    cons: Ref<Constructor>,
    nil: Ref<Constructor>,
    data: Ref<TypeData>,
}

fn lists() -> Lists {
    let (list, a) = (GlobalTypeVar::new("List"), TypeVar::new("A"));
    let of_a = TypeCall::new(&list, [a.clone().upcast()]);
    let cons = Constructor::new("Cons", [a.clone().upcast(), of_a.upcast()], &list);
    let nil = Constructor::new("Nil", [], &list);
    let data = TypeData::new(&list, [a], [cons.clone(), nil.clone()]);
    Lists {
        list,
        cons,
        nil,
        data,
    }
}

#[test]
fn matches_give_types_to_patterns() {
    let Lists {
        list,
        cons,
        nil,
        data,
    } = lists();
    let x = v("f32[2]");
    let empty = Call::new(&nil, []);
    let cons_call = Call::new(&cons, [x.expr(), empty.expr()]);
    let (head, fallback) = (Var::new("head"), v("f32[2]"));
    let pattern = PatternConstructor::new(&cons).with_patterns([
        PatternVar::new(&head).upcast(),
        PatternWildcard::new().upcast(),
    ]);
    let clauses = [
        Clause::new(pattern, op::exp(&head)),
        Clause::new(PatternWildcard::new(), &fallback),
    ];
    let matched = Match::new(&cons_call, clauses);
    let module = IRModule::new();
    module.update_type(&list, data).unwrap();
    let both = Tuple::new([matched.expr(), cons_call.expr()]);
    let main = Function::new([x, fallback], both);
    module
        .update_func(&GlobalVar::new("main"), main.upcast())
        .unwrap();
    let typed = relay::infer_type(&module).unwrap();
    let main = function_in(&typed, "main");
    let pair: &Ref<Tuple> = main.body.downcast_ref().unwrap();
    assert_type(pair.fields.get(0).unwrap(), "f32[2]");
    let list_type = type_of(pair.fields.get(1).unwrap());
    assert!(structural_equal(list_type, TypeCall::new(&list, [ty("f32[2]")])).unwrap());
    let matched: &Ref<Match> = pair.fields.get(0).unwrap().downcast_ref().unwrap();
    let case: &Ref<PatternConstructor> =
        matched.clauses.get(0).unwrap().lhs.downcast_ref().unwrap();
    let binder: &Ref<PatternVar> = case.patterns.get(0).unwrap().downcast_ref().unwrap();
    assert_type(&binder.var, "f32[2]");
    assert!(relay::infer_type(&typed).unwrap().same_as(&typed));
}

#[test]
fn the_type_of_one_expression_uses_the_types_of_its_parts() {
    let x = v("f32[2]");
    let main = inferred(Function::new([x.clone()], op::exp(&x)));
    let found = relay::infer_type_local(op::add(&main.body, &main.body)).unwrap();
    assert!(structural_equal(found, ty("f32[2]")).unwrap());
    // The existing type of the root is not used.
    let wrong = changed(&main.body, "checked_type_", ty("i8[]"));
    assert!(structural_equal(relay::infer_type_local(wrong).unwrap(), ty("f32[2]")).unwrap());
    let whole = relay::infer_type_expr(op::exp(&x), None).unwrap();
    assert_type(&whole, "f32[2]");
}

#[test]
fn complete_matches_cover_all_cases() {
    let Lists {
        list,
        cons,
        nil,
        data,
    } = lists();
    let module = IRModule::new();
    module.update_type(&list, data).unwrap();
    let x = Var::typed("x", TypeCall::new(&list, [ty("f32[]")]));
    let matching = |complete: bool| {
        let clause = Clause::new(PatternConstructor::new(&nil), v("f32[]"));
        Match::new(&x, [clause]).with_complete(complete)
    };
    let error = relay::infer_type_expr(matching(true), Some(&module)).unwrap_err();
    let text = error.message();
    let expected = "match expression does not handle the following cases: Cons(_, _)";
    assert!(text.contains(expected), "{text}");
    assert!(relay::infer_type_expr(matching(false), Some(&module)).is_ok());
    _ = cons;
}

#[test]
fn complete_matches_of_tuples_cover_all_cases() {
    let Lists {
        list,
        cons: _,
        nil,
        data,
    } = lists();
    let module = IRModule::new();
    module.update_type(&list, data).unwrap();
    let of = TypeCall::new(&list, [ty("f32[]")]);
    let x = Var::typed("x", TupleType::new([of.clone().upcast(), of.upcast()]));
    let empty = || PatternConstructor::new(&nil).upcast();
    let clause = |patterns| {
        let tuple = PatternTuple::new().with_patterns(Array::from(patterns));
        Clause::new(tuple, v("f32[]"))
    };
    let any = || PatternWildcard::new().upcast();
    let some = Match::new(&x, [clause([empty(), any()]), clause([any(), empty()])]);
    let error = relay::infer_type_expr(some, Some(&module)).unwrap_err();
    let expected = "does not handle the following cases: (Cons(_, _), Cons(_, _))";
    assert!(error.message().contains(expected), "{}", error.message());
    let all = Match::new(&x, [clause([empty(), any()]), clause([any(), any()])]);
    assert!(relay::infer_type_expr(all, Some(&module)).is_ok());
}

#[test]
fn a_message_about_missing_cases_takes_no_search_for_all_of_them() {
    // A clause distinguishes two of 128 lists, and 2^64 cases are left.
    let lists = lists();
    let module = IRModule::new();
    module.update_type(&lists.list, lists.data).unwrap();
    let of = TypeCall::new(&lists.list, [ty("f32[]")]);
    let x = Var::typed("x", TupleType::new(vec![of.upcast(); 128]));
    let clauses = (0..64).map(|number| {
        let mut patterns: Vec<_> = (0..128).map(|_| PatternWildcard::new().upcast()).collect();
        for at in [2 * number, 2 * number + 1] {
            patterns[at] = PatternConstructor::new(&lists.nil).upcast();
        }
        Clause::new(PatternTuple::new().with_patterns(patterns), v("f32[]"))
    });
    let matching = Match::new(&x, clauses.collect::<Vec<_>>());
    let error = relay::infer_type_expr(matching, Some(&module)).unwrap_err();
    let cases = error.message().matches("(Cons(_, _), ").count();
    assert!((1..=8).contains(&cases), "{cases}: {}", error.message());
}

/// `fn<a>(x: a) -> a { x }`
fn polymorphic_identity() -> Expr {
    let a = TypeVar::new("a");
    let x = Var::typed("x", &a);
    let function = Function::new([x.clone()], &x).with_type_params([a.clone()]);
    function.with_ret_type(a.upcast()).expr()
}

#[test]
fn polymorphic_functions_are_instantiated_where_monomorphic_ones_are_expected() {
    // fn<b>(f: fn(b) -> b, y: b) -> b { f(y) }
    let b = TypeVar::new("b");
    let to_b = FuncType::new([b.clone().upcast()], &b).upcast();
    let (f, y) = (Var::typed("f", &to_b), Var::typed("y", &b));
    let called = Call::new(&f, [y.expr()]);
    let apply = Function::new([f, y], called)
        .with_type_params([b.clone()])
        .with_ret_type(b.clone().upcast());
    let v = v("f32[2]");
    let argument = Call::new(apply, [polymorphic_identity(), v.expr()]);
    let main = inferred(Function::new([v], argument));
    assert_type(&main.body, "f32[2]");
    // A result, and branches in either order.
    let result = Function::new([], polymorphic_identity())
        .with_type_params([b.clone()])
        .with_ret_type(to_b);
    inferred(result);
    let x = Var::typed("x", ty("i8[]"));
    let single = Function::new([x.clone()], &x).expr();
    for branches in [
        [polymorphic_identity(), single.clone()],
        [single, polymorphic_identity()],
    ] {
        let [left, right] = branches;
        let cond = Var::typed("c", ty("bool[]"));
        let main = inferred(Function::new([cond.clone()], If::new(&cond, left, right)));
        let expected = FuncType::new([ty("i8[]")], ty("i8[]"));
        assert!(structural_equal(type_of(&main.body), expected).unwrap());
    }
}

#[test]
fn a_monomorphic_function_is_not_polymorphic() {
    let a = TypeVar::new("a");
    let poly = FuncType::new([a.clone().upcast()], &a).with_type_params([a]);
    let x = Var::typed("x", ty("i8[]"));
    let single = Function::new([x.clone()], &x);
    let main = Function::new([], single).with_ret_type(poly.upcast());
    let error = relay::infer_type(&main_of(main)).expect_err("another type");
    assert!(error.to_string().contains("type parameters"), "{error}");
}
