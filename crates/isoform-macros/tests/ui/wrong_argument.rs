use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.Parent")]
#[repr(C)]
struct Parent {}

#[derive(Node)]
#[node(key = "ui.Stranger")]
#[repr(C)]
struct Stranger {}

#[derive(Node)]
#[node(key = "ui.Holder")]
#[repr(C)]
struct Holder {
    held: Ref<Parent>,
}

fn main() {
    Holder::new(Stranger::new());
}
