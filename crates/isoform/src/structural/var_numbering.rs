//! The numbers that represent variables and dag nodes in a hash.
//!
//! A bound object is named by the number of scopes to its binding, and by the
//! order in which it was first met there. A custom hash asks for the hashes of
//! parts in an order of its own, which must not be visible unless the hook
//! chains the results. So every question of a hook has a *context*: a question
//! that starts from an earlier result continues in the context of that one, any
//! other in a fresh context. An object first met in a context is identified by
//! its number there and in contexts that continue from it; elsewhere it gets a
//! new number.

use smallvec::SmallVec;

use super::bindings::Bindings;
use super::levels::Levels;
use crate::kernel::pages::empty;

/// The appearance of a bound object in the hash.
#[derive(Clone, Copy)]
pub(super) struct Name<Out> {
    /// The hash of the fields at the object's first occurrence.
    pub(super) first: Option<Out>,
    pub(super) by: By,
}

/// The identification of a bound object.
#[derive(Clone, Copy)]
pub(super) enum By {
    /// A free variable, by its identity.
    Identity,
    /// A variable by its fields, which no other one has.
    Fields,
    /// By number: `context` hooks and `distance` scopes away.
    Number {
        distance: u32,
        context: u32,
        number: u32,
    },
}

/// The way a binding names its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Naming {
    Identity,
    Fields,
    Number,
}

/// The data of a binding beside its scope.
struct Numbered<Out> {
    naming: Naming,
    fields: Out,
    /// The number in each context in which the object was met first.
    names: SmallVec<[(u32, u32); 1]>,
}

struct Context {
    parent: u32,
    /// An ancestor some way up, so that ancestors are found in O(log depth).
    jump: u32,
    depth: u32,
    /// The number of hooks around it.
    nesting: u32,
    /// Scopes above this level were opened inside the context.
    base: u32,
    /// Next numbers for levels up to `base`.
    outer: SmallVec<[(u32, u32); 2]>,
}

/// The context of everything outside of hooks.
const ROOT: u32 = 0;

/// Bindings with numbers.
pub(super) struct VarNumbering<Out> {
    pub(super) bindings: Bindings<1>,
    numbered: Vec<Numbered<Out>>,
    contexts: Vec<Context>,
    current: u32,
    /// Per open scope, outermost first and level 0 included: the next number,
    /// and the context in which the scope was opened.
    scopes: Vec<(u32, u32)>,
    /// The deepest context whose numbers were used since this was reset.
    used: u32,
}

impl<Out: Copy> VarNumbering<Out> {
    pub(super) fn new() -> Self {
        let root = Context {
            parent: ROOT,
            jump: ROOT,
            depth: 0,
            nesting: 0,
            base: 0,
            outer: SmallVec::new(),
        };
        VarNumbering {
            bindings: Bindings::default(),
            numbered: Vec::new(),
            contexts: vec![root],
            current: ROOT,
            scopes: vec![(0, ROOT)],
            used: ROOT,
        }
    }

    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        empty(&mut self.numbered);
        self.contexts.truncate(1);
        self.current = ROOT;
        self.scopes.truncate(1);
        self.scopes[0].0 = 0;
        self.used = ROOT;
    }

    pub(super) fn open_scope(&mut self, levels: &mut Levels) {
        self.bindings.open_scope(levels);
        self.scopes.push((0, self.current));
    }

    pub(super) fn close_scope(&mut self, levels: &mut Levels) {
        self.bindings.close_scope(levels);
        self.scopes.pop();
    }

    // ---- contexts -----------------------------------------------------------

    /// The context of the current visit.
    pub(super) fn current(&self) -> u32 {
        self.current
    }

    /// Starts a context for a question of a hook that was called in `outer`;
    /// `from` is the context of the result that the question starts from.
    pub(super) fn ask(&mut self, outer: u32, from: Option<u32>, levels: &Levels) {
        let nesting = self.contexts[outer as usize].nesting + 1;
        let (parent, outer_numbers) = match from {
            Some(from) => (from, self.contexts[from as usize].outer.clone()),
            None => (outer, SmallVec::new()),
        };
        self.enter(parent, nesting, outer_numbers, levels);
    }

    /// Starts a context for the fields of an object that is bound where the
    /// order of the visit must not be visible: they are hashed as if nothing
    /// had been met before except the surroundings of the innermost scope.
    pub(super) fn isolate(&mut self, levels: &Levels) {
        let parent = self.scopes.last().map_or(ROOT, |scope| scope.1);
        let nesting = self.contexts[parent as usize].nesting + 1;
        self.enter(parent, nesting, SmallVec::new(), levels);
    }

    fn enter(
        &mut self,
        parent: u32,
        nesting: u32,
        outer: SmallVec<[(u32, u32); 2]>,
        levels: &Levels,
    ) {
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
            outer,
        });
    }

    /// Returns to the context that was current before.
    pub(super) fn leave(&mut self, before: u32) {
        self.current = before;
        // Names from inside have no meaning outside; depending on the current
        // context is the safe assumption for everything else that was used.
        if self.contexts[self.used as usize].depth > self.contexts[before as usize].depth {
            self.used = before;
        }
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

    /// True if a binding of this level belongs where everything is met in one
    /// fixed order: at the root, or in a scope opened in this context.
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
        self.numbered.push(Numbered {
            naming,
            fields,
            names: SmallVec::new(),
        });
        index
    }

    /// True if a binding is that of a free variable.
    pub(super) fn is_by_identity(&self, index: u32) -> bool {
        self.numbered[index as usize].naming == Naming::Identity
    }

    /// True if a binding's object is named by its fields.
    pub(super) fn is_by_fields(&self, index: u32) -> bool {
        self.numbered[index as usize].naming == Naming::Fields
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
        let level = self.bindings.get(index).level;
        let fields = self.numbered[index as usize].fields;
        let number = self.next_number(level);
        self.numbered[index as usize]
            .names
            .push((self.current, number));
        // A result that contains a first name is not valid for a later
        // occurrence.
        levels.create(level);
        self.use_context(self.current);
        Name {
            first: Some(fields),
            by: self.by(index, self.current, number, levels),
        }
    }

    /// The name that a bound object already has here, and the context that
    /// knows it.
    #[inline(always)]
    pub(super) fn known_name(&self, index: u32, levels: &Levels) -> Option<(By, u32)> {
        let Numbered { naming, names, .. } = &self.numbered[index as usize];
        match naming {
            Naming::Identity => return Some((By::Identity, ROOT)),
            Naming::Fields => return Some((By::Fields, ROOT)),
            Naming::Number => {}
        }
        let &(context, number) = names
            .iter()
            .rev()
            .find(|(context, _)| self.knows(*context))?;
        Some((self.by(index, context, number, levels), context))
    }

    #[inline]
    fn by(&self, index: u32, context: u32, number: u32, levels: &Levels) -> By {
        let distance = match self.bindings.get(index).level {
            0 => 0,
            level => levels.current() - level + 1,
        };
        By::Number {
            distance,
            context: self.nesting() - self.contexts[context as usize].nesting,
            number,
        }
    }

    fn next_number(&mut self, level: u32) -> u32 {
        let counter = if self.in_order(level) {
            &mut self.scopes[level as usize].0
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
