//! Checks a trait that becomes a type attribute, and collects the data for the expansion.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, FnArg, Ident, ItemTrait, LitStr, Pat, Path, ReturnType, Token, TraitItem,
    TraitItemFn, Type, TypeParamBound,
};

use crate::errors::Errors;
use crate::parse;

/// The supertraits of an implementation by functions.
const SUPERTRAITS: [&str; 2] = ["Send", "Sync"];

/// A trait with a declaration correct as far as a macro can tell.
pub(crate) struct TraitModel {
    /// The trait in its final form in the program.
    pub(crate) item: ItemTrait,
    /// The name of the attribute.
    pub(crate) name: LitStr,
    /// The path of the isoform crate.
    pub(crate) krate: Path,
    pub(crate) doc: Option<String>,
    /// The methods visible to other languages.
    pub(crate) methods: Vec<MethodModel>,
    /// True if there are methods visible only to Rust.
    pub(crate) has_rust_only: bool,
}

/// A method callable from other languages, and implemented there.
pub(crate) struct MethodModel {
    pub(crate) ident: Ident,
    pub(crate) doc: Option<String>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) output: Type,
    /// True if an implementation may leave the method out.
    pub(crate) has_default: bool,
}

/// An argument after `self`.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The type as written.
    pub(crate) ty: Type,
    /// The target of a shared reference.
    pub(crate) target: Option<Type>,
}

impl TraitModel {
    /// Checks the declaration; the error holds every mistake found.
    pub(crate) fn new(arguments: TokenStream, mut item: ItemTrait) -> syn::Result<Self> {
        let mut errors = Errors::default();
        let arguments = errors.keep(read_arguments.parse2(arguments));
        check_trait(&item, &mut errors);
        let mut methods = Vec::new();
        let mut rust_only = Vec::new();
        for member in &mut item.items {
            let TraitItem::Fn(function) = member else {
                errors.push_at(member, "expected a node trait with nothing but methods");
                continue;
            };
            if take_rust_only(&mut function.attrs, &mut errors) {
                rust_only.push(function.clone())
            } else {
                methods.extend(check_method(function, &mut errors))
            }
        }
        // Without other methods, only Rust can implement the trait, and each implementation
        // provides all methods.
        if !methods.is_empty() {
            for function in rust_only
                .iter()
                .filter(|function| function.default.is_none())
            {
                errors.push_at(
                    &function.sig.ident,
                    format!(
                        "method `{}` is for Rust only and needs a body, which implementations in other languages get",
                        function.sig.ident
                    ),
                );
            }
        }
        let model = arguments.map(|(name, krate)| Self {
            doc: parse::doc(&item.attrs),
            name,
            krate: krate.unwrap_or_else(|| syn::parse_quote!(::isoform)),
            methods,
            has_rust_only: !rust_only.is_empty(),
            item,
        });
        errors.finish(model)
    }
}

/// Removes the attributes of this macro from the trait.
pub(crate) fn strip(item: &mut ItemTrait) {
    for member in &mut item.items {
        if let TraitItem::Fn(function) = member {
            function
                .attrs
                .retain(|attr| !attr.path().is_ident("node_trait"));
        }
    }
}

/// `"name"` or `"name", crate = path`.
fn read_arguments(input: ParseStream<'_>) -> syn::Result<(LitStr, Option<Path>)> {
    const EXPECTED: &str = "expected `#[node_trait(\"name\")]` with the name of the attribute";
    if !input.peek(LitStr) {
        return Err(input.error(EXPECTED));
    }
    let name = input.parse::<LitStr>()?;
    if name.value().is_empty() {
        return Err(syn::Error::new_spanned(
            name,
            "expected an attribute name that is not empty",
        ));
    }
    let mut krate = None;
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
        if !input.is_empty() {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = Some(input.call(Path::parse_mod_style)?);
        }
    }
    if !input.is_empty() {
        return Err(input.error("expected nothing after the name and `crate = path`"));
    }
    Ok((name, krate))
}

