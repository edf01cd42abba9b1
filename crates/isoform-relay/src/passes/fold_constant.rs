//! Constant folding.

use std::borrow::Cow;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::effects::{Effect, Effects, Globals};
use super::form::{Form, with_operands};
use super::graph::{Graph, Id, Step, is_primitive};
use super::module::map_functions;
use crate::analysis::free_vars;
use crate::attrs::{NdarraySizeAttrs, ShapeOfAttrs};
use crate::eval::{Implementation, Refusal, Runner, integers};
use crate::op::dims;
use crate::{AsExpr, Call, Constant, Function, Tuple, TupleGetItem, Var, dedup};
use isoform::plumbing::Poll;
use isoform::traverse::substitute;
use isoform::types::IntoField;
use isoform::values::{DType, Tensor};
use isoform::{Array, Ref, Result, Value};
use isoform_ir::ir::{Attrs, IRModule, Op, RelayExpr, Span, TensorType, TupleType, Type};

/// The settings of constant folding.
///
/// ```
/// use isoform_relay::passes::FoldConstantOptions;
/// use isoform_relay::{AsExpr, Constant, op};
/// use isoform::values::{DType, Tensor};
///
/// let one = Constant::new(Tensor::new(DType::FLOAT32, vec![], 1_f32.to_le_bytes().to_vec())?);
/// let two = op::add(&one, &one).expr();
/// assert!(FoldConstantOptions::default().fold_constant_expr(&two)?.isa::<Constant>());
/// let none = FoldConstantOptions::default().max_bytes(3);
/// assert!(none.fold_constant_expr(&two)?.same_as(&two));
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldConstantOptions {
    fold_qnn: bool,
    runner: Runner,
}

/// Replaces the known parts of a module's functions by their values.
///
/// * A call of an operator on constants, and on tuples of them, is replaced by its result,
///   with the span and the checked type of the call.
/// * A constant replaces the variable bound to the constant everywhere, and the binding
///   disappears.
/// * A field replaces an item of a tuple written in the program, and a branch replaces
///   an `if` with a known condition.
/// * `shape_of` and `ndarray_size` are known from the type of their argument.
///
/// Effects are never lost, repeated or moved. The pass takes an item, a branch or a
/// shape only if evaluating the dropped part has no effect. The dropped part must not
/// share expressions that have effects or make references with other places. Calls of
/// functions of the module count as effects.
///
/// Calls without arguments stay unchanged, such as `ones`, and so do calls of stateful
/// operators (`TOpIsStateful`) and of operators that are not computational
/// (`TNonComputational`). Calls of `device_copy`, calls of other callees than
/// operators, and calls with undefined results, for example integer divisions by zero,
/// or uncomputable results, stay unchanged, too. Functions marked `Primitive` are left
/// alone. `on_device` around a constant counts as the constant.
///
/// The context of passes has no influence. Results have the data type and shape that type
/// inference finds, and the same bits on every machine. Functions for which
/// [`Function::is_optimizable`] is false are kept. The result is the same object if nothing
/// changes. Linear in the number of expressions, besides the time of the operators.
///
/// # Errors
///
/// `ValueError` if a variable is bound twice; `TypeError` for an expression of a class
/// declared elsewhere; the errors of the kernels of a program.
pub fn fold_constant(module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
    FoldConstantOptions::default().fold_constant(module)
}

/// Replaces the known parts of an expression by their values: [`fold_constant`] for one
/// expression.
///
/// ```
/// use isoform_relay::passes::fold_constant_expr;
/// use isoform_relay::{AsExpr, Constant, Let, Var, op};
/// use isoform::values::{DType, Tensor};
///
/// let number = |x: i32| Ok::<_, isoform::Error>(Constant::new(Tensor::new(
///     DType::INT32, vec![], x.to_le_bytes().to_vec(),
/// )?));
/// let (x, y) = (Var::new("x"), Var::new("y"));
/// // let x = 2 * 3 in x + y
/// let program = Let::new(&x, op::multiply(&number(2)?, &number(3)?), op::add(&x, &y));
/// let folded = fold_constant_expr(&program.expr())?;
/// assert!(isoform::structural_equal(folded, op::add(&number(6)?, &y))?);
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// As [`fold_constant`].
pub fn fold_constant_expr(expr: impl IntoField<Ref<RelayExpr>>) -> Result<Ref<RelayExpr>> {
    FoldConstantOptions::default().fold_constant_expr(&expr.into_field())
}

