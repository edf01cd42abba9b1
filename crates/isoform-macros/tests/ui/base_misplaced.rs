use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.Parent")]
#[repr(C)]
struct Parent {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.NotFirst")]
#[repr(C)]
struct NotFirst {
    value: i64,
    #[node(base)]
    parent: Parent,
}

#[derive(Node)]
#[node(key = "ui.Twice")]
#[repr(C)]
struct Twice {
    #[node(base)]
    parent: Parent,
    #[node(base)]
    other: Parent,
}

#[derive(Node)]
#[node(key = "ui.Flagged")]
#[repr(C)]
struct Flagged {
    #[node(base, ignore, name = "p")]
    parent: Parent,
}

#[derive(Node)]
#[node(key = "ui.Referenced")]
#[repr(C)]
struct Referenced {
    #[node(base, default)]
    parent: Ref<Parent>,
}

fn main() {}
