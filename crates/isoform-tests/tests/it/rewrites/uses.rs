//! Uses of values, definitions of variables, and replacement of all uses.

use isoform::errors::ErrorKind;
use isoform::traverse::{Uses, replace_all_uses};
use isoform::{Array, Map, Ref, Result, Value, structural_equal};

use super::support::{
    Assign, Block, Expr, Lambda, Var, add, assert_same, assign, block, call, int, scaled, sub, var,
};

fn places(uses: &Uses, of: impl Into<Value>) -> Vec<String> {
    let of = of.into();
    let mut places: Vec<String> = uses
        .users(&of)
        .map(|user| user.path().to_string())
        .collect();
    places.sort();
    places
}

#[test]
fn every_place_counts_once() -> Result<()> {
    let (a, shared) = (var("a"), add(int(1), int(2)));
    let root: Value = call(
        "f",
        [(&shared).into(), (&shared).into(), add(&a, &a).into()],
    )
    .into();
    let uses = Uses::of(&root)?;
    assert_eq!(places(&uses, &shared), ["<root>.args[0]", "<root>.args[1]"]);
    assert_eq!(
        places(&uses, &a),
        ["<root>.args[2].lhs", "<root>.args[2].rhs"]
    );
    assert_eq!((uses.use_count(&a), uses.use_count(&root)), (2, 0));
    assert!(!uses.has_one_use(&shared));
    let owner = uses.users(&shared).next().map(|user| user.owner().clone());
    assert!(owner.is_some_and(|owner| owner.extract::<Array>().is_ok()));
    assert_eq!(uses.use_count(var("other")), 0);
    assert_eq!(
        uses.path(&a).map(|path| path.to_string()).as_deref(),
        Some("<root>.args[2].lhs")
    );
    Ok(())
}

#[test]
fn keys_and_definitions_are_told_from_uses() -> Result<()> {
    let x = var("x");
    let map: Map = [(Value::from(&x), Value::from(&x))].into_iter().collect();
    let body = call("f", [map.into()]);
    let root: Value = Lambda::new([x.clone()], &body).into();
    let uses = Uses::of(&root)?;
    // The parameter itself is not a use.
    assert_eq!(uses.use_count(&x), 2);
    assert!(uses.definition(&x).is_none(), "no value is bound");
    Ok(())
}

#[test]
fn the_definition_of_a_variable_is_known() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let sum = add(int(1), int(2));
    let once = block(vec![assign(&x, &sum), assign(&y, int(3))], &x);
    let uses = Uses::of(&once)?;
    let found = uses.definition(&x).expect("bound once");
    assert_eq!((found.value, found.index), (Value::from(&sum), None));
    assert!(found.binding.extract::<Ref<Assign>>().is_ok());
    let twice = block(vec![assign(&x, &sum), assign(&x, int(3))], &x);
    assert!(Uses::of(&twice)?.definition(&x).is_none());
    Ok(())
}

#[test]
fn all_uses_are_replaced_and_everything_else_is_kept() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let kept = add(int(1), int(2));
    let root = block(
        vec![assign(&x, &kept), assign(&y, add(&x, &x))],
        sub(&x, &kept),
    );
    let uses = Uses::of(&root)?;
    let new = uses.replace_all(&x, int(7))?;
    assert_same(
        &new,
        block(
            vec![assign(&x, &kept), assign(&y, add(int(7), int(7)))],
            sub(int(7), &kept),
        ),
    );
    let block: Ref<Block> = new.extract()?;
    let before: Ref<Block> = root.extract()?;
    assert_eq!(block.stmts.values()[0], before.stmts.values()[0]);
    // What does not occur changes nothing.
    assert_eq!(uses.replace_all(var("z"), int(7))?, root);
    // Objects are replaced as well, even the root.
    assert_same(uses.replace_all(&root, int(7))?, int(7));
    assert_same(
        replace_all_uses(&root, &kept, int(3))?,
        super::support::block(
            vec![assign(&x, int(3)), assign(&y, add(&x, &x))],
            sub(&x, int(3)),
        ),
    );
    Ok(())
}

