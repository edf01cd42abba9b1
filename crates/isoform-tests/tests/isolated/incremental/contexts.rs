//! Values with a comparison that depends on earlier comparisons or writes.

use super::support::beside_others;
use isoform::compare::{CompareOptions, IncrementalHasher, last_visit_count, visiting_everything};
use isoform::hooks::DynEqual;
use isoform::objects::set_field;
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::values::List;
use isoform::{Array, Map, Value, structural_equal, structural_hash};
use isoform_testing::sessions::{arr, assign, dag, fun, make, map, tree, typed, var};

#[track_caller]
pub(super) fn check(left: &Value, right: &Value) {
    for map_free_vars in [false, true] {
        let options = CompareOptions {
            map_free_vars,
            ..Default::default()
        };
        isoform_testing::remembered::skips_change_nothing(left, right, options)
            .unwrap_or_else(|e| panic!("{}", &e[..e.len().min(1500)]));
    }
}

/// B meets the variable already bound and does not date the variable.
#[test]
fn a_written_variable_met_again() {
    let _guard = beside_others();
    for bound in [false, true] {
        let (w, w2) = (var(), var());
        let v = typed(1);
        let b = arr(&[v.clone(), tree(v.clone(), 1)]);
        let first = arr(&[v.clone(), b.clone()]);
        if bound {
            check(&fun(v.clone(), b.clone()), &fun(v.clone(), b.clone()));
        }
        let outer = arr(&[first.clone(), 1.into()]);
        check(&outer, &arr(&[first.clone(), 1.into()]));
        set_field(v.as_object().unwrap(), "ty", w.clone()).unwrap();
        let _keep = &b;
        check(
            &arr(&[assign(w.clone(), 1), b.clone()]),
            &arr(&[assign(w2.clone(), 1), b.clone()]),
        );
    }
}

#[test]
fn order_of_bound_keys_after_whole() {
    let _guard = beside_others();
    let (x, y) = (var(), var());
    let w = dag(x.clone(), 1);
    let side = |n: i64| {
        arr(&[
            w.clone(),
            y.clone(),
            x.clone(),
            map(&[(x.clone(), n.into()), (y.clone(), (n + 1).into())]),
        ])
    };
    check(&side(1), &side(5));
}

#[test]
fn order_of_bound_keys_after_map() {
    let _guard = beside_others();
    let (x, y) = (var(), var());
    for (one, other) in [("a", "b"), ("b", "a")] {
        let w = map(&[(one.into(), x.clone()), (other.into(), y.clone())]);
        let side = |n: i64| {
            arr(&[
                w.clone(),
                map(&[(x.clone(), n.into()), (y.clone(), (n + 1).into())]),
            ])
        };
        check(&side(1), &side(5));
    }
}

/// The second function binds a parameter after the other key has been met.
#[test]
fn a_shared_map_whose_keys_are_bound_in_another_order() {
    let _guard = beside_others();
    let (free, key, param) = (var(), var(), var());
    let entries = || map(&[(key.clone(), free.clone()), (param.clone(), key.clone())]);
    let both = |first: &Value, second: &Value| {
        let inner = fun(key.clone(), second.clone());
        map(&[("b".into(), first.clone()), (key.clone(), inner)])
    };
    let twice =
        |left: &Value, right: &Value| fun(param.clone(), arr(&[left.clone(), right.clone()]));
    let shared = {
        let part = both(&entries(), &entries());
        let shared = entries();
        let with_shared = both(&shared, &shared);
        assert_eq!(structural_equal(&part, &with_shared).ok(), Some(true));
        twice(&with_shared, &with_shared)
    };
    let apart = || {
        let part = || both(&entries(), &entries());
        twice(&part(), &part())
    };
    let (left, right) = (arr(&[shared.clone(), shared]), arr(&[apart(), apart()]));
    assert_eq!(structural_equal(&left, &right).ok(), Some(true));
    assert_eq!(structural_hash(&left).ok(), structural_hash(&right).ok());
}

