//! Options of patterns.

use super::data::{Hole, InteriorUses, Pattern, PatternOptions};
use crate::kernel::error::Result;
use crate::kernel::value::Value;

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
    /// Sets whether free variables map one to one, or only to themselves.
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

    /// Sets the allowed users of inner nodes.
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
    /// use isoform_ir::tir;
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
