//! The requirements of every class on its nodes, regardless of their context.
//!
//! They belong to the bases of nodes and types, whose verifiers see the nodes of
//! all derived classes, so that [`verify`](isoform::objects::verify()) checks them, too.

use super::types::{compatible, same_number, shown};
use crate::memory::literal;
use crate::node::Demands;
use crate::*;
use isoform::types::NodeEnum;
use isoform::{Error, Obj, Ref, Result};

impl Demands for IRNode {
    fn check(object: &Ref<Obj>) -> Result<()> {
        check(object)
    }
}

/// The errors in a node.
#[derive(Default)]
struct Problems {
    texts: Vec<String>,
    /// True if errors other than wrong types were found.
    values: bool,
}

impl Problems {
    fn ty(&mut self, text: String) {
        self.texts.push(text);
    }

    fn value(&mut self, text: String) {
        self.texts.push(text);
        self.values = true;
    }

    /// Requires a scalar of one of the given formats.
    fn scalar(
        &mut self,
        field: &str,
        expr: &Ref<Expr>,
        expected: &str,
        wanted: impl Fn(DataType) -> bool,
    ) -> Option<DataType> {
        if expr.ty.isa::<UnknownType>() {
            return None;
        }
        match expr.scalar_dtype() {
            Some(dtype) if wanted(dtype) => Some(dtype),
            _ => {
                let got = shown(&expr.ty);
                self.ty(format!("{field}: expected {expected}, got {got}"));
                None
            }
        }
    }

    fn same_type(&mut self, field: &str, expected: &Ref<Type>, got: &Ref<Type>) {
        if !compatible(expected, got) {
            let (expected, got) = (shown(expected), shown(got));
            self.ty(format!("{field}: expected type {expected}, got {got}"));
        }
    }
}

fn check(object: &Ref<Obj>) -> Result<()> {
    let mut problems = Problems::default();
    let report = &mut problems;
    if let Some(op) = object.downcast_ref::<BinaryExpr>() {
        binary(report, object.type_info().key(), op);
    } else if let Some(op) = object.downcast_ref::<UnaryExpr>() {
        unary(report, object.type_info().key(), op);
    } else if let Some(number) = object.downcast_ref::<ConstInt>() {
        const_int(report, number);
    } else if let Some(number) = object.downcast_ref::<ConstFloat>() {
        let is_float = |dtype: DataType| dtype.is_float();
        report.scalar("type", &number.clone().upcast(), "a float", is_float);
    } else if let Some(item) = object.downcast_ref::<TupleGetItemExpr>() {
        item_of_tuple(report, item);
    } else if let Some(arg) = object.downcast_ref::<IterArg>() {
        report.same_type("init_value", &arg.ty, &arg.init_value.ty);
    } else if let Some(memory) = object.downcast_ref::<MemRef>() {
        let offset = literal(&memory.byte_offset).unwrap_or(0);
        for (field, value) in [("byte_offset", offset), ("size", memory.size)] {
            if value < 0 {
                report.value(format!("{field}: expected at least 0, got {value}"));
            }
        }
        if memory.slots < 1 {
            report.value(format!("slots: expected at least 1, got {}", memory.slots));
        }
    } else if let Some(branch) = object.downcast_ref::<IfStmt>() {
        condition(report, &branch.condition);
        if branch.else_body.is_none() && !branch.return_vars.is_empty() {
            let count = branch.return_vars.len();
            report.value(format!(
                "else_body: expected one that yields {count} values, got none"
            ));
        }
    } else if let Some(each) = object.downcast_ref::<ForStmt>() {
        for_loop(report, each);
    } else if let Some(repeat) = object.downcast_ref::<WhileStmt>() {
        condition(report, &repeat.condition);
        carried(report, &repeat.iter_args, &repeat.return_vars);
    } else if let Some(spmd) = object.downcast_ref::<SpmdScopeStmt>() {
        report.scalar("core_num", &spmd.core_num, "an integer", DataType::is_int);
    } else if let Some(shaped) = object.downcast_ref::<ShapedType>() {
        shape(report, shaped);
    } else if let Some(function) = object.downcast_ref::<Function>() {
        let (params, directions) = (function.params.len(), function.param_directions.len());
        if params != directions {
            report.value(format!(
                "param_directions: expected {params}, as many as there are params, got {directions}"
            ));
        }
    } else if let Some(program) = object.downcast_ref::<Program>() {
        for (name, function) in program.functions.iter() {
            if *name != function.name {
                report.value(format!(
                    "functions['{name}']: expected a function of this name, got '{}'",
                    function.name
                ));
            }
        }
    }
    if problems.texts.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{}: {}",
        object.type_info().key(),
        problems.texts.join("; ")
    );
    Err(if problems.values {
        Error::value_error(message)
    } else {
        Error::type_error(message)
    })
}

