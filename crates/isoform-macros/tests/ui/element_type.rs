use isoform::{Array, Map, Node, Str, node_enum};

#[derive(Node)]
#[node(key = "ui.Expr")]
#[repr(C)]
struct Expr {}

node_enum! {
    /// Operators.
    pub enum Op, OpNode = "ui.Op" {
        /// The sum.
        Add = "add",
    }
}

#[derive(Node)]
#[node(key = "ui.ElementType")]
#[repr(C)]
struct ElementType {
    nodes: Array<Expr>,
    members: Array<Op>,
    texts: Array<String>,
    numbers: Map<Str, usize>,
}

fn main() {}
