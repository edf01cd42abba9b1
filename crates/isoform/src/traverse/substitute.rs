//! Capture-avoiding substitution of variables.
//!
//! Substitution never captures: a capturing binder gets a copy of its variable.

use hashbrown::HashSet;

use super::binders::{Audit, BindingFault, BindingFaultKind, Purpose};
use super::bound::{BindingScopes, Dependence, Meaning, Place};
use super::cursor::{Cursor, Part, View, cyclic};
use super::options::{WalkOptions, WalkOrder, WalkResult};
use super::rewrite::{Outcome, Policy, Progress, Rewriter};
use super::walk::walk_objects;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::Value;

/// Replaces the free occurrences of variables in a value, all at once.
///
/// Each pair is a variable, an object of kind [`var`](Kind::Var) found by identity, and
/// its replacement. Replacements are not searched for the variables in turn. If no
/// variable occurs free, the result is the same object, the root included; sharing is
/// kept.
///
/// * **Bound occurrences stay.** Binders are the same as in comparison: a variable in a
///   definition field is bound from its first visit to the end of the innermost scope
///   around the field. In an IR of statements, with a binder that is not a scope, the
///   binding ends with the scope around the statements, or with the whole value. A
///   definition itself is never replaced, and an occurrence visited before the
///   definition is free. A variable in the fields of a bound variable, such as a size
///   in its type, is bound together with the bound variable, unless it was used before
///   and no scope is around the definition: then comparison already knows it.
/// * **No capture.** If a binder binds a variable that occurs in a replacement, and a
///   variable is replaced in reach of the binding, the binder gets a copy of its
///   variable, and the bound occurrences, too.
/// * **Fields of variables.** A bound variable becomes a new variable, in all its
///   scopes, if a part of its own fields is replaced (its type, its shape). A free
///   variable keeps its identity, and its fields are not searched: a free variable
///   belongs to its binder. The same holds for variables found in the fields ignored by
///   comparison, which are copied unchanged.
/// * Keys of maps are replaced as well. Custom comparison is ignored.
///
/// Depth is limited by memory only. Linear in the number of distinct objects as long as
/// each variable is bound once; a shared object occurring under several bindings of a
/// variable is visited for each binding.
///
/// # Errors
///
/// `TypeError` if the object to replace is not a variable or is given twice, or a
/// replacement does not fit its field; `ValueError` for a cyclic value or two keys of a
/// map that become equal.
///
/// ```
/// use isoform::{Node, Ref, Str, Value, structural_equal};
/// use isoform::traverse::substitute;
/// # #[derive(Node)]
/// # #[node(key = "doc.SubstVar", kind = var)]
/// # #[repr(C)]
/// # pub struct Var {
/// #     #[node(ignore)]
/// #     pub name: Str,
/// # }
/// # #[derive(Node)]
/// # #[node(key = "doc.SubstFun", scope)]
/// # #[repr(C)]
/// # pub struct Fun {
/// #     #[node(def)]
/// #     pub param: Ref<Var>,
/// #     pub body: Value,
/// # }
/// let (x, y, z) = (Var::new("x"), Var::new("y"), Var::new("z"));
/// // In fun x -> y, y becomes x: the x of the function is another one.
/// let constant = Value::from(Fun::new(&x, Value::from(&y)));
/// let result = substitute(&constant, &[(&y, &x)])?;
/// assert!(structural_equal(&result, Fun::new(&z, Value::from(&x)))?);
/// assert!(!structural_equal(&result, Fun::new(&x, Value::from(&x)))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn substitute<K, V>(root: impl Into<Value>, pairs: &[(K, V)]) -> Result<Value>
where
    K: Clone + Into<Value>,
    V: Clone + Into<Value>,
{
    let pair = |(variable, value): &(K, V)| (variable.clone().into(), value.clone().into());
    let pairs: Vec<(Value, Value)> = pairs.iter().map(pair).collect();
    run(&root.into(), &pairs, pairs_of(&pairs)?)
}

