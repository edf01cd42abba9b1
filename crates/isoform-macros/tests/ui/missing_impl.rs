use isoform::Node;

#[derive(Node)]
#[node(key = "ui.MissingHook", hooks(equal))]
#[repr(C)]
struct MissingHook {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.MissingVerify", hooks(verify))]
#[repr(C)]
struct MissingVerify {
    value: i64,
}

fn main() {}
