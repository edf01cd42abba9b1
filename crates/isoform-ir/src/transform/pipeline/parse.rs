//! From the text of a pipeline to its passes.

use crate::transform::nodes::{Pass, Sequential};
use crate::transform::registry;
use isoform::errors::ErrorKind;
use isoform::plumbing::text_error;
use isoform::text::{TextFault, from_text};
use isoform::types::Schema;
use isoform::values::ValueRef;
use isoform::{Error, Ref, Result, Str, Value};

/// Makes the passes of a pipeline's text, in one sequence.
///
/// Linear in the text; parentheses may be nested to any depth.
///
/// # Errors
///
/// `ValueError` with line, column and a caret if the text is malformed, names an
/// unknown pass or option, or gives an option twice. `TypeError`, with the same, for
/// the value of an option that does not fit or is missing. Errors of the functions that
/// make passes.
///
/// ```
/// use isoform_ir::transform::{parse_pipeline, pipeline_text};
/// isoform_ir::transform::register()?;
///
/// let pipeline = parse_pipeline("PrintIR{header=\"first\"}, (PrintIR, PrintIR)")?;
/// assert_eq!(pipeline.passes.len(), 2);
/// assert_eq!(pipeline_text(&pipeline.upcast())?, "PrintIR{header=\"first\"},(PrintIR,PrintIR)");
///
/// let error = parse_pipeline("PrintIR,PrnitIR").expect_err("no such pass");
/// assert_eq!(error.to_string(), "\
/// ValueError: pipeline: line 1, column 9: no pass is registered as 'PrnitIR', did you mean 'PrintIR'?
///   |
/// 1 | PrintIR,PrnitIR
///   |         ^^^^^^^");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn parse_pipeline(text: &str) -> Result<Ref<Sequential>> {
    Parser { text, at: 0 }.pipeline()
}

