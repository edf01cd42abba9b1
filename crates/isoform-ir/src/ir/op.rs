//! Operators: named once per process; any library can add descriptions and attributes.
//!
//! An operator is a unique object of kind `singleton` for its name, and files refer to
//! the operator by name. The attributes are an [`AttrTable`] indexed by operator, like
//! the attributes of types in a table indexed by type; a second table holds the
//! priorities of the attributes.
//!
//! An operator is never unregistered, and its name has only one object.

use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use isoform::errors::ErrorKind;
use isoform::functions::{Function, global_function, register_function};
use isoform::plumbing::AttrTable;
use isoform::types::register_singleton;
use isoform::{Array, Error, Node, Ref, Result, Str, Value, export};

use super::attrs::AttrFieldInfo;
use super::expr::{RelayExpr, Type};
use super::generic::{EnvFunc, FuncType, TypeRelation, TypeVar};

/// An operator of the IR: every name has one object.
#[derive(Node)]
#[node(key = "ir.Op", kind = singleton, init = refuse_op, no_new, no_with)]
#[repr(C)]
pub struct Op {
    #[node(base)]
    base: RelayExpr,
    /// The name.
    pub name: Str,
}

/// Operators are found, not made: always raises RuntimeError.
#[export("ir.Op")]
fn refuse_op() -> Result<Ref<Op>> {
    Err(Error::new(
        ErrorKind::Runtime,
        "Cannot create op, use get instead",
    ))
}

/// The descriptions of all operators.
#[derive(Clone)]
struct OpInfo {
    op: Ref<Op>,
    op_type: Option<Ref<FuncType>>,
    description: Str,
    arguments: Vec<Ref<AttrFieldInfo>>,
    attrs_type_key: Str,
    num_inputs: i64,
    support_level: i64,
}

type Registry = IndexMap<Box<str>, OpInfo, rapidhash::fast::RandomState>;

/// No user code runs while the lock is held, and no other lock is waited for.
fn registry() -> MutexGuard<'static, Option<Registry>> {
    static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn describe(index: u32) -> String {
    let guard = registry();
    let name = guard.as_ref().and_then(|ops| ops.get_index(index as usize));
    name.map_or_else(String::new, |(name, _)| format!("operator {name}"))
}

/// The attributes of operators.
static ATTRIBUTES: AttrTable = AttrTable::new(describe);
/// The priorities of the attributes.
static PRIORITIES: AttrTable = AttrTable::new(describe);
/// Held while setting an attribute together with its priority.
static SETTING: Mutex<()> = Mutex::new(());

/// The priority of an attribute set without a priority.
pub(super) const DEFAULT_PRIORITY: i64 = 10;

/// An operator in the registry, to be described further.
///
/// ```
/// use isoform_ir::register_op;
///
/// let relu = register_op!("doc.relu")?
///     .describe("Sets what is negative to zero")
///     .num_inputs(1)
///     .argument("data", "Tensor", "The input")
///     .attr("TOpIsStateful", false, 10)?;
/// assert_eq!(relu.op().attribute("TOpIsStateful"), Some(&false.into()));
/// // A higher priority wins, whoever comes first.
/// let relu = relu.attr("TOpIsStateful", true, 11)?.attr("TOpIsStateful", false, 9)?;
/// assert_eq!(relu.op().attribute("TOpIsStateful"), Some(&true.into()));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OpRegistry {
    op: Ref<Op>,
    index: u32,
}

/// Finds or adds an operator of the registry; begins the description of the operator.
///
/// See [`OpRegistry`](crate::ir::OpRegistry).
#[macro_export]
macro_rules! register_op {
    ($name:expr) => {
        $crate::ir::OpRegistry::get_or_register($name)
    };
}

/// An attribute of an operator.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AttributeInfo {
    /// The value.
    pub value: &'static Value,
    /// The priority of the value.
    pub priority: i64,
}

