//! Functions, and the meaning of their attributes for passes.

use isoform::traverse::{WalkOptions, WalkOrder, WalkResult, walk_objects};
use isoform::types::{IntoField, RegionKind};
use isoform::values::ValueRef;
use isoform::{Array, Node, Obj, Ref, Result, Str, Value, export};
use isoform_ir::ir::{
    BaseFunc, DictAttrs, FuncType, IRModule, IncompleteType, RelayExpr, Span, TensorType, Type,
    TypeVar,
};
use isoform_ir::transform::{ModuleScript, Signature};

use super::attribute;
use super::text::relay_text;
use super::var::Var;

/// A function: binds its parameters in the function only.
///
/// The function also binds type variables in annotations of parameters.
#[derive(Node)]
#[node(key = "relay.Function", kind = dag, scope, init = make_function, no_new)]
#[node(attrs(dyn Signature, dyn ModuleScript))]
#[node(visit_order(params, type_params, ret_type, attrs, body))]
#[repr(C)]
pub struct Function {
    #[node(base)]
    base: BaseFunc,
    /// The parameters.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The result.
    pub body: Ref<RelayExpr>,
    /// The annotated type of the result.
    #[node(default)]
    pub ret_type: Option<Ref<Type>>,
    /// The parameters of the type.
    #[node(def, default)]
    pub type_params: Array<Ref<TypeVar>>,
}

impl Function {
    /// A function of these parameters. The type of its result, type parameters and
    /// attributes are set by `with_ret_type`, `with_type_params` and
    /// [`with_attr`](isoform_ir::ir::BaseFuncRef::with_attr).
    pub fn new(
        params: impl Into<Array<Ref<Var>>>,
        body: impl IntoField<Ref<RelayExpr>>,
    ) -> Ref<Function> {
        make_function(params.into(), body.into_field(), None, None, None, None)
    }

    /// Returns the function with an expression as its body, and the free variables and
    /// type variables of the expression as parameters, in order of occurrence.
    ///
    /// # Errors
    ///
    /// Errors of a walk of the expression.
    pub fn closing(body: &Ref<RelayExpr>) -> Result<Ref<Function>> {
        let (params, type_params) = (free(body)?, free(body)?);
        Ok(make_function(
            params,
            body.clone(),
            None,
            Some(type_params),
            None,
            None,
        ))
    }

    /// The type given by the annotations, with an [`IncompleteType`] for missing
    /// annotations.
    pub fn func_type_annotation(&self) -> Ref<FuncType> {
        let hole = || IncompleteType::new().upcast();
        let args: Array<_> = self
            .params
            .iter()
            .map(|param| param.type_annotation.clone().unwrap_or_else(hole))
            .collect();
        let result = self.ret_type.clone().unwrap_or_else(hole);
        FuncType::new(args, result).with_type_params(self.type_params.clone())
    }

    /// True if an attribute is a number other than zero.
    pub fn has_nonzero_attribute(&self, name: &str) -> bool {
        let value = self.attrs.as_ref().and_then(|attrs| attrs.dict.get(name));
        match value.map(Value::view) {
            Some(ValueRef::Int(number)) => number != 0,
            Some(ValueRef::Bool(flag)) => flag,
            _ => value.is_some_and(|value| {
                let number = value.peek::<Ref<isoform_ir::ir::IntImm>>();
                number.is_some_and(|number| number.value != 0)
            }),
        }
    }

    /// True if passes may change the body: the function belongs to no other compiler,
    /// and is marked neither `Extern` nor `SkipOptimization`.
    pub fn is_optimizable(&self) -> bool {
        let attrs = self.attrs.as_ref();
        let is_compiled = attrs.is_some_and(|attrs| attrs.dict.get(attribute::COMPILER).is_some());
        !is_compiled
            && !self.has_nonzero_attribute(attribute::EXTERN)
            && !self.has_nonzero_attribute(attribute::SKIP_OPTIMIZATION)
    }
}

/// The variables of a type with uses but no binding in an expression, in order of
/// occurrence.
fn free<T: Node>(body: &Ref<RelayExpr>) -> Result<Array<Ref<T>>> {
    let mut found = Vec::new();
    // Definitions come first, so a bound variable is visited where it is bound.
    let options = WalkOptions::default().order(WalkOrder::Pre);
    options.walk_objects(body, |object: &Ref<Obj>, region| {
        if let (RegionKind::Use, Some(var)) = (region, object.downcast_ref::<T>()) {
            found.push(var.clone());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found.into())
}

/// Makes a function.
#[export("relay.Function")]
pub(super) fn make_function(
    params: Array<Ref<Var>>,
    body: Ref<RelayExpr>,
    ret_type: Option<Ref<Type>>,
    type_params: Option<Array<Ref<TypeVar>>>,
    attrs: Option<Ref<DictAttrs>>,
    span: Option<Ref<Span>>,
) -> Ref<Function> {
    Ref::new(Function {
        base: BaseFunc::with_parts(Some(attrs.unwrap_or_else(DictAttrs::new)), span),
        params,
        body,
        ret_type,
        type_params: type_params.unwrap_or_default(),
    })
}

/// Returns the type given by the annotations of a function, with an incomplete type for
/// missing annotations.
#[export("relay.ir.Function.func_type_annotation")]
fn func_type_annotation(this: &Ref<Function>) -> Ref<FuncType> {
    this.func_type_annotation()
}

/// True if passes may change the body of the function.
#[export("relay.ir.Function.is_optimizable")]
fn is_optimizable(this: &Ref<Function>) -> bool {
    this.is_optimizable()
}

/// Callers see the type, annotated or inferred, and the attributes, because passes
/// treat calls according to attributes. An unknown type follows from the body, so
/// callers then see the whole function.
impl Signature for Function {
    fn signature(&self) -> Result<Value> {
        let written = self.func_type_annotation().upcast();
        let found = [Some(written), self.checked_type_.clone()];
        for ty in found.into_iter().flatten() {
            if is_complete(&ty)? {
                let parts: [Value; 2] = [ty.into(), self.attrs.clone().into()];
                return Ok(parts.into());
            }
        }
        Ok(Ref::new(self.clone_fields()).into())
    }
}

impl ModuleScript for Function {
    fn module_script(&self, module: &Ref<IRModule>) -> Result<Str> {
        Ok(relay_text(module)?.into())
    }
}

/// True if no part of a type is missing. Linear in the size of the type; O(1) for tensors.
pub(super) fn is_complete(ty: &Ref<Type>) -> Result<bool> {
    if ty.isa::<TensorType>() {
        return Ok(true);
    }
    let missing = walk_objects(ty, |object: &Ref<Obj>, _| {
        if object.isa::<IncompleteType>() {
            Ok(WalkResult::Interrupt(()))
        } else {
            Ok(WalkResult::Advance)
        }
    })?;
    Ok(missing.is_none())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![func_type_annotation, is_optimizable]
}
