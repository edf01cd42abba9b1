//! Capture-avoiding substitution of variables.

use hashbrown::HashSet;

use super::bound::{Bound, Dependence, Meaning, Place};
use super::map::cyclic;
use super::options::{WalkOptions, WalkOrder, WalkResult};
use super::parts::{ChildOptions, Children, children_of};
use super::walk::walk_objects;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::build;
use crate::kernel::object::class::Class;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::path::AccessPath;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

/// Replaces the free occurrences of variables in a value, all at once.
///
/// Each pair is a variable, an object of kind [`var`](Kind::Var) that is found
/// by identity, and what comes in its place. Replacements are not searched for
/// variables in turn. Where no variable occurs free, the result is the same
/// object, the root included; sharing is kept.
///
/// * **Bound occurrences stay.** What binds is what binds in comparison: a
///   variable in a definition field, from the place where the visit meets it
///   to the end of the innermost scope around that field. In an IR of
///   statements, where the binder is no scope, that is the end of the scope
///   around the statements, or of the whole value. A definition is never
///   replaced itself, and an occurrence that the visit meets before it is
///   free. A variable in the fields of one that is bound, such as a size in
///   its type, is bound with it, unless it was used before and no scope is
///   around the definition: then comparison knows it already.
/// * **No capture.** Where a binder binds a variable that occurs in a
///   replacement, and something is replaced in reach of the binding, the
///   binder gets a copy of its variable, and so do the occurrences that it
///   binds.
/// * **Fields of variables.** A bound variable in whose own fields something
///   is replaced (its type, its shape) becomes a new variable, wherever it is
///   bound. A free variable keeps its identity, and its fields are not
///   searched: it belongs to whoever binds it. The same holds for variables
///   found in the fields that comparison ignores, which are taken over.
/// * Keys of maps are replaced as well. Custom comparison plays no part.
///
/// Depth is limited by memory only. Linear in the number of distinct objects
/// as long as each variable is bound once; a shared object that occurs under
/// several bindings of a variable concerned is visited for each of them.
///
/// # Errors
///
/// `TypeError` when what is to be replaced is no variable, is given twice, or
/// a replacement does not fit its field; `ValueError` for a cyclic value or
/// two keys of a map that become one.
///
/// ```
/// use isoform::{Array, Node, Obj, Ref, Str, Value, structural_equal, substitute};
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
/// let result = substitute(&constant, &[(y.into(), x.clone().into())])?;
/// assert!(structural_equal(&result, Fun::new(&z, Value::from(&x)))?);
/// assert!(!structural_equal(&result, Fun::new(&x, Value::from(&x)))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn substitute(root: &Value, pairs: &[(Value, Value)]) -> Result<Value> {
    run(root, pairs, pairs_of(pairs)?)
}

/// As [`substitute`], and the fields of free variables are searched, too.
/// Variables of which it is known that they are `used` before they are met in
/// the fields of one that is bound, are uses there.
///
/// A free variable in whose fields something is replaced becomes a new one, the
/// same wherever it is free, and so do the variables in replacements.
/// Replacements bind nothing. Where a replacement leads back to itself by the
/// fields of its variables, it is taken as it is.
///
/// # Errors
///
/// As [`substitute`].
pub(crate) fn substitute_in_free(
    root: &Value,
    pairs: &[(Value, Value)],
    used: impl Iterator<Item = u64>,
) -> Result<Value> {
    let mut bound = pairs_of(pairs)?;
    bound.search_free(used);
    run(root, pairs, bound)
}

/// The pairs as bindings.
fn pairs_of(pairs: &[(Value, Value)]) -> Result<Bound> {
    let mut bound = Bound::default();
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

fn run(root: &Value, pairs: &[(Value, Value)], bound: Bound) -> Result<Value> {
    let mut substitution = Substitution {
        bound,
        avoid: variables_of(pairs.iter().map(|(_, replacement)| replacement))?,
        stack: Vec::new(),
        changes: Vec::new(),
        open: HashSet::default(),
        searched: HashSet::default(),
        replacements: 0,
    };
    access::traversing(|section| substitution.run(section, root))
}

fn is_var(info: &TypeInfo) -> bool {
    info.kind == Kind::Var && !info.is_builtin()
}

/// The variables that occur in values, free or not: renaming a binder without
/// need does no harm.
fn variables_of<'a>(values: impl Iterator<Item = &'a Value>) -> Result<HashSet<u64>> {
    let mut found = HashSet::new();
    for value in values {
        walk_objects(value, WalkOptions::default(), |object, _| {
            if is_var(object.type_info()) {
                found.insert(object.identity());
            }
            Ok(WalkResult::<()>::Advance)
        })?;
    }
    Ok(found)
}

