//! The promises of evaluation and optimisation about programs.

use isoform::attrs::{self, Lookup};
use isoform::functions::Function;
use isoform::traverse::{COMMUTATIVE, MapOptions};
use isoform::{Array, Node as _, Ref, Str, Value, structural_digest, structural_equal};
use isoform_ir::transform::Script as _;
use isoform_ir::transform::cse::cse;
use isoform_onnx::ir::{Call, Graph, Program};
use isoform_onnx::layout::list;
use isoform_onnx::levels::Levels;
use isoform_onnx::optimize::{Fold, OptimizeOptions, STEPS, rules};
use isoform_onnx::{ExternalResolver, ImportOptions, decode_model, to_bytes};

use super::defaults::respelled;
use super::facts;
use super::generator::Generator;
use super::programs::RandomProgram;
use super::rebuild::rebuilt;
use super::running::{self, Results};
use super::shrink::smallest;
use crate::differences::{edited, judge_difference};
use crate::edits::judge_edits;
use crate::properties::Property;
use crate::source::Source;

/// The size of programs.
const SIZE: usize = 24;

/// How much fusion may change a number, relative to the largest one.
const FUSED: f64 = 1e-3;

/// All properties with their names.
pub const ONNX_PROPERTIES: &[(&str, Property)] = &[
    (
        "onnx_programs_have_the_drawn_shapes",
        programs_have_the_drawn_shapes,
    ),
    ("onnx_optimized_programs_agree", optimized_programs_agree),
    ("onnx_each_rule_alone_agrees", each_rule_alone_agrees),
    ("onnx_fused_programs_are_near", fused_programs_are_near),
    (
        "onnx_optimizing_twice_changes_nothing",
        optimizing_twice_changes_nothing,
    ),
    (
        "onnx_names_and_order_do_not_matter",
        names_and_order_do_not_matter,
    ),
    ("onnx_saved_programs_come_back", saved_programs_come_back),
    ("onnx_random_calls_stay_apart", random_calls_stay_apart),
    ("onnx_merged_calls_agree", merged_calls_agree),
    ("onnx_swapped_operands_agree", swapped_operands_agree),
    ("onnx_inferred_facts_hold", inferred_facts_hold),
    (
        "onnx_edited_programs_hash_and_compare_the_same",
        edited_programs_hash_and_compare_the_same,
    ),
    ("onnx_levels_keep_the_meaning", levels_keep_the_meaning),
    (
        "onnx_written_defaults_do_not_matter",
        written_defaults_do_not_matter,
    ),
    (
        "onnx_programs_differ_by_the_laws",
        programs_differ_by_the_laws,
    ),
];

fn draw(bytes: &[u8]) -> RandomProgram {
    Generator::new(Source::new(bytes), SIZE).program()
}

/// A program as text for people.
pub(super) fn text(program: &Ref<Program>) -> String {
    match program.script() {
        Ok(script) => script.to_string(),
        Err(error) => format!("{error:#}"),
    }
}

