//! The named passes, for pipelines and for other languages.

use isoform::functions::Function as Callback;
use isoform::types::Schema;
use isoform::{Array, Error, Ref, Result, Str, Value, export};
use isoform_ir::ir::{IRModule, RelayExpr};
use isoform_ir::transform::{
    FunctionPass, Memo, ModulePass, Pass, PassContext, PassInfo, Sequential, register_config_option,
};

use super::common_subexpr::CommonSubexprOptions;
use super::dead_code::DeadCodeOptions;
use super::fold_constant::FoldConstantOptions;
use super::fuse::FuseOptions;
use super::simplify::SimplifyOptions;
use super::{
    defuse_ops, inline_functions, lambda_lift, remove_unused_functions, to_a_normal_form,
    to_a_normal_form_expr, to_basic_block_normal_form, to_basic_block_normal_form_expr,
    to_graph_normal_form, to_graph_normal_form_expr,
};
use super::{scale_axis, simplify_inference};
use crate::{AsExpr, Function, infer_type, infer_type_expr};

/// The pass required by most other passes.
const INFER_TYPE: &str = "InferType";

/// The option of contexts for the largest number of expressions in a kernel.
const MAX_DEPTH: &str = "relay.FuseOps.max_depth";
/// The option of contexts for constants as parts of kernels.
const LINK_PARAMS: &str = "relay.FuseOps.link_params";

fn info(opt_level: i64, name: &str, required: &[&str]) -> Ref<PassInfo> {
    PassInfo::new(opt_level, name).with_required(required.iter().copied())
}

fn module_pass(
    info: &Ref<PassInfo>,
    run: impl Fn(&Ref<IRModule>) -> Result<Ref<IRModule>> + Send + Sync + 'static,
) -> Ref<ModulePass> {
    ModulePass::new(info, move |module: Ref<IRModule>, _: &Ref<PassContext>| {
        run(&module)
    })
}

/// A pass over the optimizable functions, followed by type inference.
fn function_pass(
    info: &Ref<PassInfo>,
    run: impl Fn(&Ref<RelayExpr>, &Ref<IRModule>) -> Result<Ref<RelayExpr>> + Send + Sync + 'static,
) -> Ref<FunctionPass> {
    let pass = FunctionPass::new(
        info,
        move |func: Ref<Function>, module: &Ref<IRModule>, _: &Ref<PassContext>| {
            run(&func.expr(), module)?.cast::<Function>()
        },
    );
    optimizing(&pass)
}

/// The pass on functions that passes may change, with type inference at the end.
fn optimizing(pass: &Ref<FunctionPass>) -> Ref<FunctionPass> {
    let filter = Callback::typed(|func: Ref<Function>| func.is_optimizable());
    pass.with_filter(Some(filter))
        .with_after(Array::from([Str::from(INFER_TYPE)]))
}

/// Finds the types of all expressions.
#[export("relay._transform.InferType")]
fn infer_type_pass() -> Ref<ModulePass> {
    module_pass(&info(0, INFER_TYPE, &[]), infer_type)
}

/// Computes equal calls of operators once.
#[export("relay._transform.EliminateCommonSubexpr")]
fn common_subexpr_pass(fskip: Option<Callback>) -> Ref<FunctionPass> {
    let info = info(3, "EliminateCommonSubexpr", &[INFER_TYPE]);
    function_pass(&info, move |func, _| {
        let mut options = CommonSubexprOptions::default();
        if let Some(skip) = &fskip {
            options = options.skip(|expr| {
                let skipped = Schema::Bool.convert(skip.call(&[expr.into()])?)?;
                Ok(skipped.as_bool() == Some(true))
            });
        }
        options.eliminate_common_subexpr_expr(func)
    })
}

/// Removes unused bindings.
#[export("relay._transform.DeadCodeElimination")]
fn dead_code_pass(
    #[default = false] inline_once: bool,
    #[default = false] ignore_impurity: bool,
) -> Ref<ModulePass> {
    let options = DeadCodeOptions::default()
        .inline_once(inline_once)
        .ignore_impurity(ignore_impurity);
    let info = info(1, "DeadCodeElimination", &[INFER_TYPE]);
    module_pass(&info, move |module| options.eliminate_dead_code(module))
}

