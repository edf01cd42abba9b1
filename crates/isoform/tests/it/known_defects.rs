//! Known defects of similar engines that concern bindings, sharing, maps and
//! hooks: none of them may exist here.
//!
//! The numbers are those of the collection of defects the tests come from.

use isoform::{
    ErrorKind, Ref, RegionChange, Value, get_first_structural_mismatch, structural_equal,
    structural_equal_with, structural_hash,
};

use crate::known_prelude::{
    Add, Binder, Comm, Const, DAdd, Enter, EqualOnly, Handle, Inst, MAPPED, Op, Twins, TypedVar,
    Var, add, cell, equal, equal_mapped, map, seq, var,
};

fn vars<const N: usize>(names: [&str; N]) -> [Ref<Var>; N] {
    names.map(var)
}

fn comm(lhs: impl Into<Value>, rhs: impl Into<Value>) -> Value {
    Comm::new(lhs.into(), rhs.into()).into()
}

fn dag(lhs: i64, rhs: i64) -> Ref<DAdd> {
    DAdd::new(lhs, rhs)
}

#[test]
fn defect_12_scope_leak_makes_unequal_terms_equal() {
    let [x, a] = vars(["x", "a"]);
    assert!(!equal(&x, &a));
    for binder in Binder::BOTH {
        let (l, r) = (binder.bind(&x, &x), binder.bind(&a, &a));
        assert!(equal(&l, &r));
        // Without a scope the binding lives on, so x and a stay bound; with
        // one they are free again.
        let leaks = equal(seq([&l, &x]), seq([&r, &a]));
        assert_eq!(leaks, binder == Binder::Open);
        // Where they come first they are free in either case.
        assert!(!equal(seq([&x, &l]), seq([&a, &r])));
    }
}

#[test]
fn defect_13_scope_leak_makes_equal_terms_unequal() {
    let [x, a, b] = vars(["x", "a", "b"]);
    for binder in Binder::BOTH {
        let identity = |x: &Ref<Var>| binder.bind(x, x);
        let (l, la, lb) = (identity(&x), identity(&a), identity(&b));
        assert!(equal(&l, &la) && equal(&l, &lb));
        // Only a scope frees x for another partner (sharing of trees is
        // invisible), allows shadowing, and hides a free variable.
        let scoped = binder == Binder::Scoped;
        assert_eq!(equal(seq([&l, &l]), seq([&la, &lb])), scoped);
        let shadowing = binder.bind(&x, l.clone());
        assert_eq!(equal(&shadowing, binder.bind(&a, &lb)), scoped);
        assert_eq!(equal(seq([&x, &l]), seq([&x, &la])), scoped);
        // The same variables in the same places are equal under both rules.
        assert!(equal(seq([&l, &l]), seq([&la, &la])));
        assert!(equal(&shadowing, binder.bind(&a, &la)));
    }
}

#[test]
fn defect_13_a_shadowed_binding_comes_back() {
    let [x, y, a, b] = vars(["x", "y", "a", "b"]);
    let function = |x: &Ref<Var>, inner: &Ref<Var>, last: &Ref<Var>| {
        let inner = Binder::Scoped.bind(inner, inner);
        Binder::Scoped.bind(x, seq([&inner, last]))
    };
    assert!(equal(function(&x, &x, &x), function(&a, &b, &a)));
    assert!(!equal(function(&x, &x, &x), function(&a, &b, &b)));
    assert!(equal(function(&x, &y, &y), function(&a, &x, &y)));
}

#[test]
fn defect_14_map_key_captures_a_free_variable() {
    let [x, z, a] = vars(["x", "z", "a"]);
    for binder in Binder::BOTH {
        let under = |param: &Ref<Var>, key: &Ref<Var>| binder.bind(param, map([(key, &1)]));
        // x is free on the left and bound on the right.
        assert!(!equal(under(&z, &x), under(&x, &x)));
        assert!(equal(under(&x, &x), under(&a, &a)));
        assert!(equal(under(&z, &x), under(&a, &x)));
        assert!(!equal(under(&z, &x), under(&a, &z)));
    }
}