impl FoldConstantOptions {
    /// Sets whether to fold operators that are not computational if they stand for
    /// operators on quantized values (`FTVMQnnCanonicalize`); false by default.
    #[must_use]
    pub fn fold_qnn(mut self, fold_qnn: bool) -> Self {
        self.fold_qnn = fold_qnn;
        self
    }

    /// Sets the size in bytes of the largest tensor that a call may be replaced by; 2 GiB by
    /// default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.runner.max_bytes = bytes;
        self
    }

    /// Folds the functions of a module. See [`fold_constant`].
    ///
    /// # Errors
    ///
    /// As [`fold_constant`].
    pub fn fold_constant(&self, module: &Ref<IRModule>) -> Result<Ref<IRModule>> {
        map_functions(module, Function::is_optimizable, |func| {
            self.fold_constant_expr(func)
        })
    }

    /// Folds an expression. See [`fold_constant_expr`].
    ///
    /// # Errors
    ///
    /// As [`fold_constant`].
    pub fn fold_constant_expr(&self, expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
        if is_primitive(Form::of(expr)?) {
            return Ok(expr.clone());
        }
        let graph = Graph::of(expr)?;
        let mut folder = Folder {
            options: self,
            becomes: vec![FoldedExpr::Same; graph.len()],
            values: vec![None; graph.len()],
            operators: HashMap::default(),
            replaced: Vec::new(),
            devices: HashMap::default(),
            effects: None,
            graph: &graph,
            poll: Poll::default(),
        };
        for step in &graph.steps {
            folder.poll.step_outside()?;
            match *step {
                Step::Bind(id) => folder.bind(id)?,
                Step::Done(id) => folder.fold(id)?,
            }
        }
        Ok(folder.result(0))
    }
}

/// Decides about the calls of an operator.
struct Operator {
    op: Ref<Op>,
    implementation: Option<Implementation>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Folded,
    Kept,
    ShapeOf,
    NdarraySize,
    /// The value of the call is the value of its argument.
    OnDevice,
}

impl Operator {
    fn of(op: &Ref<Op>, fold_qnn: bool) -> Operator {
        let is_set = |name: &str| match op.attribute(name) {
            Some(value) => value.as_bool() == Some(true) || value.as_int().is_some_and(|n| n != 0),
            None => false,
        };
        let is_qnn = || fold_qnn && op.attribute("FTVMQnnCanonicalize").is_some();
        let role = match &*op.name {
            "on_device" => Role::OnDevice,
            _ if is_set("TOpIsStateful") => Role::Kept,
            "shape_of" | "vm.shape_of" => Role::ShapeOf,
            "ndarray_size" => Role::NdarraySize,
            "device_copy" => Role::Kept,
            _ if is_set("TNonComputational") && !is_qnn() => Role::Kept,
            _ => Role::Folded,
        };
        Operator {
            op: op.clone(),
            implementation: Implementation::of(op),
            role,
        }
    }
}

/// The result for an expression.
#[derive(Clone)]
enum FoldedExpr {
    /// The expression is unchanged.
    Same,
    /// The value of the expression, as a constant. The constant is made on demand of a
    /// surrounding expression: most constants are only arguments of folded calls.
    Value,
    /// The result of another expression; that result is not an `Other` itself.
    Other(Id),
    Expr(Ref<RelayExpr>),
}