fn told<T>(result: isoform::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{error:#}"))
}

/// Draws a program and checks it; a failing program is shrunk and shown.
fn judge(
    drawn: &RandomProgram,
    check: impl Fn(&RandomProgram) -> Result<(), String>,
) -> Result<(), String> {
    let Err(account) = check(drawn) else {
        return Ok(());
    };
    let (small, account) = smallest(drawn, account, |smaller| {
        expected(smaller)?;
        check(smaller).err()
    });
    let inputs = [0, 1].map(|which| {
        let named = small.inputs[which].iter();
        let lines = named.map(|(name, value)| format!("  {name} = {}", running::shown(value)));
        lines.collect::<Vec<_>>().join("\n")
    });
    Err(format!(
        "{account}\nThe program, opset {}:\n{}inputs:\n{}\nand:\n{}",
        opset(&small.program),
        text(&small.program),
        inputs[0],
        inputs[1]
    ))
}

/// The version of the first operator.
fn opset(program: &Ref<Program>) -> i64 {
    let listing = list(program);
    let mut nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes
        .find(|node| node.call.version > 0)
        .map_or(0, |node| node.call.version)
}

/// Each drawn program has results, of the drawn element types and shapes.
fn programs_have_the_drawn_shapes(bytes: &[u8]) -> Result<(), String> {
    let drawn = draw(bytes);
    let account = |what: String| format!("{what}\n{}", text(&drawn.program));
    let results = running::results(&drawn, &drawn.program).map_err(account)?;
    for (which, results) in results.iter().enumerate() {
        for (at, value) in results.iter().enumerate() {
            let expected = (Some(drawn.elems[at]), drawn.shapes[which][at].clone());
            let got = running::type_of(value);
            if expected != got {
                return Err(account(format!(
                    "result {at} with sizes {which}: expected {expected:?}, got {got:?}"
                )));
            }
        }
    }
    Ok(())
}

/// The optimised program agrees with the original in every promised respect.
fn keeps(
    drawn: &RandomProgram,
    expected: &Results,
    name: &str,
    options: &OptimizeOptions,
    tolerance: Option<f64>,
) -> Result<Ref<Program>, String> {
    let before = &drawn.program;
    let fail = |what: String, after: Option<&Ref<Program>>| match after {
        Some(after) => format!("{name}: {what}\nafter:\n{}", text(after)),
        None => format!("{name}: {what}"),
    };
    let done = options
        .optimize(before)
        .map_err(|error| fail(format!("{error:#}"), None))?;
    let after = done.program;
    let got = running::results(drawn, &after).map_err(|error| fail(error, Some(&after)))?;
    if let Some(difference) = running::difference(expected, &got, tolerance) {
        return Err(fail(difference, Some(&after)));
    }
    interface(&before.graph, &after.graph).map_err(|what| fail(what, Some(&after)))?;
    let [old, new] = [before, &after].map(nodes);
    if new > old {
        return Err(fail(format!("{old} nodes became {new}"), Some(&after)));
    }
    Ok(after)
}

fn nodes(program: &Ref<Program>) -> usize {
    list(program).node_count()
}

/// Names and types of inputs and outputs stay.
fn interface(before: &Ref<Graph>, after: &Ref<Graph>) -> Result<(), String> {
    let inputs = |graph: &Ref<Graph>| -> Vec<Str> {
        graph
            .params
            .iter()
            .map(|param| param.name.clone())
            .collect()
    };
    let outputs = |graph: &Ref<Graph>| -> Vec<Str> { graph.result_names.iter().cloned().collect() };
    if inputs(before) != inputs(after) || outputs(before) != outputs(after) {
        return Err("names of inputs or outputs have changed".to_owned());
    }
    let types = |graph: &Ref<Graph>| {
        let inputs = graph.params.iter().cloned();
        // Compared in a graph without calls, since the dimensions are bound there.
        Ref::new(Graph {
            results: inputs.map(isoform::Value::from).collect(),
            ..isoform::Node::clone_fields(&**graph)
        })
    };
    if told(structural_equal(types(before), types(after)))? {
        Ok(())
    } else {
        Err("types of inputs or outputs have changed".to_owned())
    }
}

/// The results of the original; None without results, reported by the first property.
fn expected(drawn: &RandomProgram) -> Option<Results> {
    running::results(drawn, &drawn.program).ok()
}

/// The choices of options that keep every bit.
fn exact_options() -> Vec<(&'static str, OptimizeOptions)> {
    let default = OptimizeOptions::default;
    vec![
        ("default", default()),
        ("fold all", default().fold(Fold::All)),
        ("fold none", default().fold(Fold::None)),
        (
            "small constants",
            default().fold(Fold::All).max_constant(16),
        ),
        (
            "large constants",
            default().fold(Fold::All).max_constant(1 << 30),
        ),
    ]
}

/// Original and result agree bit by bit, whichever constants are folded.
fn optimized_programs_agree(bytes: &[u8]) -> Result<(), String> {
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        for (name, options) in exact_options() {
            keeps(drawn, &expected, name, &options, None)?;
        }
        Ok(())
    })
}