/// A value some of whose children are still to be visited.
struct Frame {
    children: Children,
    next: usize,
    pending: Value,
    place: Place,
    first_change: usize,
    /// What the surroundings depend on, put aside.
    outer: Dependence,
    /// The object for which the result may be remembered.
    remembered: Option<u64>,
    role: Role,
    /// The variable of the substitution that the result comes in place of.
    settles: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Plain,
    /// Bindings end with it.
    Scope,
    /// A variable that is bound when its own fields are done.
    Definition,
    /// A free variable.
    Free,
}

struct Substitution {
    bound: Bound,
    /// Variables that no binder may capture.
    avoid: HashSet<u64>,
    stack: Vec<Frame>,
    changes: Vec<(usize, Value)>,
    /// Objects on the stack that may be met again, each with the number of
    /// replacements that were being searched.
    open: HashSet<(u64, usize), rapidhash::fast::RandomState>,
    /// Objects in the fields of variables that were used free.
    searched: HashSet<u64, rapidhash::fast::RandomState>,
    /// How many replacements are being searched.
    replacements: usize,
}

impl Substitution {
    fn run(&mut self, section: &mut Section, root: &Value) -> Result<Value> {
        self.bound.open_scope();
        let mut finished = self.meet(section, root.clone(), Place::ROOT)?;
        let mut poll = Poll::default();
        let result = loop {
            poll.step(section)?;
            let Some(frame) = self.stack.last_mut() else {
                break finished.unwrap_or_default();
            };
            if let Some(result) = finished.take()
                && result != frame.pending
            {
                self.changes.push((frame.next - 1, result));
            }
            finished = match frame.children.get(frame.next, frame.place.region) {
                Some(child) => {
                    frame.next += 1;
                    frame.pending = child.value.clone();
                    let opens = frame.children.opens_region(frame.next - 1);
                    let place = self.bound.place_of(frame.place, child.region, opens);
                    self.meet(section, child.value, place)?
                }
                None => Some(self.close(section)?),
            };
        };
        // Binders that were renamed for nothing are left as they were.
        let keep = self.bound.close_scope();
        Ok(if keep { result } else { root.clone() })
    }

    /// The result for a value, or None when it was put on the stack.
    fn meet(&mut self, section: &mut Section, value: Value, place: Place) -> Result<Option<Value>> {
        let Some(object) = value.as_object() else {
            return Ok(Some(value));
        };
        let info = object.type_info();
        let searched = matches!(
            info.class(),
            Class::Plain | Class::Node | Class::Array | Class::List | Class::Map | Class::Dict
        );
        if !searched {
            return Ok(Some(value));
        }
        let ident = object.identity();
        let mut role = if info.scope { Role::Scope } else { Role::Plain };
        let mut inside = place;
        if is_var(info) {
            if self.bound.is_free_use(ident, place) && self.bound.note_use(ident) {
                self.note_uses_in(section, &value)?;
            }
            match self.bound.look_up(ident, place, &value) {
                Meaning::Image(image) => return Ok(Some(image)),
                Meaning::Unsettled(replacement) => return self.search(section, ident, replacement),
                Meaning::Binder => (role, inside) = (Role::Definition, place.inside()),
                Meaning::Free => (role, inside) = (Role::Free, Place::IN_FREE),
            }
        }
        if role == Role::Free {
            // Where its own fields lead back to it, it is taken as it is.
            self.bound.settle_free(ident, value.clone());
        }
        // As in `structural_map`: `value` and `pending` own it, too.
        let may_return = self.stack.is_empty() || object.owners() > 3;
        if may_return {
            if matches!(role, Role::Plain | Role::Scope)
                && let Some(result) = self.bound.remembered(ident, place)
            {
                return Ok(Some(result));
            }
            if !self.open.insert((ident, self.replacements)) {
                return Err(cyclic(&value).at(path_of(&self.stack)));
            }
        }
        let outer = self.bound.begin();
        if role == Role::Scope {
            self.bound.open_scope();
        }
        self.stack.push(Frame {
            children: children_of(&value, ChildOptions::default()),
            next: 0,
            pending: Value::NONE,
            place: inside,
            first_change: self.changes.len(),
            outer,
            remembered: may_return.then_some(ident),
            role,
            settles: None,
        });
        Ok(None)
    }