fn check_trait(item: &ItemTrait, errors: &mut Errors) {
    if !item.generics.params.is_empty() {
        errors.push_at(
            &item.generics.params,
            "expected a node trait without generic parameters: an attribute name names one trait",
        );
    }
    if let Some(clause) = &item.generics.where_clause {
        errors.push_at(clause, "expected a node trait without a `where` clause");
    }
    if let Some(keyword) = &item.unsafety {
        errors.push_at(
            keyword,
            "expected a safe node trait: other languages can implement it",
        );
    }
    for bound in &item.supertraits {
        let is_allowed = match bound {
            TypeParamBound::Trait(bound) => {
                SUPERTRAITS.iter().any(|name| bound.path.is_ident(name))
            }
            _ => false,
        };
        if !is_allowed {
            errors.push_at(
                bound,
                format!(
                    "expected no supertrait but `{}`, found `{}`: an implementation in another language has no others",
                    SUPERTRAITS.join("` and `"),
                    bound.to_token_stream()
                ),
            );
        }
    }
}

/// Removes `#[node_trait(rust_only)]` from `attrs`; returns true if it was there.
fn take_rust_only(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> bool {
    let mut found = false;
    attrs.retain(|attr| {
        if !attr.path().is_ident("node_trait") {
            return true;
        }
        let is_rust_only = attr
            .parse_args::<Ident>()
            .is_ok_and(|option| option == "rust_only");
        if !is_rust_only {
            errors.push_at(attr, "expected `#[node_trait(rust_only)]` on a method");
        }
        // A malformed option is reported once, without consequential errors.
        found = true;
        false
    });
    found
}

/// The method as seen by other languages; None after an error.
fn check_method(function: &TraitItemFn, errors: &mut Errors) -> Option<MethodModel> {
    let sig = &function.sig;
    let name = &sig.ident;
    let mut wrong = Vec::<(TokenStream, String)>::new();
    let mut refuse = |tokens: &dyn ToTokens, what: &str| {
        let message =
            format!("expected method `{name}` {what}, or `#[node_trait(rust_only)]` on it");
        wrong.push((tokens.to_token_stream(), message));
    };
    if let Some(attr) = function
        .attrs
        .iter()
        .find(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
    {
        refuse(attr, "without conditions: other languages see one trait");
    }
    if !sig.generics.params.is_empty() {
        refuse(&sig.generics.params, "without generic parameters");
    }
    if let Some(clause) = &sig.generics.where_clause {
        refuse(clause, "without a `where` clause");
    }
    for keyword in [
        sig.asyncness.as_ref().map(ToTokens::to_token_stream),
        match &sig.safety {
            syn::Safety::Unsafe(keyword) => Some(keyword.to_token_stream()),
            syn::Safety::Safe(_) | syn::Safety::Default => None,
        },
        sig.abi.as_ref().map(ToTokens::to_token_stream),
    ]
    .into_iter()
    .flatten()
    {
        refuse(&keyword, &format!("without `{keyword}`"));
    }
    let mut inputs = sig.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if is_shared_self(receiver) => {}
        Some(first) => refuse(first, "to take `&self`"),
        None => refuse(name, "to take `&self`"),
    }
    let mut arguments = Vec::new();
    for input in inputs {
        let FnArg::Typed(typed) = input else { continue };
        let Pat::Ident(pattern) = &*typed.pat else {
            refuse(&typed.pat, "with a name for each argument");
            continue;
        };
        match &*typed.ty {
            Type::ImplTrait(ty) => refuse(ty, "without `impl Trait`"),
            Type::Reference(reference) if reference.mutability.is_some() => {
                refuse(reference, "without mutable references");
            }
            Type::Reference(reference) if reference.lifetime.is_some() => {
                refuse(reference, "without named lifetimes");
            }
            _ => {}
        }
        arguments.push(Argument {
            ident: pattern.ident.clone(),
            ty: (*typed.ty).clone(),
            target: match &*typed.ty {
                Type::Reference(reference) => Some((*reference.elem).clone()),
                _ => None,
            },
        });
    }
    let output = match &sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => {
            refuse(name, "to return an `isoform::Result`");
            None
        }
    };
    let is_right = wrong.is_empty();
    for (tokens, message) in wrong {
        errors.push_at(tokens, message);
    }
    let output = output.filter(|_| is_right)?;
    Some(MethodModel {
        ident: name.clone(),
        doc: parse::doc(&function.attrs),
        arguments,
        output,
        has_default: function.default.is_some(),
    })
}

fn is_shared_self(receiver: &syn::Receiver) -> bool {
    matches!(receiver.kind, syn::ReceiverKind::Reference(_, _, None))
}

impl MethodModel {
    /// The method's name in other languages.
    pub(crate) fn bare_name(&self) -> String {
        self.ident.unraw().to_string()
    }
}