#[test]
fn defect_15_maps_depend_on_insertion_order() {
    let [z, b] = vars(["z", "b"]);
    for binder in Binder::BOTH {
        let function = |x: &Ref<Var>| binder.bind(x, 0);
        let (f, g) = (function(&z), function(&b));
        let first = map([(&"a", &z), (&"f", &f)]);
        let second = map([(&"f", &f), (&"a", &z)]);
        let other = map([(&"a", &b), (&"f", &g)]);
        assert!(equal(&first, &second));
        // Values are compared by key, so at "a" the variables are still free.
        assert!(!equal(&first, &other));
        assert!(!equal(&second, &other));
        // Where the function comes first by key, its rule about scopes decides.
        let first = map([(&"f", &f), (&"z", &z)]);
        let second = map([(&"z", &z), (&"f", &f)]);
        let other = map([(&"z", &b), (&"f", &g)]);
        assert!(equal(&first, &second));
        let leaks = binder == Binder::Open;
        assert_eq!(equal(&first, &other), leaks);
        assert_eq!(equal(&second, &other), leaks);
    }
}

#[test]
fn defect_16_dag_keys_of_maps_are_asymmetric() {
    let (p, q) = (dag(0, 0), dag(0, 0));
    let pair = |first: &Ref<DAdd>, key: &Ref<DAdd>| seq([first, &map([(key, &1)])]);
    // q is unbound on the left, and the partner of p on the right.
    assert!(!equal(pair(&p, &q), pair(&q, &q)));
    assert!(!equal(pair(&p, &q), pair(&q, &p)));
    assert!(equal(pair(&p, &p), pair(&q, &q)));
}

#[test]
fn defect_17_free_variable_keys_of_maps_are_asymmetric() {
    let [x, z] = vars(["x", "z"]);
    let pair = |first: &Ref<Var>, key: &Ref<Var>| seq([first, &map([(key, &1)])]);
    assert!(!equal_mapped(pair(&z, &x), pair(&x, &x)));
    assert!(equal_mapped(pair(&z, &z), pair(&x, &x)));
    // Keys are uses: an unbound one matches itself only.
    assert!(!equal_mapped(map([(&x, &1)]), map([(&z, &1)])));
    assert!(!equal(pair(&z, &z), pair(&x, &x)));
}

#[test]
fn defect_14_to_17_maps_break_the_laws_of_equality() {
    use isoform_testing::check_laws;
    let [x, y] = vars(["x", "y"]);
    let (p, q) = (dag(0, 0), dag(0, 0));
    let mut values = Vec::new();
    for binder in Binder::BOTH {
        for (a, b) in [(&x, &y), (&y, &x), (&x, &x), (&y, &y)] {
            values.push(binder.bind(a, map([(b, &1)])));
            values.push(map([(&"a", a), (&"f", &binder.bind(b, 0))]));
            values.push(map([(&"f", &binder.bind(a, 0)), (&"z", b)]));
            values.push(seq([a, &map([(b, &1)])]));
        }
    }
    for (a, b) in [(&p, &q), (&q, &p), (&p, &p), (&q, &q)] {
        values.push(seq([a, &map([(b, &1)])]));
        values.push(seq([&map([(a, &1)]), b]));
    }
    for options in [Default::default(), MAPPED] {
        check_laws(&values, options).expect("the laws hold");
    }
}

#[test]
fn defect_18_const_tree_hides_the_sharing_of_a_dag_node() {
    let (n, m) = (dag(1, 2), dag(1, 2));
    // A const tree promises that no dag node is reachable, so that its own
    // sharing cannot count; with the promise kept all agrees.
    let constant = Const::new(1);
    assert!(equal(seq([&constant, &n]), seq([&constant, &m])));
    assert!(equal(seq([&constant, &n]), seq([&Const::new(1), &m])));
    assert!(!equal(seq([&constant, &n, &n]), seq([&constant, &n, &m])));
    // A tree makes no promise: the sharing across it counts.
    assert!(!equal(seq([&cell(&n), &n]), seq([&cell(&n), &m])));
    assert!(equal(seq([&cell(&n), &n]), seq([&cell(&m), &m])));
}