#[test]
fn nothing_is_captured() -> Result<()> {
    let (x, y, z) = (var("x"), var("y"), var("z"));
    // `y` is free, so the replacement `x` is not the parameter of the function.
    let root: Value = Lambda::new([x.clone()], add(&x, &y)).into();
    let new = replace_all_uses(&root, &y, &x)?;
    assert_same(new, Lambda::new([z.clone()], add(&z, &x)));

    // y is bound where x is visible.
    let root: Value = Lambda::new(
        [x.clone()],
        Block::new(
            Array::from(vec![assign(&y, add(&x, int(1)))]),
            Value::from(add(&y, &y)),
        )
        .upcast(),
    )
    .into();
    let new = replace_all_uses(&root, &y, &x)?;
    let new: Ref<Lambda> = new.extract()?;
    let body: Ref<Block> = Value::from(&new.body).extract()?;
    assert_same(&body.result, Value::from(add(&x, &x)));
    assert!(new.params.values()[0] == Value::from(&x));

    // x is bound below y only.
    let inner: Ref<Expr> = Lambda::new([x.clone()], add(&x, &y)).upcast();
    let root = block(vec![assign(&y, int(1))], &inner);
    let error = replace_all_uses(&root, &y, &x).expect_err("captured");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(
        error
            .message()
            .contains("which is bound in <root>.result around a use of"),
        "{error}"
    );
    Ok(())
}

#[test]
fn a_bound_variable_with_a_changed_type_becomes_a_new_one() -> Result<()> {
    let (n, m) = (var("n"), var("m"));
    let of = |size: &Ref<Var>| Var::typed("t", size.clone().upcast());
    let t = of(&n);
    let root = block(vec![assign(&t, int(1))], add(&t, &t));
    let new = replace_all_uses(&root, &n, &m)?;
    let u = of(&m);
    assert_same(new, block(vec![assign(&u, int(1))], add(&u, &u)));
    // A free variable keeps its fields.
    let free: Value = add(&t, &n).into();
    let new = replace_all_uses(&free, &n, &m)?;
    assert!(structural_equal(new, add(&t, &m))?);
    Ok(())
}

impl Var {
    fn typed(name: &str, ty: Ref<Expr>) -> Ref<Var> {
        Var::new(name).with_ty(ty)
    }
}

#[test]
fn deep_chains_need_no_stack() -> Result<()> {
    let (x, length) = (var("x"), scaled(1_000_000));
    let deep = |leaf: Ref<Expr>| (0..length).fold(leaf, |inner, _| add(inner, int(1)));
    let root: Value = deep(x.clone().upcast()).into();
    let uses = Uses::of(&root)?;
    assert!(uses.has_one_use(&x));
    let new = uses.replace_all(&x, int(7))?;
    assert_same(new, deep(int(7)));
    Ok(())
}

/// Objects apart from the uses and their surroundings keep their identity, and the work does
/// not grow with them.
#[test]
fn replacing_visits_only_what_is_around_uses() -> Result<()> {
    let made = |width: usize| -> Result<u64> {
        let x = var("x");
        let wide = (0..width).fold(int(0), |inner, _| add(inner, int(1)));
        let root: Value = sub(add(&x, int(2)), wide).into();
        let uses = Uses::of(&root)?;
        let first = int(7);
        let new = uses.replace_all(&x, first)?;
        assert_same(uses.root().clone(), &root);
        // Identity numbers are consecutive, so the numbers count new objects.
        let made = new.as_object().map_or(0, |object| object.identity());
        Ok(int(0).identity() - made)
    };
    assert_eq!(made(10)?, made(10_000)?);
    Ok(())
}

#[test]
fn what_contains_itself_is_an_error() {
    let list = isoform::values::List::<Value>::new();
    list.push(Value::from(list.clone()))
        .expect("a list takes anything");
    let error = Uses::of(Value::from(list.clone())).expect_err("a cycle");
    assert!(error.message().contains("cyclic value"), "{error}");
    list.clear();
}
