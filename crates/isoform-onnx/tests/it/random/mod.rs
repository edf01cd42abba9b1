//! Random programs: what is drawn, and what evaluation and optimisation promise about
//! them.

mod coverage;
mod properties;
