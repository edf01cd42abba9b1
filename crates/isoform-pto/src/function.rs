//! Functions and programs.

use isoform::functions::Argument;
use isoform::types::{Enumerator, IntoField, NodeEnum, Schema};
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, export};
use isoform_ir::transform::{Check, Root, Script, Signature};

use super::arguments::Attrs;
use super::call::GlobalVar;
use super::enums::{
    FunctionType, FunctionTypeObject, Level, LevelObject, ParamDirection, Role, RoleObject,
};
use super::expr::Var;
use super::node::{IRNode, Span};
use super::stmt::Stmt;
use super::ty::Type;

/// A function; its bindings end with it.
#[derive(Node)]
#[node(
    key = "pto.Function", scope, init = make_function, no_new,
    attrs(dyn Script, dyn Signature)
)]
#[repr(C)]
pub struct Function {
    #[node(base)]
    base: IRNode,
    /// The name; programs compare the name, since calls refer to it.
    #[node(ignore)]
    pub name: Str,
    /// The parameters.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The directions of the parameters.
    pub param_directions: Array<Enumerator<ParamDirection>>,
    /// The types of the results.
    pub return_types: Array<Ref<Type>>,
    /// The body.
    pub body: Ref<Stmt>,
    /// The place of execution.
    #[node(name = "type")]
    pub func_type: Enumerator<FunctionType>,
    /// The level of the machine that runs the function.
    pub level: Option<Enumerator<Level>>,
    /// The role at the level.
    pub role: Option<Enumerator<Role>>,
    /// Additional information from passes and users.
    pub attrs: Map<Str, Value>,
    /// True if the run-time system must bind the function before calls.
    pub requires_runtime_binding: bool,
}

impl Function {
    /// A function with input parameters only, and defaults for the other fields.
    pub fn new(
        name: impl Into<Str>,
        params: impl IntoField<Array<Ref<Var>>>,
        return_types: impl IntoField<Array<Ref<Type>>>,
        body: impl IntoField<Ref<Stmt>>,
    ) -> Ref<Self> {
        let params = params.into_field();
        Ref::new(Function {
            base: IRNode::default(),
            name: name.into(),
            param_directions: directions(params.iter().map(|_| ParamDirection::In)),
            params,
            return_types: return_types.into_field(),
            body: body.into_field(),
            func_type: FunctionType::Opaque.object(),
            level: None,
            role: None,
            attrs: Map::new(),
            requires_runtime_binding: false,
        })
    }
}

fn directions(given: impl Iterator<Item = ParamDirection>) -> Array<Enumerator<ParamDirection>> {
    given.map(NodeEnum::object).collect::<Vec<_>>().into()
}

/// A parameter, alone or with a direction.
pub(super) struct Param(Ref<Var>, Enumerator<ParamDirection>);

impl Argument for Param {
    fn schema() -> Schema {
        let pair = [
            Schema::object::<Var>(),
            <Enumerator<ParamDirection> as Argument>::schema(),
        ];
        Schema::Union(Box::new([
            Schema::object::<Var>(),
            Schema::Tuple(Box::new(pair)),
        ]))
    }

    fn from_value(value: Value) -> Result<Self> {
        let value = Self::schema().convert(value)?;
        if let Some(var) = value.peek::<Ref<Var>>() {
            return Ok(Param(var.clone(), ParamDirection::In.object()));
        }
        let pair = value.extract::<Array>()?;
        match pair.values() {
            [var, direction] => Ok(Param(var.extract()?, direction.extract()?)),
            _ => Err(Error::type_error("expected a parameter and its direction")),
        }
    }
}

/// The level of the machine and the role there that follow from the kind of a function.
fn usual_place(kind: FunctionType) -> Option<(Level, Role)> {
    match kind {
        FunctionType::Orchestration => Some((Level::Chip, Role::Orchestrator)),
        FunctionType::InCore => Some((Level::ChipDie, Role::SubWorker)),
        _ => None,
    }
}