/// [`substitute`], also searching the fields of free variables. The variables `used`
/// count as used before their first visit in the fields of a bound variable, hence as
/// uses there.
///
/// A free variable becomes a new variable, the same wherever it is free, if a part of
/// its fields is replaced; likewise the variables in replacements. Replacements bind
/// nothing. If the fields of a replacement's variables lead back to the replacement,
/// the replacement stays unchanged.
///
/// # Errors
///
/// As [`substitute`].
pub fn substitute_in_free(
    root: &Value,
    pairs: &[(Value, Value)],
    used: impl Iterator<Item = u64>,
) -> Result<Value> {
    let mut bound = pairs_of(pairs)?;
    bound.search_free(used);
    run(root, pairs, bound)
}

/// Makes bindings from the pairs.
fn pairs_of(pairs: &[(Value, Value)]) -> Result<BindingScopes> {
    let mut bound = BindingScopes::default();
    for (var, replacement) in pairs {
        let object = var.as_object().filter(|object| is_var(object.type_info()));
        let Some(object) = object else {
            return Err(Error::type_error(format!(
                "substitute: expected a variable, got {}",
                var.type_name()
            )));
        };
        if !bound.replace(object.identity(), replacement.clone()) {
            return Err(Error::type_error(format!(
                "substitute: the variable {var:?} is given twice"
            )));
        }
    }
    Ok(bound)
}

fn run(root: &Value, pairs: &[(Value, Value)], bound: BindingScopes) -> Result<Value> {
    let parts = Arena::default();
    let avoid = variables_of(pairs.iter().map(|(_, replacement)| replacement))?;
    let mut substitution = Substitution::new(bound, avoid, &parts);
    access::traversing(|section| substitution.substitute(section, root))
}

fn is_var(info: &TypeInfo) -> bool {
    info.kind == Kind::Var && !info.is_builtin()
}

/// The variables that occur in values, free or not: renaming a binder without
/// need is harmless.
fn variables_of<'a>(values: impl Iterator<Item = &'a Value>) -> Result<HashSet<u64>> {
    let mut found = HashSet::new();
    for value in values {
        walk_objects(value, |object, _| {
            if is_var(object.type_info()) {
                found.insert(object.identity());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
    }
    Ok(found)
}

/// The state of an open object.
pub(super) struct OpenObject<'a> {
    place: Place,
    /// The object with the definition field around the parts.
    binder: u64,
    /// The dependencies of its surroundings.
    outer: Dependence,
    /// The object whose result may be remembered.
    remembered: Option<u64>,
    role: Role,
    /// The variable of the substitution replaced by the result, and the part where the
    /// variable was found.
    settles: Option<(u64, PartRef<'a>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Bindings end with it.
    Scope,
    /// A variable bound after its own fields.
    Definition,
    /// A free variable.
    Free,
}

pub(super) struct Substitution<'a> {
    pub(super) bound: BindingScopes,
    /// Variables that no binder may capture.
    avoid: HashSet<u64>,
    rewriter: Rewriter<'a, OpenObject<'a>>,
    /// Open objects that may be revisited, each with the number of replacements being
    /// searched at that time.
    open: HashSet<(u64, usize), rapidhash::fast::RandomState>,
    /// Objects in the fields of variables used free.
    searched: HashSet<u64, rapidhash::fast::RandomState>,
    /// The number of replacements being searched.
    replacements: usize,
    /// The variables used free, if wanted.
    pub(super) free: Option<Vec<Ref<Obj>>>,
    pub(super) purpose: Purpose,
    pub(super) audit: Audit,
}

impl<'a> Policy<'a> for Substitution<'a> {
    type Extra = OpenObject<'a>;

    #[inline(always)]
    fn rewriter(&mut self) -> &mut Rewriter<'a, OpenObject<'a>> {
        &mut self.rewriter
    }

    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        let opens = self.rewriter.cursors.last().is_some_and(|cursor| {
            let slot = cursor.slot(cursor.position() - 1);
            slot.is_some_and(|slot| matches!(slot.flag, FieldFlag::Def | FieldFlag::DefSimple))
        });
        let holder = self.rewriter.cursors.last().map(|it| it.object().ident());
        let (place, binder) = match self.rewriter.extra() {
            Some(around) => {
                let place = self.bound.place_of(around.place, part.region, opens);
                (place, if opens { holder } else { Some(around.binder) })
            }
            None => (Place::ROOT, None),
        };
        let result = self.meet_at(section, part, place, binder.unwrap_or_default())?;
        Ok(self.rewriter.settle(result))
    }

    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let role = self.rewriter.extra().map(|open| open.role);
        let keep = role != Some(Role::Scope) || self.bound.close_scope();
        let keep = keep || self.purpose == Purpose::Fresh;
        let Some((cursor, open, outcome)) = self.rewriter.build(section, keep)? else {
            return Ok(Progress::Same);
        };
        let object = cursor.object();
        if let Some(ident) = open.remembered {
            self.open.remove(&(ident, self.replacements));
        }
        let outcome = match open.role {
            Role::Definition => self.define(object, outcome, open.place),
            Role::Free => {
                let image = outcome.clone().into_value(PartRef::Object(object));
                self.bound.settle_free(object.ident(), image);
                outcome
            }
            Role::Plain | Role::Scope => {
                if let Some(ident) = open.remembered {
                    self.bound.remember(ident, open.place, &outcome);
                }
                outcome
            }
        };
        self.bound.end(open.outer);
        let Some((var, was)) = open.settles else {
            return Ok(self.rewriter.settle(Some(outcome)));
        };
        self.replacements -= 1;
        let image = outcome.into_value(PartRef::Object(object));
        self.bound.settle(var, image.clone());
        Ok(self.rewriter.settle(Some(Outcome::of(image, was))))
    }
}

