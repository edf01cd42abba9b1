use isoform::{Node, Ref, match_node};

#[derive(Node, Default)]
#[node(key = "ui.Expr")]
#[repr(C)]
struct Expr {}

#[derive(Node)]
#[node(key = "ui.Int")]
#[repr(C)]
struct Int {
    #[node(base, default)]
    base: Expr,
}

#[derive(Node)]
#[node(key = "ui.Stmt")]
#[repr(C)]
struct Stmt {}

fn number(expr: &Ref<Expr>) -> i64 {
    match_node!(expr, {
        Int(_) => 1,
        Stmt(_) => 2,
        _ => 3,
    })
}

fn main() {}
