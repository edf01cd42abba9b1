//! Options of patterns.

use super::data::{Hole, InteriorUses, Pattern, PatternOptions};
use crate::kernel::error::Result;
use crate::kernel::setters::setters;
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
    setters! {
        /// Sets whether free variables map one to one, or each to itself only.
        map_free_vars: bool,
        /// Sets whether operands of commutative nodes match in any order.
        commutative: bool,
        /// Sets whether repeated parts are compared by identity.
        identity: bool,
        /// Sets whether variables are looked through to their definitions.
        definitions: bool,
        /// Sets the users that inner nodes may have.
        interior_uses: InteriorUses,
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
    /// assert!(times_one.match_value(tir::Mul::new(&a, &one)?)?.is_some());
    /// assert!(times_one.match_value(tir::Mul::new(&one, &a)?)?.is_some());
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
