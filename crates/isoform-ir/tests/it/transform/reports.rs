//! Errors of passes: the names in them, the files written, and messages about source
//! texts.

use isoform::functions::Function;
use isoform::{Error, Ref};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{Diagnostic, DiagnosticLevel, IRModule};
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use isoform_ir::transform::{
    ContextOptions, FunctionPass, Pass, PassContext, PassInfo, Sequential, diagnostics,
    parse_pipeline, register_pass,
};

use crate::transform::program::*;

#[test]
fn errors_name_the_pass_and_the_function() {
    let pass = FunctionPass::new(
        &info("Check"),
        |fun: Ref<Fun>, _: &Ref<IRModule>, _: &Ref<PassContext>| match fun.number {
            2 => Err(Error::value_error("two is too many")),
            _ => Ok(fun),
        },
    );
    let error = Sequential::new([pass.upcast()])
        .run(&module(&[("f", 1), ("g", 2)]))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "ValueError: two is too many (in function 'g') (in pass 'Check')"
    );
    assert_eq!(error.message(), "two is too many");
}

#[test]
fn a_panic_is_an_error_and_leaves_the_input_alone() {
    let root = module(&[("f", 1)]);
    let hash = isoform::structural_hash(&root).unwrap();
    let pass = of_module(&info("Broken"), |_| panic!("index out of bounds"));
    assert_eq!(
        error_of(pass.run(&root)),
        "RuntimeError: the pass crashed: index out of bounds (in pass 'Broken')"
    );
    assert_eq!(isoform::structural_hash(&root).unwrap(), hash);
    // The thread goes on with passes.
    assert!(idle("Idle", 0).run(&root).unwrap().same_as(&root));
}

#[test]
fn a_pass_that_changes_its_input_is_named() {
    let breaking: Ref<Pass> = of_module(&info("InPlace"), |root| {
        let var = root.global_var("f")?;
        root.update_func(&var, Fun::new(9).upcast())?;
        Ok(root)
    });
    let run = |checked: bool| {
        let options = ContextOptions::default().config("testing.immutable_module", checked);
        let sequence = Sequential::new([idle("Idle", 0), breaking.clone()]);
        options
            .make()
            .unwrap()
            .within(|| sequence.run(&module(&[("f", 1)])))
    };
    run(false).unwrap();
    assert_eq!(
        error_of(run(true)),
        "RuntimeError: pass 'InPlace' changed its input in place; a pass returns a new program \
         and leaves its input alone (in pass 'InPlace')"
    );
}

