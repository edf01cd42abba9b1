//! The numbers that represent variables and dag nodes in a hash.
//!
//! A bound object is named by the number of scopes to its binding, and by the order of
//! its first occurrence in the binding's scope. A dag node is numbered in the scope of
//! its first occurrence, and outlives that scope: when the scope ends, its numbers are
//! appended to the numbers of the enclosing scope. Names inside of a function therefore
//! depend on the function alone.
//!
//! A custom hash may ask *alternatives*, whose order must not be visible. Therefore,
//! every question of a call with alternatives has a *context*: a question that starts
//! from an earlier result continues in the context of that result, any other question
//! in a fresh context. An object first met in a context is identified by its number in
//! this context and in contexts that continue from it; elsewhere the object gets a new
//! number. After the call, [`VarNumbering::settle`] numbers objects in the enclosing
//! context. An object gets a number if the results of the alternatives that met it, and
//! its numbers in these alternatives, tell it from all others. Objects that look alike
//! stay unnumbered until they are met again.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use super::bindings::Bindings;
use super::levels::Levels;
use crate::kernel::pages::empty;

/// The appearance of a bound object in the hash.
#[derive(Clone, Copy)]
pub(super) struct Name<Out> {
    /// The hash of the fields at the object's first occurrence.
    pub(super) first: Option<Out>,
    pub(super) by: VarKey,
}

/// The identification of a bound object.
#[derive(Clone, Copy)]
pub(super) enum VarKey {
    /// A free variable, by its identity.
    Identity,
    /// A variable by its fields, which identify the variable.
    Fields,
    /// By number: `context` hooks and `distance` scopes away.
    Number {
        distance: u32,
        context: u32,
        number: u32,
        /// The level of the scope in which the object is numbered.
        level: u32,
    },
}

/// The name of a variable in a part, for a variable bound around the part: the number
/// of scopes between, and the variable's number in the scope of the binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OuterName {
    distance: u32,
    number: u32,
}

impl OuterName {
    /// A variable is named by its fields.
    pub(super) const FIELDS: OuterName = OuterName {
        distance: u32::MAX,
        number: 0,
    };
}

/// The way a binding names its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Naming {
    Identity,
    Fields,
    /// The number of a variable among the variables of its binding's level.
    Number,
    /// The number of a dag node in the place of its first occurrence.
    Place,
}

/// The data of a binding beside its scope.
struct Numbered<Out> {
    naming: Naming,
    fields: Out,
    /// The moment of the binding.
    moment: u32,
    /// A name for each context in which the object was met first.
    names: SmallVec<[FirstName; 1]>,
}

#[derive(Clone, Copy)]
struct FirstName {
    context: u32,
    number: u32,
    /// For dag nodes, the place of the number.
    place: u32,
    /// The moment at which the object got the name.
    moment: u32,
}

/// Where dag nodes are numbered: a scope, or a level outside of a context.
struct Place {
    level: u32,
    next: u32,
    /// After the scope: the enclosing place, and the first number in that place.
    ended: Option<(u32, u32)>,
}

struct Context {
    parent: u32,
    /// An ancestor further up, to find ancestors in O(log depth).
    jump: u32,
    depth: u32,
    /// The number of hooks around the context.
    nesting: u32,
    /// Scopes above this level were opened inside the context.
    base: u32,
    /// Next numbers for levels up to `base`.
    outer: SmallVec<[(u32, u32); 2]>,
    /// The places of dag nodes for these levels.
    places: SmallVec<[u32; 2]>,
}

/// The context of everything outside of hooks.
const ROOT: u32 = 0;

/// An open scope.
struct Scope {
    /// The next number of a variable.
    next: u32,
    /// The context in which the scope was opened.
    context: u32,
    /// The place of the scope's dag nodes, once the scope has any; otherwise
    /// [`NO_PLACE`].
    place: u32,
}

const NO_PLACE: u32 = u32::MAX;

impl Scope {
    fn new(context: u32) -> Self {
        Scope {
            next: 0,
            context,
            place: NO_PLACE,
        }
    }
}