#[test]
fn defect_18_a_broken_promise_of_a_const_tree_is_found() {
    use isoform_testing::check_types;
    let n = dag(1, 2);
    let error = check_types(&[Const::new(&n).into()]).expect_err("a dag node is reachable");
    assert_eq!(error.type_key(), "kd.Const");
    assert_eq!(error.path().to_string(), "<root>[0].v");
    check_types(&[cell(&n), Const::new(cell(1)).into()]).expect("promises are kept");
}

#[test]
fn defect_19_a_failed_alternative_leaves_bindings_behind() {
    let [x, y, a, b] = vars(["x", "y", "a", "b"]);
    for binder in Binder::BOTH {
        let plus = |x: &Ref<Var>, n: i64| binder.bind(x, add(x, n));
        let left = comm(plus(&x, 1), plus(&y, 2));
        assert!(equal(&left, comm(plus(&b, 2), plus(&a, 1))));
        assert!(equal(&left, comm(plus(&a, 1), plus(&b, 2))));
        assert!(!equal(&left, comm(plus(&b, 2), plus(&a, 3))));
    }
    let open = comm(add(&x, 1), add(&y, 2));
    let commuted = comm(add(&b, 2), add(&a, 1));
    assert!(equal_mapped(&open, &commuted));
    assert!(!equal(&open, &commuted));
    // The alternative that holds keeps its bindings: x stands for a, y for b.
    let kept = |p: &Ref<Var>, q: &Ref<Var>| seq([&commuted, p, q]);
    let left = seq([&open, &x, &y]);
    let holds = |right: Value| structural_equal_with(&left, right, MAPPED).expect("comparable");
    assert!(holds(kept(&a, &b)));
    assert!(!holds(kept(&b, &a)));
}

#[test]
fn defect_19_a_failed_alternative_leaves_path_steps_behind() {
    let paths = |left: &Value, right: &Value| {
        let found = get_first_structural_mismatch(left, right).expect("comparable");
        found.expect("they differ")
    };
    let left = seq([&comm(1, 2), &5]);
    let right = seq([&comm(2, 1), &6]);
    let (l, r) = paths(&left, &right);
    assert_eq!(
        (l.to_string().as_str(), r.to_string().as_str()),
        ("<root>[1]", "<root>[1]")
    );
    // After two failed alternatives the path is a place that exists.
    let left = comm(1, seq([&2, &3]));
    let right = comm(seq([&9, &9]), 1);
    let (l, r) = paths(&left, &right);
    l.get(&left).expect("a real place on the left");
    r.get(&right).expect("a real place on the right");
}

#[test]
fn defect_20_hooks_enter_any_region() {
    for number in [-1, 3, 99, i64::MAX, i64::MIN] {
        let error = RegionChange::from_number(number).expect_err("no such region");
        assert_eq!(error.kind(), ErrorKind::Value);
        let hooked = Value::from(Enter::new(number, 1));
        let error = structural_equal(&hooked, Enter::new(number, 1)).expect_err("no such region");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(&number.to_string()), "{error}");
        let error = structural_hash(&hooked).expect_err("no such region");
        assert_eq!(error.kind(), ErrorKind::Value);
    }
}

#[test]
fn defect_20_hooks_keep_or_enter_a_region() {
    let [x, a] = vars(["x", "a"]);
    let enter = |region: i64, v: Value| Value::from(Enter::new(region, v));
    // 0 keeps the region: nothing binds outside, everything in a def field.
    assert!(!equal(enter(0, (&x).into()), enter(0, (&a).into())));
    for binder in Binder::BOTH {
        let inside = |x: &Ref<Var>| binder.bind(enter(0, x.into()), x);
        assert!(equal(inside(&x), inside(&a)));
    }
    assert!(equal(enter(1, (&x).into()), enter(1, (&a).into())));
    assert!(equal(enter(2, (&x).into()), enter(2, (&a).into())));
    // def-simple binds the variable, and not the one in its type.
    let typed = |region: i64, ty: &Ref<Var>| enter(region, TypedVar::new(ty).into());
    assert!(equal(typed(1, &x), typed(1, &a)));
    assert!(!equal(typed(2, &x), typed(2, &a)));
}