/// The value of an option: `true`, `false`, a bare word, which is a string, or the
/// [text](isoform::text) of a value. Linear in the text.
///
/// ```
/// use isoform::Value;
/// use isoform_ir::transform::parse_value;
///
/// assert_eq!(parse_value("true")?, Value::from(true));
/// assert_eq!(parse_value("out/first")?, Value::from("out/first"));
/// assert_eq!(parse_value("-3")?, Value::from(-3));
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// As [`from_text`].
pub fn parse_value(text: &str) -> Result<Value> {
    let is_word = text.chars().all(is_name_char)
        && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !matches!(text, "None" | "True" | "False" | "inf" | "nan");
    match (is_word, text) {
        (_, "true") => Ok(true.into()),
        (_, "false") => Ok(false.into()),
        (true, _) => Ok(Str::from(text).into()),
        (false, _) => from_text(text),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/')
}

impl<'a> Parser<'a> {
    fn fault(&self, kind: ErrorKind, start: usize, end: usize, message: String) -> Error {
        text_error("pipeline", self.text, kind, start..end, message)
    }

    /// The error of a part of the text, with the position; errors of foreign code stay
    /// unchanged.
    fn placed(&self, start: usize, end: usize, error: Error) -> Error {
        let is_own = matches!(error.kind(), ErrorKind::Value | ErrorKind::Type);
        if is_own && !error.has_traceback() {
            self.fault(error.kind(), start, end, error.message().to_owned())
        } else {
            error
        }
    }

    fn unexpected(&self, expected: &str) -> Error {
        let rest = &self.text[self.at..];
        let word: usize = rest
            .chars()
            .take_while(|c| is_name_char(*c))
            .map(char::len_utf8)
            .sum();
        let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let got = match length {
            0 => "the end of the text".to_owned(),
            _ => format!("'{}'", rest[..length].escape_debug()),
        };
        let message = format!("expected {expected}, got {got}");
        self.fault(ErrorKind::Value, self.at, self.at + length, message)
    }

    /// The next character outside of white space and comments.
    fn peek(&mut self) -> Option<char> {
        loop {
            let rest = &self.text[self.at..];
            let next = rest.chars().next()?;
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if next.is_whitespace() {
                self.at += next.len_utf8();
            } else {
                return Some(next);
            }
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn name(&mut self, what: &str) -> Result<&'a str> {
        self.peek();
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        // A comment may follow at once.
        let end = rest[..end].find("//").unwrap_or(end);
        if end == 0 {
            return Err(self.unexpected(what));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn pipeline(mut self) -> Result<Ref<Sequential>> {
        let mut open: Vec<(usize, Vec<Ref<Pass>>)> = Vec::new();
        let mut passes: Vec<Ref<Pass>> = Vec::new();
        // True where the last item has to be followed by a comma or an end.
        let mut complete = false;
        loop {
            match self.peek() {
                None => match open.pop() {
                    None => return Ok(Sequential::new(passes)),
                    Some((start, _)) => {
                        let message = "expected ')' for this '(', got the end of the text";
                        return Err(self.fault(ErrorKind::Value, start, start + 1, message.into()));
                    }
                },
                Some(')') if !open.is_empty() => {
                    self.at += 1;
                    if let Some((_, outer)) = open.pop() {
                        let group = Sequential::new(std::mem::replace(&mut passes, outer));
                        passes.push(group.upcast());
                    }
                    complete = true;
                }
                Some(',') if complete => {
                    self.at += 1;
                    complete = false;
                }
                _ if complete => {
                    let what = if open.is_empty() {
                        "',' or the end of the text"
                    } else {
                        "',' or ')'"
                    };
                    return Err(self.unexpected(what));
                }
                Some('(') => {
                    open.push((self.at, std::mem::take(&mut passes)));
                    self.at += 1;
                }
                _ => {
                    passes.push(self.pass()?);
                    complete = true;
                }
            }
        }
    }

    fn pass(&mut self) -> Result<Ref<Pass>> {
        self.peek();
        let start = self.at;
        let name = self.name("the name of a pass or '('")?;
        let end = self.at;
        let factory = registry::factory(name).map_err(|error| self.placed(start, end, error))?;
        let parameters = factory
            .signature()
            .map(|signature| signature.parameters().to_vec())
            .unwrap_or_default();
        let mut options: Vec<(&str, Value)> = Vec::new();
        if self.eat('{') {
            while !self.eat('}') {
                self.peek();
                let start = self.at;
                let option = self.name("the name of an option or '}'")?;
                let end = self.at;
                let position = registry::position(name, &parameters, option).map_err(|error| {
                    self.fault(ErrorKind::Value, start, end, error.message().into())
                })?;
                if options.iter().any(|(previous, _)| *previous == option) {
                    let message = format!("option '{option}' is given twice");
                    return Err(self.fault(ErrorKind::Value, start, end, message));
                }
                if !self.eat('=') {
                    return Err(self.unexpected("'='"));
                }
                let value = self.value(parameters[position].schema())?;
                options.push((option, value));
                if !self.eat(',') && self.peek() != Some('}') {
                    return Err(self.unexpected("',' or '}'"));
                }
            }
        }
        let pass = registry::make(name, &factory, &options);
        pass.map_err(|error| self.placed(start, end, error))
    }

    /// The end of the value at the current position: the next comma, brace or comment
    /// outside of brackets and strings.
    fn end_of_value(&self) -> usize {
        let (mut depth, mut quoted, mut escaped) = (0usize, None, false);
        let mut in_comment = false;
        for (position, c) in self.text[self.at..].char_indices() {
            let here = self.at + position;
            match quoted {
                // The value handles comments inside of brackets.
                _ if in_comment => in_comment = c != '\n',
                None if self.text[here..].starts_with("//") => match depth {
                    0 => return here,
                    _ => in_comment = true,
                },
                Some(_) if escaped => escaped = false,
                Some(_) if c == '\\' => escaped = true,
                Some(quote) if c == quote => quoted = None,
                Some(_) => {}
                None => match c {
                    '"' | '\'' => quoted = Some(c),
                    '[' | '{' | '(' => depth += 1,
                    '}' | ',' if depth == 0 => return here,
                    ']' | '}' | ')' => depth = depth.saturating_sub(1),
                    _ => {}
                },
            }
        }
        self.text.len()
    }

    fn value(&mut self, schema: &Schema) -> Result<Value> {
        self.peek();
        let start = self.at;
        let end = self.end_of_value();
        let text = self.text[start..end].trim_end();
        let end = start + text.len();
        if text.is_empty() {
            return Err(self.unexpected("a value"));
        }
        self.at = end;
        let value = parse_value(text).map_err(|error| self.inner_fault(start, text, error))?;
        if matches!(schema, Schema::Bool)
            && let ValueRef::Int(number) = value.view()
            && !(0..=1).contains(&number)
        {
            let message = format!("expected True or False, got {number}");
            return Err(self.fault(ErrorKind::Type, start, end, message));
        }
        schema
            .convert(value)
            .map_err(|error| self.placed(start, end, error))
    }

    /// The fault of a value, with its position in the whole text.
    fn inner_fault(&self, start: usize, text: &str, error: Error) -> Error {
        let source = std::error::Error::source(&error);
        let Some(fault) = source.and_then(|source| source.downcast_ref::<TextFault>()) else {
            return error;
        };
        let lines: usize = text
            .split_inclusive('\n')
            .take(fault.line() - 1)
            .map(str::len)
            .sum();
        let column = text[lines..].chars().take(fault.column() - 1);
        let at = start + lines + column.map(char::len_utf8).sum::<usize>();
        self.fault(error.kind(), at, at + 1, fault.message().to_owned())
    }
}
