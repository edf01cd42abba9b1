use isoform::{Node, Ref};

#[derive(Node)]
#[node(key = "ui.Tuple")]
#[repr(C)]
struct Pair(i64, i64);

#[derive(Node)]
#[node(key = "ui.Enum")]
#[repr(C)]
enum Choice {
    Left,
    Right,
}

#[derive(Node)]
#[node(key = "ui.Union")]
#[repr(C)]
union Either {
    left: i64,
    right: f64,
}

#[derive(Node)]
#[node(key = "ui.Generic")]
#[repr(C)]
struct Generic<T: Node>
where
    T: Clone,
{
    value: Ref<T>,
}

#[derive(Node)]
#[node(key = "ui.NoRepr")]
struct NoRepr {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Transparent")]
#[repr(transparent)]
struct Transparent {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Packed")]
#[repr(C, packed)]
struct Packed {
    flag: bool,
    value: i64,
}

fn main() {}
