//! Tests of the macro on token streams: what it writes, and what it says about misuse.

mod expansion;
mod export;
mod misuse;
