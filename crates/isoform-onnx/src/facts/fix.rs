//! Fixes dimensions of a model's inputs to numbers given by users.

use std::collections::HashMap;

use isoform::errors::ErrorKind;
use isoform::traverse::{MapOptions, WalkOrder};
use isoform::values::ValueRef;
use isoform::{Array, Error, Node, Ref, Result, Value};

use crate::ir::{Dim, Graph, Input, Program, TensorType};

/// Replaces dimensions of the main graph by numbers, in all types with these
/// dimensions.
///
/// `dims` maps names of dimensions, for instance `batch`, to extents. `inputs` maps
/// names of inputs to whole shapes, with None for an unchanged extent. A model with
/// fixed dimensions can be simplified further than a model for any dimensions.
///
/// # Errors
///
/// `KeyError` for a name missing from the main graph, and `ValueError` for negative
/// extents, shapes of another rank and numbers that contradict each other or the model.
/// Linear in the program.
pub fn fix_dims(
    program: &Ref<Program>,
    dims: &[(String, i64)],
    inputs: &[(String, Vec<Option<i64>>)],
) -> Result<Ref<Program>> {
    let mut fixing = Fixing::new(&program.graph);
    for (name, extent) in dims {
        fixing.by_name(name, *extent)?;
    }
    for (name, shape) in inputs {
        fixing.shape(&program.graph, name, shape)?;
    }
    fixing.apply(program)
}

#[derive(Default)]
struct Fixing {
    /// The dimensions of the main graph, in order of occurrence.
    known: Vec<Ref<Dim>>,
    fixed: HashMap<u64, i64>,
    /// The new shapes of inputs, where a name does not say everything.
    shapes: HashMap<u64, Vec<Option<i64>>>,
}

fn dim_of(value: &Value) -> Option<&Ref<Dim>> {
    value.as_object()?.downcast_ref::<Dim>()
}

fn tensor_type(ty: &Value) -> Option<&Ref<TensorType>> {
    ty.as_object()?.downcast_ref::<TensorType>()
}

impl Fixing {
    fn new(graph: &Graph) -> Self {
        let mut fixing = Self::default();
        let inputs = graph.params.iter().map(|param| &param.ty);
        for ty in inputs.chain(graph.result_types.values()) {
            let shape = tensor_type(ty).and_then(|ty| ty.shape.as_ref());
            for dim in shape.iter().flat_map(|shape| shape.values()) {
                if let Some(dim) = dim_of(dim)
                    && !fixing.known.iter().any(|known| known.same_as(dim))
                {
                    fixing.known.push(dim.clone());
                }
            }
        }
        fixing
    }

    fn by_name(&mut self, name: &str, extent: i64) -> Result<()> {
        check_extent(&format!("dimension '{name}'"), extent)?;
        let named: Vec<Ref<Dim>> = self
            .known
            .iter()
            .filter(|dim| dim.name == name)
            .cloned()
            .collect();
        if named.is_empty() {
            let known = self.known.iter().map(|dim| dim.name.as_str());
            return Err(Error::new(
                ErrorKind::Key,
                format!(
                    "dimension '{name}': the types of the model's inputs and outputs have {}",
                    list("dimensions", known)
                ),
            ));
        }
        named.iter().try_for_each(|dim| self.fix(dim, extent))
    }

    fn fix(&mut self, dim: &Ref<Dim>, extent: i64) -> Result<()> {
        let held = *self.fixed.entry(dim.identity()).or_insert(extent);
        if held == extent {
            Ok(())
        } else {
            Err(Error::value_error(format!(
                "dimension '{}': expected one extent, got {held} and {extent}",
                dim.name
            )))
        }
    }

