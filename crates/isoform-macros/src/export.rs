//! `#[export]`: keeps a plain function, and adds a companion for its registration.
//!
//! Functions and types have separate namespaces in Rust: the companion is a type with the name of
//! the function, and a path to the function is also a path to its companion.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, FnArg, Ident, ItemFn, LitStr, Meta, Pat, Path, ReturnType, Token, Type};

use crate::errors::Errors;
use crate::parse;

/// The options in the parentheses of the attribute.
pub(crate) struct ExportOptions {
    name: LitStr,
    krate: Path,
}

impl Parse for ExportOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const EXPECTED: &str = "expected the global name, as in `#[export(\"dialect.name\")]`";
        if !input.peek(LitStr) {
            return Err(syn::Error::new(input.span(), EXPECTED));
        }
        let name: LitStr = input.parse()?;
        if name.value().is_empty() {
            return Err(syn::Error::new_spanned(name, EXPECTED));
        }
        let mut krate = syn::parse_quote!(::isoform);
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = Path::parse_mod_style(input)?;
        }
        if !input.is_empty() {
            return Err(input.error("expected nothing or `crate = path` after the name"));
        }
        Ok(Self { name, krate })
    }
}

/// One parameter of the function.
struct Parameter {
    /// The registered name; None for `_`.
    name: Option<String>,
    /// The type, without the reference, if any.
    ty: Type,
    by_reference: bool,
    default: Option<Expr>,
    /// True if the parameter or an earlier parameter is marked with `#[keyword]`.
    keyword: bool,
}

/// The unchanged function, and its companion.
pub(crate) fn export(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function: ItemFn = syn::parse2(item).map_err(|error| {
        syn::Error::new(error.span(), "expected a function outside of an impl block")
    })?;
    let mut errors = Errors::default();
    let options = errors.keep(syn::parse2::<ExportOptions>(options));
    check_signature(&function, &mut errors);
    let parameters = function
        .sig
        .inputs
        .iter_mut()
        .filter_map(|input| read_parameter(input, &mut errors))
        .collect::<Vec<_>>();
    let mut parameters = parameters;
    let mut keyword = false;
    for parameter in &mut parameters {
        keyword |= parameter.keyword;
        parameter.keyword = keyword;
    }
    check_defaults(&parameters, &mut errors);
    let options = errors.finish(options)?;
    Ok(expand(&options, &function, &parameters))
}

/// The unchanged function, and the errors.
pub(crate) fn without_defaults(item: TokenStream, error: &TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<ItemFn>(item) else {
        return error.clone();
    };
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(argument) = input {
            argument.attrs.retain(|attr| {
                !attr.path().is_ident("default") && !attr.path().is_ident("keyword")
            });
        }
    }
    quote!(#function #error)
}

fn check_signature(function: &ItemFn, errors: &mut Errors) {
    let sig = &function.sig;
    let mut refuse = |tokens: Option<&dyn quote::ToTokens>, what: &str| {
        if let Some(tokens) = tokens {
            errors.push_at(
                tokens,
                format!("expected an exported function without {what}"),
            );
        }
    };
    refuse(sig.asyncness.as_ref().map(|tokens| tokens as _), "`async`");
    if let syn::Safety::Unsafe(keyword) = &sig.safety {
        refuse(Some(keyword), "`unsafe`");
    }
    refuse(
        sig.variadic.as_ref().map(|tokens| tokens as _),
        "a variable number of arguments",
    );
    if !sig.generics.params.is_empty() {
        refuse(
            Some(&sig.generics.params),
            "generic parameters: a name refers to one function",
        );
    }
}

fn read_parameter(input: &mut FnArg, errors: &mut Errors) -> Option<Parameter> {
    let argument = match input {
        FnArg::Typed(argument) => argument,
        FnArg::Receiver(receiver) => {
            errors.push_at(
                receiver,
                "expected a function without `self`; take `&Ref<Self>` by another name",
            );
            return None;
        }
    };
    let mut default = None;
    let mut keyword = false;
    argument.attrs.retain(|attr| {
        if attr.path().is_ident("keyword") {
            match &attr.meta {
                Meta::Path(_) if !keyword => keyword = true,
                Meta::Path(_) => errors.push_at(attr, "`keyword` is given twice"),
                _ => errors.push_at(attr, "expected `#[keyword]`"),
            }
            return false;
        }
        if !attr.path().is_ident("default") {
            return true;
        }
        match &attr.meta {
            Meta::NameValue(meta) if default.is_none() => default = Some(meta.value.clone()),
            Meta::NameValue(_) => errors.push_at(attr, "`default` is given twice"),
            _ => errors.push_at(attr, "expected `#[default = expression]`"),
        }
        false
    });
    let name = match &*argument.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Some(parse::bare_name(&pattern.ident))
        }
        Pat::Wild(_) => None,
        pattern => {
            errors.push_at(pattern, "expected the name of an argument, not a pattern");
            None
        }
    };
    let (ty, by_reference) = match &*argument.ty {
        Type::Reference(reference) => {
            if let Some(mutability) = &reference.mutability {
                errors.push_at(
                    mutability,
                    "expected an argument by value or by shared reference",
                );
            }
            if let Some(lifetime) = &reference.lifetime {
                errors.push_at(lifetime, "expected a reference without a named lifetime");
            }
            ((*reference.elem).clone(), true)
        }
        other => (other.clone(), false),
    };
    Some(Parameter {
        name,
        ty,
        by_reference,
        default,
        keyword,
    })
}

