use isoform::Node;

#[derive(Node)]
#[node(key = "ui.Dropped")]
#[repr(C)]
struct Dropped {
    value: i64,
}

impl Drop for Dropped {
    fn drop(&mut self) {}
}

fn main() {}
