use isoform::Node;

#[derive(Node)]
#[node(key = "ui.BadKind", kind = leaf)]
#[repr(C)]
struct BadKind {
    value: i64,
}

fn main() {}
