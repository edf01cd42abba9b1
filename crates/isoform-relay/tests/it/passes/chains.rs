//! Every pass runs on a million levels of `let` and of calls, and on graphs with an
//! exponential number of paths.

use isoform::functions::list_functions;
use isoform::values::DType;
use isoform_ir::ir::{GlobalVar, Op, TensorType};
use isoform_ir::transform::PassRef;
use isoform_ir::transform::make_pass;
use isoform_relay::passes::{
    CommonSubexprOptions, DeadCodeOptions, inline_functions, remove_unused_functions,
    to_a_normal_form_expr, to_basic_block_normal_form_expr, to_graph_normal_form_expr,
};
use isoform_relay::{AsExpr, Function, infer_type};
use isoform_testing::source::scaled;

use crate::support::*;

type Pass = fn(&Expr) -> isoform::Result<Expr>;

fn merge(expr: &Expr) -> isoform::Result<Expr> {
    CommonSubexprOptions::default().eliminate_common_subexpr_expr(expr)
}

fn clean(expr: &Expr) -> isoform::Result<Expr> {
    DeadCodeOptions::default()
        .inline_once(true)
        .eliminate_dead_code_expr(expr)
}

fn inline(expr: &Expr) -> isoform::Result<Expr> {
    let [main, f] = ["main", "inl_f"].map(GlobalVar::new);
    let caller = func([], apply(&f, [&int(1)]));
    let done = inline_functions(&module([(&main, &caller), (&f, expr)]))?;
    remove_unused_functions(&done, &["main"])?;
    Ok(lookup(&done, &main))
}

const PASSES: [(&str, Pass); 6] = [
    ("merge", merge),
    ("clean", clean),
    ("inline", inline),
    ("A-normal form", to_a_normal_form_expr),
    ("basic blocks", to_basic_block_normal_form_expr),
    ("graph", to_graph_normal_form_expr),
];

/// Runs all passes and drops their results.
fn run_all(program: &Expr) {
    for (name, pass) in PASSES {
        let result = pass(program).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(result.isa::<Function>(), "{name}");
    }
}

#[test]
fn a_million_levels_of_let() {
    let x = var("x");
    let f = unknown_op("f");
    let vars: Vec<_> = (0..levels()).map(|_| var("v")).collect();
    let mut body = vars[levels() - 1].expr();
    for level in (0..levels()).rev() {
        let before = if level == 0 { &x } else { &vars[level - 1] };
        let value = isoform_relay::Call::new(&f, [before.expr()]).expr();
        body = bind(&vars[level], &value, &body);
    }
    run_all(&func([&x], &body));
}

/// Every registered pass is covered, without being named here.
#[test]
fn every_registered_pass_takes_long_chains_of_let() {
    isoform_relay::register().expect("the names are free");
    let scalar = TensorType::new([]).with_dtype(DType::FLOAT32).upcast();
    let x = var("x").with_type_annotation(Some(scalar));
    let exp = Op::get("exp").expect("an operator");
    let levels = levels() / 2;
    let vars: Vec<_> = (0..levels).map(|_| var("v")).collect();
    let mut body = vars[levels - 1].expr();
    for level in (0..levels).rev() {
        let before = if level == 0 { &x } else { &vars[level - 1] };
        let value = isoform_relay::Call::new(&exp, [before.expr()]).expr();
        body = bind(&vars[level], &value, &body);
    }
    let main = GlobalVar::new("main");
    let module = infer_type(&module([(&main, &func([&x], &body))])).expect("well typed");
    // Functions under this prefix without a pass are conversions of one expression.
    let names = list_functions();
    let names = names
        .iter()
        .filter_map(|name| name.strip_prefix("relay._transform."));
    let mut run = Vec::new();
    for name in names {
        let Ok(pass) = make_pass(name, []) else {
            continue;
        };
        let result = pass
            .run(&module)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(lookup(&result, &main).isa::<Function>(), "{name}");
        run.push(name);
    }
    for name in ["InferType", "FoldConstant", "FuseOps", "ToANormalForm"] {
        assert!(run.contains(&name), "{name} is not among {run:?}");
    }
}

#[test]
fn a_million_levels_of_calls() {
    let x = var("x");
    let f = unknown_op("f");
    let mut body = x.expr();
    for _ in 0..levels() {
        body = isoform_relay::Call::new(&f, [body]).expr();
    }
    run_all(&func([&x], &body));
}

#[test]
fn a_hundred_thousand_levels_of_scopes() {
    let x = var("x");
    let shared = call("f", [&x.expr()]);
    let mut body = shared.clone();
    for level in 0..scaled(100_000) {
        body = match level % 3 {
            0 => choose(&x.expr(), &body, &shared),
            1 => apply(&func([], &body), []),
            _ => bind(&var("v"), &body, &int(1)),
        };
    }
    run_all(&func([&x], &body));
}

#[test]
fn graphs_with_many_paths_are_visited_once() {
    let x = var("x");
    let mut body = x.expr();
    for level in 0..2_000 {
        body = match level % 2 {
            0 => call("f", [&body, &body]),
            _ => choose(&body, &call("g", [&body]), &body),
        };
    }
    run_all(&func([&x], &body));
}

/// The number of objects made by a pass, if no other thread makes any.
fn made(pass: Pass, program: &Expr) -> u64 {
    let before = int(0).identity();
    pass(program).expect("well formed");
    int(0).identity() - before
}

/// Counts objects in a process of its own, since other tests make objects, too.
#[test]
fn passes_make_objects_in_proportion_to_the_program() {
    let counting = "passes::chains::counted_objects_are_in_proportion_to_the_program";
    let tests = std::env::current_exe().expect("the path of the tests");
    let done = std::process::Command::new(tests)
        .args(["--exact", counting, "--ignored"])
        .output()
        .expect("the tests run");
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "runs alone, called by the test above"]
fn counted_objects_are_in_proportion_to_the_program() {
    let program = |size: usize| {
        let x = var("x");
        let mut body = x.expr();
        for level in 0..size {
            let shared = call("f", [&body, &int(level as i32)]);
            let v = var("v");
            body = match level % 3 {
                0 => choose(&shared, &call("g", [&shared]), &body),
                1 => bind(
                    &v,
                    &shared,
                    &tuple([&v.expr(), &call("f", [&body, &int(2)])]),
                ),
                _ => apply(&func([], &shared), []),
            };
        }
        func([&x], &body)
    };
    let (small, large) = (program(300), program(3_000));
    for (name, pass) in PASSES {
        let (few, many) = (made(pass, &small), made(pass, &large));
        assert!(many <= 11 * few + 100, "{name}: {few} objects, then {many}");
    }
}