fn is_number(dtype: DataType) -> bool {
    dtype.is_int() || dtype.is_float()
}

fn is_bool(dtype: DataType) -> bool {
    dtype == DataType::Bool
}

fn binary(problems: &mut Problems, key: &str, op: &Ref<BinaryExpr>) {
    let any = |_: DataType| true;
    let (expected, wanted): (_, fn(DataType) -> bool) = match key {
        "pto.And" | "pto.Or" | "pto.Xor" => ("a truth value", is_bool),
        "pto.BitAnd" | "pto.BitOr" | "pto.BitXor" => ("an integer", DataType::is_int),
        "pto.BitShiftLeft" | "pto.BitShiftRight" => ("an integer", DataType::is_int),
        "pto.Eq" | "pto.Ne" => ("a scalar", any),
        _ => ("a number", is_number),
    };
    let left = problems.scalar("left", &op.left, expected, wanted);
    let right = problems.scalar("right", &op.right, expected, wanted);
    let is_shift = matches!(key, "pto.BitShiftLeft" | "pto.BitShiftRight");
    if let (Some(left), Some(right)) = (left, right)
        && !is_shift
        && !same_number(left, right)
    {
        let (left, right) = (left.name(), right.name());
        problems.ty(format!("right: expected type {left} as left, got {right}"));
    }
    let result = op.scalar_dtype();
    let (fits, expected) = match key {
        "pto.Eq" | "pto.Ne" | "pto.Lt" | "pto.Le" | "pto.Gt" | "pto.Ge" | "pto.And" | "pto.Or"
        | "pto.Xor" => (result == Some(DataType::Bool), "BOOL"),
        _ => match left {
            None => (true, ""),
            // The quotient of integers may be a float.
            Some(left) => (
                result.is_some_and(|result| {
                    same_number(left, result) || (key == "pto.FloatDiv" && result.is_float())
                }),
                left.name(),
            ),
        },
    };
    if !fits {
        let got = shown(&op.ty);
        problems.ty(format!("type: expected {expected}, got {got}"));
    }
}

fn unary(problems: &mut Problems, key: &str, op: &Ref<UnaryExpr>) {
    let any = |_: DataType| true;
    let (expected, wanted): (_, fn(DataType) -> bool) = match key {
        "pto.Not" => ("a truth value", is_bool),
        "pto.BitNot" => ("an integer", DataType::is_int),
        "pto.Cast" => ("a scalar", any),
        _ => ("a number", is_number),
    };
    let operand = problems.scalar("operand", &op.operand, expected, wanted);
    let Some(result) = op.scalar_dtype() else {
        let got = shown(&op.ty);
        return problems.ty(format!("type: expected a scalar, got {got}"));
    };
    if let Some(operand) = operand
        && key != "pto.Cast"
        && !same_number(operand, result)
    {
        let (operand, result) = (operand.name(), result.name());
        problems.ty(format!("type: expected {operand}, got {result}"));
    }
}

fn const_int(problems: &mut Problems, number: &Ref<ConstInt>) {
    let range = number.scalar_dtype().and_then(DataType::int_range);
    match range {
        None => {
            let got = shown(&number.ty);
            problems.ty(format!("type: expected an integer, got {got}"));
        }
        Some(range) if !range.contains(&i128::from(number.value)) => {
            let (first, last) = (range.start(), range.end());
            problems.value(format!(
                "value: expected {first} to {last}, the range of {}, got {}",
                shown(&number.ty),
                number.value
            ));
        }
        Some(_) => {}
    }
}

