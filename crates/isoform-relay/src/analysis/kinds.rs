//! Kinds of types.

use isoform::traverse::{NodeFunctor, Results};
use isoform::{Array, Error, Node, Ref, Result, export};
use isoform_ir::ir::{
    FuncType, GlobalTypeVar, IRModule, IncompleteType, RelayRefType, TensorType, TupleType, Type,
    TypeCall, TypeConstraint, TypeData, TypeKind, TypeVar,
};

/// Returns the kind of a type, after checking the kinds of all types inside.
///
/// Fields of tuples, arguments and results of functions, values of references and
/// inputs of constructors must be types of values. Constraints must be constraints. A
/// data type is applied to as many types as its definition in the module has
/// parameters. Depth is limited by memory only. Linear in the number of objects.
///
/// ```
/// use isoform_relay::analysis::check_kind;
/// use isoform_ir::ir::{TupleType, Type, TypeKind, TypeVar};
///
/// let shape = TypeVar::new("n").with_kind(TypeKind::ShapeVar as i64);
/// assert_eq!(check_kind(&shape.clone().upcast(), None)?, TypeKind::ShapeVar);
/// let pair = TupleType::new([shape.upcast()]).upcast();
/// let error = check_kind(&pair, None).expect_err("a size is no value");
/// assert!(error.message().contains("ir.TupleType.fields[0]: expected kind Type"));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `TypeError` with the place of a type of the wrong kind; `ValueError` for an applied
/// data type without a definition in the module.
pub fn check_kind(ty: &Ref<Type>, module: Option<&Ref<IRModule>>) -> Result<TypeKind> {
    type Kinds<'r> = Results<'r, TypeKind>;
    let mut context = module.cloned();
    NodeFunctor::new()
        .on(
            |_: &mut Option<Ref<IRModule>>, ty: &Ref<Type>, _: &Kinds<'_>| {
                Err(Error::type_error(format!(
                    "check_kind: expected a type of Relay, got {}",
                    ty.type_info().key()
                )))
            },
        )
        .on(|_, _: &Ref<TensorType>, _| Ok(TypeKind::Type))
        .on(|_, var: &Ref<TypeVar>, _| TypeKind::from_number(var.kind))
        .on(|_, var: &Ref<GlobalTypeVar>, _| TypeKind::from_number(var.kind))
        .on(|_, hole: &Ref<IncompleteType>, _| TypeKind::from_number(hole.kind))
        .on(|_, _: &Ref<TypeConstraint>, _| Ok(TypeKind::Constraint))
        .on(|_, tuple: &Ref<TupleType>, of| {
            all(of, "ir.TupleType.fields", &tuple.fields, TypeKind::Type)?;
            Ok(TypeKind::Type)
        })
        .on(|_, func: &Ref<FuncType>, of| {
            all(of, "ir.FuncType.arg_types", &func.arg_types, TypeKind::Type)?;
            one(of, "ir.FuncType.ret_type", &func.ret_type, TypeKind::Type)?;
            let constraints = &func.type_constraints;
            all(
                of,
                "ir.FuncType.type_constraints",
                constraints,
                TypeKind::Constraint,
            )?;
            Ok(TypeKind::Type)
        })
        .on(|_, reference: &Ref<RelayRefType>, of| {
            one(
                of,
                "ir.RelayRefType.value",
                &reference.value,
                TypeKind::Type,
            )?;
            Ok(TypeKind::Type)
        })
        .on(
            |module: &mut Option<Ref<IRModule>>, call: &Ref<TypeCall>, of| {
                let Some(name) = call.func.downcast_ref::<GlobalTypeVar>() else {
                    return Err(Error::type_error(format!(
                        "ir.TypeCall.func: expected ir.GlobalTypeVar, got {}",
                        call.func.type_info().key()
                    )));
                };
                one(of, "ir.TypeCall.func", &call.func, TypeKind::AdtHandle)?;
                all(of, "ir.TypeCall.args", &call.args, TypeKind::Type)?;
                let Some(module) = module else {
                    return Err(Error::value_error(format!(
                        "check_kind: expected a module that defines the data type {}, got None",
                        name.name_hint
                    )));
                };
                let expected = module.lookup_type(name)?.type_vars.len();
                if call.args.len() == expected {
                    Ok(TypeKind::Type)
                } else {
                    Err(Error::type_error(format!(
                        "ir.TypeCall.args: expected {expected} types for the data type {}, got {}",
                        name.name_hint,
                        call.args.len()
                    )))
                }
            },
        )
        .on(|_, data: &Ref<TypeData>, of| {
            one(of, "ir.TypeData.header", &data.header, TypeKind::AdtHandle)?;
            for constructor in data.constructors.iter() {
                all(
                    of,
                    "ir.Constructor.inputs",
                    &constructor.inputs,
                    TypeKind::Type,
                )?;
            }
            Ok(TypeKind::TypeData)
        })
        .compute(&mut context, ty)
}

/// Checks the kind of one type.
fn one<T: Node>(
    of: &Results<'_, TypeKind>,
    place: &str,
    ty: &Ref<T>,
    expected: TypeKind,
) -> Result<()> {
    let kind = *of.of(ty)?;
    if kind == expected {
        Ok(())
    } else {
        Err(Error::type_error(format!(
            "{place}: expected kind {expected:?}, got {} of kind {kind:?}",
            ty.type_info().key()
        )))
    }
}

/// Checks the kinds of several types.
fn all<T: Node>(
    of: &Results<'_, TypeKind>,
    place: &str,
    types: &Array<Ref<T>>,
    expected: TypeKind,
) -> Result<()> {
    let mut types = types.iter().enumerate();
    types.try_for_each(|(position, ty)| one(of, &format!("{place}[{position}]"), ty, expected))
}

/// Returns the number of the kind of a type, after checking the kinds of all types
/// inside.
#[export("relay.analysis.check_kind")]
fn exported_check_kind(t: &Ref<Type>, r#mod: Option<Ref<IRModule>>) -> Result<i64> {
    Ok(check_kind(t, r#mod.as_ref())? as i64)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_check_kind]
}
