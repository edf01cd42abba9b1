//! Passes: their data, their programs, and sequences.

use isoform::functions::{Function, register_function, remove_function};
use isoform::{Array, Node, Obj, Ref, Result, Str, Value};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule};
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use isoform_ir::transform::{
    ContextOptions, FunctionPass, ModulePass, Pass, PassContext, PassInfo, Root, Sequential,
    apply_to_functions, bisect, make_pass, register_pass, registered_passes,
};

use crate::transform::program::*;

#[test]
fn info_has_its_data_and_a_description() {
    let plain = PassInfo::new(2, "P");
    assert_eq!(
        plain.to_string(),
        "The meta data of the pass - pass name: P, opt_level: 2, required passes: []\n"
    );
    let info = plain.with_required(["A", "B"]);
    assert_eq!(
        info.to_string(),
        "The meta data of the pass - pass name: P, opt_level: 2, required passes: [A, B, ]\n"
    );
    assert!(!info.traceable);
    let other_info = make::<PassInfo>(&[1.into(), "Q".into()]).unwrap();
    assert_eq!(
        (
            other_info.opt_level,
            &*other_info.name,
            other_info.required.len()
        ),
        (1, "Q", 0)
    );
    assert_eq!(
        error_of(make::<PassInfo>(&[1.into(), "".into()])),
        "ValueError: transform.PassInfo.name: expected the name of a pass, got ''"
    );
}

#[test]
fn a_module_pass_gives_a_new_module() {
    let root = module(&[("f", 1)]);
    let pass = of_module(&info("Empty"), |_| Ok(module(&[])));
    assert_eq!(pass.info.name, "Empty");
    assert!(numbers(&pass.run(&root).unwrap()).is_empty());
    assert_eq!(numbers(&root), [("f".to_owned(), 1)]);
    let same = idle("Idle", 0).run(&root).unwrap();
    assert!(same.same_as(&root));
}

#[test]
fn the_result_of_a_pass_is_a_program() {
    let pass = ModulePass::of(&info("Forgetful"), Function::new(|_| Ok(Value::NONE)));
    assert_eq!(
        error_of(pass.run(&module(&[]))),
        "TypeError: expected the new program, such as ir.IRModule, got None; a pass returns a \
         program, its input if nothing changes (in pass 'Forgetful')"
    );
    let pass = FunctionPass::of(&info("Forgetful"), Function::new(|_| Ok(Value::NONE)));
    assert_eq!(
        error_of(pass.run(&module(&[("f", 1)]))),
        "TypeError: expected the new function, transform_tests.Fun, got None; a function pass \
         returns a function, its input if nothing changes (in function 'f') (in pass 'Forgetful')"
    );
    // The pass is for modules only.
    let error = error_of(idle("Idle", 0).run(&Fun::new(1)));
    assert!(
        error.contains("expected ir.IRModule, got transform_tests.Fun"),
        "{error}"
    );
}

#[test]
fn a_sequence_has_a_name_and_defaults() {
    let made = make::<Sequential>(&[]).unwrap();
    assert_eq!(
        (made.passes.len(), made.info.opt_level, &*made.info.name),
        (0, 0, "sequential")
    );
    assert!(!made.info.traceable);
    let wrong = make::<Sequential>(&[Array::from([Value::from(1)]).into()]);
    assert!(error_of(wrong).contains("expected transform.Pass, got int"));
    let root = module(&[("f", 1)]);
    assert!(made.run(&root).unwrap().same_as(&root));
}

/// A context whose only instrument records.
fn recorded(log: &Log) -> Ref<PassContext> {
    ContextOptions::default()
        .instrument(&recorder(log, "A", ""))
        .make()
        .unwrap()
}

/// The started passes, by the events of an instrument.
fn begun(log: &Log) -> Vec<String> {
    let events = log.take().into_iter();
    events
        .filter_map(|event| Some(event.strip_prefix("A.before:")?.to_owned()))
        .collect()
}

