//! Rust traits used for type attributes: in derives, set on types of other crates, and
//! implemented by functions, in the manner of another language.

use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::attrs::{self, Lookup, NodeTrait, node_trait};
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::objects::{construct, field_value};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register, register_type};
use isoform::values::ValueRef;
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Str, Value};

/// Operands may be swapped.
#[node_trait("node_traits.commutative")]
trait Commutative {}

/// Knows a simpler form of itself.
#[node_trait("node_traits.canonicalize")]
pub(crate) trait Canonicalize {
    /// The simpler form, or the node itself.
    fn canonicalize(&self) -> Result<Value>;
}

/// The cost of computing a node.
#[node_trait("node_traits.cost")]
trait Cost: Send + Sync {
    /// The cost of one.
    fn unit(&self) -> Result<i64>;

    /// The cost of several.
    fn total(&self, count: i64, unit_name: &str) -> Result<Str> {
        Ok(format!("{} {unit_name}", self.unit()? * count)
            .as_str()
            .into())
    }

    /// Both, with words around.
    fn words(&self, around: &Array<Str>, limit: Option<i64>) -> Result<Str> {
        let total = self.total(limit.unwrap_or(1), "ns")?;
        let around: Vec<_> = around.iter().map(|word| word.to_string()).collect();
        Ok(around.join(&total).as_str().into())
    }

    #[node_trait(rust_only)]
    fn visit(&self, sink: &mut dyn FnMut(&str)) {
        sink("the default");
    }
}

/// A trait that only Rust can implement.
#[node_trait("node_traits.lower")]
trait Lower {
    #[node_trait(rust_only)]
    fn lower(&self, out: &mut Vec<String>);
}

#[derive(Node)]
#[node(key = "node_traits.Expr")]
#[repr(C)]
struct Expr {}

#[derive(Node)]
#[node(
    key = "node_traits.Add",
    attrs(dyn Commutative, dyn Canonicalize, dyn Cost, dyn Lower, "node_traits.rank" = 5, "node_traits.tags" = ["a", "b"])
)]
#[repr(C)]
struct Add {
    #[node(base)]
    base: Expr,
    lhs: Value,
    rhs: Value,
}

impl Commutative for Add {}

impl Canonicalize for Add {
    fn canonicalize(&self) -> Result<Value> {
        match (self.lhs.as_int(), self.rhs.as_int()) {
            (Some(lhs), Some(rhs)) => lhs
                .checked_add(rhs)
                .map(Value::from)
                .ok_or_else(|| Error::value_error("too large")),
            _ => Ok(Value::NONE),
        }
    }
}

impl Cost for Add {
    fn unit(&self) -> Result<i64> {
        Ok(3)
    }

    fn visit(&self, sink: &mut dyn FnMut(&str)) {
        sink("an Add");
    }
}

impl Lower for Add {
    fn lower(&self, out: &mut Vec<String>) {
        out.push(format!("add {:?} {:?}", self.lhs, self.rhs));
    }
}

#[derive(Node)]
#[node(key = "node_traits.FastAdd")]
#[repr(C)]
struct FastAdd {
    #[node(base)]
    base: Add,
    speed: i64,
}

fn add(lhs: i64, rhs: i64) -> Ref<Obj> {
    Add::new(Expr {}, lhs, rhs).into_object()
}

fn fast_add(lhs: i64, rhs: i64) -> Ref<Obj> {
    let base = Add {
        base: Expr {},
        lhs: lhs.into(),
        rhs: rhs.into(),
    };
    FastAdd::new(base, 9).into_object()
}

/// A type declared at run time, and an object of the type.
fn run_time(key: &str) -> (TypeIndex, Ref<Obj>) {
    let ty = TypeDef::new(key).field(FieldDef::new("n", Schema::Int));
    let ty = register_type(ty).expect("the key is free");
    (ty, construct(ty, vec![7.into()]).expect("an object"))
}