/// The last visit finds the list's hash under names that hide the dag node.
#[test]
fn a_list_of_dag_nodes_that_several_functions_return() {
    let _guard = beside_others();
    let (x, y) = (var(), var());
    let output = tree(dag(x.clone(), y.clone()), 1);
    let outputs = arr(std::slice::from_ref(&output));
    let copied = fun(arr(&[x.clone(), y.clone()]), arr(&[output]));
    let last = fun(arr(&[x.clone(), y.clone()]), outputs.clone());
    let again = arr(&[copied, tree(last.clone(), 1)]);
    let without = |params: &[Value]| fun(arr(params), outputs.clone());
    let first = arr(&[without(&[var(), y.clone()]), again.clone()]);
    let second = arr(&[without(&[x, y]), again]);
    let mut hasher = IncrementalHasher::default();
    for value in [arr(&[first, second]), last] {
        let kept = hasher.hash(&value).unwrap();
        assert_eq!(kept, structural_hash(&value).unwrap());
    }
}

/// The function ends before the pattern is met again, and unbinds its variables.
#[test]
fn a_pattern_inside_of_a_function_in_a_definition() {
    let _guard = beside_others();
    let (x, y, other) = (var(), var(), var());
    let side = |var: &Value| {
        let pattern = arr(&[x.clone(), var.clone()]);
        let inner = fun(pattern.clone(), arr(&[pattern.clone(), 1.into()]));
        assign(arr(&[inner, tree(pattern, x.clone())]), 1)
    };
    let (left, right) = (side(&y), side(&other));
    check(&arr(&[left, right.clone()]), &arr(&[right.clone(), right]));
}

#[test]
fn missing_keys() {
    let _guard = beside_others();
    let (x, y) = (var(), var());
    for (x, y) in [(&x, &y), (&y, &x)] {
        let w = dag(x.clone(), 1);
        let side = |m: Value| arr(&[w.clone(), y.clone(), m]);
        let both = map(&[(x.clone(), 1.into()), (y.clone(), 2.into())]);
        let none = map(&[]);
        check(&side(both.clone()), &side(none.clone()));
        check(&side(none), &side(both));
    }
}

#[test]
fn wide_with_an_annotated_variable() {
    let _guard = beside_others();
    let (w, w2) = (var(), var());
    let g = typed(w.clone());
    let params: Vec<Value> = (0..40).map(|_| var()).collect();
    let mut uses = params.clone();
    uses.push(g.clone());
    let o = arr(&uses);
    let first = fun(arr(&params), arr(&[g.clone(), o.clone()]));
    let outer = |f: &Value| arr(&[f.clone(), 1.into()]);
    check(&outer(&first), &outer(&first));
    check(
        &arr(&[assign(w.clone(), 1), o.clone()]),
        &arr(&[assign(w2.clone(), 1), o.clone()]),
    );
}

pub(super) fn visits(left: &Value, right: &Value) -> (u64, u64) {
    let options = CompareOptions::default();
    visiting_everything(|| options.equal(left, right)).unwrap();
    let all = last_visit_count();
    options.equal(left, right).unwrap();
    (last_visit_count(), all)
}

#[track_caller]
pub(super) fn at_most_few_times((skipping, all): (u64, u64)) {
    assert!(
        skipping <= 4 * all + (1 << 13),
        "{skipping} instead of {all}"
    );
}

#[test]
fn cliff_nested_definitions() {
    let _guard = beside_others();
    for shared in [false, true] {
        for n in [100, 200, 400, 800] {
            let mut rest = arr(&[]);
            let mut keep = vec![];
            for _ in 0..n {
                let x = var();
                rest = arr(&[assign(x.clone(), dag(x, 1)), rest]);
                if shared {
                    keep.push(rest.clone());
                }
            }
            let (l, r) = (arr(&[rest.clone(), 1.into()]), arr(&[rest, 1.into()]));
            at_most_few_times(visits(&l, &r));
        }
    }
}

