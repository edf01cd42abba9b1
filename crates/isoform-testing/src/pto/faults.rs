//! Changes that break a program: a change invalidates a single node, for the verifier to
//! report.

use super::super::program::Edit;
use isoform::{Array, Error, Obj, Ref, Result, Value};
use isoform_pto::*;

/// All faults of a program that was drawn by making these objects.
pub(super) fn faults(made: &[Ref<Obj>]) -> Result<Vec<Edit>> {
    let mut found = Vec::new();
    for (number, object) in made.iter().enumerate() {
        for (name, value) in faults_of(object) {
            let info = object.type_info();
            let field = info
                .field_index(name)
                .ok_or_else(|| Error::value_error(format!("{}: no field '{name}'", info.key())))?;
            found.push(Edit {
                number,
                field,
                value,
            });
        }
    }
    Ok(found)
}

/// Invalid values for the fields of a node.
fn faults_of(object: &Ref<Obj>) -> Vec<(&'static str, Value)> {
    let float = || Value::from(ConstFloat::new(0.5, DataType::Fp32));
    let truth = || Value::from(ConstBool::new(true));
    let nothing = || Value::from(Array::<Value>::new());
    let mut faults = Vec::new();
    if let Some(stmt) = object.downcast_ref::<YieldStmt>() {
        if !stmt.value.is_empty() {
            faults.push(("value", nothing()));
        }
    } else if let Some(stmt) = object.downcast_ref::<ReturnStmt>() {
        if !stmt.value.is_empty() {
            faults.push(("value", nothing()));
        }
    } else if let Some(stmt) = object.downcast_ref::<AssignStmt>() {
        // It is used before it is defined.
        faults.push(("value", Value::from(&stmt.var)));
    } else if let Some(stmts) = object.downcast_ref::<SeqStmts>() {
        let again = stmts.stmts.iter().find(|stmt| stmt.isa::<AssignStmt>());
        if let Some(again) = again {
            let stmts = stmts.stmts.iter().chain([again]);
            faults.push(("stmts", stmts.map(Value::from).collect::<Array>().into()));
        }
    } else if let Some(function) = object.downcast_ref::<Function>() {
        faults.push(("body", Value::from(BreakStmt::new())));
        faults.push(("body", Value::from(YieldStmt::new([]))));
        if !function.params.is_empty() {
            faults.push(("param_directions", nothing()));
        }
    } else if let Some(stmt) = object.downcast_ref::<IfStmt>() {
        faults.push(("condition", float()));
        if !stmt.return_vars.is_empty() {
            faults.push(("else_body", Value::NONE));
            faults.push(("return_vars", nothing()));
        }
    } else if let Some(stmt) = object.downcast_ref::<ForStmt>() {
        faults.push(("stop", float()));
        if let Some(dtype) = stmt.start.scalar_dtype() {
            faults.push(("step", Value::from(ConstInt::new(0, dtype))));
        }
        if !stmt.return_vars.is_empty() {
            faults.push(("return_vars", nothing()));
        }
    } else if let Some(stmt) = object.downcast_ref::<WhileStmt>() {
        faults.push(("condition", float()));
        if !stmt.return_vars.is_empty() {
            faults.push(("return_vars", nothing()));
        }
    } else if object.isa::<SpmdScopeStmt>() {
        faults.push(("core_num", float()));
    } else if object.isa::<TupleGetItemExpr>() {
        faults.push(("index", Value::from(99)));
    } else if object.isa::<ConstInt>() {
        faults.push(("type", Value::from(ScalarType::new(DataType::Fp32))));
    } else if object.isa::<ConstFloat>() {
        faults.push(("type", Value::from(ScalarType::new(DataType::Index))));
    } else if object.isa::<And>() || object.isa::<Or>() || object.isa::<Xor>() {
        faults.push(("left", float()));
    } else if object.isa::<BinaryExpr>() {
        faults.push(("right", truth()));
    } else if object.isa::<MemRef>() {
        faults.push(("slots", Value::from(0)));
    } else if object.isa::<ArrayType>() {
        faults.push(("shape", nothing()));
    } else if let Some(arg) = object.downcast_ref::<IterArg>() {
        match arg.scalar_dtype() {
            Some(DataType::Bool) => faults.push(("init_value", float())),
            Some(_) => faults.push(("init_value", truth())),
            None => {}
        }
    } else if let Some(call) = object.downcast_ref::<Call>()
        && call.op.isa::<GlobalVar>()
    {
        let args = call.args.iter().map(Value::from).chain([truth()]);
        faults.push(("args", args.collect::<Array>().into()));
        faults.push(("op", Value::from(GlobalVar::new("nowhere"))));
    }
    faults
}
