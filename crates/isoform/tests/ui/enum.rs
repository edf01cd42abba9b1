use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Enum")]
#[repr(C)]
enum Choice {
    Left,
    Right,
}

fn main() {}
