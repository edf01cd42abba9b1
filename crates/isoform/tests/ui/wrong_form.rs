use isoform::Node;

#[derive(Node)]
#[node(key = "ui.WrongForm", scope = true, defs_first = 1, hooks = equal, crate = "isoform")]
#[repr(C)]
struct WrongForm {
    #[node(name = value, default(5))]
    value: i64,
}

fn main() {}
