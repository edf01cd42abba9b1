//! Properties of the classes of subterms: two subterms have one class if and only if
//! comparison finds them equal. Every pair of subterms of a value is compared.

use std::collections::HashMap;

use super::family::{Family, Role};
use super::generate::children;
use super::holders::holders;
use super::oracle;
use super::pair::{Pair, family_of, setup};
use super::properties::Property;
use super::source::{Source, random_bytes, split_mix};
use super::tangle::tangle;
use super::transform::unshare;
use isoform::compare::{ClassOptions, CompareOptions, SubtermClasses, duplicates, intern};
use isoform::errors::ErrorKind;
use isoform::objects::construct;
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Dict, List, ValueRef};
use isoform::{Map, Obj, Ref, Result, Value};

/// The properties of subterm classes.
pub const CLASS_PROPERTIES: &[(&str, Property)] = &[
    ("classes_are_those_of_comparison", |bytes| {
        judge_bytes(bytes).map(drop)
    }),
    ("classes_of_programs_are_those_of_comparison", |bytes| {
        judge_program(bytes).map(drop)
    }),
    ("interned_values_are_equal", interned_values_are_equal),
    ("duplicates_are_equal", duplicates_are_equal),
];

/// The maximal number of subterms of a value to compare pairwise.
const SUBTERMS: usize = 48;

/// The slow oracle also judges one pair in this many.
const ORACLE_EVERY: usize = 7;

/// Counts of what was judged.
#[derive(Clone, Copy, Default, Debug)]
pub struct VerdictCounts {
    /// The pairs that were compared.
    pub pairs: u64,
    /// The pairs of equal values.
    pub equal: u64,
    /// The number of pairs in which comparison decided a class.
    pub compared: u64,
}

impl VerdictCounts {
    /// Adds the counts of another value.
    pub fn add(&mut self, other: VerdictCounts) {
        self.pairs += other.pairs;
        self.equal += other.equal;
        self.compared += other.compared;
    }
}

/// Judges the classes of a value drawn from bytes.
///
/// # Errors
///
/// An account of the first pair with wrong classes.
pub fn judge_bytes(bytes: &[u8]) -> Result<VerdictCounts, String> {
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let family = family_of(bytes)?;
    let shape = source.below(10);
    let mut rest = Vec::new();
    while !source.is_empty() {
        rest.push(source.byte());
    }
    let (left, right) = match shape {
        0..=2 => tangle(&family, &mut Source::new(&rest), false).map_err(setup)?,
        3..=5 => holders(&family, &mut Source::new(&rest)).map_err(setup)?,
        _ => {
            let pair = Pair::draw(&family, &rest, rest.len() % 5 == 1).map_err(setup)?;
            (pair.left, pair.right)
        }
    };
    judge(&Value::from(vec![left, right]), options, Some(&family))
}

/// Judges the classes of a program of one of the dialects.
///
/// # Errors
///
/// As [`judge_bytes`].
pub fn judge_program(bytes: &[u8]) -> Result<VerdictCounts, String> {
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let size = 10 + source.below(40);
    let mut seed = source.byte().into();
    let mut draw = || program(split_mix(&mut seed), size);
    let value = Value::from(vec![draw()?, draw()?]);
    judge(&value, options, None)
}

pub(super) fn program(seed: u64, size: usize) -> Result<Value, String> {
    Ok(match seed % 4 {
        0 => super::ir::random_module(seed, size).map_err(setup)?.into(),
        1 => super::pto::random_program(seed, size)
            .map_err(setup)?
            .into(),
        2 => super::relay::random_expr(seed, size).into(),
        _ => {
            let mut bytes = random_bytes(seed, 6 * size);
            bytes.push(0);
            let family = Family::native().map_err(setup)?;
            Pair::draw(&family, &bytes, false).map_err(setup)?.left
        }
    })
}

fn draw_options(source: &mut Source<'_>) -> ClassOptions {
    ClassOptions {
        map_free_vars: source.chance(40),
        sharing: source.chance(50),
        mutable_by_identity: source.chance(50),
    }
}

