//! Patterns of rules, written as text.
//!
//! ```text
//! Transpose(inner:Transpose(x))
//! Add|Sub(x, #c)
//! Clip(x, low?, high?)
//! Concat(...)
//! ```
//!
//! A name stands for any value, and for the same value wherever it occurs again; after a
//! `#`, only for a constant; before a `?`, also for an omitted input. An operator may
//! have alternatives, and a label by which the rule finds the call. `.1` after the
//! operator is its second output. Dots at the end are any further inputs. The operands of
//! operators that commute match in either order.

use isoform::{Ref, Value};

use crate::ir::Call;
use crate::values::{ValueKey, constant, made_by};

/// A pattern, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) root: CallPattern,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallPattern {
    label: Option<String>,
    /// Names of operators, in `ai.onnx` unless preceded by a domain and `::`.
    pub(super) ops: Vec<String>,
    output: i64,
    inputs: Vec<Operand>,
    /// True if there may be more inputs.
    open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Name {
        name: String,
        constant: bool,
        optional: bool,
    },
    Call(CallPattern),
}

/// The values and calls for which the names and labels of a pattern stand.
#[derive(Clone, Debug, Default)]
pub struct Match {
    values: Vec<(String, Value)>,
    calls: Vec<(String, Ref<Call>)>,
}

impl Match {
    /// The value bound to a name; None (as a value) for an omitted input.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values
            .iter()
            .find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The names of values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    /// The call that a label stands for.
    #[must_use]
    pub fn call(&self, label: &str) -> Option<&Ref<Call>> {
        self.calls
            .iter()
            .find_map(|(known, call)| (known == label).then_some(call))
    }
}

/// Operators whose two operands can change places without changing a bit of the result.
const COMMUTATIVE: &[&str] = &[
    "Add",
    "Mul",
    "And",
    "Or",
    "Xor",
    "Equal",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
];

/// True if the two operands of a call can change places without changing a bit of the
/// result. Old versions of the operators have attributes that broadcast one operand only.
pub(crate) fn commutes(call: &Call) -> bool {
    call.is_standard()
        && call.inputs.len() == 2
        && call.attrs.is_empty()
        && COMMUTATIVE.contains(&call.op.as_str())
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// `ValueError` with the place in the text where something else is expected.
    pub fn parse(text: &str) -> isoform::Result<Pattern> {
        let mut parser = Parser { text, at: 0 };
        let root = match parser.operand()? {
            Operand::Call(call) => call,
            Operand::Name { .. } => {
                return Err(parser.error("an operator with its inputs, such as `Relu(x)`"));
            }
        };
        parser.space();
        if parser.at < text.len() {
            return Err(parser.error("the end"));
        }
        Ok(Pattern {
            root,
            text: text.to_owned(),
        })
    }

    /// The text of the pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The match of a call, if any. Linear in the size of the pattern, times two for
    /// each commutative operator in the pattern.
    #[must_use]
    pub fn match_call(&self, call: &Ref<Call>) -> Option<Match> {
        let mut found = Match::default();
        self.root.matches(call, &mut found).then_some(found)
    }
}

impl CallPattern {
    fn names(&self, call: &Call) -> bool {
        call.callee.is_none()
            && self.ops.iter().any(|op| match op.split_once("::") {
                Some((domain, op)) => call.domain == domain && call.op == op,
                None => call.domain.is_empty() && call.op == op.as_str(),
            })
    }

    fn matches(&self, call: &Ref<Call>, rule_match: &mut Match) -> bool {
        if !self.names(call) {
            return false;
        }
        let inputs = call.inputs.values();
        if inputs.len() > self.inputs.len() && !self.open {
            return false;
        }
        let (values, calls) = (rule_match.values.len(), rule_match.calls.len());
        if let Some(label) = &self.label {
            rule_match.calls.push((label.clone(), call.clone()));
        }
        let none = Value::NONE;
        let input = |position: usize| inputs.get(position).unwrap_or(&none);
        let in_order = (0..self.inputs.len())
            .all(|position| self.inputs[position].matches(input(position), rule_match));
        if in_order {
            return true;
        }
        if self.inputs.len() == 2 && commutes(call) {
            rule_match.values.truncate(values);
            rule_match
                .calls
                .truncate(calls + usize::from(self.label.is_some()));
            if self.inputs[0].matches(input(1), rule_match)
                && self.inputs[1].matches(input(0), rule_match)
            {
                return true;
            }
        }
        rule_match.values.truncate(values);
        rule_match.calls.truncate(calls);
        false
    }
}

