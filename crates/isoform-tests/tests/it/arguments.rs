//! Functions on values take a node, a container, a plain value or a value, owned or borrowed.

use isoform::compare::{
    DiffOptions, diff, recursive_cmp, recursive_eq, recursive_hash, subterm_classes,
};
use isoform::files::{JsonOptions, from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::objects::{ReprOptions, repr, verify};
use isoform::paths::AccessPath;
use isoform::pattern::{GreedyOptions, Pattern, RewriteOptions, Rule, rewrite, rewrite_greedily};
use isoform::text::{MismatchOptions, TextOptions, from_text, render_mismatch, to_text};
use isoform::traverse::{
    ChildOptions, Uses, WalkResult, check_well_formed, children_of, deep_copy, free_variables,
    fresh_binders, replace_all_uses, substitute,
};
use isoform::types::Schema;
use isoform::values::{Bytes, Dict, List, Shape};
use isoform::{
    Array, Map, Ref, Result, Str, Value, assert_structural_eq, explain_mismatch, structural_equal,
};

use crate::support::{Expr, Lambda, Var, add, int, var};

/// The identity function with a variable, and its variable.
fn identity() -> (Ref<Lambda>, Ref<Var>) {
    let x = var("x");
    (Lambda::new(&x, vec![x.clone()]), x)
}

#[test]
fn texts_and_files_take_borrowed_nodes() -> Result<()> {
    let (node, _) = identity();
    let text = to_text(&node)?;
    assert_structural_eq!(from_text(&text)?, &node);
    assert_eq!(TextOptions::default().to_text(&node)?, text);
    assert_eq!(TextOptions::default().to_pieces(&node)?.text, text);
    assert_structural_eq!(from_bytes(&to_bytes(&node)?)?, &node);
    let json = to_json_graph(&node)?;
    assert_structural_eq!(from_json_graph(&json)?, &node);
    assert_eq!(JsonOptions::default().to_json_graph(&node)?, json);
    let mut written = Vec::new();
    JsonOptions::default().write(&node, &mut written)?;
    assert_eq!(written, json.as_bytes());
    assert_eq!(ReprOptions::default().repr(&node, &())?, repr(&node));
    Ok(())
}

#[test]
fn traversals_take_borrowed_nodes() -> Result<()> {
    let (node, x) = identity();
    let y = var("y");
    assert_eq!(
        children_of(&node).len(),
        ChildOptions::default().children_of(&node).len()
    );
    assert_structural_eq!(deep_copy(&node)?, &node);
    assert_structural_eq!(fresh_binders(&node)?, &node);
    assert_eq!(free_variables(&x)?.len(), 1);
    assert_eq!(check_well_formed(&node)?.len(), 0);
    assert_eq!(substitute(&x, &[(&x, &y)])?, Value::from(&y));
    assert_eq!(substitute(&x, &[(x.clone(), 5)])?, Value::from(5));
    let sum = add(&x, &x);
    assert_structural_eq!(replace_all_uses(&sum, &x, &y)?, add(&y, &y));
    let uses = Uses::of(&sum)?;
    assert_structural_eq!(uses.replace_all(&x, &y)?, add(&y, &y));
    assert_eq!(uses.use_count(&x), uses.users(&x).count());
    assert!(!uses.has_one_use(&x) && uses.definition(&x).is_none());
    assert_eq!(uses.path(&sum), Some(AccessPath::root()));
    assert_eq!(AccessPath::root().attr("lhs").get(&sum)?, Value::from(&x));
    assert!(verify(&node, &())?.is_empty());
    assert!(Schema::Any.check(&node).is_ok());
    Ok(())
}

#[test]
fn plain_values_of_every_size_are_values() {
    let five = Value::from(5);
    for int in [
        5_i8.into(),
        5_i16.into(),
        5_u8.into(),
        5_u16.into(),
        5_u64.into(),
    ] {
        assert_eq!(five, int);
    }
    assert_eq!(Value::from(0.5_f32), Value::from(0.5));
    assert_eq!(Value::from(&"text".to_owned()), Value::from("text"));
}

#[test]
fn comparisons_take_borrowed_nodes() -> Result<()> {
    let (node, x) = identity();
    let other = Lambda::new(int(1), vec![var("x")]);
    assert!(recursive_eq(&x, &x)? && recursive_cmp(&x, &x)?.is_eq());
    assert_eq!(recursive_hash(&x)?, recursive_hash(&x)?);
    assert!(subterm_classes(&node)?.class_of(&node).is_some());
    let mismatch = explain_mismatch(&node, &other)?.expect("they differ");
    let text = render_mismatch(&node, &other, &mismatch);
    assert_eq!(
        MismatchOptions::default().render(&node, &other, &mismatch),
        text
    );
    let [left, _] = MismatchOptions::default().sides(&node, &other, &mismatch);
    assert!(text.contains(&left[0]));
    let difference = diff(&node, &other)?;
    assert_structural_eq!(difference.apply(&node)?, &other);
    assert_structural_eq!(difference.patch().apply(&node)?, &other);
    assert!(DiffOptions::default().diff(&node, &node)?.is_empty());
    Ok(())
}

#[test]
fn patterns_take_borrowed_nodes() -> Result<()> {
    // Comparison of these variables counts the name.
    let (a, b, zero) = (var("a"), var("a"), int(0));
    let pattern = Pattern::new(add(&a, &zero), [&a])?;
    let sum = add(&b, int(0));
    let found = pattern.match_value(&sum)?.expect("it matches");
    assert_eq!(found.get(&a), Some(&Value::from(&b)));
    assert_eq!(found.instantiate(&a)?, Some(Value::from(&b)));
    assert!(pattern.match_in(&sum, &Uses::of(&sum)?)?.is_some());
    assert!(pattern.explain(&sum)?.is_none());
    assert_eq!(pattern.find_all(&sum)?.len(), 1);
    let first = pattern.for_each_match(&sum, |_, _| Ok(WalkResult::Interrupt(())))?;
    assert_eq!(first, Some(()));
    let rules = [Rule::new(pattern, &a)?];
    assert_eq!(rules[0].apply(&sum)?, Some(Value::from(&b)));
    for done in [
        rewrite(&sum, &rules)?,
        RewriteOptions::default().rewrite(&sum, &rules)?,
        rewrite_greedily(&sum, &rules)?,
        GreedyOptions::default().rewrite_greedily(&sum, &rules)?,
    ] {
        assert_eq!(done.value, Value::from(&b));
    }
    Ok(())
}

#[test]
fn entries_are_found_by_what_converts_to_the_key() -> Result<()> {
    let (x, y) = (var("x"), var("y"));
    let mut map: Map<Value, i64> = [(Value::from(&x), 1), ("name".into(), 2)]
        .into_iter()
        .collect();
    assert_eq!(
        (map.get(&x), map.get("name"), map.get(&y)),
        (Some(&1), Some(&2), None)
    );
    assert!(map.contains_key(&x) && map.try_contains_key("name")? && map.try_get(7)?.is_none());
    let dict: Dict<Value, i64> = [(Value::from(&x), 1), ("name".into(), 2)]
        .into_iter()
        .collect();
    assert_eq!(
        (dict.get(&x), dict.get("name"), dict.get(&y)),
        (Some(1), Some(2), None)
    );
    assert!(dict.contains_key(&x) && dict.try_contains_key("name")? && dict.try_get(7)?.is_none());
    assert_eq!(map.remove("name"), Some(2.into()));
    assert_eq!(map.try_remove(&x)?, Some(1.into()));
    assert_eq!(dict.remove("name"), Some(2.into()));
    assert_eq!(dict.remove_entry(&x), Some((Value::from(&x), 1.into())));
    assert_eq!(dict.try_remove_entry(&x)?, None);
    Ok(())
}

/// Values in every form are the same text.
#[test]
fn every_form_of_an_argument_is_the_same_value() -> Result<()> {
    #[track_caller]
    fn check<T: Into<Value>>(owned: T, value: &Value) {
        let owned = owned.into();
        assert!(structural_equal(&owned, value).expect("comparable"));
        assert_eq!(to_text(value).expect("text"), to_text(owned).expect("text"));
    }
    let sum: Ref<Expr> = add(int(1), int(2));
    check(&sum, &sum.clone().into());
    let items = Array::from([1i64]);
    check(&items, &items.clone().into());
    let list = List::from(vec![1i64]);
    check(&list, &list.clone().into());
    let map: Map<Str, i64> = [(Str::from("a"), 1)].into_iter().collect();
    check(&map, &map.clone().into());
    let dict: Dict<Str, i64> = [(Str::from("a"), 1)].into_iter().collect();
    check(&dict, &dict.clone().into());
    let shape = Shape::from(vec![1, 2]);
    check(&shape, &shape.clone().into());
    let bytes = Bytes::from(vec![1, 2]);
    check(&bytes, &bytes.clone().into());
    let name = Str::from("a");
    check(&name, &name.clone().into());
    check([1, 2], &Value::from([1, 2]));
    check(Some("a"), &"a".into());
    Ok(())
}