#[test]
fn defect_21_equality_without_a_hash_is_accepted() {
    let (one, two) = (EqualOnly::new(1), EqualOnly::new(2));
    assert!(structural_equal(&one, &two).expect("comparable"));
    let error = structural_hash([&one]).expect_err("no hash");
    assert_eq!(error.kind(), ErrorKind::Type);
    for part in ["kd.EqualOnly", "s_hash"] {
        assert!(error.message().contains(part), "{error}");
    }
    let twins = Twins::new(1, 1);
    structural_hash(&twins).expect("hashable");
    let error = structural_equal([&twins], [Twins::new(1, 1)]).expect_err("no equality");
    assert_eq!(error.kind(), ErrorKind::Type);
    for part in ["kd.Twins", "s_equal"] {
        assert!(error.message().contains(part), "{error}");
    }
}

#[test]
fn defect_24_the_hash_of_a_closed_term_depends_on_its_place() {
    let [x, y, z] = vars(["x", "y", "z"]);
    for binder in Binder::BOTH {
        let identity = |x: &Ref<Var>| binder.bind(x, add(x, 1));
        // The hook checks that both parts hash alike.
        let twins = Value::from(Twins::new(identity(&x), identity(&y)));
        let alone = structural_hash(&twins).expect("hashable");
        // A hash of its own place is part of the hash around it.
        let around = |x: &Ref<Var>, y: &Ref<Var>| {
            let twins = Value::from(Twins::new(identity(x), identity(y)));
            structural_hash(binder.bind(&z, seq([&z, &twins]))).expect("hashable")
        };
        assert_eq!(around(&x, &y), around(&y, &x));
        let swapped = Twins::new(identity(&y), identity(&x));
        assert_eq!(structural_hash(swapped).expect("hashable"), alone);
    }
}

#[test]
fn defect_26_object_keys_and_their_values_are_left_out_of_the_hash() {
    let key = cell(1);
    let one = map([(&key, &1)]);
    // An unbound object key is equal to itself only, whatever it holds.
    assert!(equal(&one, map([(&key, &1)])));
    assert!(!equal(&one, map([(&cell(1), &1)])));
    // Both the key and the value count in the hash.
    assert!(!equal(&one, map([(&key, &99)])));
    assert!(!equal(&one, map([(&cell(2), &99)])));
    let other = cell(1);
    let two = map([(&key, &1), (&other, &2)]);
    assert!(equal(&two, map([(&other, &2), (&key, &1)])));
    assert!(!equal(&two, map([(&other, &1), (&key, &2)])));
}

#[test]
fn defect_31_what_cannot_be_compared_raises_by_the_order_of_evaluation() {
    let handle = Handle::new(1);
    let refused = |l: Value, r: Value| {
        let error = structural_equal(&l, &r).expect_err("a handle");
        let mismatch = get_first_structural_mismatch(&l, &r).expect_err("a handle");
        assert_eq!(error.to_string(), mismatch.to_string());
        assert_eq!(error.kind(), ErrorKind::Type);
        assert!(error.message().contains("kd.Handle"), "{error}");
        // A comparison does not speak of hashing.
        assert!(!error.message().contains("hash"), "{error}");
        error.path().expect("a path").to_string()
    };
    // The order of visit is fixed: an earlier difference wins.
    let differ = structural_equal(seq([&1, &handle]), seq([&2, &handle]));
    assert!(!differ.expect("they differ before the handle"));
    assert_eq!(refused(seq([&handle, &1]), seq([&handle, &2])), "<root>[0]");
    // The same pointer is no way around it, nor is a value of another type.
    assert_eq!(refused((&handle).into(), (&handle).into()), "<root>");
    assert_eq!(refused(seq([&1, &handle]), seq([&1, &2])), "<root>[1]");
    assert_eq!(refused(seq([&1, &2]), seq([&1, &handle])), "<root>[1]");
    let shared = cell(&handle);
    assert_eq!(refused(shared.clone(), shared), "<root>.v");
    let error = structural_hash([&handle]).expect_err("a handle");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(error.path().expect("a path").to_string(), "<root>[0]");
}

