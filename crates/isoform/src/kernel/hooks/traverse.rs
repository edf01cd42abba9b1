//! Hooks of walks and rewrites: which parts of an object are met, in which
//! order, and what the object becomes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Arguments, hook};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::lend::{Lent, lend_mutate, lend_visit, not_lent};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::Hook;
use crate::kernel::types::RegionKind;
use crate::kernel::value::{Value, ValueRef};

/// Whether any type has a hook for walks or rewrites.
static HOOKED: AtomicBool = AtomicBool::new(false);

/// Tells that a type has such a hook from now on.
pub(crate) fn note_traversal_hooks() {
    HOOKED.store(true, Relaxed);
}

/// Whether a traversal that begins now may meet such types.
pub(crate) fn has_traversal_hooks() -> bool {
    HOOKED.load(Relaxed)
}

/// A running walk, for a hook that says itself what lies below its object.
///
/// Both functions answer None, or the result with which a callback ended the
/// walk; the hook is to return that at once.
pub trait VisitCallback {
    /// Whether variables are bound or used where the hook's object was met.
    fn region(&self) -> RegionKind;

    /// Visits a part in this kind of region.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>>;

    /// Visits what lies below a value, and not the value itself: by its hook,
    /// or by its fields if it has none. Of the object whose hook runs, the
    /// fields are visited.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>>;

    /// [`visit_in`](Self::visit_in) where the hook's object was met.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit(&mut self, value: &Value) -> Result<Option<Value>> {
        self.visit_in(value, self.region())
    }

    /// [`visit_children_in`](Self::visit_children_in) where the hook's object
    /// was met.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_children(&mut self, value: &Value) -> Result<Option<Value>> {
        self.visit_children_in(value, self.region())
    }
}

/// A running rewrite, for a hook that makes the new object itself.
pub trait MutateCallback {
    /// Whether variables are bound or used where the hook's object was met.
    fn region(&self) -> RegionKind;

    /// What a part becomes in this kind of region.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value>;

    /// A value with its children rewritten, whatever callback it has: by its
    /// hook, or by its fields if it has none. Of the object whose hook runs,
    /// the fields are rewritten.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value>;

    /// What was recorded with [`remap`](Self::remap).
    fn remapped(&self, var: &Ref<Obj>) -> Option<Value>;

    /// Records what comes in place of a variable wherever it is met from now
    /// on.
    fn remap(&mut self, var: &Ref<Obj>, value: Value);

    /// Records what comes in place of the uses of a variable that are met from
    /// now on, whatever callback is for it.
    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value);

    /// What an object became where it was used; None if it was not met there.
    fn image(&mut self, object: &Ref<Obj>) -> Option<Value>;

    /// [`mutate_in`](Self::mutate_in) where the hook's object was met.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate(&mut self, value: &Value) -> Result<Value> {
        self.mutate_in(value, self.region())
    }

    /// [`mutate_children_in`](Self::mutate_children_in) where the hook's
    /// object was met.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_children(&mut self, value: &Value) -> Result<Value> {
        self.mutate_children_in(value, self.region())
    }
}

hook! {
    /// `__s_visit__(self, visitor)`: visits the parts of an object for
    /// [`structural_walk`](crate::structural_walk) and its likes, in place of
    /// the walk over its fields. Callbacks are called for the object itself as
    /// for any other. Answers None, or what ends the walk: what the visitor
    /// answered, or a value of its own.
    ///
    /// As a function, the visitor is called with a part, the number of a kind
    /// of region (or None), and whether only what lies below the part is
    /// visited.
    ///
    /// ```
    /// use isoform::{DynVisit, FieldDef, Schema, TypeDef, WalkOptions, WalkResult};
    /// use isoform::{construct, get_field, register_type, structural_walk, attrs};
    ///
    /// let pair = TypeDef::new("doc.LastFirst")
    ///     .field(FieldDef::new("a", Schema::Int))
    ///     .field(FieldDef::new("b", Schema::Int));
    /// let pair = register_type(pair)?;
    /// let visit = DynVisit::new(|pair, visitor| match visitor.visit(&get_field(pair, "b")?)? {
    ///     None => visitor.visit(&get_field(pair, "a")?),
    ///     end => Ok(end),
    /// });
    /// attrs::set_hook(pair, visit, false)?;
    /// let mut met = Vec::new();
    /// structural_walk(construct(pair, vec![1.into(), 2.into()])?, WalkOptions::default(), |visit| {
    ///     met.extend(visit.value().as_int());
    ///     Ok(WalkResult::<()>::Advance)
    /// })?;
    /// assert_eq!(met, [2, 1]);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    DynVisit(&Ref<Obj>, &mut dyn VisitCallback) -> Option<Value>
}

/// The visitor inside the function that a hook gets.
///
/// A host language finds it as [`Function::content`], and may show it as an
/// object of its own.
#[derive(Clone, Debug)]
pub struct LentVisit(pub Arc<Lent<dyn VisitCallback>>);

/// The mutator inside the function that a hook gets.
#[derive(Clone, Debug)]
pub struct LentMutate(pub Arc<Lent<dyn MutateCallback>>);

impl LentVisit {
    /// The visitor as a function.
    pub fn function(&self) -> Function {
        Function::with_content(self.clone(), |lent, given| {
            let given = Arguments::new("visitor", given, 1, 3)?;
            let (part, children) = (given.get(0), given.flag(2)?);
            let visited = lent.0.with(|visitor| {
                let region = given.region(1)?.unwrap_or_else(|| visitor.region());
                match children {
                    false => visitor.visit_in(part, region),
                    true => visitor.visit_children_in(part, region),
                }
            });
            let end = visited.ok_or_else(|| not_lent(DynVisit::NAME))??;
            Ok(end.unwrap_or_default())
        })
    }
}

