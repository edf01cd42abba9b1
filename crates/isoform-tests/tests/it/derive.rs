//! Tests of `#[derive(Node)]` for users of the crate: a registered definition,
//! constructors, upcasts.

use isoform::compare::{recursive_eq, recursive_hash};
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash, Verify};
use isoform::objects::{construct_named, repr, verify};
use isoform::text::{from_text, to_text};
use isoform::types::{FieldFlag, Kind, TypeInfo, find_type, register};
use isoform::{Array, Error, Node, Obj, Ref, Result, Str, Value};

/// The parent of the expressions below.
#[derive(Node)]
#[node(key = "derive.Expr")]
#[repr(C)]
struct Expr {
    /// Where it comes from.
    #[node(ignore, default)]
    origin: Option<Ref<Obj>>,
    #[node(default = "int64")]
    dtype: Str,
}

impl Expr {
    fn untyped() -> Self {
        Expr {
            origin: None,
            dtype: "any".into(),
        }
    }
}

impl Default for Expr {
    fn default() -> Self {
        Expr {
            origin: None,
            dtype: "default".into(),
        }
    }
}

/// A variable.
#[derive(Node)]
#[node(key = "derive.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(base, default)]
    base: Expr,
    name: Str,
}

/// A local variable: two levels below `Expr`.
#[derive(Node)]
#[node(key = "derive.LocalVar", kind = var)]
#[repr(C)]
struct LocalVar {
    #[node(base)]
    base: Var,
    slot: i64,
}

/// A function.
///
/// It refers to its own type and to one that is declared after it.
#[derive(Node)]
#[node(key = "derive.Function", kind = tree, scope, defs_first = false)]
#[repr(C)]
struct Function {
    #[node(base, default = Expr::untyped())]
    base: Expr,
    /// The parameters.
    #[node(def)]
    params: Array<Ref<Var>>,
    #[node(def_simple)]
    own: Ref<Var>,
    body: Ref<Expr>,
    #[node(default = None)]
    caller: Option<Ref<Self>>,
    #[node(default)]
    block: Option<Ref<Block>>,
    #[node(default = -5, name = "level")]
    r#type: i64,
    #[node(default = Self::FACTOR * 2.0)]
    factor: f64,
    #[node(default = 7)]
    value: Value,
    #[node(default = true, ignore)]
    copy: bool,
}

impl Function {
    const FACTOR: f64 = 0.25;
}

#[derive(Node)]
#[node(key = "derive.Block")]
#[repr(C)]
struct Block {
    functions: Array<Ref<Function>>,
}

#[derive(Node)]
#[node(key = "derive.Unit", kind = singleton)]
#[repr(C)]
struct Unit;

#[derive(Node)]
#[node(key = "derive.Empty", kind = const_tree)]
#[repr(C)]
struct Empty {}

/// A type with its own constructor.
#[derive(Node)]
#[node(key = "derive.Checked", no_new, no_with, kind = dag, defs_first, hooks(equal, hash))]
#[repr(C)]
struct Checked {
    value: i64,
}

impl Checked {
    fn new(value: i64) -> Option<Ref<Self>> {
        (value >= 0).then(|| Ref::new(Checked { value }))
    }

    fn with_value(&self, value: i64) -> Option<Ref<Self>> {
        Self::new(value + self.value)
    }
}

impl StructuralEqual for Checked {
    fn s_equal(&self, other: &Self, _: &mut dyn EqualCallback) -> Result<bool> {
        Ok(self.value == other.value)
    }
}

impl StructuralHash for Checked {
    fn s_hash(&self, _: u64, _: &mut dyn HashCallback) -> Result<u64> {
        Ok(self.value.unsigned_abs())
    }
}

/// A module that reaches the crate under another path.
mod reexport {
    pub(crate) mod deep {
        pub(crate) use ::isoform as renamed;
    }

    #[derive(isoform::Node)]
    #[node(key = "derive.Renamed", crate = self::deep::renamed)]
    #[repr(C)]
    pub(crate) struct Renamed {
        pub(crate) value: i64,
    }
}

fn info<T: Node>() -> &'static TypeInfo {
    register::<T>().expect("the definition is consistent");
    find_type(T::TYPE_KEY).expect("the type is registered")
}

fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

fn function() -> Ref<Function> {
    let x = var("x");
    Function::new([x.clone()], var("f"), x)
}