#[test]
fn defect_x1_result_types_are_not_compared() {
    let inst = |name: &str, results: &[&str]| {
        let types: Vec<Value> = results.iter().map(|&ty| ty.into()).collect();
        Value::from(Inst::new(name, Value::from([1]), types))
    };
    assert!(equal(inst("f", &["i32"]), inst("f", &["i32"])));
    assert!(!equal(inst("f", &["i32"]), inst("f", &["i64"])));
    assert!(!equal(inst("f", &["i32"]), inst("f", &["i32", "i32"])));
    // The type of a bound variable counts as well.
    for binder in Binder::BOTH {
        let function = |ty: &str| {
            let param = TypedVar::new(ty);
            binder.bind(&param, &param)
        };
        assert!(equal(function("i32"), function("i32")));
        assert!(!equal(function("i32"), function("i64")));
    }
}

#[test]
fn defect_x3_the_same_pointer_is_taken_before_the_bindings() {
    let [x, y] = vars(["x", "y"]);
    // Under mapping every variable has one partner, in both directions.
    assert!(!equal_mapped(add(&x, &x), add(&x, &y)));
    assert!(!equal_mapped(add(&x, &x), add(&y, &x)));
    assert!(!equal_mapped(add(&x, &y), add(&y, &y)));
    assert!(equal_mapped(add(&x, &y), add(&y, &x)));
    // A shared subterm is the same pointer, and still not equal to itself
    // once its variable has another partner.
    let shared = cell(add(&x, 1));
    assert!(!equal_mapped(seq([&x, &shared]), seq([&y, &shared])));
    assert!(!equal_mapped(seq([&shared, &x]), seq([&shared, &y])));
    let both = cell(add(&x, &y));
    assert!(!equal_mapped(seq([&x, &y, &both]), seq([&y, &x, &both])));
    assert!(equal_mapped(
        seq([&x, &y, &both]),
        seq([&y, &x, &cell(add(&y, &x))])
    ));
    for binder in Binder::BOTH {
        // x is bound on the left and free on the right.
        assert!(!equal(binder.bind(&x, &both), binder.bind(&y, &both)));
        assert!(!equal(binder.bind(&x, &shared), binder.bind(&y, &shared)));
        assert!(equal(
            binder.bind(&x, &shared),
            binder.bind(&y, cell(add(&y, 1)))
        ));
    }
    // So it is with nodes whose sharing counts.
    let (n, m) = (dag(1, 2), dag(1, 2));
    assert!(!equal(seq([&n, &n]), seq([&n, &m])));
    assert!(!equal(seq([&n, &m, &n]), seq([&m, &n, &n])));
    assert!(equal(seq([&n, &m]), seq([&m, &n])));
}

#[test]
fn defect_x3_constants_of_nan_are_unequal() {
    let [x, y] = vars(["x", "y"]);
    let payload = f64::from_bits(f64::NAN.to_bits() ^ 1);
    assert!(equal(Const::new(f64::NAN), Const::new(f64::NAN)));
    assert!(equal(Const::new(f64::NAN), Const::new(payload)));
    assert!(equal_mapped(add(&x, f64::NAN), add(&y, -f64::NAN)));
    assert!(!equal(Const::new(f64::NAN), Const::new(f64::INFINITY)));
}

#[test]
fn singletons_and_unlike_types_stay_apart() {
    let (one, two) = (Op::new("add"), Op::new("add"));
    assert!(structural_equal([&one], [&one]).expect("comparable"));
    assert!(!structural_equal([&one], [&two]).expect("comparable"));
    // The same fields in two types, and the two binders, are never equal.
    let pair = Value::from(Add::new(1, 2));
    assert!(!equal(&pair, dag(1, 2)));
    let x = var("x");
    assert!(!equal(
        Binder::Open.bind(&x, &x),
        Binder::Scoped.bind(&x, &x)
    ));
}
