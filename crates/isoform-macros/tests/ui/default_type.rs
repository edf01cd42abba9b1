use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.Inner")]
#[repr(C)]
struct Inner {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.DefaultType")]
#[repr(C)]
struct DefaultType {
    #[node(default = "five")]
    value: i64,
    #[node(default = 5.to_string())]
    number: i64,
    #[node(default)]
    inner: Ref<Inner>,
}

fn main() {}
