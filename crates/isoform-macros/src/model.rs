//! Checks a struct and its options together, and collects the data for the expansion.

use std::collections::{HashMap, HashSet};

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, LitStr, Path, Type, Visibility};

use crate::errors::Errors;
use crate::parse::{self, DefaultValue, FieldOptions, StructOptions};

/// A node type with a declaration correct as far as a macro can tell.
pub(crate) struct NodeModel {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// The path of the isoform crate.
    pub(crate) krate: Path,
    pub(crate) key: LitStr,
    pub(crate) options: StructOptions,
    pub(crate) doc: Option<String>,
    pub(crate) base: Option<BaseModel>,
    pub(crate) fields: Vec<FieldModel>,
}

/// The field that embeds the parent node.
pub(crate) struct BaseModel {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) default: Option<DefaultValue>,
}

/// A registered field.
pub(crate) struct FieldModel {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    pub(crate) ty: Type,
    /// The registered name.
    pub(crate) name: String,
    /// A variant of `__private::FieldFlag`.
    pub(crate) flag: Option<&'static str>,
    /// Methods of `FieldDef` with their arguments, which decide how the recursive operations treat the field.
    pub(crate) uses: Vec<(Ident, bool)>,
    /// Former names.
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) doc: Option<String>,
}

impl NodeModel {
    /// Checks the declaration; the error holds every mistake found.
    pub(crate) fn new(input: DeriveInput) -> syn::Result<Self> {
        let mut errors = Errors::default();
        check_generics(&input.generics, &mut errors);
        check_repr(&input, &mut errors);
        let mut options = StructOptions::parse(&input.attrs, &mut errors);
        let key = options.key.take();
        // A malformed key has its own error.
        if key.is_none() && !mentions(&input.attrs, "key") {
            errors.push_at(
                &input.ident,
                format!(
                    "node type `{}` has no key, expected `#[node(key = \"dialect.{0}\")]`",
                    input.ident
                ),
            );
        }
        let members = collect_fields(&input, &mut errors);
        if let (Some(order), Some(members)) = (&options.visit_order, &members) {
            check_order(order, members, &mut errors);
        }
        let krate = options
            .krate
            .take()
            .unwrap_or_else(|| syn::parse_quote!(::isoform));
        let node = key.zip(members).map(|(key, (base, fields))| Self {
            doc: parse::doc(&input.attrs),
            ident: input.ident,
            vis: input.vis,
            krate,
            key,
            options,
            base,
            fields,
        });
        errors.finish(node)
    }
}

impl FieldModel {
    /// The name at the root of the names of generated methods.
    pub(crate) fn bare_name(&self) -> String {
        self.ident.unraw().to_string()
    }
}

fn check_generics(generics: &Generics, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.push_at(
            &generics.params,
            "expected a node type without generic parameters: a type key names one type",
        );
    }
    if let Some(clause) = &generics.where_clause {
        errors.push_at(clause, "expected a node type without a `where` clause");
    }
}

/// Requires `#[repr(C)]`: the base must be a prefix of the node, which the default layout does not promise.
fn check_repr(input: &DeriveInput, errors: &mut Errors) {
    // Items other than structs have their own error, and would make this error confusing.
    if !matches!(input.data, Data::Struct(_)) {
        return;
    }
    let mut is_c = false;
    for attr in input
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("repr"))
    {
        let parsed = attr.parse_nested_meta(|meta| {
            is_c |= meta.path.is_ident("C");
            if meta.path.is_ident("packed") {
                return Err(
                    meta.error("expected fields at their natural alignment, found `packed`")
                );
            }
            if meta.input.peek(syn::token::Paren) {
                let arguments;
                syn::parenthesized!(arguments in meta.input);
                arguments.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        });
        errors.keep(parsed);
    }
    if !is_c {
        errors.push_at(
            &input.ident,
            format!(
                "node type `{}` has no fixed layout, expected `#[repr(C)]` on it",
                input.ident
            ),
        );
    }
}

type Members = (Option<BaseModel>, Vec<FieldModel>);

fn collect_fields(input: &DeriveInput, errors: &mut Errors) -> Option<Members> {
    let found = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => {
                return Some(check_fields(fields.named.iter().cloned(), errors));
            }
            Fields::Unit => return Some((None, Vec::new())),
            Fields::Unnamed(_) => "a tuple struct",
        },
        Data::Enum(_) => {
            "an enum; write one struct for each variant, with a common base, or `node_enum!` for \
             names alone"
        }
        Data::Union(_) => "a union",
    };
    errors.push_at(
        &input.ident,
        format!("expected a struct with named fields, found {found}"),
    );
    None
}

