//! The program of `docs/tutorial-rust.md`, whose blocks are the lines below the mark.

// The page declares the types of a library.
#![allow(unreachable_pub, reason = "a module of tests is not a library")]

/// The text between the blocks of the page is left out.
fn blocks(page: &str) -> String {
    let mut blocks = Vec::new();
    for part in page.split("```rust\n").skip(1) {
        let (block, _) = part.split_once("```").expect("the end of a block");
        blocks.push(block);
    }
    blocks.join("\n")
}

#[test]
fn the_page_is_this_program() {
    let page = include_str!("../../../../docs/tutorial-rust.md");
    let program = include_str!("tutorial.rs");
    let (_, program) = program.split_once("// The page.\n\n").expect("the mark");
    assert!(
        blocks(page) == program,
        "docs/tutorial-rust.md differs from tutorial.rs"
    );
}

// The page.

use isoform::types::Enumerator;
use isoform::{Array, Node, Ref, Result, Str, Value, node_enum};

/// An expression.
#[derive(Node, Default)]
#[node(key = "mini.Expr")]
#[repr(C)]
pub struct Expr {}

node_enum! {
    /// An operator.
    pub enum Op, OpNode = "mini.Op" {
        /// The sum.
        Add = "add",
        /// The product.
        Mul = "mul",
    }
}

/// A number.
#[derive(Node)]
#[node(key = "mini.Int")]
#[repr(C)]
pub struct Int {
    #[node(base, default)]
    base: Expr,
    /// Its value.
    pub value: i64,
}

/// An operation.
#[derive(Node)]
#[node(key = "mini.Binary")]
#[repr(C)]
pub struct Binary {
    #[node(base, default)]
    base: Expr,
    /// The operator.
    pub op: Enumerator<Op>,
    /// The left operand.
    pub lhs: Ref<Expr>,
    /// The right operand.
    pub rhs: Ref<Expr>,
}

/// A variable.
#[derive(Node)]
#[node(key = "mini.Var", kind = var)]
#[repr(C)]
pub struct Var {
    #[node(base, default)]
    base: Expr,
    /// Its name, for people.
    #[node(ignore)]
    pub name: Str,
}

/// `let var = value in body`: the value is visited before the variable is bound.
#[derive(Node)]
#[node(key = "mini.Let", scope, defs_first = false)]
#[repr(C)]
pub struct Let {
    #[node(base, default)]
    base: Expr,
    /// The value.
    pub value: Ref<Expr>,
    /// Bound in the body.
    #[node(def)]
    pub var: Ref<Var>,
    /// The result.
    pub body: Ref<Expr>,
}

/// A function.
#[derive(Node)]
#[node(key = "mini.Fun", scope)]
#[repr(C)]
pub struct Fun {
    #[node(base, default)]
    base: Expr,
    /// Bound in the body.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The result.
    pub body: Ref<Expr>,
}

isoform::dialect! {
    "mini";
    pub use self::{Expr, OpNode, Int, Binary, Var, Let, Fun};
    /// Visits expressions.
    pub trait Visitor {}
}

use isoform::types::IntoField;
use isoform::{assert_structural_eq, nodes, structural_digest, structural_equal};

fn binary(op: Op, lhs: impl IntoField<Ref<Expr>>, rhs: impl IntoField<Ref<Expr>>) -> Ref<Expr> {
    Binary::new(op, lhs, rhs).upcast()
}

/// `fun x. let y = x + 1 in y * factor`
fn example(names: [&str; 2], factor: i64) -> Ref<Fun> {
    let [x, y] = names.map(Var::new);
    let next = binary(Op::Add, &x, Int::new(1));
    let body = Let::new(next, &y, binary(Op::Mul, &y, Int::new(factor)));
    Fun::new([x], body)
}

#[test]
fn names_do_not_count() -> Result<()> {
    let (f, g) = (example(["x", "y"], 2), example(["a", "b"], 2));
    assert_structural_eq!(&f, &g);
    assert_eq!(structural_digest(&f)?, structural_digest(&g)?);
    assert!(!structural_equal(&f, example(["x", "y"], 3))?);
    Ok(())
}

use isoform::files::{from_bytes, to_bytes};
use isoform::text::{from_text, to_text};

