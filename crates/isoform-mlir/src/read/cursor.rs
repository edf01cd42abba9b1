//! A place in the text, with one token of lookahead.

use isoform::Str;

use super::fault::{Fault, Read};
use super::lexer::{Kind, Token, next_token, skip_space, unescape};

/// The reader's place.
pub(super) struct Cursor<'t> {
    /// The text up to the end of the part that is read.
    pub(super) text: &'t [u8],
    /// The next token.
    pub(super) token: Token,
    /// The end of the last token before it.
    pub(super) last_end: usize,
}

impl<'t> Cursor<'t> {
    /// A cursor at a position of the text.
    pub(super) fn at(text: &'t [u8], position: usize) -> Read<Self> {
        Ok(Cursor {
            text,
            token: next_token(text, position)?,
            last_end: position,
        })
    }

    /// Goes to a position.
    pub(super) fn jump(&mut self, position: usize) -> Read<()> {
        self.last_end = position;
        self.token = next_token(self.text, position)?;
        Ok(())
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Read<Token> {
        let token = self.token;
        self.last_end = token.end;
        self.token = next_token(self.text, token.end)?;
        Ok(token)
    }

    /// The text of a token.
    pub(super) fn slice(&self, token: Token) -> &'t [u8] {
        &self.text[token.start..token.end]
    }

    /// The text of a token, as a message shows it.
    pub(super) fn shown(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => {
                let slice = self.slice(token);
                let cut = &slice[..slice.len().min(40)];
                let dots = if cut.len() < slice.len() { "..." } else { "" };
                format!("'{}{dots}'", String::from_utf8_lossy(cut))
            }
        }
    }

    /// The fault that the next token is something else than expected.
    pub(super) fn unexpected(&self, expected: &str) -> Fault {
        let token = self.token;
        Fault::new(
            token,
            format!("expected {expected}, got {}", self.shown(token)),
        )
    }

    /// True if the next token is this character.
    pub(super) fn is(&self, mark: u8) -> bool {
        self.token.kind == Kind::Mark(mark)
    }

    /// True if the next token is this word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.token.kind == Kind::Word && self.slice(self.token) == word.as_bytes()
    }

    /// True if the next token is this word, and this character follows.
    pub(super) fn is_call(&self, word: &str, mark: u8) -> bool {
        if !self.is_word(word) {
            return false;
        }
        self.text.get(skip_space(self.text, self.token.end)) == Some(&mark)
    }

    /// Takes this character if it is next.
    pub(super) fn eat(&mut self, mark: u8) -> Read<bool> {
        let found = self.is(mark);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes this word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> Read<bool> {
        let found = self.is_word(word);
        if found {
            self.take()?;
        }
        Ok(found)
    }

    /// Takes this character, which must be next.
    pub(super) fn expect(&mut self, mark: u8) -> Read<Token> {
        if self.is(mark) {
            self.take()
        } else {
            Err(self.unexpected(&format!("'{}'", char::from(mark))))
        }
    }

    /// Takes this word, which must be next.
    pub(super) fn expect_word(&mut self, word: &str) -> Read<Token> {
        if self.is_word(word) {
            self.take()
        } else {
            Err(self.unexpected(&format!("'{word}'")))
        }
    }

    /// Takes what follows a part of a list: true for a comma, false for the end.
    pub(super) fn goes_on(&mut self, end: u8) -> Read<bool> {
        let goes_on = self.eat(b',')?;
        if !goes_on {
            self.expect(end)?;
        }
        Ok(goes_on)
    }

    /// Takes a token of this kind, which must be next.
    pub(super) fn expect_kind(&mut self, kind: Kind, expected: &str) -> Read<Token> {
        if self.token.kind == kind {
            self.take()
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// True if the next token is an integer.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.token.kind, Kind::Integer | Kind::Hex)
    }

    /// Takes an integer that is not negative.
    pub(super) fn expect_number(&mut self, expected: &str) -> Read<i64> {
        if !self.is_number() {
            return Err(self.unexpected(expected));
        }
        let token = self.take()?;
        let digits = std::str::from_utf8(self.slice(token)).unwrap_or_default();
        let number = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        number.map_err(|_| {
            let range = token.start..token.end;
            Fault::new(range, format!("expected {expected} of at most 64 bits"))
        })
    }

    /// The bytes of a string token.
    pub(super) fn string(&self, token: Token) -> Vec<u8> {
        unescape(self.slice(token))
    }

    /// The text of a string token that names something.
    pub(super) fn name(&self, token: Token) -> Read<Str> {
        let slice = self.slice(token);
        let plain = slice
            .get(1..slice.len().saturating_sub(1))
            .unwrap_or_default();
        if let (Ok(text), false) = (std::str::from_utf8(plain), plain.contains(&b'\\')) {
            return Ok(text.into());
        }
        let not_utf8 = |_| Fault::new(token, "expected a name in UTF-8");
        Ok(String::from_utf8(self.string(token))
            .map_err(not_utf8)?
            .into())
    }

    /// The name of a symbol token.
    pub(super) fn symbol(&self, token: Token) -> Read<Str> {
        if self.text.get(token.start + 1) == Some(&b'"') {
            return self.name(Token {
                start: token.start + 1,
                ..token
            });
        }
        Ok(text_of(&self.text[token.start + 1..token.end]))
    }

    /// The text of a word, or of an identifier without its sigil.
    pub(super) fn word(&self, token: Token) -> Str {
        text_of(self.slice(token))
    }
}

/// The text of ASCII bytes.
pub(super) fn text_of(bytes: &[u8]) -> Str {
    std::str::from_utf8(bytes).unwrap_or_default().into()
}
