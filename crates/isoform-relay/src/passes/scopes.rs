//! The scopes that compute the expressions of a program.
//!
//! The body of a function, the branches of an `if` and the results of the clauses of a
//! match are scopes. An expression is computed in the innermost scope with all its
//! uses. The scope computes the expression once, when the visit first reaches the
//! expression, and before the expression of the scope from which the visit came.
//!
//! The scope is found as the nearest common ancestor of the uses.

use super::form::Form;
use super::graph::{Graph, Id};
use isoform::plumbing::AncestorTree;
use isoform::{Error, Result};

/// The number of a scope; 0 is the outermost scope.
pub(crate) type Scope = u32;

/// The scopes of a [`Graph`].
pub(crate) struct Scopes {
    tree: AncestorTree,
    /// The scopes of the expressions.
    of: Vec<Scope>,
    /// The first scopes opened by the expressions.
    inner: Vec<Scope>,
    /// True if a `let` is a scope for its value and body.
    lets: bool,
}

impl Scopes {
    /// The scopes of all expressions. With `lets`, a `let` opens a scope for its value and
    /// body, so expressions in the `let` stay inside. O(n log n).
    ///
    /// # Errors
    ///
    /// `ValueError` if a variable is used outside of the function or clause that binds
    /// the variable.
    pub(crate) fn of(graph: &Graph, lets: bool) -> Result<Scopes> {
        const NONE: Scope = Scope::MAX;
        let mut scopes = Scopes {
            tree: AncestorTree::new(1, 0, ()),
            of: vec![NONE; graph.len()],
            inner: vec![NONE; graph.len()],
            lets,
        };
        scopes.of[0] = 0;
        for id in graph.users_first() {
            let here = scopes.of[id as usize];
            let form = graph.form(id)?;
            let opened = match form {
                Form::If(_) => 2,
                Form::Function(_) => graph.operands(id).len(),
                Form::Match(cases) => cases.clauses.len(),
                Form::Let(_) => usize::from(lets),
                _ => 0,
            };
            scopes.inner[id as usize] = scopes.tree.node_count();
            for _ in 0..opened {
                scopes.tree.add(here, ());
            }
            for (position, operand) in graph.operands(id).iter().enumerate() {
                let scope = scopes.of_operand(form, id, position);
                let entry = &mut scopes.of[*operand as usize];
                *entry = match *entry {
                    NONE => scope,
                    old => scopes.tree.common(old, scope),
                };
            }
        }
        scopes.check(graph)?;
        Ok(scopes)
    }

    /// The scope that computes an expression.
    pub(crate) fn scope(&self, id: Id) -> Scope {
        self.of[id as usize]
    }

    /// The number of scopes.
    pub(crate) fn len(&self) -> usize {
        self.tree.node_count() as usize
    }

    /// The scope around an operand of an expression.
    pub(crate) fn of_operand(&self, form: Form<'_>, id: Id, position: usize) -> Scope {
        let inner = self.inner[id as usize];
        match form {
            Form::Function(_) => inner,
            Form::Let(_) if self.lets => inner,
            Form::If(_) | Form::Match(_) if position > 0 => inner + position as Scope - 1,
            _ => self.of[id as usize],
        }
    }

    /// For every scope, the scope of the innermost function body around the scope, or
    /// 0.
    pub(crate) fn functions(&self, graph: &Graph) -> Result<Vec<Scope>> {
        let mut is_body = vec![false; self.len()];
        for id in 0..graph.len() as Id {
            if matches!(graph.form(id)?, Form::Function(_)) && !graph.operands(id).is_empty() {
                is_body[self.inner[id as usize] as usize] = true;
            }
        }
        Ok(self.innermost(|scope| is_body[scope]))
    }

    /// For every scope, the innermost scope not opened by a `let`, among the scope and
    /// its enclosing scopes.
    pub(crate) fn blocks(&self, graph: &Graph) -> Result<Vec<Scope>> {
        let lets = self.lets(graph)?;
        Ok(self.innermost(|scope| !lets[scope]))
    }

    /// For every scope, true if a `let` opens the scope.
    pub(crate) fn lets(&self, graph: &Graph) -> Result<Vec<bool>> {
        let mut is_let = vec![false; self.len()];
        for id in 0..graph.len() as Id {
            if self.lets && matches!(graph.form(id)?, Form::Let(_)) {
                is_let[self.inner[id as usize] as usize] = true;
            }
        }
        Ok(is_let)
    }

    /// For every scope, the innermost wanted scope among the scope itself and its
    /// enclosing scopes; 0 without a wanted scope.
    fn innermost(&self, wanted: impl Fn(usize) -> bool) -> Vec<Scope> {
        let mut found: Vec<Scope> = (0..self.tree.node_count()).collect();
        for scope in 1..self.len() {
            if !wanted(scope) {
                // A scope has a larger number than the scope around it.
                found[scope] = found[self.parent(scope as Scope) as usize];
            }
        }
        found
    }

    /// The scope around a scope.
    pub(crate) fn parent(&self, scope: Scope) -> Scope {
        self.tree.parent(scope)
    }

    /// For every scope, a range from `start` to before `end` with the numbers of the
    /// scope and its inner scopes, in an order from outer to inner scopes. Linear.
    pub(crate) fn ranges(&self) -> Vec<(u32, u32)> {
        let mut sizes = vec![1u32; self.len()];
        // A scope has a larger number than the scope around it.
        for scope in (1..self.len()).rev() {
            sizes[self.parent(scope as Scope) as usize] += sizes[scope];
        }
        let mut ranges = vec![(0, sizes[0]); self.len()];
        let mut next = vec![1; self.len()];
        for scope in 1..self.len() {
            let place = &mut next[self.parent(scope as Scope) as usize];
            let start = *place;
            *place += sizes[scope];
            ranges[scope] = (start, start + sizes[scope]);
            next[scope] = start + 1;
        }
        ranges
    }

    /// Checks that users of a variable of a scope are computed in the scope.
    fn check(&self, graph: &Graph) -> Result<()> {
        for id in 0..graph.len() as Id {
            let Form::Var(var) = graph.form(id)? else {
                continue;
            };
            let Some(binder) = graph.binder(var) else {
                continue;
            };
            let form = graph.form(binder)?;
            let scope = self.scope(id);
            let is_inside = match form {
                Form::Match(cases) => (1..=cases.clauses.len())
                    .any(|position| self.contains(form, binder, position, scope)),
                Form::Let(_) if !self.lets => true,
                _ => self.contains(form, binder, 0, scope),
            };
            if !is_inside {
                return Err(Error::value_error(format!(
                    "the variable %{} is used outside of the scope that binds it, maybe by an \
                     expression that is also used there",
                    var.name_hint
                )));
            }
        }
        Ok(())
    }

    fn contains(&self, form: Form<'_>, id: Id, position: usize, scope: Scope) -> bool {
        let around = self.of_operand(form, id, position);
        self.tree.common(around, scope) == around
    }
}
