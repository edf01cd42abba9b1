use isoform::Node;

trait Plain {}

#[derive(Node)]
#[node(key = "ui.PlainTrait", attrs(dyn Plain))]
#[repr(C)]
struct PlainTrait {
    value: i64,
}

impl Plain for PlainTrait {}

fn main() {
    let node = PlainTrait::new(1);
    let _ = node.implements::<dyn Plain>();
}
