//! Generates the impls turning a trait into a type attribute.
//!
//! There are four: `NodeTrait` (the name and type of the attribute), `Implementation` (views a node
//! as the trait, for Rust and for calls from other languages), the trait for `Adapter`, calling the
//! functions in the attribute's value, and the trait for `Defaults`, running the default body of
//! one method, with an adapter for all other methods.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::model::{Argument, MethodModel, TraitModel};
use crate::expand::located_at;

/// The trait itself, followed by the impls.
pub(crate) fn expand(model: &TraitModel) -> TokenStream {
    let cx = Ctx::new(model);
    let node_trait = cx.node_trait();
    let implementation = cx.implementation();
    let adapter = (!cx.is_rust_only()).then(|| cx.adapter());
    let defaults = model
        .methods
        .iter()
        .enumerate()
        .filter(|(_, method)| method.has_default)
        .map(|(index, _)| cx.defaults(index));
    let diagnostic = cx.diagnostic();
    let item = &model.item;
    quote! {
        #diagnostic
        #item
        const _: () = {
            #node_trait
            #implementation
            #adapter
            #(#defaults)*
        };
    }
}

struct Ctx<'a> {
    model: &'a TraitModel,
    ident: &'a Ident,
    /// The `__private` module.
    private: TokenStream,
}

