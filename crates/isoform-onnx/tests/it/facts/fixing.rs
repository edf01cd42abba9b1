//! Dimensions fixed to numbers, and wrong declared types.

use super::build::{Dims, graph, op, program, typed_graph, with};
use isoform::{Ref, Value};
use isoform_onnx::facts::{Analysis, fix_dims, problems};
use isoform_onnx::ir::Program;
use isoform_testing::source::scaled;

/// A program with the inputs `x: float[batch, 3, h]` and `y: float[?, h]`, and the sum of
/// `x` and itself.
fn example() -> Ref<Program> {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 batch 3 h");
    let y = dims.input("y", "float32 ? h");
    let sum = op("Add", &[&Value::from(&x), &Value::from(&x)]);
    program(graph(vec![x, y], vec![sum]))
}

fn facts(program: &Program) -> Vec<String> {
    let mut analysis = Analysis::new();
    analysis.enter_graph(&program.graph);
    let params = program.graph.params.iter().map(Value::from);
    let results = program.graph.results.values().iter().cloned();
    params
        .chain(results)
        .map(|value| analysis.fact(&value).to_string())
        .collect()
}

fn dims(given: &[(&str, i64)]) -> Vec<(String, i64)> {
    given
        .iter()
        .map(|(name, extent)| ((*name).to_owned(), *extent))
        .collect()
}

fn shapes(given: &[(&str, &[Option<i64>])]) -> Vec<(String, Vec<Option<i64>>)> {
    given
        .iter()
        .map(|(name, shape)| ((*name).to_owned(), shape.to_vec()))
        .collect()
}

#[test]
fn a_dimension_becomes_a_number_everywhere() {
    let fixed = fix_dims(&example(), &dims(&[("h", 7)]), &[]).unwrap();
    assert_eq!(
        facts(&fixed),
        ["float[batch, 3, 7]", "float[_1, 7]", "float[batch, 3, 7]"]
    );
}

#[test]
fn a_shape_fixes_the_dimensions_in_it() {
    let shapes = shapes(&[("x", &[Some(2), None, Some(8)]), ("y", &[Some(4), None])]);
    let fixed = fix_dims(&example(), &[], &shapes).unwrap();
    assert_eq!(
        facts(&fixed),
        ["float[2, 3, 8]", "float[4, 8]", "float[2, 3, 8]"]
    );
}

/// Some exporters write -1 for an unknown extent.
#[test]
fn a_negative_extent_is_unknown() {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 -1 3");
    let program = program(graph(vec![x.clone()], vec![Value::from(&x)]));
    assert_eq!(facts(&program)[0], "float[_1, 3]");
    let fixed = fix_dims(&program, &[], &shapes(&[("x", &[Some(2), Some(3)])])).unwrap();
    assert_eq!(facts(&fixed)[0], "float[2, 3]");
}

#[test]
fn nothing_to_fix_is_the_same_program() {
    let program = example();
    assert!(fix_dims(&program, &[], &[]).unwrap().same_as(&program));
}

#[test]
fn mistakes_are_explained() {
    let check = |sizes: &[(&str, i64)], inputs: &[(&str, &[Option<i64>])], message: &str| {
        let error = fix_dims(&example(), &dims(sizes), &shapes(inputs)).unwrap_err();
        assert_eq!(error.to_string(), message);
    };
    check(
        &[("bach", 1)],
        &[],
        "KeyError: dimension 'bach': the types of the model's inputs and outputs have the dimensions 'batch', 'h'",
    );
    check(
        &[("batch", 1), ("batch", 2)],
        &[],
        "ValueError: dimension 'batch': expected one extent, got 1 and 2",
    );
    check(
        &[("batch", -1)],
        &[],
        "ValueError: dimension 'batch': expected an extent that is not negative, got -1",
    );
    check(
        &[],
        &[("z", &[])],
        "KeyError: input 'z': the model has the inputs 'x', 'y'",
    );
    check(
        &[],
        &[("x", &[Some(1)])],
        "ValueError: input 'x': expected 3 extents, as the model declares, got 1",
    );
    check(
        &[],
        &[("x", &[None, Some(4), None])],
        "ValueError: input 'x': expected 3 at axis 1, as the model declares, got 4",
    );
    check(
        &[("h", 2)],
        &[("y", &[None, Some(3)])],
        "ValueError: dimension 'h': expected one extent, got 2 and 3",
    );
}

#[test]
fn dimensions_of_a_long_chain_are_fixed() {
    let x = Dims::default().input("x", "float32 n 3");
    let mut value = Value::from(&x);
    for _ in 0..scaled(1_000_000) {
        value = op("Relu", &[&value]);
    }
    let program = program(graph(vec![x], vec![value]));
    let fixed = fix_dims(&program, &dims(&[("n", 2)]), &[]).unwrap();
    assert_eq!(facts(&fixed), ["float[2, 3]", "float[2, 3]"]);
}

#[test]
fn bodies_of_a_program_are_known_at_once() {
    let x = Dims::default().input("x", "float32 n 3");
    let inner = op("Abs", &[&Value::from(&x)]);
    let scaled = op("Relu", &[&inner]);
    let branch = || graph(vec![], vec![scaled.clone()]).into();
    let flag = Dims::default().input("flag", "bool");
    let attrs = vec![("then_branch", branch()), ("else_branch", branch())];
    let chosen = with("If", &[&Value::from(&flag)], attrs);
    let program = program(graph(vec![x, flag], vec![chosen.clone()]));
    let mut analysis = Analysis::of_program(&program);
    let visits = analysis.visits();
    assert_eq!(analysis.fact(&scaled).to_string(), "float[n, 3]");
    assert_eq!(analysis.fact(&chosen).to_string(), "float[n, 3]");
    assert_eq!(analysis.visits(), visits, "nothing is derived again");
}

#[test]
fn wrong_declarations_are_found_and_not_believed() {
    let mut dims = Dims::default();
    let x = dims.input("x", "float32 n 3");
    let declared = |dims: &mut Dims, ty: &str| dims.input("out", ty).ty.clone();
    let result = op("Relu", &[&Value::from(&x)]);
    let types = [
        "float32 m 3",
        "float32 n 4",
        "float32 3",
        "int64 n 3",
        "float32 5 ?",
    ];
    let types: Vec<Value> = types.iter().map(|ty| declared(&mut dims, ty)).collect();
    let results = vec![result; types.len()];
    let graph = typed_graph(vec![x], results, types);
    let mut analysis = Analysis::new();
    analysis.enter_graph(&graph);
    let texts: Vec<String> = problems(&mut analysis, &graph)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "output 'out1' is declared as float[n, 4], but is float[n, 3]",
            "output 'out2' is declared as float[3], but is float[n, 3]",
            "output 'out3' is declared as int64[n, 3], but is float[n, 3]",
        ]
    );
}
