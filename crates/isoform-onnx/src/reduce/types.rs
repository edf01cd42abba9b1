//! The types of values, kept while a program loses nodes.

use std::collections::HashMap;
use std::sync::Arc;

use isoform::{Array, Ref, Value};
use prost::Message;

use crate::elem_type::ElemType;
use crate::facts::{Analysis, Fact, Kind, Size, fact_of_type};
use crate::ir::{Dim, Program, TensorType};
use crate::layout::{Body, BodyKind, Listing};
use crate::proto::{DimensionValue, GraphProto, TypeProto, TypeValue};
use crate::values::{ValueKey, output};

/// The type of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Type {
    elem: ElemType,
    /// None if even the rank is unknown.
    shape: Option<Vec<Size>>,
}

impl Type {
    fn of(fact: &Fact) -> Option<Type> {
        let elem = fact.elem.filter(|_| fact.kind == Kind::Tensor)?;
        let shape = fact.shape.clone();
        Some(Type { elem, shape })
    }

    /// True if values of both types have the same shape in every run.
    fn is_same(&self, other: &Type) -> bool {
        let shapes = self.shape.as_ref().zip(other.shape.as_ref());
        self.elem == other.elem
            && shapes.is_some_and(|(left, right)| {
                let mut extents = left.iter().zip(right);
                left.len() == right.len()
                    && extents.all(|(left, right)| left.known_eq(right) == Some(true))
            })
    }
}

/// The known types of a program's values.
#[derive(Clone, Debug)]
pub(super) struct Types {
    known: HashMap<ValueKey, Type>,
    /// The dimensions of the model, by the identity of their symbols.
    dims: Arc<HashMap<u64, Ref<Dim>>>,
}

impl Types {
    /// Derives the types of a program; the types that the file declares between nodes
    /// help where an operator is unknown.
    pub(super) fn of(program: &Program, listing: &Listing) -> Types {
        let mut analysis = Analysis::of_program(program);
        let mut named = HashMap::new();
        for ty in program.graph.result_types.values() {
            note_dims(ty, &mut named);
        }
        for param in program.graph.params.iter() {
            note_dims(&param.ty, &mut named);
        }
        let mut known = HashMap::new();
        for body in &listing.bodies {
            let declared = declared(body, &mut named);
            for param in body.kind.params().iter() {
                let value = Value::from(param);
                if let Some(ty) = Type::of(&analysis.fact(&value)) {
                    known.insert(ValueKey::of(&value), ty);
                }
            }
            for node in &body.nodes {
                let names = &node.call.output_names;
                for index in 0..node.call.outputs {
                    let value = output(&node.call, index);
                    let ty = Type::of(&analysis.fact(&value)).or_else(|| {
                        let name = names.get(usize::try_from(index).ok()?)?;
                        let ty = declared.get(name.as_str())?;
                        Type::of(&fact_of_type(ty, analysis.symbols()))
                    });
                    if let Some(ty) = ty {
                        known.insert(ValueKey::of(&value), ty);
                    }
                }
            }
        }
        let mut dims = HashMap::new();
        for dim in named.values() {
            if let Some(symbol) = analysis.symbols().dim(dim).as_symbol() {
                dims.insert(symbol.ident(), dim.clone());
            }
        }
        Types {
            known,
            dims: Arc::new(dims),
        }
    }

    /// No types, but the dimensions of the same model.
    pub(super) fn empty(&self) -> Types {
        Types {
            known: HashMap::new(),
            dims: self.dims.clone(),
        }
    }

    /// Takes over the type of a value of another program.
    pub(super) fn copy(&mut self, key: ValueKey, other: &Types, old: ValueKey) {
        if let Some(ty) = other.known.get(&old) {
            self.known.insert(key, ty.clone());
        }
    }

    /// Takes over the types that only the other table has.
    pub(super) fn add_missing(&mut self, other: Types) {
        for (key, ty) in other.known {
            self.known.entry(key).or_insert(ty);
        }
    }