/// Judges the classes of all subterms of a value. Without a family, dag nodes and mutable
/// objects are always compared as comparison does.
///
/// # Errors
///
/// As [`judge_bytes`].
pub fn judge(
    value: &Value,
    mut options: ClassOptions,
    family: Option<&Family>,
) -> Result<VerdictCounts, String> {
    if family.is_none() {
        (options.sharing, options.mutable_by_identity) = (true, false);
    }
    let classes = match options.classes(value) {
        Ok(classes) => classes,
        // Contents that contain themselves.
        Err(error) if error.kind() == ErrorKind::Value && !options.mutable_by_identity => {
            return Ok(VerdictCounts::default());
        }
        Err(error) => return Err(format!("{error}\n  in {value:?}\n  with {options:?}")),
    };
    let terms = subterms(value);
    let mut judge = Judge::new(options, family, classes);
    let mut twins = Vec::new();
    for object in &terms {
        if judge.classes.class_of(object).is_none() {
            return Err(format!("{object:?} has no class\n  in {value:?}"));
        }
        twins.push(judge.twin(object).map_err(setup)?);
    }
    let mut judged = VerdictCounts::default();
    for left in 0..terms.len() {
        for right in 0..left {
            let pair = [&terms[left], &terms[right]];
            judged.pairs += 1;
            judge
                .pair(pair, [&twins[left], &twins[right]], &mut judged)
                .map_err(|what| {
                    let [left, right] = pair;
                    format!("{what}\n  left  = {left:?}\n  right = {right:?}\n  in {value:?}\n  with {options:?}")
                })?;
        }
    }
    Ok(judged)
}

struct Judge<'f> {
    options: ClassOptions,
    classes: SubtermClasses,
    family: Option<&'f Family>,
    twins: HashMap<u64, Value>,
    compared: usize,
}

impl<'f> Judge<'f> {
    fn new(options: ClassOptions, family: Option<&'f Family>, classes: SubtermClasses) -> Self {
        Judge {
            options,
            classes,
            family,
            twins: HashMap::new(),
            compared: 0,
        }
    }

    fn pair(
        &mut self,
        objects: [&Value; 2],
        twins: [&Value; 2],
        judged: &mut VerdictCounts,
    ) -> Result<(), String> {
        let numbers = objects.map(|object| self.classes.class_of(object));
        let same = numbers[0] == numbers[1];
        let options = CompareOptions {
            map_free_vars: self.options.map_free_vars,
            ..CompareOptions::default()
        };
        let expected = match options.equal(twins[0], twins[1]) {
            Ok(equal) => equal,
            Err(error) if error.kind() == ErrorKind::Type => false,
            Err(_) => return Ok(()),
        };
        self.compared += 1;
        if self.compared.is_multiple_of(ORACLE_EVERY)
            && let Ok(judge) = oracle::equal(twins[0], twins[1], options)
            && judge != expected
        {
            return Err(format!("comparison says {expected}, the oracle {judge}"));
        }
        judged.equal += u64::from(expected);
        let is_decided = |number| self.classes.is_decided_by_comparison(number);
        let by_comparison = numbers.into_iter().flatten().any(is_decided);
        judged.compared += u64::from(by_comparison);
        if same == expected {
            return Ok(());
        }
        if by_comparison {
            // Comparison respects sharing, and sees mutable contents.
            let exact = options.equal(objects[0], objects[1]).unwrap_or(false);
            let changes = self.options.mutable_by_identity && !same;
            if changes || (!self.options.sharing && same == exact) {
                return Ok(());
            }
        }
        Err(format!(
            "the classes say {same}, comparison {expected}; decided by comparison: {by_comparison}"
        ))
    }

