use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Packed")]
#[repr(C, packed)]
struct Packed {
    flag: bool,
    value: i64,
}

fn main() {}
