//! The users of the expressions, and the patterns of the uses.

use crate::Call;
use crate::op::OpPattern;
use crate::passes::form::Form;
use crate::passes::graph::{Graph, Id};
use isoform::values::DType;
use isoform::{Error, Ref, Result, Value, structural_equal};
use isoform_ir::ir::{IntImm, Op, RelayExpr, TensorType, TupleType, Type};

/// The edges of a graph from operands to users.
pub(super) struct Dataflow {
    /// How each expression computes.
    pub(super) patterns: Vec<OpPattern>,
    /// The users of the expressions, with the patterns of the uses.
    pub(super) users: Vec<Vec<(Id, OpPattern)>>,
    /// True for expressions with a user other than operators and tuples.
    pub(super) is_external: Vec<bool>,
}

impl Dataflow {
    /// The edges of a graph with known types.
    ///
    /// # Errors
    ///
    /// `ValueError` if the type of a call or tuple is not known.
    pub(super) fn of(graph: &Graph) -> Result<Dataflow> {
        let mut flow = Dataflow {
            patterns: vec![OpPattern::Opaque; graph.len()],
            users: vec![Vec::new(); graph.len()],
            is_external: vec![false; graph.len()],
        };
        flow.is_external[0] = true;
        for id in 0..graph.len() as Id {
            flow.add(graph, id)?;
        }
        Ok(flow)
    }

    fn add(&mut self, graph: &Graph, id: Id) -> Result<()> {
        let operands = graph.operands(id);
        match graph.form(id)? {
            Form::Constant(constant) => {
                const SIMPLE: [DType; 5] = [
                    DType::INT32,
                    DType::INT64,
                    DType::FLOAT32,
                    DType::FLOAT64,
                    DType::BOOL,
                ];
                if constant.is_scalar() && SIMPLE.contains(&constant.data.dtype()) {
                    self.patterns[id as usize] = OpPattern::ElemWise;
                }
            }
            Form::Call(call) => {
                let Some(op) = call.op.downcast_ref::<Op>() else {
                    self.use_externally(operands);
                    return Ok(());
                };
                let ty = type_of(graph.expr(id))?;
                let pattern =
                    if is_non_computational(op) || is_data_dependent(op) && is_dynamic(&ty) {
                        OpPattern::Opaque
                    } else {
                        OpPattern::of(op)
                    };
                self.patterns[id as usize] = pattern;
                for (operand, arg) in operands[1..].iter().zip(call.args.iter()) {
                    let edge = if pattern == OpPattern::Broadcast && has_shape_of(arg, &ty)? {
                        OpPattern::ElemWise
                    } else {
                        pattern
                    };
                    self.users[*operand as usize].push((id, edge));
                }
            }
            Form::Tuple(tuple) => {
                self.patterns[id as usize] = OpPattern::Tuple;
                for (operand, field) in operands.iter().zip(tuple.fields.iter()) {
                    // Type inference finds no types for the names of operators and
                    // functions.
                    let is_tensor = match Form::of(field)? {
                        Form::GlobalVar(_) | Form::Op(_) | Form::Constructor(_) => false,
                        _ => type_of(field)?.isa::<TensorType>(),
                    };
                    if is_tensor {
                        self.users[*operand as usize].push((id, OpPattern::Injective))
                    } else {
                        self.is_external[*operand as usize] = true
                    }
                }
            }
            Form::TupleGetItem(get) => {
                let ty = type_of(&get.tuple_value)?;
                let is_tensor = |ty: &Ref<Type>| ty.isa::<TensorType>();
                let fields = ty.downcast_ref::<TupleType>().map(|tuple| &tuple.fields);
                if fields.is_some_and(|fields| fields.iter().all(is_tensor)) {
                    self.patterns[id as usize] = OpPattern::Injective;
                    self.users[operands[0] as usize].push((id, OpPattern::Injective));
                } else {
                    self.use_externally(operands);
                }
            }
            _ => self.use_externally(operands),
        }
        Ok(())
    }

    fn use_externally(&mut self, operands: &[Id]) {
        for operand in operands {
            self.is_external[*operand as usize] = true;
        }
    }
}

/// The checked type of an expression.
///
/// # Errors
///
/// `ValueError` for an expression without a type.
pub(super) fn type_of(expr: &Ref<RelayExpr>) -> Result<Ref<Type>> {
    expr.checked_type_.clone().ok_or_else(|| {
        let what = match expr.downcast_ref::<Call>().map(|call| call.op.clone()) {
            Some(op) if op.isa::<Op>() => format!("a call of {op:?}"),
            _ => format!("an expression of class {}", expr.type_info().key()),
        };
        Error::value_error(format!(
            "expected an expression whose types are known, got {what} without checked type; \
             run InferType before"
        ))
    })
}

fn is_set(op: &Op, name: &str) -> bool {
    op.attribute(name).is_some_and(|value| {
        value.as_bool() == Some(true) || value.as_int().is_some_and(|number| number != 0)
    })
}

fn is_data_dependent(op: &Op) -> bool {
    is_set(op, "TShapeDataDependent")
}

/// True if calls of an operator compute no value and need no kernel.
pub(super) fn is_non_computational(op: &Op) -> bool {
    is_set(op, "TNonComputational")
}

/// True if an operator changes only the shape.
pub(super) fn is_reshape(op: &Op) -> bool {
    is_set(op, "TReshapeOp")
}

/// True if a size of the type is not a number.
fn is_dynamic(ty: &Ref<Type>) -> bool {
    let mut stack = vec![ty.clone()];
    while let Some(ty) = stack.pop() {
        if let Some(tuple) = ty.downcast_ref::<TupleType>() {
            stack.extend(tuple.fields.iter().cloned());
        } else if let Some(tensor) = ty.downcast_ref::<TensorType>()
            && !tensor.shape.iter().all(|size| size.isa::<IntImm>())
        {
            return true;
        }
    }
    false
}

fn has_shape_of(arg: &Ref<RelayExpr>, ty: &Ref<Type>) -> Result<bool> {
    let arg = arg.checked_type_.as_ref();
    let arg = arg.and_then(|arg| arg.downcast_ref::<TensorType>());
    let (Some(arg), Some(ty)) = (arg, ty.downcast_ref::<TensorType>()) else {
        return Ok(false);
    };
    structural_equal(
        Value::from(arg.shape.clone()),
        Value::from(ty.shape.clone()),
    )
}
