//! Options of patterns.

use super::hole::Hole;
use super::matching::Pattern;
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// The users that the inner nodes of a match may have: those between its root and the parts
/// of its holes, which a replacement makes superfluous.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum InteriorUses {
    /// As `Inside` for nodes of kind [`dag`](crate::types::Kind::Dag) and for definitions that
    /// were looked through, and for what leads from the root to them; as `Anywhere` for other
    /// nodes, whose sharing has no meaning. A replacement then computes nothing twice.
    #[default]
    Auto,
    /// The match uses them, and nothing else.
    Inside,
    /// Anything may use them.
    Anywhere,
}

/// Options of a pattern; the defaults are those of [`Pattern::new`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct PatternOptions {
    /// True if free variables of the template map to variables of the value one to one,
    /// false if each matches only itself.
    pub map_free_vars: bool,
    /// True if operands match in any order where the type of the template's node has the
    /// attribute [`COMMUTATIVE`](crate::traverse::COMMUTATIVE).
    pub commutative: bool,
    /// True if an object that occurs several times in the template matches one and the same
    /// object of the value, false if it matches equal ones.
    pub identity: bool,
    /// True if a node of the template also matches a variable whose definition matches it.
    pub definitions: bool,
    /// The users that inner nodes may have.
    pub interior_uses: InteriorUses,
}

impl Default for PatternOptions {
    fn default() -> Self {
        PatternOptions {
            map_free_vars: true,
            commutative: false,
            identity: false,
            definitions: false,
            interior_uses: InteriorUses::Auto,
        }
    }
}

impl PatternOptions {
    /// Sets whether free variables map one to one, or each to itself only.
    #[must_use]
    pub fn map_free_vars(mut self, map: bool) -> Self {
        self.map_free_vars = map;
        self
    }

    /// Sets whether operands of commutative nodes match in any order.
    #[must_use]
    pub fn commutative(mut self, commutative: bool) -> Self {
        self.commutative = commutative;
        self
    }

    /// Sets whether repeated parts are compared by identity.
    #[must_use]
    pub fn identity(mut self, identity: bool) -> Self {
        self.identity = identity;
        self
    }

    /// Sets whether variables are looked through to their definitions.
    #[must_use]
    pub fn definitions(mut self, definitions: bool) -> Self {
        self.definitions = definitions;
        self
    }

    /// Sets the users that inner nodes may have.
    #[must_use]
    pub fn interior_uses(mut self, uses: InteriorUses) -> Self {
        self.interior_uses = uses;
        self
    }

    /// [`Pattern::new`] with these options.
    ///
    /// # Errors
    ///
    /// As [`Pattern::new`].
    ///
    /// ```
    /// use isoform::pattern::PatternOptions;
    /// use isoform::tir;
    /// use isoform::values::DType;
    ///
    /// tir::register()?;
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (x, a) = (int("x"), int("a"));
    /// let one = tir::constant(DType::INT32, 1)?;
    /// let options = PatternOptions::default().commutative(true);
    /// let times_one = options.pattern(tir::Mul::new(&x, &one)?, [&x])?;
    /// assert!(times_one.match_value(&tir::Mul::new(&a, &one)?.into())?.is_some());
    /// assert!(times_one.match_value(&tir::Mul::new(&one, &a)?.into())?.is_some());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    pub fn pattern<H: Into<Hole>>(
        self,
        template: impl Into<Value>,
        holes: impl IntoIterator<Item = H>,
    ) -> Result<Pattern> {
        let holes = holes.into_iter().map(Into::into).collect();
        Pattern::make(template.into(), holes, self)
    }
}
