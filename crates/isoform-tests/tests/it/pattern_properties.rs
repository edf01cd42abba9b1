//! Laws of patterns, on random templates.

use isoform::compare::CompareOptions;
use isoform::pattern::{Hole, Pattern, Rule};
use isoform::traverse::{WalkResult, structural_map, structural_walk};
use isoform::types::{Kind, RegionKind};
use isoform::{Value, structural_equal};
use isoform_testing::family::{Family, Role};
use isoform_testing::generate::Generator;
use isoform_testing::properties::{Pair, Property};
use isoform_testing::source::Source;

use isoform_testing::properties::check_named;

const PROPERTIES: &[(&str, Property)] = &[
    ("templates_without_holes_match_what_is_equal", without_holes),
    ("an_instance_of_a_template_matches", instances),
];

#[test]
fn templates_without_holes_match_what_is_equal() {
    check_named(PROPERTIES, "templates_without_holes_match_what_is_equal");
}

#[test]
fn an_instance_of_a_template_matches() {
    check_named(PROPERTIES, "an_instance_of_a_template_matches");
}

fn told(error: isoform::Error) -> String {
    error.to_string()
}

fn without_holes(bytes: &[u8]) -> Result<(), String> {
    for family in Family::both().map_err(told)? {
        let pair = Pair::draw(&family, bytes, false).map_err(told)?;
        let options = CompareOptions {
            skip_tensor_content: false,
            ..pair.options
        };
        let pattern = Pattern::new(&pair.left, [] as [Hole; 0]).map_err(told)?;
        let pattern = pattern.map_free_vars(options.map_free_vars);
        let found = pattern.match_value(&pair.right).map_err(told)?.is_some();
        let explained = pattern.explain(&pair.right).map_err(told)?.is_none();
        let equal = options.equal(&pair.left, &pair.right).map_err(told)?;
        if found != equal || explained != equal {
            return Err(format!("{found} {explained} {equal}: {pair:?}"));
        }
    }
    Ok(())
}

/// The identities of the variables below a value, itself left out.
fn variables_below(value: &Value) -> isoform::Result<Vec<u64>> {
    let mut found = Vec::new();
    isoform::traverse::walk_objects(value, |object, _| {
        let itself = value.as_object().is_some_and(|top| top.same_as(object));
        if object.type_info().kind() == Kind::Var && !itself {
            found.push(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// The free variables of a value that may be holes and be substituted: in no
/// definition field, in no key, and in no field of another variable.
fn candidates(template: &Value) -> Result<Vec<Value>, String> {
    let (mut used, mut others) = (Vec::<Value>::new(), Vec::new());
    structural_walk(template, |visit| {
        let value = visit.value();
        let is_var = |value: &Value| {
            let object = value.as_object();
            object.is_some_and(|object| object.type_info().kind() == Kind::Var)
        };
        if is_var(&value) {
            others.extend(variables_below(&value)?);
        }
        let children = isoform::traverse::children_of(&value);
        for child in children.iter(visit.region()) {
            if child.is_key {
                others.extend(variables_below(&Value::from(vec![child.value.clone()]))?);
            }
            let Some(object) = child.value.as_object().filter(|_| is_var(&child.value)) else {
                continue;
            };
            match child.region {
                RegionKind::Use => used.push(child.value),
                _ => others.push(object.identity()),
            }
        }
        Ok(WalkResult::<()>::Advance)
    })
    .map_err(told)?;
    let identity = |value: &Value| value.as_object().map_or(0, isoform::Ref::identity);
    used.sort_by_key(identity);
    used.dedup_by_key(|value| identity(value));
    used.retain(|value| !others.contains(&identity(value)));
    Ok(used)
}

fn instances(bytes: &[u8]) -> Result<(), String> {
    let family = Family::native().map_err(told)?;
    let mut source = Source::new(bytes);
    let mut generator = Generator::new(&family, &mut source);
    let template = generator.value().map_err(told)?;
    let mut holes = candidates(&template)?;
    holes.truncate(3);
    // The new parts share no objects with the template, which excludes capture.
    let mut pairs = Vec::new();
    for (position, hole) in holes.iter().enumerate() {
        let number = Value::from(position as i64);
        let values = vec![Value::NONE, number, "a part".into()];
        let part = Value::from(family.make(Role::Add, values).map_err(told)?);
        pairs.push((hole.clone(), part));
    }
    let instance = structural_map(&template, |visit| {
        let is_it = |pair: &&(Value, Value)| pair.0 == visit.value();
        Ok(pairs.iter().find(is_it).map(|pair| pair.1.clone()))
    })
    .map_err(told)?;
    let pattern = Pattern::new(&template, holes.iter().cloned()).map_err(told)?;
    let replacement = Value::from(holes.clone());
    let rule = Rule::new(pattern.clone(), &replacement).map_err(told)?;
    for pattern in [pattern.clone(), pattern.map_free_vars(false)] {
        let Some(pattern_match) = pattern.match_value(&instance).map_err(told)? else {
            let why = pattern.explain(&instance).map_err(told)?;
            return Err(format!(
                "no match of {template:?} with {instance:?}: {why:?}"
            ));
        };
        for (hole, part) in &pairs {
            if pattern_match.get(hole) != Some(part) {
                let got = pattern_match.get(hole);
                return Err(format!("{hole:?} is {got:?} in {template:?}"));
            }
        }
    }
    let parts = Value::from(pairs.into_iter().map(|pair| pair.1).collect::<Vec<_>>());
    let result = rule.apply(&instance).map_err(told)?;
    match result {
        Some(result) if structural_equal(&result, &parts).map_err(told)? => Ok(()),
        result => Err(format!("the rule made {result:?} of {instance:?}")),
    }
}
