use isoform::Node;

#[derive(Node)]
#[node(key = "ui.WrongUse")]
#[repr(C)]
struct WrongUse {
    #[node(compare)]
    a: i64,
    #[node(hash = 1)]
    b: i64,
    #[node(repr(false))]
    c: i64,
}

fn main() {}
