//! Contexts: levels, the stack of a thread, options, and the order of instruments.

use isoform::errors::ErrorKind;
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::{Array, Error, Map, Ref, Str, Value};
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use isoform_ir::transform::{
    ConfigOption, ContextOptions, PassContext, PassInstrument, Sequential, config_options,
    register_config_option,
};

use crate::transform::program::*;

#[test]
fn contexts_form_a_stack_per_thread_and_are_not_merged() {
    let default = PassContext::current();
    assert_eq!(default.opt_level, 2);
    assert!(
        default.same_as(&PassContext::current()),
        "a thread has one default context"
    );
    let outer = ContextOptions::default()
        .opt_level(4)
        .disabled(["A"])
        .make()
        .unwrap();
    let inner = ContextOptions::default().make().unwrap();
    outer
        .within(|| {
            assert!(PassContext::current().same_as(&outer));
            inner.within(|| {
                let current = PassContext::current();
                assert!(current.same_as(&inner));
                assert_eq!((current.opt_level, current.disabled_pass.len()), (2, 0));
                let other = std::thread::spawn(|| PassContext::current().opt_level);
                assert_eq!(other.join().unwrap(), 2);
                // Contexts are left in the reverse order of entry.
                let error = outer.leave().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Runtime);
                Ok(())
            })?;
            assert!(PassContext::current().same_as(&outer));
            Ok(())
        })
        .unwrap();
    assert!(PassContext::current().same_as(&default));
}

#[test]
fn instruments_of_the_default_context_persist() {
    std::thread::spawn(|| {
        let log = Log::default();
        let ctx = PassContext::current();
        ctx.override_instruments([recorder(&log, "A", "")]).unwrap();
        idle("P", 0).run(&module(&[])).unwrap();
        log.check("A.enter A.should:P A.before:P A.after:P");
        PassContext::current().override_instruments([]).unwrap();
        idle("P", 0).run(&module(&[])).unwrap();
        log.check("A.exit");
    })
    .join()
    .unwrap();
}

#[test]
fn a_context_is_left_after_an_error_and_a_panic() {
    let log = Log::default();
    let ctx = ContextOptions::default()
        .instrument(&recorder(&log, "A", ""))
        .make()
        .unwrap();
    let result: isoform::Result<()> = ctx.within(|| Err(Error::value_error("no")));
    assert_eq!(error_of(result), "ValueError: no");
    log.check("A.enter A.exit");
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        ctx.within(|| -> isoform::Result<()> { panic!("no") })
    }));
    assert!(caught.is_err());
    log.check("A.enter A.exit");
    assert_eq!(PassContext::current().opt_level, 2);
    assert!(!PassContext::current().same_as(&ctx));
}

fn key(name: &str, schema: Schema, default: impl Into<Value>) -> String {
    let key = format!("transform_tests.{name}");
    register_config_option(&key, schema, default, "For a test.").unwrap();
    key
}

#[test]
fn options_are_registered_and_converted() {
    let depth = key("depth", Schema::Int, 7);
    let name = key("name", Schema::Str, Value::NONE);
    let ctx = ContextOptions::default()
        .config(&depth, true)
        .make()
        .unwrap();
    assert_eq!(ctx.config_value(&depth).unwrap(), 1.into());
    assert_eq!(ctx.config_value(&name).unwrap(), Value::NONE);
    assert_eq!(
        PassContext::current().config_value(&depth).unwrap(),
        7.into()
    );
    let options = config_options();
    let entries: Vec<&ConfigOption> = options
        .iter()
        .filter(|(key, _)| *key == depth)
        .map(|(_, option)| option)
        .collect();
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (entries[0].schema().to_string(), entries[0].doc()),
        ("int".into(), "For a test.")
    );
    assert_eq!(*entries[0].default(), 7.into());
}

#[test]
fn wrong_options_are_refused() {
    let depth = key("max_depth", Schema::Int, 7);
    let make = |key: &str, value: Value| ContextOptions::default().config(key, value).make();
    let error = make("transform_tests.max_detph", 1.into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Attribute);
    let message = error.message();
    let start = "Invalid config option 'transform_tests.max_detph' candidates are: ";
    assert!(message.starts_with(start), "{message}");
    assert!(message.contains(", transform_tests.max_depth"), "{message}");
    assert!(
        message.ends_with(", did you mean 'transform_tests.max_depth'?"),
        "{message}"
    );
    assert_eq!(
        error_of(make(&depth, Value::NONE)),
        "AttributeError: config option 'transform_tests.max_depth' is None"
    );
    assert_eq!(
        error_of(make(&depth, "x".into())),
        "TypeError: config option 'transform_tests.max_depth': expected int, got str"
    );
    assert_eq!(
        error_of(register_config_option(&depth, Schema::Str, Value::NONE, "")),
        "ValueError: config option 'transform_tests.max_depth' is already registered, for int"
    );
    assert_eq!(
        error_of(register_config_option("", Schema::Str, Value::NONE, "")),
        "ValueError: a config option needs a key"
    );
    assert_eq!(
        error_of(register_config_option(
            "transform_tests.bad",
            Schema::Int,
            "x",
            ""
        )),
        "TypeError: config option 'transform_tests.bad': expected int, got str"
    );
}

