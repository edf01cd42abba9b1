//! Types with parameters: functions over values and over types, algebraic
//! data types, constraints.

use std::sync::{Mutex, PoisonError};

use indexmap::IndexSet;
use isoform::functions::{Function, global_function};
use isoform::{Array, Error, Node, Ref, Result, Str, export};

use super::attrs::Attrs;
use super::expr::{RelayExpr, Type};
use super::span::Span;
use super::ty::TupleType;

/// The meaning of a type variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i64)]
#[non_exhaustive]
pub enum TypeKind {
    /// A type of values.
    Type = 0,
    /// The size of a dimension.
    ShapeVar = 1,
    /// A scalar type.
    BaseType = 2,
    /// A constraint.
    Constraint = 4,
    /// The name of an algebraic data type.
    AdtHandle = 5,
    /// The definition of an algebraic data type.
    TypeData = 6,
}

impl TypeKind {
    /// All kinds.
    pub const ALL: [TypeKind; 6] = [
        TypeKind::Type,
        TypeKind::ShapeVar,
        TypeKind::BaseType,
        TypeKind::Constraint,
        TypeKind::AdtHandle,
        TypeKind::TypeData,
    ];

    /// Returns the kind for a number, the form stored in fields.
    ///
    /// # Errors
    ///
    /// `ValueError` for an unknown kind.
    pub fn from_number(number: i64) -> Result<Self> {
        let mut known = TypeKind::ALL.into_iter();
        known
            .find(|kind| *kind as i64 == number)
            .ok_or_else(|| Error::value_error(format!("{number} is not a valid TypeKind")))
    }
}

/// A type parameter, identified by its binding; the name is ignored.
#[derive(Node)]
#[node(key = "ir.TypeVar", kind = var, init = make_type_var)]
#[repr(C)]
pub struct TypeVar {
    #[node(base, default)]
    base: Type,
    /// For people.
    #[node(ignore)]
    pub name_hint: Str,
    /// The meaning of the variable, a [`TypeKind`].
    #[node(default = TypeKind::Type as i64)]
    pub kind: i64,
}

/// Makes a type parameter; the name is only a hint.
#[export("ir.TypeVar")]
fn make_type_var(
    name_hint: Str,
    #[default = 0] kind: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<TypeVar>> {
    TypeKind::from_number(kind)?;
    let base = Type { span };
    Ok(Ref::new(TypeVar {
        base,
        name_hint,
        kind,
    }))
}

/// The name of an algebraic data type, or of a type alias.
///
/// Comparison ignores the name, a hint; a module finds its definitions by name.
#[derive(Node)]
#[node(key = "ir.GlobalTypeVar", kind = var, init = make_global_type_var)]
#[node(attrs("diff.align" = "name"))]
#[repr(C)]
pub struct GlobalTypeVar {
    #[node(base, default)]
    base: Type,
    /// For people, and for lookups in a module.
    #[node(ignore)]
    pub name_hint: Str,
    /// The meaning of the variable, a [`TypeKind`].
    #[node(default = TypeKind::AdtHandle as i64)]
    pub kind: i64,
}

/// Makes the name of a type; it is only a hint.
#[export("ir.GlobalTypeVar")]
fn make_global_type_var(
    name_hint: Str,
    #[default = 5] kind: i64,
    span: Option<Ref<Span>>,
) -> Result<Ref<GlobalTypeVar>> {
    TypeKind::from_number(kind)?;
    let base = Type { span };
    Ok(Ref::new(GlobalTypeVar {
        base,
        name_hint,
        kind,
    }))
}

/// A relation that must hold between types.
#[derive(Node, Default)]
#[node(key = "ir.TypeConstraint")]
#[repr(C)]
pub struct TypeConstraint {
    #[node(base, default)]
    base: Type,
}

/// The type of a function: for all `type_params`,
/// `(arg_types) -> ret_type` where `type_constraints`.
#[derive(Node)]
#[node(key = "ir.FuncType", scope, init = make_func_type)]
#[repr(C)]
pub struct FuncType {
    #[node(base, default)]
    base: Type,
    /// The types of the arguments.
    pub arg_types: Array<Ref<Type>>,
    /// The type of the result.
    pub ret_type: Ref<Type>,
    /// The type parameters, bound in the rest of the type.
    #[node(def, default)]
    pub type_params: Array<Ref<TypeVar>>,
    /// The constraints that must hold.
    #[node(default)]
    pub type_constraints: Array<Ref<TypeConstraint>>,
}

/// Makes the type of a function; None means no result, no parameters or no constraints.
#[export("ir.FuncType")]
fn make_func_type(
    arg_types: Array<Ref<Type>>,
    ret_type: Option<Ref<Type>>,
    type_params: Option<Array<Ref<TypeVar>>>,
    type_constraints: Option<Array<Ref<TypeConstraint>>>,
    span: Option<Ref<Span>>,
) -> Ref<FuncType> {
    Ref::new(FuncType {
        base: Type { span },
        arg_types,
        // A function without a result returns the empty tuple.
        ret_type: ret_type.unwrap_or_else(|| TupleType::new([]).upcast()),
        type_params: type_params.unwrap_or_default(),
        type_constraints: type_constraints.unwrap_or_default(),
    })
}

