//! Parts omitted from a text: defaults that are objects, spans.

use isoform::values::DType;
use isoform_ir::ir::{GlobalVar, IRModule, SourceName, Span, TupleType, Type};
use isoform_ir::{ir, tir};
use isoform_relay as relay;

use super::*;
use crate::support::MAPPED;

#[track_caller]
fn check_text(value: impl Into<Value>, options: &TextOptions, expected: &str) {
    let value = value.into();
    let text = options.to_text(&value).expect("it has a text");
    assert_eq!(text, expected);
    let read = from_text(&text).expect("the text of a value");
    assert!(structural_equal(&read, &value).expect("comparable"));
    assert_eq!(options.to_text(&read).expect("it has a text"), expected);
}

fn plain() -> TextOptions {
    TextOptions::default()
}

#[test]
fn a_default_that_is_an_object_is_left_out() {
    let module = IRModule::new();
    check_text(&module, &plain(), "ir.IRModule()\n");
    // With an entry, the map is not the default.
    module.source_map.add("a.txt", "x").unwrap();
    let text = text_of(&module);
    assert!(text.contains("source_map="), "{text}");
    let read: Ref<IRModule> = from_text(&text)
        .and_then(|read| read.extract())
        .expect("a module");
    assert_eq!(read.source_map.source_map.len(), 1);
}

#[test]
fn a_default_that_is_shared_is_printed() {
    let module = IRModule::new();
    let pair = Value::from([Value::from(&module), (&module.source_map).into()]);
    check_text(
        &pair,
        &plain(),
        "%0 = ir.SourceMap()\n[ir.IRModule(source_map=%0), %0]\n",
    );
    // Nor is one with a shared part.
    let module = IRModule::new();
    let part = module.source_map.source_map.clone();
    let pair = Value::from([Value::from(&module), part.into()]);
    check_text(
        &pair,
        &plain(),
        "%0 = Dict{}\n[ir.IRModule(source_map=ir.SourceMap(source_map=%0)), %0]\n",
    );
    // A default is omitted unless two modules share it, like copies do.
    let pair = [IRModule::new().copied(), IRModule::new()];
    check_text(
        Value::from(pair),
        &plain(),
        "[ir.IRModule(), ir.IRModule()]\n",
    );
    let module = IRModule::new();
    let text = text_of(Value::from([module.copied(), module]));
    assert!(text.contains("[ir.IRModule(source_map=%0), "), "{text}");
}

#[test]
fn what_is_left_out_needs_no_line_however_deep_it_stands() {
    let mut deep = Value::from(IRModule::new());
    for _ in 0..40 {
        deep = [deep].into();
    }
    let text = text_of(deep);
    assert!(!text.contains("SourceMap"), "{text}");
}

#[test]
fn spans_are_left_out_by_an_option() {
    let span = Span::new(SourceName::new("a.txt"), 1, 1, 2, 3);
    let ty: Ref<Type> = TupleType::new([]).upcast();
    let ty = ty.with_span(span);
    let with = text_of(&ty);
    assert!(with.contains("span="), "{with}");
    assert_eq!(
        plain().spans(false).to_text(&ty).expect("a text"),
        plain().hide("span").to_text(ty).expect("a text")
    );
}

#[test]
fn types_stand_in_comments() {
    ir::register().expect("the keys are free");
    let x = tir::Var::new("x", DType::FLOAT32).upcast();
    let sum = tir::add(&x, &x).expect("numbers");
    let text = plain().types(true).to_text(&sum).expect("a text");
    assert!(text.contains("/* : float32 */"), "{text}");
    let read = from_text(&text).expect("the text of a value");
    let sum = Value::from(&sum);
    assert!(MAPPED.equal(&read, &sum).expect("comparable"));
    // Values without a type, or with an unknown one, have no comment.
    let call = relay::Call::new(GlobalVar::new("f"), []);
    let text = plain().types(true).to_text(call).expect("a text");
    assert!(!text.contains("/*"), "{text}");
    // The type comes before other annotations.
    let said = |_: &Ref<Obj>| Ok(Some("seen".to_owned()));
    let three = tir::constant(DType::INT32, 3).expect("a literal");
    let text = plain()
        .types(true)
        .annotate(said)
        .to_text(three)
        .expect("a text");
    assert!(text.contains("/* : int32; seen */"), "{text}");
}
