//! The work after an edit, counted in visits.

use std::slice::from_ref;

use super::support::{DEPTH, Pair, alone, edited, function, module, tree};
use crate::support::MAPPED;
use isoform::compare::{CompareOptions, IncrementalHasher, last_visit_count};
use isoform::hooks::DynHash;
use isoform::objects::{construct, field_value, set_field};
use isoform::types::{FieldDef, RegionChange, Schema, TypeDef, register_type};
use isoform::{Array, Obj, Ref, Value, structural_digest, structural_equal, structural_hash};
use isoform_ir::ir::GlobalVar;
use isoform_pto as pto;
use isoform_pto::{
    AssignStmt, ConstInt, DataType, Program, ReturnStmt, ScalarType, SeqStmts, Stmt,
};
use isoform_relay::{AsExpr, Call, Function, Var};
use isoform_testing::family::{Family, Role};
use isoform_testing::sessions::{arr, assign, dag, fun, map, var};
use isoform_testing::source::scaled;

#[test]
fn an_edit_of_a_tree_costs_its_path() {
    let _guard = alone();
    let mut program = tree(DEPTH, 0);
    let mut hasher = IncrementalHasher::default();
    for step in 0..50 {
        let hash = hasher.hash(&program).unwrap();
        let hash_visits = last_visit_count();
        let digest = hasher.digest(&program).unwrap();
        let digest_visits = last_visit_count();
        assert_eq!(hash, structural_hash(&program).unwrap());
        assert_eq!(digest, structural_digest(&program).unwrap());
        if step > 0 {
            // A path of nodes with two parts, and the small parts beside the end, which
            // are not kept.
            let path = 4 * 2 * u64::from(DEPTH);
            assert!(hash_visits <= path, "{hash_visits} visits for a hash");
            assert!(
                digest_visits <= 3 * path,
                "{digest_visits} visits for a digest"
            );
        }
        program = edited(&program, DEPTH, step * 977 % (1 << DEPTH), -1);
    }
}

/// A tree with a few variables as leaves, free or bound around the tree.
fn open_tree(depth: u32, vars: &[Ref<Obj>], first: usize) -> Value {
    match depth {
        0 => Value::from(&vars[first % vars.len()]),
        _ => {
            let below = |first| open_tree(depth - 1, vars, first);
            Pair::new(below(2 * first), below(2 * first + 1)).into()
        }
    }
}

/// The tree with another leaf; the bits of `place` are the way to it.
fn with_leaf(tree: &Value, depth: u32, place: usize, leaf: &Value) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return leaf.clone();
    };
    let pair = tree.peek::<Ref<Pair>>().expect("a tree");
    let below = |part| with_leaf(part, depth, place, leaf);
    match place >> depth & 1 {
        0 => Pair::new(below(&pair.lhs), pair.rhs.clone()).into(),
        _ => Pair::new(pair.lhs.clone(), below(&pair.rhs)).into(),
    }
}

#[test]
fn an_edit_of_an_open_program_costs_its_path() {
    let _guard = alone();
    let b = &Family::both().expect("the types register")[0];
    let var = || {
        let fields = vec![Value::NONE, "x".into(), "i32".into()];
        b.make(Role::Var, fields).expect("a variable")
    };
    let vars = [var(), var(), var()];
    let params = || Value::from(vars.each_ref().map(Value::from));
    let open = |body: Value| -> Value { body };
    let inside = |body: Value| -> Value {
        let fields = vec![Value::NONE, body, params()];
        b.make(Role::Lambda, fields).expect("a function").into()
    };
    let deep = |body: Value| -> Value { inside(inside(body)) };
    let programs: [(CompareOptions, &dyn Fn(Value) -> Value); 5] = [
        (CompareOptions::default(), &open),
        (MAPPED, &open),
        (CompareOptions::default(), &inside),
        (MAPPED, &inside),
        (MAPPED, &deep),
    ];
    for (options, program) in programs {
        let mut body = open_tree(DEPTH, &vars, 1);
        let mut hasher = IncrementalHasher::new(options);
        for step in 0..20 {
            let value = program(body.clone());
            let hash = hasher.hash(&value).unwrap();
            assert_eq!(hash, options.hash(&value).unwrap());
            let digest = hasher.digest(&value);
            let visits = last_visit_count();
            let alone = options.digest(&value);
            assert_eq!(digest.as_ref().ok(), alone.as_ref().ok());
            if step > 0 && digest.is_ok() {
                // The paths to the edit and to where each variable is met first, and the
                // small parts beside their ends.
                let paths = (2 + vars.len() + step / 3) as u64;
                assert!(
                    visits <= paths * 16 * u64::from(DEPTH),
                    "{visits} visits, {options:?}"
                );
            }
            let leaf = match step % 3 {
                0 => Value::from(&vars[step % 2]),
                1 => Value::from(step as i64),
                _ => Value::from(&var()),
            };
            // Free variables have no digest inside of a function.
            let leaf = if options.map_free_vars {
                leaf
            } else {
                Value::from(step as i64)
            };
            // Beyond the leaves where the variables are met first.
            let place = 5000 + step * 541;
            body = with_leaf(&body, DEPTH, place, &leaf);
        }
    }
}

