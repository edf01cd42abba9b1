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
use super::lexer::{Kind, Token, is_space, skip_space, spelled, string_end, suffix, unescape};
use super::numbers::text_value;
use super::tokens::{
    Tokens, is_distinct, is_resource, pretty, starts_symbol, verbose, word_length,
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

enum BodyKind<'t> {
    /// A type or attribute.
    Symbol {
        is_type: bool,
        dialect: &'t [u8],
        name: &'t [u8],
        /// True inside of another body.
        is_inner: bool,
        /// The text, if the node is kept under it.
        known: Option<&'t [u8]>,
        /// The count of unsettled parts at the start.
        unsettled: usize,
    },
    /// The definition of an alias, up to a position; then the reader returns to another.
    Alias {
        number: usize,
        end: usize,
        back: usize,
    },
}

/// A word of a body that may begin a builtin attribute.
enum Structured {
    No,
    Node(Object),
    /// The cursor is at an attribute.
    Attribute,
}

impl<'t> Reader<'t> {
    /// The type or attribute, or the alias of one, that begins with this token.
    pub(super) fn begin_dialect(&mut self, token: Token) -> Read<Step<'t>> {
        let text = self.cursor.text;
        let has_body = text.get(token.end) == Some(&b'<');
        if !has_body && !text[token.start..token.end].contains(&b'.') {
            let value = self.aliased(token)?;
            self.cursor.take()?;
            return Ok(Step::Done(value));
        }
        let mut known = None;
        if has_body && let Some(end) = end_of_short(text, token.end) {
            let key = &text[token.start..end];
            if let Some(value) = self.known.get(key) {
                let value = value.clone();
                self.cursor.jump(end)?;
                return self.end_dialect(value);
            }
            known = Some(key);
        }
        self.open_body(token, false, known)
    }

    /// The type or attribute inside of a body that begins with this token.
    pub(super) fn begin_inner(&mut self, token: Token) -> Read<Step<'t>> {
        self.open_body(token, true, None)
    }

    fn open_body(
        &mut self,
        token: Token,
        is_inner: bool,
        known: Option<&'t [u8]>,
    ) -> Read<Step<'t>> {
        let text = self.cursor.text;
        let id = &text[token.start + 1..token.end];
        let dot = id.iter().position(|&byte| byte == b'.');
        let (dialect, name) = match dot {
            Some(dot) => (&id[..dot], &id[dot + 1..]),
            None => (id, &[][..]),
        };
        if dialect.is_empty() {
            let message = "expected the name of a dialect before '.'";
            return refuse(token, message);
        }
        let kind = BodyKind::Symbol {
            is_type: token.kind == Kind::Type,
            dialect,
            name,
            is_inner,
            known,
            unsettled: self.unsettled,
        };
        let body = Body::new(kind);
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
        let range = self.aliases.range(number);
        let kind = BodyKind::Alias {
            number,
            end: range.end,
            back: self.body_at,
        };
        self.body_at = range.start;
        let body = Body::new(kind);
        self.read_body(body)
    }

    /// Adds the tokens of an alias, which are known.
    fn splice(&mut self, body: &mut Body<'t>, number: usize) -> Read<()> {
        let Some((tokens, spaces)) = self.aliases.tokens(number) else {
            return Ok(());
        };
        self.spliced += tokens.len();
        if self.spliced > 1_000_000 + 4 * self.cursor.text.len() {
            let message = "expected bodies that are not much longer than the file when aliases \
                           are replaced";
            return refuse(self.body_at..self.body_at, message);
        }
        if self.aliases.is_unsettled(number) {
            self.unsettled += 1;
        }
        let first = body.tokens.len();
        body.tokens.values.extend(tokens.iter().cloned());
        body.tokens.spaces.extend_from_slice(&spaces);
        if let Some(before) = body.tokens.spaces.get_mut(first) {
            *before = std::mem::take(&mut body.tokens.space);
        }
        Ok(())
    }

    /// Reads tokens up to the end of the body or to a part with its own frame.
    pub(super) fn read_body(&mut self, mut body: Box<Body<'t>>) -> Read<Step<'t>> {
        let text = self.cursor.text;
        loop {
            let before = self.body_at;
            self.body_at = match body.kind {
                BodyKind::Symbol { .. } => {
                    let rest = text.get(self.body_at..).unwrap_or_default().iter();
                    self.body_at + rest.take_while(|&&byte| is_space(byte)).count()
                }
                BodyKind::Alias { .. } => skip_space(text, self.body_at),
            };
            let at = self.body_at;
            body.tokens.space |= u8::from(at > before);
            if let BodyKind::Alias { number, end, back } = body.kind
                && at >= end
            {
                let Tokens { values, spaces, .. } = body.tokens;
                self.aliases
                    .set_tokens(number, values.into(), spaces.into());
                self.body_at = back;
                return done(UnitAttr::new());
            }
            let Some(&first) = text.get(at) else {
                let message = "expected '>' at the end of the body, got the end of the text";
                return refuse(at..at, message);
            };
            match first {
                b'<' | b'(' | b'[' | b'{' => {
                    let closing = match first {
                        b'<' => b'>',
                        b'(' => b')',
                        b'[' => b']',
                        _ => b'}',
                    };
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
                        return refuse(
                            at..at + 1,
                            format!(
                                "expected '{}', got {}",
                                char::from(closing),
                                spelled(&text[at..])
                            ),
                        );
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
                    let is_dialect =
                        text.get(token.end) == Some(&b'<') || text[at..token.end].contains(&b'.');
                    if is_dialect {
                        return open(Want::Inner(token), |reader, node| {
                            body.tokens.push(node);
                            reader.read_body(body)
                        });
                    }
                    self.body_at = token.end;
                    match self.aliases.find(&text[at..token.end]) {
                        Some(number) if self.aliases.tokens(number).is_some() => {
                            self.splice(&mut body, number)?;
                        }
                        Some(number) => {
                            return open(Want::AliasTokens(number), move |reader, _| {
                                reader.splice(&mut body, number)?;
                                reader.read_body(body)
                            });
                        }
                        None => body.tokens.push_text(&text[at..token.end]),
                    }
                }
                b'@' if starts_symbol(text, at) => body.tokens.push(self.body_symbol(at)?),
                b'a' | b'd' => match self.structured(at)? {
                    Structured::Node(node) => body.tokens.push(node),
                    Structured::Attribute => {
                        return open(Want::Attribute, |reader, node| {
                            reader.body_at = reader.cursor.last_end;
                            body.tokens.push(node);
                            reader.read_body(body)
                        });
                    }
                    Structured::No => self.body_at = body.tokens.push_plain(text, at)?,
                },
                _ => self.body_at = body.tokens.push_plain(text, at)?,
            }
        }
    }

    /// The builtin attribute at a position of a body, if its tokens alone would be
    /// misleading: an identity, the key of a resource, the names of an affine map.
    fn structured(&mut self, at: usize) -> Read<Structured> {
        let text = self.cursor.text;
        let rest = &text[at..];
        if rest.starts_with(b"affine_map<(") || rest.starts_with(b"affine_set<(") {
            self.cursor.jump(at)?;
            let node = if rest.starts_with(b"affine_map") {
                self.read_affine_map()
            } else {
                self.read_affine_set()
            };
            // A dialect may have another syntax under these words.
            return Ok(match node {
                Ok(node) => {
                    self.body_at = self.cursor.last_end;
                    Structured::Node(node)
                }
                Err(_) => Structured::No,
            });
        }
        if !is_distinct(rest) && !is_resource(rest) {
            return Ok(Structured::No);
        }
        self.cursor.jump(at)?;
        Ok(Structured::Attribute)
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
            let space = |at: usize| at + text[at..].iter().take_while(|&&b| is_space(b)).count();
            let colons = space(end);
            if !text[colons..].starts_with(b"::") {
                break;
            }
            at = space(colons + 2);
            if !starts_symbol(text, at) {
                break;
            }
        }
        Ok(self.symbol_reference(names))
    }

    fn end_body(&mut self, body: Body<'t>, has_body: bool) -> Read<Step<'t>> {
        let BodyKind::Symbol {
            is_type,
            dialect,
            name,
            is_inner,
            known,
            unsettled,
        } = body.kind
        else {
            let at = self.body_at;
            return refuse(at..at, "expected the end of the alias, got '>'");
        };
        let dialect = text_of(dialect);
        let mut tokens = body.tokens;
        tokens.spaces.push(tokens.space);
        let (name, tokens) = if name.is_empty() {
            verbose(tokens, body.pair_end)
        } else {
            pretty(name, has_body.then_some(tokens))?
        };
        let (body, spaces) = tokens.unzip();
        let (body, spaces) = (body.map(Array::from), spaces.map(Bytes::from));
        let node = if is_type {
            Ref::new(DialectType {
                dialect,
                name,
                body,
                spaces,
            })
            .into_object()
        } else {
            Ref::new(DialectAttr {
                dialect,
                name,
                body,
                ty: None,
                spaces,
            })
            .into_object()
        };
        if is_inner {
            return Ok(Step::Done(node));
        }
        if let Some(known) = known
            && unsettled == self.unsettled
        {
            self.known.insert(known, node.clone());
        }
        self.cursor.jump(self.body_at)?;
        self.end_dialect(node)
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
