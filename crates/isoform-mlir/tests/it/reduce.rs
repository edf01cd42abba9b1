//! Programs without some of their operations.

use isoform_mlir::{ReducibleProgram, Replacement, read, write};

fn program(text: &str) -> ReducibleProgram {
    ReducibleProgram::new(&read(text).unwrap()).unwrap()
}

/// The text without the operations at these positions.
fn without(text: &str, lost: &[usize], replacement: Replacement) -> Option<String> {
    let program = program(text);
    let lost: Vec<bool> = (0..program.len()).map(|at| lost.contains(&at)).collect();
    let smaller = program.without(&lost, replacement).unwrap()?;
    let text = write(smaller.program()).unwrap();
    // The result is a program that can be read, and reduced again.
    assert_eq!(write(&read(&text).unwrap()).unwrap(), text);
    Some(text)
}

const NESTED: &str = r#"
    func.func @f(%x: i32, %c: i1) -> i32 {
      %a = "x.a"(%x) : (i32) -> i32
      %b = "x.if"(%c) ({
        %d = "x.d"(%a) : (i32) -> i32
        "x.yield"(%d) : (i32) -> ()
      }) : (i1) -> i32
      return %b : i32
    }"#;

#[test]
fn terminators_stay() {
    // The function, three operations, and no terminator.
    assert_eq!(program(NESTED).len(), 4);
}

#[test]
fn operands_of_the_type_replace_results() {
    let text = without(NESTED, &[1], Replacement::First).unwrap();
    assert!(!text.contains("x.a"), "{text}");
    assert!(text.contains("\"x.d\"(%arg0)"), "{text}");
}

#[test]
fn placeholders_replace_results_without_such_an_operand() {
    let text = without(NESTED, &[2], Replacement::First).unwrap();
    assert!(!text.contains("x.d"), "{text}");
    assert!(
        text.contains("%1 = \"builtin.unrealized_conversion_cast\"() : () -> i32"),
        "{text}"
    );
    assert!(text.contains("\"func.return\"(%1)"), "{text}");
}

#[test]
fn an_operation_stays_around_another_one_in_a_cut() {
    let text = without(NESTED, &[0, 1, 2], Replacement::Placeholder).unwrap();
    assert!(
        text.contains("x.if") && text.contains("x.d") && !text.contains("x.a"),
        "{text}"
    );
    // Everything goes: what is left are the module and nothing in it.
    let text = without(NESTED, &[0], Replacement::First).unwrap();
    assert!(!text.contains("func.func"), "{text}");
}

#[test]
fn symbols_stay_while_something_refers_to_them() {
    let text = r#"
        func.func @f() { call @g() : () -> () return }
        func.func private @g() { "x.a"() : () -> () return }"#;
    assert_eq!(program(text).len(), 4);
    // The function @g is needed by the call.
    assert_eq!(without(text, &[2], Replacement::First), None);
    let smaller = without(text, &[1, 2], Replacement::First).unwrap();
    assert!(
        !smaller.contains("@g") && !smaller.contains("\"g\""),
        "{smaller}"
    );
}

#[test]
fn placeholders_that_nobody_uses_go() {
    let text = without(NESTED, &[2], Replacement::First).unwrap();
    let program = program(&text);
    // The function and x.a: the placeholder does not count.
    assert_eq!(program.len(), 2);
    let smaller = program
        .without(&[true, false], Replacement::First)
        .unwrap()
        .unwrap();
    assert!(!write(smaller.program()).unwrap().contains("cast"));
}

#[test]
fn needs_and_users_follow_values_and_regions() {
    let program = program(NESTED);
    // x.d needs x.a, and the operations around it.
    assert_eq!(program.needed_by(3), [true, true, true, true]);
    assert_eq!(program.needed_by(1), [true, true, false, false]);
    assert_eq!(program.users_of(1), [true, true, true, true]);
    assert_eq!(program.users_of(3), [true, false, true, true]);
}
