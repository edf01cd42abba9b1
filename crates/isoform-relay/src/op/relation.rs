//! Relations: functions from the types of a call's arguments to the type of its result.
//!
//! A relation may be written in any language.

use isoform::functions::{Argument, Function};
use isoform::types::Schema;
use isoform::{Array, Error, Node, Ref, Result, Value};
use isoform_ir::ir::{Attrs, IncompleteType, TensorType, Type};

use crate::text::type_text;

/// The types of the arguments of a call, as far as known, and its attributes.
///
/// A [relation](relation) reads the types, and may also find types of arguments: a
/// convolution finds the shape of its weight from its attributes.
pub struct CallTypes<'a> {
    inputs: &'a [Ref<Type>],
    attrs: Option<&'a Ref<Attrs>>,
    found: Vec<(usize, Ref<Type>)>,
}

impl<'a> CallTypes<'a> {
    /// The types of a call of an operator.
    pub fn new(inputs: &'a [Ref<Type>], attrs: Option<&'a Ref<Attrs>>) -> Self {
        CallTypes {
            inputs,
            attrs,
            found: Vec::new(),
        }
    }

    /// The number of arguments.
    pub fn count(&self) -> usize {
        self.inputs.len()
    }

    /// The type of an argument; None if unknown so far.
    ///
    /// # Errors
    ///
    /// `TypeError` for a missing argument.
    pub fn input(&self, position: usize) -> Result<Option<&'a Ref<Type>>> {
        let inputs = self.inputs;
        let ty = inputs.get(position).ok_or_else(|| {
            Error::type_error(format!(
                "expected at least {} arguments, got {}",
                position + 1,
                inputs.len()
            ))
        })?;
        Ok(Some(ty).filter(|ty| !ty.isa::<IncompleteType>()))
    }

    /// The type of an argument that must be a tensor; None if unknown so far.
    ///
    /// # Errors
    ///
    /// `TypeError` for another type, or for a missing argument.
    pub fn tensor(&self, position: usize) -> Result<Option<&'a Ref<TensorType>>> {
        let Some(ty) = self.input(position)? else {
            return Ok(None);
        };
        let tensor = ty.downcast_ref::<TensorType>().ok_or_else(|| {
            Error::type_error(format!(
                "argument {}: expected a tensor, got {}",
                position + 1,
                type_text(ty)
            ))
        })?;
        Ok(Some(tensor))
    }

    /// The attributes of the call.
    ///
    /// # Errors
    ///
    /// `TypeError` for missing attributes or attributes of another class.
    pub fn attrs<T: Node>(&self) -> Result<&'a Ref<T>> {
        let attrs = self.attrs;
        attrs
            .and_then(|attrs| attrs.downcast_ref::<T>())
            .ok_or_else(|| {
                let got = attrs.map_or("None", |attrs| attrs.type_info().key());
                Error::type_error(format!("attributes: expected {}, got {got}", T::TYPE_KEY))
            })
    }

    /// The attributes of the call, of any class.
    pub fn any_attrs(&self) -> Option<&'a Ref<Attrs>> {
        self.attrs
    }

    /// States the type of an argument, to be unified with the known type.
    pub fn assign(&mut self, position: usize, ty: Ref<Type>) {
        self.found.push((position, ty));
    }

    /// The types of arguments found by the relation, by position.
    pub(crate) fn into_found(self) -> Vec<(usize, Ref<Type>)> {
        self.found
    }
}

type Body = dyn Fn(&mut CallTypes<'_>) -> Result<Option<Ref<Type>>> + Send + Sync;

/// The content of a function around a relation written in Rust.
pub(crate) struct Relation(Box<Body>);

impl Relation {
    /// The relation of a function made by [`relation`].
    pub(crate) fn of(function: &Function) -> Option<&Relation> {
        function.content()
    }

    pub(crate) fn solve(&self, types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
        (self.0)(types)
    }
}

/// Makes a relation between the types of an operator's arguments and that of its result,
/// for [`OpRegistry::type_relation`](isoform_ir::ir::OpRegistry::type_relation).
///
/// The function returns the type of the result, or None while the known types of the
/// arguments do not suffice: the function is called again when more types are known.
/// Its errors become messages about the call.
///
/// Called as a function of a list of argument types and attributes, the interface of
/// relations written in Python, the relation returns the type of the result or None.
///
/// ```
/// use isoform_relay::op;
/// use isoform_relay::op::CallTypes;
/// use isoform_ir::ir::{TensorType, Type};
/// use isoform::{Array, Ref};
/// use isoform_ir::register_op;
///
/// // A tensor without its first axis.
/// let first = op::relation(|types: &mut CallTypes<'_>| {
///     let Some(data) = types.tensor(0)? else {
///         return Ok(None);
///     };
///     let rest: Array<_> = data.shape.iter().skip(1).cloned().collect();
///     Ok(Some(TensorType::new(rest).with_dtype(data.dtype).upcast()))
/// });
/// register_op!("doc.first")?
///     .num_inputs(1)
///     .type_relation("DocFirst", Some(first))?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn relation(
    solve: impl Fn(&mut CallTypes<'_>) -> Result<Option<Ref<Type>>> + Send + Sync + 'static,
) -> Function {
    let content = Relation(Box::new(solve));
    Function::with_content(content, |relation: &Relation, arguments| {
        let [inputs, rest @ ..] = arguments else {
            return Err(Error::type_error(
                "a type relation expects the types of the arguments and the attributes, got no \
                 arguments",
            ));
        };
        let inputs = Array::<Ref<Type>>::from_value(inputs.clone())?;
        let attrs = match rest {
            [] => None,
            [attrs, ..] => Option::<Ref<Attrs>>::from_value(attrs.clone())?,
        };
        let inputs: Vec<_> = inputs.iter().cloned().collect();
        let mut types = CallTypes::new(&inputs, attrs.as_ref());
        Ok(relation.solve(&mut types)?.into())
    })
}

/// Asks a relation of any language.
pub(crate) fn solve(function: &Function, types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    if let Some(relation) = Relation::of(function) {
        return relation.solve(types);
    }
    let inputs: Array<Ref<Type>> = types.inputs.iter().cloned().collect();
    let attrs = Value::from(types.attrs.cloned());
    let found = function.call(&[inputs.into(), attrs])?;
    if found.is_none() {
        return Ok(None);
    }
    let found = Schema::object::<Type>().convert(found).map_err(|error| {
        let name = function.name().unwrap_or("a type relation");
        Error::type_error(format!("the result of {name}: {}", error.message()))
    })?;
    Ok(Some(found.extract()?))
}