/// The message of a result's error.
#[track_caller]
fn text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("it should fail"),
        Err(error) => error.to_string(),
    }
}

fn attribute<Tr: NodeTrait + ?Sized>(ty: TypeIndex) -> Option<&'static Value> {
    attrs::get(ty, Tr::NAME, Lookup::Exact)
}

#[test]
fn a_rust_node_is_seen_through_its_traits() {
    let node = add(1, 2);
    assert!(node.implements::<dyn Commutative>().is_some());
    let rule = node.implements::<dyn Canonicalize>().expect("declared");
    assert_eq!(rule.canonicalize().expect("folds"), Value::from(3));
    let costly = node.implements::<dyn Cost>().expect("declared");
    assert_eq!(costly.unit().expect("a number"), 3);
    assert_eq!(&*costly.total(4, "ns").expect("a text"), "12 ns");
    let mut seen = Vec::new();
    costly.visit(&mut |text| seen.push(text.to_owned()));
    assert_eq!(seen, ["an Add"]);
    let mut lowered = Vec::new();
    node.implements::<dyn Lower>()
        .expect("declared")
        .lower(&mut lowered);
    assert_eq!(lowered, ["add 1 2"]);
    assert!(format!("{costly:?}").contains("node_traits.cost"));

    let typed = Add::new(Expr {}, 1, 2);
    assert!(typed.implements::<dyn Cost>().is_some());
    assert!(typed.upcast().implements::<dyn Cost>().is_some());
}

#[test]
fn the_value_and_its_documentation_are_those_of_any_attribute() {
    let ty = Add::type_index();
    assert_eq!(attribute::<dyn Commutative>(ty), Some(&Value::from(true)));
    assert_eq!(
        attrs::get(ty, "node_traits.rank", Lookup::Exact),
        Some(&Value::from(5))
    );
    let tags = attrs::get(ty, "node_traits.tags", Lookup::Exact).expect("set");
    assert_eq!(tags.extract::<Array<Str>>().expect("strings").len(), 2);

    let function: Function = attribute::<dyn Canonicalize>(ty)
        .expect("set")
        .extract()
        .expect("one");
    assert_eq!(function.name(), Some("node_traits.Add.canonicalize"));
    assert_eq!(
        function.doc(),
        Some("The simpler form, or the node itself.")
    );
    assert_eq!(function.call(&[add(1, 2).into()]).expect("folds"), 3.into());

    let functions: Map<Str, Function> = attribute::<dyn Cost>(ty)
        .expect("set")
        .extract()
        .expect("a map");
    let names: Vec<_> = functions.keys().map(|name| name.to_string()).collect();
    assert_eq!(names, ["unit", "total", "words"]);
    let total = functions.get("total").expect("there");
    let signature = total.signature().expect("known").to_string();
    assert_eq!(
        signature,
        "(self: node_traits.Add, count: int, unit_name: str) -> str"
    );
    let texts = total
        .call(&[add(1, 2).into(), 2.into(), "s".into()])
        .expect("a text");
    assert_eq!(texts, "6 s".into());

    let info = attrs::info("node_traits.cost").expect("declared");
    assert_eq!(info.doc, "The cost of computing a node.");
    assert_eq!(
        info.schema.expect("declared").to_string(),
        "Map[str, Function]"
    );
    let methods: Vec<_> = info.methods.iter().map(|method| method.name).collect();
    assert_eq!(
        methods,
        <dyn Cost>::METHODS
            .iter()
            .map(|method| method.name)
            .collect::<Vec<_>>()
    );
    assert!(methods.starts_with(&["unit", "total"]));
    let info = attrs::info("node_traits.commutative").expect("declared");
    assert_eq!(info.methods, []);
    assert_eq!(info.schema.expect("declared").to_string(), "bool");
    assert_eq!(<dyn Cost>::METHODS[1].arguments, ["count", "unit_name"]);
    assert!(<dyn Cost>::METHODS[0].required && !<dyn Cost>::METHODS[1].required);
}

