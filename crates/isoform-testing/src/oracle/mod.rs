//! The slow oracle: structural comparison written for readability.
//!
//! The oracle is slow and shares no code with the engine. A comparison is a recursive
//! function from an immutable list of bindings to either a longer list (equal) or the
//! place of the first mismatch; to roll back bindings, it continues with the old list.
//! There is no memo, and only two shortcuts, both part of the meaning: the same
//! singleton and the same const-tree are equal without a visit.
//!
//! [`canonical`] is a second opinion by another method: it renames the bound variables
//! of one value and prints the result in plain text.
//!
//! No other part of the library recurses over user data; the oracle fails with a
//! `RecursionError` beyond [`DEPTH_LIMIT`] nested values.
//!
//! The order of visit comes from the declarations, not from the tables of the engines.

mod canonical;
mod order;
pub(super) mod plain;

pub use canonical::canonical;
pub(super) use order::visited;

use std::cmp::Ordering;

use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::hooks::EqualCallback;
use isoform::objects::field_value_at;
use isoform::paths::{AccessPath, AccessStep};
use isoform::types::{FieldFlag, Kind, RegionChange};
use isoform::values::ValueRef;
use isoform::{Error, Map, Obj, Ref, Result, Value};

/// The maximum nesting of values.
pub const DEPTH_LIMIT: usize = 200;

/// The places of a mismatch, on the left and on the right.
pub type PathPair = (AccessPath, AccessPath);

/// Returns whether two values are equal, by the rules.
///
/// # Errors
///
/// Like the engine, and `RecursionError` beyond [`DEPTH_LIMIT`].
pub fn equal(left: &Value, right: &Value, options: CompareOptions) -> Result<bool> {
    Ok(first_mismatch(left, right, options)?.is_none())
}

/// Returns the places of the first mismatch of two values; None if they are equal.
///
/// Below an object with an equality hook, the place is the object itself: only the hook
/// knows which of its comparisons mattered.
///
/// # Errors
///
/// As [`equal`].
pub fn first_mismatch(
    left: &Value,
    right: &Value,
    options: CompareOptions,
) -> Result<Option<PathPair>> {
    let region = Region::outermost(options);
    let spot = PairContext {
        options,
        left_path: AccessPath::root(),
        right_path: AccessPath::root(),
        region,
        level: 0,
        open: Vec::new(),
    };
    Ok(compare(left, right, &spot, &Bindings::default())?.err())
}

/// True if a pair of paths can be a mismatch of two values: both can be followed, and a
/// step reported as missing is missing on that side.
pub fn mismatch_holds(left: &Value, right: &Value, paths: &PathPair) -> bool {
    let (left_there, right_there) = (resolves(left, &paths.0), resolves(right, &paths.1));
    matches!(
        (left_there, right_there),
        (Some(true), Some(_)) | (Some(_), Some(true))
    )
}

/// `Some(true)` for a path to a value, `Some(false)` for a path to a place correctly
/// reported as missing, None for a wrong path.
fn resolves(root: &Value, path: &AccessPath) -> Option<bool> {
    let present = match path.steps().last() {
        Some(AccessStep::AttrMissing(name)) => AccessStep::Attr(name.clone()),
        Some(AccessStep::ArrayItemMissing(index)) => AccessStep::ArrayItem(*index),
        Some(AccessStep::MapItemMissing(key)) => AccessStep::MapItem(key.clone()),
        _ => return path.get(root).is_ok().then_some(true),
    };
    let parent = path.parent()?;
    let parent_there = parent.get(root).is_ok();
    let element_there = parent.join(present).get(root).is_ok();
    (parent_there && !element_there).then_some(false)
}

/// A region where variables may be bound; a definition region knows the scope level at
/// which it was opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    Use,
    Def(usize),
    DefSimple(usize),
}

impl Region {
    /// The region in which a comparison starts.
    pub(super) fn outermost(options: CompareOptions) -> Region {
        if options.map_free_vars {
            Region::Def(0)
        } else {
            Region::Use
        }
    }

    /// The region of a part that is entered at a scope level. `outermost` is the
    /// starting region of the comparison.
    pub(super) fn change(self, change: RegionChange, level: usize, outermost: Region) -> Region {
        match change {
            RegionChange::Inherit => self,
            RegionChange::Def => Region::Def(level),
            RegionChange::DefSimple => Region::DefSimple(level),
            RegionChange::Use => outermost,
        }
    }

    /// The level at which this region binds a variable; None in a use region.
    pub(super) fn binds_at(self) -> Option<usize> {
        match self {
            Region::Use => None,
            Region::Def(level) | Region::DefSimple(level) => Some(level),
        }
    }

