//! The type variables of expressions and types.

use hashbrown::HashSet;
use isoform::traverse::{WalkOptions, WalkOrder, WalkResult, children_of};
use isoform::types::RegionKind;
use isoform::{Array, Error, Obj, Ref, Result, Value, export};
use isoform_ir::ir::{Constructor, FuncType, IRModule, RelayExpr, Type, TypeData, TypeVar};
use rapidhash::fast::RandomState;

use super::order::{Step, Visitor, visit, visit_below};
use crate::{Call, Function, Match, Pattern, PatternVar, Var};

/// The type variables of an expression or a type.
///
/// Made by [`type_vars`]. All variables are in order of occurrence. The type parameters
/// of a function come before the annotations of its parameters and its body, the type
/// parameters of a function type before constraints, arguments and result. The
/// annotated result of a function is not searched.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TypeVars {
    /// Those that occur.
    pub all: Vec<Ref<TypeVar>>,
    /// Type variables that are parameters of a function or a type.
    pub bound: Vec<Ref<TypeVar>>,
}

impl TypeVars {
    /// Type variables without a binding.
    pub fn free(&self) -> Vec<Ref<TypeVar>> {
        let bound: HashSet<u64, RandomState> = self.bound.iter().map(Ref::identity).collect();
        let free = self
            .all
            .iter()
            .filter(|var| !bound.contains(&var.identity()));
        free.cloned().collect()
    }
}

/// Returns the type variables of an expression or a type. The type variables of a
/// constructor include the parameters of its data type, if the module defines the data
/// type. Linear in the number of objects.
///
/// ```
/// use isoform_relay::analysis;
/// use isoform_ir::ir::{FuncType, TypeVar};
///
/// let [a, b, c] = ["a", "b", "c"].map(TypeVar::new);
/// let ty = FuncType::new([b.clone().upcast()], &c).with_type_params([a.clone()]);
/// let found = analysis::type_vars(&ty, None)?;
/// assert_eq!(found.all, [a.clone(), b.clone(), c.clone()]);
/// assert_eq!((found.bound.clone(), found.free()), (vec![a], vec![b, c]));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `TypeError` for values other than expressions and types.
pub fn type_vars(of: impl Into<Value>, module: Option<&Ref<IRModule>>) -> Result<TypeVars> {
    let of = of.into();
    let mut search = Search {
        module,
        found: TypeVars::default(),
        known: HashSet::default(),
        binders: HashSet::default(),
        types: HashSet::default(),
    };
    match of.as_object() {
        Some(object) if object.isa::<RelayExpr>() => {
            let expr: Ref<RelayExpr> = of.extract()?;
            visit(&expr, &mut search)?;
        }
        Some(object) if object.isa::<Type>() => search.search_type(object),
        _ => {
            return Err(Error::type_error(format!(
                "type_vars: expected ir.RelayExpr or ir.Type, got {}",
                of.type_name()
            )));
        }
    }
    Ok(search.found)
}

struct Search<'m> {
    module: Option<&'m Ref<IRModule>>,
    found: TypeVars,
    known: HashSet<u64, RandomState>,
    binders: HashSet<u64, RandomState>,
    /// The searched types.
    types: HashSet<u64, RandomState>,
}