#[test]
fn functions_of_rust_methods_say_what_does_not_fit() {
    let function: Function = attribute::<dyn Canonicalize>(Add::type_index())
        .expect("set")
        .extract()
        .expect("one");
    let (_, other) = run_time("node_traits.Other");
    assert_eq!(
        text(function.call(&[other.into()])),
        "TypeError: node_traits.Add.canonicalize() argument 'self': expected node_traits.Add, got \
         node_traits.Other"
    );
    assert_eq!(
        text(function.call(&[])),
        "TypeError: node_traits.Add.canonicalize() expects 1 argument, got 0"
    );
    assert_eq!(
        text(function.call(&[add(i64::MAX, 1).into()])),
        "ValueError: too large"
    );
}

#[test]
fn inheritance_is_chosen_at_lookup() {
    let node = fast_add(2, 3);
    assert!(node.implements::<dyn Canonicalize>().is_none());
    assert!(node.implements::<dyn Commutative>().is_none());
    let rule = node
        .implements_nearest::<dyn Canonicalize>()
        .expect("of Add");
    assert_eq!(rule.canonicalize().expect("folds"), Value::from(5));
    assert!(node.implements_nearest::<dyn Lower>().is_some());
    let ty = FastAdd::type_index();
    assert!(!attrs::implements::<dyn Cost>(ty, Lookup::Exact));
    assert!(attrs::implements::<dyn Cost>(ty, Lookup::Nearest));
    assert!(attrs::implements::<dyn Lower>(
        Add::type_index(),
        Lookup::Exact
    ));
}

#[test]
fn a_marker_that_is_false_is_not_implemented() {
    #[derive(Node)]
    #[node(key = "node_traits.Sub")]
    #[repr(C)]
    struct Sub {
        #[node(base)]
        base: Add,
    }
    let base = Add {
        base: Expr {},
        lhs: 1.into(),
        rhs: 2.into(),
    };
    let node = Sub::new(base);
    assert!(node.implements_nearest::<dyn Commutative>().is_some());
    attrs::set(Sub::type_index(), "node_traits.commutative", false).expect("a bool");
    assert!(node.implements_nearest::<dyn Commutative>().is_none());
    assert!(node.implements::<dyn Commutative>().is_none());
    assert!(!attrs::implements::<dyn Commutative>(
        Sub::type_index(),
        Lookup::Nearest
    ));
    let wrong = attrs::replace(Sub::type_index(), "node_traits.commutative", "yes");
    assert_eq!(
        text(wrong),
        "TypeError: attribute 'node_traits.commutative' of type node_traits.Sub: expected bool, got str"
    );
}

#[test]
fn a_function_implements_a_trait_of_one_method() {
    let (ty, node) = run_time("node_traits.Dynamic");
    assert!(node.implements::<dyn Canonicalize>().is_none());
    let function = Function::new(|arguments| {
        let ValueRef::Object(node) = arguments[0].view() else {
            return Err(Error::type_error("expected a node"));
        };
        field_value(node, "n")
    });
    attrs::set(ty, "node_traits.canonicalize", function).expect("a function");
    let rule = node.implements::<dyn Canonicalize>().expect("set");
    assert_eq!(rule.canonicalize().expect("a number"), Value::from(7));

    let failing = Function::new(|_| Err(Error::new(ErrorKind::Index, "nothing there")));
    attrs::replace(ty, "node_traits.canonicalize", failing).expect("a function");
    let rule = node.implements::<dyn Canonicalize>().expect("set");
    assert_eq!(text(rule.canonicalize()), "IndexError: nothing there");

    assert_eq!(
        text(attrs::replace(ty, "node_traits.canonicalize", 5)),
        "TypeError: attribute 'node_traits.canonicalize' of type node_traits.Dynamic: expected \
         Function, got int"
    );
}