#[test]
fn required_passes_run_every_time_and_in_order() {
    for name in ["required.One", "required.Two", "my_transform.Four"] {
        let factory = Function::typed(move || idle(name, 9));
        register_pass(name, factory, false).unwrap();
    }
    // The last place to look, under the name of another library.
    let factory = Function::typed(|| idle("required.Three", 9));
    register_function("relay._transform.required.Three", factory, false).unwrap();
    let required = [
        "required.Two",
        "required.One",
        "required.Three",
        "transform.required.One",
        "my_transform.Four",
    ];
    let pass = of_module(&info("P").with_required(required), Ok);
    let log = Log::default();
    let ctx = recorded(&log);
    let sequence = Sequential::new([pass.clone(), pass.clone()]);
    ctx.within(|| sequence.run(&module(&[]))).unwrap();
    let once = [
        "required.Two",
        "required.One",
        "required.Three",
        "required.One",
        "my_transform.Four",
        "P",
    ];
    let expected: Vec<_> = ["sequential"].iter().chain(&once).chain(&once).collect();
    assert_eq!(begun(&log).iter().collect::<Vec<_>>(), expected);
    // A pass run directly ignores them.
    ctx.within(|| pass.run(&module(&[]))).unwrap();
    assert_eq!(begun(&log), ["P"]);
}

#[test]
fn a_required_pass_may_have_options_with_defaults() {
    let factory = Function::typed(|number: i64| adding("required.Add", number))
        .with_parameters(&["number"])
        .with_default(0, 5);
    register_pass("required.Add", factory, false).unwrap();
    let pass = of_module(&info("P").with_required(["required.Add"]), Ok);
    let done = Sequential::new([pass]).run(&module(&[("f", 1)])).unwrap();
    assert_eq!(numbers(&done), [("f".to_owned(), 6)]);
    let missing = of_module(&info("P").with_required(["required.Ad"]), Ok);
    assert_eq!(
        error_of(Sequential::new([missing]).run(&module(&[]))),
        "ValueError: no pass is registered as 'required.Ad', did you mean 'required.Add'? (required by \
         pass 'P')"
    );
}

/// The error of a pass that needs itself, after which the instruments still work.
#[track_caller]
fn check_endless(pass: &Ref<Pass>) {
    let log = Log::default();
    let ctx = recorded(&log);
    let name = &*pass.info.name;
    let error = error_of(ctx.within(|| pass.run(&module(&[("f", 1)]))));
    let expected = format!(
        "RecursionError: pass '{name}' would run inside of 200 other passes; look for one that \
         requires itself, follows itself with `after`, or runs itself"
    );
    assert!(error.starts_with(&expected), "{error}");
    assert!(error.len() < 2 * expected.len(), "{error}");
    let events = log.take();
    let count = |event: &str| events.iter().filter(|seen| seen.starts_with(event)).count();
    assert!(count("A.before") >= 200, "{events:?}");
    assert_eq!(count("A.before"), count("A.failed"));
    // The thread goes on with passes.
    adding("Add", 1).run(&module(&[("f", 1)])).unwrap();
}

#[test]
fn passes_that_need_themselves_are_an_error() {
    register_pass(
        "endless.After",
        Function::typed(|| adding("endless.After", 1).with_after(["endless.After"].map(Str::from))),
        false,
    )
    .unwrap();
    check_endless(&make_pass("endless.After", []).unwrap());
    let requiring = || {
        let pass = idle_requiring("P", "endless.Required");
        Sequential::named(&info("endless.Required"), [pass])
    };
    register_pass("endless.Required", Function::typed(requiring), false).unwrap();
    let required = make_pass("endless.Required", []).unwrap();
    check_endless(&required);
    let result = bisect(&required, module(&[]).as_object(), |_| Ok(true));
    assert!(error_of(result).starts_with("RecursionError: pass 'endless.Required' would run"));
    register_pass(
        "endless.Run",
        Function::typed(|| {
            of_module(&info("endless.Run"), |root| {
                make_pass("endless.Run", [])?.run(&root)
            })
        }),
        false,
    )
    .unwrap();
    check_endless(&make_pass("endless.Run", []).unwrap());
}

fn idle_requiring(name: &str, required: &'static str) -> Ref<Pass> {
    of_module(&info(name).with_required([required]), Ok)
}

#[test]
fn all_sequences_around_a_failure_are_told() {
    let log = Log::default();
    let inner = Sequential::named(&info("Inner"), [idle("Idle", 0), failing("Fail")]);
    let outer = Sequential::named(&info("Outer"), [inner.upcast(), idle("Late", 0)]);
    let error = error_of(recorded(&log).within(|| outer.run(&module(&[]))));
    assert_eq!(error, "ValueError: it fails (in pass 'Fail')");
    let events = log.take().into_iter();
    let events: Vec<_> = events.filter(|event| !event.contains("should")).collect();
    let expected = "A.enter A.before:Outer A.before:Inner A.before:Idle A.after:Idle \
                    A.before:Fail A.failed:Fail A.failed:Inner A.failed:Outer A.exit";
    assert_eq!(events.join(" "), expected);
}

