//! Properties of analyses and rewrites for every expression.

use std::collections::{HashMap, HashSet};

use isoform::compare::CompareOptions;
use isoform::{Ref, Result, structural_equal};
use isoform_ir::ir::{OpRegistry, RelayExpr};
use isoform_relay::analysis::{
    Feature, all_vars, bound_vars, check_basic_block_normal_form, check_constant, count_layers,
    detect_feature, expr_ref_counts, free_vars, post_order_visit, well_formed,
};
use isoform_relay::{
    AsExpr, Constant, ExprRewriter, Let, Tuple, Var, bind, dedup, post_order_rewrite, relay_text,
};

use super::generate::{Programs, scalar};
use super::oracles;
use super::text::check_scopes;
use crate::properties::Property;
use crate::source::Source;

/// All properties with their names.
pub const RELAY_PROPERTIES: &[(&str, Property)] = &[
    ("relay_variables_are_the_oracles", variables),
    ("relay_drawn_programs_are_well_formed", drawn),
    ("relay_well_formedness_is_the_oracles", well_formedness),
    ("relay_post_order_is_the_oracles", post_order),
    ("relay_constants_and_layers_are_the_oracles", constants),
    ("relay_features_are_those_of_the_nodes", features),
    ("relay_blocks_are_the_oracles", blocks),
    ("relay_rewriting_is_the_oracles", rewriting),
    ("relay_fresh_variables_are_invisible", fresh),
    ("relay_bound_values_leave_no_variable", binding),
    ("relay_texts_introduce_names_before_their_uses", texts),
];

/// The size of expressions: the oracles visit shared parts at each place.
const SIZE: usize = 24;

fn program(bytes: &[u8], wild: bool) -> Ref<RelayExpr> {
    Programs::new(Source::new(bytes), SIZE, wild).expr()
}

/// Both kinds of expressions.
fn programs(bytes: &[u8]) -> [Ref<RelayExpr>; 2] {
    [false, true].map(|wild| program(bytes, wild))
}

fn ensure(holds: bool, what: &str, expr: &Ref<RelayExpr>) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("{what}\n{}", isoform::objects::repr(expr)))
    }
}

fn told<T>(result: Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{error:#}"))
}

fn identities(vars: &[Ref<Var>]) -> Vec<u64> {
    vars.iter().map(Ref::identity).collect()
}

fn variables(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let expected = oracles::Vars::of(&expr);
        let all = told(all_vars(&expr))?;
        ensure(identities(&all) == identities(&expected.all), "all", &expr)?;
        let bound = identities(&told(bound_vars(&expr))?);
        let as_set: HashSet<u64> = bound.iter().copied().collect();
        ensure(
            as_set == expected.bound && as_set.len() == bound.len(),
            "bound",
            &expr,
        )?;
        let free = identities(&told(free_vars(&expr))?);
        ensure(free == expected.all_in(&expected.free), "free", &expr)?;
    }
    Ok(())
}

fn drawn(bytes: &[u8]) -> Result<(), String> {
    let expr = program(bytes, false);
    ensure(well_formed(&expr), "a drawn expression", &expr)
}

fn well_formedness(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        ensure(
            well_formed(&expr) == oracles::well_formed(&expr),
            "well formed",
            &expr,
        )?;
    }
    Ok(())
}

fn post_order(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let mut expected = Vec::new();
        oracles::post_order(&expr, &mut expected);
        let mut order = Vec::new();
        told(post_order_visit(&expr, |part| {
            order.push(part.clone());
            Ok(())
        }))?;
        let same = |(left, right): (&Ref<RelayExpr>, &Ref<RelayExpr>)| left.same_as(right);
        let is_same = order.len() == expected.len() && order.iter().zip(&expected).all(same);
        ensure(is_same, "the order", &expr)?;
        // A place is a place below a distinct expression.
        let mut places: HashMap<u64, u32> = HashMap::from([(expr.identity(), 1)]);
        for part in expected.iter().flat_map(oracles::below) {
            *places.entry(part.identity()).or_insert(0) += 1;
        }
        let counts: HashMap<u64, u32> = expr_ref_counts(&expr).into_iter().collect();
        ensure(counts == places, "the numbers of places", &expr)?;
    }
    Ok(())
}

fn constants(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let is_constant = check_constant(&expr) == oracles::is_constant(&expr);
        ensure(is_constant, "a constant", &expr)?;
        let op = told(OpRegistry::get_or_register("relay_test.add"))?;
        let layers = told(count_layers(&expr, &["relay_test.add"]))?;
        ensure(layers == oracles::layers(&expr, op.op()), "layers", &expr)?;
    }
    // Most drawn expressions are no constants.
    let constant = Tuple::new([scalar(1), Tuple::new([]).expr()]).expr();
    ensure(check_constant(&constant), "a tuple of constants", &constant)
}

