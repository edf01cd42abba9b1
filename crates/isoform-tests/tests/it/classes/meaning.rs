//! Subterms of the same class, and subterms of different classes.

use isoform::compare::{ClassOptions, CompareOptions, SubtermClasses, subterm_classes};
use isoform::errors::ErrorKind;
use isoform::values::{List, Tensor};
use isoform::{Map, Result, Value};
use isoform_testing::family::{Family, Role};

use crate::support::terms::*;

const BY_IDENTITY: ClassOptions = ClassOptions {
    map_free_vars: false,
    sharing: true,
    mutable_by_identity: false,
};

const EXACT_RENAMING: ClassOptions = ClassOptions {
    map_free_vars: true,
    sharing: true,
    mutable_by_identity: false,
};

const RENAMING: ClassOptions = ClassOptions {
    map_free_vars: true,
    sharing: false,
    mutable_by_identity: false,
};

fn table(values: &[&Value], options: ClassOptions) -> Result<SubtermClasses> {
    options.classes(array(values.iter().map(|&value| value.clone())))
}

/// Checks whether two values have one class, and whether comparison agrees.
#[track_caller]
fn check(left: &Value, right: &Value, options: ClassOptions, expected: bool) {
    let classes = table(&[left, right], options).expect("has classes");
    let same = classes.class_of(left).expect("a subterm") == classes.class_of(right).expect("one");
    assert_eq!(same, expected, "{left:?} and {right:?} with {options:?}");
    let compare = CompareOptions {
        map_free_vars: options.map_free_vars,
        ..Default::default()
    };
    if options.sharing && !options.mutable_by_identity {
        assert_eq!(compare.equal(left, right).unwrap_or(false), expected);
    }
}

#[test]
fn bound_variables_have_no_names_and_free_ones_do() {
    let (x, y) = (var("x"), var("y"));
    check(&fun([&x], &x), &fun([&y], &y), BY_IDENTITY, true);
    check(&fun([&x], &y), &fun([&y], &x), BY_IDENTITY, false);
    check(&fun([&x], &y), &fun([&x, &x], &y), BY_IDENTITY, false);
    let sums = [add(&x, int(1)), add(&y, int(1))].map(Value::from);
    check(&sums[0], &sums[1], BY_IDENTITY, false);
    check(&sums[0], &sums[1], EXACT_RENAMING, true);
    let twice = Value::from(add(&x, &x));
    check(&twice, &add(&x, &y).into(), EXACT_RENAMING, false);
    check(&twice, &add(&y, &y).into(), EXACT_RENAMING, true);
}

#[test]
fn a_scope_may_bind_a_variable_that_was_used_before_it() {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    let left = array([x.clone().into(), fun([&x], &x)]);
    let right = array([x.clone().into(), fun([&y], &y)]);
    check(&left, &right, BY_IDENTITY, true);
    check(
        &array([x.clone().into(), fun([&x], &y)]),
        &array([z.into(), fun([&x], &y)]),
        RENAMING,
        true,
    );
}

#[test]
fn definitions_outlive_their_statement_and_end_with_the_scope() {
    let (x, y) = (var("x"), var("y"));
    let block = |target: &_, used: &_| array([Assign::new(1, target).into(), Value::from(used)]);
    check(&block(&x, &x), &block(&y, &y), BY_IDENTITY, true);
    check(&block(&x, &x), &block(&x, &y), BY_IDENTITY, false);
    check(
        &fun([], block(&x, &x)),
        &fun([], block(&y, &y)),
        BY_IDENTITY,
        true,
    );
    // A use before the definition is a use of a free variable.
    let early = |target: &_, used: &_| array([Value::from(used), Assign::new(1, target).into()]);
    check(&early(&x, &x), &early(&y, &y), BY_IDENTITY, false);
    check(
        &fun([], early(&x, &x)),
        &fun([], early(&y, &x)),
        BY_IDENTITY,
        true,
    );
    check(
        &fun([], early(&x, &x)),
        &fun([], early(&y, &y)),
        BY_IDENTITY,
        false,
    );
    // After the binding function, a variable is free again.
    let after = |bound: &_, used: &_| array([fun([], block(bound, bound)), Value::from(used)]);
    check(&after(&x, &x), &after(&y, &x), BY_IDENTITY, true);
    check(&after(&x, &x), &after(&y, &y), BY_IDENTITY, false);
}

#[test]
fn the_type_of_a_variable_counts_where_it_is_bound() {
    let (n, m) = (var("n"), var("m"));
    let of = |size: &isoform::Ref<Var>| {
        let tensor = typed(size);
        fun([size, &tensor], &tensor)
    };
    check(&of(&n), &of(&m), BY_IDENTITY, true);
    let (int, float) = (typed("i32"), typed("f32"));
    check(
        &fun([&int], &int),
        &fun([&float], &float),
        BY_IDENTITY,
        false,
    );
    // The free variable of each function mentions the variable bound by the function.
    let (left, right) = (typed(&n), typed(&n));
    check(&fun([&n], &left), &fun([&n], &right), BY_IDENTITY, false);
    check(&fun([&n], &left), &fun([&m], &left), BY_IDENTITY, false);
    // Only the first visit compares the type.
    let twice = |bound: &_| array([Value::from(&left), fun([bound], &left)]);
    check(&twice(&n), &twice(&m), BY_IDENTITY, true);
}