#[test]
fn cliff_shared_patterns() {
    let _guard = beside_others();
    for n in [100, 200, 400, 800] {
        let pattern = arr(&(0..n).map(|_| var()).collect::<Vec<_>>());
        let many = arr(&(0..n)
            .map(|_| assign(pattern.clone(), 1))
            .collect::<Vec<_>>());
        let (l, r) = (arr(&[many.clone(), 1.into()]), arr(&[many, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
}

#[test]
fn cliff_scopes() {
    let _guard = beside_others();
    // Nested functions with many parameters, used below.
    for n in [50, 100, 200, 400] {
        let mut body = arr(&[]);
        let params: Vec<Value> = (0..n).map(|_| var()).collect();
        for p in &params {
            body = fun(p.clone(), arr(&[body, arr(&params)]));
        }
        let (l, r) = (arr(&[body.clone(), 1.into()]), arr(&[body, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
    for n in [50, 100, 200, 400, 4000] {
        let params: Vec<Value> = (0..n).map(|_| var()).collect();
        let mut body = dag(1, 2);
        for p in &params {
            body = dag(p.clone(), dag(body.clone(), body));
        }
        let (l, r) = (
            arr(&[body.clone(), 1.into()]),
            arr(&[body.clone(), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
        let (l, r) = (
            arr(&[fun(arr(&params), body.clone()), 1.into()]),
            arr(&[fun(arr(&params), body.clone()), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
        let ps2: Vec<Value> = (0..n).map(|_| var()).collect();
        let (l, r) = (
            arr(&[fun(arr(&ps2), body.clone()), 1.into()]),
            arr(&[fun(arr(&ps2), body.clone()), 1.into()]),
        );
        at_most_few_times(visits(&l, &r));
    }
    // Nested definition fields around shared nodes.
    for n in [5, 10, 15, 20, 30] {
        let mut node = arr(&[var(), var()]);
        for _ in 0..n {
            node = tree(assign(node.clone(), 1), assign(node, 2));
        }
        let (l, r) = (arr(&[node.clone(), 1.into()]), arr(&[node, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
    for n in [5, 10, 15, 20] {
        let mut node = arr(&[var(), var()]);
        for _ in 0..n {
            node = fun(arr(&[node.clone()]), arr(&[node.clone(), fun(node, 2)]));
        }
        let (l, r) = (arr(&[node.clone(), 1.into()]), arr(&[node, 1.into()]));
        at_most_few_times(visits(&l, &r));
    }
}

/// The only owner of an array or node writes in place.
#[test]
fn a_write_in_place() {
    let _guard = beside_others();
    let (x, x2) = (var(), var());
    let mut a = Array::from((0..10i64).map(|n| tree(n, 1)).collect::<Vec<_>>());
    let pair = |v: &Value, a: &Array<Value>| arr(&[assign(v.clone(), 1), Value::from(a.clone())]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.push(x.clone());
    check(&pair(&x, &a), &pair(&x2, &a));
}

#[test]
fn a_map_written_in_place() {
    let _guard = beside_others();
    let (x, x2) = (var(), var());
    let mut a: Map<Value, Value> = Map::from_iter((0..10i64).map(|n| (n.into(), tree(n, 1))));
    let pair = |v: &Value, a: &Map| arr(&[assign(v.clone(), 1), Value::from(a.clone())]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.insert(3.into(), x.clone());
    check(&pair(&x, &a), &pair(&x2, &a));
}

/// A list may be written while shared.
#[test]
fn a_list_written_while_it_is_shared() {
    let _guard = beside_others();
    let (x, x2) = (var(), var());
    let list: List = (0..10i64).map(|n| tree(n, 1)).collect();
    let held = tree(Value::from(list.clone()), 1);
    let pair = |v: &Value| arr(&[assign(v.clone(), 1), held.clone()]);
    check(&pair(&x), &pair(&x2));
    list.push(x.clone()).unwrap();
    check(&pair(&x), &pair(&x2));
    assert!(!structural_equal(pair(&x), pair(&x2)).unwrap());
}

#[derive(isoform::Node)]
#[node(key = "contexts.Owned")]
#[repr(C)]
struct Owned {
    a: Value,
    b: Value,
}

#[test]
fn a_node_written_in_place() {
    let _guard = beside_others();
    let (x, x2) = (var(), var());
    let mut a = Owned::new(tree(1, 2), tree(3, 4));
    let pair = |v: &Value, a: &isoform::Ref<Owned>| arr(&[assign(v.clone(), 1), Value::from(a)]);
    check(&pair(&x, &a), &pair(&x2, &a));
    a.get_mut().unwrap().b = x.clone();
    check(&pair(&x, &a), &pair(&x2, &a));
}

/// The second visit of the function does not enter the dag node, and binds nothing.
#[test]
fn a_definition_inside_a_dag_node() {
    let _guard = beside_others();
    let (x, y) = (var(), var());
    let f = fun(dag(x.clone(), 1), x.clone());
    check(&arr(&[f.clone(), f.clone(), y]), &arr(&[f.clone(), f, x]));
}

/// Compares the second part where each side has defined a variable, once both parts were met.
fn check_after_both([one, two]: [Value; 2], defined: [Value; 2]) {
    let both = arr(&[one, two.clone()]);
    check(&both, &both);
    let [left, right] = defined.map(|var| arr(&[assign(var, 0), two.clone()]));
    check(&left, &right);
}

/// The second part meets the variable after the visit of its annotation.
#[test]
fn an_annotation_that_was_visited_elsewhere() {
    let _guard = beside_others();
    let (y, other) = (var(), var());
    let x = typed(y.clone());
    let part = |n: i64| tree(tree(x.clone(), n), tree(n, x.clone()));
    check_after_both([part(1), part(2)], [y, other]);
}

/// Two definition fields contain the same pattern.
#[test]
fn a_pattern_in_several_definitions() {
    let _guard = beside_others();
    let (x, y, other) = (var(), var(), var());
    let pattern = tree(tree(x.clone(), 1), y);
    check_after_both([1, 2].map(|n| assign(pattern.clone(), n)), [x, other]);
}

#[test]
fn a_comparison_that_is_declared_later() {
    let _guard = beside_others();
    let field = FieldDef::new("part", Schema::Any);
    let ty = register_type(TypeDef::new("contexts.Late").field(field)).unwrap();
    let late = make(ty, vec![tree(tree(1, 2), tree(3, 4))]);
    let around = |n: i64| arr(&[tree(late.clone(), 1), n.into()]);
    check(&around(1), &around(1));
    let never = DynEqual::new(|_, _, _| Ok(false));
    isoform::attrs::set_hook(ty, never, false).unwrap();
    assert!(!structural_equal(around(1), around(1)).unwrap());
    check(&around(1), &around(1));
}

/// Compares functions that contain the part and then use the variable, which is free
/// afterwards: there, the sides define separate variables.
fn check_after_functions(part: &Value, variable: &Value) {
    let inside = |param: Value| fun(param, arr(&[part.clone(), variable.clone()]));
    let side = |defined: &Value| arr(&[inside(var()), assign(defined.clone(), 1)]);
    let (left, right) = (side(variable), side(&var()));
    check(&left, &right);
    check(&right, &left);
}

/// A definition ends with the surrounding function, and the variable is free
/// afterwards.
#[test]
fn a_definition_that_ends_with_its_function() {
    let _guard = beside_others();
    let graph = || dag(1, 2);
    let x = var();
    let inner = assign(x.clone(), graph());
    check_after_functions(&arr(&[inner.clone(), 1.into()]), &x);
    check_after_functions(&tree(arr(&[arr(&[inner])]), 1), &x);

    // Patterns met before outside of definition fields.
    for beside in [Value::from(1), graph()] {
        let x = var();
        let pattern = arr(&[x.clone(), tree(1, 2), beside.clone()]);
        check(
            &arr(&[pattern.clone(), 1.into()]),
            &arr(&[pattern.clone(), 1.into()]),
        );
        check_after_functions(&arr(&[assign(pattern.clone(), graph()), 2.into()]), &x);
        check_after_functions(&arr(&[assign(pattern, 0), 2.into()]), &x);
    }

    // A definition field defines the variables in the body of a function, and they
    // outlive the function.
    let x = var();
    let pattern = fun(var(), arr(&[x.clone(), graph()]));
    check_after_functions(&arr(&[assign(pattern, 0), 1.into()]), &x);

    // A variable whose annotation defines another one.
    let n = var();
    let annotated = typed(assign(n.clone(), 1));
    check_after_functions(&tree(annotated, 1), &n);
}

/// The annotation has a custom comparison, unequal even to itself.
#[test]
fn an_annotation_that_is_never_equal() {
    let _guard = beside_others();
    let field = FieldDef::new("part", Schema::Any);
    let never = DynEqual::new(|_, _, _| Ok(false));
    let ty = TypeDef::new("contexts.Never").field(field).hook(never);
    let never = make(register_type(ty).unwrap(), vec![1.into()]);
    let part = tree(typed(never), tree(1, 2));
    let around = || arr(&[part.clone(), 1.into()]);
    assert!(!structural_equal(around(), around()).unwrap());
    check(&around(), &around());
}
