//! Facts about shapes and values: polynomials, rules of operators, control flow, and
//! the required work.

mod build;
mod control;
mod elements;
mod fixing;
mod shapes;
mod sizes;
mod work;
