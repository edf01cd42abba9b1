use isoform::{Node, Result, attrs};
use isoform::attrs::node_trait;

#[node_trait("ui.cost")]
trait Cost {
    fn cost(&self) -> Result<i64>;
}

#[derive(Node)]
#[node(key = "ui.Costless", attrs(dyn Cost))]
#[repr(C)]
struct Costless {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Other")]
#[repr(C)]
struct Other {}

fn main() {
    let _ = attrs::implement::<dyn Cost, Other>();
}
