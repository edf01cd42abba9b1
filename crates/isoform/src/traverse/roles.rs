//! Roles of types in rewrites, declared by attributes: binding a variable, having no
//! effect, being one of several results.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::Kind;
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::role_attributes::{self, OPERANDS};
use crate::kernel::value::Value;

/// The attribute of types that bind variables to values: a map with the names of the
/// fields `var` (a variable or an array of variables) and `value`, and of the field
/// `body` if the binding is an expression around its scope. Extending types inherit the
/// attribute.
///
/// The attribute lets [`Uses::definition`](super::Uses::definition) find the value of a
/// variable, [patterns](crate::pattern) match across definitions, and rewrites drop
/// definitions made useless by them.
///
/// ```
/// use isoform::traverse::BINDING;
/// use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, register_type};
/// use isoform::{Map, Str};
///
/// let fields = [("var", "var"), ("value", "value")];
/// let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
/// let fields: Map<Str, Str> = fields.into_iter().collect();
/// register_type(
///     TypeDef::new("doc.roles.Assign")
///         .field(FieldDef::new("var", Schema::Any).flag(FieldFlag::Def))
///         .field(FieldDef::new("value", Schema::Any))
///         .attr(BINDING, fields),
/// )?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub const BINDING: &str = role_attributes::BINDING;

/// The attribute of types with an evaluation that has no effect but its result: a bool,
/// or a function from a node to a bool. The attribute does not cover the parts of the
/// node. Extending types inherit the attribute, and types of kind
/// [`singleton`](crate::types::Kind::Singleton) are pure without it.
pub const PURE: &str = role_attributes::PURE;

/// The attribute of types that select one of several results of a node: a map with the
/// names of the fields `of`, for the node, and `index`, an integer from zero. Extending
/// types inherit the attribute.
pub const PROJECTION: &str = role_attributes::PROJECTION;

/// The attribute of commutative types: an array with the names of two swappable fields,
/// the name of one array field with items in any order, or a function from a node to
/// one of these or None. Extending types inherit the attribute.
pub const COMMUTATIVE: &str = role_attributes::COMMUTATIVE;

/// The attribute of types whose objects are constants: a bool. Extending types inherit
/// the attribute. Tensors, numbers, strings and bytes are constants without the
/// attribute.
pub const CONSTANT: &str = role_attributes::CONSTANT;

/// The fields of a type that binds variables, by their positions in the order of visit.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// The field of the variable.
    pub var: u32,
    /// The field of its value.
    pub value: u32,
    /// The field of the part in which the variable is visible.
    pub body: Option<u32>,
}

/// The fields of a type that selects a result. `index` counts in the order of
/// declaration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Projection {
    pub(crate) of: u32,
    pub(crate) index: usize,
}

#[derive(Clone, Debug)]
enum Purity {
    Always(bool),
    Decided(Function),
}

/// The roles declared by the attributes of a type.
#[derive(Clone, Debug)]
pub struct Roles {
    /// The fields of the variable, its value and its body.
    pub binding: Option<Binding>,
    pub(crate) projection: Option<Projection>,
    purity: Purity,
}

impl Roles {
    fn of(info: &'static TypeInfo) -> Result<Roles> {
        let attribute = |name| attributes::get(info.index(), name, Lookup::Nearest);
        let binding = match attribute(BINDING) {
            None => None,
            Some(value) => {
                let fields = Fields::new(info, BINDING, value)?;
                Some(Binding {
                    var: fields.position("var")?,
                    value: fields.position("value")?,
                    body: if fields.names("body") {
                        Some(fields.position("body")?)
                    } else {
                        None
                    },
                })
            }
        };
        let projection = match attribute(PROJECTION) {
            None => None,
            Some(value) => {
                let fields = Fields::new(info, PROJECTION, value)?;
                Some(Projection {
                    of: fields.position("of")?,
                    index: fields.field("index")?,
                })
            }
        };
        let purity = match attribute(PURE) {
            // The members of an enum and the objects of a registry are data.
            None => Purity::Always(info.kind() == Kind::Singleton),
            Some(value) => match (value.as_bool(), value.extract::<Function>()) {
                (Some(pure), _) => Purity::Always(pure),
                (None, Ok(function)) => Purity::Decided(function),
                (None, Err(_)) => {
                    return Err(unfit(info, PURE, "a bool or a function", value));
                }
            },
        };
        Ok(Roles {
            binding,
            projection,
            purity,
        })
    }

    /// True if the evaluation of a node, apart from its parts, has no effect.
    pub fn is_pure(&self, node: &Value) -> Result<bool> {
        match &self.purity {
            Purity::Always(pure) => Ok(*pure),
            Purity::Decided(function) => {
                let answer = function.call(std::slice::from_ref(node))?;
                answer.as_bool().ok_or_else(|| {
                    Error::type_error(format!(
                        "attribute '{PURE}' of type {}: expected its function to return bool, \
                         got {}",
                        node.type_name(),
                        answer.type_name()
                    ))
                })
            }
        }
    }
}

/// True if the type is declared to hold constants, or is a built-in type of plain data.
pub fn is_constant(value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return !value.is_none();
    };
    let info = object.type_info();
    let declared = attributes::get(info.index(), CONSTANT, Lookup::Nearest);
    declared.map_or_else(
        || info.is_builtin() && !object.borrowed().info().class().has_parts(),
        |value| value.as_bool() == Some(true),
    )
}

