//! Functions of the core made from plain Rust functions, with conversion of arguments
//! and results.

use crate::kernel::error::{Error, Result};
use crate::kernel::function::argument::{Argument, Borrowed, Returned};
use crate::kernel::function::signature::{Parameter, Signature};
use crate::kernel::types::Schema;
use crate::kernel::value::Value;

/// A Rust function whose arguments and result can be converted from and to values: the
/// argument of [`Function::typed`](crate::functions::Function::typed).
///
/// `Arguments` is the tuple of the argument types, inferred by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that Isoform can call",
    note = "expected a `Fn` of up to 8 arguments that implement `Argument`, not borrowed, with a \
            result that implements `Returned`"
)]
pub trait TypedFunction<Arguments>: Send + Sync + 'static {
    /// The function's parameters and result.
    fn signature() -> Signature;
    /// Converts the arguments, calls the function and converts the result.
    ///
    /// # Errors
    ///
    /// `TypeError` for a wrong number of arguments and for an argument that does not
    /// convert; errors from the function.
    fn invoke(&self, call: &Call<'_>) -> Result<Value>;
}

/// One call: the function and its arguments.
pub struct Call<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) signature: Option<&'a Signature>,
    pub(super) arguments: &'a [Value],
}

/// The parameter for an argument of this type.
pub fn parameter<A: Argument>() -> Parameter {
    let parameter = Parameter::new(A::schema());
    match A::when_missing() {
        Some(value) => parameter.default_value(value),
        None => parameter,
    }
}

/// The parameter for an argument written as a reference.
pub fn parameter_ref<A: Borrowed + ?Sized>() -> Parameter {
    parameter::<A::Owner>()
}

/// The signature of an exported function.
pub fn signature<const COUNT: usize>(parameters: [Parameter; COUNT], returns: Schema) -> Signature {
    Signature::new(parameters.into(), returns)
}

impl Call<'_> {
    /// Checks the number of arguments against the number of parameters.
    ///
    /// # Errors
    ///
    /// `TypeError` naming the function and both numbers.
    pub fn expect(&self, parameters: usize) -> Result<()> {
        let given = self.arguments.len();
        if given == parameters {
            return Ok(());
        }
        let required = self.signature.map_or(parameters, Signature::required);
        if (required..=parameters).contains(&given) {
            return Ok(());
        }
        let expected = match (required, parameters) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            (least, most) if least == most => format!("{most} arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        let name = self.name.unwrap_or("function");
        let message = format!("{name}() expects {expected}, got {given}");
        Err(Error::type_error(message).made_by_caller())
    }

    /// The converted argument at a position; its default if omitted.
    ///
    /// # Errors
    ///
    /// `TypeError` naming the function and the argument.
    pub fn argument<A: Argument>(&self, position: usize) -> Result<A> {
        let value = match self.arguments.get(position) {
            Some(value) => value.clone(),
            None => self.default(position),
        };
        A::from_value(value).map_err(|error| self.misfit(position, &error))
    }

    /// Converts an argument of type `&A` to its owner, alive during the call.
    ///
    /// # Errors
    ///
    /// As [`argument`](Self::argument).
    pub fn held<A: Borrowed + ?Sized>(&self, position: usize) -> Result<A::Owner> {
        self.argument(position)
    }

    fn parameter(&self, position: usize) -> Option<&Parameter> {
        self.signature?.parameters().get(position)
    }

    #[cold]
    fn default(&self, position: usize) -> Value {
        let parameter = self.parameter(position);
        let default = parameter.and_then(|parameter| parameter.default());
        default.cloned().unwrap_or(Value::NONE)
    }

    #[cold]
    fn misfit(&self, position: usize, error: &Error) -> Error {
        let label = label(self.name, self.signature, position);
        let message = format!("{label}: {}", error.message());
        Error::new(error.kind(), message).made_by_caller()
    }
}

pub(super) fn label(
    function: Option<&str>,
    signature: Option<&Signature>,
    position: usize,
) -> String {
    let function = function.unwrap_or("function");
    let parameter = signature.and_then(|signature| signature.parameters().get(position));
    match parameter.and_then(|parameter| parameter.name()) {
        Some(parameter) => format!("{function}() argument '{parameter}'"),
        None => format!("{function}() argument {}", position + 1),
    }
}

macro_rules! typed_functions {
    ($($count:literal ($($position:literal $argument:ident),*))*) => {$(
        impl<F, R, $($argument),*> TypedFunction<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> R + Send + Sync + 'static,
            R: Returned,
            $($argument: Argument,)*
        {
            fn signature() -> Signature {
                Signature::new(vec![$(parameter::<$argument>()),*], R::schema())
            }
            fn invoke(&self, call: &Call<'_>) -> Result<Value> {
                call.expect($count)?;
                self($(call.argument::<$argument>($position)?),*).into_value()
            }
        }
    )*};
}

typed_functions! {
    0 ()
    1 (0 A)
    2 (0 A, 1 B)
    3 (0 A, 1 B, 2 C)
    4 (0 A, 1 B, 2 C, 3 D)
    5 (0 A, 1 B, 2 C, 3 D, 4 E)
    6 (0 A, 1 B, 2 C, 3 D, 4 E, 5 G)
    7 (0 A, 1 B, 2 C, 3 D, 4 E, 5 G, 6 H)
    8 (0 A, 1 B, 2 C, 3 D, 4 E, 5 G, 6 H, 7 I)
}
