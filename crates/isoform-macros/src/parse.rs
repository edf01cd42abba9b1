//! Reads `#[node(...)]` attributes into options.
//!
//! Every entry has one of three forms, `name`, `name = expression` and `name(...)`, and is parsed
//! before its interpretation. An invalid entry therefore does not hide mistakes in later entries.

use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, Lit, LitStr, Path, Token};

use crate::attrs::{self, AttrOption};
use crate::entry::{Entry, EntryValue};
use crate::errors::Errors;

/// The attributes of a struct.
const STRUCT_NAMES: [&str; 14] = [
    "key",
    "kind",
    "scope",
    "defs_first",
    "visit_order",
    "aliases",
    "hooks",
    "init",
    "convert",
    "attrs",
    "define",
    "no_new",
    "no_with",
    "crate",
];

/// The attributes of a field.
const FIELD_NAMES: [&str; 11] = [
    "base",
    "ignore",
    "def",
    "def_simple",
    "uses",
    "default",
    "name",
    "aliases",
    "compare",
    "hash",
    "repr",
];

/// The options of a struct; `None` and `false` if not given.
#[derive(Default)]
pub(crate) struct StructOptions {
    pub(crate) key: Option<LitStr>,
    /// A variant of `__private::Kind`.
    pub(crate) kind: Option<&'static str>,
    pub(crate) scope: bool,
    pub(crate) defs_first: Option<bool>,
    /// Registered names of fields.
    pub(crate) visit_order: Option<Vec<Ident>>,
    /// Former keys.
    pub(crate) aliases: Vec<LitStr>,
    /// Types of hooks in `__private`, in the order written.
    pub(crate) hooks: Vec<&'static str>,
    /// The exported function making an object from arguments.
    pub(crate) init: Option<Path>,
    /// The exported function making an object from another value.
    pub(crate) convert: Option<Path>,
    /// In the order written.
    pub(crate) attrs: Vec<AttrOption>,
    /// A function that completes the definition.
    pub(crate) define: Option<Path>,
    pub(crate) no_new: bool,
    pub(crate) no_with: bool,
    pub(crate) krate: Option<Path>,
}

/// The options of a field.
#[derive(Default)]
pub(crate) struct FieldOptions {
    pub(crate) base: Option<Ident>,
    /// The structural flags in the order written, with their variants of `__private::FieldFlag`;
    /// more than one is an error, reported by the model.
    pub(crate) flags: Vec<(Ident, &'static str)>,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) name: Option<LitStr>,
    /// Former names.
    pub(crate) aliases: Vec<LitStr>,
    /// The flags of the recursive operations in the order written, which is also the name of the `FieldDef` method.
    pub(crate) uses: Vec<(Ident, bool)>,
}

/// The source of a field's default.
pub(crate) enum DefaultValue {
    /// `Default::default()`.
    Trait,
    /// The given expression.
    Expr(Box<Expr>),
}

impl StructOptions {
    /// Reads the `#[node(...)]` attributes among `attrs`.
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        for entry in entries(attrs, "struct", &STRUCT_NAMES, errors) {
            let result = options.set(&entry, errors);
            errors.keep(result);
        }
        options
    }

    fn set(&mut self, entry: &Entry, errors: &mut Errors) -> syn::Result<()> {
        match entry.name.to_string().as_str() {
            "key" => self.key = Some(entry.string()?),
            "kind" => self.kind = Some(entry.kind()?),
            "scope" => self.scope = entry.flag().map(|()| true)?,
            "defs_first" => self.defs_first = Some(entry.flag_or_bool()?),
            "visit_order" => self.visit_order = Some(entry.names()?),
            "aliases" => self.aliases = entry.strings()?,
            "hooks" => self.set_hooks(entry, errors)?,
            "init" => self.init = Some(entry.path()?),
            "convert" => self.convert = Some(entry.path()?),
            "attrs" => self.attrs = attrs::parse(entry, errors)?,
            "define" => self.define = Some(entry.path()?),
            "no_new" => self.no_new = entry.flag().map(|()| true)?,
            "no_with" => self.no_with = entry.flag().map(|()| true)?,
            "crate" => self.krate = Some(entry.path()?),
            _ => {}
        }
        Ok(())
    }