fn item_of_tuple(problems: &mut Problems, item: &Ref<TupleGetItemExpr>) {
    if item.tuple.ty.isa::<UnknownType>() {
        return;
    }
    let Some(tuple) = item.tuple.ty.downcast_ref::<TupleType>() else {
        let got = shown(&item.tuple.ty);
        return problems.ty(format!("tuple: expected a tuple, got {got}"));
    };
    let index = usize::try_from(item.index).ok();
    match index.and_then(|index| tuple.types.get(index)) {
        Some(ty) => problems.same_type("type", ty, &item.ty),
        None => problems.value(format!(
            "index: expected 0 to {}, got {}",
            tuple.types.len().saturating_sub(1),
            item.index
        )),
    }
}

fn condition(problems: &mut Problems, condition: &Ref<Expr>) {
    problems.scalar("condition", condition, "a truth value", is_bool);
}

fn for_loop(problems: &mut Problems, each: &Ref<ForStmt>) {
    let var: Ref<Expr> = each.loop_var.clone().upcast();
    let of_var = problems.scalar("loop_var", &var, "an integer", DataType::is_int);
    let bounds = [
        ("start", &each.start),
        ("stop", &each.stop),
        ("step", &each.step),
    ];
    for (field, bound) in bounds {
        let dtype = problems.scalar(field, bound, "an integer", DataType::is_int);
        if let (Some(of_var), Some(dtype)) = (of_var, dtype)
            && !same_number(of_var, dtype)
        {
            let (of_var, dtype) = (of_var.name(), dtype.name());
            problems.ty(format!(
                "{field}: expected type {of_var} as loop_var, got {dtype}"
            ));
        }
    }
    if let Some(step) = each.step.downcast_ref::<ConstInt>()
        && step.value == 0
    {
        problems.value("step: expected another number than 0, got 0".to_owned());
    }
    carried(problems, &each.iter_args, &each.return_vars);
}

fn carried(
    problems: &mut Problems,
    iter_args: &isoform::Array<Ref<IterArg>>,
    return_vars: &isoform::Array<Ref<Var>>,
) {
    if iter_args.len() != return_vars.len() {
        let (expected, got) = (iter_args.len(), return_vars.len());
        return problems.value(format!(
            "return_vars: expected {expected}, as many as there are iter_args, got {got}"
        ));
    }
    for (position, (arg, var)) in iter_args.iter().zip(return_vars.iter()).enumerate() {
        problems.same_type(&format!("return_vars[{position}]"), &arg.ty, &var.ty);
    }
}

fn shape(problems: &mut Problems, shaped: &Ref<ShapedType>) {
    for (position, size) in shaped.shape.iter().enumerate() {
        let field = format!("shape[{position}]");
        problems.scalar(&field, size, "an integer", DataType::is_int);
        if let Some(size) = size.downcast_ref::<ConstInt>()
            && size.value < 0
        {
            // Only an erroneous program contains a negative size.
            problems.value(format!("{field}: expected at least 0, got {}", size.value));
        }
    }
    let of_tensor = shaped.downcast_ref::<TensorType>().and_then(|ty| {
        let view = ty.tensor_view.as_ref()?;
        Some(("tensor_view", &view.valid_shape))
    });
    let of_tile = shaped.downcast_ref::<TileType>().and_then(|ty| {
        let view = ty.tile_view.as_ref()?;
        Some(("tile_view", &view.valid_shape))
    });
    if let Some((view, valid_shape)) = of_tensor.or(of_tile) {
        for (position, (valid, size)) in valid_shape.iter().zip(shaped.shape.iter()).enumerate() {
            if let (Some(valid), Some(size)) = (literal(valid), literal(size))
                && valid > size
            {
                problems.value(format!(
                    "{view}.valid_shape[{position}]: expected at most {size}, as shape[{position}], \
                     got {valid}"
                ));
            }
        }
    }
    if shaped.isa::<ArrayType>() && shaped.shape.len() != 1 {
        let got = shaped.shape.len();
        problems.value(format!("shape: expected 1 dimension, got {got}"));
    }
}
