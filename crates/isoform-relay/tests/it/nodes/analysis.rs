//! The results of analyses, case by case.

use isoform::Ref;
use isoform::values::DType;
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{
    BaseFunc, Constructor, DictAttrs, FuncType, GlobalTypeVar, GlobalVar, IRModule, IncompleteType,
    TupleType, Type, TypeCall, TypeData, TypeKind, TypeVar,
};
use isoform_relay::analysis::{
    CallGraph, Feature, PostOrderOptions, all_dtypes, all_vars, bound_vars,
    check_basic_block_normal_form, check_constant, check_kind, check_well_formed, count_layers,
    count_ops, detect_feature, expr_ref_counts, extract_fused_functions, extract_intermediate_expr,
    free_vars, list_op_freqs, pattern_vars, post_order_visit, total_mac_number, type_vars,
    unmatched_cases, well_formed,
};
use isoform_relay::{
    AsExpr, Call, Clause, Function, If, Let, Match, Pattern, PatternConstructor, PatternTuple,
    PatternVar, PatternWildcard, RefRead, Tuple, TupleGetItem, Var, attribute,
};

use crate::support::*;

fn vars<const N: usize>(names: [&str; N]) -> [Ref<Var>; N] {
    names.map(Var::new)
}

#[track_caller]
fn order_of(expr: &Expr) -> Vec<&'static str> {
    let mut order = Vec::new();
    post_order_visit(expr, |expr| {
        order.push(expr.type_info().key());
        Ok(())
    })
    .expect("a visit");
    order
}

#[test]
fn post_order_has_the_order_of_visitors() {
    let [x, y] = vars(["x", "y"]);
    // Value, variable, body; a shared part only once.
    let shared = Tuple::new([y.expr()]).expr();
    let binding = Let::new(&x, &shared, Tuple::new([shared.clone(), x.expr()]));
    assert_eq!(
        order_of(&binding.expr()),
        [
            "relay.Var",
            "relay.Tuple",
            "relay.Var",
            "relay.Tuple",
            "relay.Let"
        ]
    );
    // Callee before arguments; operators and global variables count.
    let callee = op("relay_test.plain").expr();
    let inner = Call::new(GlobalVar::new("f"), [int(1)]).expr();
    assert_eq!(
        order_of(&Call::new(&callee, [inner]).expr()),
        [
            "ir.Op",
            "ir.GlobalVar",
            "relay.Constant",
            "relay.Call",
            "relay.Call"
        ]
    );
    // Data before results, and no patterns.
    let clause = Clause::new(PatternVar::new(&x), RefRead::new(&x));
    assert_eq!(
        order_of(&Match::new(int(1), [clause]).expr()),
        [
            "relay.Constant",
            "relay.Var",
            "relay.RefRead",
            "relay.Match"
        ]
    );
    let func = Function::new([x.clone()], If::new(&x, int(1), int(2)));
    assert_eq!(
        order_of(&func.expr()),
        [
            "relay.Var",
            "relay.Constant",
            "relay.Constant",
            "relay.If",
            "relay.Function"
        ]
    );
}