fn unit(value: impl Into<Value>) -> (Value, Value) {
    let value = value.into();
    let function = Function::new(move |_| Ok(value.clone()));
    ("unit".into(), function.into())
}

fn functions(entries: impl IntoIterator<Item = (Value, Value)>) -> Value {
    entries.into_iter().collect::<Map>().into()
}

#[test]
fn functions_implement_a_trait_of_several_methods() {
    let (ty, node) = run_time("node_traits.Several");
    attrs::set(ty, "node_traits.cost", functions([unit(4)])).expect("fits");
    let costly = node.implements::<dyn Cost>().expect("set");
    assert_eq!(costly.unit().expect("a number"), 4);
    // The bodies of the trait run with the given functions.
    assert_eq!(&*costly.total(2, "us").expect("a text"), "8 us");
    let around = Array::from(["<".into(), ">".into()]);
    assert_eq!(&*costly.words(&around, Some(3)).expect("a text"), "<12 ns>");
    let mut seen = Vec::new();
    costly.visit(&mut |text| seen.push(text.to_owned()));
    assert_eq!(seen, ["the default"]);

    // A given function replaces a body, also inside the other bodies.
    let total = Function::new(|arguments| {
        let [_, count, name] = arguments else {
            return Err(Error::type_error("expected two arguments"));
        };
        Ok(format!("{count:?} of {name:?}").into())
    });
    let methods = functions([unit(4), ("total".into(), total.into())]);
    attrs::replace(ty, "node_traits.cost", methods).expect("fits");
    let costly = node.implements::<dyn Cost>().expect("set");
    assert_eq!(&*costly.total(2, "us").expect("a text"), "2 of \"us\"");
    assert_eq!(
        &*costly.words(&around, None).expect("a text"),
        "<1 of \"ns\">"
    );
}

#[test]
fn results_of_functions_are_checked() {
    let (ty, node) = run_time("node_traits.WrongResult");
    attrs::set(ty, "node_traits.cost", functions([unit("four")])).expect("fits");
    let costly = node.implements::<dyn Cost>().expect("set");
    let expected = "TypeError: attribute 'node_traits.cost' of type node_traits.WrongResult: result \
                    of unit(): expected int, got str";
    assert_eq!(text(costly.unit()), expected);
    assert_eq!(text(costly.total(1, "s")), expected);
}

#[test]
fn names_of_methods_are_checked() {
    let (ty, node) = run_time("node_traits.Names");
    let set = |value: Value| attrs::set(ty, "node_traits.cost", value);
    let start = "ValueError: attribute 'node_traits.cost' of type node_traits.Names: ";
    assert_eq!(
        text(set(functions([]))),
        format!("{start}expected a function 'unit', got no functions")
    );
    let total = ("total".into(), unit(1).1);
    assert_eq!(
        text(set(functions([total]))),
        format!("{start}expected a function 'unit', got functions \"total\"")
    );
    let costs = ("costs".into(), unit(1).1);
    assert_eq!(
        text(set(functions([unit(1), costs]))),
        format!("{start}expected functions among 'unit', 'total', 'words', got \"costs\"")
    );
    assert!(text(set(unit(1).1)).contains("expected Map[str, Function], got Function"));
    assert!(node.implements::<dyn Cost>().is_none());

    // At registration, too; and the type is not registered then.
    let definition = TypeDef::new("node_traits.Unnamed").attr("node_traits.cost", functions([]));
    assert_eq!(
        text(register_type(definition)),
        "ValueError: attribute 'node_traits.cost' of type node_traits.Unnamed: expected a function \
         'unit', got no functions"
    );
    assert!(isoform::types::find_type("node_traits.Unnamed").is_none());
}