#[test]
fn a_dict_becomes_the_object_of_the_option() {
    let ty = TypeDef::new("transform_tests.Options")
        .field(FieldDef::new("width", Schema::Int))
        .field(FieldDef::new("label", Schema::Str).default_value("none"));
    register_type(ty).unwrap();
    let options = key(
        "options",
        Schema::named("transform_tests.Options"),
        Value::NONE,
    );
    let dict = Map::<Str, Value>::from_iter([("width".into(), 3.into())]);
    let ctx = ContextOptions::default()
        .config(&options, dict)
        .make()
        .unwrap();
    let object = ctx.config_value(&options).unwrap();
    let field = |name| isoform::objects::field_value(object.as_object().unwrap(), name).unwrap();
    assert_eq!((field("width"), field("label")), (3.into(), "none".into()));
    let wrong = Map::<Str, Value>::from_iter([("witdh".into(), 3.into())]);
    assert_eq!(
        error_of(ContextOptions::default().config(&options, wrong).make()),
        "TypeError: config option 'transform_tests.options': transform_tests.Options: unknown \
         field 'witdh', did you mean 'width'?"
    );
}

#[test]
fn disabled_wins_over_required_and_required_over_the_level() {
    let ctx = |level| {
        let options = ContextOptions::default().opt_level(level);
        options.required(["R", "D"]).disabled(["D"]).make().unwrap()
    };
    let enabled =
        |level, name, of| ctx(level).enables(&isoform_ir::transform::PassInfo::new(of, name));
    assert!(!enabled(9, "D", 0));
    assert!(enabled(0, "R", 9));
    assert!(enabled(2, "P", 2));
    assert!(!enabled(1, "P", 2));
}

#[test]
fn only_a_sequence_asks_for_the_level() {
    let log = Log::default();
    let ctx = ContextOptions::default().opt_level(0).disabled(["P"]);
    let ctx = ctx.instrument(&recorder(&log, "A", "")).make().unwrap();
    let pass = idle("P", 3);
    ctx.within(|| pass.run(&module(&[]))).unwrap();
    log.check("A.enter A.should:P A.before:P A.after:P A.exit");
    ctx.within(|| Sequential::new([pass.clone()]).run(&module(&[])))
        .unwrap();
    log.check("A.enter A.should:sequential A.before:sequential A.after:sequential A.exit");
}

#[track_caller]
fn check_entry(instruments: &[(&'static str, &'static str)], expected: &str, fails: &str) {
    let log = Log::default();
    let mut options = ContextOptions::default();
    for (name, fails_at) in instruments {
        options = options.instrument(&recorder(&log, name, fails_at));
    }
    let ctx = options.make().unwrap();
    let before = PassContext::current();
    let result = ctx.within(|| {
        log.add("body");
        Ok(())
    });
    match fails {
        "" => result.unwrap(),
        _ => {
            let error = error_of(result);
            assert!(
                error.starts_with(&format!("RuntimeError: failed at {fails} (")),
                "{error}"
            );
            assert!(ctx.instruments.is_empty());
        }
    }
    log.check(expected);
    assert!(PassContext::current().same_as(&before));
}

#[test]
fn instruments_enter_and_exit_in_order() {
    check_entry(
        &[("A", ""), ("B", "")],
        "A.enter B.enter body A.exit B.exit",
        "",
    );
}

/// An instrument that records whether the instrument's context is the current one.
#[test]
fn instruments_enter_before_the_context_and_exit_after_it() {
    use isoform::functions::Function;
    let log = Log::default();
    let levels = |event: &'static str| {
        let log = log.clone();
        Some(Function::new(move |_| {
            log.add(format!("{event}:{}", PassContext::current().opt_level));
            Ok(Value::NONE)
        }))
    };
    let instrument = Ref::new(PassInstrument {
        name: "Levels".into(),
        on_enter: levels("enter"),
        on_exit: levels("exit"),
        on_should_run: None,
        on_before_pass: None,
        on_after_pass: None,
        on_failed_pass: None,
    });
    let ctx = ContextOptions::default()
        .opt_level(4)
        .instrument(&instrument)
        .make()
        .unwrap();
    ctx.within(|| {
        log.add(format!("body:{}", PassContext::current().opt_level));
        Ok(())
    })
    .unwrap();
    log.check("enter:2 body:4 exit:2");
}