/// Original and result also agree with a single rule or step, so other rules cannot hide
/// a mistake.
fn each_rule_alone_agrees(bytes: &[u8]) -> Result<(), String> {
    let exact = rules().iter().filter(|rule| !is_fusion(rule.name()));
    let names: Vec<&str> = exact
        .map(|rule| rule.name())
        .chain(STEPS.iter().map(|step| step.name))
        .collect();
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        for name in &names {
            let options = OptimizeOptions::default().fold(Fold::All).only([*name]);
            keeps(drawn, &expected, name, &options, None)?;
        }
        Ok(())
    })
}

/// True for a rule that may change last bits.
fn is_fusion(name: &str) -> bool {
    use isoform_onnx::optimize::RuleGroup;
    let found = rules().iter().find(|rule| rule.name() == name);
    found.is_some_and(|rule| rule.group() == RuleGroup::Fuse)
}

/// With fusion, numbers change by little; the numbers that are drawn are small.
fn fused_programs_are_near(bytes: &[u8]) -> Result<(), String> {
    let drawn = Generator::new(Source::new(bytes), SIZE).gentle().program();
    judge(&drawn, |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        let options = OptimizeOptions::default().fold(Fold::All).fuse(true);
        keeps(drawn, &expected, "fuse", &options, Some(FUSED))?;
        for rule in rules().iter().filter(|rule| is_fusion(rule.name())) {
            let options = OptimizeOptions::default().fuse(true).only([rule.name()]);
            keeps(drawn, &expected, rule.name(), &options, Some(FUSED))?;
        }
        Ok(())
    })
}

/// The elimination for any language computes equal calls once, by the roles of calls and
/// outputs, and keeps every bit; calls of random operators stay apart.
fn merged_calls_agree(bytes: &[u8]) -> Result<(), String> {
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        let before = &drawn.program;
        let after: Ref<Program> = told(cse(before).and_then(|done| done.extract()))?;
        let fail = |what: String| format!("cse: {what}\nafter:\n{}", text(&after));
        let got = running::results(drawn, &after).map_err(fail)?;
        if let Some(difference) = running::difference(&expected, &got, None) {
            return Err(fail(difference));
        }
        interface(&before.graph, &after.graph).map_err(fail)?;
        let [old, new] = [before, &after].map(nodes);
        if new > old {
            return Err(fail(format!("{old} nodes became {new}")));
        }
        let [old, new] = [before, &after].map(running::random_calls);
        if new != old {
            return Err(fail(format!("{old} random calls became {new}")));
        }
        Ok(())
    })
}

/// The operands of calls that commute by their role can change places.
fn swapped_operands_agree(bytes: &[u8]) -> Result<(), String> {
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        let commutes = attrs::get(Call::type_index(), COMMUTATIVE, Lookup::Exact);
        let commutes: Function = told(commutes.cloned().unwrap_or_default().extract())?;
        let swapped = MapOptions::default().map_selected(
            &drawn.program,
            |ty| ty == Some(Call::type_index()),
            |visit| {
                let Some(call) = visit
                    .object()
                    .and_then(|it| it.downcast_ref::<Call>().cloned())
                else {
                    return Ok(None);
                };
                if commutes.call(&[(&call).into()])?.is_none() {
                    return Ok(None);
                }
                let inputs: Vec<Value> = call.inputs.values().iter().rev().cloned().collect();
                Ok(Some(call.with_inputs(Array::from(inputs)).into()))
            },
        );
        let swapped: Ref<Program> = told(swapped.and_then(|done| done.extract()))?;
        let fail = |what: String| format!("swapped: {what}\nafter:\n{}", text(&swapped));
        let got = running::results(drawn, &swapped).map_err(fail)?;
        running::difference(&expected, &got, None).map_or(Ok(()), |it| Err(fail(it)))
    })
}