#[test]
fn definition_has_the_declared_options() {
    let function = info::<Function>();
    assert_eq!(function.key(), "derive.Function");
    assert_eq!(function.kind(), Kind::Tree);
    assert!(function.is_scope());
    assert_eq!(
        function.doc(),
        "A function.\n\nIt refers to its own type and to one that is declared after it."
    );
    assert_eq!(function.parent().map(TypeInfo::key), Some("derive.Expr"));
    assert_eq!(
        info::<Expr>().parent().map(TypeInfo::key),
        Some(Obj::TYPE_KEY)
    );
    let kinds = [
        info::<Var>(),
        info::<Unit>(),
        info::<Empty>(),
        info::<Checked>(),
    ]
    .map(TypeInfo::kind);
    assert_eq!(
        kinds,
        [Kind::Var, Kind::Singleton, Kind::ConstTree, Kind::Dag]
    );
}

#[test]
fn definition_lists_the_fields_of_the_parent_first() {
    let function = info::<Function>();
    let names = function.fields().iter().map(|field| field.name());
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "origin", "dtype", "params", "own", "body", "caller", "block", "level", "factor",
            "value", "copy"
        ]
    );
    let flags = function.fields().iter().map(|field| field.field_flag());
    use FieldFlag::{Def, DefSimple, Ignore, None};
    assert_eq!(
        flags.collect::<Vec<_>>(),
        [
            Ignore, None, Def, DefSimple, None, None, None, None, None, None, Ignore
        ]
    );
    let docs = function.fields().iter().map(|field| field.documentation());
    assert_eq!(
        docs.collect::<Vec<_>>(),
        [
            "Where it comes from.",
            "",
            "The parameters.",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            ""
        ]
    );
    assert!(info::<Unit>().fields().is_empty());
    assert!(info::<Empty>().fields().is_empty());
}