/// Replaces known parts by their values.
#[export("relay._transform.FoldConstant")]
fn fold_constant_pass(#[default = false] fold_qnn: bool) -> Ref<FunctionPass> {
    let options = FoldConstantOptions::default().fold_qnn(fold_qnn);
    let info = info(2, "FoldConstant", &[]);
    function_pass(&info, move |func, _| options.fold_constant_expr(func))
}

/// Returns the expression with known parts replaced by their values.
#[export("relay._transform.FoldConstantExpr")]
fn fold_constant_of(
    expr: &Ref<RelayExpr>,
    #[default = false] fold_qnn: bool,
) -> Result<Ref<RelayExpr>> {
    let options = FoldConstantOptions::default().fold_qnn(fold_qnn);
    options.fold_constant_expr(expr)
}

/// Applies identities of arithmetic, moves and casts.
///
/// The results keep every bit if `exact` is true.
#[export("relay._transform.SimplifyExpr")]
fn simplify_pass(#[default = false] exact: bool) -> Ref<FunctionPass> {
    let options = SimplifyOptions::default().exact(exact);
    let info = info(0, "SimplifyExpr", &[INFER_TYPE]);
    let pass = function_pass(&info, move |func, module| {
        Ok(options.run(&typed(func, module)?)?.expr)
    });
    // The options are part of the key only if the pass was made by name.
    let memo = Memo::new(format!("2 exact={exact}"));
    // The types of callees; the key contains the types as signatures.
    pass.with_memo(memo.with_reads(Callback::new(|_| Ok(Value::NONE))))
}

/// Returns the expression with identities applied.
#[export("relay._transform.SimplifyExprExpr")]
fn simplify_of(expr: &Ref<RelayExpr>, #[default = false] exact: bool) -> Result<Ref<RelayExpr>> {
    SimplifyOptions::default().exact(exact).simplify_expr(expr)
}

/// Replaces normalizations and dropout by arithmetic.
#[export("relay._transform.SimplifyInference")]
fn simplify_inference_pass() -> Ref<FunctionPass> {
    let info = info(0, "SimplifyInference", &[INFER_TYPE]);
    function_pass(&info, |func, module| {
        simplify_inference::in_expr(&typed(func, module)?)
    })
}

/// Multiplies weights by factors of their results.
#[export("relay._transform.BackwardFoldScaleAxis")]
fn backward_scale_axis_pass() -> Ref<FunctionPass> {
    let info = info(3, "BackwardFoldScaleAxis", &[INFER_TYPE]);
    function_pass(&info, |func, module| {
        scale_axis::backward(&typed(func, module)?)
    })
}

/// Multiplies weights by factors of their data.
#[export("relay._transform.ForwardFoldScaleAxis")]
fn forward_scale_axis_pass() -> Ref<FunctionPass> {
    let info = info(3, "ForwardFoldScaleAxis", &[INFER_TYPE]);
    function_pass(&info, |func, module| {
        scale_axis::forward(&typed(func, module)?)
    })
}

/// Multiplies weights by factors of results, then by factors of data, and computes the
/// products of constants.
#[export("relay._transform.FoldScaleAxis")]
fn scale_axis_pass() -> Ref<Sequential> {
    let passes: [Ref<Pass>; 3] = [
        backward_scale_axis_pass().upcast(),
        forward_scale_axis_pass().upcast(),
        fold_constant_pass(false).upcast(),
    ];
    Sequential::named(&info(0, "FoldScaleAxis", &[]), passes)
}

/// Makes functions inside of functions global.
#[export("relay._transform.LambdaLift")]
fn lambda_lift_pass() -> Ref<ModulePass> {
    module_pass(&info(1, "LambdaLift", &[]), lambda_lift)
}

/// A function with types.
fn typed(func: &Ref<RelayExpr>, module: &Ref<IRModule>) -> Result<Ref<RelayExpr>> {
    match &func.checked_type_ {
        Some(_) => Ok(func.clone()),
        None => infer_type_expr(func, Some(module)),
    }
}

/// Gives every value a name.
#[export("relay._transform.ToANormalForm")]
fn a_normal_form_pass() -> Ref<ModulePass> {
    module_pass(&info(1, "ToANormalForm", &[]), to_a_normal_form)
}

/// Names the values used by several blocks.
#[export("relay._transform.ToBasicBlockNormalForm")]
fn basic_block_pass() -> Ref<ModulePass> {
    let info = info(1, "ToBasicBlockNormalForm", &[]);
    module_pass(&info, to_basic_block_normal_form)
}

