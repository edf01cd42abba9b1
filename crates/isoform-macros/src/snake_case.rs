//! The names of visitor methods: needed here as identifiers, and in the library for types declared
//! at run time.
//!
//! The library takes the function from this file as tokens.

use proc_macro2::TokenStream;

/// Defines a function in this crate, and its text for the library, which cannot call into a crate
/// of macros.
macro_rules! here_and_in_the_library {
    ($($function:tt)*) => {
        pub(crate) $($function)*

        pub(crate) fn text() -> TokenStream {
            quote::quote!($($function)*)
        }
    };
}

// `IRNode` as `ir_node`: a word begins at a capital after another letter or a digit, and
// at the last of several capitals when a small letter follows.
here_and_in_the_library! {
    fn snake_case(class: &str) -> String {
        let letters: Vec<char> = class.chars().collect();
        let mut name = String::new();
        for (at, letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| letters.get(before));
            let ends_capitals = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
            let begins = letter.is_ascii_uppercase()
                && before.is_some_and(|before| !before.is_ascii_uppercase() || ends_capitals);
            if begins && before != Some(&'_') {
                name.push('_');
            }
            name.extend(letter.to_lowercase());
        }
        name
    }
}
