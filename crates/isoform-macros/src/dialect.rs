//! `dialect!`: one list of the node types of a dialect, to register and re-export the types and
//! name the methods of their visitors.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, ItemTrait, ItemUse, LitStr, Path, Token, UseTree, Visibility};

use crate::snake_case::snake_case;

/// The contents of the braces.
struct Dialect {
    name: LitStr,
    krate: Path,
    uses: Vec<ItemUse>,
    visitor: Option<ItemTrait>,
    mutator: Option<ItemTrait>,
}

impl Parse for Dialect {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut dialect = Dialect {
            name: input.parse()?,
            krate: syn::parse_quote!(::isoform),
            uses: Vec::new(),
            visitor: None,
            mutator: None,
        };
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            dialect.krate = Path::parse_mod_style(input)?;
        }
        input.parse::<Token![;]>()?;
        while !input.is_empty() {
            let ahead = input.fork();
            ahead.call(Attribute::parse_outer)?;
            ahead.parse::<Visibility>()?;
            if ahead.peek(Token![use]) {
                dialect.uses.push(input.parse()?);
                continue;
            }
            let item: ItemTrait = input.parse()?;
            let place = match () {
                () if !item.items.is_empty() => None,
                () if dialect.visitor.is_none() => Some(&mut dialect.visitor),
                () if dialect.mutator.is_none() => Some(&mut dialect.mutator),
                () => None,
            };
            match place {
                Some(place) => *place = Some(item),
                None => {
                    return Err(syn::Error::new_spanned(
                        item,
                        "expected the list of types, then at most an empty trait for visitors and one for mutators",
                    ));
                }
            }
        }
        Ok(dialect)
    }
}

/// The re-exports, the function registering the types, and the traits.
pub(crate) fn dialect(input: TokenStream) -> syn::Result<TokenStream> {
    let dialect: Dialect = syn::parse2(input)?;
    let mut types = Vec::new();
    for item in &dialect.uses {
        leaves(&item.tree, &mut types)?;
    }
    if dialect.visitor.is_some() {
        check_methods(&types)?;
    }
    // The types of the module itself are already in scope.
    let is_own =
        |item: &&ItemUse| matches!(&item.tree, UseTree::Path(path) if path.ident == "self");
    let uses = dialect.uses.iter().filter(|item| !is_own(item));
    let (krate, name) = (&dialect.krate, &dialect.name);
    let doc = format!(
        "Registers the node types of the dialect `{}`.",
        name.value()
    );
    let methods = types.iter().map(|ty| match &dialect.visitor {
        Some(_) => {
            let method = snake_case(&ty.to_string());
            quote!(::core::option::Option::Some(#method))
        }
        None => quote!(::core::option::Option::None),
    });
    let traits = traits(&dialect, &types);
    Ok(quote! {
        #(#uses)*

        #[doc = #doc]
        pub(crate) fn register_types() -> #krate::__private::Result<()> {
            #(#krate::__private::register_in::<#types>(#name, #methods)?;)*
            ::core::result::Result::Ok(())
        }

        #traits
    })
}

/// Refuses a type whose methods would have the names of those for all other types.
fn check_methods(types: &[Ident]) -> syn::Result<()> {
    match types
        .iter()
        .find(|ty| snake_case(&ty.to_string()) == "node")
    {
        Some(ty) => Err(syn::Error::new_spanned(
            ty,
            format!(
                "expected another name than `{ty}`: visitors have the method `visit_node` for \
                 types without a method of their own"
            ),
        )),
        None => Ok(()),
    }
}

/// The types that a `use` names.
fn leaves(tree: &UseTree, found: &mut Vec<Ident>) -> syn::Result<()> {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, found),
        UseTree::Name(name) => {
            found.push(name.ident.clone());
            Ok(())
        }
        UseTree::Group(group) => group.items.iter().try_for_each(|item| leaves(item, found)),
        UseTree::Rename(_) | UseTree::Glob(_) => Err(syn::Error::new_spanned(
            tree,
            "expected the names of node types, without `*` and `as`",
        )),
    }
}

