use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Tuple")]
#[repr(C)]
struct Pair(i64, i64);

fn main() {}
