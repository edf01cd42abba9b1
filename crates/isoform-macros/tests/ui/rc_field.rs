use std::rc::Rc;

use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Expr")]
#[repr(C)]
struct Expr {}

#[derive(Node)]
#[node(key = "ui.Holder")]
#[repr(C)]
struct Holder {
    value: Rc<Expr>,
    other: std::rc::Rc<Expr>,
}

fn main() {}
