//! Instruments: the order of their calls, and the predefined instruments.

use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::{Arc, Mutex};

use isoform::{Error, Ref, Result};
use isoform_ir::transform::instruments::{
    Changes, DumpIr, PassFilter, Printing, Verifying, timing,
};
use isoform_ir::transform::{ContextOptions, PassInstrument, Sequential, instruments};

use crate::transform::program::*;

#[test]
fn functions_that_are_absent_are_not_called() {
    let log = Log::default();
    let seen = log.clone();
    let instrument = Ref::new(PassInstrument {
        name: "Half".into(),
        on_enter: None,
        on_exit: None,
        on_should_run: None,
        on_before_pass: None,
        on_after_pass: Some(isoform::functions::Function::new(move |_| {
            seen.add("after");
            Ok(().into())
        })),
        on_failed_pass: None,
    });
    let ctx = ContextOptions::default()
        .instrument(&instrument)
        .make()
        .unwrap();
    ctx.within(|| idle("P", 0).run(&module(&[]))).unwrap();
    log.check("after");
}

#[test]
fn all_instruments_are_asked_and_called_in_the_same_order() {
    let log = Log::default();
    let options = ContextOptions::default().instrument(&recorder(&log, "A", ""));
    let ctx = options.instrument(&recorder(&log, "B", "")).make().unwrap();
    ctx.within(|| idle("P", 0).run(&module(&[]))).unwrap();
    log.check(
        "A.enter B.enter A.should:P B.should:P A.before:P B.before:P A.after:P B.after:P A.exit \
         B.exit",
    );
    let no = |name| {
        PassInstrument::of(Recorder {
            log: log.clone(),
            name,
            fails_at: "",
            skips: "P",
        })
    };
    // Both are asked, although the first instrument has rejected the pass.
    let options = ContextOptions::default().instrument(&no("A"));
    let ctx = options.instrument(&recorder(&log, "B", "")).make().unwrap();
    ctx.within(|| idle("P", 0).run(&module(&[]))).unwrap();
    log.check("A.enter B.enter A.should:P B.should:P A.exit B.exit");
}

#[test]
fn instruments_hear_of_passes_that_fail() {
    let log = Log::default();
    let options = ContextOptions::default().instrument(&recorder(&log, "A", ""));
    let ctx = options
        .instrument(&recorder(&log, "B", "B.before:P"))
        .make()
        .unwrap();
    ctx.within(|| failing("F").run(&module(&[]))).unwrap_err();
    log.check(
        "A.enter B.enter A.should:F B.should:F A.before:F B.before:F A.failed:F B.failed:F A.exit \
         B.exit",
    );
    // Only those that have begun.
    ctx.within(|| idle("P", 0).run(&module(&[]))).unwrap_err();
    log.check(
        "A.enter B.enter A.should:P B.should:P A.before:P B.before:P A.failed:P A.exit B.exit",
    );
}

/// Lines of times with all numbers replaced.
fn shape(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let mut shown = String::new();
        for c in line.chars() {
            if !c.is_ascii_digit() {
                shown.push(c);
            } else if !shown.ends_with('0') {
                shown.push('0');
            }
        }
        shown.replace("0.0%", "0%")
    };
    text.lines().map(line).collect()
}

#[test]
fn times_are_a_tree_of_each_instrument() {
    let (clock, other) = (timing::timing(), timing::timing());
    let options = ContextOptions::default().instrument(&clock);
    let pair = || Sequential::new([idle("P", 0), idle("Q", 0)]).upcast();
    let sequence = Sequential::new([pair(), idle("R", 0)]);
    let ctx = options.make().unwrap();
    ctx.within(|| {
        assert_eq!(timing::render(&clock)?, "");
        sequence.run(&module(&[]))?;
        let unit = "0us [0us] (0%; 0%)";
        let expected = [
            format!("sequential: {unit}"),
            format!("\tsequential: {unit}"),
            format!("\t\tP: {unit}"),
            format!("\t\tQ: {unit}"),
            format!("\tR: {unit}"),
        ];
        assert_eq!(shape(&timing::render(&clock)?), expected);
        assert_eq!(timing::render(&other)?, "");
        Ok(())
    })
    .unwrap();
    // The measurements end with the context.
    assert_eq!(timing::render(&clock).unwrap(), "");
    let recorder = recorder(&Log::default(), "A", "");
    assert!(error_of(timing::render(&recorder)).contains("the instrument 'A'"));
}

#[test]
fn a_pass_that_fails_is_balanced() {
    let clock = timing::timing();
    let ctx = ContextOptions::default().instrument(&clock).make().unwrap();
    ctx.within(|| {
        Sequential::new([failing("F")])
            .run(&module(&[]))
            .unwrap_err();
        idle("P", 0).run(&module(&[]))?;
        let lines = shape(&timing::render(&clock)?);
        let names: Vec<_> = lines
            .iter()
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(names, ["sequential", "\tF", "P"]);
        Ok(())
    })
    .unwrap();
}