#[test]
fn the_functions_of_a_rust_type_can_be_mixed_with_others() {
    #[derive(Node)]
    #[node(key = "node_traits.Mixed")]
    #[repr(C)]
    struct Mixed {
        #[node(base)]
        base: Add,
    }
    let base = || Add {
        base: Expr {},
        lhs: 1.into(),
        rhs: 2.into(),
    };
    let node = Mixed::new(base());
    let of_add = attribute::<dyn Cost>(Add::type_index()).expect("set");
    let mut mixed: Map<Str, Function> = of_add.extract().expect("a map");
    let words = Function::new(|_| Ok("mixed".into()));
    mixed.insert("words".into(), words);
    attrs::set(Mixed::type_index(), "node_traits.cost", mixed).expect("fits");
    let costly = node.implements::<dyn Cost>().expect("set");
    assert_eq!(costly.unit().expect("that of Add"), 3);
    let words = costly.words(&Array::new(), None).expect("a text");
    assert_eq!(&*words, "mixed");
}

#[test]
fn the_function_of_a_rust_type_on_another_type_is_an_error_when_called() {
    let (ty, node) = run_time("node_traits.Borrower");
    let of_add = attribute::<dyn Canonicalize>(Add::type_index()).expect("set");
    attrs::set(ty, "node_traits.canonicalize", of_add).expect("a function");
    let rule = node.implements::<dyn Canonicalize>().expect("set");
    assert!(
        text(rule.canonicalize()).contains("expected node_traits.Add, got node_traits.Borrower")
    );
}

#[test]
fn only_rust_implements_a_trait_whose_methods_are_for_rust_only() {
    let (ty, node) = run_time("node_traits.NotLowered");
    let given = attrs::set(ty, "node_traits.lower", unit(1).1);
    assert_eq!(
        text(given),
        "TypeError: attribute 'node_traits.lower' of type node_traits.NotLowered: expected an \
         implementation in Rust, got Function"
    );
    assert!(node.implements::<dyn Lower>().is_none());
}

#[test]
fn the_same_definition_is_recognised() {
    let ty = register::<Add>().expect("the first time");
    assert_eq!(register::<Add>().expect("again"), ty);
    let other = Add::definition().attr("node_traits.more", 1);
    assert!(text(register_type(other)).contains("the attribute 'node_traits.more' differs"));
}

#[test]
fn a_type_of_another_crate_gets_a_trait() {
    #[derive(Node)]
    #[node(key = "node_traits.Foreign")]
    #[repr(C)]
    struct Foreign {
        value: i64,
    }
    impl Commutative for Foreign {}
    impl Canonicalize for Foreign {
        fn canonicalize(&self) -> Result<Value> {
            Ok(self.value.into())
        }
    }
    impl Cost for Foreign {
        fn unit(&self) -> Result<i64> {
            Ok(self.value)
        }
    }
    impl Lower for Foreign {
        fn lower(&self, out: &mut Vec<String>) {
            out.push(self.value.to_string());
        }
    }
    let node = Foreign::new(8);
    assert!(node.implements::<dyn Cost>().is_none());
    // Doing it again changes nothing.
    for _ in 0..2 {
        attrs::implement::<dyn Commutative, Foreign>().expect("free");
        attrs::implement::<dyn Canonicalize, Foreign>().expect("free");
        attrs::implement::<dyn Cost, Foreign>().expect("free");
        attrs::implement::<dyn Lower, Foreign>().expect("free");
    }
    assert!(node.implements::<dyn Commutative>().is_some());
    assert_eq!(
        node.implements::<dyn Cost>()
            .expect("set")
            .unit()
            .expect("a number"),
        8
    );
    assert!(node.implements::<dyn Lower>().is_some());
    attrs::implement::<dyn Cost, Add>().expect("declared by its derive");

    // A trait set by another language is not removed.
    let ty = register::<Foreign>().expect("known");
    attrs::replace(ty, "node_traits.cost", functions([unit(1)])).expect("fits");
    let again = text(attrs::implement::<dyn Cost, Foreign>());
    assert!(
        again.contains("attribute 'node_traits.cost' of type node_traits.Foreign is set already")
    );
    assert_eq!(
        node.implements::<dyn Cost>()
            .expect("set")
            .unit()
            .expect("a number"),
        1
    );
}

