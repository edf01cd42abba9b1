//! Tests of pages as they are written: escaping, policy, embedded data, sizes and summaries.

mod embedded;
mod escaping;
mod markdown;
mod samples;
mod snapshot;