/// The result is a fixed point.
fn optimizing_twice_changes_nothing(bytes: &[u8]) -> Result<(), String> {
    judge(&draw(bytes), |drawn| {
        for (name, options) in exact_options() {
            let options = options.fuse(true);
            let once = told(options.optimize(&drawn.program))?.program;
            let twice = told(options.optimize(&once))?.program;
            if told(structural_digest(&once))? != told(structural_digest(&twice))? {
                return Err(format!(
                    "{name}: a second time gives something else\nonce:\n{}twice:\n{}",
                    text(&once),
                    text(&twice)
                ));
            }
        }
        Ok(())
    })
}

/// The result does not depend on names, nor on the order in which nodes were made.
fn names_and_order_do_not_matter(bytes: &[u8]) -> Result<(), String> {
    let order = bytes.to_vec();
    judge(&draw(bytes), |drawn| {
        let other = rebuilt(&drawn.program, &mut Source::new(&order));
        for (name, options) in exact_options() {
            let options = options.fuse(true);
            let [left, right] = [&drawn.program, &other].map(|it| options.optimize(it));
            let (left, right) = (told(left)?.program, told(right)?.program);
            if told(structural_digest(&left))? != told(structural_digest(&right))? {
                return Err(format!(
                    "{name}: names or order matter\nafter:\n{}renamed:\n{}",
                    text(&left),
                    text(&right)
                ));
            }
        }
        Ok(())
    })
}

/// Writing and reading a program, or the optimised form, keeps the program; a result
/// outside of the format, for example an input, comes back through an Identity and is
/// left out.
fn saved_programs_come_back(bytes: &[u8]) -> Result<(), String> {
    let load = |bytes: Vec<u8>| {
        let model = decode_model(bytes.into()).map_err(|error| error.to_string())?;
        let options = ImportOptions::default().io_names(true);
        let model = told(options.import(&model, &ExternalResolver::none()))?;
        Ok::<_, String>(model.program().clone())
    };
    judge(&draw(bytes), |drawn| {
        let optimized = told(OptimizeOptions::default().optimize(&drawn.program))?;
        for (name, program) in [("drawn", &drawn.program), ("optimised", &optimized.program)] {
            let fail = |what: String| format!("{name}: {what}\nwritten:\n{}", text(program));
            let once = to_bytes(program).map_err(|error| fail(format!("{error:#}")))?;
            let once = load(once).map_err(fail)?;
            let twice = load(told(to_bytes(&once))?).map_err(fail)?;
            if told(structural_digest(&once))? != told(structural_digest(&twice))? {
                return Err(fail(format!("another program came back:\n{}", text(&once))));
            }
            interface(&program.graph, &once.graph).map_err(fail)?;
            let [expected, got] = [program, &once].map(|program| running::results(drawn, program));
            if let (Ok(expected), got) = (expected, got)
                && let Some(what) = match got {
                    Ok(got) => running::difference(&expected, &got, None),
                    Err(error) => Some(error),
                }
            {
                return Err(fail(format!("{what}\nread:\n{}", text(&once))));
            }
        }
        Ok(())
    })
}

/// The optimizer keeps the number of calls of random operators, even of equal calls.
fn random_calls_stay_apart(bytes: &[u8]) -> Result<(), String> {
    let (drawn, calls) = Generator::new(Source::new(bytes), SIZE).twins();
    let names = rules()
        .iter()
        .map(|rule| rule.name())
        .chain(STEPS.iter().map(|step| step.name));
    let all = OptimizeOptions::default().fold(Fold::All);
    let alone = names.map(|name| (name, all.clone().only([name])));
    let options: Vec<_> = exact_options().into_iter().chain(alone).collect();
    for (name, options) in options {
        let done = told(options.optimize(&drawn))?;
        let left = running::random_calls(&done.program);
        if left != calls {
            return Err(format!(
                "{name}: {calls} random calls became {left}\nbefore:\n{}after:\n{}",
                text(&drawn),
                text(&done.program)
            ));
        }
    }
    Ok(())
}