impl OpRegistry {
    /// Finds or adds an operator.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name.
    pub fn get_or_register(name: &str) -> Result<OpRegistry> {
        if name.is_empty() {
            return Err(Error::value_error("an operator needs a name"));
        }
        if let Some(registry) = OpRegistry::find(name) {
            return Ok(registry);
        }
        // Makes sure that files also find an operator found in the registry.
        static ADDING: Mutex<()> = Mutex::new(());
        let guard = ADDING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(registry) = OpRegistry::find(name) {
            return Ok(registry);
        }
        let op = Ref::new(Op {
            base: RelayExpr::default(),
            name: name.into(),
        });
        register_singleton(&op)?;
        let facts = OpInfo {
            op,
            op_type: None,
            description: Str::default(),
            arguments: Vec::new(),
            attrs_type_key: Str::default(),
            num_inputs: -1,
            support_level: 10,
        };
        registry()
            .get_or_insert_default()
            .insert(name.into(), facts);
        drop(guard);
        OpRegistry::find(name).ok_or_else(|| not_registered(name))
    }

    /// The operator of a registered name.
    fn find(name: &str) -> Option<OpRegistry> {
        let guard = registry();
        let (index, _, facts) = guard.as_ref()?.get_full(name)?;
        Some(OpRegistry {
            op: facts.op.clone(),
            index: index as u32,
        })
    }

    /// The operator.
    pub fn op(&self) -> &Ref<Op> {
        &self.op
    }

    fn facts(&self) -> Option<OpInfo> {
        let guard = registry();
        Some(guard.as_ref()?.get_index(self.index as usize)?.1.clone())
    }

    fn change(self, change: impl FnOnce(&mut OpInfo)) -> Self {
        let mut guard = registry();
        let entry = guard
            .as_mut()
            .and_then(|ops| ops.get_index_mut(self.index as usize));
        if let Some((_, facts)) = entry {
            change(facts);
        }
        drop(guard);
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(self, text: &str) -> Self {
        self.change(|facts| facts.description = text.into())
    }

    /// Adds an argument with a name, a type as text, and a description.
    #[must_use]
    pub fn argument(self, name: &str, ty: &str, description: &str) -> Self {
        let info = AttrFieldInfo::new(name, ty, description);
        self.change(|facts| facts.arguments.push(info))
    }

    /// Sets the number of inputs.
    #[must_use]
    pub fn num_inputs(self, count: i64) -> Self {
        self.change(|facts| facts.num_inputs = count)
    }

    /// Sets the level of support; lower is more common.
    #[must_use]
    pub fn support_level(self, level: i64) -> Self {
        self.change(|facts| facts.support_level = level)
    }

    /// Sets the type key of the attributes of calls.
    #[must_use]
    pub fn attrs_type_key(self, key: &str) -> Self {
        self.change(|facts| facts.attrs_type_key = key.into())
    }

    /// Sets an attribute with a priority: the highest priority wins.
    ///
    /// # Errors
    ///
    /// `ValueError` for None, for an empty name, and for an attribute already set with
    /// the same priority.
    pub fn attr(self, name: &str, value: impl Into<Value>, priority: i64) -> Result<Self> {
        let value = value.into();
        if value.is_none() {
            return Err(Error::value_error(format!(
                "attribute '{name}' of operator {}: expected a value, got None",
                self.op.name
            )));
        }
        let guard = SETTING.lock().unwrap_or_else(PoisonError::into_inner);
        match self.attribute_info(name) {
            Some(previous) if previous.priority > priority => return Ok(self),
            Some(previous) if previous.priority == priority => {
                drop(guard);
                return Err(Error::value_error(format!(
                    "Attribute '{name}' of operator {} is already registered with the same \
                     plevel={priority}: is {:?}, got {value:?}",
                    self.op.name, previous.value
                )));
            }
            _ => {}
        }
        ATTRIBUTES.set(self.index, name, value, true, || {})?;
        PRIORITIES.set(self.index, name, priority.into(), true, || {})?;
        drop(guard);
        Ok(self)
    }

    /// Removes an attribute, if set.
    #[must_use]
    pub fn reset_attr(self, name: &str) -> Self {
        let guard = SETTING.lock().unwrap_or_else(PoisonError::into_inner);
        ATTRIBUTES.remove(self.index, name);
        PRIORITIES.remove(self.index, name);
        drop(guard);
        self
    }

    /// The value of an attribute and its priority.
    pub fn attribute_info(&self, name: &str) -> Option<AttributeInfo> {
        let value = ATTRIBUTES.find(name)?.get(self.index)?;
        let priority = PRIORITIES
            .find(name)
            .and_then(|all| all.get(self.index))
            .and_then(Value::as_int);
        Some(AttributeInfo {
            value,
            priority: priority.unwrap_or(DEFAULT_PRIORITY),
        })
    }

    /// Sets the type of the operator: a function type whose inputs and output are in a
    /// relation.
    ///
    /// The relation is the function under the global name
    /// `tvm.relay.type_relation.` and `name`, where `func` is registered if it
    /// is given.
    ///
    /// # Errors
    ///
    /// `KeyError` if no function has this name, `ValueError` if another function has
    /// the name of a given function.
    pub fn type_relation(self, name: &str, func: Option<Function>) -> Result<Self> {
        let global = format!("tvm.relay.type_relation.{name}");
        if let Some(func) = func {
            match global_function(&global) {
                Ok(previous) if previous.same_body(&func) => {}
                _ => register_function(&global, func, false)?,
            }
        }
        let func = EnvFunc::get(&global)?;
        let inputs = self.facts().map_or(0, |facts| facts.num_inputs.max(0));
        let inputs: Vec<_> = (0..inputs)
            .map(|i| TypeVar::new(format!("in{i}")))
            .collect();
        let output = TypeVar::new("out");
        let params: Array<Ref<TypeVar>> = inputs.iter().chain([&output]).cloned().collect();
        let types: Vec<Ref<Type>> = inputs.iter().map(|var| var.clone().upcast()).collect();
        let args: Vec<_> = types
            .iter()
            .cloned()
            .chain([output.clone().upcast()])
            .collect();
        let count = types.len() as i64;
        let relation = TypeRelation::new(func, args, count, None);
        let op_type = FuncType::new(types, output)
            .with_type_params(params)
            .with_type_constraints([relation.upcast()]);
        Ok(self.change(|facts| facts.op_type = Some(op_type)))
    }
}

fn not_registered(name: &str) -> Error {
    Error::new(
        ErrorKind::Attribute,
        format!("Operator {name} is not registered"),
    )
}

impl Op {
    /// Returns the operator of a name.
    ///
    /// # Errors
    ///
    /// `AttributeError` for an unknown operator.
    pub fn get(name: &str) -> Result<Ref<Op>> {
        let found = OpRegistry::find(name).ok_or_else(|| not_registered(name))?;
        Ok(found.op)
    }