#[test]
fn times_are_not_shown_while_a_pass_runs() {
    let clock = timing::timing();
    let inside = clock.clone();
    let pass = of_module(&info("P"), move |root| {
        timing::render(&inside)?;
        Ok(root)
    });
    let ctx = ContextOptions::default().instrument(&clock).make().unwrap();
    let error = error_of(ctx.within(|| pass.run(&module(&[]))));
    assert!(
        error.starts_with("RuntimeError: times are shown between passes"),
        "{error}"
    );
}

/// A sink of text, and the text written to it.
fn sink() -> (
    impl Fn(&str) -> Result<()> + Send + Sync,
    Arc<Mutex<String>>,
) {
    let text = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&text);
    let write = move |piece: &str| {
        written.lock().unwrap().push_str(piece);
        Ok(())
    };
    (write, text)
}

#[track_caller]
fn printed(printing: Printing, expected: &[&str]) {
    let (write, text) = sink();
    let ctx = ContextOptions::default()
        .instrument(&printing.instrument(write))
        .make()
        .unwrap();
    let sequence = Sequential::new([adding("Add", 1).upcast(), idle("Idle", 0)]);
    ctx.within(|| sequence.run(&module(&[("f", 1)]))).unwrap();
    let text = text.lock().unwrap();
    let heads = text
        .lines()
        .filter(|line| line.contains("Print IR") || line.contains(" Pass: "));
    assert_eq!(heads.collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn programs_are_printed_around_passes() {
    let named = |name: &str| PassFilter::Named(vec![name.to_owned()]);
    printed(
        Printing::default()
            .before(named("Add"))
            .after(named("Idle")),
        &["Print IR before: Add", "Print IR after: Idle"],
    );
    printed(
        Printing::default().before(PassFilter::All).describes(true),
        &[
            "Before Running Pass: The meta data of the pass - pass name: sequential, opt_level: 0, \
             required passes: []",
            "Before Running Pass: The meta data of the pass - pass name: Add, opt_level: 0, \
             required passes: []",
            "Before Running Pass: The meta data of the pass - pass name: Idle, opt_level: 0, \
             required passes: []",
        ],
    );
    printed(Printing::default(), &[]);
}

#[test]
fn changes_are_printed_as_a_diff_of_the_functions() {
    let (write, text) = sink();
    let printing = Printing::default()
        .changes(PassFilter::All)
        .instrument(write);
    let ctx = ContextOptions::default()
        .instrument(&printing)
        .make()
        .unwrap();
    let sequence = Sequential::new([idle("Idle", 0), adding("Add", 1).upcast()]);
    ctx.within(|| sequence.run(&module(&[("f", 1), ("g", 2)])))
        .unwrap();
    let text = text.lock().unwrap();
    // The changes of a sequence are those of its passes.
    assert_eq!(text.matches("Changed by pass").count(), 1, "{text}");
    let shown = &*text;
    assert!(shown.starts_with("Changed by pass: Add\n"), "{text}");
    assert!(shown.contains("--- before/f\n+++ after/f\n@@ "), "{text}");
    assert!(
        shown.contains("-transform_tests.Fun(") && shown.contains("number=3"),
        "{text}"
    );
    assert!(shown.contains("--- before/g\n+++ after/g\n"), "{text}");
}

#[test]
fn changes_inside_of_a_pass_are_those_of_the_inner_one() {
    let inner = adding("Inner", 1);
    let outer = of_module(&info("Outer"), move |root| {
        let first = module(&[("f", 10)]);
        let done = inner.run(&first)?;
        assert_eq!(numbers(&root).len() + numbers(&done).len(), 2);
        Ok(module(&[("f", 100)]))
    });
    let (write, text) = sink();
    let printing = Printing::default()
        .changes(PassFilter::All)
        .instrument(write);
    let ctx = ContextOptions::default()
        .instrument(&printing)
        .make()
        .unwrap();
    ctx.within(|| {
        failing("Fails").run(&module(&[])).unwrap_err();
        outer.run(&module(&[("f", 1)]))
    })
    .unwrap();
    let text = text.lock().unwrap();
    let signs = |line: &&str| {
        line.starts_with("Changed") || (line.starts_with(['-', '+']) && line.contains("number"))
    };
    let short = |line: &str| match line.rsplit_once("number=") {
        Some((start, number)) => format!("{}{}", &start[..1], number.trim_end_matches(')')),
        None => line.to_owned(),
    };
    let lines: Vec<String> = text.lines().filter(signs).map(short).collect();
    let expected = [
        "Changed by pass: Inner",
        "-10",
        "+11",
        "Changed by pass: Outer",
        "-1",
        "+10",
        "-11",
        "+100",
    ];
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn functions_that_come_and_go_are_changes() {
    let (old, new) = (module(&[("f", 1)]), module(&[("g", 1)]));
    let text = instruments::changes_text(old.as_object(), new.as_object()).unwrap();
    assert!(text.contains("--- before/f\n+++ (absent)\n"), "{text}");
    assert!(text.contains("--- (absent)\n+++ after/g\n"), "{text}");
    assert_eq!(
        instruments::changes_text(old.as_object(), old.as_object()).unwrap(),
        ""
    );
}

#[test]
fn programs_are_dumped_to_numbered_files() {
    let folder = std::env::temp_dir().join(format!("isoform-dump-{}", std::process::id()));
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let run = |dump: DumpIr| {
        let ctx = ContextOptions::default()
            .instrument(&dump.instrument())
            .make()
            .unwrap();
        let sequence = Sequential::new([adding("a<b>:\"/\\|?*c", 1).upcast(), idle("Idle", 0)]);
        ctx.within(|| sequence.run(&module(&[("f", 1)]))).unwrap();
    };
    run(DumpIr::new(&folder));
    let dumps = ["000_a_b________c.iso", "001_Idle.iso", "002_sequential.iso"];
    assert_eq!(names(), dumps);
    let text = std::fs::read_to_string(folder.join("001_Idle.iso")).unwrap();
    let read = isoform::text::from_text(&text).unwrap();
    assert_eq!(numbers(&read.extract().unwrap()), [("f".to_owned(), 2)]);
    // Other files in the folder are never deleted.
    std::fs::write(folder.join("000_mine.txt"), "").unwrap();
    let small = |refresh| {
        let dump = DumpIr::new(&folder).refresh(refresh).instrument();
        let ctx = ContextOptions::default().instrument(&dump).make().unwrap();
        ctx.within(|| idle("Idle", 0).run(&module(&[]))).unwrap();
    };
    small(true);
    assert_eq!(names().len(), 5, "{:?}", names());
    std::fs::remove_file(folder.join("000_mine.txt")).unwrap();
    small(false);
    assert_eq!(names().len(), 4);
    small(true);
    assert_eq!(names(), ["000_Idle.iso"]);
    std::fs::remove_dir_all(&folder).unwrap();
    // Passes go on if a file cannot be written.
    std::fs::write(&folder, "a file").unwrap();
    small(false);
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn programs_are_verified_after_each_pass() {
    let strict = Verifying::by(|root| {
        let root = root.clone().cast()?;
        match numbers(&root).iter().find(|(_, number)| *number > 2) {
            Some((name, number)) => Err(Error::value_error(format!("{name} is {number}"))),
            None => Ok(()),
        }
    });
    let ctx = ContextOptions::default()
        .instrument(&strict)
        .make()
        .unwrap();
    let pass = |name| adding(name, 1).upcast();
    let sequence = Sequential::new([pass("One"), pass("Two"), pass("Three")]);
    let error = error_of(ctx.within(|| sequence.run(&module(&[("f", 1)]))));
    assert_eq!(
        error,
        "ValueError: after pass 'Two': f is 3 (in instrument 'VerifyInstrument' at pass 'Two')"
    );
    let ctx = ContextOptions::default()
        .instrument(&Verifying::instrument())
        .make()
        .unwrap();
    ctx.within(|| sequence.run(&module(&[("f", 1)]))).unwrap();
}

#[test]
fn changed_functions_are_recorded() {
    let changes = Changes::instrument();
    let ctx = ContextOptions::default()
        .instrument(&changes)
        .make()
        .unwrap();
    let odd = adding("Odd", 1).with_filter(isoform::functions::Function::typed(|fun: Ref<Fun>| {
        fun.number % 2 == 1
    }));
    let rename = of_module(&info("Rename"), |_| Ok(module(&[("h", 1)])));
    let sequence = Sequential::new([odd.upcast(), idle("Idle", 0), rename]);
    ctx.within(|| {
        failing("Fails").run(&module(&[])).unwrap_err();
        sequence.run(&module(&[("f", 1), ("g", 2)]))
    })
    .unwrap();
    let content: &Changes = changes.content().unwrap();
    let rows: Vec<String> = content
        .recorded()
        .iter()
        .map(|row| {
            format!(
                "{} {:?} {:?} {:?}",
                row.pass, row.changed, row.added, row.removed
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            r#"Odd ["f"] [] []"#,
            "Idle [] [] []",
            r#"Rename [] ["h"] ["f", "g"]"#,
            r#"sequential [] ["h"] ["f", "g"]"#,
        ]
    );
}