    /// True if the two values are tensors of one type and shape in every run.
    pub(super) fn is_same(&self, left: ValueKey, right: ValueKey) -> bool {
        let types = self.known.get(&left).zip(self.known.get(&right));
        types.is_some_and(|(left, right)| left.is_same(right))
    }

    /// True if the constant has the type of the value.
    pub(super) fn is_type_of(&self, key: ValueKey, constant: &Value) -> bool {
        let constant = Type::of(&Fact::of_constant(constant));
        let types = self.known.get(&key).zip(constant.as_ref());
        types.is_some_and(|(left, right)| left.is_same(right))
    }

    pub(super) fn is_known(&self, key: ValueKey) -> bool {
        self.known.contains_key(&key)
    }

    /// The type as a model declares it; None if unknown.
    pub(super) fn declaration(&self, key: ValueKey) -> Option<Value> {
        let ty = self.known.get(&key)?;
        let extent = |size: &Size| match (size.as_const(), size.as_symbol()) {
            (Some(number), _) => number.into(),
            (None, Some(symbol)) => {
                let dim = self.dims.get(&symbol.ident());
                dim.map_or(Value::NONE, Value::from)
            }
            (None, None) => Value::NONE,
        };
        let shape = ty.shape.as_ref();
        let shape = shape.map(|sizes| sizes.iter().map(extent).collect::<Vec<Value>>());
        let elem = match ty.elem.dtype() {
            Some(dtype) => dtype.into(),
            None => ty.elem.name().into(),
        };
        let shape = shape.map(Array::from);
        Some(Ref::new(TensorType { elem, shape }).into())
    }
}

/// Notes the dimensions of a type by name; the first of a name counts.
fn note_dims(ty: &Value, named: &mut HashMap<String, Ref<Dim>>) {
    let ty = ty
        .as_object()
        .and_then(|it| it.downcast_ref::<TensorType>());
    let shape = ty.and_then(|ty| ty.shape.as_ref());
    for dim in shape.iter().flat_map(|shape| shape.values()) {
        if let Some(dim) = dim.as_object().and_then(|it| it.downcast_ref::<Dim>()) {
            let name = dim.name.to_string();
            named.entry(name).or_insert_with(|| dim.clone());
        }
    }
}

/// The types that the file declares for values between the nodes of a body, by name.
fn declared(body: &Body, named: &mut HashMap<String, Ref<Dim>>) -> HashMap<String, Value> {
    let BodyKind::Graph(graph) = &body.kind else {
        return HashMap::new();
    };
    let mut found = HashMap::new();
    let names = graph.result_names.iter();
    for (name, ty) in names.zip(graph.result_types.values()) {
        found.insert(name.to_string(), ty.clone());
    }
    let kept = graph.meta.as_ref();
    // A description that cannot be read is of no help here, and an error for the writer.
    let kept = kept.and_then(|meta| GraphProto::decode(&meta[..]).ok());
    for info in kept.iter().flat_map(|graph| &graph.value_info) {
        if let Some(ty) = info.r#type.as_ref().and_then(|ty| tensor_type(ty, named)) {
            found.insert(info.name.clone(), ty);
        }
    }
    found
}

fn tensor_type(ty: &TypeProto, named: &mut HashMap<String, Ref<Dim>>) -> Option<Value> {
    let Some(TypeValue::TensorType(ty)) = &ty.value else {
        return None;
    };
    let elem = ElemType::from_code(ty.elem_type)?;
    let elem = elem.dtype().map_or_else(|| elem.name().into(), Value::from);
    let mut extent = |value: &Option<DimensionValue>| match value {
        Some(DimensionValue::DimValue(extent)) if *extent >= 0 => Value::from(*extent),
        Some(DimensionValue::DimParam(name)) if !name.is_empty() => {
            let dim = named.entry(name.clone());
            Value::from(&*dim.or_insert_with(|| Dim::new(name.as_str())))
        }
        _ => Value::NONE,
    };
    let shape = ty.shape.as_ref();
    let shape = shape.map(|shape| shape.dim.iter().map(|dim| extent(&dim.value)).collect());
    Some(Ref::new(TensorType { elem, shape }).into())
}
