//! The first use of the library in a process, by several threads at once.
//!
//! A process has only one first use, and every attempt is a process: this test binary
//! again, running only one test.

use std::env;
use std::process::Command;

use isoform::Node;
use isoform::functions::{call_method, global_function};
use isoform::hooks::DynRepr;
use isoform::types::{TypeDef, TypeIndex, find_type};
use isoform_ir::{ir, tir, transform};
use isoform_pto as pto;
use isoform_relay as relay;

use crate::threads::on_all_threads;

const PROCESSES: usize = 10;

/// Set in the processes that register.
const IS_CHILD: &str = "ISOFORM_TEST_FIRST_USE";

/// Types whose definitions have functions without an address of their own.
macro_rules! hooked {
    ($($name:ident = $key:tt),+) => {
        $(
            #[derive(Node)]
            #[node(key = $key, define = with_repr)]
            #[repr(C)]
            struct $name {
                number: i64,
            }
        )+

        const HOOKED: &[fn() -> TypeIndex] = &[$($name::type_index),+];
    };
}

hooked! { A = "first.A", B = "first.B", C = "first.C", D = "first.D", E = "first.E" }

fn with_repr(definition: TypeDef) -> TypeDef {
    definition.hook(DynRepr::new(|_, _| Ok("first".into())))
}

/// Registers all types, in an order that depends on the thread.
fn register_from(worker: usize) -> isoform::Result<()> {
    // A search registers the library's own types, whose definitions have hooks.
    assert!(find_type("isoform.Complex").is_some());
    let all: [fn() -> isoform::Result<()>; 5] = [
        ir::register,
        tir::register,
        transform::register,
        relay::register,
        pto::register,
    ];
    for step in 0..all.len() {
        all[(worker + step) % all.len()]()?;
    }
    for step in 0..HOOKED.len() {
        HOOKED[(worker / 2 + step) % HOOKED.len()]();
    }
    // All types are registered when the call returns.
    for key in [
        "ir.IRModule",
        "tir.Add",
        "transform.Pass",
        "relay.Function",
        "pto.Program",
    ] {
        assert!(find_type(key).is_some(), "{key}");
    }
    global_function("ir.Op.get")?;
    let module = ir::IRModule::new();
    let vars = call_method(&module, "get_global_vars", &[])?;
    assert_eq!(vars.extract::<isoform::Array<isoform::Value>>()?.len(), 0);
    // Threads add the same operators, too.
    for name in ["first.one", "first.two", "first.three"] {
        let op = ir::OpRegistry::get_or_register(name)?;
        assert!(op.op().same_as(&ir::Op::get(name)?));
    }
    Ok(())
}

#[test]
fn any_number_of_threads_may_be_the_first_to_register() {
    if env::var_os(IS_CHILD).is_some() {
        for result in on_all_threads(register_from) {
            result.expect("the keys are free");
        }
        return;
    }
    let this = env::current_exe().expect("a test binary has a path");
    let name = concat!(
        "first_use::",
        "any_number_of_threads_may_be_the_first_to_register"
    );
    for attempt in 0..PROCESSES {
        let child = Command::new(&this)
            .args([name, "--exact", "--nocapture"])
            .env(IS_CHILD, "1")
            .output()
            .expect("a test binary runs again");
        let said = String::from_utf8_lossy(&child.stdout);
        let complained = String::from_utf8_lossy(&child.stderr);
        assert!(
            child.status.success() && said.contains("1 passed"),
            "attempt {attempt}: {said}{complained}"
        );
    }
}