#[test]
fn a_skipped_pass_returns_its_input() {
    let log = Log::default();
    let skipping = isoform_ir::transform::PassInstrument::of(Recorder {
        log: log.clone(),
        name: "A",
        fails_at: "",
        skips: "Add",
    });
    let root = module(&[("f", 1)]);
    let ctx = ContextOptions::default()
        .instrument(&skipping)
        .make()
        .unwrap();
    let done = ctx.within(|| adding("Add", 1).run(&root)).unwrap();
    assert!(done.same_as(&root));
    log.check("A.enter A.should:Add A.exit");
    // No instrument is asked about a pass required by the context.
    let options = ContextOptions::default()
        .instrument(&skipping)
        .required(["Add"]);
    let done = options
        .make()
        .unwrap()
        .within(|| adding("Add", 1).run(&root))
        .unwrap();
    assert_eq!(numbers(&done), [("f".to_owned(), 2)]);
    log.check("A.enter A.before:Add A.after:Add A.exit");
}

#[test]
fn functions_are_visited_by_name_and_stored_at_the_end() {
    let log = Log::default();
    let seen = log.clone();
    let pass = FunctionPass::new(
        &info("Sum"),
        move |fun: Ref<Fun>, root: &Ref<IRModule>, _: &Ref<PassContext>| {
            seen.add(
                format!(
                    "{}:{:?}",
                    fun.number,
                    numbers(root).iter().map(|(_, n)| *n).collect::<Vec<_>>()
                )
                .replace(' ', ""),
            );
            Ok(fun.with_number(fun.number * 10))
        },
    );
    let root = module(&[("c", 3), ("a", 1), ("b", 2)]);
    let done = pass.run(&root).unwrap();
    log.check("1:[1,2,3] 2:[1,2,3] 3:[1,2,3]");
    assert_eq!(
        numbers(&done).iter().map(|(_, n)| *n).collect::<Vec<_>>(),
        [10, 20, 30]
    );
    assert_eq!(
        numbers(&root).iter().map(|(_, n)| *n).collect::<Vec<_>>(),
        [1, 2, 3]
    );
}

#[test]
fn only_changed_functions_are_replaced() {
    let root = module(&[("a", 1), ("b", 2)]);
    let odd = FunctionPass::new(
        &info("Odd"),
        |fun: Ref<Fun>, _: &Ref<IRModule>, _: &Ref<PassContext>| match fun.number % 2 {
            1 => Ok(fun.with_number(fun.number + 1)),
            _ => Ok(fun),
        },
    );
    let done = odd.run(&root).unwrap();
    let of = |root: &Ref<IRModule>, name| root.lookup(&root.global_var(name).unwrap()).unwrap();
    assert!(of(&done, "b").same_as(&of(&root, "b")));
    assert!(!of(&done, "a").same_as(&of(&root, "a")));
    assert!(
        odd.run(&done).unwrap().same_as(&done),
        "the same object where nothing changes"
    );
}

#[test]
fn a_pass_works_on_a_copy_of_the_module() {
    let root = module(&[("a", 1)]);
    let lifting = FunctionPass::new(
        &info("Lift"),
        |fun: Ref<Fun>, root: &Ref<IRModule>, _: &Ref<PassContext>| {
            root.update_func(&GlobalVar::new("lifted"), Fun::new(7).upcast())?;
            Ok(fun)
        },
    );
    let done = lifting.run(&root).unwrap();
    assert_eq!(
        numbers(&done),
        [("a".to_owned(), 1), ("lifted".to_owned(), 7)]
    );
    assert_eq!(numbers(&root), [("a".to_owned(), 1)]);
}

#[test]
fn functions_can_be_left_alone_and_passes_can_follow() {
    register_pass(
        "filtered.After",
        Function::typed(|| adding("filtered.After", 100)),
        false,
    )
    .unwrap();
    let small = Function::typed(|fun: Ref<Fun>| fun.number < 3);
    let pass = adding("Add", 1)
        .with_filter(small)
        .with_after(["filtered.After"].map(Str::from));
    let log = Log::default();
    let done = recorded(&log)
        .within(|| pass.run(&module(&[("a", 1), ("b", 5)])))
        .unwrap();
    assert_eq!(
        numbers(&done).iter().map(|(_, n)| *n).collect::<Vec<_>>(),
        [102, 105]
    );
    log.check(
        "A.enter A.should:Add A.before:Add A.should:filtered.After A.before:filtered.After \
         A.after:filtered.After A.after:Add A.exit",
    );
}

