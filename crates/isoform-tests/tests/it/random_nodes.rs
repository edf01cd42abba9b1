//! Random objects of types, from their declarations.

use std::collections::BTreeSet;

use isoform::compare::CompareOptions;
use isoform::files::{from_bytes, to_bytes};
use isoform::objects::construct;
use isoform::text::{from_text, to_text};
use isoform::traverse::{WalkOptions, WalkResult, check_well_formed, free_variables};
use isoform::types::{Enumerator, FieldDef, Schema, TypeDef, register_type};
use isoform::values::{DType, Dict, List, Shape, Tensor};
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, Value, dialect, node_enum};
use isoform_testing::nodes::{NodeOptions, random_node};
use isoform_testing::source::{RandomCases, random_bytes, scaled};

node_enum! {
    /// The operators.
    pub enum BinOp, BinOpObject = "rn.BinOp" {
        /// A sum.
        Add = "add",
        /// A product.
        Mul = "mul",
    }
}

/// An expression.
#[derive(Node, Default)]
#[node(key = "rn.Expr", no_new)]
#[repr(C)]
pub(crate) struct Expr {
    #[node(ignore)]
    note: Value,
}

/// A variable.
#[derive(Node)]
#[node(key = "rn.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(base, default)]
    base: Expr,
    #[node(ignore)]
    name: Str,
}

/// A number.
#[derive(Node)]
#[node(key = "rn.Int")]
#[repr(C)]
pub(crate) struct Int {
    #[node(base, default)]
    base: Expr,
    value: i64,
}

/// An operation.
#[derive(Node)]
#[node(key = "rn.Binary")]
#[repr(C)]
pub(crate) struct Binary {
    #[node(base, default)]
    base: Expr,
    op: Enumerator<BinOp>,
    lhs: Ref<Expr>,
    rhs: Ref<Expr>,
}

/// A binding: the value does not see the variable.
#[derive(Node)]
#[node(key = "rn.Let", scope, defs_first = false)]
#[repr(C)]
pub(crate) struct Let {
    #[node(base, default)]
    base: Expr,
    value: Ref<Expr>,
    #[node(def)]
    var: Ref<Var>,
    body: Ref<Expr>,
}

/// A function.
#[derive(Node)]
#[node(key = "rn.Fun", scope)]
#[repr(C)]
pub(crate) struct Fun {
    #[node(base, default)]
    base: Expr,
    #[node(def)]
    params: Array<Ref<Var>>,
    body: Ref<Expr>,
}

/// A field of every storage, and every container.
#[derive(Node)]
#[node(key = "rn.Everything")]
#[repr(C)]
pub(crate) struct Everything {
    #[node(base, default)]
    base: Expr,
    float: f64,
    flag: bool,
    text: Str,
    dtype: DType,
    shape: Shape,
    tensor: Tensor,
    maybe: Option<Ref<Int>>,
    any: Value,
    object: Ref<Obj>,
    array: Array<Ref<Expr>>,
    list: List<i64>,
    map: Map<Str, Ref<Expr>>,
    dict: Dict<Str, Value>,
}

dialect! {
    "rn";
    pub(crate) use self::{Expr, Var, Int, BinOpObject, Binary, Let, Fun, Everything};
}

/// Registers the types.
fn all() {
    register_types().expect("the types register");
}

/// Tries a property of random expressions.
#[track_caller]
fn hold(name: &str, options: &NodeOptions, property: impl Fn(&Ref<Expr>) -> Result<bool>) {
    all();
    let cases = RandomCases {
        seed: 0x7d,
        count: scaled(8_000),
        lengths: 0..250,
    };
    cases.check(name, |bytes| {
        let expr = options.random_node::<Expr>(bytes);
        let expr = expr.map_err(|error| error.to_string())?;
        match property(&expr) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Value::from(&expr).to_string()),
            Err(error) => Err(format!("{error}\n{}", Value::from(&expr))),
        }
    });
}

/// The keys of the types in a value, and the number of objects.
fn count(value: &Ref<Expr>, keys: &mut BTreeSet<&'static str>) -> Result<usize> {
    let mut count = 0;
    WalkOptions::default()
        .include_ignored(true)
        .walk_objects(value, |object, _| {
            count += 1;
            keys.insert(object.type_info().key());
            Ok(WalkResult::<()>::Advance)
        })?;
    Ok(count)
}

#[test]
fn every_type_comes_up_and_sizes_are_bounded() {
    all();
    let mut keys = BTreeSet::new();
    let (mut most, mut free) = (0, 0);
    let cases = 400;
    for seed in 0..cases {
        let expr = random_node::<Expr>(&random_bytes(seed, 300)).expect("an expression");
        most = most.max(count(&expr, &mut keys).expect("no cycle"));
        free += usize::from(!free_variables(&expr).expect("no cycle").is_empty());
    }
    for key in ["Var", "Int", "Binary", "BinOp", "Let", "Fun", "Everything"] {
        assert!(keys.contains(&*format!("rn.{key}")), "{key}: {keys:?}");
    }
    assert!(!keys.contains("rn.Expr"), "the base is abstract");
    // Objects that were begun are completed after 40 objects; containers count, too.
    assert!((20..400).contains(&most), "{most}");
    // A number is always possible, so no variable is free.
    assert_eq!(free, 0);
}