/// Makes a function; a parameter without a direction is an input, and without level and
/// role, those that follow from the type are used.
#[export("pto.Function")]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters are those in Python"
)]
pub(super) fn make_function(
    name: Str,
    params: Vec<Param>,
    return_types: Array<Ref<Type>>,
    body: Ref<Stmt>,
    span: Option<Ref<Span>>,
    #[default = FunctionType::Opaque.object()] r#type: Ref<FunctionTypeObject>,
    level: Option<Ref<LevelObject>>,
    role: Option<Ref<RoleObject>>,
    attrs: Option<Attrs>,
    #[default = false] requires_runtime_binding: bool,
) -> Ref<Function> {
    let (params, directions): (Vec<_>, Vec<_>) = params
        .into_iter()
        .map(|Param(var, direction)| (var, direction))
        .unzip();
    let (level, role) = match (level, role, usual_place(r#type.get())) {
        (None, None, Some((level, role))) => (Some(level.object()), Some(role.object())),
        (level, role, _) => (level, role),
    };
    Ref::new(Function {
        base: IRNode::at(span),
        name,
        params: params.into(),
        param_directions: directions.into(),
        return_types,
        body,
        func_type: r#type,
        level,
        role,
        attrs: attrs.unwrap_or_default().0,
        requires_runtime_binding,
    })
}

/// A collection of functions; calls refer to functions by name.
#[derive(Node)]
#[node(
    key = "pto.Program", init = make_program, no_new,
    attrs(dyn Root, dyn Script, dyn Check)
)]
#[repr(C)]
pub struct Program {
    #[node(base)]
    base: IRNode,
    /// The functions by name.
    pub functions: Map<Str, Ref<Function>>,
    /// For people.
    #[node(ignore)]
    pub name: Str,
}

impl Program {
    /// The program with these functions under their own names.
    pub(super) fn holding(&self, functions: Map<Str, Ref<Function>>) -> Ref<Self> {
        Ref::new(Program {
            functions,
            ..self.clone_fields()
        })
    }

    /// Makes a program of these functions.
    ///
    /// # Errors
    ///
    /// `ValueError` for two functions with the same name, or a function without a name.
    pub fn new(
        functions: impl IntoIterator<Item = Ref<Function>>,
        name: impl Into<Str>,
    ) -> Result<Ref<Self>> {
        make_program(functions.into_iter().collect(), name.into(), None)
    }

    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<&Ref<Function>> {
        self.functions.get(name)
    }

    /// Returns the callee for the name of a function, if the function exists.
    pub fn global_var(&self, name: &str) -> Option<Ref<GlobalVar>> {
        let found = self.functions.contains_key(name);
        found.then(|| GlobalVar::new(name))
    }
}

/// Makes a program of functions with different names.
#[export("pto.Program")]
pub(super) fn make_program(
    functions: Vec<Ref<Function>>,
    #[default = ""] name: Str,
    span: Option<Ref<Span>>,
) -> Result<Ref<Program>> {
    let mut by_name = Map::<Str, Ref<Function>>::new();
    for function in functions {
        let key = function.name.clone();
        if key.is_empty() {
            return Err(Error::value_error(
                "pto.Program.functions: expected functions with names, got one without",
            ));
        }
        if by_name.insert(key.clone(), function).is_some() {
            return Err(Error::value_error(format!(
                "pto.Program.functions: expected different names, got two functions '{key}'"
            )));
        }
    }
    Ok(Ref::new(Program {
        base: IRNode::at(span),
        functions: by_name,
        name,
    }))
}

/// Returns the function of a name; None for an unknown name.
#[export("pto.Program.get_function")]
fn get_function(this: &Ref<Program>, name: &str) -> Option<Ref<Function>> {
    this.function(name).cloned()
}

/// Returns the callee for the name of a function; None for an unknown name.
#[export("pto.Program.get_global_var")]
fn get_global_var(this: &Ref<Program>, name: &str) -> Option<Ref<GlobalVar>> {
    this.global_var(name)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { Program:
        get_function = get_function,
        get_global_var = get_global_var,
    }?;
    Ok(())
}
