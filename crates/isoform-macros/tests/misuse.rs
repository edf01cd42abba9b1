//! The compiler's messages on misuse of the derive: one file per kind of mistake, with
//! the messages beside it.
//!
//! After a change of messages, `TRYBUILD=overwrite cargo test -p isoform-macros --test misuse` rewrites the `.stderr`
//! files for review.

// The compiler lists some of the types that implement a trait: a new implementation in the
// core may change the list.
#[test]
fn misuse_is_reported_where_it_is() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