    /// The region of the fields of a variable at this place.
    pub(super) fn inside_var(self) -> Region {
        match self {
            Region::DefSimple(_) => Region::Use,
            other => other,
        }
    }
}

/// The region change of a field's flag.
pub(super) fn change_of(flag: FieldFlag) -> RegionChange {
    match flag {
        FieldFlag::Def => RegionChange::Def,
        FieldFlag::DefSimple => RegionChange::DefSimple,
        FieldFlag::Use => RegionChange::Use,
        FieldFlag::None | FieldFlag::Ignore => RegionChange::Inherit,
    }
}

/// One pair of the binding map.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Binding {
    left: u64,
    right: u64,
    /// The scope level that ends the binding; zero for never.
    level: usize,
    number: u64,
}

/// The bindings in force, oldest first.
#[derive(Clone, Default)]
struct Bindings {
    list: Vec<Binding>,
    made: u64,
}

impl Bindings {
    /// The newest binding of a left object.
    fn of_left(&self, object: u64) -> Option<Binding> {
        self.list
            .iter()
            .rev()
            .find(|binding| binding.left == object)
            .copied()
    }

    /// The newest binding of a right object.
    fn of_right(&self, object: u64) -> Option<Binding> {
        self.list
            .iter()
            .rev()
            .find(|binding| binding.right == object)
            .copied()
    }

    /// The same bindings and one more.
    fn with(&self, left: u64, right: u64, level: usize) -> Bindings {
        let mut next = self.clone();
        next.list.push(Binding {
            left,
            right,
            level,
            number: self.made,
        });
        next.made += 1;
        next
    }

    /// The bindings that outlive a scope.
    fn without_level(&self, level: usize) -> Bindings {
        let survives = |binding: &&Binding| binding.level != level;
        Bindings {
            list: self.list.iter().filter(survives).copied().collect(),
            made: self.made,
        }
    }
}

/// The state of the current pair, without the bindings.
#[derive(Clone)]
struct PairContext {
    options: CompareOptions,
    left_path: AccessPath,
    right_path: AccessPath,
    region: Region,
    /// The number of scope objects around this pair.
    level: usize,
    /// The lists and dicts under comparison, left and right.
    open: Vec<(u64, u64)>,
}

impl PairContext {
    fn step(&self, left: AccessStep, right: AccessStep) -> PairContext {
        PairContext {
            left_path: self.left_path.join(left),
            right_path: self.right_path.join(right),
            ..self.clone()
        }
    }

    fn in_region(&self, region: Region) -> PairContext {
        PairContext {
            region,
            ..self.clone()
        }
    }

    fn mismatch(&self) -> Result<Verdict> {
        Ok(Err((self.left_path.clone(), self.right_path.clone())))
    }

    fn missing(&self, left: AccessStep, right: AccessStep) -> Result<Verdict> {
        self.step(left, right).mismatch()
    }

    fn holds_if(&self, equal: bool, bindings: &Bindings) -> Result<Verdict> {
        if equal {
            Ok(Ok(bindings.clone()))
        } else {
            self.mismatch()
        }
    }
}

/// The bindings after an equal pair, or where it is not equal.
type Verdict = std::result::Result<Bindings, PathPair>;

/// The reason why a value can never be compared; None if comparison is possible.
fn incomparable(value: &Value) -> Option<String> {
    match value.view() {
        ValueRef::Function(_) => Some("functions cannot be compared".to_string()),
        ValueRef::Object(object) => {
            let info = object.type_info();
            (info.is_builtin() || info.kind() == Kind::None)
                .then(|| format!("type {} cannot be compared", value.type_name()))
        }
        _ => None,
    }
}

fn compare(
    left: &Value,
    right: &Value,
    spot: &PairContext,
    bindings: &Bindings,
) -> Result<Verdict> {
    if spot.left_path.depth() > DEPTH_LIMIT {
        return Err(Error::new(
            ErrorKind::Recursion,
            "too deep for the slow oracle",
        ));
    }
    for (value, path) in [(left, &spot.left_path), (right, &spot.right_path)] {
        if let Some(reason) = incomparable(value) {
            return Err(Error::type_error(reason).at(path.clone()));
        }
    }
    match (left.view(), right.view()) {
        (ValueRef::Array(l), ValueRef::Array(r)) => items(l.values(), r.values(), spot, bindings),
        (ValueRef::Map(l), ValueRef::Map(r)) => entries(l, r, spot, bindings),
        (ValueRef::List(l), ValueRef::List(r)) => {
            let spot = open_both(left, right, spot)?;
            items(
                l.snapshot().values(),
                r.snapshot().values(),
                &spot,
                bindings,
            )
        }
        (ValueRef::Dict(l), ValueRef::Dict(r)) => {
            let spot = open_both(left, right, spot)?;
            entries(&l.snapshot(), &r.snapshot(), &spot, bindings)
        }
        (ValueRef::Tensor(l), ValueRef::Tensor(r)) => {
            let skip = spot.options.skip_tensor_content;
            spot.holds_if(plain::same_tensor(l, r, skip), bindings)
        }
        (ValueRef::Object(l), ValueRef::Object(r)) => objects(l, r, spot, bindings),
        _ => spot.holds_if(plain::same_plain(left, right), bindings),
    }
}

