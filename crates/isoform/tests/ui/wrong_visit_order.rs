use isoform::Node;

#[derive(Node)]
#[node(key = "ui.WrongVisitOrder", visit_order(first, third, first))]
#[repr(C)]
struct WrongVisitOrder {
    first: i64,
    second: i64,
    #[node(ignore)]
    note: i64,
}

fn main() {}
