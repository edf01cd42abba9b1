//! Attributes for roles that are refused where they are set, and options and holes that
//! are refused because types declare no role or have no such field.

use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::objects::construct;
use isoform::pattern::{Hole, Pattern, PatternOptions, Rule};
use isoform::traverse::{BINDING, COMMUTATIVE, CONSTANT, PROJECTION, PURE};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::DType;
use isoform::{Array, Map, Node, Ref, Result, Str, Value, attrs};
use isoform_ir::ir::{FloatImm, IntImm, PrimExpr, StringImm, TensorType, Type};
use isoform_ir::tir;

/// Registers the types `{dialect}.Expr`, `.Var`, `.Num`, `.Pair`, `.Call` and `.Let`, which
/// declare no role.
fn types(dialect: &str) -> [TypeIndex; 6] {
    let key = |name: &str| format!("{dialect}.{name}");
    let expr = register_type(TypeDef::new(&key("Expr"))).expect("a new type");
    let schema = || Schema::named(&key("Expr"));
    let of = |name: &str| TypeDef::new(&key(name)).parent(expr);
    let name = || FieldDef::new("name", Schema::Str).flag(FieldFlag::Ignore);
    let def = |name: &str| FieldDef::new(name, schema()).flag(FieldFlag::Def);
    let field = |name: &str| FieldDef::new(name, schema());
    [
        expr,
        register_type(of("Var").kind(Kind::Var).field(name())).expect("a new type"),
        register_type(of("Num").field(FieldDef::new("value", Schema::Int))).expect("a new type"),
        register_type(of("Pair").field(field("left")).field(field("right"))).expect("a new type"),
        register_type(
            of("Call")
                .field(FieldDef::new("op", Schema::Str))
                .field(FieldDef::new("args", Schema::Array(Box::new(schema())))),
        )
        .expect("a new type"),
        register_type(
            of("Let")
                .field(def("var"))
                .field(field("value"))
                .field(field("body")),
        )
        .expect("a new type"),
    ]
}

fn map(fields: &[(&str, &str)]) -> Map<Str, Str> {
    let fields = fields
        .iter()
        .map(|(role, field)| (Str::from(*role), Str::from(*field)));
    fields.collect()
}

fn names(names: &[&str]) -> Array<Str> {
    Array::from(
        names
            .iter()
            .map(|name| Str::from(*name))
            .collect::<Vec<_>>(),
    )
}