#[test]
fn values_survive_files_and_texts() {
    let options = NodeOptions::default();
    hold("files", &options, |expr| {
        let same = |read: &Value| isoform::structural_equal(read, expr);
        let text = from_text(&to_text(expr)?)?;
        Ok(same(&from_bytes(&to_bytes(expr)?)?)? && same(&text)?)
    });
}

#[test]
fn variables_are_bound_before_they_are_used() {
    hold("bindings", &NodeOptions::default(), |expr| {
        Ok(check_well_formed(expr)?.is_empty() && free_variables(expr)?.is_empty())
    });
    // Bound variables are used, and not by chance only.
    let used = |seed| {
        let expr = random_node::<Expr>(&random_bytes(seed, 200)).expect("an expression");
        let text = to_text(&expr).expect("a text");
        text.contains("rn.Var(") && text.matches('%').count() > 1
    };
    let used = (0..200).filter(|&seed| used(seed)).count();
    assert!(used > 20, "{used}");
}

#[test]
fn options_bound_values() {
    let small = NodeOptions::default().ints(3..=5).depth(2).size(1).nodes(6);
    hold("options", &small, |expr| {
        let mut holds = true;
        let mut objects = 0;
        WalkOptions::default().walk_objects(expr, |object, _| {
            objects += 1;
            if let Some(int) = object.downcast_ref::<Int>() {
                holds &= (3..=5).contains(&int.value);
            }
            if let Some(fun) = object.downcast_ref::<Fun>() {
                holds &= fun.params.len() <= 1;
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(holds && objects < 60)
    });
    assert!(random_node::<Int>(&[]).expect("an integer").value == 0);
    let ranges = [i64::MIN..=i64::MIN, i64::MAX - 1..=i64::MAX, 7..=7];
    for range in ranges {
        let options = NodeOptions::default().ints(range.clone());
        for seed in 0..50 {
            let int = options.random_node::<Int>(&random_bytes(seed, 30));
            assert!(range.contains(&int.expect("an integer").value), "{range:?}");
        }
    }
}

#[test]
fn bytes_determine_the_object_and_fewer_bytes_make_smaller_ones() {
    all();
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    for seed in 0..100 {
        let bytes = random_bytes(seed, 200);
        let [one, two] = [0, 1].map(|_| random_node::<Expr>(&bytes).expect("an expression"));
        assert!(options.equal(&one, &two).expect("comparable"));
    }
    let none = random_node::<Expr>(&[]).expect("an expression");
    let none = none.downcast_ref::<Int>().expect("the smallest expression");
    assert_eq!(none.value, 0);
}

#[test]
fn functions_make_the_objects_of_a_type() {
    all();
    let options = NodeOptions::default().given(|source| Ok(Int::new(100 + source.below(2) as i64)));
    hold("given", &options, |expr| {
        let mut holds = true;
        WalkOptions::default().walk_objects(expr, |object, _| {
            let int = object.downcast_ref::<Int>();
            holds &= int.is_none_or(|int| (100..102).contains(&int.value));
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(holds)
    });
    let failing = NodeOptions::default()
        .given::<Int>(|_| Err(isoform::Error::value_error("no number today")));
    let error = failing
        .random_node::<Int>(&[])
        .expect_err("the function fails");
    assert_eq!(error.message(), "no number today");
}

/// A node that needs itself.
#[derive(Node)]
#[node(key = "rn.loops.Endless", no_new)]
#[repr(C)]
pub(crate) struct Endless {
    next: Ref<Endless>,
}

/// A node with a function.
#[derive(Node)]
#[node(key = "rn.loops.Caller", no_new)]
#[repr(C)]
pub(crate) struct Caller {
    call: isoform::functions::Function,
}

#[test]
fn impossible_fields_are_errors_that_say_what_to_do() {
    let error = random_node::<Endless>(&[]).expect_err("no end");
    let text = error.message();
    assert!(
        text.starts_with("random_node: no object of rn.loops.Endless can be made"),
        "{text}"
    );
    assert!(text.ends_with("NodeOptions::given"), "{text}");
    let text = random_node::<Caller>(&[])
        .expect_err("no function")
        .to_string();
    assert!(text.contains("rn.loops.Caller"), "{text}");
}

/// A statement.
#[derive(Node, Default)]
#[node(key = "rnopen.Stmt", no_new)]
#[repr(C)]
struct Stmt {}

/// A variable.
#[derive(Node)]
#[node(key = "rnopen.Var", kind = var)]
#[repr(C)]
struct OpenVar {
    #[node(ignore)]
    name: Str,
}

/// Nothing but a variable fits its field.
#[derive(Node)]
#[node(key = "rnopen.Set")]
#[repr(C)]
struct Set {
    #[node(base, default)]
    base: Stmt,
    var: Ref<OpenVar>,
}

/// A block with a variable of its own.
#[derive(Node)]
#[node(key = "rnopen.Block", scope)]
#[repr(C)]
struct Block {
    #[node(base, default)]
    base: Stmt,
    #[node(def)]
    var: Ref<OpenVar>,
    parts: Array<Ref<Stmt>>,
}

#[test]
fn closed_objects_have_no_free_variables() {
    isoform::types::register::<OpenVar>().expect("registered");
    isoform::types::register::<Set>().expect("registered");
    isoform::types::register::<Block>().expect("registered");
    let closed = NodeOptions::default().closed(true);
    let free = |options: &NodeOptions, seed| {
        let stmt = options.random_node::<Stmt>(&random_bytes(seed, 100));
        let stmt = stmt.expect("a statement");
        let uses = to_text(&stmt).expect("a text").contains("Set(var=%");
        (!free_variables(&stmt).expect("no cycle").is_empty(), uses)
    };
    let count = |options: &NodeOptions| {
        let found: Vec<_> = (0..300).map(|seed| free(options, seed)).collect();
        let free = found.iter().filter(|(free, _)| *free).count();
        (free, found.iter().filter(|(_, uses)| *uses).count())
    };
    let (free_by_default, _) = count(&NodeOptions::default());
    assert!(free_by_default > 20, "{free_by_default}");
    let (free, uses) = count(&closed);
    assert!(free == 0 && uses > 20, "{free} {uses}");
    let error = closed.random_node::<Set>(&[]).expect_err("no variable");
    let message = error.message();
    assert!(message.contains("rnopen.Set"), "{message}");
    assert!(message.contains("NodeOptions::closed"), "{message}");
}

#[test]
fn types_registered_at_run_time_come_up() -> Result<()> {
    let base = register_type(TypeDef::new("rn.dynamic.Base"))?;
    let leaf = TypeDef::new("rn.dynamic.Leaf").parent(base);
    let leaf = register_type(leaf.field(FieldDef::new("n", Schema::Int)))?;
    let holder = TypeDef::new("rn.dynamic.Holder");
    let holder = holder.field(FieldDef::new("part", Schema::named("rn.dynamic.Base")));
    register_type(holder)?;
    let expected = construct(leaf, vec![0.into()])?;
    let holder = NodeOptions::default().random_value("rn.dynamic.Holder", &[])?;
    let part = isoform::objects::field_value(&holder.extract()?, "part")?;
    assert!(isoform::structural_equal(part, expected)?);
    let error = NodeOptions::default().random_value("rn.dynamic.None", &[]);
    assert!(
        error
            .expect_err("unknown")
            .message()
            .contains("rn.dynamic.None")
    );
    Ok(())
}

#[test]
fn depth_and_size_are_bounded_also_where_variables_are_bound() {
    all();
    for byte in [0, 1, 77, 128, 255] {
        for length in [100, 2_000, 50_000] {
            let made = random_node::<Expr>(&vec![byte; length]).expect("an expression");
            let objects = count(&made, &mut BTreeSet::new()).expect("a count");
            assert!(
                objects < 1_000,
                "{objects} objects from {length} bytes of {byte}"
            );
        }
    }
    let bytes = random_bytes(1, 100_000);
    let options = NodeOptions::default().depth(usize::MAX).nodes(usize::MAX);
    drop(
        options
            .size(usize::MAX)
            .depth(3)
            .nodes(10)
            .random_node::<Expr>(&bytes),
    );
}

#[test]
fn empty_ranges_are_errors() {
    all();
    let [least, most] = [5, 4];
    let options = NodeOptions::default().ints(least..=most);
    let error = options.random_node::<Int>(&[1]).expect_err("no int");
    assert!(
        error.message().contains("NodeOptions::ints(5..=4)"),
        "{error}"
    );
}

/// A variable that needs another one.
#[derive(Node)]
#[node(key = "rnprior.Var", kind = var)]
#[repr(C)]
struct PriorVar {
    prior: Ref<PriorVar>,
}

/// A name in a program whose operands are names.
#[derive(Node)]
#[node(key = "rnnames.Name", kind = var)]
#[repr(C)]
struct Name {
    text: Str,
}

/// An operation on names.
#[derive(Node)]
#[node(key = "rnnames.Sum")]
#[repr(C)]
struct Sum {
    lhs: Ref<Name>,
    rhs: Ref<Name>,
}

#[test]
fn free_variables_fit_where_nothing_else_does() {
    let _ = Name::type_index();
    let sum = random_node::<Sum>(&[1, 2, 3]).expect("a sum of free variables");
    assert!(sum.lhs.same_as(&sum.rhs));
    let error = random_node::<PriorVar>(&[]).expect_err("an endless variable");
    assert!(error.message().contains("needs a variable"), "{error}");
}
