//! Methods that set one option each.

/// The methods that set fields, by the names of the fields, for the `impl` of a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    ($($(#[$doc:meta])+ $field:ident: $type:ty,)+) => {$(
        $(#[$doc])+
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    )+};
}
pub(crate) use __setters as setters;
