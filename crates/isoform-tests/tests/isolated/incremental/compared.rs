//! The work of comparing a program with its edited copy, counted in visits, and the
//! differences that a skip must not hide.

use super::support::{DEPTH, alone, edited, function, module, tree};
use isoform::compare::{
    CompareOptions, first_structural_mismatch, last_visit_count, visiting_everything,
};
use isoform::objects::{construct, set_field};
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::{Array, Node, Ref, Str, Value, structural_equal};
use isoform_ir::ir::{GlobalVar, RelayExpr};
use isoform_relay::{AsExpr, Call, Function, Var};
use isoform_testing::family::{Family, Role};
use isoform_testing::sessions::{arr, dag, var};

/// Compares two values in all ways; returns the verdict and the most visits of one way.
#[track_caller]
fn compare(left: &Value, right: &Value) -> (bool, u64) {
    let mut most = 0;
    let mut verdict = false;
    for map_free_vars in [false, true] {
        let options = CompareOptions {
            map_free_vars,
            ..Default::default()
        };
        verdict = options.equal(left, right).unwrap();
        most = most.max(last_visit_count());
        let mismatch = options.first_mismatch(left, right).unwrap();
        most = most.max(last_visit_count());
        let wanted = visiting_everything(|| options.first_mismatch(left, right).unwrap());
        let text = |paths: Option<_>| paths.map(|pair| format!("{pair:?}"));
        assert_eq!(text(mismatch), text(wanted));
        assert_eq!(
            verdict,
            visiting_everything(|| options.equal(left, right)).unwrap()
        );
    }
    (verdict, most)
}

#[test]
fn an_edit_of_a_tree_costs_its_path() {
    let _guard = alone();
    let mut program = tree(DEPTH, 0);
    assert!(compare(&program, &program).0);
    for step in 0..50 {
        let at = step * 7919 % (1 << DEPTH);
        let next = edited(&program, DEPTH, at, -1);
        let (equal, visits) = compare(&program, &next);
        assert!(!equal && visits <= 4 * 2 * u64::from(DEPTH), "{visits}");
        let back = edited(&next, DEPTH, at, at as i64);
        let (equal, visits) = compare(&program, &back);
        assert!(equal && visits <= 4 * 2 * u64::from(DEPTH), "{visits}");
        program = next;
    }
}

/// The same tree, of a type with mutable fields.
#[test]
fn a_write_is_seen_and_costs_one_visit_of_everything() {
    let _guard = alone();
    let field = |name: &str| FieldDef::new(name, Schema::Any).mutable(true);
    let ty = TypeDef::new("incremental.Mutable")
        .field(field("lhs"))
        .field(field("rhs"));
    let ty = register_type(ty).unwrap();
    let node = |lhs: Value, rhs: Value| Value::from(construct(ty, vec![lhs, rhs]).unwrap());
    let mut level: Vec<Value> = (0..1 << 10).map(Value::from).collect();
    while level.len() > 1 {
        level = level
            .chunks(2)
            .map(|pair| node(pair[0].clone(), pair[1].clone()))
            .collect();
    }
    let whole = level.remove(0);
    let inside = whole.as_object().unwrap();
    let leaf = isoform::objects::field_value(inside, "lhs").unwrap();
    let (left, right) = (node(whole.clone(), 1.into()), node(whole.clone(), 1.into()));
    assert!(compare(&left, &right).0);
    let (equal, visits) = compare(&left, &right);
    assert!(equal && visits <= 4, "{visits}");
    set_field(leaf.as_object().unwrap(), "rhs", 7.into()).unwrap();
    let (equal, visits) = compare(&left, &right);
    assert!(equal && visits > 500, "{visits}");
    let (equal, visits) = compare(&left, &right);
    assert!(equal && visits <= 4, "{visits}");
    // A cycle is an error, also where both sides are the same.
    set_field(leaf.as_object().unwrap(), "rhs", whole.clone()).unwrap();
    let error = structural_equal(&left, &right).expect_err("it contains itself");
    assert!(error.to_string().contains("cyclic"), "{error}");
    set_field(leaf.as_object().unwrap(), "rhs", 7.into()).unwrap();
}

