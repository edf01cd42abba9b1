//! Hashing what changed: the same results as hashing everything, in work that is
//! proportional to the edit.

mod counts;
mod judged;
