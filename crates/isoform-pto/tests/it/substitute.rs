//! Substitution in programs of the statement dialect, where variables are also
//! sizes in the types of others, and the variables that a node defines.

use isoform::{Ref, Value, structural_equal};
use isoform_pto::{
    Add, AssignStmt, Call, ConstInt, DataType, EvalStmt, Expr, ForStmt, Function, IterArg, Op,
    ScalarType, SeqStmts, Stmt, TileType, Type, Var, collect_def_vars, collect_free_vars,
    deep_clone, substitute,
};

fn int(name: &str) -> Ref<Var> {
    Var::new(name, ScalarType::new(DataType::Index))
}

fn tile_type(size: &Ref<Var>) -> Ref<Type> {
    let sixteen = ConstInt::new(16, DataType::Index).upcast();
    TileType::new(vec![sixteen, expr(size)], DataType::Fp32)
        .upcast()
        .upcast()
}

fn tile(name: &str, size: &Ref<Var>) -> Ref<Var> {
    Var::new(name, tile_type(size))
}

fn expr(var: &Ref<Var>) -> Ref<Expr> {
    var.clone().upcast()
}

fn call(args: &[&Ref<Var>]) -> Ref<Call> {
    let args: Vec<_> = args.iter().map(|arg| expr(arg)).collect();
    Call::new(Op::new("op"), args)
}

fn assign(var: &Ref<Var>, value: impl isoform::types::IntoField<Ref<Expr>>) -> Ref<Stmt> {
    AssignStmt::new(var, value.into_field()).upcast()
}

fn eval(args: &[&Ref<Var>]) -> Ref<Stmt> {
    EvalStmt::new(call(args)).upcast()
}

fn seq<const N: usize>(stmts: [Ref<Stmt>; N]) -> Ref<Stmt> {
    SeqStmts::new(stmts).upcast()
}

#[track_caller]
fn replaced<T: isoform::Node>(node: &Ref<T>, pairs: &[(&Ref<Var>, &Ref<Var>)]) -> Value {
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(old, new)| (Value::from(*old), Value::from(*new)))
        .collect();
    substitute(node, &pairs).expect("the substitution succeeds")
}

/// Replacing `n` by `m` yields the statement built with `m`.
#[track_caller]
fn check(build: impl Fn(&Ref<Var>) -> Ref<Stmt>) -> Ref<Stmt> {
    let (n, m) = (int("n"), int("m"));
    let result = replaced(&build(&n), &[(&n, &m)]);
    let free = |value: &Value| collect_free_vars(value).expect("a walk");
    assert!(
        free(&result).iter().all(|var| !var.same_as(&n)),
        "{result:?}"
    );
    assert!(
        free(&result).iter().any(|var| var.same_as(&m)),
        "{result:?}"
    );
    result.extract().expect("a statement")
}

#[test]
fn a_size_that_is_known_before_is_replaced_in_the_types_of_definitions() {
    let program = |n: &Ref<Var>| {
        let (k, z) = (int("k"), tile("z", n));
        let sum = Add::new(expr(n), expr(n), DataType::Index);
        seq([assign(&k, sum), assign(&z, call(&[n])), eval(&[n, &z])])
    };
    let result = check(program);
    let sequence = result.downcast_ref::<SeqStmts>().expect("a sequence");
    let last = |position: usize| sequence.stmts.get(position).expect("a statement");
    let defined = &last(1)
        .downcast_ref::<AssignStmt>()
        .expect("an assignment")
        .var;
    let used = last(2).downcast_ref::<EvalStmt>().expect("a call");
    let used = used.expr.downcast_ref::<Call>().expect("a call");
    assert!(
        used.args
            .get(1)
            .expect("z")
            .as_object()
            .same_as(defined.as_object())
    );
    let m = used
        .args
        .get(0)
        .expect("m")
        .downcast_ref::<Var>()
        .expect("m");
    assert!(structural_equal(&defined.ty, tile_type(m)).expect("types"));
    // The value alone says that the size comes from outside.
    check(|n| {
        let z = tile("z", n);
        seq([assign(&z, call(&[n])), eval(&[&z])])
    });
    // So does the type of a variable from outside.
    check(|n| {
        let z = tile("z", n);
        seq([assign(&z, call(&[&tile("x", n)])), eval(&[n, &z])])
    });
}

#[test]
fn a_size_that_nothing_gave_a_value_before_is_defined_by_the_type() {
    let (n, m, z, x) = (int("n"), int("m"), int("x"), int("z"));
    let z = Var::new(z.name_hint.clone(), tile_type(&n));
    let stmt = seq([assign(&z, call(&[&x])), eval(&[&n, &z])]);
    let free = collect_free_vars(Value::from(&stmt)).expect("a walk");
    assert!(free.len() == 1 && free[0].same_as(&x));
    assert_eq!(replaced(&stmt, &[(&n, &m)]), Value::from(&stmt));
    let defined = collect_def_vars(Value::from(&stmt)).expect("a walk");
    assert!(defined.iter().any(|var| var.same_as(&n)));
}