struct Folder<'g> {
    options: &'g FoldConstantOptions,
    graph: &'g Graph,
    /// The results of expressions.
    becomes: Vec<FoldedExpr>,
    /// The values of known expressions: constants, and tuples of constants.
    values: Vec<Option<Value>>,
    /// The called operators, by their numbers.
    operators: HashMap<Id, Operator, RandomState>,
    /// The removed variables, with their replacements.
    replaced: Vec<(Ref<Var>, Id)>,
    /// For every expression that is a call of `on_device`, or becomes a call, the
    /// argument.
    devices: HashMap<Id, Id, RandomState>,
    /// The effects in the original program, computed before the first removal.
    effects: Option<Effects>,
    poll: Poll,
}

impl Folder<'_> {
    /// Handles a binding after its value, before its body.
    fn bind(&mut self, id: Id) -> Result<()> {
        let Form::Let(binding) = self.graph.form(id)? else {
            return Ok(());
        };
        let value = self.graph.operands(id)[0];
        if !self.is_constant(value) {
            return Ok(());
        }
        if let Some(var) = self.graph.var(&binding.var) {
            self.take(var, value);
        }
        self.replaced.push((binding.var.clone(), value));
        Ok(())
    }

    /// The rewritten expression.
    fn result(&mut self, id: Id) -> Ref<RelayExpr> {
        let mut id = id;
        if let FoldedExpr::Other(other) = self.becomes[id as usize] {
            id = other;
        }
        let expr = self.graph.expr(id);
        if let FoldedExpr::Expr(result) = &self.becomes[id as usize] {
            return result.clone();
        }
        let value = match self.becomes[id as usize] {
            FoldedExpr::Value => self.values[id as usize].as_ref(),
            _ => None,
        };
        let (ty, span) = (expr.checked_type_.as_ref(), expr.span.as_ref());
        let Some(made) = value.and_then(|value| constant(value, ty, span)) else {
            return expr.clone();
        };
        self.becomes[id as usize] = FoldedExpr::Expr(made.clone());
        made
    }

    /// True if an expression has changed.
    fn is_new(&self, id: Id) -> bool {
        match &self.becomes[id as usize] {
            FoldedExpr::Same => false,
            FoldedExpr::Value | FoldedExpr::Other(_) => true,
            FoldedExpr::Expr(result) => !result.same_as(self.graph.expr(id)),
        }
    }

    /// True if an expression has become one tensor.
    fn is_constant(&self, id: Id) -> bool {
        let value = self.values[id as usize].as_ref();
        value.is_some_and(|value| value.peek::<Tensor>().is_some())
    }

    fn fold(&mut self, id: Id) -> Result<()> {
        let graph = self.graph;
        let form = graph.form(id)?;
        let index = id as usize;
        let operands = graph.operands(id);
        match form {
            Form::Constant(constant) => self.values[index] = Some(constant.data.clone().into()),
            // A replaced variable has had its result since its binding.
            Form::Var(_) | Form::GlobalVar(_) | Form::Op(_) | Form::Constructor(_) => {}
            Form::Let(_) if self.is_constant(operands[0]) => self.take(id, operands[1]),
            Form::TupleGetItem(get) => self.item(id, get)?,
            Form::If(_) => match self.branch(operands)? {
                Some(branch) => self.take(id, branch),
                None => self.rebuild(id)?,
            },
            Form::Call(call) => self.call(id, call)?,
            Form::Tuple(_) => {
                self.rebuild(id)?;
                let values = operands
                    .iter()
                    .map(|field| self.values[*field as usize].clone());
                self.values[index] = values.collect::<Option<Array>>().map(Value::from);
            }
            Form::Function(func) if is_primitive(form) && operands.is_empty() => {
                self.becomes[index] = FoldedExpr::Expr(self.closed(func)?);
            }
            Form::Function(_)
            | Form::Let(_)
            | Form::Match(_)
            | Form::RefCreate(_)
            | Form::RefRead(_)
            | Form::RefWrite(_) => self.rebuild(id)?,
        }
        Ok(())
    }

    /// An expression becomes the result of another expression.
    fn take(&mut self, id: Id, other: Id) {
        self.becomes[id as usize] = match self.becomes[other as usize] {
            FoldedExpr::Other(further) => FoldedExpr::Other(further),
            _ => FoldedExpr::Other(other),
        };
        self.values[id as usize] = self.values[other as usize].clone();
    }

    fn rebuild(&mut self, id: Id) -> Result<()> {
        let operands = self.graph.operands(id);
        if operands.iter().any(|operand| self.is_new(*operand)) {
            let parts: Vec<_> = operands.iter().map(|id| self.result(*id)).collect();
            let made = with_operands(self.graph.expr(id), &parts)?;
            self.becomes[id as usize] = FoldedExpr::Expr(made);
        }
        Ok(())
    }

    fn condition(&self, id: Id) -> Option<bool> {
        let tensor = self.values[id as usize].as_ref()?.peek::<Tensor>()?;
        match (tensor.dtype() == DType::BOOL, &tensor.data()[..]) {
            (true, [byte]) => Some(*byte != 0),
            _ => None,
        }
    }

    /// The branch that replaces an `if`.
    fn branch(&mut self, operands: &[Id]) -> Result<Option<Id>> {
        let Some(cond) = self.condition(operands[0]) else {
            return Ok(None);
        };
        // Expressions shared with other places are computed before the `if`, not in the
        // branch.
        let effects = self.effects()?;
        let is_pinned = operands[1..]
            .iter()
            .any(|branch| effects.is_pinned(*branch));
        let branch = if cond { operands[1] } else { operands[2] };
        Ok((!is_pinned).then_some(branch))
    }

    fn effects(&mut self) -> Result<&Effects> {
        let effects = match self.effects.take() {
            Some(effects) => effects,
            None => Effects::of(self.graph, &Globals::default())?,
        };
        Ok(self.effects.insert(effects))
    }

    /// The expression whose result replaces that of `id`, or `id` itself.
    fn resolved(&self, id: Id) -> Id {
        match self.becomes[id as usize] {
            FoldedExpr::Other(other) => other,
            _ => id,
        }
    }

    fn item(&mut self, id: Id, get: &Ref<TupleGetItem>) -> Result<()> {
        let operand = self.graph.operands(id)[0];
        let Ok(index) = usize::try_from(get.index) else {
            return self.rebuild(id);
        };
        // `on_device` around a tuple also belongs to the field.
        let outer = self.resolved(operand);
        let inner = self.devices.get(&outer).copied();
        let tuple = self.resolved(inner.unwrap_or(outer));
        let fields = match self.graph.form(tuple)? {
            Form::Tuple(_) => self.graph.operands(tuple),
            _ => return self.item_of_value(id, operand, index),
        };
        let field = fields.get(index).copied();
        let Some(field) = field else {
            return self.rebuild(id);
        };
        if !self.may_pick(operand, fields, index)? {
            return self.rebuild(id);
        }
        if inner.is_none() {
            self.take(id, field);
            return Ok(());
        }
        let (device, field_result) = (self.result(outer), self.result(field));
        let Form::Call(call) = Form::of(&device)? else {
            return self.rebuild(id);
        };
        let new_call = with_operands(&device, &[call.op.clone(), field_result])?;
        self.becomes[id as usize] = FoldedExpr::Expr(new_call);
        self.values[id as usize] = self.values[field as usize].clone();
        self.devices.insert(id, field);
        Ok(())
    }

    /// True if no effect is lost when a tuple disappears, except for one of its fields.
    fn may_pick(&mut self, tuple: Id, fields: &[Id], index: usize) -> Result<bool> {
        // An expression folded to a constant is known to have no effect.
        let others = fields
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != index)
            .map(|(_, field)| *field);
        let unknown: Vec<Id> = others
            .filter(|field| self.values[*field as usize].is_none())
            .collect();
        if unknown.is_empty() && self.values[fields[index] as usize].is_some() {
            return Ok(true);
        }
        let effects = self.effects()?;
        let may_go = |field: &Id| effects.of_evaluating(*field) < Effect::Any;
        Ok(!effects.is_pinned(tuple) && unknown.iter().all(may_go))
    }

    /// An item of the result of a call.
    fn item_of_value(&mut self, id: Id, operand: Id, index: usize) -> Result<()> {
        let values = self.values[operand as usize].as_ref();
        let value = values.and_then(|value| value.items()?.get(index).cloned());
        let tuple = self.result(operand);
        let device = on_device(&tuple);
        let inner = device.map_or(&tuple, |(_, inner)| inner);
        let field = inner
            .downcast_ref::<Tuple>()
            .and_then(|tuple| tuple.fields.get(index));
        let (Some(field), Some(_)) = (field.cloned(), &value) else {
            return self.rebuild(id);
        };
        let made = match device {
            Some((call, _)) => with_operands(&call.expr(), &[call.op.clone(), field])?,
            None => field,
        };
        self.becomes[id as usize] = FoldedExpr::Expr(made);
        self.values[id as usize] = value;
        Ok(())
    }

    fn call(&mut self, id: Id, call: &Ref<Call>) -> Result<()> {
        let operands = self.graph.operands(id);
        let callee = operands[0];
        let Form::Op(op) = self.graph.form(callee)? else {
            return self.rebuild(id);
        };
        if operands.len() == 1 {
            return Ok(());
        }
        let fold_qnn = self.options.fold_qnn;
        let entry = self.operators.entry(callee);
        let operator = entry.or_insert_with(|| Operator::of(op, fold_qnn));
        let result = match operator.role {
            Role::Kept => None,
            Role::OnDevice => {
                let value = self.values[operands[1] as usize].clone();
                self.rebuild(id)?;
                self.values[id as usize] = value;
                if let [_, argument] = operands {
                    self.devices.insert(id, *argument);
                }
                return Ok(());
            }
            Role::ShapeOf | Role::NdarraySize => {
                let (role, argument) = (operator.role, operands[1]);
                let value = self.values[argument as usize].as_ref();
                let has_value = value.is_some();
                let shape = known_shape(value, self.graph.expr(argument)).map(Cow::into_owned);
                match shape {
                    Some(shape) if has_value || self.effects()?.may_drop(argument) => {
                        counted(role, &shape, call.attrs.as_ref(), self.options)?
                    }
                    _ => None,
                }
            }
            Role::Folded => {
                let values = operands[1..]
                    .iter()
                    .map(|arg| self.values[*arg as usize].clone());
                let values: Option<smallvec::SmallVec<[Value; 3]>> = values.collect();
                match values {
                    Some(values) => {
                        let runner = self.options.runner;
                        let implementation = operator.implementation.as_ref();
                        let attrs = call.attrs.as_ref();
                        known(runner.run(&operator.op, implementation, &values, attrs))?
                    }
                    None => None,
                }
            }
        };
        let Some(value) = result else {
            return self.rebuild(id);
        };
        if !can_be_written(&value) {
            return self.rebuild(id);
        }
        self.becomes[id as usize] = FoldedExpr::Value;
        self.values[id as usize] = Some(value);
        Ok(())
    }

    /// A function that is not entered, with removed outer variables replaced.
    fn closed(&mut self, func: &Ref<Function>) -> Result<Ref<RelayExpr>> {
        let free = if self.replaced.is_empty() {
            Vec::new()
        } else {
            free_vars(func)?
        };
        let mut pairs = Vec::with_capacity(free.len());
        for var in &free {
            let by_number = self.graph.var(var).filter(|id| self.is_new(*id));
            let replacement = || self.replaced.iter().find(|(old, _)| old.same_as(var));
            if let Some(id) = by_number.or_else(|| replacement().map(|(_, id)| *id)) {
                pairs.push((Value::from(var), Value::from(self.result(id))));
            }
        }
        let func = func.expr();
        if pairs.is_empty() {
            Ok(func)
        } else {
            // Another function may share a binding with this function.
            dedup(&substitute(func, &pairs)?.extract()?)
        }
    }
}

