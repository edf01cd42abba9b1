//! Facts about shapes and values: polynomials, rules of operators, control flow, and the
//! work that they take.

mod build;
mod control;
mod elements;
mod fixing;
mod shapes;
mod sizes;
mod work;