/// The parts of a node in no particular order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Commutes {
    /// Two fields, by their positions in the order of visit.
    Fields(u32, u32),
    /// The items of the array in a field.
    Items(u32),
}

/// The parts of a node declared as commutative by its type.
///
/// # Errors
///
/// `TypeError` or `ValueError` for an attribute of the wrong form.
pub(crate) fn commutes(node: &Ref<Obj>) -> Result<Option<Commutes>> {
    let info = node.type_info();
    let Some(declared) = attributes::get(info.index(), COMMUTATIVE, Lookup::Nearest) else {
        return Ok(None);
    };
    let answer = match declared.extract::<Function>() {
        Ok(function) => function.call(&[node.clone().into()])?,
        Err(_) => declared.clone(),
    };
    if answer.is_none() {
        return Ok(None);
    }
    if let Some(name) = answer.as_str() {
        let position = visited_position(info, COMMUTATIVE, name)?;
        return Ok(Some(Commutes::Items(position)));
    }
    let names = answer.items();
    let names: Vec<&str> = names
        .iter()
        .flat_map(|names| names.values())
        .filter_map(Value::as_str)
        .collect();
    match names[..] {
        [first, second] => {
            let first = visited_position(info, COMMUTATIVE, first)?;
            let second = visited_position(info, COMMUTATIVE, second)?;
            Ok(Some(Commutes::Fields(first, second)))
        }
        _ => Err(unfit(info, COMMUTATIVE, OPERANDS, &answer)),
    }
}

/// The names of fields in the value of an attribute.
struct Fields<'v> {
    info: &'static TypeInfo,
    attribute: &'static str,
    names: Vec<(String, &'v str)>,
}

impl<'v> Fields<'v> {
    fn new(info: &'static TypeInfo, attribute: &'static str, value: &'v Value) -> Result<Self> {
        let Some(map) = value.as_map() else {
            return Err(unfit(info, attribute, "a map from str to str", value));
        };
        let mut names = Vec::new();
        for (role, name) in map.iter() {
            let (Some(role), Some(name)) = (role.as_str(), name.as_str()) else {
                return Err(unfit(info, attribute, "a map from str to str", value));
            };
            names.push((role.to_owned(), name));
        }
        Ok(Fields {
            info,
            attribute,
            names,
        })
    }

    fn names(&self, role: &str) -> bool {
        self.names.iter().any(|(known, _)| known == role)
    }

    fn name(&self, role: &str) -> Result<&'v str> {
        let found = self.names.iter().find(|(known, _)| known == role);
        found.map(|(_, name)| *name).ok_or_else(|| {
            Error::value_error(format!(
                "attribute '{}' of type {}: expected the name of a field under '{role}', got none",
                self.attribute,
                self.info.key()
            ))
        })
    }

    fn position(&self, role: &str) -> Result<u32> {
        visited_position(self.info, self.attribute, self.name(role)?)
    }

    fn field(&self, role: &str) -> Result<usize> {
        declared_position(self.info, self.attribute, self.name(role)?)
    }
}

fn declared_position(info: &TypeInfo, attribute: &str, name: &str) -> Result<usize> {
    let found = info.fields().iter().position(|field| field.name() == name);
    found.ok_or_else(|| {
        Error::value_error(format!(
            "attribute '{attribute}' of type {}: there is no field '{name}'",
            info.key()
        ))
    })
}

/// The position of a field that an attribute of a type names.
///
/// # Errors
///
/// `ValueError` if the type has no such field, or if comparison ignores the field.
pub fn visited_position(info: &TypeInfo, attribute: &str, name: &str) -> Result<u32> {
    let field = declared_position(info, attribute, name)?;
    let mut visited = info.visited.iter().enumerate();
    let found = visited.find(|(_, slot)| slot.field as usize == field);
    match found {
        Some((position, _)) => Ok(position as u32),
        None => Err(Error::value_error(format!(
            "attribute '{attribute}' of type {}: the field '{name}' is ignored by comparison",
            info.key()
        ))),
    }
}

/// The error for an attribute of a type whose value is of another form than expected.
pub fn unfit(info: &TypeInfo, attribute: &str, expected: &str, got: &Value) -> Error {
    Error::type_error(format!(
        "attribute '{attribute}' of type {}: expected {expected}, got {}",
        info.key(),
        got.type_name()
    ))
}

type RoleMap = HashMap<TypeIndex, Option<Arc<Roles>>, RandomState>;

/// The roles of the types seen in one traversal.
#[derive(Default)]
pub struct RoleTable(Mutex<RoleMap>);

impl RoleTable {
    /// Held for lookups only.
    fn known(&self) -> MutexGuard<'_, RoleMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The roles of a value's type; None for values of built-in types.
    ///
    /// # Errors
    ///
    /// `TypeError` or `ValueError` for an attribute of the wrong form.
    pub fn of(&self, value: &Value) -> Result<Option<Arc<Roles>>> {
        let Some(object) = value.as_object() else {
            return Ok(None);
        };
        let ty = object.type_info().index();
        if let Some(known) = self.known().get(&ty) {
            return Ok(known.clone());
        }
        let info = table::info(ty);
        let roles = if info.is_builtin() {
            None
        } else {
            Some(Arc::new(Roles::of(info)?))
        };
        self.known().insert(ty, roles.clone());
        Ok(roles)
    }
}
