//! Two passes over a small IR that know no node type, only traits: elimination
//! of dead code, and a simplification that uses four traits.
//!
//! `cargo run -p isoform --example four_traits` shows a program before and after.

use std::collections::HashSet;
use std::io::Write;

use isoform::attrs::node_trait;
use isoform::functions::Function;
use isoform::objects::{construct, field_value, with_field};
use isoform::traverse::{WalkResult, structural_walk};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Str, Value, attrs};

/// Computing it has no effect but its result.
#[node_trait("ir_trait.side_effect_free")]
pub trait SideEffectFree {}

/// `lhs` and `rhs` may be swapped.
#[node_trait("ir_trait.commutative")]
pub trait Commutative {}

/// Knows a simpler form of itself.
#[node_trait("ir_trait.has_canonicalizer")]
pub trait HasCanonicalizer {
    /// The simpler form; None for a node that is simple already.
    fn canonicalize(&self) -> Result<Option<Ref<Obj>>>;
}

/// May become a part of a larger kernel.
#[node_trait("ir_trait.fusible")]
pub trait Fusible {
    /// The name of the kernel.
    fn kernel(&self) -> Result<Str>;

    /// Returns whether the next operation may join it.
    fn accepts(&self, next: &Ref<Obj>) -> Result<bool> {
        let _ = next;
        Ok(true)
    }
}

/// A variable.
#[derive(Node)]
#[node(key = "four_traits.Var", kind = var)]
#[repr(C)]
pub struct Var {
    /// For people.
    #[node(ignore)]
    pub name: Str,
}

/// A number.
#[derive(Node)]
#[node(key = "four_traits.Const", attrs(dyn SideEffectFree))]
#[repr(C)]
pub struct Const {
    /// Its value.
    pub value: i64,
}

impl SideEffectFree for Const {}

/// A sum.
#[derive(Node)]
#[node(
    key = "four_traits.Add",
    attrs(dyn SideEffectFree, dyn Commutative, dyn HasCanonicalizer, dyn Fusible)
)]
#[repr(C)]
pub struct Add {
    /// One operand.
    pub lhs: Ref<Obj>,
    /// The other.
    pub rhs: Ref<Obj>,
}

impl SideEffectFree for Add {}
impl Commutative for Add {}

impl HasCanonicalizer for Add {
    fn canonicalize(&self) -> Result<Option<Ref<Obj>>> {
        let number = |operand: &Ref<Obj>| Some(operand.downcast_ref::<Const>()?.value);
        Ok(match (number(&self.lhs), number(&self.rhs)) {
            (Some(lhs), Some(rhs)) => {
                let sum = lhs.checked_add(rhs);
                let sum = sum.ok_or_else(|| Error::value_error(format!("{lhs} + {rhs} overflows")));
                Some(Const::new(sum?).into_object())
            }
            // Numbers come last, because an Add is commutative.
            (_, Some(0)) => Some(self.lhs.clone()),
            _ => None,
        })
    }
}

impl Fusible for Add {
    fn kernel(&self) -> Result<Str> {
        Ok("add".into())
    }
}

/// Prints its operand.
#[derive(Node)]
#[node(key = "four_traits.Print")]
#[repr(C)]
pub struct Print {
    /// The value to print.
    pub value: Ref<Obj>,
}

/// Gives a value a name.
#[derive(Node)]
#[node(key = "four_traits.Bind")]
#[repr(C)]
pub struct Bind {
    /// The name, bound from here on.
    #[node(def)]
    pub var: Ref<Var>,
    /// The value of the name.
    pub value: Ref<Obj>,
}

/// Bindings, one after the other, and a result.
#[derive(Node)]
#[node(key = "four_traits.Block", scope)]
#[repr(C)]
pub struct Block {
    /// In order of execution.
    pub bindings: Array<Ref<Bind>>,
    /// The result of the block.
    pub result: Ref<Obj>,
}