#[test]
fn the_number_of_visits_can_be_raised() {
    let x = Var::new("x");
    let twice = Tuple::new([x.expr(), x.expr()]).expr();
    let visits = |limit: u32| {
        let mut count = 0;
        let options = PostOrderOptions::default().visit_limit(limit);
        let visited = options.visit(&twice, |_| {
            count += 1;
            Ok(())
        });
        visited.map(|()| count)
    };
    assert_eq!(visits(1).expect("in range"), 2);
    assert_eq!(visits(2).expect("in range"), 3);
    for limit in [0, 10] {
        let error = visits(limit).expect_err("out of range");
        assert!(
            error
                .message()
                .contains(&format!("from 1 to 9, got {limit}"))
        );
    }
    let counts: Vec<u32> = expr_ref_counts(&twice).into_values().collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn variables_come_in_order_of_occurrence_and_scopes_count() {
    let [x, y, z, a] = vars(["x", "y", "z", "a"]);
    let func = Function::new([x.clone(), y.clone()], &z).expr();
    assert_eq!(
        all_vars(&func).expect("a walk"),
        [x.clone(), y.clone(), z.clone()]
    );
    let body = Let::new(&a, &x, Tuple::new([]));
    let func = Function::new([x.clone(), y.clone(), z.clone()], body).expr();
    assert_eq!(
        bound_vars(&func).expect("a walk"),
        [x.clone(), y.clone(), z.clone(), a]
    );
    assert_eq!(free_vars(&func).expect("a walk"), []);
    // Next to the binding function, a variable is free.
    let func = Function::new([x.clone()], &x).expr();
    let both = Tuple::new([func.clone(), x.expr(), y.expr()]).expr();
    assert_eq!(free_vars(&both).expect("a walk"), [x.clone(), y.clone()]);
    // Also in a part shared by the function.
    let shared = Tuple::new([x.expr()]).expr();
    let func = Function::new([x.clone()], &shared).expr();
    let both = Tuple::new([func, shared]).expr();
    assert_eq!(free_vars(&both).expect("a walk"), std::slice::from_ref(&x));
    // Patterns bind as well.
    let pattern: Ref<Pattern> = PatternVar::new(&y).upcast();
    assert_eq!(
        bound_vars(&pattern).expect("a walk"),
        std::slice::from_ref(&y)
    );
    let clause = Clause::new(&pattern, Tuple::new([y.expr(), x.expr()]));
    let cases = Match::new(&z, [clause]).expr();
    assert_eq!(all_vars(&cases).expect("a walk"), [z.clone(), y, x.clone()]);
    assert_eq!(free_vars(&cases).expect("a walk"), [z, x]);
}

#[test]
fn type_variables_of_expressions_and_types() {
    let [a, b, c] = ["a", "b", "c"].map(TypeVar::new);
    let ty = FuncType::new([b.clone().upcast()], &c).with_type_params([a.clone()]);
    let variables = type_vars(&ty, None).expect("a type");
    assert_eq!(variables.all, [a.clone(), b.clone(), c.clone()]);
    assert_eq!(
        (variables.bound.clone(), variables.free()),
        (vec![a.clone()], vec![b.clone(), c.clone()])
    );
    // Type parameters come first, and the annotated result is not searched.
    let x = Var::typed("x", &b);
    let func = Function::new([x.clone()], &x)
        .with_type_params([a.clone()])
        .with_ret_type(Some(c.clone().upcast()));
    let variables = type_vars(&func, None).expect("an expression");
    assert_eq!(
        (variables.all.clone(), variables.free()),
        (vec![a.clone(), b.clone()], vec![b.clone()])
    );
    // Type arguments, and the annotations of patterns.
    let generic = Call::new(GlobalVar::new("f"), []).with_type_args([c.clone().upcast()]);
    let clause = Clause::new(PatternVar::new(&x), generic);
    let variables = type_vars(Match::new(int(1), [clause]), None).expect("an expression");
    assert_eq!(variables.all, [b.clone(), c]);
    // The parameters of a constructor's data type come from the module.
    let (module, list) = (IRModule::new(), GlobalTypeVar::new("List"));
    let cons = Constructor::new("cons", [a.clone().upcast()], &list);
    let data = TypeData::new(&list, [a.clone()], [cons.clone()]);
    module.update_type(&list, data).expect("a new type");
    assert_eq!(
        type_vars(&cons, Some(&module))
            .expect("an expression")
            .bound,
        std::slice::from_ref(&a)
    );
    assert_eq!(type_vars(&cons, None).expect("an expression").free(), [a]);
    type_vars(1, None).expect_err("neither an expression nor a type");
}

#[test]
fn scopes_end_for_shared_expressions_too() {
    let [x, y, f] = vars(["x", "y", "f"]);
    let exp = |of: Expr| Call::new(op("exp"), [of]).expr();
    let shared = exp(x.expr());
    let binding = Let::new(&x, int(1), &shared).expr();
    let func = Function::new([x.clone()], &shared).expr();
    let clause = Clause::new(PatternVar::new(&x), &shared);
    let case = Match::new(int(1), [clause]).expr();
    let clauses = [
        Clause::new(PatternVar::new(&x), &shared),
        Clause::new(PatternVar::new(&y), &shared),
    ];
    for inside in [binding, func, case] {
        for outside in [shared.clone(), exp(shared.clone())] {
            for fields in [
                [inside.clone(), outside.clone()],
                [outside.clone(), inside.clone()],
            ] {
                assert!(!well_formed(&Tuple::new(fields).expr()));
            }
        }
    }
    let clauses = Match::new(int(1), clauses).expr();
    let error = check_well_formed(&clauses).expect_err("a variable of another clause");
    assert!(
        error.message().contains("%x is used outside of the scope"),
        "{error}"
    );
    // A shared part without uses of the scope is well formed.
    let closed = exp(y.expr());
    let inside = Let::new(&x, int(1), &closed).expr();
    assert!(well_formed(&Tuple::new([inside, closed]).expr()));
    let own = Function::new([x.clone()], Call::new(&f, [x.expr()]));
    let recursive = Let::new(&f, &own, Call::new(&f, [int(1)])).expr();
    let twice = Tuple::new([recursive.clone(), recursive]).expr();
    assert!(well_formed(&twice));
}

#[test]
fn well_formed_programs_bind_each_variable_once() {
    let [x, y] = vars(["x", "y"]);
    let v = || int(1);
    let binding = |body: Expr| Let::new(&x, v(), body).expr();
    assert!(well_formed(&binding(x.expr())));
    assert!(!well_formed(&binding(binding(x.expr()))));
    // The same node at two places is one binding; two nodes are two.
    let binding_expr = binding(x.expr());
    assert!(well_formed(
        &Tuple::new([binding_expr.clone(), binding_expr.clone()]).expr()
    ));
    assert!(!well_formed(
        &Tuple::new([binding_expr.clone(), binding(x.expr())]).expr()
    ));
    let func = Function::new([x.clone()], &x).expr();
    assert!(well_formed(&Tuple::new([func.clone(), func]).expr()));
    assert!(well_formed(&Tuple::new([x.expr(), y.expr()]).expr()));
    // Used after the scope, bound after a free use, bound twice by one function.
    let after = Tuple::new([binding_expr.clone(), x.expr()]).expr();
    let error = check_well_formed(&after)
        .expect_err("out of scope")
        .message()
        .to_owned();
    assert_eq!(
        error,
        "the variable %x is used outside of the scope that binds it"
    );
    assert!(!well_formed(&Tuple::new([x.expr(), binding_expr]).expr()));
    assert!(!well_formed(
        &Function::new([x.clone(), x.clone()], &x).expr()
    ));
    // A function may call itself, and each clause is a scope.
    let recursive = Let::new(&y, Function::new([], Call::new(&y, [])), &y).expr();
    assert!(well_formed(&recursive));
    let clause = |var: &Ref<Var>| Clause::new(PatternVar::new(var), var);
    assert!(well_formed(
        &Match::new(v(), [clause(&x), clause(&y)]).expr()
    ));
    assert!(!well_formed(
        &Match::new(v(), [clause(&x), clause(&x)]).expr()
    ));
    let outside = Match::new(v(), [clause(&x), Clause::new(PatternWildcard::new(), &x)]);
    assert!(!well_formed(&outside.expr()));
}

#[test]
fn constants_are_looked_for_in_tuples_and_on_devices() {
    let on_device = |expr: Expr| Call::new(op("on_device"), [expr]).expr();
    assert!(check_constant(&int(1)));
    assert!(check_constant(
        &Tuple::new([int(1), on_device(Tuple::new([]).expr())]).expr()
    ));
    assert!(!check_constant(
        &Tuple::new([int(1), Var::new("x").expr()]).expr()
    ));
    assert!(!check_constant(
        &Call::new(op("relay_test.plain"), [int(1)]).expr()
    ));
    let x = Var::new("x");
    assert!(!check_constant(&Let::new(&x, int(1), &x).expr()));
}

#[test]
fn kinds_are_checked_in_all_parts_of_a_type() {
    let kind = |ty: Ref<Type>| check_kind(&ty, None).map_err(|error| error.message().to_owned());
    let shape: Ref<Type> = TypeVar::new("n")
        .with_kind(TypeKind::ShapeVar as i64)
        .upcast();
    assert_eq!(kind(ty("i64[]")), Ok(TypeKind::Type));
    assert_eq!(kind(shape.clone()), Ok(TypeKind::ShapeVar));
    assert_eq!(kind(IncompleteType::new().upcast()), Ok(TypeKind::Type));
    assert_eq!(
        kind(TupleType::new([ty("i64[]")]).upcast()),
        Ok(TypeKind::Type)
    );
    let wrong = kind(TupleType::new([ty("i64[]"), shape.clone()]).upcast());
    assert_eq!(
        wrong,
        Err("ir.TupleType.fields[1]: expected kind Type, got ir.TypeVar of kind ShapeVar".into())
    );
    let wrong = kind(FuncType::new([], &shape).upcast()).expect_err("a size is no result");
    assert!(
        wrong.starts_with("ir.FuncType.ret_type: expected kind Type"),
        "{wrong}"
    );
    // The number of type arguments of a data type equals the number of its parameters.
    let (module, list, a) = (
        IRModule::new(),
        GlobalTypeVar::new("List"),
        TypeVar::new("a"),
    );
    let data = TypeData::new(&list, [a], []);
    module.update_type(&list, data.clone()).expect("a new type");
    let applied = |args: Vec<Ref<Type>>| {
        let ty = TypeCall::new(&list, args).upcast();
        check_kind(&ty, Some(&module)).map_err(|error| error.message().to_owned())
    };
    assert_eq!(applied(vec![ty("i64[]")]), Ok(TypeKind::Type));
    let wrong = applied(vec![]).expect_err("one is missing");
    assert!(
        wrong.contains("expected 1 types for the data type List, got 0"),
        "{wrong}"
    );
    assert_eq!(
        check_kind(&data.upcast(), Some(&module)).expect("fine"),
        TypeKind::TypeData
    );
    assert_eq!(
        check_kind(&list.clone().upcast(), None).expect("fine"),
        TypeKind::AdtHandle
    );
    let alone = TypeCall::new(&list, [ty("i64[]")]).upcast();
    check_kind(&alone, None).expect_err("no module");
}

#[test]
fn features_are_found() {
    let [x, f] = vars(["x", "f"]);
    let features = |expr: &Expr| {
        let detected = detect_feature([expr.into()]).expect("an expression");
        detected.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(features(&x.expr()), [Feature::Var]);
    let recursive = Let::new(&f, Function::new([], Call::new(&f, [])), &f).expr();
    assert_eq!(
        features(&recursive),
        [
            Feature::Var,
            Feature::Function,
            Feature::Call,
            Feature::Let,
            Feature::LetRec
        ]
    );
    // A tuple that two ways lead to is a graph; a variable is not.
    let shared = Tuple::new([x.expr(), x.expr()]).expr();
    assert_eq!(features(&shared), [Feature::Var, Feature::Tuple]);
    let graph = Tuple::new([shared.clone(), shared]).expr();
    assert_eq!(
        features(&graph),
        [Feature::Var, Feature::Tuple, Feature::Graph]
    );
    // Bodies of fused functions are not searched.
    let func: Ref<BaseFunc> = Function::new([], RefRead::new(&x)).upcast();
    let fused = func
        .with_attr(attribute::PRIMITIVE, 1)
        .expect("an attribute")
        .expr();
    assert_eq!(features(&fused), [Feature::Function]);
    let module = IRModule::new();
    module
        .functions
        .insert(GlobalVar::new("main"), fused.cast().expect("a function"))
        .expect("added");
    let detected = detect_feature([(&module).into(), (&int(1)).into()]).expect("both");
    assert!(
        detected
            .into_iter()
            .eq([Feature::Constant, Feature::Function])
    );
    detect_feature([1.into()]).expect_err("neither");
}

#[test]
fn blocks_share_only_what_is_bound() {
    let [c, x] = vars(["c", "x"]);
    let shared = Call::new(op("relay_test.plain"), [x.expr()]).expr();
    let across = If::new(&c, &shared, Tuple::new([shared.clone()])).expr();
    let error = check_basic_block_normal_form(&across).expect_err("shared by both branches");
    assert!(
        error.message().contains("relay_test.plain"),
        "{}",
        error.message()
    );
    let y = Var::new("y");
    let bound = Let::new(&y, &shared, If::new(&c, &y, Tuple::new([y.expr()])));
    check_basic_block_normal_form(&bound.expr()).expect("bound outside");
    let within = If::new(&c, Tuple::new([shared.clone(), shared.clone()]), int(1)).expr();
    check_basic_block_normal_form(&within).expect("one block");
    let outside = Tuple::new([shared.clone(), Function::new([], &shared).expr()]).expr();
    check_basic_block_normal_form(&outside).expect("computed before the function");
    let inside = Tuple::new([Function::new([], &shared).expr(), shared.clone()]).expr();
    check_basic_block_normal_form(&inside).expect_err("first used in the function");
}

#[test]
fn call_graphs_count_mentions() {
    let module = IRModule::new();
    let [f, g, h] = ["f", "g", "h"].map(GlobalVar::new);
    let define = |var: &Ref<GlobalVar>, body: Expr| {
        module
            .update_func(var, Function::new([], body).upcast())
            .expect("closed");
    };
    define(
        &f,
        Tuple::new([Call::new(&g, []).expr(), Call::new(&f, []).expr()]).expr(),
    );
    define(&g, Call::new(&g, [g.expr()]).expr());
    define(&h, int(1));
    let graph = CallGraph::of(&module).expect("a module");
    let count = |var| graph.ref_count(var).expect("known");
    assert_eq!([count(&f), count(&g), count(&h)], [1, 2, 0]);
    assert_eq!(graph.global_call_count(&f).expect("known"), 2);
    assert!(graph.is_recursive(&f).expect("known") && !graph.is_recursive(&h).expect("known"));
    assert!(graph.vars().map(|var| &*var.name_hint).eq(["f", "g", "h"]));
    let error = graph
        .ref_count(&GlobalVar::new("f"))
        .expect_err("another variable");
    assert!(error.message().contains("@f"));
    assert!(graph.module().same_as(&module));
}

#[test]
fn operators_are_counted() {
    let [add, neg] = ["relay_test.add", "relay_test.neg"].map(|name| op(name).expr());
    let inner = Call::new(&neg, [int(1)]).expr();
    let sum = Call::new(&add, [inner.clone(), inner.clone()]).expr();
    let expr = Call::new(&add, [sum, Call::new(&add, [inner]).expr()]).expr();
    let counts = count_ops(&expr).expect("a visit");
    assert_eq!(
        counts,
        [
            ("relay_test.add".to_owned(), 3),
            ("relay_test.neg".to_owned(), 1)
        ]
        .into()
    );
    // Calls side by side are a single layer.
    assert_eq!(count_layers(&expr, &["relay_test.add"]).expect("known"), 2);
    assert_eq!(
        count_layers(&expr, &["relay_test.add", "relay_test.neg"]).expect("known"),
        3
    );
    count_layers(&expr, &["relay_test.unknown"]).expect_err("no such operator");
    let module = IRModule::new();
    for name in ["f", "g"] {
        let func = Function::new([], &expr).upcast();
        module
            .update_func(&GlobalVar::new(name), func)
            .expect("closed");
    }
    let counts = list_op_freqs(&module).expect("a visit");
    assert_eq!(counts.get("relay_test.add"), Some(&6));
}

fn sized(expr: &Expr, shape: &[i64]) -> Expr {
    changed(expr, "checked_type_", tensor_type(shape, F32))
}

#[test]
fn multiplications_are_counted_from_types() {
    let of = |name: &str, shapes: &[&[i64]], out: &[i64]| {
        let args = shapes
            .iter()
            .map(|shape| sized(&Var::new("x").expr(), shape));
        sized(&Call::new(op(name), args.collect::<Vec<_>>()).expr(), out)
    };
    let macs = |expr: &Expr| total_mac_number(expr).map_err(|error| error.message().to_owned());
    assert_eq!(
        macs(&of("nn.dense", &[&[4, 8], &[16, 8]], &[4, 16])),
        Ok(4 * 8 * 16)
    );
    assert_eq!(
        macs(&of(
            "nn.batch_matmul",
            &[&[2, 4, 8], &[2, 16, 8]],
            &[2, 4, 16]
        )),
        Ok(2 * 4 * 8 * 16)
    );
    // The kernel holds the input channels of one group.
    let conv = of(
        "nn.conv2d",
        &[&[1, 8, 10, 10], &[16, 4, 3, 3]],
        &[1, 16, 8, 8],
    );
    assert_eq!(macs(&conv), Ok(16 * 8 * 8 * 4 * 3 * 3));
    let both = Tuple::new([conv.clone(), conv]).expr();
    assert_eq!(macs(&both), Ok(16 * 8 * 8 * 4 * 3 * 3));
    let huge = of(
        "nn.dense",
        &[&[i64::from(i32::MAX), 1 << 30], &[1 << 30, 1 << 30]],
        &[1],
    );
    assert!(macs(&huge).expect_err("too large").contains("64 bits"));
    let untyped = Call::new(op("nn.dense"), [int(1), int(2)]).expr();
    macs(&untyped).expect_err("no types");
    let dtypes = all_dtypes(&of("nn.dense", &[&[1, 1], &[1, 1]], &[1, 1])).expect("a visit");
    assert_eq!(dtypes, [DType::FLOAT32]);
    assert_eq!(all_dtypes(&untyped).expect("a visit"), []);
}

#[test]
fn parts_of_programs_are_extracted() {
    let x = Var::new("x");
    let inner = Call::new(op("relay_test.neg"), [x.expr()]).expr();
    let body = TupleGetItem::new(Tuple::new([inner]), 0);
    let module = IRModule::new();
    let main = GlobalVar::new("main");
    let func = Function::new([x.clone()], body).upcast();
    module.update_func(&main, func).expect("closed");
    let part = |id| extract_intermediate_expr(&module, id);
    let body_of = |module: Ref<IRModule>| {
        let main = module
            .lookup(&module.global_var("main").expect("made"))
            .expect("made");
        main.downcast_ref::<Function>().expect("a function").clone()
    };
    assert!(body_of(part(0).expect("a call")).body.isa::<Call>());
    assert!(body_of(part(1).expect("a tuple")).params.iter().eq([&x]));
    assert!(
        body_of(part(2).expect("an item"))
            .body
            .isa::<TupleGetItem>()
    );
    let error = part(3).expect_err("there are three");
    assert!(
        error.message().contains("one of the 3"),
        "{}",
        error.message()
    );
    // Fused functions, equal ones once.
    let fused = || -> Expr {
        let y = Var::new("y");
        let func: Ref<BaseFunc> = Function::new([y.clone()], &y).upcast();
        func.with_attr(attribute::PRIMITIVE, 1)
            .expect("an attribute")
            .expr()
    };
    let calls = [fused(), fused()].map(|func| Call::new(&func, [int(1)]).expr());
    let func = Function::new([], Tuple::new(calls)).upcast();
    module.update_func(&main, func).expect("closed");
    assert_eq!(extract_fused_functions(&module).expect("a main").len(), 1);
    extract_fused_functions(&IRModule::new()).expect_err("no main");
}

#[test]
fn unmatched_cases_are_the_patterns_left() {
    let (module, list, a) = (
        IRModule::new(),
        GlobalTypeVar::new("List"),
        TypeVar::new("a"),
    );
    let rest = TypeCall::new(&list, [a.clone().upcast()]).upcast();
    let cons = Constructor::new("cons", [a.clone().upcast(), rest], &list);
    let nil = Constructor::new("nil", [], &list);
    let data = TypeData::new(&list, [a], [cons.clone(), nil.clone()]);
    module.update_type(&list, data).expect("a new type");
    let wild = || -> Ref<Pattern> { PatternWildcard::new().upcast() };
    let built = |of: &Ref<Constructor>, parts: Vec<Ref<Pattern>>| -> Ref<Pattern> {
        PatternConstructor::new(of).with_patterns(parts).upcast()
    };
    let left = |patterns: Vec<Ref<Pattern>>| {
        let clauses = patterns.iter().map(|pattern| Clause::new(pattern, int(1)));
        let cases = Match::new(int(0), clauses.collect::<Vec<_>>());
        let left = unmatched_cases(&cases, Some(&module)).expect("the type is defined");
        left.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(left(vec![]), ["_"]);
    assert_eq!(left(vec![wild()]), [""; 0]);
    assert_eq!(left(vec![built(&nil, vec![])]), ["cons(_, _)"]);
    let singleton = built(&cons, vec![wild(), built(&nil, vec![])]);
    assert_eq!(
        left(vec![singleton.clone()]),
        ["cons(_, cons(_, _))", "nil()"]
    );
    let all = vec![
        singleton,
        built(&nil, vec![]),
        built(&cons, vec![wild(), wild()]),
    ];
    assert_eq!(left(all), [""; 0]);
    let tuple = |parts: Vec<Ref<Pattern>>| -> Ref<Pattern> {
        PatternTuple::new().with_patterns(parts).upcast()
    };
    let x: Ref<Pattern> = PatternVar::new(Var::new("x")).upcast();
    assert_eq!(
        left(vec![tuple(vec![built(&nil, vec![]), x.clone()])]),
        ["(cons(_, _), _)"]
    );
    let undefined = Match::new(int(0), [Clause::new(built(&nil, vec![]), int(1))]);
    unmatched_cases(&undefined, None).expect_err("no module");
    let nested = tuple(vec![
        x.clone(),
        tuple(vec![PatternVar::new(Var::new("y")).upcast()]),
    ]);
    assert!(
        pattern_vars(&nested)
            .iter()
            .map(|var| &*var.name_hint)
            .eq(["x", "y"])
    );
}

fn shown(pattern: &Ref<Pattern>) -> String {
    let all = |parts: &isoform::Array<Ref<Pattern>>| {
        parts.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    if let Some(built) = pattern.downcast_ref::<PatternConstructor>() {
        return format!("{}({})", built.constructor.name_hint, all(&built.patterns));
    }
    match pattern.downcast_ref::<PatternTuple>() {
        Some(tuple) => format!("({})", all(&tuple.patterns)),
        None => "_".to_owned(),
    }
}

#[test]
fn attributes_are_no_expressions_of_a_visit() {
    let hidden = DictAttrs::from_map([("x".into(), Var::new("x").into())].into_iter().collect());
    let with = Call::new(op("relay_test.plain"), []).with_attrs(hidden.upcast());
    assert_eq!(order_of(&with.expr()), ["ir.Op", "relay.Call"]);
}
