//! The pieces of expressions, functions, patterns, objects and containers.

use std::borrow::Cow;

use isoform::objects::field_value_at;
use isoform::types::Kind;
use isoform::values::ValueRef;
use isoform::{Map, Obj, Ref, Str, Value, structural_equal};
use isoform_ir::ir::{
    Attrs, Constructor, DictAttrs, GlobalVar, Op, PrimExpr, RelayExpr, Type, TypeData, TypeVar,
};

use super::{literals, types};
use crate::var::Id;
use crate::{
    AttrsWildcard, Call, Clause, Constant, Function, If, Let, Match, Pattern, PatternConstructor,
    PatternTuple, PatternVar, PatternWildcard, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    is_primitive_op,
};

/// A piece of the text of a node. `T` is a value, or the number of a node in a graph; `V`
/// is a variable, or the number of a variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Piece<T, V> {
    Text(Cow<'static, str>),
    /// A part, written in place or by its number.
    Part(T),
    /// Parts with commas between them.
    List(Vec<T>),
    /// The value of a `let`: in place unless used elsewhere.
    Bound(T),
    /// The result of a scope, in braces.
    Block(T),
    /// The result of a scope, in the following lines.
    Rest(T),
    /// The place that introduces a variable.
    Binding(V),
    /// A use of a variable.
    Variable(V),
    /// A constant without a literal: the digest and a summary of the tensor.
    Constant(Box<str>, Box<str>),
    /// Begins a line.
    Line,
    /// The lines from here on are indented further.
    Indent,
    /// The end of the indented lines.
    Dedent,
}

/// The pieces of one node, before the node is part of a graph.
pub(super) type Pieces = Vec<Piece<Value, Ref<Obj>>>;

/// The description of a node.
pub(super) struct Description {
    pub(super) pieces: Pieces,
    /// True for an expression with a computation: as a part of another node, the
    /// expression gets a line of its own.
    pub(super) is_computed: bool,
    /// True if sharing of the node has no meaning.
    pub(super) is_tree: bool,
}

pub(super) fn text<T, V>(text: impl Into<Cow<'static, str>>) -> Piece<T, V> {
    Piece::Text(text.into())
}

/// A list between two texts.
pub(super) fn listed<T>(
    open: impl Into<Cow<'static, str>>,
    items: impl IntoIterator<Item = T>,
    close: &'static str,
) -> Pieces
where
    Value: From<T>,
{
    let items = items.into_iter().map(Value::from).collect();
    vec![text(open), Piece::List(items), text(close)]
}

/// A list in parentheses; a single item is followed by a comma.
pub(super) fn tuple<T>(items: impl IntoIterator<Item = T>) -> Pieces
where
    Value: From<T>,
{
    let items: Vec<Value> = items.into_iter().map(Value::from).collect();
    let close = if items.len() == 1 { ",)" } else { ")" };
    vec![text("("), Piece::List(items), text(close)]
}

/// A name as written, in quotes if the name could be mistaken for other text.
pub(super) fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_.:$/-".contains(c);
    if !name.is_empty() && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("{name:?}")
    }
}

/// The hint of a variable, and the sign before its name.
pub(super) fn variable(object: &Ref<Obj>) -> Option<(&Str, &'static str)> {
    if let Some(id) = object.downcast_ref::<Id>() {
        Some((&id.name_hint, "%"))
    } else if let Some(var) = object.downcast_ref::<AttrsWildcard>() {
        Some((&var.name_hint, "%"))
    } else if let Some(var) = object.downcast_ref::<TypeVar>() {
        Some((&var.name_hint, ""))
    } else {
        let var = object.downcast_ref::<isoform_ir::tir::Var>()?;
        Some((&var.name, ""))
    }
}

/// The annotation that follows the binding of a variable.
pub(super) fn annotation(var: &Ref<Obj>) -> Pieces {
    let typed = var.downcast_ref::<crate::Var>();
    match typed.and_then(|var| var.type_annotation.as_ref()) {
        Some(ty) => vec![text(": "), Piece::Part(ty.into())],
        None => Vec::new(),
    }
}

fn binding(var: &Ref<Obj>) -> Pieces {
    let mut pieces = vec![Piece::Binding(var.clone())];
    pieces.extend(annotation(var));
    pieces
}

impl Description {
    /// Describes any value. O(1) for the size of its parts.
    pub(super) fn of(value: &Value) -> Description {
        let (pieces, is_computed) = match value.view() {
            ValueRef::Object(object) => return Description::of_object(object),
            ValueRef::Array(items) => (listed("[", items.values(), "]"), false),
            ValueRef::List(items) => (listed("[", items.snapshot().values(), "]"), false),
            ValueRef::Map(map) => (entries(map), false),
            ValueRef::Dict(dict) => (entries(&dict.snapshot()), false),
            _ => (vec![literals::plain(value)], false),
        };
        Description {
            pieces,
            is_computed,
            is_tree: true,
        }
    }