#[test]
fn functions_of_other_classes_are_left_alone() {
    let root = module(&[("a", 1)]);
    let base = Ref::new(isoform_ir::ir::BaseFunc::default());
    root.update_func(&GlobalVar::new("other"), base.clone())
        .unwrap();
    let done = adding("Add", 1).run(&root).unwrap();
    assert_eq!(
        numbers(&done),
        [("a".to_owned(), 2), ("other".to_owned(), -1)]
    );
    assert!(
        done.lookup(&done.global_var("other").unwrap())
            .unwrap()
            .same_as(&base)
    );
    let unknown = adding("Add", 1).with_function_class("transform_tests.Nothing");
    assert!(
        error_of(unknown.run(&root)).contains("'transform_tests.Nothing', which is not registered")
    );
}

#[test]
fn descriptions() {
    let function = adding("Add", 1);
    let module = ModulePass::of(&PassInfo::new(3, "M"), Function::new(|_| Ok(Value::NONE)));
    assert_eq!(
        module.to_string(),
        "Run Module pass: M at the optimization level 3"
    );
    assert_eq!(
        function.to_string(),
        "Run Function pass: Add at the optimization level 0"
    );
    let sequence = Sequential::new([module.upcast(), function.upcast()]);
    assert_eq!(
        sequence.to_string(),
        "Run Sequential pass: sequential at the optimization level 0. The passes will be executed \
         are: [M Add ]"
    );
}

#[test]
fn a_pass_can_be_applied_to_some_functions() {
    let stub = |_: &Ref<Obj>| Ok(Fun::new(0).into_object());
    let apply = |pass: &Ref<Pass>, wanted: &'static str, must_match| {
        let info = info(&format!("ApplyPassTo{wanted}"));
        apply_to_functions(
            pass,
            &info,
            must_match,
            move |name| Ok(name == wanted),
            stub,
        )
    };
    let add = adding("Add", 1).upcast();
    let root = module(&[("f", 1), ("g", 2)]);
    assert_eq!(
        numbers(&apply(&add, "f", true).run(&root).unwrap()),
        [("f".to_owned(), 2), ("g".to_owned(), 2)]
    );
    assert!(
        apply(&idle("Idle", 0), "f", true)
            .run(&root)
            .unwrap()
            .same_as(&root)
    );
    assert!(apply(&add, "h", false).run(&root).unwrap().same_as(&root));
    assert!(error_of(apply(&add, "h", true).run(&root)).contains("no function of the program"));
    let adds_one = of_module(&info("New"), |root| {
        let copy = root.copied();
        copy.update_func(&GlobalVar::new("new"), Fun::new(9).upcast())?;
        Ok(copy)
    });
    assert_eq!(
        numbers(&apply(&adds_one, "f", true).run(&root).unwrap()),
        [
            ("f".to_owned(), 1),
            ("g".to_owned(), 2),
            ("new".to_owned(), 9)
        ]
    );
}

#[test]
fn functions_that_the_pass_deletes_stay() {
    let stub = |_: &Ref<Obj>| Ok(Fun::new(0).into_object());
    let narrow = of_module(&info("Narrow"), |root| {
        let only = module(&[("new", 9)]);
        only.update_func(&root.global_var("f")?, Fun::new(5).upcast())?;
        Ok(only)
    });
    let check = |wanted: &'static str, expected: &[(&str, i64)]| {
        let is_wanted = move |name: &str| Ok(name == wanted);
        let apply = apply_to_functions(&narrow, &info("Apply"), true, is_wanted, stub);
        let root = module(&[("f", 1), ("g", 2), ("h", 3)]);
        let done = apply.run(&root).unwrap();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect();
        assert_eq!(numbers(&done), expected);
    };
    check("f", &[("f", 5), ("g", 2), ("h", 3), ("new", 9)]);
    check("g", &[("f", 1), ("g", 2), ("h", 3), ("new", 9)]);
}

/// A program of two functions, which are numbers.
#[derive(Node)]
#[node(key = "transform_tests.Pair", attrs(dyn Root))]
#[repr(C)]
struct Pair {
    left: Ref<Obj>,
    right: Ref<Obj>,
}

impl Root for Pair {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        Ok(vec![
            ("left".into(), self.left.clone()),
            ("right".into(), self.right.clone()),
        ])
    }
    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let mut pair = self.clone_fields();
        for (name, function) in changed {
            match &*name {
                "left" => pair.left = function,
                _ => pair.right = function,
            }
        }
        Ok(Ref::new(pair).into_object())
    }
}

fn any_adding() -> Ref<FunctionPass> {
    FunctionPass::new(
        &info("Add"),
        |fun: Ref<Fun>, _: &Ref<Obj>, _: &Ref<PassContext>| Ok(fun.with_number(fun.number + 1)),
    )
}

