//! Normalizations and dropout as arithmetic.

use isoform::Ref;
use isoform_relay::analysis::count_ops;
use isoform_relay::attrs::*;
use isoform_relay::passes::{simplify_inference, simplify_inference_expr};
use isoform_relay::{AsExpr, Function, TupleGetItem, op};
use isoform_testing::relay::random_network;

use crate::support::*;

/// Checks which operators the body consists of afterwards.
#[track_caller]
fn check(body: &Expr, expected: &[(&str, i64)]) {
    let func = Function::closing(body).unwrap().expr();
    let done = simplify_inference_expr(&func).unwrap();
    let expected = expected
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count));
    assert_eq!(count_ops(&done).unwrap(), expected.collect());
    assert_equal(&simplify_inference_expr(&done).unwrap(), &typed(&done));
}

fn vectors() -> [Ref<isoform_relay::Var>; 4] {
    [(); 4].map(|()| v("f32[3]"))
}

fn batch_norm(attrs: Ref<BatchNormAttrs>) -> Expr {
    let [gamma, beta, mean, variance] = vectors();
    op::batch_norm(v("f32[2,3,4,4]"), gamma, beta, mean, variance, attrs).expr()
}

#[test]
fn batch_norm_is_a_factor_and_a_bias_of_channels() {
    let all = [
        ("add", 3),
        ("divide", 1),
        ("expand_dims", 2),
        ("multiply", 3),
        ("negative", 1),
        ("sqrt", 1),
    ];
    check(&item(&batch_norm(BatchNormAttrs::new()), 0), &all);
    let plain = BatchNormAttrs::new().with_center(false).with_scale(false);
    let fewer = [
        ("add", 2),
        ("divide", 1),
        ("expand_dims", 2),
        ("multiply", 2),
        ("negative", 1),
        ("sqrt", 1),
    ];
    check(&item(&batch_norm(plain), 0), &fewer);
    let [gamma, beta, mean, variance] = vectors();
    let last = BatchNormAttrs::new().with_axis(-1);
    let last = op::batch_norm(v("f32[2,3]"), gamma, beta, mean, variance, last).expr();
    let unspread = [
        ("add", 3),
        ("divide", 1),
        ("multiply", 3),
        ("negative", 1),
        ("sqrt", 1),
    ];
    check(&item(&last, 0), &unspread);
}

#[test]
fn layer_norm_is_mean_and_variance() {
    let attrs = LayerNormAttrs::new().with_axis(1);
    let call = op::layer_norm(v("f32[2,3,4]"), v("f32[3]"), v("f32[3]"), attrs);
    let expected = [
        ("add", 2),
        ("divide", 1),
        ("expand_dims", 2),
        ("mean", 1),
        ("multiply", 1),
        ("sqrt", 1),
        ("subtract", 1),
        ("variance", 1),
    ];
    check(&call.expr(), &expected);
}

#[test]
fn dropout_is_its_data() {
    let dropped = op::dropout(v("f32[2]"), DropoutAttrs::new()).expr();
    check(&item(&dropped, 0), &[]);
    check(&item(&dropped, 1), &[("nn.dropout", 1)]);
}

#[test]
fn other_uses_stay() {
    let norm = batch_norm(BatchNormAttrs::new());
    check(&item(&norm, 1), &[("nn.batch_norm", 1)]);
    let t = var("t");
    check(
        &bind(&t, &norm, &item(&t.expr(), 0)),
        &[("nn.batch_norm", 1)],
    );
    let x = v("f32[2]");
    let inner = TupleGetItem::new(op::dropout(&x, DropoutAttrs::new()), 0);
    let fused = apply(&kernel([&x], inner.expr()), [&v("f32[2]").expr()]);
    check(&fused, &[("nn.dropout", 1)]);
    let module = isoform_relay::infer_type(&main_of(Function::closing(&fused).unwrap())).unwrap();
    assert!(simplify_inference(&module).unwrap().same_as(&module));
}

#[test]
fn no_normalization_is_left_in_random_networks() {
    let mut changed = 0;
    for seed in 0..300 {
        let module = random_network(seed).module;
        let done = simplify_inference(&module).unwrap();
        let ops = count_ops(&function_in(&done, "main").expr()).unwrap();
        for name in ops.keys() {
            assert!(
                !name.ends_with("_norm") && name != "nn.dropout",
                "{seed}: {name}"
            );
        }
        let before = count_ops(&function_in(&module, "main").expr()).unwrap();
        changed += usize::from(before.keys().any(|name| name.ends_with("_norm")));
    }
    assert!(changed > 100, "{changed}");
}
