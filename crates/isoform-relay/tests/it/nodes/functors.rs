//! Functors, visitors and mutators over the classes of expressions.

use isoform::traverse::{Before, NodeFunctor, NodeMutator, NodeVisitor, WalkResult};
use isoform::{Node, Ref};
use isoform_ir::ir::{Constructor, GlobalTypeVar, GlobalVar, Op};
use isoform_relay::{
    AsExpr, Call, Clause, Constant, Function, If, Let, Match, PatternWildcard, RefCreate, RefRead,
    RefWrite, Tuple, TupleGetItem, Var,
};

use crate::support::*;

/// One expression of each class.
fn one_of_each() -> Vec<(&'static str, Expr)> {
    let x = Var::new("x");
    let list = GlobalTypeVar::new("List");
    vec![
        ("Constant", int(1)),
        ("Tuple", Tuple::new([int(1)]).expr()),
        ("Var", x.expr()),
        ("GlobalVar", GlobalVar::new("f").expr()),
        ("Function", Function::new([x.clone()], &x).expr()),
        ("Call", Call::new(op("relay_test.plain"), []).expr()),
        ("Let", Let::new(&x, int(1), &x).expr()),
        ("If", If::new(&x, int(1), int(2)).expr()),
        ("Op", op("relay_test.plain").expr()),
        ("TupleGetItem", TupleGetItem::new(&x, 0).expr()),
        ("RefCreate", RefCreate::new(&x).expr()),
        ("RefRead", RefRead::new(&x).expr()),
        ("RefWrite", RefWrite::new(&x, int(1)).expr()),
        ("Constructor", Constructor::new("Nil", [], &list).expr()),
        (
            "Match",
            Match::new(&x, [Clause::new(PatternWildcard::new(), int(1))]).expr(),
        ),
    ]
}

type Names<'f> = NodeFunctor<'f, u32, &'static str>;

/// Adds a function for `T` that returns `name` and never requests the results of operands, so no
/// operand is computed.
fn named<'f, T: Node>(functor: Names<'f>, name: &'static str) -> Names<'f> {
    functor.before(|_, _: &Ref<T>| Ok(Before::OnRequest)).on(
        move |calls: &mut u32, _: &Ref<T>, _| {
            *calls += 1;
            Ok(name)
        },
    )
}

#[test]
fn each_class_has_its_function() {
    let functor = named::<Constant>(NodeFunctor::new(), "Constant");
    let functor = named::<Tuple>(functor, "Tuple");
    let functor = named::<Var>(functor, "Var");
    let functor = named::<GlobalVar>(functor, "GlobalVar");
    let functor = named::<Function>(functor, "Function");
    let functor = named::<isoform_relay::Call>(functor, "Call");
    let functor = named::<Let>(functor, "Let");
    let functor = named::<If>(functor, "If");
    let functor = named::<Op>(functor, "Op");
    let functor = named::<TupleGetItem>(functor, "TupleGetItem");
    let functor = named::<RefCreate>(functor, "RefCreate");
    let functor = named::<RefRead>(functor, "RefRead");
    let functor = named::<RefWrite>(functor, "RefWrite");
    let functor = named::<Constructor>(functor, "Constructor");
    let functor = named::<Match>(functor, "Match");
    let mut calls = 0;
    for (name, expr) in one_of_each() {
        let class = functor.compute(&mut calls, &expr).expect("a function");
        assert_eq!(class, name);
    }
    assert_eq!(calls, 15);
}

#[test]
fn a_class_without_function_is_an_error_that_names_it() {
    let functor = named::<Constant>(NodeFunctor::new(), "Constant");
    for (name, expr) in one_of_each() {
        let found = functor.compute(&mut 0, &expr);
        match name {
            "Constant" => assert_eq!(found.expect("a function"), "Constant"),
            _ => {
                let message = found.expect_err("no function").message().to_owned();
                assert!(message.contains(expr.type_info().key()), "{message}");
            }
        }
    }
}

#[test]
fn there_is_no_memory_between_computations() {
    let functor = named::<Constant>(NodeFunctor::new(), "Constant");
    let (one, mut calls) = (int(1), 0);
    for _ in 0..3 {
        functor.compute(&mut calls, &one).expect("a function");
    }
    assert_eq!(calls, 3);
}

#[test]
fn shared_expressions_are_visited_once() {
    let mut shared = int(1);
    for _ in 0..100 {
        shared = Tuple::new([shared.clone(), shared]).expr();
    }
    let visitor = NodeVisitor::new()
        .enter(|seen: &mut [u32; 2], _: &Ref<Tuple>| {
            seen[0] += 1;
            Ok(WalkResult::Advance)
        })
        .enter(|seen, _: &Ref<Constant>| {
            seen[1] += 1;
            Ok(WalkResult::Advance)
        });
    let mut seen = [0, 0];
    visitor.visit(&mut seen, &shared).expect("a visit");
    assert_eq!(seen, [100, 1]);
}

#[test]
fn what_does_not_change_is_the_same_object() {
    let mutator = NodeMutator::new().on(|changes: &mut u32, constant: &Ref<Constant>| {
        Ok((*changes > 0).then(|| {
            *changes -= 1;
            constant.with_data(constant.data.clone()).into()
        }))
    });
    for (name, expr) in one_of_each() {
        let kept = mutator.mutate(&mut 0, &expr).expect("a rewrite");
        let kept: Expr = kept.extract().expect("an expression");
        assert!(kept.same_as(&expr), "{name}");
    }
    // Only the nodes above a change are made again.
    let kept = Tuple::new([Var::new("x").expr()]).expr();
    let pair = Tuple::new([kept.clone(), Tuple::new([int(1)]).expr()]).expr();
    let made = mutator.mutate(&mut 1, &pair).expect("a rewrite");
    let made: Ref<Tuple> = made.extract().expect("a tuple");
    assert!(!made.same_as(&pair));
    assert!(made.fields.get(0).is_some_and(|field| field.same_as(&kept)));
}

#[test]
fn open_terms_are_compared_with_their_free_variables_mapped() {
    let [x, y, z] = ["x", "y", "z"].map(Var::new);
    let pair = |left: &Ref<Var>, right: &Ref<Var>| Tuple::new([left.expr(), right.expr()]);
    compare_open(pair(&x, &y), pair(&y, &z), true);
    compare_open(pair(&x, &x), pair(&y, &z), false);
    compare_open(pair(&x, &y), pair(&z, &z), false);
    compare_open(
        Function::new([x.clone()], pair(&x, &y)),
        Function::new([z.clone()], pair(&z, &x)),
        true,
    );
}
