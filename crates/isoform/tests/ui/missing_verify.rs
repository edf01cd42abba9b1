use isoform::Node;

#[derive(Node)]
#[node(key = "ui.MissingVerify", hooks(verify))]
#[repr(C)]
struct MissingVerify {
    value: i64,
}

fn main() {}
