//! The parts that each level ignores, and all others.

use isoform_mlir::{DialectAttr, Level, Operation, Value, read, write};

use super::support::{different, different_at, normal_form, operations, program, same_at, written};

fn names() -> Level {
    Level::strict().io_names(false)
}

fn contents() -> Level {
    Level::strict().contents(false)
}

fn order() -> Level {
    Level::strict().symbol_order(false)
}

fn semantics() -> Level {
    Level::strict().semantics(true)
}

/// A function with these entries.
fn function(entries: &str) -> String {
    format!(
        "\"func.func\"() <{{sym_name = \"f\"{entries}}}> ({{^b(%a: i32, %b: i32): \"func.return\"(%a) : (i32) -> () }}) : () -> ()"
    )
}

#[test]
fn names_of_arguments_are_dropped() {
    let named = |names: &str| function(&format!(", arg_attrs = {names}"));
    let texts = [
        named("[{jax.arg_info = \"x\"}, {jax.arg_info = \"y\"}]"),
        named("[{jax.arg_info = \"y\"}, {}]"),
        named("[{}, {}]"),
        function(""),
        function(", res_attrs = [{jax.result_info = \"result[0]\"}]"),
    ];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    same_at(&names(), &texts);
    for level in [Level::strict(), contents(), order(), semantics()] {
        different_at(&level, &texts);
    }
    // Attributes in `{…}` are functions' attributes, too.
    let old = "\"func.func\"() ({ \"r\"() : () -> () }) {sym_name = \"f\"ARGS} : () -> ()";
    let old = |args: &str| old.replace("ARGS", args);
    same_at(
        &names(),
        &[&old(""), &old(", res_attrs = [{jax.result_info = \"\"}]")],
    );
}

#[test]
fn attributes_with_a_meaning_stay() {
    let named = |names: &str| function(&format!(", arg_attrs = {names}"));
    let donated = "[{jax.arg_info = \"x\", tf.aliasing_output = 0 : i32}, {}]";
    same_at(
        &names(),
        &[
            &named(donated),
            &named("[{tf.aliasing_output = 0 : i32}, {jax.arg_info = \"z\"}]"),
        ],
    );
    different_at(
        &names(),
        &[
            &named(donated),
            &named("[{tf.aliasing_output = 1 : i32}, {}]"),
            &named("[{}, {tf.aliasing_output = 0 : i32}]"),
            &named("[{mhlo.sharding = \"x\"}, {}]"),
            &named("[]").replace("arg_attrs", "other"),
            // Names elsewhere are data.
            &function(", jax.arg_info = \"x\""),
            &function(", jax.arg_info = \"y\""),
            &function(", other = [{jax.arg_info = \"x\"}]"),
            &function(", other = [{jax.arg_info = \"y\"}]"),
            &named("7 : i32"),
            &named("[1 : i32]"),
        ],
    );
}

fn constant(operation: &str, key: &str, value: &str) -> String {
    format!("\"{operation}\"() <{{{key} = {value}}}> : () -> i32")
}

#[test]
fn contents_of_constants_are_dropped() {
    for (operation, key) in [
        ("stablehlo.constant", "value"),
        ("tosa.const", "values"),
        ("unknown.deep.constant", "value"),
        ("memref.global", "initial_value"),
        ("torch.vtensor.literal", "value"),
        ("llvm.mlir.constant", "value"),
    ] {
        let text = |value: &str| constant(operation, key, value);
        same_at(
            &contents(),
            &[
                &text("dense<1.0> : tensor<2xf32>"),
                &text("dense<[1.0, 2.0]> : tensor<2xf32>"),
                &text("dense_resource<k> : tensor<2xf32>"),
                &text("sparse<[[0]], [1.0]> : tensor<2xf32>"),
            ],
        );
        same_at(&contents(), &[&text("1 : i32"), &text("2 : i32")]);
        same_at(&contents(), &[&text("true"), &text("false")]);
        same_at(&contents(), &[&text("1.0 : f16"), &text("-0.0 : f16")]);
        same_at(&contents(), &[&text("[1.0, 2.0]"), &text("[0.0, -2.0]")]);
        let kept = [
            text("1 : i32"),
            text("1 : i8"),
            text("1.0 : f32"),
            text("true"),
            text("dense<1.0> : tensor<2xf32>"),
            text("dense<1.0> : tensor<1xf32>"),
            text("dense<1.0> : tensor<2xf64>"),
            text("dense<1.0> : vector<2xf32>"),
            text("[1.0, 2.0]"),
            text("[1.0]"),
            text("[]"),
            text("\"a\""),
            text("\"b\""),
            text("unit"),
            text("[\"a\", 1]"),
            text("[\"a\", 2]"),
        ];
        different_at(&contents(), &kept.each_ref().map(String::as_str));
        // The operation and the key count.
        let other = |value: &str| text(value).replace(operation, "x.splat");
        different_at(&contents(), &[&other("1 : i32"), &other("2 : i32")]);
        let other = |value: &str| constant(operation, "shape", value);
        different_at(&contents(), &[&other("1 : i32"), &other("2 : i32")]);
        for level in [Level::strict(), names(), order(), semantics()] {
            different_at(&level, &[&text("1 : i32"), &text("2 : i32")]);
        }
    }
}

