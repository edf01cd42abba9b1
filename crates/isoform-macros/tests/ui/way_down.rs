use isoform::{Node, Obj, Ref, Value};

#[derive(Node)]
#[node(key = "ui.Expr")]
#[repr(C)]
struct Expr {}

#[derive(Node)]
#[node(key = "ui.Neg")]
#[repr(C)]
struct Neg {
    value: Ref<Expr>,
}

fn from_object(object: &Ref<Obj>) -> Ref<Neg> {
    Neg::new(object)
}

fn from_value(value: Value) -> Ref<Neg> {
    Neg::new(value)
}

fn main() {}