    /// Searches what comes in the place of a variable for others, in whose
    /// fields something may be replaced.
    fn search(
        &mut self,
        section: &mut Section,
        var: u64,
        replacement: Value,
    ) -> Result<Option<Value>> {
        self.bound.settle(var, replacement.clone());
        self.replacements += 1;
        let searched = self.meet(section, replacement, Place::IN_REPLACEMENT)?;
        match (&searched, self.stack.last_mut()) {
            (None, Some(frame)) => frame.settles = Some(var),
            (found, _) => {
                self.replacements -= 1;
                if let Some(image) = found {
                    self.bound.settle(var, image.clone());
                }
            }
        }
        Ok(searched)
    }

    /// What stands in the fields of a variable that is used, is used.
    fn note_uses_in(&mut self, section: &mut Section, var: &Value) -> Result<()> {
        let is_bare = |info: &TypeInfo| info.visited.is_empty();
        if var.as_object().is_none_or(|var| is_bare(var.type_info())) {
            return Ok(());
        }
        let options = WalkOptions::default().order(WalkOrder::Pre);
        let (bound, searched) = (&mut self.bound, &mut self.searched);
        // A walk is a traversal of its own.
        access::outside(section, || {
            walk_objects(var, options, |object, _| {
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

    /// Leaves the value on top of the stack.
    fn close(&mut self, section: &mut Section) -> Result<Value> {
        let Some(frame) = self.stack.pop() else {
            return Ok(Value::NONE);
        };
        let settles = frame.settles;
        let result = self.close_frame(section, frame)?;
        if let Some(var) = settles {
            self.replacements -= 1;
            self.bound.settle(var, result.clone());
        }
        Ok(result)
    }

    fn close_frame(&mut self, section: &mut Section, frame: Frame) -> Result<Value> {
        let source = frame.children.source();
        let keep = frame.role != Role::Scope || self.bound.close_scope();
        let changes = self.changes.drain(frame.first_change..);
        let result = if keep {
            let changes = changes.collect();
            let replaced = frame.children.replace_in(section, changes);
            replaced.map_err(|error| error.at(path_of(&self.stack)))?
        } else {
            drop(changes);
            source.clone()
        };
        if let Some(ident) = frame.remembered {
            self.open.remove(&(ident, self.replacements));
        }
        if matches!(frame.role, Role::Definition | Role::Free) {
            let image = match frame.role {
                Role::Free => self.settle_free(source, result),
                _ => self.define(source, result, frame.place),
            };
            self.bound.end(frame.outer);
            return Ok(image);
        }
        if let Some(ident) = frame.remembered {
            self.bound.remember(ident, frame.place, &result);
        }
        self.bound.end(frame.outer);
        Ok(result)
    }

    /// Remembers what stands for a free variable.
    fn settle_free(&mut self, var: &Value, rebuilt: Value) -> Value {
        if let Some(object) = var.as_object() {
            self.bound.settle_free(object.identity(), rebuilt.clone());
        }
        rebuilt
    }

    /// Binds a variable and gives what stands for it.
    fn define(&mut self, var: &Value, rebuilt: Value, place: Place) -> Value {
        let Some(object) = var.as_object() else {
            return rebuilt;
        };
        let ident = object.identity();
        let image = if rebuilt == *var && self.avoid.contains(&ident) {
            Value::from(build::shallow_copy(object))
        } else {
            rebuilt
        };
        self.bound.bind(ident, place, image.clone(), image != *var);
        image
    }
}

fn path_of(ancestors: &[Frame]) -> AccessPath {
    let step = |frame: &Frame| frame.children.step(frame.next.checked_sub(1)?);
    AccessPath::from_steps(ancestors.iter().filter_map(step).collect())
}
