//! The text that the writer gives.

use isoform::{Map, Ref};
use isoform_mlir::{
    AffineDim, Block, IndexType, IntegerType, Label, Operation, Program, Region, Symbol,
    SymbolRefAttr, Value, read, write,
};

use super::support::{program, written};

#[test]
fn values_are_numbered_as_in_mlir() {
    let text = "%x = \"a\"() : () -> i1 \"r\"() ({ ^b(%p: i1): %y:2 = \"b\"(%x) : (i1) -> (i1, i1) \
                \"r\"() ({ ^c(%q: i1): %z = \"c\"(%y#1, %p, %q) : (i1, i1, i1) -> i1 }) : () -> () }, { %w = \"d\"() : () -> i1 }) : () -> ()";
    assert_eq!(
        written(text),
        "\
\"builtin.module\"() ({
  %0 = \"a\"() : () -> i1
  \"r\"() ({
  ^bb0(%arg0: i1):
    %1:2 = \"b\"(%0) : (i1) -> (i1, i1)
    \"r\"() ({
    ^bb0(%arg1: i1):
      %2 = \"c\"(%1#1, %arg0, %arg1) : (i1, i1, i1) -> i1
    }) : () -> ()
  }, {
    %1 = \"d\"() : () -> i1
  }) : () -> ()
}) : () -> ()
"
    );
}

#[test]
fn labels_are_written_where_they_are_needed() {
    let text = "\"r\"() ({}, {^a:}, {\"x\"() : () -> ()}, {\"br\"()[^b] : () -> () ^b: \"x\"() : () -> ()}) : () -> ()";
    assert_eq!(
        written(text),
        "\
\"builtin.module\"() ({
  \"r\"() ({}, {
  ^bb0:
  }, {
    \"x\"() : () -> ()
  }, {
  ^bb0:
    \"br\"()[^bb1] : () -> ()
  ^bb1:
    \"x\"() : () -> ()
  }) : () -> ()
}) : () -> ()
"
    );
}

#[test]
fn equal_programs_have_one_text() {
    let left = "%b = \"x\"() {c, a = 255 : i8} : () -> (i1) loc(\"l\") \"u\"(%b) : (i1) -> ()";
    let right = "%zz=\"x\"(){a=-1:i8,\"c\"=unit}:()->i1 \"u\"(%zz):(i1)->()";
    assert_eq!(written(left), written(right));
}

#[test]
fn undefined_parts_are_errors() {
    let message = |module: Ref<Operation>| write(&Program::new(module)).unwrap_err().to_string();
    let value = Value::new(IndexType::new()).with_name("x");
    let user = Operation::new("u", [value]);
    assert_eq!(
        message(user),
        "ValueError: expected an operand that the program defines, got %x"
    );
    let branch = Operation::new("br", []).with_successors([Label::new().with_name("b")]);
    assert_eq!(
        message(branch),
        "ValueError: expected a successor in the region, got ^b"
    );
    let reference = SymbolRefAttr::new(Symbol::new("s")).into_object();
    let call = Operation::new("c", []).with_attributes(Map::from([("callee", reference)]));
    assert_eq!(
        message(call),
        "ValueError: expected a region around @s that defines it"
    );
    let dim = AffineDim::new(0).into_object();
    let wrong = Operation::new("c", []).with_attributes(Map::from([("a", dim)]));
    let expected = "TypeError: expected a type or an attribute of MLIR, got mlir.AffineDim";
    assert_eq!(message(wrong), expected);
}

#[test]
fn regions_are_computed_from_blocks() {
    let text = "\"module\"() ({
        \"f\"() <{sym_name = \"p\", sym_visibility = \"private\"}> : () -> ()
        \"r\"() ({ \"u\"(%a) : (i1) -> () }) {callee = @p} : () -> ()
        \"br\"(%b)[^x] : (i1) -> ()
      ^x(%b: i1):
        %a = \"d\"(%a) : (i1) -> i1
        %c = \"d\"() : () -> i1
      }) : () -> ()";
    let program = program(text);
    let region = &super::support::operations(&program)[0].regions[0];
    let again = Region::new(&region.blocks);
    assert_eq!(again.forward.len(), 2);
    assert_eq!(again.symbols.len(), 1);
    assert_eq!(again.labels.len(), 2);
    let fields = |region: &Ref<Region>| {
        let parts = [
            region.symbols.iter().map(Ref::identity).collect::<Vec<_>>(),
            region.labels.iter().map(Ref::identity).collect(),
            region.forward.iter().map(Ref::identity).collect(),
        ];
        parts.concat()
    };
    assert_eq!(fields(region), fields(&again));
}

#[test]
fn programs_built_by_hand_are_written() {
    let ty = IntegerType::new(32, "signless");
    let argument = Value::new(&ty);
    let result = Value::new(&ty);
    let add = Operation::new("arith.addi", [argument.clone(), argument.clone()])
        .with_results([result.clone()]);
    let end = Operation::new("func.return", [result]);
    let block = Block::new(Label::new(), [argument], [add, end]);
    let function = Operation::new("func.func", []).with_regions([Region::new([block])]);
    let module = Region::new([Block::new(Label::new(), [], [function])]);
    let program = Program::new(Operation::new("builtin.module", []).with_regions([module]));
    let text = write(&program).unwrap();
    assert!(isoform::structural_equal(read(text).unwrap(), program).unwrap());
}
