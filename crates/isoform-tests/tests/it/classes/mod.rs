//! Tests of the classes of subterms, of duplicates, and of interning.

mod costs;
mod groups;
mod judged;
mod meaning;
