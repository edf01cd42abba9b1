use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.Generic")]
#[repr(C)]
struct Generic<T: Node>
where
    T: Clone,
{
    value: Ref<T>,
}

fn main() {}
