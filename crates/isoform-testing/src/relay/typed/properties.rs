//! The promises of passes about values and types.

use isoform::traverse::{WalkResult, structural_walk};
use isoform::values::{DType, Tensor};
use isoform::{Ref, Result, Value, structural_equal};
use isoform_ir::ir::IRModule;
use isoform_ir::transform::cse::cse;
use isoform_relay::analysis::count_ops;
use isoform_relay::attribute::PRIMITIVE;
use isoform_relay::attrs::CastAttrs;
use isoform_relay::eval::Evaluator;
use isoform_relay::passes::{
    SimplifyOptions, backward_fold_scale_axis, defuse_ops, eliminate_common_subexpr,
    eliminate_dead_code, fold_constant, forward_fold_scale_axis, fuse_ops, inline_functions,
    lambda_lift, remove_unused_functions, simplify, simplify_inference, to_a_normal_form,
    to_basic_block_normal_form, to_graph_normal_form,
};
use isoform_relay::{AsExpr, Constant, Function, infer_type, op, relay_text};

use super::generate::Generator;
use super::types::{Ty, TypedProgram};
use crate::properties::Property;
use crate::relay::text::check_scopes;
use crate::source::Source;

/// A pass over modules.
pub type Pass = fn(&Ref<IRModule>) -> Result<Ref<IRModule>>;

/// The passes, all of which keep the values and types of programs.
pub const PASSES: &[(&str, Pass)] = &[
    ("FoldConstant", fold_constant),
    ("EliminateCommonSubexpr", eliminate_common_subexpr),
    ("CSE", |module| cse(module)?.extract()),
    ("DeadCodeElimination", eliminate_dead_code),
    ("ToANormalForm", to_a_normal_form),
    ("ToGraphNormalForm", to_graph_normal_form),
    ("ToBasicBlockNormalForm", to_basic_block_normal_form),
    ("InlineGlobals", inline_functions),
    ("SimplifyExpr", |module| {
        SimplifyOptions::default().exact(true).simplify(module)
    }),
    ("FuseOps", |module| infer_type(&fuse_ops(module)?)),
    ("DefuseOps", defuse_ops),
    ("LambdaLift", lambda_lift),
    ("RemoveUnusedFunctions", |module| {
        remove_unused_functions(module, &["main"])
    }),
];

/// All properties with their names.
pub const TYPED_PROPERTIES: &[(&str, Property)] = &[
    (
        "relay_values_have_the_inferred_types",
        values_have_their_types,
    ),
    ("relay_passes_keep_values", passes_keep_values),
    ("relay_pipelines_keep_values", pipelines_keep_values),
    (
        "relay_simplified_values_are_near",
        simplified_values_are_near,
    ),
    ("relay_fused_programs_come_back", fused_programs_come_back),
    ("relay_networks_keep_values", networks_keep_values),
    ("relay_typed_programs_have_texts", programs_have_texts),
];

/// The size of programs.
const SIZE: usize = 24;