impl Operand {
    fn matches(&self, value: &Value, rule_match: &mut Match) -> bool {
        match self {
            Operand::Call(pattern) => made_by(value).is_some_and(|(call, index)| {
                index == pattern.output && pattern.matches(call, rule_match)
            }),
            Operand::Name {
                name,
                constant: must_be_constant,
                optional,
            } => {
                if value.is_none() && !optional {
                    return false;
                }
                if *must_be_constant && !value.is_none() && constant(value).is_none() {
                    return false;
                }
                if name == "_" {
                    return true;
                }
                match rule_match.value(name) {
                    Some(bound_value) => ValueKey::of(bound_value) == ValueKey::of(value),
                    None => {
                        rule_match.values.push((name.clone(), value.clone()));
                        true
                    }
                }
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

/// The maximum depth of a pattern; deeper patterns are refused.
const MAX_DEPTH: usize = 64;

impl Parser<'_> {
    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error(&self, expected: &str) -> isoform::Error {
        let got = match self.text[self.at..].chars().next() {
            Some(found) => format!("'{found}'"),
            None => "the end".to_owned(),
        };
        isoform::Error::value_error(format!(
            "pattern '{}', column {}: expected {expected}, got {got}",
            self.text,
            self.text[..self.at].chars().count() + 1
        ))
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn word(&mut self, extra: &str) -> isoform::Result<String> {
        self.space();
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_' && !extra.contains(c))
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(self.error("a name"));
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }

    fn operand(&mut self) -> isoform::Result<Operand> {
        self.operand_at(0)
    }

    fn operand_at(&mut self, depth: usize) -> isoform::Result<Operand> {
        if depth > MAX_DEPTH {
            return Err(self.error("at most 64 levels"));
        }
        let constant = self.take("#");
        let first = self.word("")?;
        let labelled = !constant && !self.text[self.at..].starts_with("::") && self.take(":");
        let (label, mut op) = if labelled {
            (Some(first), self.word("")?)
        } else {
            (None, first)
        };
        while self.take("::") || self.text[self.at..].starts_with('.') {
            // A domain has dots; an output is a number after one.
            let after = &self.text[self.at..];
            if let Some(rest) = after.strip_prefix('.') {
                if rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                    break;
                }
                self.at += 1;
                op = format!("{op}.{}", self.word("")?);
            } else {
                op = format!("{op}::{}", self.word("")?);
            }
        }
        let mut ops = vec![op];
        while self.take("|") {
            ops.push(self.word(":.")?);
        }
        let output = if self.take(".") {
            let digits = self.word("")?;
            digits
                .parse()
                .map_err(|_| self.error("the number of an output"))?
        } else {
            0
        };
        if !self.take("(") {
            if labelled || ops.len() > 1 || output != 0 {
                return Err(self.error("'('"));
            }
            return Ok(Operand::Name {
                name: ops.remove(0),
                constant,
                optional: self.take("?"),
            });
        }
        let (mut inputs, mut open) = (Vec::new(), false);
        if !self.take(")") {
            loop {
                if self.take("...") {
                    open = true;
                } else {
                    inputs.push(self.operand_at(depth + 1)?);
                }
                if self.take(")") {
                    break;
                }
                if open || !self.take(",") {
                    return Err(self.error(if open { "')'" } else { "',' or ')'" }));
                }
            }
        }
        Ok(Operand::Call(CallPattern {
            label,
            ops,
            output,
            inputs,
            open,
        }))
    }
}
