use isoform::Node;

#[derive(Node)]
#[node(key = "ui.BadHooks", hooks(equal, order))]
#[repr(C)]
struct BadHooks {
    value: i64,
}

fn main() {}
