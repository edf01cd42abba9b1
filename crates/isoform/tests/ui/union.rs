use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Union")]
#[repr(C)]
union Either {
    left: i64,
    right: f64,
}

fn main() {}
