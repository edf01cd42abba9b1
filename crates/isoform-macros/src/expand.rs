//! Writes the impls of a checked node type.
//!
//! Every path starts at `::core` or at the `__private` module of the isoform crate, so no item in
//! the user's scope changes the meaning of the expansion. Field identifiers keep their spans, so
//! compiler errors about a field point at the field, and the local variables are hygienic: no field
//! name can capture them.
//!
//! The expansion of the derive has one `unsafe impl`; the expansions of all other macros have no
//! unsafe code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Lit, LitStr, Path, Type, UnOp};

use crate::attrs::AttrOption;
use crate::model::{BaseModel, FieldModel, NodeModel};
use crate::parse::{DefaultValue, bare_name};

/// Types whose literals need no conversion; converting would break the inference of the literal's own type.
const PRIMITIVES: [&str; 16] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// The whole expansion.
pub(crate) fn expand(node: &NodeModel) -> TokenStream {
    let cx = Ctx::new(node);
    let node_impl = cx.node_impl();
    let deref_impl = node.base.as_ref().map(|base| cx.deref_impl(base));
    let upcast_impls = cx.upcast_impls();
    let drop_check = cx.drop_check();
    let inherent_impl = cx.inherent_impl();
    let binding_checks = cx.binding_checks();
    quote! {
        const _: () = {
            #node_impl
            #deref_impl
            #upcast_impls
            #drop_check
            #inherent_impl
            #(#binding_checks)*
        };
    }
}

/// The node and the tokens used by most parts of its expansion.
struct Ctx<'a> {
    node: &'a NodeModel,
    ident: &'a Ident,
    /// The `__private` module.
    private: TokenStream,
    /// The type of the parent node.
    parent: TokenStream,
}

impl<'a> Ctx<'a> {
    fn new(node: &'a NodeModel) -> Self {
        let krate = &node.krate;
        let private = quote!(#krate::__private);
        let parent = match &node.base {
            Some(base) => base.ty.to_token_stream(),
            None => quote!(#private::Obj),
        };
        Self {
            node,
            ident: &node.ident,
            private,
            parent,
        }
    }

    /// The impl used by all other parts, and the only unsafe impl.
    ///
    /// The impl is sound because the model has checked the requirements of the trait: the layout is
    /// `repr(C)`, the base is the first field, each offset and type comes from the compiler, and
    /// the drop check follows. The impl has no `allow(unsafe_code)`: rustc does not report this
    /// lint inside the expansion of a foreign macro, and an `allow` would be an error in a crate
    /// that forbids unsafe code.
    fn node_impl(&self) -> TokenStream {
        let Self {
            ident,
            private,
            parent,
            ..
        } = self;
        let key = &self.node.key;
        let definition = self.definition();
        let clones = self.field_clones();
        quote! {
            #[automatically_derived]
            unsafe impl #private::Node for #ident {
                type Parent = #parent;
                const TYPE_KEY: &'static str = #key;
                #[inline]
                fn type_index() -> #private::TypeIndex {
                    static CELL: #private::TypeCell = #private::TypeCell::new();
                    CELL.get_or_register::<Self>()
                }
                fn definition() -> #private::TypeDef {
                    #definition
                }
                fn clone_fields(&self) -> Self {
                    Self { #clones }
                }
            }
        }
    }