/// Notes that a list or dict of each side is under comparison.
fn open_both(left: &Value, right: &Value, spot: &PairContext) -> Result<PairContext> {
    let ident = |value: &Value| value.as_object().map_or(0, Ref::identity);
    let (left, right) = (ident(left), ident(right));
    let again = |(l, r): &(u64, u64)| *l == left || *r == right;
    if spot.open.iter().any(again) {
        return Err(Error::value_error("cyclic value").at(spot.left_path.clone()));
    }
    let mut spot = spot.clone();
    spot.open.push((left, right));
    Ok(spot)
}

fn items(
    left: &[Value],
    right: &[Value],
    spot: &PairContext,
    bindings: &Bindings,
) -> Result<Verdict> {
    let mut bindings = bindings.clone();
    for (position, (l, r)) in left.iter().zip(right).enumerate() {
        let step = AccessStep::ArrayItem(position);
        match compare(l, r, &spot.step(step.clone(), step), &bindings)? {
            Ok(next) => bindings = next,
            mismatch => return Ok(mismatch),
        }
    }
    let next = left.len().min(right.len());
    let (there, missing) = (
        AccessStep::ArrayItem(next),
        AccessStep::ArrayItemMissing(next),
    );
    match left.len().cmp(&right.len()) {
        Ordering::Equal => Ok(Ok(bindings)),
        Ordering::Less => spot.missing(missing, there),
        Ordering::Greater => spot.missing(there, missing),
    }
}

/// The position of a key in the canonical order: plain keys by value, bound objects by
/// the number of their binding, the rest by identity.
enum Rank {
    Plain(Value),
    Bound(u64),
    Unbound(u64),
}

impl Rank {
    fn of(key: &Value, binding: impl Fn(u64) -> Option<Binding>) -> Rank {
        match key.as_object() {
            Some(object) if !plain::is_plain(key) => match binding(object.identity()) {
                Some(binding) => Rank::Bound(binding.number),
                None => Rank::Unbound(object.identity()),
            },
            _ => Rank::Plain(key.clone()),
        }
    }