/// The value of a call, if known.
fn known(outcome: std::result::Result<Value, Refusal>) -> Result<Option<Value>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Refusal::Unknown(_)) => Ok(None),
        Err(Refusal::Failed(error)) => Err(error),
    }
}

/// A call of `on_device` and its argument.
fn on_device(expr: &Ref<RelayExpr>) -> Option<(&Ref<Call>, &Ref<RelayExpr>)> {
    let call = expr.downcast_ref::<Call>()?;
    let op = call.op.downcast_ref::<Op>()?;
    let is_one = &*op.name == "on_device" && call.args.len() == 1;
    Some((call, call.args.get(0).filter(|_| is_one)?))
}

/// The shape of an expression with a known value or type.
fn known_shape<'e>(value: Option<&'e Value>, expr: &'e Ref<RelayExpr>) -> Option<Cow<'e, [i64]>> {
    if let Some(tensor) = value.and_then(|value| value.peek::<Tensor>()) {
        return Some(tensor.shape().into());
    }
    let ty = expr.checked_type_.as_ref()?.downcast_ref::<TensorType>()?;
    let sizes = ty.shape.iter().map(dims::known);
    sizes.collect::<Option<Vec<i64>>>().map(Cow::from)
}

/// The value of `shape_of` or `ndarray_size`.
fn counted(
    role: Role,
    shape: &[i64],
    attrs: Option<&Ref<Attrs>>,
    options: &FoldConstantOptions,
) -> Result<Option<Value>> {
    let dtype = attrs.and_then(|attrs| match role {
        Role::ShapeOf => attrs
            .downcast_ref::<ShapeOfAttrs>()
            .map(|attrs| attrs.dtype),
        _ => attrs
            .downcast_ref::<NdarraySizeAttrs>()
            .map(|attrs| attrs.dtype),
    });
    let dtype = dtype
        .filter(|dtype| !dtype.is_void())
        .unwrap_or(DType::INT32);
    let value = match role {
        Role::ShapeOf => integers(shape, &[shape.len()], dtype, options.runner),
        _ => match shape
            .iter()
            .try_fold(1_i64, |count, size| count.checked_mul(*size))
        {
            Some(count) => integers(&[count], &[], dtype, options.runner),
            None => return Ok(None),
        },
    };
    known(value)
}

