//! The attribute macro `node_trait`, which makes a trait a type attribute.
//!
//! It works as the derive does: `model` reads the trait and checks it, `expand` writes the impls.
//! What is left to the compiler is whether the types of arguments and results convert: that is said by trait bounds,
//! which are reported at the type.

use proc_macro2::TokenStream;

mod expand;
mod model;

pub(crate) use model::TraitModel;

/// The whole macro on `proc_macro2` tokens, which unit tests can build.
pub(crate) fn node_trait(arguments: TokenStream, item: TokenStream) -> TokenStream {
    syn::parse2(item)
        .and_then(|item| TraitModel::new(arguments, item))
        .map_or_else(syn::Error::into_compile_error, |model| {
            expand::expand(&model)
        })
}