fn features(bytes: &[u8]) -> Result<(), String> {
    let expr = program(bytes, false);
    let features = told(detect_feature([(&expr).into()]))?;
    let mut nodes = Vec::new();
    oracles::post_order(&expr, &mut nodes);
    let has = |check: fn(&Ref<RelayExpr>) -> bool| nodes.iter().any(check);
    let pairs = [
        (Feature::Constant, has(|node| node.isa::<Constant>())),
        (Feature::Tuple, has(|node| node.isa::<Tuple>())),
        (Feature::Let, has(|node| node.isa::<Let>())),
        (Feature::Var, has(|node| node.isa::<Var>())),
        (
            Feature::LetRec,
            has(|node| {
                node.downcast_ref::<Let>().is_some_and(|binding| {
                    let vars = oracles::Vars::of(&binding.value);
                    vars.free.contains(&binding.var.identity())
                })
            }),
        ),
        (Feature::Graph, {
            let counts = expr_ref_counts(&expr);
            nodes.iter().any(|node| {
                let is_compound = !oracles::below(node).is_empty()
                    || node.isa::<Tuple>()
                    || node.isa::<isoform_relay::Call>();
                is_compound && counts.get(&node.identity()).is_some_and(|count| *count > 1)
            })
        }),
    ];
    for (feature, expected) in pairs {
        let what = format!("the feature {feature:?}, expected {expected}");
        ensure(features.contains(&feature) == expected, &what, &expr)?;
    }
    Ok(())
}

fn blocks(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let is_fine = check_basic_block_normal_form(&expr).is_ok();
        ensure(is_fine == oracles::in_blocks(&expr), "blocks", &expr)?;
    }
    Ok(())
}

fn rewriting(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let kept = told(post_order_rewrite(&expr, |_, _| Ok(None)))?;
        ensure(kept.same_as(&expr), "nothing is rewritten", &expr)?;
        let replacement = Var::new("replacement").expr();
        let rewriter = ExprRewriter::new()
            .on_any(|_: &mut (), _: &Ref<Constant>, _| Ok(Some(replacement.clone())));
        let rewritten = told(rewriter.rewrite(&mut (), &expr))?;
        let expected = oracles::without_constants(&expr, &replacement, &mut HashMap::new());
        let is_equal = told(structural_equal(&rewritten, &expected))?;
        ensure(is_equal, "constants are replaced", &expr)?;
    }
    Ok(())
}

fn fresh(bytes: &[u8]) -> Result<(), String> {
    let expr = program(bytes, false);
    let copy = told(dedup(&expr))?;
    ensure(told(structural_equal(&expr, &copy))?, "equal", &expr)?;
    ensure(well_formed(&copy), "well formed", &copy)?;
    let free = |expr: &Ref<RelayExpr>| told(free_vars(expr)).map(|vars| identities(&vars));
    ensure(
        free(&expr)? == free(&copy)?,
        "free variables are kept",
        &expr,
    )?;
    let bound = |expr: &Ref<RelayExpr>| -> Result<HashSet<u64>, String> {
        Ok(told(bound_vars(expr))?.iter().map(Ref::identity).collect())
    };
    let (before, after) = (bound(&expr)?, bound(&copy)?);
    ensure(
        before.is_disjoint(&after),
        "bound variables are fresh",
        &expr,
    )?;
    ensure(before.len() == after.len(), "as many of them", &expr)
}

fn binding(bytes: &[u8]) -> Result<(), String> {
    let expr = program(bytes, false);
    let free = told(free_vars(&expr))?;
    let binds: Vec<_> = free
        .iter()
        .enumerate()
        .map(|(number, var)| (var.clone(), scalar(1000 + number as i32)))
        .collect();
    let bound = told(bind(&expr, &binds))?;
    ensure(
        told(free_vars(&bound))?.is_empty(),
        "no free variables are left",
        &expr,
    )?;
    // Putting the variables back gives the expression again.
    let free_number = |data: &isoform::values::Tensor| {
        let bytes = data.data().get(..4)?;
        let number = i32::from_le_bytes(bytes.try_into().ok()?);
        usize::try_from(number.checked_sub(1000)?).ok()
    };
    let back = told(
        ExprRewriter::new()
            .on_any(|_: &mut (), constant: &Ref<Constant>, _| {
                let number = free_number(&constant.data);
                Ok(number.and_then(|number| free.get(number)).map(AsExpr::expr))
            })
            .rewrite(&mut (), &bound),
    )?;
    let exactly = CompareOptions::default();
    ensure(
        told(exactly.equal(&back, &expr))?,
        "the variables are back",
        &expr,
    )
}

fn texts(bytes: &[u8]) -> Result<(), String> {
    for expr in programs(bytes) {
        let text = told(relay_text(&expr))?;
        // Lines have a name, and an indentation of up to 80 spaces.
        let limit = 200 * (1 + expr_ref_counts(&expr).len());
        ensure(text.len() < limit, "a text of linear size", &expr)?;
        let again = told(relay_text(&expr))?;
        ensure(text == again, "the same text", &expr)?;
    }
    let expr = program(bytes, false);
    let text = told(relay_text(&expr))?;
    let features = told(detect_feature([(&expr).into()]))?;
    // A value other than a function cannot use its own variable.
    if !features.contains(&Feature::LetRec) {
        check_scopes(&text)?;
    }
    let copy = told(relay_text(told(dedup(&expr))?))?;
    ensure(copy == text, "the text of an equal program", &expr)
}