    /// The value for comparison to see in place of `value`: dag nodes become trees, and
    /// mutable objects become singletons.
    fn twin(&mut self, value: &Value) -> Result<Value> {
        let Some(object) = value.as_object() else {
            return Ok(value.clone());
        };
        let Some(family) = self.family else {
            return Ok(value.clone());
        };
        if self.options.sharing && !self.options.mutable_by_identity {
            return Ok(value.clone());
        }
        if let Some(known) = self.twins.get(&object.identity()) {
            return Ok(known.clone());
        }
        let made = self.new_twin(family, value, object)?;
        self.twins.insert(object.identity(), made.clone());
        Ok(made)
    }

    fn new_twin(&mut self, family: &Family, value: &Value, object: &Ref<Obj>) -> Result<Value> {
        let by_contents = !self.options.mutable_by_identity;
        let entries = |judge: &mut Self, map: &Map| -> Result<Vec<(Value, Value)>> {
            map.iter()
                .map(|(key, value)| Ok((judge.twin(key)?, judge.twin(value)?)))
                .collect()
        };
        match value.view() {
            ValueRef::Array(_) => Ok(self.twins_of(&children(value))?.into()),
            ValueRef::List(_) if by_contents => {
                Ok(List::from(self.twins_of(&children(value))?).into())
            }
            ValueRef::Map(map) => Ok(Value::from(
                entries(self, map)?.into_iter().collect::<Map>(),
            )),
            ValueRef::Dict(dict) if by_contents => Ok(Value::from(
                entries(self, &dict.snapshot())?
                    .into_iter()
                    .collect::<Dict>(),
            )),
            ValueRef::List(_) | ValueRef::Dict(_) => singleton(family),
            ValueRef::Object(object) if !object.type_info().is_builtin() => {
                self.twin_of_node(family, object)
            }
            _ => Ok(Value::from(object.clone())),
        }
    }

    fn twin_of_node(&mut self, family: &Family, object: &Ref<Obj>) -> Result<Value> {
        let info = object.type_info();
        let ty = info.index();
        let role = |role: Role| family.type_of(role) == ty;
        if matches!(info.kind(), Kind::Singleton | Kind::None) {
            return Ok(object.clone().into());
        }
        let parts = children(&Value::from(object.clone()));
        if self.options.mutable_by_identity && info.is_mutable() {
            if info.kind() != Kind::Var {
                return singleton(family);
            }
            let mut fields = parts;
            fields[2] = singleton(family)?;
            return Ok(construct(ty, fields)?.into());
        }
        let mut fields = Vec::new();
        for (field, part) in info.fields().iter().zip(&parts) {
            fields.push(match field.field_flag() {
                FieldFlag::Ignore => part.clone(),
                _ => self.twin(part)?,
            });
        }
        let ty = match self.options.sharing {
            false if role(Role::Shared) => tree_twin(family, Role::Shared)?,
            false if role(Role::SharedLambda) => tree_twin(family, Role::SharedLambda)?,
            _ => ty,
        };
        Ok(construct(ty, fields)?.into())
    }

    fn twins_of(&mut self, values: &[Value]) -> Result<Vec<Value>> {
        values.iter().map(|value| self.twin(value)).collect()
    }
}

/// A value equal to no other value.
fn singleton(family: &Family) -> Result<Value> {
    Ok(family.make(Role::Op, vec!["opaque".into()])?.into())
}

/// The type with the fields of a dag type of the family, as a tree.
fn tree_twin(family: &Family, role: Role) -> Result<TypeIndex> {
    let native = Family::native()?;
    let prefix = if native.type_of(role) == family.type_of(role) {
        "testing.classes"
    } else {
        "testing.classes.dyn"
    };
    let any = |name: &str| FieldDef::new(name, Schema::Any);
    register_type(match role {
        Role::Shared => TypeDef::new(&format!("{prefix}.Shared"))
            .parent(family.type_of(Role::Expr))
            .field(any("lhs"))
            .field(any("rhs")),
        _ => TypeDef::new(&format!("{prefix}.SharedLambda"))
            .scope(true)
            .field(any("params").flag(FieldFlag::Def))
            .field(any("body")),
    })
}