#[test]
fn dense_attributes_of_other_operations_stay() {
    let pad = |low: &str| {
        format!("\"stablehlo.pad\"() <{{low = dense<{low}> : tensor<1xi64>}}> : () -> ()")
    };
    different_at(&contents(), &[&pad("1"), &pad("2")]);
}

#[test]
fn resources_lose_their_contents_everywhere() {
    let text = |key: &str, bytes: &str| {
        format!(
            "\"x.y\"() {{a = #x.z<dense_resource<{key}> : tensor<2xi8>>, b = [dense_resource<{key}> : tensor<2xi8>]}} : () -> ()
             {{-# dialect_resources: {{ builtin: {{ {key}: \"0x04000000{bytes}\" }}, d: {{ l: \"0x01000000{bytes}\" }} }} #-}}"
        )
    };
    let texts = [text("k", "0102"), text("k", "0103"), text("l", "0103")];
    let texts = texts.each_ref().map(String::as_str);
    same_at(&contents(), &texts);
    different_at(&names(), &texts[..2]);
    let without = texts[0].split("{-#").next().expect("a text").to_owned();
    let dialects = |text: &str| normal_form(&contents(), text).resources.len();
    assert_eq!([dialects(texts[0]), dialects(&without)], [1, 0]);
}

#[test]
fn shared_attributes_stay_shared() {
    let value = program(&constant("x.const", "value", "7 : i32"));
    let value = operations(&value)[0].properties["value"].clone();
    let constant = || {
        Operation::new("x.const", []).with_attributes(
            [("value".into(), value.clone())]
                .into_iter()
                .collect::<isoform::Map<_, _>>(),
        )
    };
    let made = program("\"x.y\"() : () -> ()");
    let region = made.module.regions[0].clone();
    let block = region.blocks[0].with_operations([constant(), constant()]);
    let region = isoform_mlir::Region::new([block]);
    let made = made.with_module(made.module.with_regions([region]));
    let dropped = contents().apply(&made).unwrap();
    let dropped: Vec<_> = operations(&dropped)
        .iter()
        .map(|operation| operation.attributes["value"].clone())
        .collect();
    assert!(dropped[0].same_as(&dropped[1]));
    let marker = dropped[0].downcast_ref::<DialectAttr>().unwrap();
    assert_eq!((&*marker.dialect, &*marker.name), ("isoform", "contents"));
}

#[test]
fn programs_without_anything_to_ignore_are_the_same_object() {
    let text = "\"a\"() {sym_name = \"f\", x = dense<1> : tensor<2xi8>} : () -> () \"b\"() ({ \"c\"() : () -> () }) : () -> ()";
    let program = program(text);
    for level in [Level::strict(), names(), contents(), order(), semantics()] {
        assert!(level.apply(&program).unwrap().same_as(&program));
    }
}

/// Operations on two values, an argument and a result.
fn on_two(operations: &str) -> String {
    format!("\"f\"() ({{^b(%a: i32): %b = \"m\"() : () -> i32 {operations} }}) : () -> ()")
}

#[test]
fn operands_of_commutative_operations_have_no_order() {
    let text = |operation: &str, operands: &str| {
        on_two(&format!(
            "%c = \"{operation}\"({operands}) : (i32, i32) -> i32"
        ))
    };
    for operation in [
        "stablehlo.add",
        "arith.mulf",
        "arith.maxsi",
        "llvm.xor",
        "index.add",
    ] {
        let text = |operands: &str| text(operation, operands);
        same_at(&semantics(), &[&text("%a, %b"), &text("%b, %a")]);
        different_at(
            &semantics(),
            &[&text("%a, %b"), &text("%a, %a"), &text("%b, %b")],
        );
        for level in [names(), contents(), order()] {
            different_at(&level, &[&text("%a, %b"), &text("%b, %a")]);
        }
    }
    for operation in [
        "stablehlo.subtract",
        "stablehlo.divide",
        "arith.subi",
        "arith.shli",
        "arith.divf",
        "arith.cmpi",
        "llvm.sub",
        "math.powf",
        "math.atan2",
        "tosa.mul",
        "x.add",
        "add",
        "stablehlo.compare",
        "arith.remf",
        "math.copysign",
        "llvm.icmp",
        "complex.sub",
    ] {
        different_at(
            &semantics(),
            &[&text(operation, "%a, %b"), &text(operation, "%b, %a")],
        );
    }
}

#[test]
fn operands_may_be_defined_later() {
    let text = |operands: &str| {
        format!(
            "%c = \"arith.addi\"({operands}) : (i32, i32) -> i32 %a, %b = \"m\"() : () -> (i32, i32)"
        )
    };
    same_at(
        &semantics(),
        &[
            &text("%a, %b"),
            &text("%b, %a"),
            &text("%b, %a").replace("%a", "%z"),
        ],
    );
    // An operation that uses itself.
    let text = |operands: &str| {
        format!("%b = \"m\"() : () -> i32 %a = \"arith.addi\"({operands}) : (i32, i32) -> i32")
    };
    same_at(&semantics(), &[&text("%a, %b"), &text("%b, %a")]);
    different_at(&semantics(), &[&text("%a, %b"), &text("%a, %a")]);
}

#[test]
fn some_operations_commute_on_a_condition() {
    let compare = |direction: &str, operands: &str| {
        on_two(&format!(
            "%c = \"stablehlo.compare\"({operands}) <{{comparison_direction = #stablehlo<comparison_direction {direction}>}}> : (i32, i32) -> i32"
        ))
    };
    same_at(
        &semantics(),
        &[&compare("EQ", "%a, %b"), &compare("EQ", "%b, %a")],
    );
    same_at(
        &semantics(),
        &[&compare("NE", "%a, %b"), &compare("NE", "%b, %a")],
    );
    different_at(
        &semantics(),
        &[
            &compare("LT", "%a, %b"),
            &compare("LT", "%b, %a"),
            &compare("GT", "%a, %b"),
            &compare("EQ", "%b, %a"),
            &compare("NE", "%b, %a"),
        ],
    );
    let compare = |predicate: i64, operands: &str| {
        on_two(&format!(
            "%c = \"arith.cmpi\"({operands}) {{predicate = {predicate} : i64}} : (i32, i32) -> i32"
        ))
    };
    same_at(
        &semantics(),
        &[&compare(0, "%a, %b"), &compare(0, "%b, %a")],
    );
    same_at(
        &semantics(),
        &[&compare(1, "%a, %b"), &compare(1, "%b, %a")],
    );
    different_at(
        &semantics(),
        &[&compare(2, "%a, %b"), &compare(2, "%b, %a")],
    );
    // The first two operands only.
    let fma = |operands: &str| {
        on_two(&format!(
            "%c = \"math.fma\"({operands}) : (i32, i32, i32) -> i32"
        ))
    };
    same_at(&semantics(), &[&fma("%a, %b, %b"), &fma("%b, %a, %b")]);
    different_at(&semantics(), &[&fma("%a, %b, %b"), &fma("%b, %b, %a")]);
}

#[test]
fn defaults_are_dropped() {
    let add = |entries: &str| {
        on_two(&format!(
            "%c = \"arith.addf\"(%a, %a) {entries} : (i32, i32) -> i32"
        ))
    };
    same_at(
        &semantics(),
        &[
            &add(""),
            &add("<{fastmath = #arith.fastmath<none>}>"),
            &add("{fastmath = #arith.fastmath<none>}"),
            &add("<{fastmath = #arith<fastmath<none>>}>"),
        ],
    );
    different_at(
        &semantics(),
        &[
            &add(""),
            &add("<{fastmath = #arith.fastmath<fast>}>"),
            &add("<{overflowFlags = #arith.overflow<none>}>"),
            &add("<{fastmath = #llvm.fastmath<none>}>"),
            &add("<{other = #arith.fastmath<none>}>"),
        ],
    );
    for level in [names(), contents(), order()] {
        different_at(
            &level,
            &[&add(""), &add("<{fastmath = #arith.fastmath<none>}>")],
        );
    }
    let call = |entries: &str| {
        format!("\"stablehlo.custom_call\"() <{{call_target_name = \"f\"{entries}}}> : () -> ()")
    };
    same_at(
        &semantics(),
        &[
            &call(""),
            &call(", api_version = 1 : i32, has_side_effect = false"),
        ],
    );
    different_at(
        &semantics(),
        &[
            &call(""),
            &call(", api_version = 2 : i32"),
            &call(", api_version = 1 : i64"),
            &call(", has_side_effect = true"),
            &call(", backend_config = \"\""),
        ],
    );
}

#[test]
fn properties_are_attributes() {
    same_at(
        &semantics(),
        &[
            "\"x.y\"() <{a = 1, b = 2}> : () -> ()",
            "\"x.y\"() <{b = 2}> {a = 1} : () -> ()",
            "\"x.y\"() {b = 2, a = 1} : () -> ()",
            "\"x.y\"() <{a = 1}> {a = 1, b = 2} : () -> ()",
        ],
    );
    different_at(
        &semantics(),
        &[
            "\"x.y\"() <{a = 1}> : () -> ()",
            "\"x.y\"() <{a = 1}> {a = 2} : () -> ()",
            "\"x.y\"() <{a = 2}> {a = 1} : () -> ()",
            "\"x.y\"() <{a = 2}> : () -> ()",
            "\"x.y\"() <[1]> : () -> ()",
            "\"x.y\"() : () -> ()",
        ],
    );
    for level in [names(), contents(), order()] {
        different_at(
            &level,
            &[
                "\"x.y\"() <{a = 1}> : () -> ()",
                "\"x.y\"() {a = 1} : () -> ()",
            ],
        );
    }
}

#[test]
fn values_without_a_definition_are_left_alone() {
    // Programs that are built by hand can lack definitions.
    let free = |name: &str| {
        Value::new(
            program("\"x\"() {a = i32} : () -> ()")
                .module
                .clone()
                .into_object(),
        )
        .with_name(name)
    };
    let operation = Operation::new("arith.addi", [free("a"), free("b")]);
    let made = program("\"x.y\"() : () -> ()");
    let block = made.module.regions[0].blocks[0].with_operations([operation]);
    let module = made
        .module
        .with_regions([isoform_mlir::Region::new([block])]);
    let made = made.with_module(module);
    assert!(semantics().apply(&made).unwrap().same_as(&made));
}

#[test]
fn levels_add_up() {
    let text = |constant: &str, operands: &str, first: &str, second: &str| {
        format!(
            "{first} {second}
             \"func.func\"() <{{sym_name = \"main\", res_attrs = [{{jax.result_info = \"{constant}\"}}]}}> ({{
               %a = \"x.constant\"() <{{value = {constant} : i32}}> : () -> i32
               %b = \"call\"() {{callee = @p}} : () -> i32
               %c = \"arith.addi\"({operands}) <{{overflowFlags = #arith.overflow<none>}}> : (i32, i32) -> i32
               %d = \"call\"() {{callee = @q}} : () -> i32
             }}) : () -> ()"
        )
    };
    let private = |name: &str| {
        format!(
            "\"func.func\"() <{{sym_name = \"{name}\", sym_visibility = \"private\"}}> ({{ \"{name}\"() : () -> () }}) : () -> ()"
        )
    };
    let left = text("1", "%a, %b", &private("p"), &private("q"));
    let right = text("2", "%b, %a", &private("q"), &private("p"));
    let all = names().contents(false).symbol_order(false).semantics(true);
    same_at(&all, &[&left, &right]);
    for level in [
        names().contents(false).symbol_order(false),
        names().contents(false).semantics(true),
        names().symbol_order(false).semantics(true),
        contents().symbol_order(false).semantics(true),
    ] {
        different_at(&level, &[&left, &right]);
    }
    different(&[&left, &right]);
    written(&write(&all.apply(&read(&left).unwrap()).unwrap()).unwrap());
}
