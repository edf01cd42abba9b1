use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.InitNotExported", init = make)]
#[repr(C)]
struct InitNotExported {
    value: i64,
}

fn make(value: i64) -> Ref<InitNotExported> {
    InitNotExported::new(value)
}

fn main() {}
