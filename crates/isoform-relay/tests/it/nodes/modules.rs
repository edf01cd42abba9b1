//! Functions that are added to modules.

use isoform::Ref;
use isoform::functions::global_function;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule, TypeVar};
use isoform_relay as relay;
use isoform_relay::{AsExpr, Call, Function, Let, Tuple, Var};

use crate::support::*;

#[track_caller]
fn refused(func: Ref<Function>) -> String {
    relay::register().expect("the names are free");
    let module = IRModule::new();
    let error = module.update_func(&GlobalVar::new("f"), func.upcast());
    assert!(module.functions.is_empty());
    error.expect_err("an open function").message().to_owned()
}

#[test]
fn functions_of_a_module_are_closed_and_well_formed() {
    let [x, y] = ["x", "y"].map(Var::new);
    let module = IRModule::new();
    let fine = Function::new([x.clone()], &x);
    module
        .update_func(&GlobalVar::new("f"), fine.upcast())
        .expect("closed");
    let open = refused(Function::new([x.clone()], &y));
    assert_eq!(
        open,
        "ir.IRModule: the function @f: expected no free variables, got %y; make it a parameter"
    );
    let twice = refused(Function::new([x.clone()], Let::new(&x, int(1), &x)));
    assert_eq!(
        twice,
        "ir.IRModule: the function @f: the variable %x is bound twice; give each \
                       binding its own variable"
    );
    let a = TypeVar::new("a");
    let generic = Var::typed("x", &a);
    let func = Function::new([generic.clone()], &generic);
    assert!(refused(func.clone()).contains("expected no free type variables, got a"));
    let func = func.with_type_params([a]);
    module
        .update_func(&GlobalVar::new("g"), func.upcast())
        .expect("closed");
}

#[test]
fn expressions_and_global_variables_become_functions() {
    relay::register().expect("the names are free");
    isoform_ir::ir::register().expect("the names are free");
    let set = global_function("ir.IRModule.set").expect("exported");
    let (module, f) = (IRModule::new(), GlobalVar::new("f"));
    let add = |name: &str, value: isoform::Value| set.call(&[(&module).into(), name.into(), value]);
    let x = v("i64[]");
    let func = Function::new([x.clone()], &x).with_ret_type(Some(ty("i64[]")));
    module
        .update_func(&f, func.clone().upcast())
        .expect("closed");
    add("constant", int(1).into()).expect("an expression");
    add("again", (&f).into()).expect("a global variable");
    let function = |name: &str| -> Ref<Function> {
        let func = module
            .lookup(&module.global_var(name).expect("added"))
            .expect("added");
        func.cast().expect("a function")
    };
    compare(function("constant"), Function::new([], int(1)), true);
    let again = function("again");
    assert_eq!(again.params.len(), 1);
    assert!(again.params.get(0).is_some_and(|param| !param.same_as(&x)));
    let call = again.body.downcast_ref::<Call>().expect("a call");
    assert!(call.op.same_as(&f) && again.ret_type == func.ret_type);
    let open = add("open", Tuple::new([Var::new("y").expr()]).into());
    assert!(open.expect_err("not closed").message().contains("%y"));
    add("unknown", GlobalVar::new("h").into()).expect_err("not defined");
    add("op", op("relay_test.plain").into()).expect_err("no function");
    assert!(!module.functions.contains_key(GlobalVar::new("open")));
}

#[test]
fn an_expression_with_free_variables_becomes_a_function_of_them() {
    let [x, y] = ["x", "y"].map(Var::new);
    let expr = Tuple::new([y.expr(), x.expr(), Let::new(&x, int(1), &y).expr()]).expr();
    let closed = Function::closing(&expr).expect("a walk");
    assert!(closed.params.iter().eq([&y, &x]));
    let base: Ref<BaseFunc> = Function::new([], int(1)).upcast();
    assert!(base.isa::<Function>());
}
