//! The attribute macro `node_trait`, turning a trait into a type attribute.
//!
//! It works like the derive: `model` reads and checks the trait, `expand` generates the impls.
//! The compiler checks whether the types of arguments and results convert, by trait bounds whose errors are reported at
//! the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemTrait;

mod expand;
mod model;

pub(crate) use model::TraitModel;

/// The whole macro on `proc_macro2` tokens, for unit tests.
pub(crate) fn node_trait(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut item = match syn::parse2::<ItemTrait>(item) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    match TraitModel::new(arguments, item.clone()) {
        Ok(model) => expand::expand(&model),
        Err(error) => {
            // The trait is kept: its uses then report no further errors.
            model::strip(&mut item);
            let error = error.into_compile_error();
            quote!(#item #error)
        }
    }
}
