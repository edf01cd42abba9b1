//! The signature of a function.

use std::fmt;

use crate::kernel::types::Schema;
use crate::kernel::value::Value;

/// One parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    name: Option<Box<str>>,
    schema: Schema,
    default: Option<Value>,
    keyword_only: bool,
}

impl Parameter {
    /// A required parameter without a name.
    pub fn new(schema: Schema) -> Self {
        Parameter {
            name: None,
            schema,
            default: None,
            keyword_only: false,
        }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the default for an omitted argument.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// Makes the parameter keyword-only: languages with named arguments accept it only
    /// by name; all later parameters must also be keyword-only.
    #[must_use]
    pub fn keyword_only(mut self) -> Self {
        self.keyword_only = true;
        self
    }

    /// True if languages with named arguments accept the parameter only by name.
    pub fn is_keyword_only(&self) -> bool {
        self.keyword_only
    }

    /// The name, if any.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The values that the argument accepts.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The default for an omitted argument.
    pub fn default(&self) -> Option<&Value> {
        self.default.as_ref()
    }
}

/// The parameters of a function, its result, and its implementation language.
///
/// Shown in Python's notation:
///
/// ```
/// use isoform::functions::Function;
/// let power = Function::typed(|base: f64, exponent: Option<i64>| {
///     base.powi(exponent.unwrap_or(2) as i32)
/// })
/// .with_parameters(&["base", "exponent"]);
/// let signature = power.signature().expect("typed functions have one");
/// assert_eq!(signature.to_string(), "(base: float, exponent: int | None = None) -> float");
/// ```
#[derive(Clone)]
pub struct Signature {
    parameters: Vec<Parameter>,
    returns: Schema,
    language: &'static str,
}

impl Signature {
    /// The signature of a function written in Rust.
    pub fn new(parameters: Vec<Parameter>, returns: Schema) -> Self {
        Signature {
            parameters,
            returns,
            language: "rust",
        }
    }

    /// Sets the implementation language of the function, in lower case.
    #[must_use]
    pub fn language(mut self, language: &'static str) -> Self {
        self.language = language;
        self
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The schema of the result.
    pub fn returns(&self) -> &Schema {
        &self.returns
    }

    /// The implementation language of the function, in lower case.
    pub fn written_in(&self) -> &'static str {
        self.language
    }

    /// The number of leading required arguments.
    ///
    /// For a language with named arguments, these arguments are the positional ones;
    /// all later arguments are identified by name.
    pub fn required(&self) -> usize {
        let optional = |parameter: &&Parameter| parameter.default.is_some();
        let left_out = self.parameters.iter().rev().take_while(optional).count();
        self.parameters.len() - left_out
    }

    pub(super) fn rename(&mut self, names: &[&str]) {
        for (parameter, name) in self.parameters.iter_mut().zip(names) {
            parameter.name = Some((*name).into());
        }
    }

    pub(super) fn set_default(&mut self, position: usize, value: Value) {
        if let Some(parameter) = self.parameters.get_mut(position) {
            parameter.default = Some(value);
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        let mut by_name = false;
        for (position, parameter) in self.parameters.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            if parameter.keyword_only && !std::mem::replace(&mut by_name, true) {
                write!(f, "{separator}*")?;
            }
            let separator = if position == 0 && !by_name { "" } else { ", " };
            match &parameter.name {
                Some(name) => write!(f, "{separator}{name}: {}", parameter.schema)?,
                None => write!(f, "{separator}{position}: {}", parameter.schema)?,
            }
            if let Some(default) = &parameter.default {
                if default.is_none() {
                    f.write_str(" = None")?
                } else {
                    write!(f, " = {default:?}")?
                }
            }
        }
        write!(f, ") -> {}", self.returns)
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