/// A part that uses the outer of two variables is the same object in a place where that
/// variable has another name.
#[test]
fn a_part_is_not_taken_where_its_variables_have_other_names() {
    let _guard = alone();
    let b = &Family::both().expect("the types register")[0];
    let var = || {
        let fields = vec![Value::NONE, "x".into(), "i32".into()];
        b.make(Role::Var, fields).expect("a variable")
    };
    let (x, y) = (var(), var());
    let part = open_tree(DEPTH, &[x.clone(), y.clone()], 0);
    let function = |params: &[&Ref<Obj>], body: Value| -> Value {
        let params = Value::from(
            params
                .iter()
                .map(|var| Value::from(*var))
                .collect::<Vec<_>>(),
        );
        let fields = vec![Value::NONE, body, params];
        b.make(Role::Lambda, fields).expect("a function").into()
    };
    let row = |items: &[Value]| Value::from(items.to_vec());
    let programs = [
        function(&[&x, &y], part.clone()),
        function(&[&y, &x], part.clone()),
        function(&[&x], function(&[&y], part.clone())),
        function(&[&y], function(&[&x], part.clone())),
        function(&[&x, &y], function(&[&var()], part.clone())),
        row(&[Value::from(&x), Value::from(&y), part.clone()]),
        row(&[Value::from(&y), Value::from(&x), part.clone()]),
        row(&[part.clone(), part.clone()]),
        row(&[1.into(), part.clone(), function(&[&x], part.clone())]),
        part,
    ];
    for options in [CompareOptions::default(), MAPPED] {
        let mut hasher = IncrementalHasher::new(options);
        for program in programs.iter().chain(programs.iter().rev()) {
            let alone = (options.hash(program).unwrap(), options.digest(program).ok());
            let results = (hasher.hash(program).unwrap(), hasher.digest(program).ok());
            assert_eq!(results, alone, "{options:?}");
        }
    }
}

/// The first walk finds the map's hash remembered on meeting the map in a definition
/// field, which uses the variable there and binds the variable once more in the
/// function.
#[test]
fn a_part_is_not_taken_where_a_definition_field_binds_its_variables() {
    let _guard = alone();
    let (x, y) = (var(), var());
    let shared = map(&[(y.clone(), y)]);
    let define = assign(shared.clone(), 1);
    let inside = fun(x, arr(&[shared.clone(), define.clone()]));
    let value = arr(&[inside, shared, define]);
    let mut hasher = IncrementalHasher::new(MAPPED);
    for _ in 0..3 {
        assert_eq!(hasher.hash(&value).unwrap(), MAPPED.hash(&value).unwrap());
    }
}

#[test]
fn the_same_value_again_costs_a_few_visits() {
    let _guard = alone();
    const FEW: u64 = 64;
    let program = tree(DEPTH, 0);
    let mut hasher = IncrementalHasher::default();
    let (hash, digest) = (
        hasher.hash(&program).unwrap(),
        hasher.digest(&program).unwrap(),
    );
    assert_eq!(hasher.hash(&program).unwrap(), hash);
    assert!(last_visit_count() <= FEW);
    assert_eq!(hasher.digest(&program).unwrap(), digest);
    assert!(last_visit_count() <= FEW);
    hasher.clear();
    assert_eq!(hasher.hash(&program).unwrap(), hash);
    assert!(last_visit_count() > 10 * FEW);
}