impl LentMutate {
    /// The mutator as a function.
    pub fn function(&self) -> Function {
        Function::with_content(self.clone(), |lent, given| {
            let given = Arguments::new("mutator", given, 1, 3)?;
            let (part, children) = (given.get(0), given.flag(2)?);
            let result = lent.0.with(|mutator| {
                let region = given.region(1)?.unwrap_or_else(|| mutator.region());
                match children {
                    false => mutator.mutate_in(part, region),
                    true => mutator.mutate_children_in(part, region),
                }
            });
            result.ok_or_else(|| not_lent(DynMutate::NAME))?
        })
    }
}

impl Arguments<'_> {
    fn flag(&self, position: usize) -> Result<bool> {
        match self.get(position).view() {
            ValueRef::None => Ok(false),
            ValueRef::Bool(flag) => Ok(flag),
            _ => Err(self.mismatch(position, "a bool")),
        }
    }

    fn region(&self, position: usize) -> Result<Option<RegionKind>> {
        match self.get(position).view() {
            ValueRef::None => Ok(None),
            ValueRef::Int(0) => Ok(Some(RegionKind::Use)),
            ValueRef::Int(1) => Ok(Some(RegionKind::Def)),
            ValueRef::Int(2) => Ok(Some(RegionKind::DefSimple)),
            ValueRef::Int(other) => Err(Error::value_error(format!(
                "{}: expected 0 (use), 1 (def) or 2 (def-simple), got {other}",
                self.hook
            ))),
            _ => Err(self.mismatch(position, "an int")),
        }
    }
}

/// The number of a kind of region in calls between languages.
fn number(region: RegionKind) -> Value {
    Value::from(match region {
        RegionKind::Use => 0,
        RegionKind::Def => 1,
        RegionKind::DefSimple => 2,
    })
}

/// A visitor that another language gave as a function.
struct GivenVisitor<'a>(&'a Function);

impl VisitCallback for GivenVisitor<'_> {
    fn region(&self) -> RegionKind {
        let lent = self.0.content::<LentVisit>();
        let region = lent.and_then(|lent| lent.0.with(|visitor| visitor.region()));
        region.unwrap_or_default()
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        let end = self.0.call(&[value.clone(), number(region)])?;
        Ok((!end.is_none()).then_some(end))
    }

    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        let end = self.0.call(&[value.clone(), number(region), true.into()])?;
        Ok((!end.is_none()).then_some(end))
    }
}

impl DynVisit {
    pub(crate) fn call(
        &self,
        object: &Ref<Obj>,
        visitor: &mut dyn VisitCallback,
    ) -> Result<Option<Value>> {
        (self.0.call)(object, visitor)
    }

    fn adapter(
        function: Function,
    ) -> impl Fn(&Ref<Obj>, &mut dyn VisitCallback) -> Result<Option<Value>> {
        move |object, visitor| {
            let end = lend_visit(visitor, |place| {
                let visitor = LentVisit(Arc::clone(place)).function();
                function.call(&[object.into(), visitor.into()])
            })?;
            Ok((!end.is_none()).then_some(end))
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynVisit::NAME, given, 2, 2)?;
        let mut visitor = GivenVisitor(given.function(1)?);
        let end = self.call(given.object(0)?, &mut visitor)?;
        Ok(end.unwrap_or_default())
    }
}

hook! {
    /// `__s_mutate__(self, mutator)`: what an object becomes in
    /// [`structural_map`](crate::structural_map) and its likes, in place of
    /// the rewrite of its fields. Callbacks are called for the object itself
    /// as for any other.
    ///
    /// As a function, the mutator is called as the visitor of [`DynVisit`] is,
    /// and answers what the part becomes.
    DynMutate(&Ref<Obj>, &mut dyn MutateCallback) -> Value
}

/// A mutator that another language gave as a function.
struct GivenMutator<'a>(&'a Function);

impl GivenMutator<'_> {
    fn lent<R>(&self, body: impl FnOnce(&mut dyn MutateCallback) -> R) -> Option<R> {
        let lent = self.0.content::<LentMutate>()?;
        lent.0.with(|mutator| body(mutator))
    }
}

impl MutateCallback for GivenMutator<'_> {
    fn region(&self) -> RegionKind {
        self.lent(|mutator| mutator.region()).unwrap_or_default()
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.0.call(&[value.clone(), number(region)])
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.0.call(&[value.clone(), number(region), true.into()])
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        self.lent(|mutator| mutator.remapped(var)).flatten()
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        self.lent(|mutator| mutator.remap(var, value));
    }

    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value) {
        self.lent(|mutator| mutator.remap_uses(var, value));
    }

    fn image(&mut self, object: &Ref<Obj>) -> Option<Value> {
        self.lent(|mutator| mutator.image(object)).flatten()
    }
}

impl DynMutate {
    pub(crate) fn call(
        &self,
        object: &Ref<Obj>,
        mutator: &mut dyn MutateCallback,
    ) -> Result<Value> {
        (self.0.call)(object, mutator)
    }

    fn adapter(function: Function) -> impl Fn(&Ref<Obj>, &mut dyn MutateCallback) -> Result<Value> {
        move |object, mutator| {
            lend_mutate(mutator, |place| {
                let mutator = LentMutate(Arc::clone(place)).function();
                function.call(&[object.into(), mutator.into()])
            })
        }
    }

    fn call_as_function(&self, given: &[Value]) -> Result<Value> {
        let given = Arguments::new(DynMutate::NAME, given, 2, 2)?;
        let mut mutator = GivenMutator(given.function(1)?);
        self.call(given.object(0)?, &mut mutator)
    }
}