#[test]
fn an_edit_of_a_module_costs_a_function_and_the_names() {
    let _guard = alone();
    const COUNT: usize = 200;
    const NODES: usize = 600;
    let names: Vec<_> = (0..COUNT)
        .map(|i| GlobalVar::new(format!("f{i}").as_str()))
        .collect();
    let mut functions: Vec<_> = (0..COUNT).map(|i| function(&names, i, NODES, 1)).collect();
    let mut last: Value = module(&names, &functions).into();
    assert!(compare(&last, &last.clone()).0);
    for (step, edit) in [3, 3, 77].into_iter().enumerate() {
        functions[edit] = function(&names, edit, NODES, 2 + step as i64);
        let next: Value = module(&names, &functions).into();
        compare(&last, &next);
        let (equal, visits) = compare(&last, &next);
        assert!(!equal);
        assert!(visits <= 4 * (NODES + 4 * COUNT) as u64, "{visits}");
        last = next;
    }
}

/// Calls that use many parameters; the calls from the step `at` on are new objects.
fn steps(
    params: &[Ref<Var>],
    before: &[Ref<RelayExpr>],
    at: usize,
    name: &Ref<GlobalVar>,
) -> Vec<Ref<RelayExpr>> {
    let mut all: Vec<Ref<RelayExpr>> = before[..at].to_vec();
    for step in at..2000 {
        let operand = all.last().cloned().unwrap_or_else(|| params[0].expr());
        let param = params[step % params.len()].expr();
        let branch = Call::new(name, [param, operand.clone()]).expr();
        all.push(Call::new(name, [operand, branch]).expr());
    }
    all
}

#[test]
fn an_edit_of_a_graph_costs_what_it_rebuilds() {
    let _guard = alone();
    for count in [1, 5, 300] {
        let name = GlobalVar::new("f");
        let params: Vec<Ref<Var>> = (0..count)
            .map(|i| Var::new(format!("p{i}").as_str()))
            .collect();
        let close = |steps: &[Ref<RelayExpr>]| -> Value {
            Function::new(params.clone(), steps.last().unwrap()).into()
        };
        let first = steps(&params, &[], 0, &name);
        let program = close(&first);
        assert!(compare(&program, &program.clone()).0);
        for start in [1990, 1900, 1000] {
            let next = close(&steps(&params, &first, start, &name));
            compare(&program, &next);
            let (equal, visits) = compare(&program, &next);
            let rebuilt = 2 * (2000 - start) as u64;
            assert!(equal);
            assert!(
                visits <= 6 * rebuilt + 2 * count as u64 + 20,
                "{count} {start} {visits}"
            );
        }
    }
}

/// All variables are free, and every visit of a node binds variables.
#[test]
fn an_edit_of_an_open_graph_costs_what_it_rebuilds() {
    let _guard = alone();
    for count in [1, 5, 300] {
        let vars: Vec<Value> = (0..count).map(|_| var()).collect();
        let all = |before: &[Value], start: usize| {
            let mut all: Vec<Value> = before[..start].to_vec();
            for step in start..2000 {
                let operand = all.last().cloned().unwrap_or_else(|| vars[0].clone());
                all.push(dag(
                    operand.clone(),
                    dag(vars[step % count].clone(), operand),
                ));
            }
            all
        };
        let first = all(&[], 0);
        let program = |steps: &[Value]| arr(&[vars[0].clone(), steps[1999].clone(), arr(&vars)]);
        let whole = program(&first);
        assert!(compare(&whole, &whole.clone()).0);
        for start in [1990, 1900] {
            let edited = program(&all(&first, start));
            compare(&whole, &edited);
            let (equal, visits) = compare(&whole, &edited);
            assert!(equal);
            let most = 12 * (2000 - start) + 4 * count + 20;
            assert!(visits <= most as u64, "{count} {start} {visits}");
        }
    }
}

