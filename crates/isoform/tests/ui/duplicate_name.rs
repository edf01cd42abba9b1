use isoform::Node;

#[derive(Node)]
#[node(key = "ui.DuplicateName")]
#[repr(C)]
struct DuplicateName {
    value: i64,
    #[node(name = "value")]
    other: i64,
}

fn main() {}