#[test]
fn defaults_agree_between_rust_and_the_registry() {
    let by_rust = function();
    let by_key = construct_named(
        Function::type_index(),
        vec![
            ("params", Array::<Ref<Var>>::new().into()),
            ("own", var("f").into()),
            ("body", var("x").into()),
        ],
    )
    .and_then(Ref::cast::<Function>)
    .expect("the other fields have defaults");
    for node in [&by_rust, &by_key] {
        assert!(node.caller.is_none());
        assert!(node.block.is_none());
        assert_eq!(node.r#type, -5);
        assert_eq!(node.factor, 0.5);
        assert_eq!(node.value.as_int(), Some(7));
        assert!(node.copy);
        assert!(node.origin.is_none());
    }
    // The default of the base is for `new`; otherwise, every inherited field takes its own default.
    assert_eq!(by_rust.dtype.as_str(), "any");
    assert_eq!(by_key.dtype.as_str(), "int64");
    assert_eq!(var("x").dtype.as_str(), "default");
}

#[test]
fn constructor_converts_its_arguments() {
    let local = LocalVar::new(
        Var {
            base: Expr::default(),
            name: "x".into(),
        },
        3,
    );
    assert_eq!(local.slot, 3);
    // Fields of the parents are reached through `Deref`.
    assert_eq!(local.name.as_str(), "x");
    assert_eq!(local.dtype.as_str(), "default");
    // A subtype for an object field, borrowed or owned.
    let by_borrow = Function::new(vec![], &local, &local);
    assert!(by_borrow.body.same_as(&local) && by_borrow.own.same_as(&local));
    let by_value = Function::new(vec![], local.clone(), local);
    assert_eq!(by_value.body.type_info().key(), "derive.LocalVar");
    assert_eq!(Unit::new().type_info().key(), "derive.Unit");
    assert_eq!(Empty::new().type_info().key(), "derive.Empty");
    assert_eq!(reexport::Renamed::new(4).value, 4);
}

#[test]
fn own_constructor_and_update_take_the_place_of_generated_ones() {
    assert!(Checked::new(-1).is_none());
    let one = Checked::new(1).expect("one is not negative");
    assert_eq!(one.with_value(1).map(|two| two.value), Some(2));
}

#[test]
fn updates_copy_and_replace_one_field() {
    let before = function();
    let y = var("y");
    let after = before
        .with_body(&y)
        .with_type(9)
        .with_copy(false)
        .with_caller(&before)
        .with_block(None)
        .with_block(Block::new(vec![before.clone()]));
    assert!(after.body.same_as(&y));
    assert!(!before.body.same_as(&y));
    assert_eq!((before.r#type, after.r#type), (-5, 9));
    assert_eq!((before.copy, after.copy), (true, false));
    assert!(after.own.same_as(&before.own));
    assert!(after.params.same_as(&before.params));
    assert!(
        after
            .caller
            .as_ref()
            .is_some_and(|caller| caller.same_as(&before))
    );
    assert_eq!(after.dtype.as_str(), "any");
    assert_eq!(after.type_info().key(), "derive.Function");
}

/// A type that declares requirements, and how the recursive operations use the fields.
#[derive(Node)]
#[node(key = "derive.Range", hooks(verify))]
#[repr(C)]
struct Range {
    #[node(base, default)]
    base: Expr,
    first: i64,
    last: i64,
    #[node(compare = false)]
    note: Str,
    #[node(hash = false)]
    weight: i64,
    #[node(compare = false, hash = true, repr = false)]
    secret: Str,
}

impl Verify for Range {
    fn verify(&self) -> Result<()> {
        if self.first <= self.last {
            Ok(())
        } else {
            Err(Error::value_error(format!(
                "{} > {}",
                self.first, self.last
            )))
        }
    }
}

/// Inherits the requirements of its base.
#[derive(Node)]
#[node(key = "derive.ShortRange", hooks(verify))]
#[repr(C)]
struct ShortRange {
    #[node(base)]
    base: Range,
}

impl Verify for ShortRange {
    fn verify(&self) -> Result<()> {
        if self.last - self.first < 10 {
            Ok(())
        } else {
            Err(Error::value_error("too long"))
        }
    }
}

#[test]
fn hidden_fields_are_in_texts_that_are_read_back_alone() -> Result<()> {
    let range = Range::new(1, 2, "a note", 3, "x");
    let value = Value::from(&range);
    assert!(repr(&value).contains("weight=3") && !repr(&value).contains("secret"));
    for text in [
        format!("{range:?}"),
        format!("{value:?}"),
        format!("{value:#?}"),
    ] {
        assert!(
            text.contains("weight=3") && !text.contains("secret"),
            "{text}"
        );
    }
    for text in [to_text(&value)?, value.to_string()] {
        assert_eq!(from_text(&text)?.extract::<Ref<Range>>()?.secret, "x");
    }
    Ok(())
}

#[test]
fn fields_say_what_recursive_operations_do_with_them() {
    let range = Range::new(1, 2, "a note", 3, "x");
    let fields = &info::<Range>().fields()[2..];
    let uses = fields
        .iter()
        .map(|field| (field.is_compared(), field.is_hashed(), field.is_shown()));
    assert_eq!(
        uses.collect::<Vec<_>>(),
        [
            (true, true, true),
            (true, true, true),
            (false, false, true),
            (true, false, true),
            (false, true, false),
        ]
    );
    let value = |range: &Ref<Range>| Value::from(range);
    let noted = range.with_note("another");
    assert!(recursive_eq(value(&range), value(&noted)).expect("comparable"));
    let weighed = range.with_weight(4);
    assert!(!recursive_eq(value(&range), value(&weighed)).expect("comparable"));
    let hash = |range: &Ref<Range>| recursive_hash(value(range)).expect("hashable");
    assert_eq!(hash(&range), hash(&weighed));
    assert_ne!(hash(&range), hash(&range.with_secret("y")));
    let text = repr(value(&range));
    assert!(
        text.contains("note=") && !text.contains("secret="),
        "{text}"
    );
}

#[test]
fn a_type_verifies_its_objects() {
    let range = |first: i64, last: i64| Range::new(first, last, "", 0, "");
    let short = |first: i64, last: i64| {
        ShortRange::new(Range {
            base: Expr::default(),
            first,
            last,
            note: "".into(),
            weight: 0,
            secret: "".into(),
        })
    };
    let values = Value::from([
        range(1, 2).into(),
        range(2, 1).into(),
        Value::from(short(0, 20)),
    ]);
    let failures = verify(&values, &()).expect("a tree");
    let texts: Vec<_> = failures
        .iter()
        .map(|(path, error)| format!("{path}: {error}"))
        .collect();
    assert_eq!(
        texts,
        [
            "<root>[1]: ValueError: 2 > 1",
            "<root>[2]: ValueError: too long"
        ]
    );
    let both = verify(short(9, 1), &()).expect("a tree");
    assert_eq!(both.len(), 1);
    // The same definition again, and the hook as an attribute.
    register::<Range>().expect("the same");
    let hook = isoform::attrs::get(
        Range::type_index(),
        "__verify__",
        isoform::attrs::Lookup::Exact,
    );
    let hook: isoform::functions::Function = hook.expect("set").extract().expect("a function");
    let error = hook.call(&[range(2, 1).into()]).expect_err("it is wrong");
    assert_eq!(error.message(), "2 > 1");
}

#[test]
fn nodes_are_their_ancestors() {
    let local = LocalVar::new(
        Var {
            base: Expr::default(),
            name: "x".into(),
        },
        0,
    );
    assert!(local.isa::<LocalVar>() && local.isa::<Var>() && local.isa::<Expr>());
    assert!(local.isa::<Obj>() && !local.isa::<Function>());
    let as_object: Ref<Obj> = isoform::types::IntoField::into_field(local.clone());
    assert!(as_object.same_as(&local));
    let back = as_object
        .cast::<LocalVar>()
        .expect("the object is a local variable");
    assert!(back.upcast().upcast().same_as(&local));
}