#[test]
fn a_free_variable_whose_type_changes_becomes_one_new_variable() {
    let (n, m) = (int("n"), int("m"));
    let x = tile("x", &n);
    let result = replaced(&call(&[&x, &x, &n]), &[(&n, &m)]);
    let result = result.extract::<Ref<Call>>().expect("a call");
    let args: Vec<_> = result.args.iter().cloned().collect();
    assert!(args[0].same_as(&args[1]) && !args[0].same_as(&expr(&x)));
    assert!(structural_equal(&args[0].ty, tile_type(&m)).expect("types"));
    let typed = Call::typed(Op::new("op"), vec![], tile_type(&n));
    let result = replaced(&typed, &[(&n, &m)]);
    let result = result.extract::<Ref<Call>>().expect("a call");
    assert!(structural_equal(&result.ty, tile_type(&m)).expect("types"));
}

#[test]
fn a_replacement_has_the_sizes_of_the_same_substitution_and_circles_end() {
    let (n, m, x) = (int("n"), int("m"), int("x"));
    let y = tile("y", &n);
    for pairs in [[(&x, &y), (&n, &m)], [(&n, &m), (&x, &y)]] {
        let result = replaced(&call(&[&x, &y, &n]), &pairs);
        let result = result.extract::<Ref<Call>>().expect("a call");
        let args: Vec<_> = result.args.iter().cloned().collect();
        assert!(args[0].same_as(&args[1]) && !args[0].same_as(&expr(&y)));
        assert!(structural_equal(&args[0].ty, tile_type(&m)).expect("types"));
        assert!(args[2].same_as(&expr(&m)));
    }
    let swapped = replaced(&call(&[&n, &m]), &[(&n, &m), (&m, &n)]);
    let swapped = swapped.extract::<Ref<Call>>().expect("a call");
    let args: Vec<_> = swapped.args.iter().cloned().collect();
    assert!(args[0].same_as(&expr(&m)) && args[1].same_as(&expr(&n)));
    // The types also form a circle.
    let (a, b) = (tile("a", &n), tile("b", &n));
    let dim = |of: &Ref<Var>| Value::from(call(&[of]));
    let pairs = [(Value::from(&n), dim(&a)), (Value::from(&m), dim(&b))];
    let result = substitute(call(&[&n, &m, &a, &b]), &pairs).expect("an end");
    let free = collect_free_vars(&result).expect("a walk");
    assert!(free.iter().all(|var| !var.same_as(&m)));
}

#[test]
fn what_a_loop_computes_before_its_first_iteration_is_outside_of_it() {
    let (i, n, acc) = (int("i"), int("n"), int("acc"));
    // The bound and the first value are another i than the one of the loop.
    let arg = IterArg::new("acc", ScalarType::new(DataType::Index), expr(&i));
    let each = ForStmt::carrying(
        &i,
        expr(&n),
        expr(&i),
        ConstInt::new(1, DataType::Index),
        vec![arg],
        eval(&[&i]),
        vec![acc],
    );
    let result = replaced(&each, &[(&i, &n)]);
    let result = result.extract::<Ref<ForStmt>>().expect("a loop");
    assert!(result.stop.same_as(&expr(&n)));
    assert!(
        result
            .iter_args
            .get(0)
            .expect("one")
            .init_value
            .same_as(&expr(&n))
    );
    assert!(result.loop_var.same_as(&i) && result.body.same_as(&each.body));
}

#[test]
fn a_copy_keeps_what_the_node_does_not_define() {
    let n = int("n");
    let z = tile("z", &n);
    let stmt = seq([assign(&z, call(&[&n])), eval(&[&n, &z])]);
    let copy = deep_clone(Value::from(&stmt), &[]).expect("a copy");
    assert!(structural_equal(&copy, &stmt).expect("comparable"));
    let free = collect_free_vars(&copy).expect("a walk");
    assert!(free.len() == 1 && free[0].same_as(&n));
    let m = int("m");
    let copy = deep_clone(Value::from(&stmt), &[(Value::from(&n), Value::from(&m))]);
    let copy = copy
        .expect("a copy")
        .extract::<Ref<Stmt>>()
        .expect("a statement");
    let function = |param: &Ref<Var>, body: &Ref<Stmt>| {
        Function::new("f", vec![param.clone()], [], body.clone())
    };
    assert!(structural_equal(function(&n, &stmt), function(&m, &copy)).expect("comparable"));
}