#[test]
fn positions_tell_levels_apart() {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    let body = || add(add(&x, &y), &z);
    check(
        &fun([&x, &y, &z], body()),
        &fun([&x, &z, &y], body()),
        BY_IDENTITY,
        false,
    );
    check(
        &fun([&x, &y, &z], body()),
        &fun([&z, &y, &x], add(add(&z, &y), &x)),
        BY_IDENTITY,
        true,
    );
}

#[test]
fn the_type_of_a_variable_may_mention_one_that_is_defined_later() {
    let (n, m) = (var("n"), var("m"));
    let tensor = Value::from(typed(&n));
    let around = |target: &_| {
        let statement = Value::from(Assign::new(1, target));
        fun([], array([tensor.clone(), statement, tensor.clone()]))
    };
    check(&around(&n), &around(&m), BY_IDENTITY, true);
    let tensor = typed(&n);
    let around = |target: &_| {
        let statements = [&tensor, target].map(|target| Assign::new(1, target).into());
        fun(
            [],
            array(statements.into_iter().chain([Value::from(&tensor)])),
        )
    };
    check(&around(&n), &around(&m), BY_IDENTITY, true);
}

#[test]
fn a_definition_field_may_contain_a_scope() {
    let family = Family::native().expect("registered");
    let make = |role, fields: Vec<Value>| Value::from(family.make(role, fields).expect("fits"));
    let (x, y) = (var("x"), var("y"));
    let around = |var: &isoform::Ref<Var>| {
        // The variable is met inside of a function in a definition field.
        let inner = make(Role::Lambda, vec![Value::NONE, var.into(), array([])]);
        let binder = make(Role::Function, vec![inner, var.into()]);
        make(Role::Lambda, vec![Value::NONE, binder, array([])])
    };
    check(&around(&x), &around(&y), BY_IDENTITY, true);
    let after = |var: &isoform::Ref<Var>| array([around(var), var.into()]);
    check(&after(&x), &after(&y), BY_IDENTITY, false);
}

#[test]
fn dag_nodes_are_merged_by_contents_unless_sharing_counts() {
    let node = || call("f", vec![Value::from(1)]);
    let shared = node();
    let (sharing, copies) = (array([shared.clone(), shared]), array([node(), node()]));
    check(&sharing, &copies, ClassOptions::default(), true);
    check(&sharing, &copies, BY_IDENTITY, false);
    check(&array([node(), node()]), &copies, BY_IDENTITY, true);
    // Opened in two functions, the same node is one computation.
    let (x, y) = (var("x"), var("y"));
    let of = |var: &isoform::Ref<Var>| call("f", vec![Value::from(var)]);
    let (first, second) = (of(&x), of(&x));
    let both = |left: &Value, right: &Value| array([fun([&x], left), fun([&x], right)]);
    check(
        &both(&first, &first),
        &both(&first, &second),
        BY_IDENTITY,
        false,
    );
    check(
        &both(&first, &first),
        &both(&second, &second),
        BY_IDENTITY,
        true,
    );
    check(&fun([&x], of(&x)), &fun([&y], of(&y)), BY_IDENTITY, true);
    let z = var("z");
    let once = of(&x);
    let (here, there) = (fun([&x], &once), fun([&x], &once));
    check(
        &array([here, there]),
        &array([fun([&y], of(&y)), fun([&z], of(&z))]),
        BY_IDENTITY,
        false,
    );
}

#[test]
fn keys_match_by_binding_or_by_identity() {
    let (x, y) = (var("x"), var("y"));
    let keyed = |key: &isoform::Ref<Var>, value: i64| {
        Value::from(
            [(Value::from(key), Value::from(value))]
                .into_iter()
                .collect::<Map>(),
        )
    };
    for options in [BY_IDENTITY, EXACT_RENAMING] {
        check(&keyed(&x, 1), &keyed(&x, 1), options, true);
        check(&keyed(&x, 1), &keyed(&y, 1), options, false);
        check(
            &fun([&x], keyed(&x, 1)),
            &fun([&y], keyed(&y, 1)),
            options,
            true,
        );
        check(
            &fun([&x], keyed(&x, 1)),
            &fun([&y], keyed(&x, 1)),
            options,
            false,
        );
    }
    let after = |key| array([Value::from(key), keyed(key, 1)]);
    check(&after(&x), &after(&y), BY_IDENTITY, false);
    check(&after(&x), &after(&y), EXACT_RENAMING, true);
    // Values are visited in the order in which the keys were met.
    let (a, b) = (var("a"), var("b"));
    let ordered = |target: &isoform::Ref<Var>| {
        let entries = [
            (Value::from(&x), Value::from(Assign::new(1, target))),
            (Value::from(&y), Value::from(target)),
        ];
        Value::from(entries.into_iter().collect::<Map>())
    };
    check(&ordered(&a), &ordered(&b), BY_IDENTITY, true);
    let after = |target| array([Value::from(&y), Value::from(&x), ordered(target)]);
    check(&after(&a), &after(&b), BY_IDENTITY, false);
    let text = |key: &str| Value::from([(key.into(), 1.into())].into_iter().collect::<Map>());
    let long = "a key that is too long to be stored inside of a value";
    check(&text(long), &text(long), BY_IDENTITY, true);
    check(&text("a"), &text("b"), BY_IDENTITY, false);
}

