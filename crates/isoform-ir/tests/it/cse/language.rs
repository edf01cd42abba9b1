//! A language of expressions and statements, with rules declared by attributes.

use isoform::functions::Function;
use isoform::traverse::{BINDING, PURE};
use isoform::{Array, Map, Node, Ref, Result, Str, Value, attrs};
use isoform_ir::transform::cse::{
    CONDITIONAL, FORM, MAY_FAIL, NEW_BINDING, NEW_SEQUENCE, REPEATABLE, SEQUENCE,
};

/// A variable of a dataflow graph.
#[derive(Node)]
#[node(key = "cse.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(ignore)]
    pub(crate) name: Str,
}

/// A node of a dataflow graph: two equal ones are two computations.
#[derive(Node)]
#[node(key = "cse.Op", kind = dag)]
#[repr(C)]
pub(crate) struct Op {
    pub(crate) name: Str,
    pub(crate) inputs: Array<Value>,
}

/// A function.
#[derive(Node)]
#[node(key = "cse.Lambda", scope)]
#[repr(C)]
pub(crate) struct Lambda {
    #[node(def)]
    pub(crate) params: Array<Ref<Var>>,
    pub(crate) body: Value,
}

/// A conditional; only the chosen branch is evaluated.
#[derive(Node)]
#[node(key = "cse.If")]
#[repr(C)]
pub(crate) struct If {
    pub(crate) cond: Value,
    pub(crate) then_value: Value,
    pub(crate) else_value: Value,
}

/// A variable of statements.
#[derive(Node)]
#[node(key = "cse.Name", kind = var)]
#[repr(C)]
pub(crate) struct Name {
    #[node(ignore)]
    pub(crate) name: Str,
}

/// An integer.
#[derive(Node)]
#[node(key = "cse.Int")]
#[repr(C)]
pub(crate) struct Int {
    pub(crate) value: i64,
}

/// An operation: `add` and `mul`, `tick`, which counts its calls, and `or`, which computes the
/// second operand only if the first is zero.
#[derive(Node)]
#[node(key = "cse.Apply")]
#[repr(C)]
pub(crate) struct Apply {
    pub(crate) op: Str,
    pub(crate) left: Value,
    pub(crate) right: Value,
}

/// A sum of any number of operands.
#[derive(Node)]
#[node(key = "cse.Sum")]
#[repr(C)]
pub(crate) struct Sum {
    pub(crate) items: Array<Value>,
}

/// An operation that may leave out the right operand.
#[derive(Node)]
#[node(key = "cse.Either")]
#[repr(C)]
pub(crate) struct Either {
    pub(crate) left: Value,
    pub(crate) right: Value,
}

/// A statement that binds a variable.
#[derive(Node)]
#[node(key = "cse.Assign")]
#[repr(C)]
pub(crate) struct Assign {
    #[node(def)]
    pub(crate) var: Ref<Name>,
    pub(crate) value: Value,
}

/// A statement that prints.
#[derive(Node)]
#[node(key = "cse.Print")]
#[repr(C)]
pub(crate) struct Print {
    pub(crate) value: Value,
}

/// Statements in order.
#[derive(Node)]
#[node(key = "cse.Seq")]
#[repr(C)]
pub(crate) struct Seq {
    pub(crate) stmts: Array<Value>,
}

/// A statement run a number of times, possibly zero.
#[derive(Node)]
#[node(key = "cse.Repeat")]
#[repr(C)]
pub(crate) struct Repeat {
    pub(crate) count: Value,
    pub(crate) body: Value,
}

/// A function of statements.
#[derive(Node)]
#[node(key = "cse.Func", scope)]
#[repr(C)]
pub(crate) struct Func {
    #[node(def)]
    pub(crate) params: Array<Ref<Name>>,
    pub(crate) body: Value,
}

/// Declares the rules, once.
pub(crate) fn declare() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| declared().expect("the attributes are new"));
}

fn declared() -> Result<()> {
    let op_is = |names: &'static [&'static str]| {
        Value::from(Function::new(move |arguments| {
            let op: Ref<Op> = arguments[0].extract()?;
            Ok(names.contains(&op.name.as_str()).into())
        }))
    };
    let pure = ["add", "mul", "div", "a", "b", "two"];
    attrs::set(Op::type_index(), PURE, op_is(Box::leak(Box::new(pure))))?;
    attrs::set(Op::type_index(), MAY_FAIL, op_is(&["div"]))?;
    let branches = ["then_value", "else_value"].map(Str::from);
    attrs::set(
        If::type_index(),
        CONDITIONAL,
        Array::from(branches.to_vec()),
    )?;

    for ty in [Name::type_index(), Int::type_index()] {
        attrs::set(ty, FORM, "expression")?;
    }
    let bind = Function::typed(|value: Value, number: i64| {
        Assign::new(Name::new(format!("t{number}")), value)
    });
    for ty in [Apply::type_index(), Sum::type_index(), Either::type_index()] {
        attrs::set(ty, FORM, "computation")?;
        attrs::set(ty, NEW_BINDING, bind.clone())?;
        attrs::set(ty, PURE, true)?;
    }
    let repeatable = Function::typed(|apply: Ref<Apply>| apply.op.as_str() != "tick");
    attrs::set(Apply::type_index(), REPEATABLE, repeatable)?;
    attrs::set(Int::type_index(), PURE, true)?;
    attrs::set(
        Either::type_index(),
        CONDITIONAL,
        Array::from(vec![Str::from("right")]),
    )?;
    let sequence = Function::typed(|stmts: Array<Value>| Seq::new(stmts));
    for ty in [
        Assign::type_index(),
        Print::type_index(),
        Seq::type_index(),
        Repeat::type_index(),
    ] {
        attrs::set(ty, FORM, "statement")?;
        attrs::set(ty, NEW_SEQUENCE, sequence.clone())?;
    }
    attrs::set(Seq::type_index(), SEQUENCE, "stmts")?;
    let fields = [("var", "var"), ("value", "value")];
    let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
    let fields: Map<Str, Str> = fields.into_iter().collect();
    attrs::set(Assign::type_index(), BINDING, fields)
}