impl<'a> Substitution<'a> {
    pub(super) fn new(bound: BindingScopes, avoid: HashSet<u64>, parts: &'a Arena) -> Self {
        Substitution {
            bound,
            avoid,
            rewriter: Rewriter::new(parts),
            open: HashSet::default(),
            searched: HashSet::default(),
            replacements: 0,
            free: None,
            purpose: Purpose::Replace,
            audit: Audit::default(),
        }
    }

    pub(super) fn substitute(&mut self, section: &mut Section, root: &'a Value) -> Result<Value> {
        self.bound.open_scope();
        let result = self.run(section, Part::alone(root, RegionKind::Use))?;
        // Binders renamed without need are left unchanged.
        let keep = self.bound.close_scope() || self.purpose == Purpose::Fresh;
        Ok(match result {
            Outcome::New(value) if keep => value,
            _ => root.clone(),
        })
    }

    /// The result for a part at a place, or None for an opened part.
    fn meet_at(
        &mut self,
        section: &mut Section,
        part: Part<'a>,
        place: Place,
        binder: u64,
    ) -> Result<Option<Outcome>> {
        let PartRef::Object(object) = part.met else {
            return Ok(Some(Outcome::Same));
        };
        let info = object.info();
        if !info.class().has_parts() {
            return Ok(Some(Outcome::Same));
        }
        let ident = object.ident();
        let mut role = if info.scope { Role::Scope } else { Role::Plain };
        let mut inside = place;
        if is_var(info) {
            if self.bound.is_free_use(ident, place) && self.bound.note_use(ident) {
                match &mut self.free {
                    Some(variables) => variables.push(object.to_ref()),
                    None => self.note_uses_in(section, object)?,
                }
            }
            let meaning = self.bound.look_up(ident, place, part.met);
            if self.purpose == Purpose::Audit && !place.is_implicit() {
                let kind = match (place.region, &meaning) {
                    (_, Meaning::Binder) => self.audit.note_binding(ident, binder, &self.bound),
                    (RegionKind::Use, _) if self.bound.is_free_use(ident, place) => {
                        self.audit.note_free_use(ident)
                    }
                    (RegionKind::Use, _) => None,
                    _ => Some(BindingFaultKind::BoundTwice),
                };
                if let Some(kind) = kind {
                    let (path, var) = (self.rewriter.path(), object.to_ref());
                    self.audit.faults.push(BindingFault { path, var, kind });
                }
            }
            match meaning {
                Meaning::Is(image) => return Ok(Some(image)),
                Meaning::Unsettled(replacement) => {
                    return self.search(section, ident, &replacement, part.met);
                }
                Meaning::Binder => (role, inside) = (Role::Definition, place.inside()),
                Meaning::Free => (role, inside) = (Role::Free, Place::IN_FREE),
            }
        }
        if role == Role::Free {
            // A cycle through the fields of the variable meets the variable unchanged.
            self.bound.settle_free(ident, part.met.to_value());
        }
        let remembered = object.is_shared().then_some(ident);
        if remembered.is_some() {
            if matches!(role, Role::Plain | Role::Scope)
                && let Some(result) = self.bound.remembered(ident, place)
            {
                return Ok(Some(result));
            }
            if !self.open.insert((ident, self.replacements)) {
                return Err(cyclic(object).at(self.rewriter.path()));
            }
        }
        let part = Part {
            region: inside.region,
            ..part
        };
        let Some(cursor) = Cursor::open(section, object, part, View::Compared) else {
            return Ok(Some(Outcome::Same));
        };
        let outer = self.bound.begin();
        if role == Role::Scope {
            self.bound.open_scope();
        }
        prefetch_ahead(object);
        let open = OpenObject {
            place: inside,
            binder,
            outer,
            remembered,
            role,
            settles: None,
        };
        self.rewriter.push(cursor, open);
        Ok(None)
    }

