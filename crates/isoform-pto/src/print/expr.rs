//! Expressions and the values of attributes.

use super::printer::{Printer, Task};
use crate::*;
use isoform::traverse::children_of;
use isoform::types::{NodeEnum, RegionKind};
use isoform::values::ValueRef;
use isoform::{Map, Obj, Ref, Value};

// The precedence of Python's operators; an operand with a lower precedence than its
// position requires is put in parentheses.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const BIT_OR: u8 = 5;
const BIT_XOR: u8 = 6;
const BIT_AND: u8 = 7;
const SHIFT: u8 = 8;
const SUM: u8 = 9;
const PRODUCT: u8 = 10;
const SIGN: u8 = 11;
const POWER: u8 = 12;
const ATOM: u8 = 13;

/// The spelling of an operation.
enum Spelling {
    /// Between its operands: its precedence, and the minimum precedence of the left and the
    /// right operand.
    Infix(&'static str, u8, u8, u8),
    /// Before its operand.
    Prefix(&'static str, u8),
    /// As a function of the language.
    Function(&'static str),
}

fn spelling(op: &Ref<Expr>) -> Spelling {
    use Spelling::{Function, Infix, Prefix};
    let left = |sign, binding| Infix(sign, binding, binding, binding + 1);
    // In Python `a < b < c` means something else than `(a < b) < c`.
    let alone = |sign| Infix(sign, COMPARE, COMPARE + 1, COMPARE + 1);
    match op.type_info().key() {
        "pto.Add" => left("+", SUM),
        "pto.Sub" => left("-", SUM),
        "pto.Mul" => left("*", PRODUCT),
        "pto.FloorDiv" => left("//", PRODUCT),
        "pto.FloorMod" => left("%", PRODUCT),
        "pto.FloatDiv" => left("/", PRODUCT),
        "pto.Pow" => Infix("**", POWER, ATOM, SIGN),
        "pto.Min" => Function("min"),
        "pto.Max" => Function("max"),
        "pto.Eq" => alone("=="),
        "pto.Ne" => alone("!="),
        "pto.Lt" => alone("<"),
        "pto.Le" => alone("<="),
        "pto.Gt" => alone(">"),
        "pto.Ge" => alone(">="),
        "pto.And" => left("and", AND),
        "pto.Or" => left("or", OR),
        "pto.Xor" => Function("xor"),
        "pto.BitAnd" => left("&", BIT_AND),
        "pto.BitOr" => left("|", BIT_OR),
        "pto.BitXor" => left("^", BIT_XOR),
        "pto.BitShiftLeft" => left("<<", SHIFT),
        "pto.BitShiftRight" => left(">>", SHIFT),
        "pto.Neg" => Prefix("-", SIGN),
        "pto.BitNot" => Prefix("~", SIGN),
        "pto.Not" => Prefix("not ", NOT),
        "pto.Abs" => Function("abs"),
        "pto.Cast" => Function("cast"),
        _ => Function("call"),
    }
}

impl Printer<'_> {
    /// An expression where something must bind at least this tightly.
    pub(super) fn operand(&mut self, expr: &Ref<Expr>, least: u8) {
        if !self.by_name(expr.as_object()) {
            self.expr(expr, least);
        }
    }

    /// A part with a name, after writing the name.
    pub(super) fn unnamed(&mut self, node: &Ref<Obj>) {
        if let Some(expr) = node.downcast_ref::<Expr>() {
            self.expr(expr, 0);
        } else if let Some(ty) = node.downcast_ref::<Type>() {
            self.bare_type(ty);
        }
    }

    fn expr(&mut self, expr: &Ref<Expr>, least: u8) {
        if let Some(var) = expr.downcast_ref::<Var>() {
            self.var(var);
        } else if let Some(number) = expr.downcast_ref::<ConstInt>() {
            let (value, dtype) = (number.value, number.scalar_dtype());
            let plain = matches!(
                dtype,
                None | Some(DataType::DEFAULT_CONST_INT | DataType::Index)
            );
            self.number(&value.to_string(), value < 0, plain, dtype, least);
        } else if let Some(number) = expr.downcast_ref::<ConstFloat>() {
            let (value, dtype) = (number.value, number.scalar_dtype());
            let plain = matches!(dtype, None | Some(DataType::DEFAULT_CONST_FLOAT));
            let negative = value.is_sign_negative() && !value.is_nan();
            self.number(&float(value), negative, plain, dtype, least);
        } else if let Some(truth) = expr.downcast_ref::<ConstBool>() {
            self.out
                .push_str(if truth.value { "True" } else { "False" });
        } else if let Some(op) = expr.downcast_ref::<BinaryExpr>() {
            self.binary(expr, &op.left, &op.right, least);
        } else if let Some(op) = expr.downcast_ref::<UnaryExpr>() {
            self.unary(expr, &op.operand, least);
        } else if let Some(call) = expr.downcast_ref::<Call>() {
            self.call(call);
        } else if let Some(tuple) = expr.downcast_ref::<MakeTuple>() {
            let mut tasks = Self::operands(tuple.elements.iter());
            tasks.insert(0, "(".into());
            tasks.push(if tuple.elements.len() == 1 { ",)" } else { ")" }.into());
            self.then(tasks);
        } else if let Some(item) = expr.downcast_ref::<TupleGetItemExpr>() {
            self.then(vec![
                Task::Operand(item.tuple.clone(), ATOM),
                format!("[{}]", item.index).into(),
            ]);
        } else {
            self.constructor(expr);
        }
    }

    /// An expression of a class without syntax: its class, and its fields except the
    /// type.
    fn constructor(&mut self, expr: &Ref<Expr>) {
        let class = expr.type_info().key().rsplit('.').next();
        let children = children_of(expr);
        let is_type = |value: &Value| value.as_object().is_some_and(|it| it.isa::<Type>());
        let parts = children.iter(RegionKind::Use).map(|child| child.value);
        let mut tasks = Self::joined(parts.filter(|it| !is_type(it)).map(Task::Value));
        tasks.insert(0, format!("{}(", class.unwrap_or_default()).into());
        tasks.push(")".into());
        self.then(tasks);
    }

    pub(super) fn var(&mut self, var: &Ref<Var>) {
        let (name, is_new) = self.names.of(var.identity(), &var.name_hint);
        let name = name.to_owned();
        match var.downcast_ref::<MemRef>().filter(|_| is_new) {
            None => self.out.push_str(&name),
            Some(memory) => self.memory_reference(&name, memory),
        }
    }

    /// A memory reference at its first occurrence.
    fn memory_reference(&mut self, name: &str, memory: &Ref<MemRef>) {
        let mut tasks: Vec<Task> = vec![format!("({name} := {}(", self.language("MemRef")).into()];
        match &memory.base {
            Some(base) => {
                tasks.push(Task::Operand(base.clone().upcast(), 0));
                tasks.push(", ".into());
                tasks.push(Task::Operand(memory.byte_offset.clone(), 0));
                tasks.push(format!(", {}", memory.size).into());
            }
            None => tasks.push(format!("{:?}", &*memory.name_hint).into()),
        }
        if memory.is_pinned {
            tasks.push(", is_pinned=True".into());
        }
        if memory.slots != 1 {
            tasks.push(format!(", slots={}", memory.slots).into());
        }
        if let Some(slot) = &memory.slot {
            tasks.push(", slot=".into());
            tasks.push(Task::Operand(slot.clone(), 0));
        }
        tasks.push("))".into());
        self.then(tasks);
    }

    /// A number; written as a call of the data type, unless the data type is the
    /// default.
    fn number(
        &mut self,
        text: &str,
        negative: bool,
        plain: bool,
        dtype: Option<DataType>,
        least: u8,
    ) {
        let name = dtype.map_or("", DataType::name);
        let text = match (plain, negative && least > SIGN) {
            (false, _) => format!("{}({text})", self.language(name)),
            (true, true) => format!("({text})"),
            (true, false) => text.to_owned(),
        };
        self.out.push_str(&text);
    }

    fn binary(&mut self, op: &Ref<Expr>, left: &Ref<Expr>, right: &Ref<Expr>, least: u8) {
        match spelling(op) {
            Spelling::Infix(sign, binding, of_left, of_right) => {
                let mut tasks = vec![
                    Task::Operand(left.clone(), of_left),
                    format!(" {sign} ").into(),
                    Task::Operand(right.clone(), of_right),
                ];
                if binding < least {
                    tasks.insert(0, "(".into());
                    tasks.push(")".into());
                }
                self.then(tasks);
            }
            Spelling::Function(name) | Spelling::Prefix(name, _) => {
                let name = self.language(name);
                self.then(vec![
                    format!("{name}(").into(),
                    Task::Operand(left.clone(), 0),
                    ", ".into(),
                    Task::Operand(right.clone(), 0),
                    ")".into(),
                ]);
            }
        }
    }

    fn unary(&mut self, op: &Ref<Expr>, operand: &Ref<Expr>, least: u8) {
        if let Spelling::Prefix(sign, binding) = spelling(op) {
            let mut tasks = vec![sign.into(), Task::Operand(operand.clone(), binding)];
            if binding < least {
                tasks.insert(0, "(".into());
                tasks.push(")".into());
            }
            return self.then(tasks);
        }
        let name = match spelling(op) {
            Spelling::Function(name) => self.language(name),
            _ => String::new(),
        };
        let mut tasks = vec![format!("{name}(").into(), Task::Operand(operand.clone(), 0)];
        if op.isa::<Cast>() {
            tasks.push(", ".into());
            tasks.push(Task::Type(op.ty.clone()));
        }
        tasks.push(")".into());
        self.then(tasks);
    }

    fn call(&mut self, call: &Ref<Call>) {
        let name = if call.op.isa::<GlobalVar>() {
            format!("self.{}", super::names::cleaned(&call.op.name))
        } else {
            self.language(&call.op.name)
        };
        let mut arguments = Self::operands(call.args.iter());
        for (name, value) in by_name(&call.kwargs) {
            if !arguments.is_empty() {
                arguments.push(", ".into());
            }
            arguments.push(format!("{name}=").into());
            arguments.push(Task::Value(value));
        }
        let attrs = by_name(&call.attrs);
        if !attrs.is_empty() {
            if !arguments.is_empty() {
                arguments.push(", ".into());
            }
            arguments.push("attrs=".into());
            arguments.push(Task::Value(call.attrs.clone().into()));
        }
        arguments.insert(0, format!("{name}(").into());
        arguments.push(")".into());
        self.then(arguments);
    }

    fn operands<'e>(items: impl Iterator<Item = &'e Ref<Expr>>) -> Vec<Task> {
        Self::joined(items.map(|item| Task::Operand(item.clone(), 0)))
    }

    /// The value of an attribute.
    pub(super) fn value(&mut self, value: &Value) {
        let text = match value.view() {
            ValueRef::None => "None".to_owned(),
            ValueRef::Bool(truth) => if truth { "True" } else { "False" }.to_owned(),
            ValueRef::Int(number) => number.to_string(),
            ValueRef::Float(number) => float(number),
            ValueRef::Str(text) => format!("{text:?}"),
            _ if let Some(items) = value.as_array() => {
                let mut tasks = Self::joined(items.iter().cloned().map(Task::Value));
                tasks.insert(0, "[".into());
                tasks.push("]".into());
                return self.then(tasks);
            }
            _ if let Some(map) = value.as_map() => return self.map(map),
            _ => match value.as_object() {
                Some(object) => return self.object(object),
                None => format!("{value:?}"),
            },
        };
        self.out.push_str(&text);
    }

    fn map(&mut self, map: &Map) {
        let mut tasks: Vec<Task> = vec!["{".into()];
        for (position, (name, value)) in entries(map).into_iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            tasks.push(format!("{comma}{name}: ").into());
            tasks.push(Task::Value(value));
        }
        tasks.push("}".into());
        self.then(tasks);
    }

