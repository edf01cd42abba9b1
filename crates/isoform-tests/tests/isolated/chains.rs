//! Depth costs no stack and only linear time: calls every exported function
//! that takes a value on chains of three million levels.
//!
//! Each shape makes up a sixth of a chain's levels: objects that lean left,
//! objects that lean right, lists, dicts, arrays, maps. A recursive function
//! overflows its stack on any of them, and a quadratic one does not finish.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use isoform::compare::{ClassOptions, CompareOptions, IncrementalHasher, StructuralKey};
use isoform::files::JsonReadOptions;
use isoform::functions::Function;
use isoform::objects::ReprOptions;
use isoform::paths::AccessPath;
use isoform::pattern::{GreedyOptions, Pattern, RewriteOptions, Rule};
use isoform::traverse::{ChildOptions, WalkResult};
use isoform::types::{FieldDef, RegionKind, Schema, TypeDef, TypeIndex};
use isoform::values::{Dict, List};
use isoform::{Array, Map, Node, Value, attrs};

use super::support::{int, scaled, var};

const LEVELS: usize = 3_000_000;

/// A node of two parts.
#[derive(Node)]
#[node(key = "it.chains.Pair")]
#[repr(C)]
struct Pair {
    lhs: Value,
    rhs: Value,
}

/// Makes one level around a part.
type Shape = fn(Value) -> Value;

fn lean_left(value: Value) -> Value {
    Pair::new(value, 1).into()
}

fn lean_right(value: Value) -> Value {
    Pair::new(1, value).into()
}

fn list(value: Value) -> Value {
    List::from(vec![value]).into()
}

fn dict(value: Value) -> Value {
    let dict: Dict = Dict::new();
    dict.insert("k".into(), value).unwrap();
    dict.into()
}

fn array(value: Value) -> Value {
    [value].into()
}

fn map(value: Value) -> Value {
    Map::<Value, Value>::from_iter([("k".into(), value)]).into()
}

const SHAPES: [Shape; 6] = [lean_left, lean_right, list, dict, array, map];
/// Those whose values have an order.
const ORDERED: [Shape; 4] = [lean_left, lean_right, list, array];

fn chain(end: impl Into<Value>, levels: usize, shapes: &[Shape]) -> Value {
    let levels = scaled(levels);
    (0..levels).fold(end.into(), |value, level| {
        shapes[level * shapes.len() / levels](value)
    })
}

/// The chains that all tests share.
struct Deep {
    value: Value,
    twin: Value,
    /// Differs from them at its end.
    other: Value,
}

fn deep() -> &'static Deep {
    static DEEP: OnceLock<Deep> = OnceLock::new();
    DEEP.get_or_init(|| {
        let make = |end: i64| chain(end, LEVELS, &SHAPES);
        Deep {
            value: make(1),
            twin: make(1),
            other: make(2),
        }
    })
}

/// A type whose objects may change.
fn slot() -> TypeIndex {
    let slot = TypeDef::new("it.chains.Slot");
    let field = FieldDef::new("v", Schema::Any).mutable(true);
    isoform::types::register_type(slot.field(field)).expect("registered")
}

fn equal(left: impl Into<Value>, right: impl Into<Value>) -> bool {
    isoform::structural_equal(left, right).expect("comparable")
}

/// Generates a test for each function, named after the function, and the list of
/// functions.
macro_rules! chains {
    ($($($function:literal)+ fn $test:ident($deep:ident) $body:block)*) => {
        const FUNCTIONS: &[&str] = &[$($($function),+),*];
        $(
            #[test]
            fn $test() -> isoform::Result<()> {
                let _shared = super::incremental::support::beside_others();
                let $deep = deep();
                $body
                Ok(())
            }
        )*
    };
}

fn is_of_dialect(name: &str) -> bool {
    ["isoform_relay::", "isoform_pto::"]
        .iter()
        .any(|dialect| name.starts_with(dialect))
}

#[test]
fn every_function_of_a_value_has_a_chain() {
    // Programs of the dialects have separate tests.
    let missing: Vec<String> = super::exports::functions_of_values()
        .into_iter()
        .filter(|name| !is_of_dialect(name) && !FUNCTIONS.contains(&name.as_str()))
        .collect();
    assert_eq!(missing, [] as [String; 0], "add a chain for each of them");
    let source =
        "pub use a::{\n    B, c,\n};\npub use d::e;\npub fn f() {}\npub mod host {\npub fn g()";
    assert_eq!(super::exports::functions_in(source), ["c", "e", "f"]);
}