#[test]
fn what_can_change_is_equal_by_contents_or_by_identity() {
    let list = || Value::from(List::from(vec![Value::from(1)]));
    let original = list();
    let around = |list: &Value| array([list.clone()]);
    for sharing in [false, true] {
        let contents = ClassOptions {
            sharing,
            ..ClassOptions::default()
        };
        let identity = ClassOptions {
            mutable_by_identity: true,
            ..contents
        };
        check(&around(&original), &around(&original), identity, true);
        check(&around(&original), &around(&list()), identity, false);
        check(&around(&original), &around(&list()), contents, true);
    }
    let inner = Value::from(vec![Value::from(2)]);
    let list = Value::from(List::from(vec![inner.clone()]));
    let classes = subterm_classes(&list).expect("has classes");
    assert!(
        classes.class_of(&inner).is_some(),
        "the contents are subterms, too"
    );
}

#[test]
fn ignored_fields_and_singletons() {
    let noted = |note: &str| Value::from(Int::new(1).with_note(note));
    check(&noted("a"), &noted("b"), BY_IDENTITY, true);
    let op = |name: &str| Value::from(Single::new(name));
    let add = op("add");
    check(
        &array([add.clone()]),
        &array([add.clone()]),
        BY_IDENTITY,
        true,
    );
    check(&array([add]), &array([op("add")]), BY_IDENTITY, false);
}

#[test]
fn what_cannot_be_compared_is_alone() {
    let handle = Value::from(Handle::new(1));
    let around = || array([handle.clone()]);
    check(&around(), &around(), ClassOptions::default(), false);
    let cycle = List::from(Vec::new());
    cycle
        .push(Value::from(vec![Value::from(cycle.clone())]))
        .expect("fits");
    let cycle = Value::from(cycle);
    let identity = ClassOptions {
        mutable_by_identity: true,
        ..ClassOptions::default()
    };
    assert_eq!(identity.classes(&cycle).expect("by identity").len(), 2);
    let error = subterm_classes(&cycle).expect_err("contains itself");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(error.message(), "cyclic value: the List contains itself");
    assert_eq!(
        error.path().map(ToString::to_string).as_deref(),
        Some("<root>[0][0]")
    );
}

#[test]
fn tensors_and_long_texts_are_compared_by_contents() {
    let tensor = |last: u8| {
        let data = vec![0, 0, 0, last];
        Value::from(Tensor::new("int8".parse().expect("a type"), vec![4], data).expect("fits"))
    };
    check(&tensor(1), &tensor(1), BY_IDENTITY, true);
    check(&tensor(1), &tensor(2), BY_IDENTITY, false);
}

#[test]
fn classes_are_numbered_by_their_first_members() {
    let (one, two) = (Value::from(int(1)), Value::from(int(2)));
    let again = Value::from(int(1));
    let sum = Value::from(add(&one, &two));
    let classes = table(&[&sum, &again], ClassOptions::default()).expect("has classes");
    let numbers = [&one, &two, &sum, &again]
        .map(|value| classes.class_of(value).expect("a subterm").number());
    assert_eq!(numbers, [0, 1, 2, 0]);
    assert_eq!(classes.len(), 4);
    let class = classes.class_of(&again).expect("a subterm");
    let members: Vec<_> = classes.members(class).map(|one| one.identity()).collect();
    let expected = [&one, &again].map(|value| value.as_object().expect("an object").identity());
    assert_eq!(members, expected);
    let sizes: Vec<_> = classes.iter().map(|class| classes.size(class)).collect();
    assert_eq!(sizes, [1, 1, 3, 4]);
    assert_eq!(classes.class_of(1), None);
    assert_eq!(classes.class_of(int(1)), None);
}

#[test]
fn confirming_separates_what_is_shared_in_different_ways() {
    let node = || call("f", vec![Value::from(1)]);
    let shared = node();
    let (one, two) = (array([shared.clone(), shared]), array([node(), node()]));
    let mut classes = table(&[&one, &two], ClassOptions::default()).expect("has classes");
    assert_eq!(classes.class_of(&one), classes.class_of(&two));
    assert_eq!(classes.confirm().expect("comparable"), 1);
    assert_ne!(classes.class_of(&one), classes.class_of(&two));
    assert_eq!(classes.confirm().expect("comparable"), 0);
}