/// Bindings with numbers.
pub(super) struct VarNumbering<Out> {
    pub(super) bindings: Bindings<1>,
    numbered: Vec<Numbered<Out>>,
    contexts: Vec<Context>,
    current: u32,
    /// The open scopes, outermost first, and level 0.
    scopes: Vec<Scope>,
    places: Vec<Place>,
    /// The deepest context whose numbers were used since the last reset.
    used: u32,
    /// The bindings that got a name in a context of a question, newest last.
    in_contexts: Vec<u32>,
    /// The number of bindings and names so far.
    moment: u32,
}

/// The appearances of one object in the alternatives of a hook, in order: the answer of
/// each alternative, and the name of the object in the alternative.
pub(super) type Appearances = SmallVec<[(u64, u64); 1]>;

impl<Out: Copy> VarNumbering<Out> {
    pub(super) fn new() -> Self {
        let root = Context {
            parent: ROOT,
            jump: ROOT,
            depth: 0,
            nesting: 0,
            base: 0,
            outer: SmallVec::new(),
            places: SmallVec::new(),
        };
        VarNumbering {
            bindings: Bindings::default(),
            numbered: Vec::new(),
            contexts: vec![root],
            current: ROOT,
            scopes: vec![Scope::new(ROOT)],
            places: Vec::new(),
            used: ROOT,
            in_contexts: Vec::new(),
            moment: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        empty(&mut self.numbered);
        self.contexts.truncate(1);
        self.current = ROOT;
        self.scopes.truncate(1);
        self.scopes[0] = Scope::new(ROOT);
        empty(&mut self.places);
        self.used = ROOT;
        empty(&mut self.in_contexts);
        self.moment = 0;
    }

    fn next_moment(&mut self) -> u32 {
        self.moment += 1;
        self.moment
    }

    pub(super) fn open_scope(&mut self, levels: &mut Levels) {
        self.bindings.open_scope(levels);
        self.scopes.push(Scope::new(self.current));
    }

    pub(super) fn close_scope(&mut self, levels: &mut Levels) {
        let ended = self.scopes.pop().map_or(NO_PLACE, |scope| scope.place);
        self.bindings.close_scope(levels);
        if ended != NO_PLACE {
            let around = self.place(levels.current());
            let first = self.places[around as usize].next;
            self.places[around as usize].next += self.places[ended as usize].next;
            self.places[ended as usize].ended = Some((around, first));
        }
    }

    // ---- contexts -----------------------------------------------------------

    /// The context of the current visit.
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// True in the context of everything outside of hooks.
    #[inline(always)]
    pub(super) fn is_outside_hooks(&self) -> bool {
        self.current == ROOT
    }

    /// Starts a context for a question of a hook called in `outer`; `from` is the
    /// context of the result at which the question starts.
    pub(super) fn ask(&mut self, outer: u32, from: Option<u32>, levels: &Levels) {
        let nesting = self.contexts[outer as usize].nesting + 1;
        let Some(from) = from else {
            return self.enter(outer, nesting, levels);
        };
        self.enter(from, nesting, levels);
        // Every continuation counts on independently.
        let before = &self.contexts[from as usize];
        let (outer, places) = (before.outer.clone(), before.places.clone());
        let places = places
            .iter()
            .map(|&place| {
                let Place { level, next, ended } = self.places[place as usize];
                self.places.push(Place { level, next, ended });
                self.places.len() as u32 - 1
            })
            .collect();
        let context = &mut self.contexts[self.current as usize];
        (context.outer, context.places) = (outer, places);
    }

    /// Starts a context for the fields of an object bound where the order of the visit
    /// must not be visible. The fields are hashed as if the walk had only met the
    /// surroundings of the innermost scope before.
    pub(super) fn isolate(&mut self, levels: &Levels) {
        let parent = self.scopes.last().map_or(ROOT, |scope| scope.context);
        let nesting = self.contexts[parent as usize].nesting + 1;
        self.enter(parent, nesting, levels);
    }

    fn enter(&mut self, parent: u32, nesting: u32, levels: &Levels) {
        // Jump pointers: Myers, "An applicative random-access stack", 1983.
        let up = &self.contexts[parent as usize];
        let (jump, depth) = (up.jump, up.depth);
        let further = &self.contexts[jump as usize];
        let equal_steps =
            depth - further.depth == further.depth - self.contexts[further.jump as usize].depth;
        let jump = if equal_steps { further.jump } else { parent };
        let base = levels.current();
        self.current = self.contexts.len() as u32;
        self.contexts.push(Context {
            parent,
            jump,
            depth: depth + 1,
            nesting,
            base,
            outer: SmallVec::new(),
            places: SmallVec::new(),
        });
    }

    /// Returns to the context that was current before.
    pub(super) fn leave(&mut self, before: u32) {
        self.current = before;
        // Names from inside have no meaning outside; for all other names used,
        // depending on the current context is the safe assumption.
        if self.contexts[self.used as usize].depth > self.contexts[before as usize].depth {
            self.used = before;
        }
    }

    /// The number of names given in contexts so far, for [`settle`](Self::settle).
    pub(super) fn names_in_contexts(&self) -> usize {
        self.in_contexts.len()
    }

    /// Numbers the objects that the alternatives of a hook have met since `from`, in an
    /// order independent of the order of the alternatives, and returns their
    /// appearances in this order. `answers` has one answer per context. Objects
    /// with equal appearances are returned, too, but stay unnumbered, since only the
    /// order of the questions tells them apart.
    pub(super) fn settle(
        &mut self,
        from: usize,
        answers: &HashMap<u32, u64, RandomState>,
        levels: &mut Levels,
    ) -> Vec<Appearances> {
        let mut indices = self.in_contexts.split_off(from);
        indices.sort_unstable();
        indices.dedup();
        let mut met: Vec<(Appearances, u32)> = Vec::new();
        for index in indices {
            let ident = self.bindings.get(index).idents[0];
            // A free variable is already named by its identity.
            if self.bindings.of(0, ident) != Some(index) || self.is_by_identity(index) {
                continue;
            }
            let mut appearances = Appearances::new();
            for name in self.numbered[index as usize].names.clone() {
                if let Some(&answer) = answers.get(&name.context) {
                    let (level, number) = self.level_and_number(index, name);
                    let distance = distance(level, levels);
                    appearances.push((answer, u64::from(distance) << 32 | u64::from(number)));
                }
            }
            if !appearances.is_empty() {
                appearances.sort_unstable();
                met.push((appearances, index));
            }
        }
        met.sort_unstable();
        for index in 0..met.len() {
            let is_like = |other: Option<&(Appearances, u32)>| {
                other.is_some_and(|(appearances, _)| *appearances == met[index].0)
            };
            if !is_like(index.checked_sub(1).and_then(|index| met.get(index)))
                && !is_like(met.get(index + 1))
            {
                self.name(met[index].1, levels);
            }
        }
        met.into_iter()
            .map(|(appearances, _)| appearances)
            .collect()
    }

    fn is_ancestor(&self, ancestor: u32, mut context: u32) -> bool {
        let depth = self.contexts[ancestor as usize].depth;
        while self.contexts[context as usize].depth > depth {
            let here = &self.contexts[context as usize];
            let jump = here.jump;
            context = if self.contexts[jump as usize].depth >= depth {
                jump
            } else {
                here.parent
            };
        }
        context == ancestor
    }

    /// Starts to collect the contexts that are used; pass the result to
    /// [`end_use`](Self::end_use).
    #[inline]
    pub(super) fn begin_use(&mut self) -> u32 {
        std::mem::replace(&mut self.used, ROOT)
    }

    /// The deepest context used since [`begin_use`](Self::begin_use).
    #[inline]
    pub(super) fn end_use(&mut self, before: u32) -> u32 {
        let used = self.used;
        self.use_context(before);
        used
    }

    /// Records that names of a context were used.
    #[inline]
    pub(super) fn use_context(&mut self, context: u32) {
        if context != ROOT
            && self.contexts[context as usize].depth > self.contexts[self.used as usize].depth
        {
            self.used = context;
        }
    }

    /// The number of hooks around the current context.
    pub(super) fn nesting(&self) -> u32 {
        self.contexts[self.current as usize].nesting
    }

    /// True if names of a context are known in the current one.
    #[inline]
    pub(super) fn knows(&self, context: u32) -> bool {
        context == ROOT || self.is_ancestor(context, self.current)
    }

    // ---- bindings and names -------------------------------------------------

    /// True if a binding of this level belongs to a place visited in one fixed order:
    /// the root, or a scope opened in this context.
    #[inline]
    pub(super) fn in_order(&self, level: u32) -> bool {
        self.current == ROOT || level > self.contexts[self.current as usize].base
    }

    /// Binds an object whose fields have this hash.
    pub(super) fn bind(
        &mut self,
        ident: u64,
        level: u32,
        naming: Naming,
        fields: Out,
        levels: &mut Levels,
    ) -> u32 {
        let index = self.bindings.bind([ident], level, false, levels);
        debug_assert_eq!(index as usize, self.numbered.len());
        let moment = self.next_moment();
        self.numbered.push(Numbered {
            naming,
            fields,
            moment,
            names: SmallVec::new(),
        });
        index
    }

    /// True if a binding is the binding of a free variable.
    pub(super) fn is_by_identity(&self, index: u32) -> bool {
        self.numbered[index as usize].naming == Naming::Identity
    }

    /// True if a binding's object is named by its fields.
    pub(super) fn is_by_fields(&self, index: u32) -> bool {
        self.numbered[index as usize].naming == Naming::Fields
    }

    /// The name of a variable in a part at this scope level; None inside alternatives,
    /// and for a variable without a name or with only its identity as a name.
    pub(super) fn outer_name(&self, index: u32, level: u32) -> Option<OuterName> {
        let Numbered { naming, names, .. } = &self.numbered[index as usize];
        match naming {
            Naming::Fields => return Some(OuterName::FIELDS),
            Naming::Number if self.current == ROOT => {}
            _ => return None,
        }
        let name = names.iter().find(|name| name.context == ROOT)?;
        let distance = match self.bindings.get(index).level {
            0 => 0,
            binding => (level + 1).checked_sub(binding)?,
        };
        Some(OuterName {
            distance,
            number: name.number,
        })
    }

    /// The hash of the fields of a bound object.
    pub(super) fn fields(&self, index: u32) -> Out {
        self.numbered[index as usize].fields
    }

    /// The name of a bound object at the current place.
    #[inline]
    pub(super) fn name(&mut self, index: u32, levels: &mut Levels) -> Name<Out> {
        if let Some((by, context)) = self.known_name(index, levels) {
            self.use_context(context);
            return Name { first: None, by };
        }
        let binding = self.bindings.get(index).level;
        let Numbered { fields, naming, .. } = self.numbered[index as usize];
        let place = match naming {
            Naming::Place => self.place(levels.current()),
            _ => NO_PLACE,
        };
        let number = match place {
            NO_PLACE if naming == Naming::Identity => 0,
            NO_PLACE => self.next_number(binding),
            _ => {
                let next = &mut self.places[place as usize].next;
                *next += 1;
                *next - 1
            }
        };
        let name = FirstName {
            context: self.current,
            number,
            place,
            moment: self.next_moment(),
        };
        self.numbered[index as usize].names.push(name);
        if self.current != ROOT {
            self.in_contexts.push(index);
        }
        // A result that contains a first name is not valid for a later
        // occurrence.
        levels.create(binding);
        self.use_context(self.current);
        Name {
            first: Some(fields),
            by: self.by(index, name, levels),
        }
    }

    /// The number of dag nodes numbered up to this point in the innermost scope, or in
    /// ended scopes inside.
    pub(super) fn numbered_nodes(&self, levels: &Levels) -> u32 {
        let place = self.known_place(levels.current());
        self.places
            .get(place as usize)
            .map_or(0, |place| place.next)
    }

    /// Counts unvisited dag nodes like visited dag nodes.
    pub(super) fn skip_nodes(&mut self, count: u32, levels: &Levels) {
        if count > 0 {
            let place = self.place(levels.current());
            self.places[place as usize].next += count;
        }
    }

    /// The place that numbers dag nodes of a level at this point.
    fn place(&mut self, level: u32) -> u32 {
        let known = self.known_place(level);
        if known != NO_PLACE {
            return known;
        }
        let new = self.places.len() as u32;
        self.places.push(Place {
            level,
            next: 0,
            ended: None,
        });
        if self.in_order(level) {
            self.scopes[level as usize].place = new
        } else {
            self.contexts[self.current as usize].places.push(new)
        }
        new
    }

    /// The place of a level, or [`NO_PLACE`].
    fn known_place(&self, level: u32) -> u32 {
        if self.in_order(level) {
            return self.scopes[level as usize].place;
        }
        let places = &self.contexts[self.current as usize].places;
        let is_known = |place: &&u32| self.places[**place as usize].level == level;
        places.iter().find(is_known).copied().unwrap_or(NO_PLACE)
    }

    /// The place that has taken over the numbers of a place, and the first of these
    /// numbers in the new place.
    fn resolve(&mut self, place: u32) -> (u32, u32) {
        let (mut last, mut first) = (place, 0);
        while let Some((around, offset)) = self.places[last as usize].ended {
            first += offset;
            last = around;
        }
        // The next look-up takes one step.
        let (mut here, mut rest) = (place, first);
        while let Some((around, offset)) = self.places[here as usize].ended {
            self.places[here as usize].ended = Some((last, rest));
            rest -= offset;
            here = around;
        }
        (last, first)
    }

    /// The moment from which a bound object can be told from others at this point: of its
    /// binding, or of its name after a hook that met the object in alternatives. None
    /// without a known name. Equality binds the objects in this order.
    pub(super) fn moment(&self, index: u32) -> Option<u32> {
        let Numbered {
            naming,
            names,
            moment,
            ..
        } = &self.numbered[index as usize];
        if *naming == Naming::Fields {
            return Some(*moment);
        }
        let name = names.iter().rev().find(|name| self.knows(name.context))?;
        Some(name.moment)
    }

    /// The name that a bound object already has at this point, and the context that
    /// knows the name.
    #[inline(always)]
    pub(super) fn known_name(&mut self, index: u32, levels: &Levels) -> Option<(VarKey, u32)> {
        let Numbered { naming, names, .. } = &self.numbered[index as usize];
        match naming {
            Naming::Fields => return Some((VarKey::Fields, ROOT)),
            Naming::Identity | Naming::Number | Naming::Place => {}
        }
        let mut names = names.iter().rev();
        let &name = names.find(|name| self.knows(name.context))?;
        Some((self.by(index, name, levels), name.context))
    }

    #[inline]
    fn by(&mut self, index: u32, name: FirstName, levels: &Levels) -> VarKey {
        if self.is_by_identity(index) {
            return VarKey::Identity;
        }
        let (level, number) = self.level_and_number(index, name);
        VarKey::Number {
            distance: distance(level, levels),
            context: self.nesting() - self.contexts[name.context as usize].nesting,
            number,
            level,
        }
    }

    /// The level of the scope in which an object with this name is numbered, and the
    /// object's number.
    fn level_and_number(&mut self, index: u32, name: FirstName) -> (u32, u32) {
        match name.place {
            NO_PLACE => (self.bindings.get(index).level, name.number),
            place => {
                let (place, first) = self.resolve(place);
                (self.places[place as usize].level, first + name.number)
            }
        }
    }

    fn next_number(&mut self, level: u32) -> u32 {
        let counter = if self.in_order(level) {
            &mut self.scopes[level as usize].next
        } else {
            let outer = &mut self.contexts[self.current as usize].outer;
            let known = outer.iter().position(|(known, _)| *known == level);
            let position = known.unwrap_or_else(|| {
                outer.push((level, 0));
                outer.len() - 1
            });
            &mut outer[position].1
        };
        *counter += 1;
        *counter - 1
    }
}

/// The number of scopes between the current place and an enclosing scope of this level.
fn distance(level: u32, levels: &Levels) -> u32 {
    match level {
        0 => 0,
        level => levels.current() - level + 1,
    }
}