    fn object(&mut self, object: &Ref<Obj>) {
        if let Some(expr) = object.downcast_ref::<Expr>() {
            self.operand(expr, 0);
        } else if let Some(ty) = object.downcast_ref::<Type>() {
            self.ty(ty);
        } else {
            let text = self.choice(object).unwrap_or_else(|| format!("{object:?}"));
            self.out.push_str(&text);
        }
    }

    /// A member of an enum: `pl.PadValue.zero`, and a data type as `pl.INT64`.
    pub(super) fn choice(&self, object: &Ref<Obj>) -> Option<String> {
        let info = object.type_info();
        isoform::attrs::get(info.index(), "enum.members", isoform::attrs::Lookup::Exact)?;
        let name = isoform::objects::field_value(object, "name").ok()?;
        let name = name.as_str()?;
        let class = info.key().rsplit('.').next().unwrap_or_default();
        Some(match class {
            "DataType" => self.language(name),
            _ => self.language(&format!("{class}.{name}")),
        })
    }
}

/// The entries of attributes, sorted by name.
fn by_name(map: &Map<isoform::Str, Value>) -> Vec<(String, Value)> {
    let mut entries: Vec<_> = map
        .iter()
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    entries
}

/// The entries of any map in an order that does not depend on insertion.
fn entries(map: &Map) -> Vec<(String, Value)> {
    let mut entries: Vec<_> = map
        .iter()
        .map(|(key, value)| (format!("{key:?}"), value.clone()))
        .collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    entries
}

/// A float in the form of Python.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "float(\"nan\")".to_owned();
    }
    if value.is_infinite() {
        return format!("float(\"{}inf\")", if value < 0.0 { "-" } else { "" });
    }
    // The shortest text that reads back as the same number, with a point.
    format!("{value:?}")
}
