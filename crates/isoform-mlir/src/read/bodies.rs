//! Types and attributes of dialects, whose bodies are lists of tokens.
//!
//! Nobody but the dialect knows the grammar of a body. The rules for its end are those of
//! MLIR: brackets nest, strings and `->` are skipped, and comments do not exist. White space
//! only separates tokens.
//!
//! An alias in a body is replaced by the tokens of its definition, because that is what a
//! body without the alias has at the place.

use isoform::values::Bytes;
use isoform::{Array, Ref};

use super::Reader;
use super::cursor::text_of;
use super::fault::{Read, refuse};
use super::lexer::{Kind, Token, skip_blank, skip_space, spelled, string_end, suffix, unescape};
use super::numbers::text_value;
use super::tokens::{
    Tokens, is_alias, is_distinct, is_resource, pretty, starts_symbol, verbose, word_length,
};
use super::types::end_of_short;
use super::values::{Object, Step, Want, done, open};
use crate::nodes::{DialectAttr, DialectType, StringAttr, UnitAttr};

/// A body of which some tokens are read.
pub(super) struct Body<'t> {
    kind: BodyKind<'t>,
    tokens: Tokens,
    /// The closing bracket and the number of the opening token, for each open bracket.
    open: Vec<(u8, usize)>,
    /// The token that closes the bracket after the first token.
    pair_end: Option<usize>,
}

impl<'t> Body<'t> {
    /// A body of which nothing is read.
    fn new(kind: BodyKind<'t>) -> Box<Self> {
        Box::new(Body {
            kind,
            tokens: Tokens::default(),
            open: Vec::new(),
            pair_end: None,
        })
    }
}