fn told<T>(result: Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{error:#}"))
}

fn draw(bytes: &[u8]) -> TypedProgram {
    Generator::new(Source::new(bytes), SIZE).program()
}

fn main_of(module: &Ref<IRModule>) -> Result<Ref<Function>> {
    module.lookup(&module.global_var("main")?)?.cast()
}

fn run(module: &Ref<IRModule>, arguments: &[Value]) -> Result<Value> {
    let evaluator = Evaluator::new().module(module);
    let main = evaluator.evaluate(module.global_var("main")?.upcast())?;
    evaluator.call(&main, arguments)
}

/// True if both consist of the same bytes.
fn same(left: &Value, right: &Value) -> bool {
    let mut pairs = vec![(left.clone(), right.clone())];
    while let Some((left, right)) = pairs.pop() {
        match (left.peek::<Tensor>(), right.peek::<Tensor>()) {
            (Some(left), Some(right)) => {
                let is_same = left.dtype() == right.dtype()
                    && left.shape() == right.shape()
                    && left.data() == right.data();
                if !is_same {
                    return false;
                }
            }
            (None, None) => match (items(&left), items(&right)) {
                (Some(left), Some(right)) if left.len() == right.len() => {
                    pairs.extend(left.into_iter().zip(right));
                }
                _ => return false,
            },
            _ => return false,
        }
    }
    true
}

fn items(value: &Value) -> Option<Vec<Value>> {
    let array = value.peek::<isoform::Array>()?;
    Some(array.values().to_vec())
}

/// The type of a value.
fn type_of(value: &Value) -> Option<Ty> {
    if let Some(tensor) = value.peek::<Tensor>() {
        return Some(Ty::Tensor(tensor.dtype(), tensor.shape().to_vec()));
    }
    Some(Ty::Tuple(
        items(value)?.iter().map(type_of).collect::<Option<_>>()?,
    ))
}

fn account(what: &str, before: &Ref<IRModule>, after: Option<&Ref<IRModule>>) -> String {
    let text = |module: &Ref<IRModule>| isoform::objects::repr(module);
    match after {
        Some(after) => format!("{what}\nbefore: {}\nafter: {}", text(before), text(after)),
        None => format!("{what}\n{}", text(before)),
    }
}

/// A drawn program is well-typed, and has a value of the inferred type.
fn values_have_their_types(bytes: &[u8]) -> Result<(), String> {
    let TypedProgram { module, arguments } = draw(bytes);
    let typed = told(infer_type(&module)).map_err(|error| account(&error, &module, None))?;
    let value = told(run(&typed, &arguments)).map_err(|error| account(&error, &typed, None))?;
    let expected = told(main_of(&typed))?.ret_type.as_ref().and_then(Ty::of);
    if type_of(&value) == expected {
        Ok(())
    } else {
        let what = format!("expected {expected:?}, got {:?}", type_of(&value));
        Err(account(&what, &typed, None))
    }
}

/// The program after a pass has the same value, and its function the same type.
fn check(
    name: &str,
    pass: Pass,
    before: &Ref<IRModule>,
    arguments: &[Value],
    expected: &Value,
) -> Result<Ref<IRModule>, String> {
    let fail = |what: String, after: Option<&Ref<IRModule>>| {
        account(&format!("{name}: {what}"), before, after)
    };
    let after = pass(before).map_err(|error| fail(format!("{error:#}"), None))?;
    let typed = infer_type(&after).map_err(|error| fail(format!("{error:#}"), Some(&after)))?;
    let value = run(&typed, arguments).map_err(|error| fail(format!("{error:#}"), Some(&after)))?;
    if !same(&value, expected) {
        return Err(fail(
            format!("expected {expected:?}, got {value:?}"),
            Some(&after),
        ));
    }
    let types = [before, &typed].map(|module| Ok(main_of(module)?.func_type_annotation()));
    let [left, right]: [Result<_>; 2] = types;
    if told(structural_equal(told(left)?, told(right)?))? {
        Ok(typed)
    } else {
        Err(fail("the type has changed".to_owned(), Some(&after)))
    }
}

/// Each pass keeps the values of programs, bit for bit, and their types.
fn passes_keep_values(bytes: &[u8]) -> Result<(), String> {
    let TypedProgram { module, arguments } = draw(bytes);
    let typed = told(infer_type(&module))?;
    let expected = told(run(&typed, &arguments))?;
    for (name, pass) in PASSES {
        check(name, *pass, &typed, &arguments, &expected)?;
    }
    Ok(())
}

/// So does each sequence of passes.
fn pipelines_keep_values(bytes: &[u8]) -> Result<(), String> {
    let TypedProgram { module, arguments } = draw(bytes);
    let mut typed = told(infer_type(&module))?;
    let expected = told(run(&typed, &arguments))?;
    let mut choices = Source::new(bytes);
    for _ in 0..4 {
        let (name, pass) = *choices.pick(PASSES);
        typed = check(name, pass, &typed, &arguments, &expected)?;
    }
    Ok(())
}

/// The numbers of a tensor of floats.
fn floats(value: &Value) -> Result<Vec<f64>> {
    let constant = Constant::new(value.extract::<Tensor>()?);
    let wide = op::cast(constant, CastAttrs::new(DType::FLOAT64));
    let wide: Tensor = Evaluator::new().evaluate(wide)?.extract()?;
    let (chunks, _) = wide.data().as_chunks::<8>();
    Ok(chunks
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect())
}

/// Simplification changes values by little more than their precision.
fn simplified_values_are_near(bytes: &[u8]) -> Result<(), String> {
    let program = Generator::new(Source::new(bytes), SIZE).smooth();
    let (TypedProgram { module, arguments }, precision) = program;
    let before = told(infer_type(&module))?;
    let after = told(simplify(&before))?;
    if !told(infer_type(&after))?.same_as(&after) {
        let what = "the types of the simplified program are not those inferred";
        return Err(account(what, &before, Some(&after)));
    }
    let value = |module| told(floats(&told(run(module, &arguments))?));
    let (left, right) = (value(&before)?, value(&after)?);
    let is_near = |(left, right): (&f64, &f64)| (left - right).abs() <= precision * left.abs();
    if left.len() == right.len() && left.iter().zip(&right).all(is_near) {
        Ok(())
    } else {
        let what = format!("expected {left:?}, got {right:?}");
        Err(account(&what, &before, Some(&after)))
    }
}

/// Taking kernels apart restores the fused program.
fn fused_programs_come_back(bytes: &[u8]) -> Result<(), String> {
    let TypedProgram { module, .. } = draw(bytes);
    let before = told(infer_type(&module))?;
    let fused = told(fuse_ops(&before).and_then(|fused| infer_type(&fused)))?;
    let after = told(defuse_ops(&fused))?;
    if told(structural_equal(&after, &before))? {
        Ok(())
    } else {
        Err(account("another program came back", &before, Some(&after)))
    }
}

/// The passes for inference, in any order and repeated.
const INFERENCE: &[(&str, Pass)] = &[
    ("SimplifyInference", simplify_inference),
    ("BackwardFoldScaleAxis", backward_fold_scale_axis),
    ("ForwardFoldScaleAxis", forward_fold_scale_axis),
    ("FoldConstant", fold_constant),
];

/// The passes for inference change the values of networks by little more than their
/// precision, and keep their types.
fn networks_keep_values(bytes: &[u8]) -> Result<(), String> {
    let TypedProgram { module, arguments } = Generator::new(Source::new(bytes), 0).inference();
    let mut typed = told(infer_type(&module))?;
    let expected = told(run(&typed, &arguments))?;
    let mut choices = Source::new(bytes);
    for _ in 0..6 {
        let (name, pass) = *choices.pick(INFERENCE);
        let fail = |what: String, after| account(&format!("{name}: {what}"), &typed, after);
        let after = pass(&typed).map_err(|error| fail(format!("{error:#}"), None))?;
        let again = infer_type(&after).map_err(|error| fail(format!("{error:#}"), Some(&after)))?;
        let value =
            run(&again, &arguments).map_err(|error| fail(format!("{error:#}"), Some(&after)))?;
        if !told(are_near(&value, &expected))? || type_of(&value) != type_of(&expected) {
            let what = format!("expected {expected:?}, got {value:?}");
            return Err(fail(what, Some(&after)));
        }
        typed = again;
    }
    kernels_have_one_anchor(&typed)
}

/// The complex operators of networks: a kernel has at most one of them.
const ANCHORS: [&str; 2] = ["nn.conv2d", "nn.dense"];

fn kernels_have_one_anchor(module: &Ref<IRModule>) -> Result<(), String> {
    let fused = told(fuse_ops(module))?;
    let mut most = 0;
    let walked = structural_walk(&fused, |visit| {
        let value = visit.value();
        let function = value.peek::<Ref<Function>>();
        if let Some(kernel) = function.filter(|one| one.has_nonzero_attribute(PRIMITIVE)) {
            let counts = count_ops(&kernel.expr())?;
            most = most.max(ANCHORS.iter().filter_map(|name| counts.get(*name)).sum());
        }
        Ok(WalkResult::<()>::Advance)
    });
    told(walked)?;
    if most <= 1 {
        Ok(())
    } else {
        let what = format!("a kernel has {most} complex operators");
        Err(account(&what, module, Some(&fused)))
    }
}

/// True if the numbers of tensors and tuples differ by little, compared with the largest.
fn are_near(left: &Value, right: &Value) -> Result<bool> {
    if let (Some(left), Some(right)) = (items(left), items(right)) {
        for (left, right) in left.iter().zip(&right) {
            if !are_near(left, right)? {
                return Ok(false);
            }
        }
        return Ok(left.len() == right.len());
    }
    let (left, right) = (floats(left)?, floats(right)?);
    let largest = right.iter().fold(1.0, |most: f64, one| most.max(one.abs()));
    let is_near = |(left, right): (&f64, &f64)| (left - right).abs() <= 1e-9 * largest;
    Ok(left.len() == right.len() && left.iter().zip(&right).all(is_near))
}

/// The functions of a program and of its results have texts with names in order.
fn programs_have_texts(bytes: &[u8]) -> Result<(), String> {
    let module = told(infer_type(&draw(bytes).module))?;
    let mut modules = vec![module.clone()];
    for (_, pass) in PASSES {
        modules.push(told(pass(&module))?);
    }
    for module in modules {
        for var in module.global_vars() {
            let function = told(module.lookup(&var))?;
            check_scopes(&told(relay_text(function))?)?;
        }
        told(relay_text(&module))?;
    }
    Ok(())
}
