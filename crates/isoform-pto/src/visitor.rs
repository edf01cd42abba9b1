//! Visits and rewrites by the methods of visitors and mutators.
//!
//! The list of the dialect generates the traits with a method for every class; this
//! file defines how a replaced definition affects the uses of its variable.

use hashbrown::HashMap;

use super::expr::Var;
use super::nodes::{IRMutator, IRVisitor, mutate_by_class, visit_by_class};
use isoform::plumbing::visit_nodes;
use isoform::traverse::{MapOptions, structural_map};
use isoform::types::{FieldDef, FieldFlag, RegionKind, TypeInfo};
use isoform::{Obj, Ref, Result, Value};

/// Visits a value by the methods of a visitor.
///
/// Objects are visited once, at the first occurrence, before the objects below; fields
/// ignored by comparison are not visited. A method returns `WalkResult::Advance` to go
/// on below its node, `WalkResult::Skip` to leave the part below out, or
/// `WalkResult::Interrupt` to end the visit. The visit never recurses, regardless of
/// the methods; depth is limited by memory only. Linear in the number of objects.
///
/// # Errors
///
/// Errors of the methods; `ValueError` for a cyclic value.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{Add, DataType, IRVisitor, ScalarType, Var};
/// use isoform::{Ref, Result};
/// use isoform::traverse::WalkResult;
///
/// #[derive(Default)]
/// struct Names(Vec<String>);
///
/// impl IRVisitor for Names {
///     fn visit_var(&mut self, op: &Ref<Var>) -> Result<WalkResult<()>> {
///         self.0.push(op.name_hint.to_string());
///         Ok(WalkResult::Skip)
///     }
/// }
///
/// let int = ScalarType::new(DataType::Int64);
/// let [x, y] = ["x", "y"].map(|name| Var::new(name, &int));
/// let sum = Add::new(Add::new(&x, &y, DataType::Int64), &x, DataType::Int64);
/// let mut names = Names::default();
/// pto::visit(&mut names, &sum)?;
/// assert_eq!(names.0, ["x", "y"]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn visit<V: IRVisitor + ?Sized>(visitor: &mut V, root: impl Into<Value>) -> Result<()> {
    let leave = |visitor: &mut V, node: &Ref<Obj>| visitor.leave_node(node);
    visit_nodes(root.into(), visitor, visit_by_class, Some(leave))
}

/// Rewrites a value by the methods of a mutator.
///
/// A method sees its node after the objects below were rewritten, and returns the
/// replacement, or None to keep the node. A rewrite without changes returns the same
/// object; a shared object is rewritten once, and its result is shared in the same way.
/// The rewrite never recurses. Linear in the number of objects, except for a second
/// look at the loops and functions whose own variables a method replaces.
///
/// Replacing a variable at its definition replaces the variable in its uses, too. The
/// method for the variable can return the replacement. The method for a statement or
/// function can return a node of the same class with another variable in a definition
/// field. Loop variables and parameters are then replaced inside of the node, other
/// variables after the node.
///
/// # Errors
///
/// Errors of the methods; `TypeError` for a result that does not fit its field,
/// `ValueError` for a cyclic value.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{Add, ConstInt, DataType, IRMutator, ScalarType, Var};
/// use isoform::{Ref, Result, Value};
///
/// struct Double;
///
/// impl IRMutator for Double {
///     fn mutate_const_int(&mut self, op: &Ref<ConstInt>) -> Result<Option<Value>> {
///         Ok(Some(op.with_value(2 * op.value).into()))
///     }
/// }
///
/// let x = Var::new("x", ScalarType::new(DataType::Int64));
/// let sum = Add::new(&x, ConstInt::new(21, DataType::Int64), DataType::Int64);
/// let doubled = pto::mutate(&mut Double, &sum)?;
/// assert_eq!(pto::python_print(doubled)?, "x + 42");
/// assert_eq!(pto::mutate(&mut Double, &x)?, Value::from(&x));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn mutate<M: IRMutator + ?Sized>(mutator: &mut M, root: impl Into<Value>) -> Result<Value> {
    let mut remapped: HashMap<u64, Value> = HashMap::new();
    let mut images: HashMap<u64, Option<Value>> = HashMap::new();
    let options = MapOptions::default().revisit_vars(true);
    options.map(root, |visit| {
        let Some(object) = visit.object() else {
            return Ok(None);
        };
        if object.type_info().is_builtin() {
            return Ok(None);
        }
        if object.isa::<Var>() {
            // A variable has the same replacement wherever it is bound or used, unless
            // a statement before a use has replaced it.
            let ident = object.identity();
            let image = match images.get(&ident) {
                Some(image) => image.clone(),
                None => {
                    let image = mutate_by_class(mutator, object)?;
                    images.insert(ident, image.clone());
                    image
                }
            };
            if visit.region() != RegionKind::Use || remapped.is_empty() {
                return Ok(image);
            }
            let defined = image.as_ref().and_then(Value::as_object).unwrap_or(object);
            let later = remapped.get(&defined.identity()).cloned();
            return Ok(later.or(image));
        }
        let answer = mutate_by_class(mutator, object)?;
        let Some(new) = answer.as_ref().and_then(Value::as_object) else {
            return Ok(answer);
        };
        let redefined = Redefined::between(object, new)?;
        for (old, image) in redefined.later {
            remapped.insert(old, image);
        }
        if redefined.inside.is_empty() {
            Ok(answer)
        } else {
            replace_vars(new, &redefined.inside).map(Some)
        }
    })
}