#[derive(Clone, Copy)]
enum BodyKind<'t> {
    Type(&'t [u8]),
    Attribute(&'t [u8]),
    /// The definition of an alias, by its number.
    Alias(usize),
}

impl<'t> Reader<'t> {
    /// The type or attribute, or the alias of one, that begins with this token.
    pub(super) fn begin_dialect(&mut self, token: Token) -> Read<Step<'t>> {
        let text = self.cursor.text;
        if is_alias(text, token) {
            let value = self.aliased(token)?;
            self.cursor.take()?;
            return Ok(Step::Done(value));
        }
        let mut key = None;
        if text.get(token.end) == Some(&b'<')
            && let Some(end) = end_of_short(text, token.end)
        {
            let text = &text[token.start..end];
            if let Some(value) = self.known.get(text) {
                let value = value.clone();
                self.cursor.jump(end)?;
                return self.end_dialect(value);
            }
            key = Some(text);
        }
        let unsettled = self.unsettled;
        self.rests.push(Box::new(move |reader, node| {
            if let (Some(key), true) = (key, reader.unsettled == unsettled) {
                reader.known.insert(key, node.clone());
            }
            reader.cursor.jump(reader.body_at)?;
            reader.end_dialect(node)
        }));
        self.begin_inner(token)
    }

    /// The type or attribute that begins with this token, without a type after it.
    pub(super) fn begin_inner(&mut self, token: Token) -> Read<Step<'t>> {
        let text = self.cursor.text;
        let name = &text[token.start + 1..token.end];
        if name.starts_with(b".") {
            return refuse(token, "expected the name of a dialect before '.'");
        }
        let body = Body::new(match token.kind {
            Kind::Type => BodyKind::Type(name),
            _ => BodyKind::Attribute(name),
        });
        self.body_at = token.end;
        if text.get(token.end) == Some(&b'<') {
            self.body_at += 1;
            self.read_body(body)
        } else {
            self.end_body(*body, false)
        }
    }

    /// The tokens of an alias. The value is of no interest.
    pub(super) fn begin_alias_tokens(&mut self, number: usize) -> Read<Step<'t>> {
        self.body_at = self.aliases.all[number].range.start;
        self.read_body(Body::new(BodyKind::Alias(number)))
    }

    /// Adds the tokens of an alias, which are known.
    fn splice(&mut self, body: &mut Body<'t>, number: usize) -> Read<()> {
        let alias = &self.aliases.all[number];
        let Some((tokens, spaces)) = &alias.tokens else {
            return Ok(());
        };
        self.spliced += tokens.len();
        if self.spliced > 1_000_000 + 4 * self.cursor.text.len() {
            let message = "expected bodies that are not much longer than the file when aliases \
                           are replaced";
            return refuse(self.body_at..self.body_at, message);
        }
        self.unsettled += usize::from(alias.is_unsettled);
        let first = body.tokens.len();
        body.tokens.values.extend(tokens.iter().cloned());
        body.tokens.spaces.extend_from_slice(spaces);
        if let Some(before) = body.tokens.spaces.get_mut(first) {
            *before = std::mem::take(&mut body.tokens.space);
        }
        Ok(())
    }

    /// Reads tokens up to the end of the body or to a part that nests.
    pub(super) fn read_body(&mut self, mut body: Box<Body<'t>>) -> Read<Step<'t>> {
        let text = self.cursor.text;
        loop {
            let before = self.body_at;
            let at = match body.kind {
                BodyKind::Alias(_) => skip_space(text, before),
                _ => skip_blank(text, before),
            };
            self.body_at = at;
            body.tokens.space |= u8::from(at > before);
            if let BodyKind::Alias(number) = body.kind
                && let alias = &mut self.aliases.all[number]
                && at >= alias.range.end
            {
                let Tokens { values, spaces, .. } = body.tokens;
                alias.tokens = Some((values.into(), spaces.into()));
                return done(UnitAttr::new());
            }
            let Some(&first) = text.get(at) else {
                let message = "expected '>' at the end of the body, got the end of the text";
                return refuse(at..at, message);
            };
            match first {
                b'<' | b'(' | b'[' | b'{' => {
                    // The closing bracket is the next one in ASCII, or the one after that.
                    let closing = first + if first == b'(' { 1 } else { 2 };
                    body.open.push((closing, body.tokens.len()));
                    body.tokens.push_text(&text[at..=at]);
                    self.body_at += 1;
                }
                b'>' | b')' | b']' | b'}' => match body.open.pop() {
                    None if first == b'>' => {
                        self.body_at += 1;
                        return self.end_body(*body, true);
                    }
                    Some((closing, opening)) if closing == first => {
                        if opening == 1 && first == b'>' {
                            body.pair_end = Some(body.tokens.len());
                        }
                        body.tokens.push_text(&text[at..=at]);
                        self.body_at += 1;
                    }
                    open => {
                        let closing = open.map_or(b'>', |(closing, _)| closing);
                        let (closing, got) = (char::from(closing), spelled(&text[at..]));
                        return refuse(at..at + 1, format!("expected '{closing}', got {got}"));
                    }
                },
                b'"' => {
                    self.body_at = string_end(text, at)?;
                    let string = text_value(unescape(&text[at..self.body_at]));
                    body.tokens.push(StringAttr::new(string));
                }
                b'!' | b'#' if suffix(text, at, "").is_ok() => {
                    let kind = if first == b'!' {
                        Kind::Type
                    } else {
                        Kind::Attribute
                    };
                    let mut end = suffix(text, at, "")?;
                    if text[end - 1] == b'-' && text.get(end) == Some(&b'>') {
                        // An arrow does not close the body.
                        end -= 1;
                    }
                    let token = Token {
                        kind,
                        start: at,
                        end,
                    };
                    if !is_alias(text, token) {
                        return open(Want::Inner(token), |reader, node| {
                            body.tokens.push(node);
                            reader.read_body(body)
                        });
                    }
                    self.body_at = token.end;
                    match self.aliases.find(&text[at..token.end]) {
                        Some(number) if self.aliases.all[number].tokens.is_some() => {
                            self.splice(&mut body, number)?;
                        }
                        Some(number) => {
                            let end = self.body_at;
                            return open(Want::AliasTokens(number), move |reader, _| {
                                reader.body_at = end;
                                reader.splice(&mut body, number)?;
                                reader.read_body(body)
                            });
                        }
                        None => body.tokens.push_text(&text[at..token.end]),
                    }
                }
                b'@' if starts_symbol(text, at) => body.tokens.push(self.body_symbol(at)?),
                // The tokens of these alone would be misleading: an identity, a key.
                b'd' if is_distinct(&text[at..]) || is_resource(&text[at..]) => {
                    self.cursor.jump(at)?;
                    return open(Want::Attribute, |reader, node| {
                        reader.body_at = reader.cursor.last_end;
                        body.tokens.push(node);
                        reader.read_body(body)
                    });
                }
                b'a' => match self.body_affine(at)? {
                    Some(node) => body.tokens.push(node),
                    None => self.body_at = body.tokens.push_plain(text, at)?,
                },
                _ => self.body_at = body.tokens.push_plain(text, at)?,
            }
        }
    }

    /// The affine map or set at a position of a body, whose names do not matter. A dialect may
    /// have another syntax under these words.
    fn body_affine(&mut self, at: usize) -> Read<Option<Object>> {
        let rest = &self.cursor.text[at..];
        let is_map = rest.starts_with(b"affine_map<(");
        if !is_map && !rest.starts_with(b"affine_set<(") {
            return Ok(None);
        }
        self.cursor.jump(at)?;
        let node = if is_map {
            self.read_affine_map()
        } else {
            self.read_affine_set()
        };
        if node.is_ok() {
            self.body_at = self.cursor.last_end;
        }
        Ok(node.ok())
    }

    /// A symbol reference in a body.
    fn body_symbol(&mut self, at: usize) -> Read<Object> {
        let text = self.cursor.text;
        let mut names = Vec::new();
        let mut at = at;
        loop {
            let end = match text.get(at + 1) {
                Some(b'"') => string_end(text, at + 1)?,
                _ => at + 1 + word_length(&text[at + 1..]),
            };
            let token = Token {
                kind: Kind::Symbol,
                start: at,
                end,
            };
            names.push(self.cursor.symbol(token)?);
            self.body_at = end;
            let colons = skip_blank(text, end);
            if !text[colons..].starts_with(b"::") {
                break;
            }
            at = skip_blank(text, colons + 2);
            if !starts_symbol(text, at) {
                break;
            }
        }
        Ok(self.symbol_reference(names))
    }

    fn end_body(&mut self, body: Body<'t>, has_body: bool) -> Read<Step<'t>> {
        let name = match body.kind {
            BodyKind::Type(name) | BodyKind::Attribute(name) => name,
            BodyKind::Alias(_) => {
                let at = self.body_at;
                return refuse(at..at, "expected the end of the alias, got '>'");
            }
        };
        let mut tokens = body.tokens;
        tokens.spaces.push(tokens.space);
        let mut parts = name.splitn(2, |&byte| byte == b'.');
        let dialect = text_of(parts.next().unwrap_or_default());
        let (name, tokens) = match parts.next() {
            None | Some(b"") => verbose(tokens, body.pair_end),
            Some(name) => pretty(name, has_body.then_some(tokens))?,
        };
        let (tokens, spaces) = tokens.unzip();
        let (tokens, spaces) = (tokens.map(Array::from), spaces.map(Bytes::from));
        if let BodyKind::Type(_) = body.kind {
            return done(Ref::new(DialectType {
                dialect,
                name,
                body: tokens,
                spaces,
            }));
        }
        done(Ref::new(DialectAttr {
            dialect,
            name,
            body: tokens,
            ty: None,
            spaces,
        }))
    }

    /// The type after an attribute.
    fn end_dialect(&mut self, node: Object) -> Read<Step<'t>> {
        if let Some(attribute) = node.downcast_ref::<DialectAttr>()
            && self.cursor.eat(b':')?
        {
            let attribute = attribute.clone();
            return open(Want::Type, move |_, ty| done(attribute.with_ty(ty)));
        }
        Ok(Step::Done(node))
    }
}