/// Adds the variables that a node refers to.
fn collect_variables(node: &Ref<Obj>, used: &mut HashSet<u64>) -> Result<()> {
    structural_walk(node, |visit| {
        used.extend(visit.downcast::<Var>().map(Ref::identity));
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(())
}

/// The block without bindings that nobody needs.
///
/// # Errors
///
/// `ValueError` for a value that contains itself.
pub fn eliminate_dead_code(block: &Block) -> Result<Ref<Block>> {
    let mut used = HashSet::new();
    collect_variables(&block.result, &mut used)?;
    let mut kept = Vec::new();
    for bind in block.bindings.iter().rev() {
        let needed = used.contains(&bind.var.identity());
        if !needed && bind.value.implements::<dyn SideEffectFree>().is_some() {
            continue;
        }
        collect_variables(&bind.value, &mut used)?;
        kept.push(bind.clone());
    }
    kept.reverse();
    Ok(block.with_bindings(kept))
}

/// A commutative operation with its number last, where the others look for it.
fn order_operands(node: Ref<Obj>) -> Result<Ref<Obj>> {
    if node.implements::<dyn Commutative>().is_none() {
        return Ok(node);
    }
    let is_number = |operand: &Value| {
        let object = operand.as_object();
        object.is_some_and(|object| object.isa::<Const>())
    };
    let (lhs, rhs) = (field_value(&node, "lhs")?, field_value(&node, "rhs")?);
    if is_number(&rhs) || !is_number(&lhs) {
        return Ok(node);
    }
    with_field(&with_field(&node, "lhs", rhs)?, "rhs", lhs)
}

/// The block with operands in order, every operation in its simplest form, and
/// dead code removed.
///
/// # Errors
///
/// Those of the canonicalizers.
pub fn simplify(block: &Block) -> Result<Ref<Block>> {
    let mut bindings = Vec::new();
    for bind in block.bindings.iter() {
        let value = order_operands(bind.value.clone())?;
        let simpler = match value.implements::<dyn HasCanonicalizer>() {
            Some(rule) => rule.canonicalize()?,
            None => None,
        };
        bindings.push(bind.with_value(simpler.unwrap_or(value)));
    }
    eliminate_dead_code(&block.with_bindings(bindings))
}

/// The kernels of a block: operations that follow each other and may be fused.
///
/// # Errors
///
/// Those of the operations.
pub fn kernels(block: &Block) -> Result<Vec<String>> {
    let mut kernels: Vec<String> = Vec::new();
    // Whether the last kernel takes the operation that comes.
    let mut is_open = false;
    let followers = block.bindings.iter().skip(1).map(Some).chain([None]);
    for (bind, next) in block.bindings.iter().zip(followers) {
        let Some(operation) = bind.value.implements::<dyn Fusible>() else {
            is_open = false;
            continue;
        };
        let name = operation.kernel()?;
        match kernels.last_mut() {
            Some(kernel) if is_open => *kernel = format!("{kernel}_{name}"),
            _ => kernels.push(name.to_string()),
        }
        is_open = match next {
            Some(next) => operation.accepts(&next.value)?,
            None => false,
        };
    }
    Ok(kernels)
}

/// A type that is not declared in Rust, with traits that no Rust code
/// implements: what another language does.
///
/// # Errors
///
/// `ValueError` when the key is taken.
pub fn register_relu() -> Result<TypeIndex> {
    let operand = |arguments: &[Value]| match arguments.first().and_then(Value::as_object) {
        Some(node) => field_value(node, "operand"),
        None => Err(Error::type_error("expected a node")),
    };
    let canonicalize = Function::new(move |arguments| {
        let operand = operand(arguments)?;
        let number = operand.as_object().and_then(Ref::downcast_ref::<Const>);
        Ok(match number {
            Some(number) => Const::new(number.value.max(0)).into(),
            None => Value::NONE,
        })
    });
    let kernel = Function::new(|_| Ok("relu".into()));
    let accepts = Function::new(|_| Ok(false.into()));
    let fusible: Map = [("kernel", kernel), ("accepts", accepts)]
        .into_iter()
        .map(|(name, function)| (Value::from(name), Value::from(function)))
        .collect();
    let relu = TypeDef::new("four_traits.Relu")
        .field(FieldDef::new("operand", Schema::named("isoform.Object")))
        .attr("ir_trait.side_effect_free", true)
        .attr("ir_trait.has_canonicalizer", canonicalize)
        .attr("ir_trait.fusible", fusible);
    // The traits check these values from now on, also when no Rust type was
    // used before.
    attrs::declare_trait::<dyn SideEffectFree>()?;
    attrs::declare_trait::<dyn HasCanonicalizer>()?;
    attrs::declare_trait::<dyn Fusible>()?;
    register_type(relu)
}

/// A program with something to do for every pass.
///
/// # Errors
///
/// Those of [`register_relu`].
pub fn program() -> Result<Ref<Block>> {
    let relu = register_relu()?;
    let number = |value: i64| Const::new(value).into_object();
    let [a, b, c, d, e, f, x] = ["a", "b", "c", "d", "e", "f", "x"].map(Var::new);
    let add = |lhs: &Ref<Obj>, rhs: &Ref<Obj>| Add::new(lhs, rhs).into_object();
    let bind = |var: &Ref<Var>, value: Ref<Obj>| Bind::new(var, value);
    let relu = |operand: &Ref<Var>| construct(relu, vec![operand.into()]);
    let bindings = [
        bind(&a, add(&number(1), &number(2))),
        bind(&b, add(&number(0), x.as_object())),
        bind(&c, add(b.as_object(), x.as_object())),
        bind(&d, relu(&c)?),
        bind(&e, add(d.as_object(), &number(7))),
        bind(&f, Print::new(a.as_object()).into_object()),
    ];
    Ok(Block::new(bindings, d.into_object()))
}

#[allow(dead_code, reason = "the tests include this file as a module")]
fn main() -> Result<()> {
    let mut out = std::io::stdout().lock();
    let before = program()?;
    writeln!(out, "before:")?;
    show(&before, &mut out)?;
    let after = simplify(&before)?;
    writeln!(out, "after:")?;
    show(&after, &mut out)?;
    writeln!(out, "kernels: {}", kernels(&after)?.join(", "))?;
    Ok(())
}

/// One line per binding.
///
/// # Errors
///
/// `OSError` when nothing can be written.
pub fn show(block: &Block, out: &mut dyn Write) -> Result<()> {
    for bind in block.bindings.iter() {
        writeln!(out, "  {} = {}", bind.var.name, text(&bind.value)?)?;
    }
    writeln!(out, "  {}", text(&block.result)?)?;
    Ok(())
}

/// An operation with its operands, which are variables and numbers.
fn text(node: &Ref<Obj>) -> Result<String> {
    if let Some(var) = node.downcast_ref::<Var>() {
        return Ok(var.name.to_string());
    }
    if let Some(number) = node.downcast_ref::<Const>() {
        return Ok(number.value.to_string());
    }
    let info = node.type_info();
    let mut operands = Vec::new();
    for field in info.fields() {
        let operand = field_value(node, field.name())?;
        operands.push(match operand.as_object() {
            Some(operand) if operand.isa::<Var>() || operand.isa::<Const>() => text(operand)?,
            _ => format!("{operand:?}"),
        });
    }
    let name = info.key().rsplit('.').next().unwrap_or_default();
    Ok(format!("{name}({})", operands.join(", ")))
}
