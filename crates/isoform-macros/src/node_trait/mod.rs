//! The attribute macro `node_trait`, which makes a trait a type attribute.
//!
//! It works as the derive does: `model` reads the trait and checks it, `expand` writes the impls.
//! What is left to the compiler is whether the types of arguments and results convert: that is said by trait bounds,
//! which are reported at the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemTrait;

mod expand;
mod model;

pub(crate) use model::TraitModel;

/// The whole macro on `proc_macro2` tokens, which unit tests can build.
pub(crate) fn node_trait(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = match syn::parse2::<ItemTrait>(item) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    match TraitModel::new(arguments, item.clone()) {
        Ok(model) => expand::expand(&model),
        Err(error) => {
            // The trait stays, so that what implements it has no errors of its own.
            model::strip(&mut item);
            let error = error.into_compile_error();
            quote!(#item #error)
        }
    }
}