impl<'a> Ctx<'a> {
    fn new(model: &'a TraitModel) -> Self {
        let krate = &model.krate;
        Self {
            model,
            ident: &model.item.ident,
            private: quote!(#krate::__private),
        }
    }

    /// True if only Rust can implement the trait.
    fn is_rust_only(&self) -> bool {
        self.model.methods.is_empty() && self.model.has_rust_only
    }

    /// The compiler's message for a node type naming the trait without an implementation, unless
    /// the trait provides its own message.
    fn diagnostic(&self) -> Option<TokenStream> {
        let is_given = self.model.item.attrs.iter().any(|attr| {
            let name = attr.path().segments.last();
            name.is_some_and(|segment| segment.ident == "on_unimplemented")
        });
        let message = format!(
            "`{{Self}}` does not implement the node trait `{}`",
            self.ident
        );
        let note = format!("write `impl {} for {{Self}}`", self.ident);
        (!is_given)
            .then(|| quote!(#[diagnostic::on_unimplemented(message = #message, note = #note)]))
    }

    /// The description of the attribute.
    fn node_trait(&self) -> TokenStream {
        let Self { ident, private, .. } = self;
        let name = &self.model.name;
        let doc = self.model.doc.as_deref().unwrap_or_default();
        let methods = self.model.methods.iter().map(|method| {
            let name = method.bare_name();
            let doc = method.doc.as_deref().unwrap_or_default();
            let required = !method.has_default;
            let arguments = method
                .arguments
                .iter()
                .map(|argument| argument.ident.unraw().to_string());
            quote! {
                #private::TraitMethod {
                    name: #name,
                    doc: #doc,
                    required: #required,
                    arguments: &[#(#arguments),*],
                }
            }
        });
        let adapted = if self.is_rust_only() {
            quote! {
                type Adapted<'object> = ::core::convert::Infallible;
                fn adapt(
                    _: #private::Adapter<'_, Self>,
                ) -> ::core::option::Option<Self::Adapted<'_>> {
                    ::core::option::Option::None
                }
                fn adapted<'adapter, 'object>(
                    adapted: &'adapter Self::Adapted<'object>,
                ) -> &'adapter Self::Object<'object> {
                    match *adapted {}
                }
            }
        } else {
            quote! {
                type Adapted<'object> = #private::Adapter<'object, Self>;
                fn adapt(
                    adapter: #private::Adapter<'_, Self>,
                ) -> ::core::option::Option<Self::Adapted<'_>> {
                    ::core::option::Option::Some(adapter)
                }
                fn adapted<'adapter, 'object>(
                    adapted: &'adapter Self::Adapted<'object>,
                ) -> &'adapter Self::Object<'object> {
                    adapted
                }
            }
        };
        let rust_only = self.is_rust_only();
        quote! {
            #[automatically_derived]
            impl #private::NodeTrait for dyn #ident {
                type Object<'object> = dyn #ident + 'object;
                const NAME: &'static str = #name;
                const DOC: &'static str = #doc;
                const METHODS: &'static [#private::TraitMethod] = &[#(#methods),*];
                const RUST_ONLY: bool = #rust_only;
                fn cell() -> &'static #private::TraitCell {
                    static CELL: #private::TraitCell = #private::TraitCell::new();
                    &CELL
                }
                #adapted
            }
        }
    }

    /// The views and calls of nodes implementing the trait.
    fn implementation(&self) -> TokenStream {
        let Self { ident, private, .. } = self;
        let calls = self.model.methods.iter().map(|method| self.call(method));
        quote! {
            #[automatically_derived]
            impl<NodeOfTrait: #private::Node + #ident> #private::Implementation<NodeOfTrait> for dyn #ident {
                const CALLS: &'static [#private::MethodCall] = &[#(#calls),*];
                fn view(node: &NodeOfTrait) -> &(dyn #ident + '_) {
                    node
                }
            }
        }
    }

    /// A function calling the method of a node with values.
    fn call(&self, method: &MethodModel) -> TokenStream {
        let Self { ident, private, .. } = self;
        let function = &method.ident;
        let count = method.arguments.len() + 1;
        // The first argument is the node.
        let arguments = (1usize..)
            .zip(&method.arguments)
            .map(|(position, argument)| {
                let Argument { ty, target, .. } = argument;
                match target {
                    Some(target) => quote_spanned!(located_at(ty.span())=>
                        <#target as #private::Borrowed>::borrow(&call.held::<#target>(#position)?)
                    ),
                    None => {
                        quote_spanned!(located_at(ty.span())=> call.argument::<#ty>(#position)?)
                    }
                }
            });
        let parameters = method
            .arguments
            .iter()
            .map(|Argument { ty, target, .. }| match target {
                Some(target) => quote_spanned!(located_at(ty.span())=>
                    #private::parameter_ref::<#target>()
                ),
                None => quote_spanned!(located_at(ty.span())=> #private::parameter::<#ty>()),
            });
        let into_value = self.result(method, "into_value");
        let schema = self.result(method, "schema");
        quote! {
            #private::MethodCall {
                body: |call| {
                    call.expect(#count)?;
                    let node = call.argument::<#private::Ref<NodeOfTrait>>(0)?;
                    #into_value(<NodeOfTrait as #ident>::#function(&node, #(#arguments),*))
                },
                signature: || #private::signature(
                    [#private::parameter::<#private::Ref<NodeOfTrait>>(), #(#parameters),*],
                    #schema(),
                ),
            }
        }
    }

    /// The trait, implemented by the functions in the attribute's value.
    fn adapter(&self) -> TokenStream {
        let Self { ident, private, .. } = self;
        let methods = self
            .model
            .methods
            .iter()
            .enumerate()
            .map(|(index, method)| {
                let function = &method.ident;
                let names = method.arguments.iter().map(|argument| &argument.ident);
                let call = self.adapter_call(index, method);
                let body = if method.has_default {
                    quote! {
                        if self.has(#index) {
                            #call
                        } else {
                            <#private::Defaults<'_, dyn #ident, #index> as #ident>::#function(
                                &#private::Defaults::of(self),
                                #(#names),*
                            )
                        }
                    }
                } else {
                    call
                };
                self.method(method, &body)
            });
        quote! {
            #[automatically_derived]
            impl #ident for #private::Adapter<'_, dyn #ident> {
                #(#methods)*
            }
        }
    }

    fn adapter_call(&self, index: usize, method: &MethodModel) -> TokenStream {
        let private = &self.private;
        let values = method.arguments.iter().map(|argument| {
            let Argument { ident, ty, target } = argument;
            match target {
                Some(target) => quote_spanned!(located_at(ty.span())=>
                    #private::lend::<#target>(#ident)?
                ),
                None => quote_spanned!(located_at(ty.span())=> #private::pass::<#ty>(#ident)?),
            }
        });
        // A type without conversions is reported at its place in the source.
        let output = &method.output;
        let result =
            quote_spanned!(located_at(output.span())=> <#output as #private::MethodResult>);
        quote! {
            #result::from_answer((|| self.call(#index, &[self.receiver(), #(#values),*]))())
        }
    }

    /// A function of `MethodResult` for the method; an impossible result is reported at its place
    /// in the source.
    fn result(&self, method: &MethodModel, function: &str) -> TokenStream {
        let private = &self.private;
        let output = &method.output;
        let place = located_at(output.span());
        let function = Ident::new(function, place);
        quote_spanned!(place=> <#output as #private::MethodResult>::#function)
    }

    /// The trait with the default body of one method, and an adapter for all other methods.
    fn defaults(&self, left_out: usize) -> TokenStream {
        let Self { ident, private, .. } = self;
        let others = self
            .model
            .methods
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != left_out)
            .map(|(_, method)| {
                let function = &method.ident;
                let names = method.arguments.iter().map(|argument| &argument.ident);
                let body = quote! {
                    <#private::Adapter<'_, dyn #ident> as #ident>::#function(self.adapter(), #(#names),*)
                };
                self.method(method, &body)
            });
        quote! {
            #[automatically_derived]
            impl #ident for #private::Defaults<'_, dyn #ident, #left_out> {
                #(#others)*
            }
        }
    }

    fn method(&self, method: &MethodModel, body: &TokenStream) -> TokenStream {
        let MethodModel {
            ident,
            arguments,
            output,
            ..
        } = method;
        let arguments = arguments
            .iter()
            .map(|Argument { ident, ty, .. }| quote!(#ident: #ty));
        quote! {
            fn #ident(&self, #(#arguments),*) -> #output {
                #body
            }
        }
    }
}