    fn order(&self, other: &Rank) -> Ordering {
        match (self, other) {
            (Rank::Plain(l), Rank::Plain(r)) => plain::order(l, r),
            (Rank::Bound(l), Rank::Bound(r)) | (Rank::Unbound(l), Rank::Unbound(r)) => l.cmp(r),
            (Rank::Plain(_), _) | (Rank::Bound(_), Rank::Unbound(_)) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

/// The entries of a map in the canonical order.
fn ranked(map: &Map, binding: impl Fn(u64) -> Option<Binding> + Copy) -> Vec<(Rank, Value, Value)> {
    let mut list: Vec<_> = map
        .iter()
        .map(|(key, value)| (Rank::of(key, binding), key.clone(), value.clone()))
        .collect();
    list.sort_by(|l, r| l.0.order(&r.0));
    list
}

fn entries(left: &Map, right: &Map, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    let left = ranked(left, |object| bindings.of_left(object));
    let right = ranked(right, |object| bindings.of_right(object));
    // Two keys match exactly if they have the same rank: the same plain
    // value, the same binding, or the same object, bound on neither side.
    let has = |list: &[(Rank, Value, Value)], rank: &Rank| {
        list.iter().any(|(other, ..)| other.order(rank).is_eq())
    };
    if let Some((_, key, _)) = left.iter().find(|(rank, ..)| !has(&right, rank)) {
        return spot.missing(
            AccessStep::MapItem(key.clone()),
            AccessStep::MapItemMissing(key.clone()),
        );
    }
    if let Some((_, key, _)) = right.iter().find(|(rank, ..)| !has(&left, rank)) {
        return spot.missing(
            AccessStep::MapItemMissing(key.clone()),
            AccessStep::MapItem(key.clone()),
        );
    }
    let mut bindings = bindings.clone();
    for ((_, left_key, l), (_, right_key, r)) in left.iter().zip(&right) {
        let spot = spot.step(
            AccessStep::MapItem(left_key.clone()),
            AccessStep::MapItem(right_key.clone()),
        );
        match compare(l, r, &spot, &bindings)? {
            Ok(next) => bindings = next,
            mismatch => return Ok(mismatch),
        }
    }
    Ok(Ok(bindings))
}

fn objects(l: &Ref<Obj>, r: &Ref<Obj>, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    let info = l.type_info();
    if info.index() != r.type_info().index() {
        return spot.mismatch();
    }
    match info.kind() {
        Kind::None | Kind::Singleton => spot.holds_if(l.same_as(r), bindings),
        Kind::ConstTree if l.same_as(r) => Ok(Ok(bindings.clone())),
        Kind::ConstTree | Kind::Tree => scoped(l, r, spot, bindings),
        Kind::Dag => dags(l, r, spot, bindings),
        Kind::Var => vars(l, r, spot, bindings),
    }
}

fn dags(l: &Ref<Obj>, r: &Ref<Obj>, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    let (left, right) = (l.identity(), r.identity());
    let known = (bindings.of_left(left), bindings.of_right(right));
    if known != (None, None) {
        return spot.holds_if(known.0 == known.1, bindings);
    }
    let verdict = scoped(l, r, spot, bindings)?;
    Ok(verdict.map(|after| after.with(left, right, 0)))
}

fn vars(l: &Ref<Obj>, r: &Ref<Obj>, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    let (left, right) = (l.identity(), r.identity());
    let binders = (bindings.of_left(left), bindings.of_right(right));
    let newest = binders
        .0
        .iter()
        .chain(&binders.1)
        .map(|binder| binder.level)
        .max();
    let is_use = match (newest, spot.region.binds_at()) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(bound), Some(region)) => bound >= region,
    };
    if is_use {
        return spot.holds_if(binders.0 == binders.1, bindings);
    }
    let inside = spot.in_region(spot.region.inside_var());
    let after = match fields(l, r, &inside, bindings)? {
        Ok(after) => after,
        mismatch => return Ok(mismatch),
    };
    match spot.region.binds_at() {
        Some(level) => Ok(Ok(after.with(left, right, level))),
        None if l.same_as(r) => Ok(Ok(after.with(left, right, 0))),
        None => spot.mismatch(),
    }
}

/// The fields of two objects, in a new scope if the type is one.
fn scoped(l: &Ref<Obj>, r: &Ref<Obj>, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    if !l.type_info().is_scope() {
        return fields(l, r, spot, bindings);
    }
    let mut inside = spot.clone();
    inside.level += 1;
    let verdict = fields(l, r, &inside, bindings)?;
    Ok(verdict.map(|after| after.without_level(inside.level)))
}

fn fields(l: &Ref<Obj>, r: &Ref<Obj>, spot: &PairContext, bindings: &Bindings) -> Result<Verdict> {
    let info = l.type_info();
    match isoform::host::structural_hooks(info) {
        (Some(hook), _) => {
            let mut callback = Callback {
                spot,
                bindings: bindings.clone(),
            };
            return if hook.call(l, r, &mut callback)? {
                Ok(Ok(callback.bindings))
            } else {
                spot.mismatch()
            };
        }
        (None, Some(_)) => {
            let message = format!("type {} has a hash hook but no equality hook", info.key());
            return Err(Error::type_error(message).at(spot.left_path.clone()));
        }
        (None, None) => {}
    }
    let mut bindings = bindings.clone();
    for position in visited(info) {
        let field = &info.fields()[position];
        let (Some(left), Some(right)) = (field_value_at(l, position), field_value_at(r, position))
        else {
            return spot.mismatch();
        };
        let region = spot.region.change(
            change_of(field.field_flag()),
            spot.level,
            Region::outermost(spot.options),
        );
        let step = AccessStep::Attr(field.name().to_string());
        let inside = spot.step(step.clone(), step).in_region(region);
        match compare(&left, &right, &inside, &bindings)? {
            Ok(next) => bindings = next,
            mismatch => return Ok(mismatch),
        }
    }
    Ok(Ok(bindings))
}

/// The callback of a hook: a comparison with the result false restores the bindings
/// from before it.
struct Callback<'a> {
    spot: &'a PairContext,
    bindings: Bindings,
}

impl EqualCallback for Callback<'_> {
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool> {
        let step = AccessStep::Attr(name.to_string());
        let region = self.spot.region.change(
            region,
            self.spot.level,
            Region::outermost(self.spot.options),
        );
        let inside = self.spot.step(step.clone(), step).in_region(region);
        match compare(left, right, &inside, &self.bindings)? {
            Ok(after) => {
                self.bindings = after;
                Ok(true)
            }
            Err(_) => Ok(false),
        }
    }

    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool> {
        let before = self.bindings.clone();
        let holds = alternative(self)?;
        if !holds {
            self.bindings = before;
        }
        Ok(holds)
    }
}