fn check_fields(fields: impl Iterator<Item = syn::Field>, errors: &mut Errors) -> Members {
    let mut base = None::<BaseModel>;
    let mut models = Vec::new();
    let mut names = HashMap::<String, Ident>::new();
    for (index, field) in fields.enumerate() {
        let mut options = FieldOptions::parse(&field.attrs, errors);
        // Named fields always have an identifier; syn's type does not say so.
        let Some(ident) = field.ident else { continue };
        if let Some(marker) = options.base.take() {
            check_base(index, &marker, &ident, base.as_ref(), &options, errors);
            check_embedded(&field.ty, errors);
            base.get_or_insert(BaseModel {
                ident,
                ty: field.ty,
                default: options.default,
            });
            continue;
        }
        check_shared(&field.ty, errors);
        let flag = single_flag(&ident, &options.flags, errors);
        let name = match &options.name {
            Some(name) => name.value(),
            None => ident.unraw().to_string(),
        };
        match names.get(&name) {
            Some(earlier) => {
                let message =
                    format!("field name `{name}` is registered twice, first by field `{earlier}`");
                match &options.name {
                    Some(literal) => errors.push_at(literal, message),
                    None => errors.push_at(&ident, message),
                }
            }
            None => {
                names.insert(name.clone(), ident.clone());
            }
        }
        models.push(FieldModel {
            doc: parse::doc(&field.attrs),
            ident,
            vis: field.vis,
            ty: field.ty,
            name,
            flag,
            uses: options.uses,
            aliases: options.aliases,
            default: options.default,
        });
    }
    (base, models)
}

/// Requires that the order of visit names every field once; the fields of a base are known when the
/// type is registered.
fn check_order(order: &[Ident], (base, fields): &Members, errors: &mut Errors) {
    let mut named = HashSet::new();
    for ident in order {
        let name = parse::bare_name(ident);
        if base.is_none() && fields.iter().all(|field| field.name != name) {
            errors.push_at(
                ident,
                format!("`visit_order` names `{ident}`, which is not a field"),
            );
        }
        if !named.insert(name) {
            errors.push_at(ident, format!("`visit_order` names `{ident}` twice"));
        }
    }
    for field in fields {
        if field.flag != Some("Ignore") && !named.contains(&field.name) {
            let message = format!(
                "field `{}` is missing in `visit_order`, which names every field that is not ignored",
                field.name
            );
            errors.push_at(&field.ident, message);
        }
    }
}

fn check_base(
    index: usize,
    marker: &Ident,
    ident: &Ident,
    earlier: Option<&BaseModel>,
    options: &FieldOptions,
    errors: &mut Errors,
) {
    if let Some(earlier) = earlier {
        errors.push_at(
            marker,
            format!(
                "expected one base, found `{ident}` after `{}`",
                earlier.ident
            ),
        );
    } else if index > 0 {
        errors.push_at(
            marker,
            format!("expected the base to be the first field, found `{ident}` at position {index}"),
        );
    }
    for (flag, _) in &options.flags {
        errors.push_at(
            flag,
            format!(
                "expected no `{flag}` on the base: its fields keep the flags of their own type"
            ),
        );
    }
    for (name, _) in &options.uses {
        errors.push_at(
            name,
            format!(
                "expected no `{name}` on the base: its fields keep the settings of their own type"
            ),
        );
    }
    if let Some(name) = &options.name {
        errors.push_at(
            name,
            "expected no `name` on the base: it is not a registered field",
        );
    }
}

/// Refuses a reference to the base: the fields of the base are part of the node.
fn check_embedded(ty: &Type, errors: &mut Errors) {
    if let Some(base) = argument_of("Ref", ty) {
        errors.push_at(
            ty,
            format!("expected the base itself, because its fields are part of the node: `{base}`"),
        );
    }
}

/// Refuses `Rc`, which the compiler would report once for each trait that needs threads.
fn check_shared(ty: &Type, errors: &mut Errors) {
    if let Some(node) = argument_of("Rc", ty) {
        errors.push_at(
            ty,
            format!("expected a field that threads can share: `Ref<{node}>` for a node"),
        );
    }
}

/// The arguments of a generic type with this name.
fn argument_of(name: &str, ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => {
            Some(arguments.args.to_token_stream().to_string())
        }
        _ => None,
    }
}

fn single_flag(
    ident: &Ident,
    flags: &[(Ident, &'static str)],
    errors: &mut Errors,
) -> Option<&'static str> {
    let (first, variant) = flags.first()?;
    for (other, _) in &flags[1..] {
        errors.push_at(
            other,
            format!(
                "expected at most one of `ignore`, `def`, `def_simple` and `uses` on field `{ident}`, found `{first}` and `{other}`"
            ),
        );
    }
    Some(variant)
}

/// True if some `#[node(...)]` among `attrs` contains the word `name`, or is malformed.
fn mentions(attrs: &[Attribute], name: &str) -> bool {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("node"))
        .any(|attr| match &attr.meta {
            syn::Meta::List(list) => list.tokens.clone().into_iter().any(
                |token| matches!(&token, proc_macro2::TokenTree::Ident(ident) if ident == name),
            ),
            _ => true,
        })
}
