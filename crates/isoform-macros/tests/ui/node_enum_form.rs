use isoform::node_enum;

node_enum! {
    /// Operators.
    pub enum Op, OpNode = "ui.Op" { Add, Mul }
}

fn main() {}
