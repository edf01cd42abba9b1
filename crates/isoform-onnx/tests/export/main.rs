//! Export of programs as models.

#[allow(dead_code, unreachable_pub)]
#[path = "../it/build.rs"]
mod build;
mod golden;
mod models;
mod round_trip;