#[test]
fn programs_survive_files() -> Result<()> {
    let f = example(["x", "y"], 2);
    let text = to_text(&f)?;
    assert_eq!(
        text,
        "mini.Fun(\n  \
           params=[%x: mini.Var()],\n  \
           body=mini.Let(\n    \
             var=%y: mini.Var(),\n    \
             value=mini.Binary(op=mini.Op!\"add\", lhs=%x, rhs=mini.Int(value=1)),\n    \
             body=mini.Binary(op=mini.Op!\"mul\", lhs=%y, rhs=mini.Int(value=2)),\n  \
           ),\n\
         )\n"
    );
    assert_structural_eq!(from_text(&text)?, &f);
    assert_structural_eq!(from_bytes(&to_bytes(&f)?)?, &f);
    Ok(())
}

use isoform::match_node;
use isoform::traverse::structural_map;

/// Computes operations on numbers.
fn fold(root: impl Into<Value>) -> Result<Value> {
    structural_map(root, |visit| {
        let Some(operation) = visit.downcast::<Binary>() else {
            return Ok(None);
        };
        Ok(folded(operation).map(|number| Int::new(number).into()))
    })
}

fn folded(operation: &Binary) -> Option<i64> {
    let number = |side: &Ref<Expr>| {
        match_node!(side, {
            Int(int) => Some(int.value),
            _ => None,
        })
    };
    let (lhs, rhs) = (number(&operation.lhs)?, number(&operation.rhs)?);
    match operation.op.get() {
        Op::Add => lhs.checked_add(rhs),
        Op::Mul => lhs.checked_mul(rhs),
    }
}

#[test]
fn numbers_are_folded() -> Result<()> {
    let x = Var::new("x");
    let six = binary(
        Op::Mul,
        binary(Op::Add, Int::new(1), Int::new(2)),
        Int::new(2),
    );
    let f = Fun::new(nodes![&x], binary(Op::Add, &x, six));
    let expected = Fun::new(nodes![&x], binary(Op::Add, &x, Int::new(6)));
    assert_structural_eq!(fold(&f)?, expected);
    Ok(())
}

use isoform::Obj;
use isoform::traverse::{NodeVisitor, WalkResult};

/// The names of variables, and the number of scopes that ended.
#[derive(Default)]
struct Names {
    found: Vec<Str>,
    scopes: usize,
}

impl Visitor for Names {
    fn visit_var(&mut self, var: &Ref<Var>) -> Result<WalkResult> {
        self.found.push(var.name.clone());
        Ok(WalkResult::Skip)
    }

    fn leave_node(&mut self, node: &Ref<Obj>) -> Result<()> {
        self.scopes += usize::from(node.type_info().is_scope());
        Ok(())
    }
}

#[test]
fn a_visitor_meets_each_variable_once() -> Result<()> {
    let mut names = Names::default();
    NodeVisitor::new()
        .enter(|names: &mut Names, node: &Ref<Obj>| visit_by_class(names, node))
        .leave(|names, node: &Ref<Obj>| names.leave_node(node))
        .visit(&mut names, example(["x", "y"], 2))?;
    assert_eq!(names.found, ["x", "y"]);
    assert_eq!(names.scopes, 2);
    Ok(())
}

use isoform::pattern::{Pattern, Rule, rewrite};

/// `a * 1` is `a`.
fn times_one() -> Result<Rule> {
    let a = Var::new("a");
    Rule::new(Pattern::new(binary(Op::Mul, &a, Int::new(1)), [&a])?, &a)
}

#[test]
fn products_with_one_disappear() -> Result<()> {
    let done = rewrite(example(["x", "y"], 1), &[times_one()?])?;
    assert_eq!(done.applied, [1]);
    let (x, y) = (Var::new("x"), Var::new("y"));
    let next = binary(Op::Add, &x, Int::new(1));
    assert_structural_eq!(done.value, Fun::new([x.clone()], Let::new(next, &y, &y)));
    Ok(())
}

use isoform::assert_golden;
use isoform_testing::nodes::random_node;
use isoform_testing::source::RandomCases;

#[test]
fn the_example_is_the_golden_one() {
    assert_golden!(example(["p", "q"], 2), "tests/golden/tutorial.iso");
}

#[test]
fn folding_twice_changes_nothing() -> Result<()> {
    register_types()?;
    let cases = RandomCases {
        seed: 1,
        count: 2_000,
        lengths: 0..200,
    };
    cases.check("fold", |bytes| {
        let check = || -> Result<()> {
            let once = fold(random_node::<Expr>(bytes)?)?;
            isoform::text::assert_structural_equal(fold(&once)?, &once)
        };
        check().map_err(|error| error.to_string())
    });
    Ok(())
}
