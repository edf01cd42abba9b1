//! Export of programs as models.

mod golden;
mod kept;
mod models;
mod places;
mod refused;
mod round_trip;
mod saved;