/// True for the values supported by [`constant`].
fn can_be_written(value: &Value) -> bool {
    value.peek::<Tensor>().is_some()
        || value.peek::<Array>().is_some_and(|items| {
            let mut items = items.values().iter();
            items.all(|item| item.peek::<Tensor>().is_some())
        })
}

/// A value as a constant, or a tuple of constants.
fn constant(
    value: &Value,
    ty: Option<&Ref<Type>>,
    span: Option<&Ref<Span>>,
) -> Option<Ref<RelayExpr>> {
    if let Some(tensor) = value.peek::<Tensor>() {
        return Some(Constant::typed(tensor.clone(), ty.cloned(), span.cloned()).expr());
    }
    let types = ty.and_then(|ty| ty.downcast_ref::<TupleType>());
    let items = value.items()?;
    let fields = items.iter().enumerate().map(|(position, item)| {
        // Operators return no tuples of tuples.
        let tensor = item.peek::<Tensor>()?.clone();
        let ty = types.and_then(|types| types.fields.get(position));
        Some(Constant::typed(tensor, ty.cloned(), span.cloned()).expr())
    });
    let fields = fields.collect::<Option<Vec<Ref<RelayExpr>>>>()?;
    Some(Tuple::typed(fields, ty.cloned(), span.cloned()).expr())
}