/// The visits of hashes and digests of a program before and after edits of one part.
/// There are `COUNT` parts, and an edit costs at most 1/200 of the whole.
#[track_caller]
fn check_edits<T: Clone>(
    part: impl Fn(usize, i64) -> T,
    program: impl Fn(&[T]) -> Value,
    options: CompareOptions,
) {
    let mut parts: Vec<T> = (0..COUNT).map(|number| part(number, 1)).collect();
    let first = program(&parts);
    let mut hasher = IncrementalHasher::new(options);
    let digest = hasher.digest(&first).unwrap();
    let cold = last_visit_count();
    assert_eq!(digest, options.digest(&first).unwrap());
    assert!(cold <= 2 * last_visit_count(), "{cold} visits");
    let hash = hasher.hash(&first).unwrap();
    assert_eq!(hash, options.hash(&first).unwrap());
    for edit in [3, 3, 77] {
        parts[edit] = part(edit, 2 + edit as i64);
        let next = program(&parts);
        let digest = hasher.digest(&next).unwrap();
        let digest_visits = last_visit_count();
        let hash = hasher.hash(&next).unwrap();
        for visits in [digest_visits, last_visit_count()] {
            assert!(visits <= cold / 200, "{visits} of {cold} visits");
        }
        assert_eq!(digest, options.digest(&next).unwrap());
        assert_eq!(hash, options.hash(&next).unwrap());
    }
}

const COUNT: usize = 1_000;

/// The nodes of a function.
fn nodes() -> usize {
    scaled(800).max(200)
}

#[test]
fn an_edit_of_a_function_costs_the_function_and_the_names() {
    let _guard = alone();
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let part = |number, constant| function(&names, number, nodes(), constant);
    let program = |functions: &[Ref<Function>]| module(&names, functions).into();
    check_edits(part, program, CompareOptions::default());
}

#[test]
fn the_edit_may_be_a_write_to_the_module() {
    let _guard = alone();
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let part = |number, constant| function(&names, number, nodes(), constant);
    let functions: Vec<_> = (0..COUNT).map(|number| part(number, 1)).collect();
    let module = module(&names, &functions);
    let program = |functions: &[Ref<Function>]| {
        for (name, function) in names.iter().zip(functions) {
            let function = function.clone().upcast();
            module.functions.insert(name.clone(), function).unwrap();
        }
        module.clone().into()
    };
    check_edits(part, program, CompareOptions::default());
}

/// A function of the statement dialect with a call of another function.
fn statements(number: usize, constant: i64) -> Ref<pto::Function> {
    let ty = ScalarType::new(DataType::Int64);
    let x = pto::Var::new("x", &ty);
    let callee = pto::GlobalVar::new(format!("f{}", (number * 7 + 1) % COUNT));
    let mut last = x.clone();
    let mut body: Vec<Ref<Stmt>> = Vec::new();
    for _ in 0..nodes() / 4 {
        let constant = ConstInt::new(constant, DataType::Int64);
        let sum = pto::Add::new(&last, constant, DataType::Int64);
        last = pto::Var::new("t", &ty);
        let call = pto::Call::new(&callee, [sum.upcast().upcast()]);
        body.push(AssignStmt::new(&last, call).upcast());
    }
    body.push(ReturnStmt::new([last.upcast()]).upcast());
    let name = format!("f{number}");
    pto::Function::new(name, [x], [ty.upcast()], SeqStmts::new(body))
}

#[test]
fn an_edit_of_a_function_of_statements_costs_the_function_and_the_names() {
    let _guard = alone();
    pto::register().expect("the names are free");
    let program = |functions: &[Ref<pto::Function>]| {
        let program = Program::new(functions.iter().cloned(), "program");
        program.expect("the names differ").into()
    };
    check_edits(statements, program, CompareOptions::default());
}

