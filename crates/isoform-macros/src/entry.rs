//! One entry of an attribute: a name, alone, with a value or with a list.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Lit, LitStr, Path, Token};

/// The structural kinds, by attribute value and by variant of `__private::Kind`.
const KINDS: [(&str, &str); 6] = [
    ("tree", "Tree"),
    ("const_tree", "ConstTree"),
    ("dag", "Dag"),
    ("var", "Var"),
    ("singleton", "Singleton"),
    ("none", "None"),
];

/// One entry of an attribute, before its interpretation.
pub(crate) struct Entry {
    pub(crate) name: Ident,
    pub(crate) value: EntryValue,
}

/// The part of an entry after its name.
pub(crate) enum EntryValue {
    /// `name`
    Flag,
    /// `name = expression`
    Expr(Box<Expr>),
    /// `name(...)`
    List(TokenStream),
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `crate` is a keyword, refused by plain identifier parsing.
        let name = Ident::parse_any(input)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            EntryValue::Expr(Box::new(ungrouped(input.parse()?)))
        } else if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            EntryValue::List(content.parse()?)
        } else {
            EntryValue::Flag
        };
        Ok(Self { name, value })
    }
}

/// The expression without the invisible group around what a `macro_rules!` macro passes on.
fn ungrouped(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungrouped(*group.expr),
        other => other,
    }
}

impl Entry {
    /// The error for an entry in another form than `expected`.
    pub(crate) fn expected(&self, expected: &str) -> syn::Error {
        let name = &self.name;
        match &self.value {
            EntryValue::Flag => {
                syn::Error::new_spanned(name, format!("expected {expected}, found `{name}` alone"))
            }
            EntryValue::Expr(expr) => {
                let found = expr.to_token_stream();
                syn::Error::new_spanned(
                    expr,
                    format!("expected {expected}, found `{name} = {found}`"),
                )
            }
            EntryValue::List(list) => syn::Error::new_spanned(
                name,
                format!("expected {expected}, found `{name}({list})`"),
            ),
        }
    }

    pub(crate) fn flag(&self) -> syn::Result<()> {
        match self.value {
            EntryValue::Flag => Ok(()),
            _ => Err(self.expected(&format!("`{}` without a value", self.name))),
        }
    }

    /// A flag, also with an explicit boolean.
    pub(crate) fn flag_or_bool(&self) -> syn::Result<bool> {
        if matches!(self.value, EntryValue::Flag) {
            return Ok(true);
        }
        match self.literal() {
            Some(Lit::Bool(value)) => Ok(value.value),
            _ => Err(self.expected(&format!("`{0}` or `{0} = true|false`", self.name))),
        }
    }

    pub(crate) fn bool(&self) -> syn::Result<bool> {
        match self.literal() {
            Some(Lit::Bool(value)) => Ok(value.value),
            _ => Err(self.expected(&format!("`{} = true|false`", self.name))),
        }
    }

    pub(crate) fn string(&self) -> syn::Result<LitStr> {
        match self.literal() {
            Some(Lit::Str(text)) if text.value().is_empty() => Err(syn::Error::new_spanned(
                text,
                format!("expected a `{}` that is not empty", self.name),
            )),
            Some(Lit::Str(text)) => Ok(text.clone()),
            _ => Err(self.expected(&format!("`{} = \"...\"`", self.name))),
        }
    }

    pub(crate) fn path(&self) -> syn::Result<Path> {
        match &self.value {
            EntryValue::Expr(expr) => match &**expr {
                Expr::Path(path) if path.qself.is_none() => Ok(path.path.clone()),
                _ => Err(self.expected(&format!("`{} = path`", self.name))),
            },
            _ => Err(self.expected(&format!("`{} = path`", self.name))),
        }
    }

    /// The contents of the parentheses in `name(...)`.
    pub(crate) fn list(&self) -> Option<&TokenStream> {
        match &self.value {
            EntryValue::List(list) => Some(list),
            _ => None,
        }
    }

    /// The names in the parentheses of `name(...)`, possibly keywords.
    pub(crate) fn names(&self) -> syn::Result<Vec<Ident>> {
        let names = self.list().and_then(|list| {
            let parser = |input: ParseStream<'_>| {
                Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any)
            };
            parser.parse2(list.clone()).ok()
        });
        names
            .filter(|names| !names.is_empty())
            .map(|names| names.into_iter().collect())
            .ok_or_else(|| self.expected(&format!("`{}(first, second, ...)`", self.name)))
    }

    /// The strings of `name = [...]`.
    pub(crate) fn strings(&self) -> syn::Result<Vec<LitStr>> {
        let string = |item: &Expr| match ungrouped(item.clone()) {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        let strings: Option<Vec<LitStr>> = match &self.value {
            EntryValue::Expr(expr) => match &**expr {
                Expr::Array(array) => array.elems.iter().map(string).collect(),
                _ => None,
            },
            _ => None,
        };
        strings
            .filter(|strings| !strings.is_empty())
            .ok_or_else(|| self.expected(&format!("`{} = [\"former name\", ...]`", self.name)))
    }

    pub(crate) fn literal(&self) -> Option<&Lit> {
        match &self.value {
            EntryValue::Expr(expr) => match &**expr {
                Expr::Lit(literal) => Some(&literal.lit),
                _ => None,
            },
            _ => None,
        }
    }

    /// The variant of `__private::Kind` named by `kind = ...`.
    pub(crate) fn kind(&self) -> syn::Result<&'static str> {
        let known = KINDS.map(|(name, _)| name);
        self.path()
            .ok()
            .and_then(|path| KINDS.into_iter().find(|(name, _)| path.is_ident(name)))
            .map(|(_, variant)| variant)
            .ok_or_else(|| self.expected(&format!("`kind = {}`", known.join("|"))))
    }
}