/// The application of a function over types.
#[derive(Node)]
#[node(key = "ir.TypeCall")]
#[repr(C)]
pub struct TypeCall {
    #[node(base, default)]
    base: Type,
    /// The type to apply.
    pub func: Ref<Type>,
    /// Its arguments.
    pub args: Array<Ref<Type>>,
}

/// A global function, stored in files by name.
#[derive(Node)]
#[node(key = "ir.EnvFunc", init = env_func)]
#[repr(C)]
pub struct EnvFunc {
    /// The registered name.
    pub name: Str,
}

impl EnvFunc {
    /// Returns the function of a global name.
    ///
    /// # Errors
    ///
    /// `KeyError` for an unknown name.
    pub fn get(name: &str) -> Result<Ref<EnvFunc>> {
        global_function(name)?;
        Ok(EnvFunc::new(name))
    }

    /// Returns the function currently registered.
    ///
    /// # Errors
    ///
    /// `KeyError` if the function has been unregistered.
    pub fn func(&self) -> Result<Function> {
        global_function(&self.name)
    }
}

/// Returns the function of a global name; KeyError for an unknown name.
#[export("ir.EnvFunc")]
fn env_func(name: &str) -> Result<Ref<EnvFunc>> {
    EnvFunc::get(name)
}

#[export("ir.EnvFunc.func")]
fn env_func_func(this: &Ref<EnvFunc>) -> Result<Function> {
    this.func()
}

/// A relation between the types of inputs and outputs, given by a function.
#[derive(Node)]
#[node(key = "ir.TypeRelation")]
#[repr(C)]
pub struct TypeRelation {
    #[node(base, default)]
    base: TypeConstraint,
    /// Infers unknown types from known ones.
    pub func: Ref<EnvFunc>,
    /// The types, inputs first.
    pub args: Array<Ref<Type>>,
    /// The number of inputs among the arguments.
    pub num_inputs: i64,
    /// Attributes of the expression under the relation.
    pub attrs: Option<Ref<Attrs>>,
}

/// A constructor of an algebraic data type.
///
/// Two constructors are equal when their names and inputs are.
#[derive(Node)]
#[node(key = "ir.Constructor", init = make_constructor)]
#[repr(C)]
pub struct Constructor {
    #[node(base, default)]
    base: RelayExpr,
    /// The name.
    pub name_hint: Str,
    /// The types of the constructor's fields.
    pub inputs: Array<Ref<Type>>,
    /// The type of the constructed values.
    #[node(ignore)]
    pub belong_to: Ref<GlobalTypeVar>,
}

impl Constructor {
    /// A number for the constructor, unique within a process; the numbers of one
    /// data type have a common prefix.
    ///
    /// Numbers depend on the names of type and constructor, and on the order of the
    /// calls.
    pub fn tag(&self) -> i64 {
        /// The names of types and of their constructors.
        struct Names {
            types: IndexSet<Box<str>>,
            constructors: Vec<IndexSet<Box<str>>>,
        }
        static NAMES: Mutex<Option<Names>> = Mutex::new(None);
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.get_or_insert_with(|| Names {
            types: IndexSet::new(),
            constructors: Vec::new(),
        });
        let (ty, fresh) = names
            .types
            .insert_full(Box::from(&*self.belong_to.name_hint));
        if fresh {
            names.constructors.push(IndexSet::new());
        }
        let (constructor, _) = names.constructors[ty].insert_full(Box::from(&*self.name_hint));
        (ty as i64) << 24 | constructor as i64
    }
}

/// Makes a constructor of a data type.
#[export("ir.Constructor")]
fn make_constructor(
    name_hint: Str,
    inputs: Array<Ref<Type>>,
    belong_to: Ref<GlobalTypeVar>,
) -> Ref<Constructor> {
    let made = Constructor::new(name_hint, inputs, belong_to);
    // Numbers then follow the order of declaration.
    made.tag();
    made
}

#[export("ir.Constructor.tag")]
fn constructor_tag(this: &Ref<Constructor>) -> i64 {
    this.tag()
}

/// The definition of an algebraic data type.
///
/// The data type is a function over types: an instance is a [`TypeCall`] of the header.
#[derive(Node)]
#[node(key = "ir.TypeData", scope)]
#[repr(C)]
pub struct TypeData {
    #[node(base, default)]
    base: Type,
    /// The name of the type.
    #[node(def)]
    pub header: Ref<GlobalTypeVar>,
    /// Its parameters.
    #[node(def)]
    pub type_vars: Array<Ref<TypeVar>>,
    /// Its constructors.
    pub constructors: Array<Ref<Constructor>>,
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![env_func_func, constructor_tag]
}
