//! Levels of comparison: the parts of programs that a comparison ignores.
//!
//! A [`Level`] rewrites a program into a normal form, and all engines of the core compare
//! normal forms as they compare programs.
//!
//! | file | job |
//! |---|---|
//! | `dialects.rs`, `dialects.toml` | the knowledge of dialects, and the built-in table |
//! | `table.rs` | the reader of such tables |
//! | `attributes.rs` | names, contents of constants, defaults, properties as attributes |
//! | `commutative.rs` | the order of operands |
//! | `order.rs`, `unreached.rs` | the order of private symbols |

mod attributes;
mod commutative;
mod dialects;
mod order;
mod table;
mod unreached;

pub use dialects::Dialects;

use std::sync::Arc;

use isoform::types::TypeIndex;
use isoform::{Ref, Result};

use crate::nodes::Program;

/// The parts of programs that a comparison ignores: two programs that differ in nothing else
/// are equal.
///
/// ```
/// use isoform::structural_equal;
/// use isoform_mlir::{Level, read};
///
/// let left = read(r#""stablehlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>"#)?;
/// let right = read(r#""stablehlo.constant"() <{value = dense<2.0> : tensor<4xf32>}> : () -> tensor<4xf32>"#)?;
/// assert!(!structural_equal(&left, &right)?);
///
/// let architecture = Level::strict().contents(false);
/// assert!(structural_equal(architecture.apply(&left)?, architecture.apply(&right)?)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Level {
    io_names: bool,
    contents: bool,
    symbol_order: bool,
    semantics: bool,
    dialects: Arc<Dialects>,
}

impl Level {
    /// The level at which programs are compared as they are.
    pub fn strict() -> Level {
        Level {
            io_names: true,
            contents: true,
            symbol_order: true,
            semantics: false,
            dialects: Dialects::builtin().clone(),
        }
    }

    /// False to drop attributes that only name arguments and results, such as
    /// `jax.result_info`.
    #[must_use]
    pub fn io_names(mut self, is_compared: bool) -> Level {
        self.io_names = is_compared;
        self
    }

    /// False to drop the numbers of constants and the contents of all resources. Their types
    /// stay.
    #[must_use]
    pub fn contents(mut self, is_compared: bool) -> Level {
        self.contents = is_compared;
        self
    }

    /// False to put the operations of private symbols into an order that depends neither on
    /// their names nor on their order.
    #[must_use]
    pub fn symbol_order(mut self, is_compared: bool) -> Level {
        self.symbol_order = is_compared;
        self
    }

    /// True to use the equalities of the [`Dialects`]: operands of commutative operations
    /// have no order, attributes equal to their default are absent, and `<{…}>` and `{…}`
    /// are one dictionary.
    #[must_use]
    pub fn semantics(mut self, are_used: bool) -> Level {
        self.semantics = are_used;
        self
    }

    /// The knowledge of dialects that the other settings use, in place of the
    /// [built-in one](Dialects::builtin).
    #[must_use]
    pub fn dialects(mut self, dialects: Arc<Dialects>) -> Level {
        self.dialects = dialects;
        self
    }

    /// The normal form of a program: two programs are equal at this level if their normal
    /// forms are equal. The same object if the level changes nothing.
    ///
    /// # Errors
    ///
    /// `ValueError` if the program is malformed, for example if it contains itself.
    pub fn apply(&self, program: &Ref<Program>) -> Result<Ref<Program>> {
        let mut program = program.clone();
        if !self.io_names || !self.contents || self.semantics {
            program = attributes::simplified(self, &program)?;
        }
        // The order of symbols comes last, since it depends on everything else. The order
        // of operands is that of definitions which are visible in one place, among which no
        // private symbol moves.
        if self.semantics {
            program = commutative::sorted(&self.dialects, &program)?;
        }
        if !self.symbol_order {
            program = order::ordered(&program)?;
        }
        Ok(program)
    }
}

impl Default for Level {
    fn default() -> Self {
        Level::strict()
    }
}

/// A filter for these types of objects.
fn only<const N: usize>(types: [TypeIndex; N]) -> impl Fn(Option<TypeIndex>) -> bool {
    move |ty| ty.is_some_and(|ty| types.contains(&ty))
}
