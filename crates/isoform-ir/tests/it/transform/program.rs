//! Programs for the tests: modules of small functions, and events that instruments record.

use isoform_ir::ir::IRModuleRef;
use std::sync::{Arc, Mutex, PoisonError};

use isoform::attrs::Lookup;
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::{Error, Node, Obj, Ref, Result, Str, Value, attrs};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule};
use isoform_ir::transform::{
    FunctionPass, Instrument, ModulePass, Pass, PassContext, PassInfo, PassInstrument, functions,
};

/// A function that is a number.
#[derive(Node)]
#[node(key = "transform_tests.Fun", no_new)]
#[repr(C)]
pub(crate) struct Fun {
    #[node(base)]
    base: BaseFunc,
    pub(crate) number: i64,
}

impl Fun {
    pub(crate) fn new(number: i64) -> Ref<Fun> {
        Ref::new(Fun {
            base: BaseFunc::with_parts(None, None),
            number,
        })
    }
}

/// A module with a function for each name, in this order.
pub(crate) fn module(functions: &[(&str, i64)]) -> Ref<IRModule> {
    isoform_ir::transform::register().expect("the names are free");
    let empty = isoform::objects::construct_named(IRModule::type_index(), Vec::new());
    let module: Ref<IRModule> = empty.and_then(Ref::cast).expect("all fields have defaults");
    for (name, number) in functions {
        let var = GlobalVar::new(*name);
        let function = Fun::new(*number).upcast();
        module
            .update_func(&var, function)
            .expect("the names differ");
    }
    module
}

/// The names and numbers of a module's functions.
pub(crate) fn numbers(module: &Ref<IRModule>) -> Vec<(String, i64)> {
    let all = functions(module.as_object()).expect("a module has functions");
    let entry = |(name, function): (Str, Ref<Obj>)| {
        let number = function.downcast_ref::<Fun>().map_or(-1, |fun| fun.number);
        (name.to_string(), number)
    };
    all.into_iter().map(entry).collect()
}

pub(crate) fn info(name: &str) -> Ref<PassInfo> {
    PassInfo::new(0, name)
}

/// A pass over modules that returns its input.
pub(crate) fn idle(name: &str, level: i64) -> Ref<Pass> {
    of_module(&PassInfo::new(level, name), Ok)
}

/// A pass over modules.
pub(crate) fn of_module(
    info: &Ref<PassInfo>,
    run: impl Fn(Ref<IRModule>) -> Result<Ref<IRModule>> + Send + Sync + 'static,
) -> Ref<Pass> {
    ModulePass::new(info, move |root: Ref<IRModule>, _: &Ref<PassContext>| {
        run(root)
    })
    .upcast()
}

/// A pass that adds to the numbers of the functions.
pub(crate) fn adding(name: &str, number: i64) -> Ref<FunctionPass> {
    FunctionPass::new(
        &info(name),
        move |fun: Ref<Fun>, _: &Ref<IRModule>, _: &Ref<PassContext>| {
            Ok(fun.with_number(fun.number + number))
        },
    )
}

/// A pass that fails.
pub(crate) fn failing(name: &str) -> Ref<Pass> {
    of_module(&info(name), |_| Err(Error::value_error("it fails")))
}

/// The events of a test, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, event: impl Into<String>) {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event.into());
    }

    /// The events so far, which are forgotten.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[track_caller]
    pub(crate) fn check(&self, expected: &str) {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(self.take(), expected);
    }
}

/// An instrument that records all events, fails at the event `fails_at` and skips the pass
/// `skips`.
pub(crate) struct Recorder {
    pub(crate) log: Log,
    pub(crate) name: &'static str,
    pub(crate) fails_at: &'static str,
    pub(crate) skips: &'static str,
}

impl Recorder {
    /// `A.enter`, `A.should:Pass`, `A.before:Pass` and similar texts.
    fn note(&self, event: &str) -> Result<()> {
        let event = format!("{}.{event}", self.name);
        self.log.add(&event);
        if event == self.fails_at {
            Err(Error::new(ErrorKind::Runtime, format!("failed at {event}")))
        } else {
            Ok(())
        }
    }
}

impl Instrument for Recorder {
    fn name(&self) -> String {
        self.name.to_owned()
    }
    fn enter(&self) -> Result<()> {
        self.note("enter")
    }
    fn exit(&self) -> Result<()> {
        self.note("exit")
    }
    fn should_run(&self, _: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<bool> {
        self.note(&format!("should:{}", info.name))?;
        Ok(*info.name != *self.skips)
    }
    fn before(&self, _: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        self.note(&format!("before:{}", info.name))
    }
    fn after(&self, _: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        self.note(&format!("after:{}", info.name))
    }
    fn failed(&self, _: &Ref<Obj>, info: &Ref<PassInfo>) {
        self.log.add(format!("{}.failed:{}", self.name, info.name));
    }
}

/// A recorder that fails at an event, if the event begins with the name of the recorder.
pub(crate) fn recorder(
    log: &Log,
    name: &'static str,
    fails_at: &'static str,
) -> Ref<PassInstrument> {
    PassInstrument::of(Recorder {
        log: log.clone(),
        name,
        fails_at,
        skips: "",
    })
}

/// The kind, message and notes of a result's error.
#[track_caller]
pub(crate) fn error_of<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("it should fail"),
        Err(error) => error.to_string(),
    }
}

/// Makes an object as other languages do.
pub(crate) fn make<T: Node>(arguments: &[Value]) -> Result<Ref<T>> {
    isoform_ir::transform::register()?;
    let init = attrs::get(T::type_index(), "__ffi_init__", Lookup::Exact);
    let init: &Function = init.and_then(Value::peek).expect("a declared constructor");
    init.call(arguments)?.extract()
}