#[test]
fn programs_of_other_types_say_what_their_functions_are() {
    let pair = Pair::new(Fun::new(1), Ref::new(Obj {}));
    let done = any_adding().run(&pair).unwrap();
    assert_eq!(done.left.downcast_ref::<Fun>().unwrap().number, 2);
    assert!(done.right.same_as(&pair.right));
    // Without the trait, the program is its own only function.
    assert_eq!(any_adding().run(&Fun::new(4)).unwrap().number, 5);
    let lonely = Ref::new(Obj {});
    assert!(any_adding().run(&lonely).unwrap().same_as(&lonely));
}

/// A program of functions with the same name.
#[derive(Node)]
#[node(key = "transform_tests.Twins", attrs(dyn Root))]
#[repr(C)]
struct Twins {
    both: Array<Ref<Obj>>,
}

impl Root for Twins {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let twin = |function: &Ref<Obj>| ("twin".into(), function.clone());
        Ok(self.both.iter().map(twin).collect())
    }
    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let both = changed.into_iter().map(|(_, function)| function);
        Ok(Twins::new(both.collect::<Array<_>>()).into_object())
    }
}

#[test]
fn no_result_is_lost_where_functions_have_the_same_name() {
    let twins = |numbers: &[i64]| {
        let functions = numbers.iter().map(|number| Fun::new(*number).into_object());
        Twins::new(functions.collect::<Array<_>>())
    };
    assert_eq!(
        error_of(any_adding().run(&twins(&[1, 2]))),
        "ValueError: transform.root of transform_tests.Twins: two functions have the name 'twin'; \
         the names of a program's functions differ (in pass 'Add')"
    );
    any_adding().run(&twins(&[1])).unwrap();
}

#[test]
fn passes_are_listed_with_their_options() {
    let factory = Function::typed(|times: i64, label: Option<Str>| {
        idle(&format!("listed{times}{}", label.unwrap_or_default()), 3)
    });
    let factory = factory
        .with_parameters(&["times", "label"])
        .with_doc("Does nothing.");
    register_pass("listed.Idle", factory.with_default(0, 1), false).unwrap();
    let all = registered_passes();
    let entry = all
        .iter()
        .find(|entry| entry.name() == "listed.Idle")
        .expect("just registered");
    assert_eq!(entry.doc(), "Does nothing.");
    let options: Vec<_> = entry
        .options()
        .iter()
        .map(|option| option.schema().to_string())
        .collect();
    assert_eq!(options, ["int", "str | None"]);
    assert_eq!(entry.info().expect("all have defaults").opt_level, 3);
    let name = |options: Vec<(&'static str, Value)>| {
        make_pass("listed.Idle", options).map(|pass| pass.info.name.to_string())
    };
    assert_eq!(name(vec![]).unwrap(), "listed1");
    assert_eq!(name(vec![("label", "x".into())]).unwrap(), "listed1x");
    assert_eq!(
        error_of(name(vec![("tmies", 1.into())])),
        "TypeError: pass 'listed.Idle' has no option 'tmies', did you mean 'times'?; it has times, \
         label"
    );
    assert_eq!(
        error_of(name(vec![("times", "x".into())])),
        "TypeError: pass 'listed.Idle', option 'times': expected int, got str"
    );
    // Constructors of classes of passes are not passes.
    assert!(
        all.iter()
            .all(|entry| entry.name() != "Sequential" && entry.name() != "ModulePass")
    );
    assert!(all.iter().any(|entry| entry.name() == "PrintIR"));
}

#[test]
fn a_required_option_is_asked_for() {
    let factory = Function::typed(|times: i64| idle(&format!("n{times}"), 0));
    register_pass(
        "required.Option",
        factory.with_parameters(&["times"]),
        false,
    )
    .unwrap();
    assert_eq!(
        error_of(make_pass("required.Option", [])),
        "TypeError: pass 'required.Option': option 'times' is missing; write \
         required.Option{times=...}, a value of type int"
    );
    let entry = registered_passes()
        .into_iter()
        .find(|entry| entry.name() == "required.Option");
    assert!(entry.expect("just registered").info().is_none());
    // What is registered returns a pass.
    register_pass("required.Wrong", Function::new(|_| Ok(1.into())), false).unwrap();
    let error = error_of(make_pass("required.Wrong", []));
    assert!(
        error.contains("the function that makes pass 'required.Wrong'"),
        "{error}"
    );
    assert!(remove_function("transform.required.Wrong"));
}