    /// Searches the replacement of a variable for other variables, with fields that may
    /// contain a replacement.
    fn search(
        &mut self,
        section: &mut Section,
        var: u64,
        replacement: &Value,
        was: PartRef<'a>,
    ) -> Result<Option<Outcome>> {
        self.bound.settle(var, replacement.clone());
        self.replacements += 1;
        let replacement = self.rewriter.parts.keep_value(replacement);
        let part = Part::alone(replacement, RegionKind::Use);
        let outcome = self.meet_at(section, part, Place::IN_REPLACEMENT, 0)?;
        match outcome {
            None => {
                if let Some(open) = self.rewriter.extra() {
                    open.settles = Some((var, was));
                }
                Ok(None)
            }
            Some(outcome) => {
                self.replacements -= 1;
                let image = outcome.into_value(part.met);
                self.bound.settle(var, image.clone());
                Ok(Some(Outcome::of(image, was)))
            }
        }
    }

    /// Records the variables in the fields of a used variable as used.
    fn note_uses_in(&mut self, section: &mut Section, var: ObjRef<'a>) -> Result<()> {
        if var.info().visited.is_empty() {
            return Ok(());
        }
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let (bound, searched) = (&mut self.bound, &mut self.searched);
        // A walk is a separate traversal.
        access::outside(section, || {
            options.walk_objects(var.to_ref(), |object, _| {
                if !searched.insert(object.identity()) {
                    return Ok(WalkResult::<()>::Skip);
                }
                if is_var(object.type_info()) {
                    bound.note_use(object.identity());
                }
                Ok(WalkResult::Advance)
            })
        })?;
        Ok(())
    }

    /// Binds a variable and returns its replacement.
    fn define(&mut self, var: ObjRef<'a>, rebuilt: Outcome, place: Place) -> Outcome {
        let ident = var.ident();
        let image = match rebuilt {
            Outcome::Same if self.purpose == Purpose::Fresh || self.avoid.contains(&ident) => {
                Outcome::New(build::shallow_copy(var.as_ref()).into())
            }
            rebuilt => rebuilt,
        };
        let changed = matches!(image, Outcome::New(_));
        let value = image.clone().into_value(PartRef::Object(var));
        self.bound.bind(ident, place, value, changed);
        image
    }
}