/// The first objects that comparison visits below a value, keys of maps included.
fn subterms(value: &Value) -> Vec<Value> {
    let mut terms: Vec<Value> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut queue = std::collections::VecDeque::from([value.clone()]);
    while let Some(value) = queue.pop_front() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if !seen.insert(object.identity()) {
            continue;
        }
        let key = |map: &Map| map.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
        match value.view() {
            ValueRef::Map(map) => queue.extend(object_keys(key(map))),
            ValueRef::Dict(dict) => queue.extend(object_keys(key(&dict.snapshot()))),
            _ => {}
        }
        match value.view() {
            ValueRef::Object(object) if !object.type_info().is_builtin() => {
                let info = object.type_info();
                if info.kind() != Kind::Singleton {
                    let parts = children(&value).into_iter().zip(info.fields());
                    let compared =
                        parts.filter(|(_, field)| field.field_flag() != FieldFlag::Ignore);
                    queue.extend(compared.map(|(part, _)| part));
                }
            }
            _ => queue.extend(children(&value)),
        }
        terms.push(value);
        if terms.len() >= SUBTERMS {
            break;
        }
    }
    terms
}

/// Keys that are compared as objects.
fn object_keys(keys: Vec<Value>) -> impl Iterator<Item = Value> {
    keys.into_iter().filter(|key| match key.view() {
        ValueRef::Object(object) => !object.type_info().is_builtin(),
        ValueRef::Array(_) | ValueRef::List(_) | ValueRef::Map(_) | ValueRef::Dict(_) => true,
        _ => false,
    })
}

/// True if a copy of a value, part by part, would not end.
fn is_cyclic(value: &Value) -> bool {
    let copy = unshare(value, CompareOptions::default());
    copy.is_err_and(|error| error.message().contains("cyclic"))
}

fn interned_values_are_equal(bytes: &[u8]) -> Result<(), String> {
    let family = family_of(bytes)?;
    let pair = Pair::draw(&family, bytes, bytes.len() % 5 == 1).map_err(setup)?;
    let value = Value::from(vec![pair.left, pair.right]);
    let account = |what: String| format!("{what}\n  in {value:?}");
    let interned = match intern(&value) {
        Ok(interned) => interned,
        // Contents that contain themselves.
        Err(error) if error.kind() == ErrorKind::Value && is_cyclic(&value) => return Ok(()),
        Err(error) => return Err(account(format!("intern: {error}"))),
    };
    for map_free_vars in [false, true] {
        let options = CompareOptions {
            map_free_vars,
            ..CompareOptions::default()
        };
        match options.equal(&value, &interned) {
            Ok(true) => {}
            // A value incomparable with itself is incomparable here, too.
            Err(error)
                if options.equal(&value, &value).map_err(|e| e.kind()) == Err(error.kind()) => {}
            other => {
                let place = options.first_mismatch(&value, &interned);
                let what = format!("{other:?} at {place:?}; interned: {interned:?}");
                return Err(account(what));
            }
        }
    }
    let again = intern(&interned).map_err(|error| account(format!("intern again: {error}")))?;
    let idents = [&interned, &again].map(|value| value.as_object().map(Ref::identity));
    if idents[0] == idents[1] {
        Ok(())
    } else {
        Err(account(format!(
            "interned twice it differs: {interned:?} and {again:?}"
        )))
    }
}

fn duplicates_are_equal(bytes: &[u8]) -> Result<(), String> {
    let family = family_of(bytes)?;
    let pair = Pair::draw(&family, bytes, false).map_err(setup)?;
    let values = [pair.left, pair.right];
    let groups = duplicates(&values, 2, 2).map_err(setup)?;
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let mut saved = u64::MAX;
    for group in &groups {
        if group.saved > saved || group.members.len() < 2 || group.size < 2 {
            return Err(format!(
                "a group in the wrong place: {group:?}\n  in {values:?}"
            ));
        }
        saved = group.saved;
        for (_, member) in &group.members[1..] {
            if !matches!(options.equal(&group.members[0].1, member), Ok(true)) {
                return Err(format!("different members: {group:?}\n  in {values:?}"));
            }
        }
    }
    Ok(())
}
