use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Unknown", colour = "red")]
#[repr(C)]
struct Unknown {
    #[node(skip)]
    value: i64,
}

fn main() {}