/// The variables that get new variables when a node is replaced.
#[derive(Default)]
struct Redefined {
    /// Variables used inside of the node, with the new variables.
    inside: HashMap<u64, Value>,
    /// Variables used after the node, with the new variables.
    later: Vec<(u64, Value)>,
}

/// The definition fields with variables for use inside of the node.
const INSIDE: [&str; 3] = ["loop_var", "iter_args", "params"];

impl Redefined {
    fn between(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<Redefined> {
        let mut redefinitions = Redefined::default();
        let info = old.type_info();
        if old.same_as(new) || new.type_index() != old.type_index() {
            return Ok(redefinitions);
        }
        for field in definition_fields(info) {
            let before = vars_of(&isoform::objects::field_value(old, field.name())?);
            let after = vars_of(&isoform::objects::field_value(new, field.name())?);
            if before.len() != after.len() {
                continue;
            }
            for (before, after) in before.iter().zip(after).filter(|(b, a)| !b.same_as(a)) {
                let (ident, after) = (before.identity(), Value::from(after));
                if INSIDE.contains(&field.name()) {
                    drop(redefinitions.inside.insert(ident, after))
                } else {
                    redefinitions.later.push((ident, after))
                }
            }
        }
        Ok(redefinitions)
    }
}

/// The fields of a type that define variables.
fn definition_fields(info: &TypeInfo) -> impl Iterator<Item = &FieldDef> {
    let defines = |flag| matches!(flag, FieldFlag::Def | FieldFlag::DefSimple);
    let fields = info.fields().iter();
    fields.filter(move |field| defines(field.field_flag()))
}

/// The variables defined by a node itself, without the objects below.
pub(super) fn definitions_of(object: &Ref<Obj>) -> Result<Vec<Ref<Obj>>> {
    let mut found = Vec::new();
    for field in definition_fields(object.type_info()) {
        found.extend(vars_of(&isoform::objects::field_value(
            object,
            field.name(),
        )?));
    }
    Ok(found)
}

/// The variables in a definition field: itself, or the elements of an array.
fn vars_of(value: &Value) -> Vec<Ref<Obj>> {
    match value.as_array() {
        Some(array) => array
            .iter()
            .filter_map(|v| v.as_object().cloned())
            .collect(),
        None => value.as_object().cloned().into_iter().collect(),
    }
}

fn replace_vars(root: &Ref<Obj>, images: &HashMap<u64, Value>) -> Result<Value> {
    structural_map(root, |visit| {
        let var = visit.object().filter(|object| object.isa::<Var>());
        Ok(var.and_then(|var| images.get(&var.identity()).cloned()))
    })
}
