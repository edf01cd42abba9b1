//! Random programs: the generator, and the promises of evaluation and optimisation.

mod coverage;
mod properties;