#[test]
fn an_error_at_entry_undoes_the_entry() {
    check_entry(
        &[("A", ""), ("B", ""), ("C", "C.enter"), ("D", "")],
        "A.enter B.enter C.enter B.exit A.exit",
        "C.enter",
    );
    check_entry(&[("A", "A.enter"), ("B", "")], "A.enter", "A.enter");
}

#[test]
fn an_error_at_exit_ends_the_exit() {
    check_entry(
        &[("A", ""), ("B", "B.exit"), ("C", "")],
        "A.enter B.enter C.enter body A.exit B.exit",
        "B.exit",
    );
}

#[track_caller]
fn check_failure(fails_at: &'static str, expected: &str) {
    let log = Log::default();
    let options = ContextOptions::default().instrument(&recorder(&log, "A", fails_at));
    let ctx = options
        .instrument(&recorder(&log, "B", fails_at))
        .make()
        .unwrap();
    let in_pass = log.clone();
    let pass = of_module(&info("P"), move |root| {
        in_pass.add("P");
        match fails_at {
            "P" => Err(Error::new(ErrorKind::Runtime, "failed at P")),
            _ => Ok(root),
        }
    });
    let error = error_of(ctx.within(|| pass.run(&module(&[]))));
    assert!(
        error.starts_with(&format!("RuntimeError: failed at {fails_at} (")),
        "{error}"
    );
    let events = log.take();
    let events: Vec<_> = events
        .iter()
        .filter(|event| !event.contains("failed:"))
        .collect();
    assert_eq!(events, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ctx.instruments.len(), 2);
}

#[test]
fn after_an_error_nothing_else_of_the_pass_runs_and_all_exits_do() {
    let start = "A.enter B.enter A.should:P";
    let end = "A.exit B.exit";
    check_failure("A.should:P", &format!("{start} {end}"));
    check_failure("B.should:P", &format!("{start} B.should:P {end}"));
    check_failure(
        "A.before:P",
        &format!("{start} B.should:P A.before:P {end}"),
    );
    let both = format!("{start} B.should:P A.before:P B.before:P");
    check_failure("B.before:P", &format!("{both} {end}"));
    check_failure("P", &format!("{both} P {end}"));
    check_failure("A.after:P", &format!("{both} P A.after:P {end}"));
    check_failure("B.after:P", &format!("{both} P A.after:P B.after:P {end}"));
}

#[test]
fn instruments_can_be_replaced() {
    let log = Log::default();
    let options = ContextOptions::default().instrument(&recorder(&log, "A", ""));
    let ctx = options.instrument(&recorder(&log, "B", "")).make().unwrap();
    ctx.within(|| {
        ctx.override_instruments([recorder(&log, "C", ""), recorder(&log, "D", "")])?;
        log.check("A.enter B.enter A.exit B.exit C.enter D.enter");
        ctx.override_instruments([])?;
        log.check("C.exit D.exit");
        Ok(())
    })
    .unwrap();
    log.check("");
}

#[test]
fn an_error_leaves_no_instruments() {
    let log = Log::default();
    let make = |fails_at| {
        ContextOptions::default()
            .instrument(&recorder(&log, "A", fails_at))
            .make()
            .unwrap()
    };
    let ctx = make("A.exit");
    let result = ctx.within(|| ctx.override_instruments([recorder(&log, "B", "")]));
    assert!(error_of(result).contains("failed at A.exit"));
    log.check("A.enter A.exit");
    assert!(ctx.instruments.is_empty());
    let ctx = make("");
    let new = || [recorder(&log, "B", ""), recorder(&log, "C", "C.enter")];
    let result = ctx.within(|| ctx.override_instruments(new()));
    assert!(error_of(result).contains("failed at C.enter"));
    log.check("A.enter A.exit B.enter C.enter B.exit");
    assert!(ctx.instruments.is_empty());
}

#[test]
fn a_context_is_made_from_other_languages() {
    let names = Array::from([Str::from("A")]);
    let ctx = make::<PassContext>(&[3.into(), names.into()]).unwrap();
    assert_eq!((ctx.opt_level, ctx.required_pass.len()), (3, 1));
    // A string is not a list of its letters.
    let error = error_of(make::<PassContext>(&[3.into(), "AB".into()]));
    assert!(
        error.contains("argument 'required_pass': expected Array[str], got str"),
        "{error}"
    );
}
