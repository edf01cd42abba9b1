use isoform::Node;

#[derive(Clone)]
struct Plain;

#[derive(Node)]
#[node(key = "ui.FieldType")]
#[repr(C)]
struct FieldType {
    value: Plain,
    number: Option<i64>,
}

fn main() {}