/// A statement that binds a variable for the following statements.
#[derive(Node)]
#[node(key = "incremental.Assign")]
#[repr(C)]
struct Assign {
    #[node(def)]
    var: Ref<Name>,
    value: Value,
}

/// A variable.
#[derive(Node)]
#[node(key = "incremental.Name", kind = var)]
#[repr(C)]
struct Name {
    #[node(ignore)]
    name: Str,
}

#[test]
fn an_edit_of_statements_costs_one_visit_for_each() {
    let _guard = alone();
    const COUNT: usize = 1000;
    let names: Vec<_> = (0..COUNT)
        .map(|i| Name::new(format!("v{i}").as_str()))
        .collect();
    let value = |index: usize| -> Value {
        let used =
            [index / 2, index.saturating_sub(1), 0].map(|i| Value::from(&names[i.min(index)]));
        Array::from(vec![
            Value::from(used.to_vec()),
            Value::from(vec![Value::from(index as i64); 20]),
        ])
        .into()
    };
    let mut all: Vec<Value> = (0..COUNT)
        .map(|index| Assign::new(&names[index], value(index)).into())
        .collect();
    let block = |all: &[Value]| Value::from(Array::from(all.to_vec()));
    let program = block(&all);
    assert!(compare(&program, &program.clone()).0);
    all[500] = Assign::new(&names[500], value(500)).into();
    let copy = block(&all);
    assert!(compare(&program, &copy).0);
    let (equal, visits) = compare(&program, &copy);
    assert!(equal && visits <= COUNT as u64 + 100, "{visits}");
    // Another variable in its place: the later statements are the same and use the old
    // variable.
    all[500] = Assign::new(Name::new("other"), value(500)).into();
    let renamed = block(&all);
    assert!(!compare(&program, &renamed).0);
    let (left, _) = first_structural_mismatch(&program, &renamed)
        .unwrap()
        .unwrap();
    assert_eq!(left.to_string(), "<root>[501].value[0][1]");
}

/// A dag node skipped on one path and paired with a copy on another.
#[test]
fn a_skip_hides_no_other_pairing() {
    let _guard = alone();
    let name = GlobalVar::new("f");
    let x = Var::new("x");
    let leaf = Call::new(&name, [x.expr()]).expr();
    let copy = Call::new(&name, [x.expr()]).expr();
    let wrap = |call: &Ref<RelayExpr>| Call::new(&name, [call.clone(), call.clone()]).expr();
    let (above, again) = (wrap(&leaf), wrap(&copy));
    let pair = |first: &Ref<RelayExpr>, second: &Ref<RelayExpr>| -> Value {
        Array::from(vec![Value::from(first), Value::from(second)]).into()
    };
    for (left, right, equal) in [
        (pair(&above, &leaf), pair(&above, &leaf), true),
        (pair(&above, &leaf), pair(&above, &copy), false),
        (pair(&leaf, &above), pair(&copy, &above), false),
        (pair(&above, &wrap(&leaf)), pair(&above, &again), false),
        (pair(&above, &wrap(&leaf)), pair(&above, &wrap(&leaf)), true),
        (pair(&copy, &above), pair(&leaf, &again), true),
    ] {
        for _ in 0..2 {
            assert_eq!(compare(&left, &right).0, equal);
            assert_eq!(compare(&right, &left).0, equal);
        }
    }
}