    fn of_object(object: &Ref<Obj>) -> Description {
        let is_tree = matches!(object.type_info().kind(), Kind::Tree | Kind::ConstTree);
        let known = if variable(object).is_some() {
            Some((vec![Piece::Variable(object.clone())], false))
        } else if object.isa::<RelayExpr>() {
            name(object).or_else(|| computation(object))
        } else if object.isa::<Type>() {
            let pieces = object.downcast_ref::<TypeData>().map(type_data);
            pieces
                .or_else(|| types::pieces(object))
                .map(|pieces| (pieces, false))
        } else if object.isa::<PrimExpr>() {
            literals::number(object).map(|piece| (vec![piece], false))
        } else {
            pattern(object).map(|pieces| (pieces, false))
        };
        let (pieces, is_computed) =
            known.unwrap_or_else(|| (by_fields(object), object.isa::<RelayExpr>()));
        Description {
            pieces,
            is_computed,
            is_tree,
        }
    }
}

/// Expressions that compute nothing.
fn name(object: &Ref<Obj>) -> Option<(Pieces, bool)> {
    let pieces = if let Some(op) = object.downcast_ref::<Op>() {
        vec![text(plain_name(&op.name))]
    } else if let Some(var) = object.downcast_ref::<GlobalVar>() {
        vec![text(format!("@{}", plain_name(&var.name_hint)))]
    } else if let Some(constructor) = object.downcast_ref::<Constructor>() {
        vec![text(plain_name(&constructor.name_hint))]
    } else if let Some(constant) = object.downcast_ref::<Constant>() {
        vec![literals::constant(&constant.data)]
    } else {
        let get = object.downcast_ref::<TupleGetItem>()?;
        let index = text(format!(".{}", get.index));
        vec![Piece::Part((&get.tuple_value).into()), index]
    };
    Some((pieces, false))
}

fn computation(object: &Ref<Obj>) -> Option<(Pieces, bool)> {
    let pieces = if let Some(called) = object.downcast_ref::<Call>() {
        call(called)
    } else if let Some(values) = object.downcast_ref::<Tuple>() {
        let pieces = tuple(values.fields.iter());
        return Some((pieces, !values.fields.is_empty()));
    } else if let Some(func) = object.downcast_ref::<Function>() {
        function("fn ", func)
    } else if let Some(bound) = object.downcast_ref::<Let>() {
        let mut pieces = vec![text("let ")];
        pieces.extend(binding(bound.var.as_object()));
        pieces.extend([text(" = "), Piece::Bound((&bound.value).into())]);
        pieces.push(Piece::Rest((&bound.body).into()));
        pieces
    } else if let Some(choice) = object.downcast_ref::<If>() {
        let mut pieces = vec![text("if ("), Piece::Part((&choice.cond).into()), text(") ")];
        pieces.extend([Piece::Block((&choice.true_branch).into()), text(" else ")]);
        pieces.push(Piece::Block((&choice.false_branch).into()));
        pieces
    } else if let Some(cases) = object.downcast_ref::<Match>() {
        let open = if cases.complete {
            "match ("
        } else {
            "match? ("
        };
        let mut pieces = vec![text(open), Piece::Part((&cases.data).into()), text(") {")];
        pieces.push(Piece::Indent);
        for clause in cases.clauses.iter() {
            pieces.extend([Piece::Line, Piece::Part(clause.into()), text(",")]);
        }
        pieces.extend([Piece::Dedent, Piece::Line, text("}")]);
        pieces
    } else if let Some(reference) = object.downcast_ref::<RefCreate>() {
        listed("ref(", [&reference.value], ")")
    } else if let Some(read) = object.downcast_ref::<RefRead>() {
        listed("ref_read(", [&read.reference], ")")
    } else {
        let write = object.downcast_ref::<RefWrite>()?;
        listed("ref_write(", [&write.reference, &write.value], ")")
    };
    Some((pieces, true))
}

/// A call. The type arguments of operators follow from the arguments.
fn call(call: &Call) -> Pieces {
    let mut pieces = vec![Piece::Part((&call.op).into())];
    if !call.type_args().is_empty() && !is_primitive_op(&call.op) {
        pieces.extend(listed("[", call.type_args().iter(), "]"));
    }
    pieces.extend(listed("(", call.args.iter(), ""));
    if let Some(attrs) = &call.attrs {
        add_attributes(&mut pieces, attrs, !call.args.is_empty());
    }
    pieces.push(text(")"));
    pieces
}

/// The attributes that differ from their defaults, as `name=value`.
pub(super) fn add_attributes(pieces: &mut Pieces, attrs: &Ref<Attrs>, mut follows: bool) {
    let mut add = |name: String, value: Value| {
        let comma = if std::mem::replace(&mut follows, true) {
            ", "
        } else {
            ""
        };
        pieces.extend([text(format!("{comma}{name}=")), Piece::Part(value)]);
    };
    if let Some(attrs) = attrs.downcast_ref::<DictAttrs>() {
        // The order of keys makes no difference in comparison.
        let mut entries: Vec<_> = attrs.dict.iter().collect();
        entries.sort_by_key(|(key, _)| &***key);
        for (key, value) in entries {
            add(plain_name(key), value.clone());
        }
    } else if variable(attrs.as_object()).is_some() {
        add("attrs".to_owned(), attrs.into());
    } else {
        for (name, value) in fields(attrs.as_object()) {
            add(name, value);
        }
    }
}