impl Search<'_> {
    fn meet(&mut self, var: &Ref<TypeVar>) {
        if self.known.insert(var.identity()) {
            self.found.all.push(var.clone());
        }
    }

    fn bind(&mut self, vars: &Array<Ref<TypeVar>>) {
        for var in vars.iter() {
            self.meet(var);
            if self.binders.insert(var.identity()) {
                self.found.bound.push(var.clone());
            }
        }
    }

    /// Searches a type, or an object inside a type.
    fn search_type(&mut self, ty: &Ref<Obj>) {
        let mut stack = vec![Value::from(ty)];
        while let Some(value) = stack.pop() {
            let Some(object) = value.as_object() else {
                continue;
            };
            if !self.types.insert(object.identity()) {
                continue;
            }
            let mut below: Vec<Value> = Vec::new();
            if let Some(var) = object.downcast_ref::<TypeVar>() {
                self.meet(var);
            } else if let Some(func) = object.downcast_ref::<FuncType>() {
                self.bind(&func.type_params);
                below.push(func.type_constraints.clone().into());
                below.push(func.arg_types.clone().into());
                below.push((&func.ret_type).into());
            } else {
                if let Some(data) = object.downcast_ref::<TypeData>() {
                    self.bind(&data.type_vars);
                }
                let children = children_of(&value);
                below.extend(children.iter(RegionKind::Use).map(|child| child.value));
            }
            stack.extend(below.into_iter().rev());
        }
    }

    fn search_annotation(&mut self, var: &Ref<Var>) {
        if let Some(ty) = &var.type_annotation {
            self.search_type(ty.as_object());
        }
    }

    fn search_pattern(&mut self, pattern: &Ref<Pattern>) -> Result<()> {
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let mut vars = Vec::new();
        options.walk_objects(pattern, |object, _| {
            if let Some(found) = object.downcast_ref::<PatternVar>() {
                vars.push(found.var.clone());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        vars.iter().for_each(|var| self.search_annotation(var));
        Ok(())
    }
}

impl Visitor for Search<'_> {
    type VisitAction = VisitAction;

    fn arrive(
        &mut self,
        expr: &Ref<RelayExpr>,
        arrivals: u32,
        next: &mut Vec<Step<VisitAction>>,
    ) -> Result<()> {
        if arrivals > 1 {
            return Ok(());
        }
        if let Some(var) = expr.downcast_ref::<Var>() {
            self.search_annotation(var);
        } else if let Some(func) = expr.downcast_ref::<Function>() {
            self.bind(&func.type_params);
        } else if let Some(call) = expr.downcast_ref::<Call>() {
            next.push(Step::Visit(call.op.clone()));
            let types = call.type_args().iter();
            next.extend(types.map(|ty| Step::Then(VisitAction::Type(ty.clone()))));
            next.extend(call.args.iter().cloned().map(Step::Visit));
            return Ok(());
        } else if let Some(constructor) = expr.downcast_ref::<Constructor>() {
            let definition = self
                .module
                .and_then(|module| module.lookup_type(&constructor.belong_to).ok());
            if let Some(definition) = definition {
                self.bind(&definition.type_vars);
            }
            for input in constructor.inputs.iter() {
                self.search_type(input.as_object());
            }
        } else if let Some(cases) = expr.downcast_ref::<Match>() {
            next.push(Step::Visit(cases.data.clone()));
            for clause in cases.clauses.iter() {
                next.push(Step::Then(VisitAction::Pattern(clause.lhs.clone())));
                next.push(Step::Visit(clause.rhs.clone()));
            }
            return Ok(());
        }
        visit_below(expr, next);
        Ok(())
    }

    fn then(&mut self, then: VisitAction) -> Result<()> {
        match then {
            VisitAction::Type(ty) => {
                self.search_type(ty.as_object());
                Ok(())
            }
            VisitAction::Pattern(pattern) => self.search_pattern(&pattern),
        }
    }
}

enum VisitAction {
    Type(Ref<Type>),
    Pattern(Ref<Pattern>),
}

/// The type variables without a binding in an expression or a type, in order of
/// occurrence.
#[export("relay.analysis.free_type_vars")]
fn free_type_vars(expr: Ref<Obj>, r#mod: Option<Ref<IRModule>>) -> Result<Array<Ref<TypeVar>>> {
    Ok(type_vars(expr, r#mod.as_ref())?.free().into())
}

/// The type variables that functions and types in an expression or a type bind, in order
/// of occurrence.
#[export("relay.analysis.bound_type_vars")]
fn bound_type_vars(expr: Ref<Obj>, r#mod: Option<Ref<IRModule>>) -> Result<Array<Ref<TypeVar>>> {
    Ok(type_vars(expr, r#mod.as_ref())?.bound.into())
}

/// The type variables that occur in an expression or a type, in order of occurrence.
#[export("relay.analysis.all_type_vars")]
fn all_type_vars(expr: Ref<Obj>, r#mod: Option<Ref<IRModule>>) -> Result<Array<Ref<TypeVar>>> {
    Ok(type_vars(expr, r#mod.as_ref())?.all.into())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![free_type_vars, bound_type_vars, all_type_vars]
}