/// A statement that defines a typed variable, met where the size in the type is bound, and
/// met again where the size is free.
#[test]
fn fields_of_a_variable_count_where_the_variable_is_unbound() {
    let _guard = alone();
    let family = Family::native().unwrap();
    let make = |role, fields| Value::from(family.make(role, fields).unwrap());
    let var = |ty: Value| make(Role::Var, vec![Value::NONE, "v".into(), ty]);
    let list = |items: &[&Value]| -> Value {
        Value::from(items.iter().copied().cloned().collect::<Vec<_>>())
    };
    for role in [Role::Lambda, Role::LateLambda, Role::Function] {
        let scope = |params: &[&Value], body: &Value| match role {
            Role::Lambda => make(role, vec![Value::NONE, body.clone(), list(params)]),
            Role::LateLambda => make(role, vec![body.clone(), list(params)]),
            _ => make(role, vec![list(params), body.clone()]),
        };
        let define =
            |value: &Value, target: &Value| make(Role::Let, vec![value.clone(), target.clone()]);
        let [a, c, n] = [(); 3].map(|()| var(Value::NONE));
        let typed = var(list(&[&n]));
        let inner = define(&c, &typed);
        let bound = scope(&[&n, &typed], &inner);
        let free = scope(&[&a], &inner);
        let zero = Value::from(0);
        let left = list(&[&free, &define(&zero, &a)]);
        let right = list(&[&free, &define(&zero, &n)]);
        let wanted = visiting_everything(|| structural_equal(&left, &right).unwrap());
        for history in [&zero, &list(&[&bound, &zero]), &inner, &free] {
            assert!(compare(&list(&[history]), &list(&[history])).0);
            compare(&left, &right);
            assert_eq!(structural_equal(&left, &right).unwrap(), wanted, "{role:?}");
        }
    }
}

/// A chain of shared nodes has exponentially many paths.
#[test]
fn shared_parts_are_met_once() {
    let _guard = alone();
    let mut node = tree(5, 0);
    let mut steps = vec![node.clone()];
    for _ in 0..200 {
        node = super::support::Pair::new(node.clone(), node).into();
        steps.push(node.clone());
    }
    let (equal, visits) = compare(&node, &node.clone());
    assert!(equal && visits <= 1000, "{visits}");
    let other = super::support::Pair::new(node.clone(), steps[100].clone()).into();
    let wrapped = super::support::Pair::new(node.clone(), steps[100].clone()).into();
    let (equal, visits) = compare(&other, &wrapped);
    assert!(equal && visits <= 10, "{visits}");
}

/// The table of a thread grows with the program.
#[test]
fn an_edit_of_a_very_large_program_costs_its_path() {
    let _guard = alone();
    const LEVELS: u64 = 1 << 20;
    const DEEP: u32 = 19;
    let mut chain = tree(3, 0);
    for level in 0..LEVELS {
        chain = super::support::Pair::new(level as i64, chain).into();
    }
    let program = tree(DEEP, 0);
    for (program, edit) in [
        (&chain, super::support::Pair::new(-1, chain.clone()).into()),
        (&program, edited(&program, DEEP, 77_777, -1)),
    ] {
        let whole = Value::from(vec![program.clone()]);
        structural_equal(&whole, Value::from(vec![program.clone()])).unwrap();
        for _ in 0..2 {
            structural_equal(program, &edit).unwrap();
            structural_equal(&edit, program).unwrap();
            let visits = last_visit_count();
            assert!(visits <= 8 * u64::from(DEEP), "{visits}");
        }
    }
}

/// The table forgets programs that are out of use.
#[test]
fn the_table_does_not_grow_with_the_number_of_programs() {
    let _guard = alone();
    const LARGE: u32 = 16;
    let program = tree(LARGE, 0);
    assert!(structural_equal(&program, &program).unwrap());
    for step in 0..200 {
        let other = tree(LARGE, step);
        assert!(structural_equal(&other, &other).unwrap());
    }
    // The program was forgotten meanwhile.
    assert!(structural_equal(&program, &program).unwrap());
    assert!(last_visit_count() > 1 << (LARGE - 1));
    assert!(structural_equal(&program, &program).unwrap());
    assert!(last_visit_count() <= 4);
}

#[test]
fn without_skips_every_pair_is_visited() {
    let _guard = alone();
    let program = tree(8, 0);
    let compare = || structural_equal(&program, &program).unwrap();
    assert!(compare() && compare());
    let skipping = last_visit_count();
    assert!(visiting_everything(compare));
    assert!(skipping < 1 << 6 && last_visit_count() >= 1 << 6);
}