/// A default before a required argument could never be used.
fn check_defaults(parameters: &[Parameter], errors: &mut Errors) {
    let mut later_required = None::<&Parameter>;
    for parameter in parameters.iter().rev() {
        match (&parameter.default, later_required) {
            (Some(default), Some(required)) => {
                let required = required.name.as_deref().unwrap_or("_");
                errors.push_at(
                    default,
                    format!("expected no default before `{required}`, which has none"),
                );
            }
            // A keyword-only parameter does not affect the positions of the remaining parameters.
            _ if parameter.keyword => {}
            (None, _) if !is_option(&parameter.ty) => later_required = Some(parameter),
            _ => {}
        }
    }
}

/// True if a type is written as `Option<...>`, with None as default.
fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

fn expand(options: &ExportOptions, function: &ItemFn, parameters: &[Parameter]) -> TokenStream {
    let ExportOptions { name, krate } = options;
    let private = quote!(#krate::__private);
    let ident = &function.sig.ident;
    let vis = &function.vis;
    let doc = parse::doc(&function.attrs).unwrap_or_default();
    let count = parameters.len();
    let call = Ident::new("call", Span::mixed_site());
    let held: Vec<Ident> = (0..count)
        .map(|position| format_ident!("argument{position}", span = Span::mixed_site()))
        .collect();
    let reads = parameters
        .iter()
        .enumerate()
        .map(|(position, Parameter { ty, .. })| {
            // Errors about the type then point at the argument.
            if parameters[position].by_reference {
                quote_spanned!(ty.span()=> #private::Call::held::<#ty>(#call, #position)?)
            } else {
                quote_spanned!(ty.span()=> #private::Call::argument::<#ty>(#call, #position)?)
            }
        });
    let gives = parameters.iter().zip(&held).map(|(parameter, held)| {
        let ty = &parameter.ty;
        if parameter.by_reference {
            quote!(<#ty as #private::Borrowed>::borrow(&#held))
        } else {
            quote!(#held)
        }
    });
    let described = parameters.iter().map(|parameter| {
        let ty = &parameter.ty;
        let constructor = if parameter.by_reference {
            quote_spanned!(ty.span()=> #private::parameter_ref::<#ty>())
        } else {
            quote_spanned!(ty.span()=> #private::parameter::<#ty>())
        };
        let named = parameter.name.as_ref().map(|name| quote!(.named(#name)));
        let default = parameter
            .default
            .as_ref()
            .map(|value| quote!(.default_value(#value)));
        let keyword = parameter.keyword.then(|| quote!(.keyword_only()));
        quote!(#constructor #named #default #keyword)
    });
    let returned = match &function.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) => quote!(#ty),
    };
    let schema = quote_spanned!(returned.span()=> <#returned as #private::Returned>::schema());
    let result =
        quote_spanned!(returned.span()=> #private::Returned::into_value(#ident(#(#gives),*)));
    let function_doc = format!(" The function `{}`; always the same object.", name.value());
    let companion = format!(" Registers [`{ident}`]({ident}()); see `isoform::exports`.");
    quote! {
        #function

        #[doc = #companion]
        #[allow(non_camel_case_types)]
        #vis enum #ident {}

        const _: () = {
            fn body(#call: &#private::Call<'_>) -> #private::Result<#private::Value> {
                #private::Call::expect(#call, #count)?;
                #(let #held = #reads;)*
                #result
            }

            impl #ident {
                #[doc = #function_doc]
                #vis fn function() -> #private::Function {
                    static FUNCTION: #private::OnceLock<#private::Function> = #private::OnceLock::new();
                    FUNCTION
                        .get_or_init(|| {
                            let signature = #private::signature([#(#described),*], #schema);
                            #private::Function::exported(body, #name, #doc, signature)
                        })
                        .clone()
                }
            }
        };
    }
}
