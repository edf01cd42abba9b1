use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Conflict")]
#[repr(C)]
struct Conflict {
    #[node(ignore, def)]
    value: i64,
    #[node(def_simple)]
    #[node(def)]
    other: i64,
}

fn main() {}