    /// The expression that builds the `TypeDef`.
    fn definition(&self) -> TokenStream {
        let private = &self.private;
        let options = &self.node.options;
        let kind = format_ident!("{}", options.kind.unwrap_or("Tree"));
        let scope = options.scope.then(|| quote!(.scope(true)));
        let defs_first = options
            .defs_first
            .map(|defs_first| quote!(.defs_first(#defs_first)));
        let visit_order = options.visit_order.as_ref().map(|names| {
            let names = names.iter().map(bare_name);
            quote!(.visit_order([#(#names),*]))
        });
        let aliases = aliases_call(&options.aliases);
        let doc = self.node.doc.as_ref().map(|doc| quote!(.doc(#doc)));
        let fields = self.node.fields.iter().map(|field| self.field_def(field));
        let hooks = options.hooks.iter().map(|hook| {
            let hook = format_ident!("{hook}");
            quote!(.hook(#private::#hook::of::<Self>()))
        });
        let exported = |path: &Path| quote_spanned!(located_at(path.span())=> #path::function());
        let init = options.init.as_ref().map(|path| {
            let function = exported(path);
            quote!(.attr(#private::INIT, #function))
        });
        let convert = options.convert.as_ref().map(|path| {
            let function = exported(path);
            quote!(.attr(<#private::DynConvert as #private::Hook>::NAME, #function))
        });
        let attrs = options.attrs.iter().map(attr_call);
        let definition = quote! {
            #private::TypeDef::of::<Self>()
                .kind(#private::Kind::#kind)
                #scope
                #defs_first
                #visit_order
                #aliases
                #doc
                #(.field(#fields))*
                #(#hooks)*
                #init
                #convert
                #(#attrs)*
        };
        match &options.define {
            Some(complete) => quote!(#complete(#definition)),
            None => definition,
        }
    }

    /// The expression building the `FieldDef` of one field.
    fn field_def(&self, field: &FieldModel) -> TokenStream {
        let private = &self.private;
        let FieldModel {
            ident, ty, name, ..
        } = field;
        // A type unusable in a field is reported at the field.
        let create = quote_spanned!(located_at(ty.span())=> #private::FieldDef::of::<#ty>);
        let flag = field.flag.map(|variant| {
            let variant = format_ident!("{variant}");
            quote!(.flag(#private::FieldFlag::#variant))
        });
        let uses = field
            .uses
            .iter()
            .map(|(method, value)| quote!(.#method(#value)));
        let default = field.default.as_ref().map(|_| {
            let function = default_fn_name(ident);
            quote!(.default_fn(|| #private::into_value::<#ty>(Self::#function())))
        });
        let aliases = aliases_call(&field.aliases);
        let doc = field.doc.as_ref().map(|doc| quote!(.doc(#doc)));
        quote! {
            #create(#name, ::core::mem::offset_of!(Self, #ident))
                #flag
                #(#uses)*
                #default
                #aliases
                #doc
        }
    }

    /// The fields of a struct expression copying `self`.
    fn field_clones(&self) -> TokenStream {
        let private = &self.private;
        let base = self.node.base.as_ref().map(|BaseModel { ident, ty, .. }| {
            quote_spanned!(located_at(ty.span())=> #ident: <#ty as #private::Node>::clone_fields(&self.#ident),)
        });
        let fields = self.node.fields.iter().map(|FieldModel { ident, ty, .. }| {
            quote_spanned!(located_at(ty.span())=> #ident: <#ty as ::core::clone::Clone>::clone(&self.#ident),)
        });
        quote!(#base #(#fields)*)
    }

    fn deref_impl(&self, base: &BaseModel) -> TokenStream {
        let ident = self.ident;
        let BaseModel {
            ident: field, ty, ..
        } = base;
        quote! {
            #[automatically_derived]
            impl ::core::ops::Deref for #ident {
                type Target = #ty;
                #[inline]
                fn deref(&self) -> &#ty {
                    &self.#field
                }
            }
        }
    }

    /// The subtype relation: a node is of its own type, and of every type its parent is of.
    ///
    /// `From<Ref<Node>> for Ref<Parent>` would express the relation with a standard trait, but only
    /// inside the crate that owns `Ref`. The second impl is not recommended in errors: such errors
    /// would be about the root type, at the end of the search.
    fn upcast_impls(&self) -> TokenStream {
        let Self {
            ident,
            private,
            parent,
            ..
        } = self;
        quote! {
            #[automatically_derived]
            impl #private::IsA<#ident> for #ident {
                #[inline]
                fn upcast_to(node: #private::Ref<Self>) -> #private::Ref<#ident> {
                    node
                }
            }
            #[automatically_derived]
            #[diagnostic::do_not_recommend]
            impl<AncestorOfNode> #private::IsA<AncestorOfNode> for #ident
            where
                AncestorOfNode: #private::Node,
                #parent: #private::IsA<AncestorOfNode>,
            {
                #[inline]
                fn upcast_to(node: #private::Ref<Self>) -> #private::Ref<AncestorOfNode> {
                    <#parent as #private::IsA<AncestorOfNode>>::upcast_to(#private::Ref::upcast(node))
                }
            }
        }
    }

    /// Refuses a `Drop` impl: with one, the two impls of the trait would overlap.
    fn drop_check(&self) -> TokenStream {
        let mut ident = self.ident.clone();
        ident.set_span(located_at(ident.span()));
        let assertion = quote_spanned!(ident.span()=> impl NodesMustNotImplementDrop for #ident {});
        quote! {
            const _: () = {
                #[allow(dead_code)]
                trait NodesMustNotImplementDrop {}
                #[allow(drop_bounds)]
                impl<T: ::core::ops::Drop> NodesMustNotImplementDrop for T {}
                #assertion
            };
        }
    }

    /// Refuses to bind variables in a field that holds none, whatever the name of its type.
    fn binding_checks(&self) -> impl Iterator<Item = TokenStream> {
        let private = &self.private;
        let binds = |field: &&FieldModel| matches!(field.flag, Some("Def" | "DefSimple"));
        self.node.fields.iter().filter(binds).map(move |field| {
            let FieldModel { ty, name, .. } = field;
            let message = format!(
                "field `{name}` binds variables, but its type holds none; write `Ref<T>` of a node \
                 type with `kind = var`, or an array of such nodes, and put the name of a variable \
                 into its node"
            );
            quote_spanned!(located_at(ty.span())=>
                const _: () = ::core::assert!(#private::may_bind::<#ty>(), #message);
            )
        })
    }

    /// The default functions, `new` and `with_<field>`.
    fn inherent_impl(&self) -> Option<TokenStream> {
        let node = self.node;
        let base_default = node
            .base
            .iter()
            .filter_map(|base| Some((&base.ident, &base.ty, base.default.as_ref()?)));
        let field_defaults = node
            .fields
            .iter()
            .filter_map(|field| Some((&field.ident, &field.ty, field.default.as_ref()?)));
        let mut methods = base_default
            .chain(field_defaults)
            .map(|(ident, ty, default)| self.default_fn(ident, ty, default))
            .collect::<Vec<_>>();
        if !node.options.no_new {
            methods.push(self.new_fn());
        }
        if !node.options.no_with {
            methods.extend(node.fields.iter().map(|field| self.with_fn(field)));
        }
        let ident = self.ident;
        // Private fields and types are treated like any other; the rest is about names and numbers
        // chosen by the user for the fields.
        (!methods.is_empty()).then(|| {
            quote! {
                #[allow(
                    dead_code,
                    non_snake_case,
                    private_bounds,
                    private_interfaces,
                    unreachable_pub,
                    clippy::impl_trait_in_params,
                    clippy::too_many_arguments
                )]
                impl #ident {
                    #(#methods)*
                }
            }
        })
    }

    /// A function that returns the default of a field, shared by the definition and `new`.
    fn default_fn(&self, ident: &Ident, ty: &Type, default: &DefaultValue) -> TokenStream {
        let private = &self.private;
        let function = default_fn_name(ident);
        let value = match default {
            DefaultValue::Trait => {
                quote_spanned!(located_at(ty.span())=> <#ty as ::core::default::Default>::default())
            }
            DefaultValue::Expr(expr)
                if (is_literal(expr) || is_member(expr)) && !is_primitive(ty) =>
            {
                quote_spanned!(located_at(expr.span())=> #private::IntoField::<#ty>::into_field(#expr))
            }
            DefaultValue::Expr(expr) => expr.to_token_stream(),
        };
        quote! {
            #[doc(hidden)]
            fn #function() -> #ty {
                #value
            }
        }
    }

    /// The constructor: the base and the fields without a default are its arguments.
    fn new_fn(&self) -> TokenStream {
        let private = &self.private;
        let NodeModel {
            vis, base, fields, ..
        } = self.node;
        let doc = self.new_doc();
        let base_argument = base
            .iter()
            .filter(|base| base.default.is_none())
            .map(|BaseModel { ident, ty, .. }| quote!(#ident: #ty));
        let arguments = fields
            .iter()
            .filter(|field| field.default.is_none())
            .map(|FieldModel { ident, ty, .. }| quote!(#ident: impl #private::IntoField<#ty>));
        let arguments = base_argument.chain(arguments);
        let base_init = base.iter().map(|base| match &base.default {
            None => base.ident.to_token_stream(),
            Some(_) => default_init(&base.ident),
        });
        let inits = fields.iter().map(|field| match &field.default {
            None => {
                let ident = &field.ident;
                quote!(#ident: #private::IntoField::into_field(#ident))
            }
            Some(_) => default_init(&field.ident),
        });
        let inits = base_init.chain(inits);
        quote! {
            #[doc = #doc]
            #[must_use]
            #vis fn new(#(#arguments),*) -> #private::Ref<Self> {
                #private::Ref::new(Self { #(#inits),* })
            }
        }
    }

    fn new_doc(&self) -> String {
        let (base, fields) = (&self.node.base, &self.node.fields);
        let is_given = |default: &Option<DefaultValue>| default.is_none();
        let names = |required: bool| {
            let base = base
                .iter()
                .filter(|base| is_given(&base.default) == required)
                .map(|base| base.ident.unraw().to_string());
            let fields = fields
                .iter()
                .filter(|field| is_given(&field.default) == required)
                .map(FieldModel::bare_name);
            base.chain(fields)
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut doc = format!("Creates a `{}` node.", self.node.key.value());
        let (required, defaulted) = (names(true), names(false));
        if !required.is_empty() {
            doc += &format!("\n\nRequired: {required}.");
        }
        if !defaulted.is_empty() {
            doc += &format!("\n\nLeft at their defaults: {defaulted}.");
        }
        doc
    }

    /// The method returning a copy with one field replaced.
    fn with_fn(&self, field: &FieldModel) -> TokenStream {
        let private = &self.private;
        let FieldModel { ident, vis, ty, .. } = field;
        let name = field.bare_name();
        let function = Ident::new(&format!("with_{name}"), located_at(ident.span()));
        let doc = format!("Returns a copy of this node with `{name}` replaced.");
        let copy = Ident::new("copy", Span::mixed_site());
        quote! {
            #[doc = #doc]
            #[must_use]
            #vis fn #function(&self, #ident: impl #private::IntoField<#ty>) -> #private::Ref<Self> {
                let mut #copy = <Self as #private::Node>::clone_fields(self);
                #copy.#ident = #private::IntoField::into_field(#ident);
                #private::Ref::new(#copy)
            }
        }
    }
}

/// The call that sets former names, if there are any.
fn aliases_call(aliases: &[LitStr]) -> Option<TokenStream> {
    (!aliases.is_empty()).then(|| quote!(.aliases([#(#aliases),*])))
}

/// The call adding an attribute to the `TypeDef`.
fn attr_call(attr: &AttrOption) -> TokenStream {
    match attr {
        // A missing implementation of a trait is reported at the trait's name.
        AttrOption::Trait(ty) => {
            quote_spanned!(located_at(ty.span())=> .implements::<#ty, Self>())
        }
        AttrOption::Value { name, value } => quote!(.attr(#name, #value)),
    }
}

/// A span of the expansion, shown as `span` by compiler errors.
///
/// With a span of the user's own code, lints would treat the expansion as code written by the user.
pub(crate) fn located_at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// The name of the function holding the default of field `ident`.
fn default_fn_name(ident: &Ident) -> Ident {
    // The span belongs to the expansion: the name exists only there.
    Ident::new(&format!("__default_{}", ident.unraw()), Span::call_site())
}

fn default_init(ident: &Ident) -> TokenStream {
    let function = default_fn_name(ident);
    quote!(#ident: Self::#function())
}

/// True if `expr` is a literal, with or without a minus sign.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Group(group) => is_literal(&group.expr),
        Expr::Unary(unary) => {
            matches!(unary.op, UnOp::Neg(_))
                && matches!(&*unary.expr, Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)))
        }
        _ => false,
    }
}

/// True if `expr` is a path such as `Op::Add`. The type of `Option::None` follows from the field.
fn is_member(expr: &Expr) -> bool {
    let Expr::Path(path) = expr else {
        return false;
    };
    let last = path.path.segments.last();
    path.path.segments.len() > 1 && last.is_some_and(|last| last.ident != "None")
}

/// True if `ty` is written as the name of a primitive type.
fn is_primitive(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => PRIMITIVES.iter().any(|name| path.path.is_ident(name)),
        // A type passed on by a `macro_rules!` macro.
        Type::Group(group) => is_primitive(&group.elem),
        _ => false,
    }
}