/// Shares values instead of naming them.
#[export("relay._transform.ToGraphNormalForm")]
fn graph_normal_form_pass() -> Ref<ModulePass> {
    module_pass(&info(1, "ToGraphNormalForm", &[]), to_graph_normal_form)
}

/// Makes kernels of operators that can be fused.
///
/// A level of -1 means the level of the context; at level 0, every operator has a
/// separate kernel.
#[export("relay._transform.FuseOps")]
fn fuse_pass(#[default = -1] fuse_opt_level: i64) -> Result<Ref<FunctionPass>> {
    if fuse_opt_level < -1 {
        return Err(Error::value_error(format!(
            "FuseOps: expected a fuse_opt_level from 0, or -1 for the level of the context, got \
             {fuse_opt_level}"
        )));
    }
    let info = info(0, "FuseOps", &[INFER_TYPE]);
    let run = move |func: Ref<Function>, _: &Ref<IRModule>, ctx: &Ref<PassContext>| {
        let level = match fuse_opt_level {
            -1 => ctx.opt_level,
            level => level,
        };
        let max_depth = ctx.config_value(MAX_DEPTH)?.as_int().unwrap_or(256);
        let max_depth = usize::try_from(max_depth).map_err(|_| {
            Error::value_error(format!(
                "config option '{MAX_DEPTH}': expected a number from 0, got {max_depth}"
            ))
        })?;
        let options = FuseOptions::default()
            .fuses(level > 0)
            .max_depth(max_depth)
            .link_params(ctx.config_value(LINK_PARAMS)?.as_bool() == Some(true));
        options.fuse_ops_expr(&func.expr())?.cast::<Function>()
    };
    Ok(optimizing(&FunctionPass::new(&info, run)))
}

/// Puts the bodies of kernels in the place of their calls.
#[export("relay._transform.DefuseOps")]
fn defuse_pass() -> Ref<ModulePass> {
    module_pass(&info(3, "DefuseOps", &[INFER_TYPE]), defuse_ops)
}

/// Puts functions marked `Inline` in the place of their calls.
#[export("relay._transform.InlineGlobals")]
fn inline_pass() -> Ref<ModulePass> {
    module_pass(&info(1, "InlineGlobals", &[]), inline_functions)
}

/// Removes the functions unreachable from the entries.
#[export("relay._transform.RemoveUnusedFunctions")]
fn unused_functions_pass(entry_functions: Option<Array<Str>>) -> Ref<ModulePass> {
    let entries = entry_functions.unwrap_or_else(|| [Str::from("main")].into());
    module_pass(&info(1, "RemoveUnusedFunctions", &[]), move |module| {
        let entries: Vec<&str> = entries.iter().map(|entry| &**entry).collect();
        remove_unused_functions(module, &entries)
    })
}

/// Returns the expression with a name for every value.
#[export("relay._transform.ToANormalFormExpr")]
fn a_normal_form_of(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    to_a_normal_form_expr(expr)
}

/// Returns the expression with names for the values used by several blocks.
#[export("relay._transform.ToBasicBlockNormalFormExpr")]
fn basic_block_of(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    to_basic_block_normal_form_expr(expr)
}

/// Returns the expression with values shared instead of named.
#[export("relay._transform.ToGraphNormalFormExpr")]
fn graph_normal_form_of(expr: &Ref<RelayExpr>) -> Result<Ref<RelayExpr>> {
    to_graph_normal_form_expr(expr)
}

pub(super) fn register() -> Result<()> {
    register_config_option(
        MAX_DEPTH,
        Schema::Int,
        256,
        "The largest number of expressions in a kernel.",
    )?;
    register_config_option(
        LINK_PARAMS,
        Schema::Bool,
        false,
        "Put constants into kernels instead of passing them as arguments.",
    )?;
    isoform::register_functions![
        infer_type_pass,
        common_subexpr_pass,
        dead_code_pass,
        fold_constant_pass,
        fold_constant_of,
        simplify_pass,
        simplify_of,
        simplify_inference_pass,
        backward_scale_axis_pass,
        forward_scale_axis_pass,
        scale_axis_pass,
        lambda_lift_pass,
        a_normal_form_pass,
        basic_block_pass,
        graph_normal_form_pass,
        fuse_pass,
        defuse_pass,
        inline_pass,
        unused_functions_pass,
        a_normal_form_of,
        basic_block_of,
        graph_normal_form_of
    ]
}
