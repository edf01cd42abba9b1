use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Duplicate", scope)]
#[node(scope)]
#[repr(C)]
struct Duplicate {
    #[node(def, def)]
    value: i64,
}

fn main() {}