    fn shape(&mut self, graph: &Graph, name: &str, shape: &[Option<i64>]) -> Result<()> {
        let Some(param) = graph.params.iter().find(|param| param.name == name) else {
            let names = graph.params.iter().map(|param| param.name.as_str());
            return Err(Error::new(
                ErrorKind::Key,
                format!("input '{name}': the model has {}", list("inputs", names)),
            ));
        };
        let Some(ty) = tensor_type(&param.ty) else {
            return Err(Error::value_error(format!(
                "input '{name}': expected an input whose type is a tensor"
            )));
        };
        for extent in shape.iter().flatten() {
            check_extent(&format!("input '{name}'"), *extent)?;
        }
        if let Some(declared) = &ty.shape {
            if declared.len() != shape.len() {
                return Err(Error::value_error(format!(
                    "input '{name}': expected {} extents, as the model declares, got {}",
                    declared.len(),
                    shape.len()
                )));
            }
            for (axis, (dim, extent)) in declared.values().iter().zip(shape).enumerate() {
                let Some(extent) = *extent else {
                    continue;
                };
                if let Some(dim) = dim_of(dim) {
                    self.fix(dim, extent)?;
                } else if let ValueRef::Int(held) = dim.view()
                    && (0..).contains(&held)
                    && held != extent
                {
                    return Err(Error::value_error(format!(
                        "input '{name}': expected {held} at axis {axis}, as the model declares, got {extent}"
                    )));
                }
            }
        }
        let held = self.shapes.entry(param.identity()).or_default();
        if held.is_empty() {
            held.resize(shape.len(), None);
        }
        for (held, extent) in held.iter_mut().zip(shape) {
            if let (Some(first), Some(second)) = (*held, *extent)
                && first != second
            {
                return Err(Error::value_error(format!(
                    "input '{name}': expected one shape, got extents {first} and {second} for an axis"
                )));
            }
            *held = extent.or(*held);
        }
        Ok(())
    }

    fn apply(&self, program: &Ref<Program>) -> Result<Ref<Program>> {
        let mut inputs: HashMap<u64, Value> = HashMap::new();
        for param in program.graph.params.iter() {
            if let Some(ty) = self.changed_type(param) {
                let fields = param.clone_fields();
                let changed = Ref::new(Input { ty, ..fields });
                inputs.insert(param.identity(), changed.into());
            }
        }
        if inputs.is_empty() && self.fixed.is_empty() {
            return Ok(program.clone());
        }
        let (dim, input) = (Dim::type_index(), Input::type_index());
        // An input is visited before its parts: inputs are found by identity, and a
        // changed part would change the identity.
        let options = MapOptions::default().order(WalkOrder::Pre);
        let mapped = options.map_selected(
            program,
            |ty| ty == Some(dim) || ty == Some(input),
            |visit| {
                let Some(object) = visit.object() else {
                    return Ok(None);
                };
                let fixed = self.fixed.get(&object.identity());
                Ok(match fixed {
                    Some(extent) => Some(Value::from(*extent)),
                    None => inputs.get(&object.identity()).cloned(),
                })
            },
        )?;
        mapped.extract()
    }

    /// The new type of an input of the main graph; None if unchanged.
    fn changed_type(&self, param: &Ref<Input>) -> Option<Value> {
        let ty = tensor_type(&param.ty)?;
        let fixed_shape = self.shapes.get(&param.identity());
        let shape: Vec<Value> = match (&ty.shape, fixed_shape) {
            (Some(declared), fixed_shape) => {
                let extents = declared.values().iter().enumerate();
                let extent = |(axis, dim): (usize, &Value)| {
                    let named = dim_of(dim).and_then(|dim| self.fixed.get(&dim.identity()));
                    let fixed_extent = fixed_shape.and_then(|shape| *shape.get(axis)?);
                    match named.copied().or(fixed_extent) {
                        Some(extent) => Value::from(extent),
                        None => dim.clone(),
                    }
                };
                extents.map(extent).collect()
            }
            (None, Some(fixed_shape)) => {
                let extent = |extent: &Option<i64>| extent.map_or(Value::NONE, Value::from);
                fixed_shape.iter().map(extent).collect()
            }
            (None, None) => return None,
        };
        let shape = Array::from(shape);
        if ty
            .shape
            .as_ref()
            .is_some_and(|declared| declared.values() == shape.values())
        {
            return None;
        }
        let elem = ty.elem.clone();
        let shape = Some(shape);
        Some(Ref::new(TensorType { elem, shape }).into())
    }
}

fn check_extent(place: &str, extent: i64) -> Result<()> {
    if extent < 0 {
        Err(Error::value_error(format!(
            "{place}: expected an extent that is not negative, got {extent}"
        )))
    } else {
        Ok(())
    }
}

/// The names that exist, for messages.
fn list<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    names.dedup();
    if names.is_empty() {
        format!("no {what}")
    } else {
        format!("the {what} {}", names.join(", "))
    }
}