chains! {
    "structural_equal"
    fn structural_equal(deep) {
        assert!(equal(&deep.value, &deep.twin));
        assert!(!equal(&deep.value, &deep.other));
        let options = CompareOptions { map_free_vars: true, ..Default::default() };
        assert!(options.equal(&deep.value, &deep.twin)?);
    }

    "first_structural_mismatch" "explain_mismatch"
    "render_mismatch" "assert_structural_equal" "AccessPath::get"
    fn explain_mismatch(deep) {
        let found = isoform::compare::first_structural_mismatch(&deep.value, &deep.other)?;
        let (left, _) = found.expect("they differ");
        assert_eq!(left.get(&deep.value)?, Value::from(1));
        let text = format!("{left:#}");
        assert_eq!(AccessPath::parse(&text)?.depth(), left.depth());
        let mismatch = isoform::explain_mismatch(&deep.value, &deep.other)?;
        let mismatch = mismatch.expect("they differ");
        let (l, r) = (&deep.value, &deep.other);
        assert!(isoform::text::render_mismatch(l, r, &mismatch).len() < 10_000);
        assert!(mismatch.to_string().len() < 10_000);
        assert!(isoform::text::assert_structural_equal(l, &deep.twin).is_ok());
    }

    "structural_hash"
    fn structural_hash(deep) {
        let hash = |value| isoform::structural_hash(value);
        assert_eq!(hash(&deep.value)?, hash(&deep.twin)?);
        assert_ne!(hash(&deep.value)?, hash(&deep.other)?);
    }

    "IncrementalHasher"
    fn incremental_hasher(deep) {
        let mut hasher = IncrementalHasher::default();
        for _ in 0..2 {
            assert_eq!(hasher.hash(&deep.value)?, isoform::structural_hash(&deep.twin)?);
            assert_eq!(hasher.digest(&deep.value)?, isoform::structural_digest(&deep.twin)?);
        }
    }

    "subterm_classes"
    fn subterm_classes(deep) {
        let classes = isoform::compare::subterm_classes([&deep.value, &deep.twin, &deep.other])?;
        assert_eq!(classes.class_of(&deep.value), classes.class_of(&deep.twin));
        assert_ne!(classes.class_of(&deep.value), classes.class_of(&deep.other));
        let options = ClassOptions { mutable_by_identity: true, ..Default::default() };
        assert!(options.classes(&deep.value)?.class_of(&deep.value).is_some());
    }

    "diff"
    fn diff(deep) {
        let options = CompareOptions { map_free_vars: true, ..Default::default() };
        let options = isoform::compare::DiffOptions { compare: options, ..Default::default() };
        assert!(options.diff(&deep.value, &deep.twin)?.is_empty());
        let found = options.diff(&deep.value, &deep.other)?;
        assert!(!found.is_empty());
        assert!(options.compare.equal(found.apply(&deep.value)?, &deep.other)?);
    }

    "merge"
    fn merge(_deep) {
        let program = |end: i64, first: i64| {
            let inside = chain(end, LEVELS / 10, &SHAPES);
            Value::from(Pair::new(inside, first))
        };
        let found = isoform::compare::merge(program(1, 1), program(2, 1), program(1, 2))?;
        assert!(found.is_clean());
        assert!(isoform::structural_equal(found.merged(), program(2, 2))?);
    }

    "duplicates" "intern"
    fn duplicates(_deep) {
        let make = || chain(1, LEVELS, &[lean_left, lean_right, array, map]);
        let both = [make(), make()];
        let found = isoform::compare::duplicates(&both, 2, 2)?;
        assert_eq!((found.len(), found[0].members.len()), (1, 2));
        let interned: Array<Value> = isoform::compare::intern(both)?.extract()?;
        let object = |index: usize| interned.values()[index].as_object().expect("an object").identity();
        assert_eq!(object(0), object(1));
    }

    "repeated_blocks"
    fn repeated_blocks(_deep) {
        let make = || chain(1, LEVELS, &[lean_left, lean_right, array, map]);
        // The chain has no dataflow nodes, and parts with many edges would be items.
        assert!(isoform::compare::repeated_blocks(&[make(), make()], 2, 2)?.is_empty());
    }

    "structural_digest"
    fn structural_digest(deep) {
        let digest = |value| isoform::structural_digest(value);
        assert_eq!(digest(&deep.value)?, digest(&deep.twin)?);
        assert_ne!(digest(&deep.value)?, digest(&deep.other)?);
    }

    "declaration_digest"
    fn declaration_digest(_deep) {
        // Types of which each names the next one.
        let key = |number: usize| format!("chains.declared.{number}");
        let mut last = None;
        for number in (0..2_000).rev() {
            let next = isoform::types::Schema::named(&key(number + 1));
            let field = isoform::types::FieldDef::new("next", next);
            let definition = isoform::types::TypeDef::new(&key(number)).field(field);
            last = Some(isoform::types::register_type(definition)?);
        }
        isoform::compare::declaration_digest(last.expect("types"))?;
    }

    "StructuralKey::new"
    fn structural_key(deep) {
        assert!(StructuralKey::new(&deep.value)? == StructuralKey::new(&deep.twin)?);
    }

    "structural_walk" "structural_visit" "walk_objects"
    fn structural_walk(deep) {
        let mut depth = 0;
        isoform::traverse::structural_walk(&deep.value, |visit| {
            depth = depth.max(visit.depth());
            Ok(WalkResult::<()>::Advance)
        })?;
        assert_eq!(depth, scaled(LEVELS));
        let mut objects = 0;
        isoform::traverse::walk_objects(&deep.value, |_, _| {
            objects += 1;
            Ok(WalkResult::<()>::Advance)
        })?;
        assert_eq!(objects, scaled(LEVELS) / 3);
        let met = std::cell::Cell::new(0);
        let plain = |ty: Option<isoform::types::TypeIndex>| ty.is_none();
        isoform::traverse::structural_visit(&deep.value, &plain, &|_, _| {
            met.set(met.get() + 1);
            Ok(None)
        })?;
        assert!(met.get() > 0);
    }

    "structural_map" "structural_mutate"
    fn structural_map(deep) {
        let made = isoform::traverse::structural_map(&deep.value, |visit| {
            let is_end = visit.value().as_int() == Some(1);
            Ok(is_end.then(|| Value::from(2)))
        })?;
        assert!(!equal(&made, &deep.value));
        let same = isoform::traverse::structural_map(&deep.value, |_| Ok(None))?;
        assert_eq!(same, deep.value);
        let plain = |ty: Option<isoform::types::TypeIndex>| ty.is_none();
        let made = isoform::traverse::structural_mutate(&deep.value, &plain, &|it, _| {
            Ok(match it.as_int() {
                Some(1) => Value::from(2),
                _ => it.clone(),
            })
        })?;
        assert!(!equal(&made, &deep.value));
    }

    "substitute"
    fn substitute(deep) {
        let x = Value::from(var("x"));
        let open = chain(&x, LEVELS, &SHAPES);
        let made = isoform::traverse::substitute(&open, &[(x, 1)])?;
        assert!(equal(&made, &deep.value));
    }

    "free_variables" "fresh_binders" "check_well_formed"
    fn binders(deep) {
        let x = Value::from(var("x"));
        let open = chain(&x, LEVELS, &SHAPES);
        let free = isoform::traverse::free_variables(&open)?;
        assert_eq!(free.into_iter().map(Value::from).collect::<Vec<_>>(), [x]);
        assert_eq!(isoform::traverse::fresh_binders(&deep.value)?, deep.value);
        assert!(isoform::traverse::check_well_formed(&deep.value)?.is_empty());
    }

    "children_of" "Children::rebuild"
    fn children_of(deep) {
        let children = ChildOptions::default().keys(false).children_of(&deep.value);
        let parts = children.iter(RegionKind::Use).map(|child| child.value);
        assert!(equal(children.rebuild(parts.collect())?, &deep.twin));
    }

    "deep_copy" "shallow_copy"
    fn deep_copy(deep) {
        assert!(equal(isoform::traverse::deep_copy(&deep.value)?, &deep.value));
        let object = deep.value.as_object().expect("an object");
        assert!(!isoform::traverse::shallow_copy(object)?.same_as(object));
    }

    "verify"
    fn verify(deep) {
        assert!(isoform::objects::verify(&deep.value, &())?.is_empty());
    }

    "recursive_eq"
    fn recursive_eq(deep) {
        assert!(isoform::compare::recursive_eq(&deep.value, &deep.twin)?);
        assert!(!isoform::compare::recursive_eq(&deep.value, &deep.other)?);
    }

    "recursive_cmp"
    fn recursive_cmp(_deep) {
        let make = |end: i64| chain(end, LEVELS, &ORDERED);
        assert_eq!(isoform::compare::recursive_cmp(make(1), make(2))?, Ordering::Less);
    }

    "recursive_hash"
    fn recursive_hash(deep) {
        let hash = isoform::compare::recursive_hash;
        assert_eq!(hash(&deep.value)?, hash(&deep.twin)?);
    }

    "repr" "Value as Debug"
    fn repr(deep) {
        assert!(isoform::objects::repr(&deep.value).len() > scaled(LEVELS));
        let text = ReprOptions::default().repr(&deep.value, &())?;
        assert!(text.len() > scaled(LEVELS));
        assert!(format!("{:?}", deep.value).len() < 10_000);
    }

    "to_text" "from_text"
    fn to_text(deep) {
        let text = isoform::text::to_text(&deep.value)?;
        assert!(equal(isoform::text::from_text(&text)?, &deep.value));
    }

    "to_json_graph" "from_json_graph"
    fn to_json_graph(deep) {
        let text = isoform::files::to_json_graph(&deep.value)?;
        let (read, _) = JsonReadOptions::default().read_with_metadata(&text)?;
        drop(text);
        assert!(equal(&read, &deep.value));
    }

    "to_bytes" "from_bytes"
    fn to_bytes(deep) {
        let bytes = isoform::files::to_bytes(&deep.value)?;
        assert!(equal(isoform::files::from_bytes(&bytes)?, &deep.value));
    }

    "construct" "construct_named" "field_value" "field_value_at" "set_field" "set_field_at"
    "overwrite_field_at" "with_field" "call_method" "find_singleton" "register_singleton"
    "attrs::set" "attrs::replace"
    fn construct(deep) {
        let ty = slot();
        let object = isoform::objects::construct(ty, vec![deep.value.clone()])?;
        isoform::objects::set_field(&object, "v", deep.twin.clone())?;
        isoform::objects::set_field_at(&object, 0, 1.into())?;
        isoform::objects::overwrite_field_at(&object, 0, deep.value.clone())?;
        let again = isoform::objects::construct_named(ty, vec![("v", deep.twin.clone())])?;
        assert!(equal(&object, &again));
        let other = isoform::objects::with_field(&object, "v", 1.into())?;
        assert_eq!(isoform::objects::field_value(&other, "v")?, Value::from(1));
        assert_eq!(isoform::objects::field_value_at(&object, 0), Some(deep.value.clone()));
        let method = Function::new(|arguments: &[Value]| Ok(arguments[0].clone()));
        isoform::functions::register_method(ty, "self", method, true)?;
        assert_eq!(isoform::functions::call_method(&object, "self", &[])?, Value::from(&object));
        attrs::set(ty, "it.chains", deep.value.clone())?;
        attrs::replace(ty, "it.chains", deep.twin.clone())?;
        // The contents of a singleton are limited, so deep contents are
        // rejected.
        let singleton = Single::new(deep.value.clone());
        assert!(isoform::types::register_singleton(&singleton).is_err());
        assert!(isoform::types::find_singleton(&singleton).is_none());
    }

    "collect_cycles" "Value as Drop"
    fn collect_cycles(_deep) {
        let token = Arc::new(());
        let held = Arc::clone(&token);
        let holder = Function::new(move |_: &[Value]| Ok(Value::from(Arc::strong_count(&held))));
        let end: List = List::from(vec![Value::from(holder)]);
        let value = chain(end.clone(), LEVELS, &SHAPES);
        end.push(value.clone()).unwrap();
        drop((value, end));
        // Another test may have begun to collect the cycle.
        let freed = (0..1000).any(|_| {
            isoform::objects::collect_cycles();
            Arc::strong_count(&token) == 1
        });
        assert!(freed);
    }

    "pattern::Pattern::match_value" "pattern::Pattern::explain" "pattern::Match::instantiate"
    fn match_value(deep) {
        let x = Value::from(var("x"));
        let same = Pattern::new([&x, &x].map(Clone::clone), [x.clone()])?;
        // A hole matches objects.
        let both = [&deep.value, &deep.twin].map(|value| lean_left(value.clone()));
        let both = Value::from(both);
        let found = same.match_value(&both)?.expect("it matches");
        assert!(equal(found.instantiate(same.template())?.expect("in scope"), &both));
        let differ = [&deep.value, &deep.other].map(|value| lean_left(value.clone()));
        let differ = Value::from(differ);
        assert!(same.explain(&differ)?.is_some());
        let large = Pattern::new(chain(&x, LEVELS, &SHAPES), [x])?;
        assert!(large.match_value(chain(int(1), LEVELS, &SHAPES))?.is_some());
    }

    "pattern::Pattern::find_all" "pattern::Pattern::for_each_match"
    fn find_all(deep) {
        let x = Value::from(var("x"));
        let found = Pattern::new(Pair::new(&x, 1), [x.clone()])?.find_all(&deep.value)?;
        assert!(found.len() + 1 >= scaled(LEVELS) / 6);
        let last = found.last().expect("some");
        assert!(last.path().depth() + 2 >= scaled(LEVELS));
        assert_eq!(last.path().get(&deep.value)?, *last.found.value());
    }

    "pattern::rewrite_greedily"
    fn rewrite_greedily(deep) {
        let x = Value::from(var("x"));
        let rule = Rule::new(Pattern::new(Pair::new(&x, 1), [x.clone()])?, &x)?;
        let options = GreedyOptions::default().max_steps(u64::MAX);
        let done = options.rewrite_greedily(&deep.value, &[rule])?;
        assert!(done.applied[0] + 1 >= scaled(LEVELS) as u64 / 6);
    }

    "replace_all_uses"
    fn replace_all_uses(deep) {
        let x = Value::from(var("x"));
        assert_eq!(isoform::traverse::replace_all_uses(&deep.value, &x, 7)?, deep.value);
    }

    "pattern::rewrite" "pattern::Rule::apply"
    fn rewrite(deep) {
        let x = Value::from(var("x"));
        let rule = Rule::new(Pattern::new(Pair::new(&x, 1), [x.clone()])?, &x)?;
        assert!(rule.apply(chain(1, LEVELS, &[lean_left]))?.is_some());
        let options = RewriteOptions::default().max_steps(u64::MAX);
        let done = options.rewrite(&deep.value, &[rule])?;
        assert!(done.applied[0] + 1 >= scaled(LEVELS) as u64 / 6);
    }

    "isoform_testing::check_types" "isoform_testing::check_laws"
    fn check_types(deep) {
        isoform_testing::check_types(std::slice::from_ref(&deep.value)).expect("no promise is broken");
        isoform_testing::check_laws(std::slice::from_ref(&deep.value), Default::default()).expect("reflexive");
    }

    "isoform_ir::tir::is_zero" "isoform_ir::tir::literal" "isoform_ir::tir::add" "isoform_ir::tir::and" "isoform_ir::tir::cast" "isoform_ir::tir::compare" "isoform_ir::tir::div"
    "isoform_ir::tir::floordiv" "isoform_ir::tir::floormod" "isoform_ir::tir::max" "isoform_ir::tir::min" "isoform_ir::tir::mul" "isoform_ir::tir::not" "isoform_ir::tir::or"
    "isoform_ir::tir::sub" "isoform_ir::tir::truncmod"
    fn operators(_deep) {
        use isoform_ir::tir;
        use isoform::values::DType;
        let x: isoform::Ref<isoform_ir::ir::PrimExpr> = tir::Var::new("x", DType::INT32).upcast();
        let mut sum = x.clone();
        for _ in 0..scaled(LEVELS) / 3 {
            sum = tir::add(&sum, &x)?;
        }
        assert!(!tir::is_zero(&sum));
        tir::literal(Value::from(1), None)?;
        let operators = [
            tir::sub, tir::mul, tir::div, tir::floordiv, tir::floormod, tir::truncmod, tir::max,
            tir::min,
        ];
        for operator in operators {
            operator(&sum, &sum)?;
        }
        let less = tir::compare(tir::Comparison::LT, &sum, &x)?;
        tir::or(&tir::and(&less, &less)?, &tir::not(&less)?)?;
        tir::cast(DType::INT64, &sum)?;
    }
}

/// An object that is its own meaning.
#[derive(Node)]
#[node(key = "it.chains.Single", kind = singleton)]
#[repr(C)]
struct Single {
    content: Value,
}

/// Typed reading of deep values: an array of arrays is converted at its top.
#[test]
fn extraction_does_not_descend() {
    let value = Value::from([deep().value.clone()]);
    let array: Array = value.extract().expect("an array");
    assert_eq!(array.len(), 1);
}
