use isoform::Node;

#[derive(Node)]
#[node(key = "ui.NoRepr")]
struct NoRepr {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Transparent")]
#[repr(transparent)]
struct Transparent {
    value: i64,
}

fn main() {}