/// The traits with a method for each type, and the functions calling the methods.
fn traits(dialect: &Dialect, types: &[Ident]) -> TokenStream {
    let krate = &dialect.krate;
    let positions: Vec<u16> = (0..types.len() as u16).collect();
    let names = |prefix: &str| -> Vec<Ident> {
        let name = |ty: &Ident| format_ident!("{prefix}_{}", snake_case(&ty.to_string()));
        types.iter().map(name).collect()
    };
    let visitor = dialect.visitor.as_ref().map(|item| {
        let methods = Methods {
            item,
            krate,
            types,
            positions: &positions,
            methods: names("visit"),
            end: format_ident!("visit_node"),
            call: format_ident!("visit_as"),
            entry: format_ident!("visit_by_class"),
            verb: "Visits",
            failure: "Those that the visit is to end with.",
            result: quote!(#krate::__private::WalkResult),
        };
        let end = quote! {
            /// Visits a node without a more specific method: by default goes on below the node.
            ///
            /// # Errors
            ///
            /// The errors ending the visit.
            fn visit_node(
                &mut self,
                _op: &#krate::__private::Ref<#krate::__private::Obj>,
            ) -> #krate::__private::Result<#krate::__private::WalkResult> {
                ::core::result::Result::Ok(#krate::__private::WalkResult::Advance)
            }

            /// Called after the visit of a node and all nodes below.
            ///
            /// # Errors
            ///
            /// The errors ending the visit.
            fn leave_node(
                &mut self,
                _op: &#krate::__private::Ref<#krate::__private::Obj>,
            ) -> #krate::__private::Result<()> {
                ::core::result::Result::Ok(())
            }
        };
        methods.expand(&end)
    });
    let mutator = dialect.mutator.as_ref().map(|item| {
        let result = quote!(::core::option::Option<#krate::__private::Value>);
        let methods = Methods {
            item,
            krate,
            types,
            positions: &positions,
            methods: names("mutate"),
            end: format_ident!("mutate_node"),
            call: format_ident!("mutate_as"),
            entry: format_ident!("mutate_by_class"),
            verb: "Returns the replacement of",
            failure: "Those that the rewrite is to end with.",
            result: result.clone(),
        };
        let end = quote! {
            /// Returns the replacement of a node without a more specific method: by default the
            /// node itself.
            ///
            /// # Errors
            ///
            /// The errors ending the rewrite.
            fn mutate_node(
                &mut self,
                _op: &#krate::__private::Ref<#krate::__private::Obj>,
            ) -> #krate::__private::Result<#result> {
                ::core::result::Result::Ok(::core::option::Option::None)
            }
        };
        methods.expand(&end)
    });
    if visitor.is_none() {
        return TokenStream::new();
    }
    quote! {
        /// The position of each class in the list of the dialect.
        fn classes() -> &'static #krate::__private::Dispatch<u16> {
            static CLASSES: #krate::__private::OnceLock<#krate::__private::Dispatch<u16>> =
                #krate::__private::OnceLock::new();
            CLASSES.get_or_init(|| {
                #krate::__private::Dispatch::new()#(.on::<#types>(#positions))*
            })
        }

        #visitor
        #mutator
    }
}

/// One trait.
struct Methods<'a> {
    item: &'a ItemTrait,
    krate: &'a Path,
    types: &'a [Ident],
    positions: &'a [u16],
    methods: Vec<Ident>,
    /// The method at which all defaults end.
    end: Ident,
    /// Calls the method for a position.
    call: Ident,
    /// Calls the method for a node.
    entry: Ident,
    verb: &'static str,
    failure: &'static str,
    result: TokenStream,
}

impl Methods<'_> {
    fn expand(&self, end_of_defaults: &TokenStream) -> TokenStream {
        let Methods {
            item,
            krate,
            types,
            positions,
            methods,
            end,
            call,
            entry,
            verb,
            failure,
            result,
        } = self;
        let (attrs, visibility, name) = (&item.attrs, &item.vis, &item.ident);
        let docs = types
            .iter()
            .map(|ty| format!("{verb} a [`struct@{ty}`]: by default as its parent class."));
        let object = quote!(#krate::__private::Ref<#krate::__private::Obj>);
        let returned = quote!(#krate::__private::Result<#result>).into_token_stream();
        quote! {
            #(#attrs)*
            #visibility trait #name {
                #end_of_defaults
                #(
                    #[doc = #docs]
                    ///
                    /// # Errors
                    ///
                    #[doc = #failure]
                    fn #methods(&mut self, op: &#krate::__private::Ref<#types>) -> #returned {
                        let ty = <#types as #krate::__private::Node>::type_index();
                        #call(self, classes().above(ty), op.as_object())
                    }
                )*
            }

            /// Calls the method for a class of the node.
            #[allow(clippy::impl_trait_in_params)]
            fn #call(
                visitor: &mut (impl #name + ?Sized),
                class: ::core::option::Option<&u16>,
                node: &#object,
            ) -> #returned {
                match class {
                    #(::core::option::Option::Some(#positions) => {
                        match node.downcast_ref::<#types>() {
                            ::core::option::Option::Some(op) => visitor.#methods(op),
                            ::core::option::Option::None => visitor.#end(node),
                        }
                    })*
                    _ => visitor.#end(node),
                }
            }

            /// Calls the method for the class of a node, or for the nearest ancestor with a method.
            #[allow(clippy::impl_trait_in_params)]
            pub(crate) fn #entry(
                visitor: &mut (impl #name + ?Sized),
                node: &#object,
            ) -> #returned {
                #call(visitor, classes().get(node.type_index()), node)
            }
        }
    }
}