    fn set_hooks(&mut self, entry: &Entry, errors: &mut Errors) -> syn::Result<()> {
        const EXPECTED: &str = "`hooks(...)` of `equal`, `hash` and `verify`";
        let Some(list) = entry.list() else {
            return Err(entry.expected(EXPECTED));
        };
        let hooks = Punctuated::<Ident, Token![,]>::parse_terminated
            .parse2(list.clone())
            .map_err(|_| entry.expected(EXPECTED))?;
        if hooks.is_empty() {
            return Err(entry.expected(EXPECTED));
        }
        for hook in hooks {
            let ty = match hook.to_string().as_str() {
                "equal" => "DynEqual",
                "hash" => "DynHash",
                "verify" => "DynVerify",
                other => {
                    errors.push_at(&hook, format!("expected {EXPECTED}, found hook `{other}`"));
                    continue;
                }
            };
            if self.hooks.contains(&ty) {
                errors.push_at(&hook, format!("hook `{hook}` is given twice"));
            }
            self.hooks.push(ty);
        }
        Ok(())
    }
}

impl FieldOptions {
    /// Reads the `#[node(...)]` attributes among `attrs`.
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        for entry in entries(attrs, "field", &FIELD_NAMES, errors) {
            let result = options.set(entry);
            errors.keep(result);
        }
        options
    }

    fn set(&mut self, entry: Entry) -> syn::Result<()> {
        match entry.name.to_string().as_str() {
            "base" => {
                entry.flag()?;
                self.base = Some(entry.name);
            }
            "ignore" => self.set_flag(entry, "Ignore")?,
            "def" => self.set_flag(entry, "Def")?,
            "def_simple" => self.set_flag(entry, "DefSimple")?,
            "uses" => self.set_flag(entry, "Use")?,
            "default" => {
                self.default = Some(match entry.value {
                    EntryValue::Flag => DefaultValue::Trait,
                    EntryValue::Expr(expr) => DefaultValue::Expr(expr),
                    EntryValue::List(_) => {
                        return Err(entry.expected("`default` or `default = expression`"));
                    }
                });
            }
            "name" => self.name = Some(entry.string()?),
            "aliases" => self.aliases = entry.strings()?,
            "compare" | "hash" | "repr" => {
                let value = entry.bool()?;
                self.uses.push((entry.name, value));
            }
            _ => {}
        }
        Ok(())
    }

    fn set_flag(&mut self, entry: Entry, variant: &'static str) -> syn::Result<()> {
        entry.flag()?;
        self.flags.push((entry.name, variant));
        Ok(())
    }
}

/// The entries of every `#[node(...)]` among `attrs` with names in `known`, each name once; all
/// other entries become errors.
fn entries(attrs: &[Attribute], place: &str, known: &[&str], errors: &mut Errors) -> Vec<Entry> {
    let mut entries = Vec::<Entry>::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("node")) {
        let parsed = attr.parse_args_with(Punctuated::<Entry, Token![,]>::parse_terminated);
        for entry in errors.keep(parsed).into_iter().flatten() {
            let name = &entry.name;
            if !known.iter().any(|known| name == known) {
                let known = known.join("`, `");
                errors.push_at(
                    name,
                    format!("unknown {place} attribute `{name}`, expected one of `{known}`"),
                );
            } else if entries.iter().any(|earlier| earlier.name == *name) {
                errors.push_at(name, format!("{place} attribute `{name}` is given twice"));
            } else {
                entries.push(entry);
            }
        }
    }
    entries
}

/// The name of an identifier as seen by users: without a leading `r#`.
pub(crate) fn bare_name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The doc comment among `attrs`: its lines without the space after the slashes, or `None` for an
/// empty comment.
///
/// Documentation built by a macro, such as `#[doc = include_str!("...")]`, is not a literal and is
/// left out.
pub(crate) fn doc(attrs: &[Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("doc")) {
        if let syn::Meta::NameValue(meta) = &attr.meta
            && let Expr::Lit(literal) = &meta.value
            && let Lit::Str(text) = &literal.lit
        {
            let text = text.value();
            // A block comment is one attribute of several lines, a line comment is one attribute per line.
            lines.extend(
                text.split('\n')
                    .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()),
            );
        }
    }
    let doc = lines.join("\n");
    let doc = doc.trim_matches('\n').trim_end();
    (!doc.is_empty()).then(|| doc.to_owned())
}