    /// The names of all operators, sorted.
    pub fn names() -> Vec<String> {
        let guard = registry();
        let names = guard.iter().flat_map(|ops| ops.keys());
        let mut names: Vec<_> = names.map(|name| name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// The type of calls given by the description, if any.
    pub fn op_type(&self) -> Option<Ref<FuncType>> {
        OpRegistry::find(&self.name)?.facts()?.op_type
    }

    /// The names of the attributes set on this operator, sorted.
    pub fn attribute_names(&self) -> Vec<String> {
        let Some(entry) = OpRegistry::find(&self.name) else {
            return Vec::new();
        };
        let set = ATTRIBUTES
            .all()
            .into_iter()
            .filter(|attribute| attribute.get(entry.index).is_some());
        let mut names: Vec<_> = set.map(|attribute| attribute.name().to_owned()).collect();
        names.sort_unstable();
        names
    }

    /// The value of an attribute, if set on this operator.
    pub fn attribute(&self, name: &str) -> Option<&'static Value> {
        let entry = OpRegistry::find(&self.name)?;
        ATTRIBUTES.find(name)?.get(entry.index)
    }
}

/// The entry of an operator.
fn entry(this: &Ref<Op>) -> Result<OpRegistry> {
    OpRegistry::find(&this.name).ok_or_else(|| not_registered(&this.name))
}

/// Returns the operator of a name; AttributeError for an unknown name.
#[export("ir.Op.get")]
fn op_get(op_name: &str) -> Result<Ref<Op>> {
    Op::get(op_name)
}

/// The operator of a name, added if necessary; a description replaces the present
/// description.
#[export("ir.RegisterOp")]
fn op_register(op_name: &str, describe: Option<Str>) -> Result<Ref<Op>> {
    let entry = OpRegistry::get_or_register(op_name)?;
    Ok(match describe.filter(|text| !text.is_empty()) {
        Some(text) => entry.describe(&text).op,
        None => entry.op,
    })
}

/// The names of all operators, sorted.
#[export("ir.Op.list_op_names")]
fn list_op_names() -> Vec<String> {
    Op::names()
}

/// Returns a part of the description of an operator.
#[export("ir.Op.facts")]
fn op_facts(this: &Ref<Op>, name: &str) -> Result<Value> {
    let facts = entry(this)?
        .facts()
        .ok_or_else(|| not_registered(&this.name))?;
    match name {
        "op_type" => Ok(facts.op_type.into()),
        "description" => Ok(facts.description.into()),
        "arguments" => Ok(Array::from(facts.arguments).into()),
        "attrs_type_key" => Ok(facts.attrs_type_key.into()),
        "num_inputs" => Ok(facts.num_inputs.into()),
        "support_level" => Ok(facts.support_level.into()),
        _ => Err(Error::value_error(format!("nothing is known as '{name}'"))),
    }
}

/// Returns an attribute of the operator; None if unset.
#[export("ir.Op.get_attr")]
fn op_get_attr(this: &Ref<Op>, attr_name: &str) -> Value {
    this.attribute(attr_name).cloned().unwrap_or_default()
}

/// True if the operator has the attribute.
#[export("ir.Op.has_attr")]
fn op_has_attr(this: &Ref<Op>, attr_name: &str) -> bool {
    this.attribute(attr_name).is_some()
}

/// Sets an attribute with a priority: the highest one wins, and two with the same
/// priority are a ValueError.
#[export("ir.Op.set_attr")]
fn op_set_attr(
    this: &Ref<Op>,
    attr_name: &str,
    value: Value,
    #[default = 10] plevel: i64,
) -> Result<()> {
    entry(this)?.attr(attr_name, value, plevel).map(drop)
}

/// Removes an attribute.
#[export("ir.Op.reset_attr")]
fn op_reset_attr(this: &Ref<Op>, attr_name: &str) -> Result<()> {
    let _ = entry(this)?.reset_attr(attr_name);
    Ok(())
}

/// Adds an argument with a name, a type as text, and a description.
#[export("ir.Op.add_argument")]
fn op_add_argument(this: &Ref<Op>, name: &str, r#type: &str, description: &str) -> Result<()> {
    let _ = entry(this)?.argument(name, r#type, description);
    Ok(())
}

/// Sets the type of the operator: a function type whose inputs and output are in a
/// relation.
///
/// Without a function, the relation is the function registered under the global name
/// `tvm.relay.type_relation.` and `rel_name`; KeyError for an unknown name.
#[export("ir.Op.add_type_rel")]
fn op_add_type_rel(this: &Ref<Op>, rel_name: &str, type_rel_func: Option<Function>) -> Result<()> {
    entry(this)?
        .type_relation(rel_name, type_rel_func)
        .map(drop)
}

/// Sets the type key of the attributes of calls.
#[export("ir.Op.set_attrs_type_key")]
fn op_set_attrs_type_key(this: &Ref<Op>, key: &str) -> Result<()> {
    let _ = entry(this)?.attrs_type_key(key);
    Ok(())
}

/// Sets the number of inputs.
#[export("ir.Op.set_num_inputs")]
fn op_set_num_inputs(this: &Ref<Op>, n: i64) -> Result<()> {
    let _ = entry(this)?.num_inputs(n);
    Ok(())
}

/// Sets the level of support; lower is more common.
#[export("ir.Op.set_support_level")]
fn op_set_support_level(this: &Ref<Op>, level: i64) -> Result<()> {
    let _ = entry(this)?.support_level(level);
    Ok(())
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { Op:
        get_attr = op_get_attr,
        has_attr = op_has_attr,
        set_attr = op_set_attr,
        reset_attr = op_reset_attr,
        add_argument = op_add_argument,
        add_type_rel = op_add_type_rel,
        set_attrs_type_key = op_set_attrs_type_key,
        set_num_inputs = op_set_num_inputs,
        set_support_level = op_set_support_level,
    }?;
    isoform::register_functions![op_get, op_register, list_op_names, op_facts]
}
