//! The statement dialect: registration, enums, files.

use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::text::{from_text, to_text};
use isoform::types::{Enumerator, NodeEnum};
use isoform::{Ref, Value, structural_equal, structural_hash};
use isoform_pto as pto;
use isoform_pto::{
    Add, AssignStmt, ConstInt, DataType, ForKind, ForStmt, Function, IterArg, MemorySpace, Program,
    ReturnStmt, ScalarType, SeqStmts, Span, Stmt, TileType, Var, YieldStmt,
};

/// `for i in 0..n: acc = acc + i`, as a function of a program.
fn sum(names: [&str; 5]) -> Ref<Program> {
    let int = ScalarType::new(DataType::Int64);
    let [n, i, acc, next, out] = names.map(|name| Var::new(name, &int));
    let zero = ConstInt::new(0, DataType::Int64);
    let one = ConstInt::new(1, DataType::Int64);
    let acc = IterArg::new(acc.name_hint.clone(), &int, &zero);
    let body: [Ref<Stmt>; 2] = [
        AssignStmt::new(&next, Add::new(&acc, &i, DataType::Int64)).upcast(),
        YieldStmt::new([next.upcast()]).upcast(),
    ];
    let body = SeqStmts::new(body);
    let looped = ForStmt::carrying(&i, &zero, &n, &one, [acc], body, [out.clone()])
        .with_kind(ForKind::Pipeline);
    let body: [Ref<Stmt>; 2] = [looped.upcast(), ReturnStmt::new([out.upcast()]).upcast()];
    let function = Function::new("sum", [n], [int.upcast()], SeqStmts::new(body));
    Program::new([function], "p").unwrap()
}

#[test]
fn a_program_survives_every_kind_of_file() {
    pto::register().unwrap();
    let program = Value::from(sum(["n", "i", "acc", "next", "out"]));
    let json = to_json_graph(&program).unwrap();
    let read = from_json_graph(&json).unwrap();
    assert!(structural_equal(&program, &read).unwrap(), "{json}");
    let read = from_bytes(&to_bytes(&program).unwrap()).unwrap();
    assert!(structural_equal(&program, &read).unwrap());
    let text = to_text(&program).unwrap();
    let read = from_text(&text).unwrap();
    assert!(structural_equal(&program, &read).unwrap(), "{text}");
}

#[test]
fn renaming_every_variable_changes_nothing() {
    let one = sum(["n", "i", "acc", "next", "out"]);
    let other = sum(["a", "b", "c", "d", "e"]);
    assert!(structural_equal(&one, &other).unwrap());
    assert_eq!(
        structural_hash(&one).unwrap(),
        structural_hash(&other).unwrap()
    );
}

#[test]
fn members_of_enums_are_one_object_each() {
    assert_eq!(ForKind::Parallel.object(), ForKind::Parallel.object());
    let tile = TileType::new([ConstInt::new(1, DataType::Index).upcast()], DataType::Fp16);
    assert_eq!(
        tile.with_memory_space(MemorySpace::Acc)
            .memory_space
            .as_deref()
            .map(|space| space.get()),
        Some(MemorySpace::Acc)
    );
    for kind in ForKind::MEMBERS {
        let value = Value::from(kind.object());
        let json = to_json_graph(&value).unwrap();
        let read = from_json_graph(&json).unwrap();
        assert_eq!(read.peek::<Enumerator<ForKind>>(), Some(&kind.object()));
        let text = to_text(&value).unwrap();
        assert_eq!(from_text(&text).unwrap(), value, "{text}");
        assert_eq!(from_bytes(&to_bytes(&value).unwrap()).unwrap(), value);
    }
    let unknown = r#"{"root_index":0,"nodes":[{"type":"pto.ForKind","data":"Backwards"}]}"#;
    let error = from_json_graph(unknown).map(drop);
    let error = error.expect_err("there is no such member").to_string();
    assert!(
        error.contains("Sequential") && error.contains("Backwards"),
        "{error}"
    );
}

#[test]
fn a_place_that_is_not_known_is_one_object() {
    assert_eq!(Span::unknown(), Span::unknown());
    assert!(!Span::unknown().is_valid());
}
