//! Reads `attrs(...)`, the type attributes of a node.

use std::collections::HashSet;

use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, LitStr, Token, Type};

use crate::entry::Entry;
use crate::errors::Errors;

/// The form of the option, for errors.
const EXPECTED: &str = "`attrs(...)` of `dyn Trait` and `\"name\" = value`";

/// One attribute of a node type.
pub(crate) enum AttrOption {
    /// `dyn Trait`: a node trait implemented by the type.
    Trait(Box<Type>),
    /// `"name" = value`
    Value { name: LitStr, value: Box<Expr> },
}

impl Parse for AttrOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![dyn]) {
            return Ok(AttrOption::Trait(Box::new(input.parse()?)));
        }
        if !input.peek(LitStr) {
            return Err(input.error("expected `dyn Trait` or `\"name\" = value`"));
        }
        let name = input.parse::<LitStr>()?;
        if !input.peek(Token![=]) {
            let message = format!("expected a value: `{} = value`", name.to_token_stream());
            return Err(syn::Error::new_spanned(name, message));
        }
        input.parse::<Token![=]>()?;
        let value = Box::new(input.parse()?);
        Ok(AttrOption::Value { name, value })
    }
}

impl AttrOption {
    /// The name to be unique among the options, as the user wrote it.
    fn name(&self) -> String {
        match self {
            AttrOption::Trait(ty) => ty.to_token_stream().to_string(),
            AttrOption::Value { name, .. } => name.to_token_stream().to_string(),
        }
    }

    fn push_error(&self, message: &str, errors: &mut Errors) {
        match self {
            AttrOption::Trait(ty) => errors.push_at(ty, message),
            AttrOption::Value { name, .. } => errors.push_at(name, message),
        }
    }
}

/// The attributes listed by `entry`, each name once.
pub(crate) fn parse(entry: &Entry, errors: &mut Errors) -> syn::Result<Vec<AttrOption>> {
    let list = entry.list().ok_or_else(|| entry.expected(EXPECTED))?;
    if list.is_empty() {
        return Err(entry.expected(EXPECTED));
    }
    let listed = Punctuated::<AttrOption, Token![,]>::parse_terminated.parse2(list.clone())?;
    let mut names = HashSet::new();
    let mut attrs = Vec::new();
    for attr in listed {
        let name = attr.name();
        if matches!(&attr, AttrOption::Value { name, .. } if name.value().is_empty()) {
            attr.push_error("expected an attribute name that is not empty", errors);
        } else if names.insert(name.clone()) {
            attrs.push(attr);
        } else {
            attr.push_error(&format!("attribute `{name}` is given twice"), errors);
        }
    }
    Ok(attrs)
}