#[track_caller]
fn check_refused<T>(done: Result<T>, kind: ErrorKind, message: &str) {
    let error = done.err().expect("an error");
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[test]
fn values_of_the_wrong_form_are_refused_where_they_are_set() {
    let [_, _, num, pair, call, binding] = types("roles_form");
    const OPERANDS: &str =
        "the names of two fields, the name of one field with an array, or a function";
    let check = |ty: TypeIndex, role: &str, value: Value, kind, problem: &str| {
        let mut all = isoform::types::registered_types().into_iter();
        let key = all
            .find(|info| info.index() == ty)
            .expect("registered")
            .key();
        let message = format!("attribute '{role}' of type {key}: {problem}");
        check_refused(attrs::set(ty, role, value), kind, &message);
        assert!(!attrs::has(ty, role, attrs::Lookup::Exact));
    };
    let of_type = |ty, role, value: Value, problem: &str| {
        check(ty, role, value, ErrorKind::Type, problem);
    };
    let of_value = |ty, role, value: Value, problem: &str| {
        check(ty, role, value, ErrorKind::Value, problem);
    };
    let expected = |problem: &str| format!("expected {OPERANDS}, got {problem}");
    of_type(
        call,
        COMMUTATIVE,
        names(&["args"]).into(),
        &expected(
            "an array with one name; write 'args' instead if the items of this field may be in \
             any order",
        ),
    );
    of_type(call, COMMUTATIVE, 3.into(), &expected("int"));
    of_type(call, COMMUTATIVE, true.into(), &expected("bool"));
    let three = names(&["left", "right", "left"]);
    of_type(
        pair,
        COMMUTATIVE,
        three.into(),
        &expected("an array with 3 names"),
    );
    let twice = names(&["left", "left"]);
    of_value(pair, COMMUTATIVE, twice.into(), &expected("'left' twice"));
    let numbers = Array::from(vec![Value::from(0), Value::from(1)]);
    let problem = expected("an array with other items than names");
    of_type(pair, COMMUTATIVE, numbers.into(), &problem);
    let misspelt = names(&["left", "rihgt"]);
    let problem = "there is no field 'rihgt', did you mean 'right'?";
    of_value(pair, COMMUTATIVE, misspelt.into(), problem);
    of_value(
        call,
        COMMUTATIVE,
        "arg".into(),
        "there is no field 'arg', did you mean 'args'?",
    );
    of_value(call, COMMUTATIVE, "z".into(), "there is no field 'z'");
    let problem = "expected the name of a field with an array, got 'op' with str";
    of_type(call, COMMUTATIVE, "op".into(), problem);

    of_type(num, CONSTANT, "yes".into(), "expected a bool, got str");
    of_type(
        pair,
        PURE,
        "yes".into(),
        "expected a bool or a function, got str",
    );
    of_type(
        binding,
        BINDING,
        "var".into(),
        "expected a map from str to str, got str",
    );
    let problem = "expected the name of a field under 'value', got none";
    of_value(binding, BINDING, map(&[("var", "var")]).into(), problem);
    let fields = map(&[("var", "var"), ("value", "value"), ("bdy", "body")]);
    let problem = "expected the names of fields under 'var', 'value', 'body', got 'bdy', did you \
                   mean 'body'?";
    of_value(binding, BINDING, fields.into(), problem);
    let fields = map(&[("var", "var"), ("value", "valeu")]);
    let problem = "there is no field 'valeu', did you mean 'value'?";
    of_value(binding, BINDING, fields.into(), problem);
    let problem = "expected the name of a field under 'index', got none";
    of_value(call, PROJECTION, map(&[("of", "args")]).into(), problem);
}

#[test]
fn values_of_the_right_form_are_accepted() {
    let [expr, _, num, pair, call, binding] = types("roles_good");
    let set = |ty, role, value: Value| attrs::set(ty, role, value).expect("a good value");
    set(pair, COMMUTATIVE, names(&["left", "right"]).into());
    set(call, COMMUTATIVE, "args".into());
    set(num, CONSTANT, true.into());
    set(pair, PURE, Function::new(|_| Ok(true.into())).into());
    let fields = map(&[("var", "var"), ("value", "value"), ("body", "body")]);
    set(binding, BINDING, fields.into());
    // A base without the fields speaks for types that extend the base.
    set(expr, COMMUTATIVE, names(&["first", "second"]).into());
    attrs::replace(expr, COMMUTATIVE, "items").expect("a good value");
    let error = attrs::replace(num, CONSTANT, 1).expect_err("no bool");
    assert!(
        error.message().contains("expected a bool, got int"),
        "{error}"
    );
}

#[test]
fn a_definition_with_a_wrong_role_is_not_registered() {
    let wrong = TypeDef::new("roles_def.Pair")
        .field(FieldDef::new("left", Schema::Any))
        .field(FieldDef::new("right", Schema::Any));
    let wrong = wrong.attr(COMMUTATIVE, names(&["left", "rigth"]));
    let message = "attribute 'rewrite.commutative' of type roles_def.Pair: there is no field \
                   'rigth', did you mean 'right'?";
    check_refused(register_type(wrong), ErrorKind::Value, message);
    assert!(isoform::types::find_type("roles_def.Pair").is_none());
    let error = isoform::types::register::<Named>().expect_err("no such field");
    let message = "attribute 'rewrite.commutative' of type roles_def.Named: there is no field 'z'";
    assert_eq!(error.message(), message);
}

/// The attribute names a field that the type does not have.
#[derive(Node)]
#[node(key = "roles_def.Named", attrs("rewrite.commutative" = "z"))]
#[repr(C)]
struct Named {
    /// A field.
    x: i64,
}

#[test]
fn options_without_any_effect_are_refused() {
    let [_, var, num, pair, _, _] = types("roles_none");
    let make = |ty, fields: Vec<Value>| Value::from(construct(ty, fields).expect("an object"));
    let x = make(var, vec!["x".into()]);
    let one = make(num, vec![1.into()]);
    let template = make(pair, vec![x.clone(), one]);
    let pattern = |options: PatternOptions, hole: Hole| options.pattern(template.clone(), [hole]);
    let plain = || Hole::new(x.clone());
    let default = PatternOptions::default;
    check_refused(
        pattern(default().commutative(true), plain()),
        ErrorKind::Value,
        "Pattern.commutative has no effect on roles_none.Pair: neither the types of the template \
         nor other types of 'roles_none' have the attribute 'rewrite.commutative'; declare this \
         role where the types are declared, for example type_attrs.set(roles_none.Pair, \
         \"rewrite.commutative\", the names of two fields, the name of one array field, or a \
         function of the node), in Rust attrs::set",
    );
    let error = pattern(default().definitions(true), plain()).expect_err("no role");
    assert!(error.message().contains("Pattern.definitions"), "{error}");
    assert!(error.message().contains("'rewrite.pure'"), "{error}");
    let error = pattern(default(), plain().constant()).expect_err("no role");
    assert!(error.message().contains("Hole.constant"), "{error}");
    assert!(error.message().contains("'rewrite.constant'"), "{error}");
    let error = Rule::results(pattern(default(), plain()).expect("plain"), [x.clone()]);
    let error = error.expect_err("no role");
    assert!(error.message().contains("'rewrite.projection'"), "{error}");

    // A role of one type of the dialect is enough.
    attrs::set(pair, PURE, true).expect("the first value");
    let error = pattern(default().definitions(true), plain()).map(drop);
    // Some other test may bind any value to a variable.
    if let Err(error) = error {
        assert!(error.message().contains("'rewrite.binding'"), "{error}");
    }
    attrs::set(num, CONSTANT, true).expect("the first value");
    pattern(default(), plain().constant()).expect("constants exist");
    let sum = register_type(TypeDef::new("roles_none.Sum").field(FieldDef::new("a", Schema::Any)));
    let sum = sum.expect("a new type");
    attrs::set(sum, COMMUTATIVE, "a").expect("the first value");
    pattern(default().commutative(true), plain()).expect("the dialect knows orders");
}

#[test]
fn plain_values_are_constants_wherever_they_may_stand() {
    let call = TypeDef::new("roles_plain.Call")
        .field(FieldDef::new("args", Schema::Array(Box::new(Schema::Any))));
    let call = register_type(call).expect("a new type");
    let var = register_type(TypeDef::new("roles_plain.Var").kind(Kind::Var)).expect("a new type");
    let x = Value::from(construct(var, vec![]).expect("a variable"));
    let args: Value = Array::from(vec![x.clone()]).into();
    let template = Value::from(construct(call, vec![args]).expect("a call"));
    Pattern::new(template, [Hole::new(x).constant()]).expect("numbers are constants");
}

/// A pattern of anything with a value at a place.
fn with_field(class: Option<TypeIndex>, path: &str, value: impl Into<Value>) -> Result<Pattern> {
    isoform_ir::ir::register()?;
    tir::register()?;
    let x = tir::Var::new("x", DType::INT32);
    let hole = Hole::new(&x).anything().field(path, value);
    let hole = class.into_iter().fold(hole, Hole::class_index);
    Pattern::new(&x, [hole])
}

#[track_caller]
fn check_field(path: &str, value: impl Into<Value>, yes: &[Value], no: &[Value]) {
    let pattern = with_field(None, path, value).expect("a place that exists");
    let matches = |part: &Value| pattern.match_value(part).expect("comparable").is_some();
    for part in yes {
        assert!(matches(part), "{part:?}");
    }
    for part in no {
        assert!(!matches(part), "{part:?}");
    }
}

fn tensor(dims: Vec<Ref<PrimExpr>>, dtype: DType) -> Value {
    TensorType::new(dims).with_dtype(dtype).into()
}

fn literal(dtype: DType, value: i64) -> Ref<PrimExpr> {
    IntImm::new(dtype, value).expect("in range").upcast()
}

#[test]
fn values_of_fields_have_the_forms_that_fields_take() {
    let (i32, i64) = (DType::INT32, DType::INT64);
    let matrix = |dtype, size| tensor(vec![literal(i32, 2), literal(i64, size)], dtype);
    let floats = matrix(DType::FLOAT32, 3);
    check_field(
        "dtype",
        "float32",
        std::slice::from_ref(&floats),
        &[matrix(i32, 3), literal(i32, 3).into()],
    );
    check_field(
        "dtype",
        DType::FLOAT32,
        std::slice::from_ref(&floats),
        &[matrix(i32, 3)],
    );
    let vector = tensor(vec![literal(i32, 3)], i32);
    check_field(
        "shape[1]",
        3,
        std::slice::from_ref(&floats),
        &[matrix(i32, 4), vector.clone()],
    );
    check_field("shape[0]", 2, std::slice::from_ref(&floats), &[vector]);
    check_field(
        "shape[1]",
        literal(i64, 3),
        std::slice::from_ref(&floats),
        &[],
    );
    check_field("shape[1]", literal(i32, 3), &[], &[floats]);

    let held = FieldDef::new("value", Schema::object::<PrimExpr>());
    let holder = register_type(TypeDef::new("roles_value.Holder").field(held));
    let holder = holder.expect("a new type");
    let hold = |held: Value| Value::from(construct(holder, vec![held]).expect("an expression"));
    let float = |value| {
        hold(
            FloatImm::new(DType::FLOAT64, value)
                .expect("in range")
                .into(),
        )
    };
    check_field(
        "value",
        2.5,
        &[float(2.5)],
        &[float(2.0), hold(literal(i32, 2).into())],
    );
    check_field(
        "value",
        2,
        &[float(2.0), hold(literal(i64, 2).into())],
        &[float(2.5)],
    );
    let truth = |value| hold(literal(DType::BOOL, value).into());
    check_field(
        "value",
        true,
        &[truth(1)],
        &[truth(0), hold(literal(i32, 1).into())],
    );
    check_field(
        "value",
        false,
        &[truth(0)],
        &[truth(1), hold(literal(i32, 0).into())],
    );
    let text = |text: &str| hold(StringImm::new(text).into());
    check_field("value", "a", &[text("a")], &[text("b"), truth(1)]);
}

#[test]
fn places_that_cannot_exist_are_refused() {
    #[track_caller]
    fn check(class: Option<TypeIndex>, path: &str, problem: &str) {
        let message = format!("Hole.field '{path}': {problem}");
        check_refused(
            with_field(class, path, 1).map(drop),
            ErrorKind::Value,
            &message,
        );
    }
    let (tensor, base) = (TensorType::type_index(), Type::type_index());
    check(
        Some(tensor),
        "shap[1]",
        "at <root>, ir.TensorType and the types that extend it have no field 'shap', did you mean \
         'shape'?",
    );
    check(
        Some(base),
        "dtpye",
        "at <root>, ir.Type and the types that extend it have no field 'dtpye', did you mean \
         'dtype'?",
    );
    check(
        None,
        "no_type_has_this_field",
        "at <root>, the registered types have no field 'no_type_has_this_field'",
    );
    check(
        Some(tensor),
        "shape.size",
        "at <root>.shape, expected an object with a field 'size', got Array[ir.PrimExpr]",
    );
    check(
        Some(tensor),
        "dtype[0]",
        "at <root>.dtype, expected a sequence for step [0], got dtype",
    );
    check(
        Some(tensor),
        "shape[0].valeu",
        "at <root>.shape[0], ir.PrimExpr and the types that extend it have no field 'valeu', did \
         you mean 'value'?",
    );
    check(
        Some(tensor),
        "shape[\"a\"]",
        "at <root>.shape, expected a map for step [\"a\"], got Array[ir.PrimExpr]",
    );
    let error = with_field(Some(tensor), "dtype", "flaot32").expect_err("no data type");
    assert!(
        error.message().starts_with("Hole.field 'dtype': "),
        "{error}"
    );
    assert!(error.message().contains("flaot32"), "{error}");
    let error = with_field(Some(tensor), "dtype", 3).expect_err("no data type");
    assert_eq!(
        error.message(),
        "Hole.field 'dtype': expected dtype, got int"
    );
    // Types that extend the class may have the field.
    with_field(Some(base), "dtype", "float32").expect("as in ir.TensorType");
    let inner = Pattern::new(1, Vec::<Hole>::new()).expect("a pattern");
    let x = tir::Var::new("x", DType::INT32);
    let hole = Hole::new(&x)
        .class_index(tensor)
        .field_matching("shap[0]", inner);
    let error = Pattern::new(&x, [hole]).expect_err("no such field");
    assert!(error.message().contains("did you mean 'shape'?"), "{error}");
}
