//! The numbers that stand for variables and dag nodes in a hash.
//!
//! A bound object is named by how many scopes away its binding is, and by the
//! order in which it was first met there. Within a custom hash the order of
//! the hook's calls must not show, so each call of a callback is a *context*
//! with numbers of its own: what was first met inside a call is numbered
//! anew when it is met again in another one. A context is named by how many
//! calls away it is, so a part that is closed has the same hash everywhere.

use super::bindings::Bindings;
use super::scope::Levels;

/// How a bound object appears in the hash.
#[derive(Clone, Copy)]
pub(super) enum Name<Out> {
    /// By its identity: a free variable.
    Identity,
    /// By number.
    Number {
        distance: u32,
        context: u32,
        number: u32,
        first: bool,
        fields: Option<Out>,
    },
}

/// What is known of a binding beside its scope.
struct Numbered<Out> {
    identity: bool,
    context_id: u32,
    context: u32,
    number: u32,
    /// The hash of the fields, if it does not depend on any binding.
    fields: Option<Out>,
}

struct Context {
    id: u32,
    /// Scopes above this level were opened inside the context.
    base: u32,
    /// Next numbers for levels up to `base`.
    outer: Vec<(u32, u32)>,
}

/// Bindings with numbers.
pub(super) struct Numbering<Out> {
    pub(super) bindings: Bindings<1>,
    numbered: Vec<Numbered<Out>>,
    contexts: Vec<Context>,
    next_context: u32,
    /// Next numbers of the scopes opened in their own context.
    counters: Vec<u32>,
    /// The innermost context whose numbers were used since this was reset.
    pub(super) context_used: u32,
}

impl<Out: Copy> Numbering<Out> {
    pub(super) fn new() -> Self {
        Numbering {
            bindings: Bindings::default(),
            numbered: Vec::new(),
            contexts: vec![Context {
                id: 0,
                base: 0,
                outer: Vec::new(),
            }],
            next_context: 1,
            counters: vec![0],
            context_used: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.bindings.clear();
        self.numbered.clear();
        self.numbered.shrink_to(1 << 14);
        self.contexts.truncate(1);
        self.next_context = 1;
        self.counters.truncate(1);
        self.counters[0] = 0;
        self.context_used = 0;
    }

    pub(super) fn open_scope(&mut self, levels: &mut Levels) {
        self.bindings.open_scope(levels);
        self.counters.push(0);
    }

    pub(super) fn close_scope(&mut self, levels: &mut Levels) {
        self.bindings.close_scope(levels);
        self.counters.pop();
    }

    /// Whether everything is met in one fixed order where a binding of this
    /// level belongs: at the root, or in a scope opened in this context.
    pub(super) fn in_order(&self, level: u32) -> bool {
        self.contexts.len() == 1
            || self
                .contexts
                .last()
                .is_some_and(|context| level > context.base)
    }

    /// How deeply contexts nest; the outermost is 0.
    pub(super) fn context(&self) -> u32 {
        (self.contexts.len() - 1) as u32
    }

    pub(super) fn context_id(&self, context: u32) -> Option<u32> {
        self.contexts
            .get(context as usize)
            .map(|context| context.id)
    }

    pub(super) fn open_context(&mut self, levels: &Levels) {
        let id = self.next_context;
        self.next_context += 1;
        self.contexts.push(Context {
            id,
            base: levels.current(),
            outer: Vec::new(),
        });
    }

    pub(super) fn close_context(&mut self) {
        self.contexts.pop();
        // What was used inside may have belonged to this context.
        self.context_used = self.context_used.min(self.context());
    }

    /// Binds an object; it gets its number when it is named.
    pub(super) fn bind(
        &mut self,
        ident: u64,
        level: u32,
        identity: bool,
        fields: Option<Out>,
        levels: &mut Levels,
    ) -> u32 {
        let index = self.bindings.bind([ident], level, levels);
        debug_assert_eq!(index as usize, self.numbered.len());
        self.numbered.push(Numbered {
            identity,
            context_id: u32::MAX,
            context: 0,
            number: 0,
            fields,
        });
        index
    }

    /// The name of a bound object here and now.
    #[inline]
    pub(super) fn name(&mut self, index: u32, levels: &mut Levels) -> Name<Out> {
        let level = self.bindings.get(index).level;
        let (context_id, context) = {
            let known = &self.numbered[index as usize];
            if known.identity {
                return Name::Identity;
            }
            (known.context_id, known.context)
        };
        let first = self.context_id(context) != Some(context_id);
        if first {
            let context = self.context();
            let (context_id, number) = self.next_number(level);
            let known = &mut self.numbered[index as usize];
            (known.context_id, known.context, known.number) = (context_id, context, number);
            levels.create(level);
        }
        let known = &self.numbered[index as usize];
        self.context_used = self.context_used.max(known.context);
        let distance = if level == 0 {
            0
        } else {
            levels.current() - level + 1
        };
        let (number, fields) = (known.number, known.fields);
        let context = (self.contexts.len() - 1) as u32 - known.context;
        Name::Number {
            distance,
            context,
            number,
            first,
            fields: fields.filter(|_| first),
        }
    }

    fn next_number(&mut self, level: u32) -> (u32, u32) {
        let root = self.contexts.len() == 1;
        let Some(context) = self.contexts.last_mut() else {
            return (0, 0);
        };
        let counter = if root || level > context.base {
            &mut self.counters[level as usize]
        } else {
            let known = context.outer.iter().position(|(known, _)| *known == level);
            let position = known.unwrap_or_else(|| {
                context.outer.push((level, 0));
                context.outer.len() - 1
            });
            &mut context.outer[position].1
        };
        *counter += 1;
        (context.id, *counter - 1)
    }
}