#[test]
fn a_failure_can_be_repeated_from_its_reproducer() {
    let factory = Function::typed(|limit: i64| {
        of_module(&info("reports.Fails"), move |root| {
            if numbers(&root).iter().any(|(_, number)| *number > limit) {
                Err(Error::value_error("too large"))
            } else {
                Ok(root)
            }
        })
    });
    register_pass("reports.Fails", factory.with_parameters(&["limit"]), false).unwrap();
    let add = Function::typed(|| adding("reports.Add", 1));
    register_pass("reports.Add", add, false).unwrap();
    let folder = std::env::temp_dir().join(format!("isoform-reproducer-{}", std::process::id()));
    let options =
        ContextOptions::default().config("transform.reproducer", folder.to_str().unwrap());
    let ctx = options.make().unwrap();
    let pipeline = parse_pipeline("reports.Add,(reports.Fails{limit=1})").unwrap();
    let error = error_of(ctx.within(|| pipeline.run(&module(&[("f", 1)]))));
    let (program, passes) = (
        folder.join("reports.Fails-000.json"),
        folder.join("reports.Fails-000.pipeline"),
    );
    assert_eq!(
        error,
        format!(
            "ValueError: too large (in pass 'reports.Fails') (to repeat it: isoform run @{} {})",
            passes.display(),
            program.display()
        )
    );
    let text = std::fs::read_to_string(&passes).unwrap();
    assert_eq!(text, "reports.Fails{limit=1}\n");
    let json = std::fs::read_to_string(&program).unwrap();
    let root = isoform::files::from_json_graph(&json)
        .unwrap()
        .extract::<Ref<IRModule>>()
        .unwrap();
    assert_eq!(numbers(&root), [("f".to_owned(), 2)]);
    let again = error_of(parse_pipeline(&text).unwrap().run(&root));
    assert_eq!(again, "ValueError: too large (in pass 'reports.Fails')");
    // Each failure writes a separate reproducer of two files.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    ctx.within(|| pipeline.run(&module(&[("f", 1)])))
        .unwrap_err();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_failure_after_one_that_was_handled_has_a_reproducer() {
    for name in ["reports.First", "reports.Second"] {
        let factory = Function::typed(move || failing(name));
        register_pass(name, factory, false).unwrap();
    }
    let first = failing("reports.First");
    let trying = of_module(&info("Try"), move |root| {
        assert!(first.run(&root).is_err());
        Ok(root)
    });
    let folder = std::env::temp_dir().join(format!("isoform-handled-{}", std::process::id()));
    let options =
        ContextOptions::default().config("transform.reproducer", folder.to_str().unwrap());
    let sequence = Sequential::new([trying, failing("reports.Second")]);
    let error = error_of(
        options
            .make()
            .unwrap()
            .within(|| sequence.run(&module(&[("f", 1)]))),
    );
    assert!(error.contains("reports.Second-000.json"), "{error}");
    assert!(folder.join("reports.First-000.json").exists());
    assert!(folder.join("reports.Second-000.json").exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_command_of_a_reproducer_has_the_conditions() {
    let folder = std::env::temp_dir().join(format!("isoform repeat {}", std::process::id()));
    let options =
        ContextOptions::default().config("transform.reproducer", folder.to_str().unwrap());
    let note = |pass: Ref<Pass>, options: &ContextOptions| {
        let ctx = options.make().unwrap();
        let error = ctx.within(|| pass.run(&module(&[]))).unwrap_err();
        let note = error.notes().last().unwrap_or_default().to_owned();
        note.replace(folder.to_str().unwrap(), "FOLDER")
    };
    let high = |name: &'static str| {
        let info = PassInfo::new(4, name);
        of_module(&info, |_| Err(Error::value_error("it fails")))
    };
    assert_eq!(
        note(high("Unknown"), &options),
        "to repeat it, once a pass is registered as 'Unknown': isoform run --opt-level 4 \
         '@FOLDER/Unknown-000.pipeline' 'FOLDER/Unknown-000.json'"
    );
    register_pass(
        "reports.High",
        Function::typed(move || high("reports.High")),
        false,
    )
    .unwrap();
    let set = options
        .clone()
        .opt_level(5)
        .config("testing.immutable_module", true);
    assert_eq!(
        note(high("reports.High"), &set),
        "to repeat it: isoform run --opt-level 5 --config testing.immutable_module=True \
         '@FOLDER/reports.High-000.pipeline' 'FOLDER/reports.High-000.json'"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn messages_belong_to_the_pass_and_end_with_it() {
    let emitting = |name: &str, level: DiagnosticLevel, fails: bool| {
        of_module(&info(name), move |root| {
            diagnostics()?.emit(Diagnostic::new(level as i64, None, "look here"))?;
            if fails {
                Err(Error::value_error("it fails"))
            } else {
                Ok(root)
            }
        })
    };
    let root = module(&[]);
    emitting("Warn", DiagnosticLevel::Warning, false)
        .run(&root)
        .unwrap();
    let error = emitting("Err", DiagnosticLevel::Error, false)
        .run(&root)
        .unwrap_err();
    assert_eq!(error.kind_name(), "DiagnosticError");
    assert!(error.message().contains("look here"), "{error}");
    // The messages of an inner pass stay inside, also after a failure.
    let inner = emitting("Inner", DiagnosticLevel::Error, true);
    let outer = of_module(&info("Outer"), move |root| {
        diagnostics()?.emit(Diagnostic::new(DiagnosticLevel::Note as i64, None, "outer"))?;
        assert_eq!(
            error_of(inner.run(&root)),
            "ValueError: it fails (in pass 'Inner')"
        );
        assert_eq!(diagnostics()?.diagnostics.len(), 1);
        Ok(root)
    });
    outer.run(&root).unwrap();
    assert!(error_of(diagnostics()).contains("only while a pass runs"));
}