/// A function after a keyword, or after its name in a module.
pub(super) fn function(head: impl Into<Cow<'static, str>>, func: &Function) -> Pieces {
    let mut pieces = vec![text(head)];
    pieces.extend(type_parameters(func.type_params.iter()));
    pieces.push(text("("));
    for (position, param) in func.params.iter().enumerate() {
        pieces.push(text(if position > 0 { ", " } else { "" }));
        pieces.extend(binding(param.as_object()));
    }
    if let Some(attrs) = &func.attrs {
        add_attributes(
            &mut pieces,
            &attrs.clone().upcast(),
            !func.params.is_empty(),
        );
    }
    pieces.push(text(")"));
    if let Some(ty) = &func.ret_type {
        pieces.extend([text(" -> "), Piece::Part(ty.into())]);
    }
    pieces.extend([text(" "), Piece::Block((&func.body).into())]);
    pieces
}

/// Type parameters in brackets; nothing without parameters.
pub(super) fn type_parameters<'a>(params: impl Iterator<Item = &'a Ref<TypeVar>>) -> Pieces {
    let mut pieces = Vec::new();
    for param in params {
        pieces.push(text(if pieces.is_empty() { "[" } else { ", " }));
        pieces.push(Piece::Binding(param.as_object().clone()));
    }
    if !pieces.is_empty() {
        pieces.push(text("]"));
    }
    pieces
}

fn type_data(data: &Ref<TypeData>) -> Pieces {
    let mut pieces = vec![text(format!("type {}", plain_name(&data.header.name_hint)))];
    pieces.extend(type_parameters(data.type_vars.iter()));
    pieces.extend([text(" {"), Piece::Indent]);
    for constructor in data.constructors.iter() {
        pieces.extend([Piece::Line, text(plain_name(&constructor.name_hint))]);
        if !constructor.inputs.is_empty() {
            pieces.extend(listed("(", constructor.inputs.iter(), ")"));
        }
        pieces.push(text(","));
    }
    pieces.extend([Piece::Dedent, Piece::Line, text("}")]);
    pieces
}

fn pattern(object: &Ref<Obj>) -> Option<Pieces> {
    if let Some(clause) = object.downcast_ref::<Clause>() {
        let mut pieces = vec![Piece::Part((&clause.lhs).into()), text(" => ")];
        pieces.push(Piece::Block((&clause.rhs).into()));
        return Some(pieces);
    }
    let pattern = object.downcast_ref::<Pattern>()?;
    if pattern.isa::<PatternWildcard>() {
        Some(vec![text("_")])
    } else if let Some(bound) = pattern.downcast_ref::<PatternVar>() {
        Some(binding(bound.var.as_object()))
    } else if let Some(values) = pattern.downcast_ref::<PatternTuple>() {
        Some(tuple(values.patterns.iter()))
    } else {
        let values = pattern.downcast_ref::<PatternConstructor>()?;
        let name = plain_name(&values.constructor.name_hint);
        Some(if values.patterns.is_empty() {
            vec![text(name)]
        } else {
            listed(format!("{name}("), values.patterns.iter(), ")")
        })
    }
}

fn entries(map: &Map) -> Pieces {
    let mut pieces = vec![text("{")];
    for (position, (key, value)) in map.iter().enumerate() {
        pieces.push(text(if position > 0 { ", " } else { "" }));
        pieces.extend([
            Piece::Part(key.clone()),
            text(": "),
            Piece::Part(value.clone()),
        ]);
    }
    pieces.push(text("}"));
    pieces
}

/// A node of any type: the type key with the fields that differ from their defaults.
fn by_fields(object: &Ref<Obj>) -> Pieces {
    let mut pieces = vec![text(format!("{}(", object.type_info().key()))];
    for (position, (name, value)) in fields(object).into_iter().enumerate() {
        let comma = if position > 0 { ", " } else { "" };
        pieces.extend([text(format!("{comma}{name}=")), Piece::Part(value)]);
    }
    pieces.push(text(")"));
    pieces
}

/// The visible fields that differ from their defaults, in order of declaration.
fn fields(object: &Ref<Obj>) -> Vec<(String, Value)> {
    let fields = object.type_info().fields().iter().enumerate();
    let shown = fields.filter(|(_, field)| field.is_shown() && field.name() != "span");
    let differing = shown.filter_map(|(index, field)| {
        let value = field_value_at(object, index)?;
        let default = field.make_default();
        // A value without a comparison, such as a function, counts as different.
        let is_default = default.is_some_and(|default| {
            default == value || structural_equal(&default, &value).unwrap_or(false)
        });
        (!is_default).then(|| (field.name().to_owned(), value))
    });
    differing.collect()
}