/// The second module has functions of the same names, and calls a function of the first
/// module.
#[test]
fn names_of_two_modules_are_told_apart() {
    let _guard = alone();
    let (a, b) = (GlobalVar::new("f"), GlobalVar::new("f"));
    let x = Var::new("x");
    let identity = Function::new([x.clone()], &x);
    let calling = |name: &Ref<GlobalVar>| {
        let y = Var::new("y");
        Function::new([y.clone()], Call::new(name, [y.expr()]).expr())
    };
    let pair = |called: &Ref<GlobalVar>| -> Value {
        let first = module(from_ref(&a), from_ref(&identity));
        let second = module(from_ref(&b), &[calling(called)]);
        Array::from(vec![Value::from(first), second.into()]).into()
    };
    let (own, other) = (pair(&b), pair(&a));
    assert!(!structural_equal(&own, &other).unwrap());
    assert!(!MAPPED.equal(&own, &other).unwrap());
    assert_ne!(MAPPED.digest(&own).unwrap(), MAPPED.digest(&other).unwrap());
    assert_eq!(
        MAPPED.digest(&own).unwrap(),
        MAPPED.digest(pair(&b)).unwrap()
    );
}

/// The functions of an equal module may share their name with earlier functions.
#[test]
fn equal_modules_hash_the_same_wherever_they_are() {
    let _guard = alone();
    let (f, g) = (GlobalVar::new("f"), GlobalVar::new("f"));
    let x = Var::new("x");
    let identity = Function::new([x.clone()], &x);
    let with = |names: [&Ref<GlobalVar>; 2]| {
        let modules = names.map(|name| module(from_ref(name), from_ref(&identity)));
        Value::from(modules.map(Value::from))
    };
    let (shared, copied) = (with([&f, &f]), with([&f, &g]));
    assert!(structural_equal(&shared, &copied).unwrap());
    assert_eq!(
        structural_hash(&shared).unwrap(),
        structural_hash(&copied).unwrap()
    );
    assert_eq!(
        structural_digest(&shared).unwrap(),
        structural_digest(&copied).unwrap()
    );
}

/// A table keeps no object alive, so an array in the table may be written in place.
#[test]
fn a_write_in_place_is_seen() {
    let _guard = alone();
    let mut array = Array::from((0..100i64).collect::<Vec<_>>());
    let mut hasher = IncrementalHasher::default();
    for number in 0..3 {
        assert_eq!(
            hasher.hash(array.clone()).unwrap(),
            structural_hash(array.clone()).unwrap()
        );
        array.push(number);
    }
}

/// A hook reads its own field, and the object around it is large enough to be kept.
#[test]
fn a_write_to_a_field_that_a_hook_reads_is_seen() {
    let _guard = alone();
    let hash = DynHash::new(|object, init, hash| {
        hash.hash_in(&field_value(object, "value")?, init, RegionChange::Inherit)
    });
    let field = FieldDef::new("value", Schema::Any).mutable(true);
    let hooked = TypeDef::new("incremental.Hooked").hook(hash).field(field);
    let hooked = register_type(hooked).expect("a valid definition");
    let object = construct(hooked, vec![0.into()]).expect("the value fits");
    let program = Value::from(Pair::new(tree(6, 0), &object));
    let mut hasher = IncrementalHasher::default();
    for number in 0..3 {
        set_field(&object, "value", number.into()).expect("the field is mutable");
        assert_eq!(
            hasher.hash(&program).unwrap(),
            structural_hash(&program).unwrap()
        );
    }
}

/// The second occurrence refers to the dag node, which the first one did not visit.
#[test]
fn a_part_with_a_dag_node_is_taken_once() {
    let _guard = alone();
    let node = dag(tree(3, 0), 1);
    let part = Value::from(Pair::new(tree(6, 0), node.clone()));
    let row = |items: &[&Value]| Value::from(items.iter().copied().cloned().collect::<Vec<_>>());
    let mut hasher = IncrementalHasher::default();
    for program in [
        row(&[&part]),
        row(&[&part, &part]),
        row(&[&part, &1.into(), &part, &node]),
        row(&[&node, &part]),
    ] {
        assert_eq!(
            hasher.hash(&program).unwrap(),
            structural_hash(&program).unwrap()
        );
        assert_eq!(
            hasher.digest(&program).unwrap(),
            structural_digest(&program).unwrap()
        );
    }
}
