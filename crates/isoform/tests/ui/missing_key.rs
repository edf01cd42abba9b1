use isoform::Node;

#[derive(Node)]
#[repr(C)]
struct NoKey {
    value: i64,
}

#[derive(Node)]
#[node(key = "")]
#[repr(C)]
struct EmptyKey {
    value: i64,
}

#[derive(Node)]
#[node(key = ui.Name)]
#[repr(C)]
struct BareKey {
    value: i64,
}

fn main() {}
