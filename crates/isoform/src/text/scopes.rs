//! Finds the definition of a name by the scopes of a text.
//!
//! Each object of a scope type is a scope, and so is the whole text. A use of a name refers
//! to the definition in the innermost scope around the use that has any, also within inner
//! scopes; that scope must have exactly one. A name with several definitions has to be
//! defined before its uses, as the printer does, so no use changes its meaning later.
//!
//! Scopes are open one in another, and a closed scope counts as a part of the scope around
//! it, by a forest of disjoint sets. So each name keeps its definitions by open scopes, the
//! innermost last, and every use and definition takes nearly constant time.

use super::parser::Slot;

/// The number of a scope. Of two open scopes, the inner one has the higher number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scope(u32);

/// All scopes of a text, and the definitions in them.
pub(super) struct Scopes {
    /// The parent of a closed scope, itself for an open one.
    parents: Vec<Scope>,
    open: Vec<Scope>,
    pub(super) definitions: Vec<Slot>,
}

/// The definitions and uses of a name so far.
#[derive(Default)]
pub(super) struct Bindings {
    /// The last definition, in the innermost scope with any.
    last: Option<Binding>,
    /// The definitions in scopes around that one.
    outer: Vec<Binding>,
    /// Uses before any definition: values that wait for it, and their scopes.
    waiting: Vec<(u32, Scope)>,
    /// The outermost open scope in which a use has found its definition. A further
    /// definition within it would make the use ambiguous.
    bound_in: Option<Scope>,
}

#[derive(Clone, Copy)]
struct Binding {
    scope: Scope,
    /// None for several definitions.
    definition: Option<u32>,
    /// True if the definition is directly in the scope.
    is_direct: bool,
}

/// The reason why a name cannot be defined again.
pub(super) enum Clash {
    /// The scope has a definition.
    Twice,
    /// A use within the scope has the definition of a scope around it.
    Used,
}

/// The meaning of a use.
pub(super) enum Use {
    Definition(u32),
    /// A definition further down.
    Later,
    Ambiguous,
}

impl Scopes {
    pub(super) fn new() -> Scopes {
        Scopes {
            parents: vec![Scope(0)],
            open: vec![Scope(0)],
            definitions: Vec::new(),
        }
    }

    pub(super) fn open(&mut self) {
        let scope = Scope(self.parents.len() as u32);
        self.parents.push(scope);
        self.open.push(scope);
    }

    pub(super) fn close(&mut self) {
        if let [.., outer, inner] = self.open[..] {
            self.parents[inner.0 as usize] = outer;
            self.open.pop();
        }
    }

    fn innermost(&self) -> Scope {
        self.open.last().copied().unwrap_or(Scope(0))
    }

    /// The innermost open scope that holds a scope.
    fn open_around(&mut self, mut scope: Scope) -> Scope {
        loop {
            let parent = self.parents[scope.0 as usize];
            if parent == scope {
                return scope;
            }
            let next = self.parents[parent.0 as usize];
            // Halving paths keeps later searches short.
            self.parents[scope.0 as usize] = next;
            scope = next;
        }
    }

    /// Defines a name in the innermost open scope. Returns the values that waited for it.
    pub(super) fn define(&mut self, name: &mut Bindings, value: Slot) -> Result<Vec<u32>, Clash> {
        let scope = self.innermost();
        self.settle(name);
        let is_again = |last: Binding| last.scope == scope && last.is_direct;
        if name.last.is_some_and(is_again) {
            return Err(Clash::Twice);
        }
        if name.bound_in.is_some() {
            return Err(Clash::Used);
        }
        let waiting = std::mem::take(&mut name.waiting);
        let uses = waiting.iter().map(|&(_, scope)| self.open_around(scope));
        name.bound_in = uses.min();
        let definition = self.definitions.len() as u32;
        self.definitions.push(value);
        let binding = Binding {
            scope,
            definition: Some(definition),
            is_direct: true,
        };
        name.outer.extend(name.last.replace(binding));
        Ok(waiting.into_iter().map(|(value, _)| value).collect())
    }

    /// The definition for a use in the innermost open scope.
    pub(super) fn refer(&mut self, name: &mut Bindings) -> Use {
        self.settle(name);
        let Some(last) = name.last else {
            return Use::Later;
        };
        let Some(definition) = last.definition else {
            return Use::Ambiguous;
        };
        let bound_in = name.bound_in.unwrap_or(last.scope);
        name.bound_in = Some(bound_in.min(last.scope));
        Use::Definition(definition)
    }

    /// Notes a value that waits for the definition of a name.
    pub(super) fn wait(&mut self, name: &mut Bindings, value: u32) {
        name.waiting.push((value, self.innermost()));
    }

    /// Takes into account which scopes have been closed.
    fn settle(&mut self, name: &mut Bindings) {
        // A use has its definition for good when the scope of both is closed.
        let is_open = |scope: &Scope| self.parents[scope.0 as usize] == *scope;
        name.bound_in = name.bound_in.filter(is_open);
        let Some(last) = &mut name.last else {
            return;
        };
        let scope = self.open_around(last.scope);
        last.is_direct &= scope == last.scope;
        last.scope = scope;
        while let Some(outer) = name.outer.last()
            && self.open_around(outer.scope) == scope
        {
            last.is_direct |= outer.is_direct && outer.scope == scope;
            last.definition = None;
            name.outer.pop();
        }
    }
}
