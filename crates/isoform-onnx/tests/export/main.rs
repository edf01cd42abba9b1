//! Export of programs as models.

#[allow(dead_code, unreachable_pub)]
#[path = "../it/build.rs"]
mod build;
mod golden;
mod kept;
mod models;
mod places;
mod refused;
mod round_trip;
mod saved;