/// Declared as a different attribute before the trait is used.
#[node_trait("node_traits.taken")]
trait Taken {
    fn taken(&self) -> Result<()>;
}

#[test]
fn a_name_that_means_something_else_is_an_error_and_no_panic() {
    #[derive(Node)]
    #[node(key = "node_traits.Taker", attrs(dyn Taken))]
    #[repr(C)]
    struct Taker {}
    impl Taken for Taker {
        fn taken(&self) -> Result<()> {
            Ok(())
        }
    }
    let number = attrs::AttrDef::new("node_traits.taken").schema(Schema::Int);
    attrs::declare(number).expect("free");
    let (ty, node) = run_time("node_traits.HasNumber");
    attrs::set(ty, "node_traits.taken", 5).expect("a number");
    assert!(node.implements::<dyn Taken>().is_none());
    assert!(!attrs::implements::<dyn Taken>(ty, Lookup::Nearest));
    assert_eq!(
        text(attrs::declare_trait::<dyn Taken>()),
        "ValueError: attribute 'node_traits.taken' is declared already, for int, now for Function"
    );
    assert_eq!(
        text(register::<Taker>()),
        "TypeError: attribute 'node_traits.taken' of type node_traits.Taker: expected int, got Function"
    );
}

#[test]
fn another_language_may_have_declared_the_trait_in_other_words() {
    /// In the words of Rust.
    #[node_trait("node_traits.shared")]
    trait Shared {
        fn one(&self) -> Result<()>;
        fn two(&self) -> Result<()>;
    }
    let functions_of = Schema::Map(Box::new((Schema::Str, Schema::Function)));
    let other = attrs::AttrDef::new("node_traits.shared");
    attrs::declare(other.doc("In other words.").schema(functions_of)).expect("free");
    attrs::declare_trait::<dyn Shared>().expect("the values are the same");
    let info = attrs::info("node_traits.shared").expect("declared");
    assert_eq!(info.doc, "In other words.");
    // The names of the methods are checked from now on.
    let (ty, _) = run_time("node_traits.Sharer");
    let result = attrs::set(ty, "node_traits.shared", functions([unit(1)]));
    assert!(text(result).contains("expected a function 'one', got functions \"unit\""));
}

#[test]
fn values_set_before_the_trait_is_used_are_checked() {
    /// Used after a wrong value was set.
    #[node_trait("node_traits.late")]
    trait Late {
        fn one(&self) -> Result<()>;
        fn two(&self) -> Result<()>;
    }
    let (ty, node) = run_time("node_traits.Early");
    attrs::set(ty, "node_traits.late", functions([unit(1)])).expect("not declared");
    assert_eq!(
        text(attrs::declare_trait::<dyn Late>()),
        "ValueError: attribute 'node_traits.late' of type node_traits.Early: expected a function \
         'one', got functions \"unit\""
    );
    let late = node.implements::<dyn Late>().expect("a map of functions");
    assert_eq!(
        text(late.one()),
        "TypeError: attribute 'node_traits.late' of type node_traits.Early: expected a function \
         'one', got none"
    );
}

#[test]
fn lookups_and_retrofits_may_race() {
    #[node_trait("node_traits.race")]
    trait Race {
        fn number(&self) -> Result<i64>;
    }
    #[derive(Node)]
    #[node(key = "node_traits.Racer")]
    #[repr(C)]
    struct Racer {
        value: i64,
    }
    impl Race for Racer {
        fn number(&self) -> Result<i64> {
            Ok(self.value)
        }
    }
    let node = Racer::new(3);
    let seen = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while seen.load(Ordering::Relaxed) < 1000 {
                    if let Some(race) = node.implements::<dyn Race>() {
                        assert_eq!(race.number().expect("a number"), 3);
                        seen.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        attrs::implement::<dyn Race, Racer>().expect("free");
    });
    assert!(seen.into_inner() >= 1000);
}