/// Hashes and comparisons give the same results with and without knowledge of earlier
/// versions of a program.
fn edited_programs_hash_and_compare_the_same(bytes: &[u8]) -> Result<(), String> {
    let program = draw(bytes).program;
    judge_edits(&program.into(), bytes)
}

/// The difference of a program and an edited copy, made in another order, keeps the laws.
fn programs_differ_by_the_laws(bytes: &[u8]) -> Result<(), String> {
    let program = draw(bytes).program;
    let mut source = Source::new(bytes);
    let right = if source.chance(50) {
        program.clone()
    } else {
        rebuilt(&program, &mut source)
    };
    let edited = edited(&right.into(), &mut source)?;
    judge_difference(&program.into(), &edited)
}

/// A level of equality changes no result, is idempotent, and keeps equal programs
/// equal.
fn levels_keep_the_meaning(bytes: &[u8]) -> Result<(), String> {
    let order = bytes.to_vec();
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        let other = rebuilt(&drawn.program, &mut Source::new(&order));
        for (name, levels) in each_level() {
            let applied = told(levels.apply(&drawn.program))?;
            let fail = |what: String| Err(format!("{name}: {what}\nafter:\n{}", text(&applied)));
            let got = match running::results(drawn, &applied) {
                Ok(got) => got,
                Err(error) => return fail(error),
            };
            if let Some(difference) = running::difference(&expected, &got, None) {
                return fail(difference);
            }
            if !told(levels.apply(&applied))?.same_as(&applied) {
                return fail("a second time changes something".to_owned());
            }
            let other = told(levels.apply(&other))?;
            if told(structural_digest(&applied))? != told(structural_digest(&other))? {
                return fail(format!("names or order matter:\n{}", text(&other)));
            }
            if nodes(&applied) != nodes(&drawn.program) {
                return fail("the number of nodes has changed".to_owned());
            }
        }
        Ok(())
    })
}

/// Defaults that depend on shapes may be written or omitted.
fn written_defaults_do_not_matter(bytes: &[u8]) -> Result<(), String> {
    let order = bytes.to_vec();
    judge(&draw(bytes), |drawn| {
        let Some(expected) = expected(drawn) else {
            return Ok(());
        };
        let other = told(respelled(&drawn.program, &mut Source::new(&order)))?;
        let fail = |what: String| Err(format!("{what}\nother:\n{}", text(&other)));
        let got = match running::results(drawn, &other) {
            Ok(got) => got,
            Err(error) => return fail(error),
        };
        if let Some(difference) = running::difference(&expected, &got, None) {
            return fail(difference);
        }
        for levels in [Levels::MEANING, Levels::ALL] {
            let (left, right) = told(levels.apply_pair(&drawn.program, &other))?;
            if !told(structural_equal(&left, &right))? {
                return fail(format!("different: {levels:?}"));
            }
        }
        Ok(())
    })
}

/// Each level alone, and all of them.
fn each_level() -> Vec<(&'static str, Levels)> {
    let none = Levels::NONE;
    vec![
        (
            "shapes",
            Levels {
                ignore_shapes: true,
                ..none
            },
        ),
        (
            "opsets",
            Levels {
                same_opset_meaning: true,
                ..none
            },
        ),
        (
            "defaults",
            Levels {
                defaults: true,
                ..none
            },
        ),
        ("all", Levels::ALL),
    ]
}

/// All inferred facts about a value are true in every run.
fn inferred_facts_hold(bytes: &[u8]) -> Result<(), String> {
    judge(&draw(bytes), |drawn| match expected(drawn) {
        Some(_) => facts::hold(drawn),
        None => Ok(()),
    })
}
