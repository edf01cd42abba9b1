//! Pipelines as text.

use isoform::functions::Function;
use isoform::{Array, Map, Ref, Result, Str, Value};
use isoform_ir::transform::PassRef;
use isoform_ir::transform::{
    Pass, PassInfo, Sequential, parse_pipeline, pipeline_text, register_pass,
};

use crate::transform::program::*;

/// Registers the passes of these tests.
fn passes() {
    isoform_ir::transform::register().unwrap();
    let add = Function::typed(|number: i64, label: Option<Str>| {
        let _ = label;
        adding("text.Add", number)
    });
    let add = add.with_parameters(&["number", "label"]).with_default(0, 1);
    let any = Function::typed(
        |value: Value,
         items: Option<Array<Value>>,
         flag: bool,
         map: Option<Map<Str, Value>>,
         ratio: f64| {
            let _ = (value, items, flag, map, ratio);
            idle("text.Any", 0)
        },
    );
    let any = any.with_parameters(&["value", "items", "flag", "map", "ratio"]);
    let any = any
        .with_default(0, Value::NONE)
        .with_default(2, false)
        .with_default(4, 0.5);
    // Another test may have been faster.
    let _ = register_pass("text.Add", add, false);
    let _ = register_pass("text.Any", any, false);
}

#[track_caller]
fn check_text(text: &str, printed: &str) {
    passes();
    let made = parse_pipeline(text).unwrap().upcast();
    assert_eq!(pipeline_text(&made).unwrap(), printed);
    let again = parse_pipeline(printed).unwrap().upcast();
    assert_eq!(pipeline_text(&again).unwrap(), printed);
}

#[track_caller]
fn check_fault(text: &str, fault: &str) {
    passes();
    let error = error_of(parse_pipeline(text));
    assert_eq!(error, fault, "\n{error}");
}

#[test]
fn texts_are_parsed_and_printed() {
    check_text("", "");
    check_text("text.Add", "text.Add");
    check_text(" text.Add , text.Add{} ,", "text.Add,text.Add");
    check_text(
        "text.Add{number=2, label=word,}",
        "text.Add{number=2,label=\"word\"}",
    );
    check_text("text.Add{label=\"a,}b\"}", "text.Add{label=\"a,}b\"}");
    check_text(
        "(text.Add,(text.Add),()),text.Add",
        "(text.Add,(text.Add),()),text.Add",
    );
    check_text("text.Add // first\n,\n  text.Add", "text.Add,text.Add");
    check_text("text.Add{label=x // c\n}", "text.Add{label=\"x\"}");
    check_text("text.Add{label=x// }\n, // y\n}", "text.Add{label=\"x\"}");
    check_text("text.Add{label=\"a//b\"}", "text.Add{label=\"a//b\"}");
    check_text("text.Any{value=[1, // ]\n 2]}", "text.Any{value=[1, 2]}");
    check_text("text.Any{flag=1}", "text.Any{flag=True}");
    check_text(
        "text.Any{value=[1, {\"a\": 2.5}],flag=true,items=[None, \"x\"],ratio=1}",
        "text.Any{value=[1, {\"a\": 2.5}],flag=True,items=[None, \"x\"],ratio=1.0}",
    );
    check_text(
        "text.Any{value=None,flag=False}",
        "text.Any{value=None,flag=False}",
    );
    check_text("text.Any{value=-3}", "text.Any{value=-3}");
}

#[test]
fn parsed_passes_run_with_their_options() {
    passes();
    let pipeline = parse_pipeline("text.Add{number=5},(text.Add,text.Add{number=10})").unwrap();
    let done = pipeline.run(&module(&[("f", 0)])).unwrap();
    assert_eq!(numbers(&done), [("f".to_owned(), 16)]);
}

#[test]
fn faults_are_shown_at_their_place() {
    check_fault(
        "text.Add,\n  text.Ad",
        "ValueError: pipeline: line 2, column 3: no pass is registered as 'text.Ad', did you mean \
         'text.Add'?\n  |\n2 |   text.Ad\n  |   ^^^^^^^",
    );
    check_fault(
        "text.Add{nubmer=1}",
        "ValueError: pipeline: line 1, column 10: pass 'text.Add' has no option 'nubmer', did you \
         mean 'number'?; it has number, label\n  |\n1 | text.Add{nubmer=1}\n  |          ^^^^^^",
    );
    check_fault(
        "text.Add{number=x}",
        "TypeError: pipeline: line 1, column 17: expected int, got str\n  |\n1 | \
         text.Add{number=x}\n  |                 ^",
    );
    check_fault(
        "text.Any{flag=-1}",
        "TypeError: pipeline: line 1, column 15: expected True or False, got -1\n  |\n1 | \
         text.Any{flag=-1}\n  |               ^^",
    );
    check_fault(
        "text.Add{label=a//b}",
        "ValueError: pipeline: line 1, column 21: expected ',' or '}', got the end of the text\n  \
         |\n1 | text.Add{label=a//b}\n  |                     ^",
    );
    check_fault(
        "text.Add{number=1,number=2}",
        "ValueError: pipeline: line 1, column 19: option 'number' is given twice\n  |\n1 | \
         text.Add{number=1,number=2}\n  |                   ^^^^^^",
    );
    check_fault(
        "text.Add text.Add",
        "ValueError: pipeline: line 1, column 10: expected ',' or the end of the text, got \
         'text.Add'\n  |\n1 | text.Add text.Add\n  |          ^^^^^^^^",
    );
    check_fault(
        "(text.Add",
        "ValueError: pipeline: line 1, column 1: expected ')' for this '(', got the end of the \
         text\n  |\n1 | (text.Add\n  | ^",
    );
    check_fault(
        "text.Add)",
        "ValueError: pipeline: line 1, column 9: expected ',' or the end of the text, got ')'\n  \
         |\n1 | text.Add)\n  |         ^",
    );
    check_fault(
        "text.Any{value=[1,,2]}",
        "ValueError: pipeline: line 1, column 19: expected a value, got ','\n  |\n1 | \
         text.Any{value=[1,,2]}\n  |                   ^",
    );
    check_fault(
        "text.Add{number}",
        "ValueError: pipeline: line 1, column 16: expected '=', got '}'\n  |\n1 | \
         text.Add{number}\n  |                ^",
    );
    check_fault(
        ",",
        "ValueError: pipeline: line 1, column 1: expected the name of a pass or '(', got ','\n  \
         |\n1 | ,\n  | ^",
    );
}

#[test]
fn only_sequences_that_a_text_makes_have_one() {
    passes();
    let text = |pass: Ref<Pass>| -> Result<String> { pipeline_text(&pass) };
    let inner = Sequential::named(&PassInfo::new(2, "Level2"), []);
    let outer = Sequential::new([inner.clone().upcast()]).upcast();
    assert_eq!(
        error_of(text(outer)),
        "ValueError: the sequence 'Level2' has no text: expected one named 'sequential', of level \
         0 and without requirements"
    );
    // The outermost one needs no text.
    assert_eq!(text(inner.upcast()).unwrap(), "");
}

#[test]
fn parentheses_may_be_nested_to_any_depth() {
    passes();
    let depth = 100_000;
    let text = format!("{}text.Add{}", "(".repeat(depth), ")".repeat(depth));
    let made = parse_pipeline(&text).unwrap();
    assert_eq!(pipeline_text(&made.clone().upcast()).unwrap(), text);
    let done = made.run(&module(&[("f", 0)])).unwrap();
    assert_eq!(numbers(&done), [("f".to_owned(), 1)]);
}
