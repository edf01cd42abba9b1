//! The purposes of the family's types.

/// The purpose of a type of the family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(usize)]
pub enum Role {
    /// The parent of the other types, kind `tree`: `span` (ignored).
    Expr,
    /// A variable: `span` (ignored), `name` (ignored), `ty`.
    Var,
    /// A variable without compared fields: `span` (ignored), `name` (ignored).
    Name,
    /// A variable that extends `Var`: the fields of `Var` and `rank`, an int.
    TypedVar,
    /// Kind `tree`: `value`.
    Const,
    /// Kind `tree`, no children: `span` (ignored), `bits`, an int, `scale`, a float.
    Literal,
    /// Kind `tree`: `lhs`, `rhs`.
    Add,
    /// Kind `tree`, a field of every storage: `any`, `object`, `nullable`,
    /// `int`, `float`, `flag`, `text`, `dtype`.
    Storages,
    /// Kind `const-tree`: `a`, `b`.
    Frozen,
    /// Kind `dag`: `lhs`, `rhs`.
    Shared,
    /// Kind `singleton`: `name`.
    Op,
    /// Never comparable: `value`.
    Hidden,
    /// A scope whose definitions come last and are visited first: `body`,
    /// `params` (def).
    Lambda,
    /// A scope whose definitions come last and are visited last: `body`,
    /// `params` (def).
    LateLambda,
    /// A binder without a scope: `params` (def), `body`.
    Function,
    /// A statement: `value`, `target` (def-simple).
    Let,
    /// A scope of kind `dag`: `params` (def), `body`.
    SharedLambda,
    /// Hooks that accept the operands in either order: `lhs`, `rhs`.
    Comm,
    /// Hooks that define `params` in a separate region, a scope:
    /// `params`, `body`.
    Binder,
    /// Kind `tree`: `size` (uses), `inner`.
    Sized,
    /// A variable with a field that binds further variables: `dims` (def).
    ShapedVar,
    /// Hooks that compare the part, and nothing else: `part`.
    Wrap,
    /// Hooks that define the target wherever the object stands, and mix a number into the
    /// hash: `number`, an int, `target`.
    Define,
}

/// All roles, in the order of their numbers.
pub const ROLES: [Role; 23] = [
    Role::Expr,
    Role::Var,
    Role::Name,
    Role::TypedVar,
    Role::Const,
    Role::Literal,
    Role::Add,
    Role::Storages,
    Role::Frozen,
    Role::Shared,
    Role::Op,
    Role::Hidden,
    Role::Lambda,
    Role::LateLambda,
    Role::Function,
    Role::Let,
    Role::SharedLambda,
    Role::Comm,
    Role::Binder,
    Role::Sized,
    Role::ShapedVar,
    Role::Wrap,
    Role::Define,
];
