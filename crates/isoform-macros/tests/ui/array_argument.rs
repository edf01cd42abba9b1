use isoform::{Array, Node, Ref, Str};

#[derive(Node)]
#[node(key = "ui.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
}

#[derive(Node)]
#[node(key = "ui.Fun")]
#[repr(C)]
struct Fun {
    #[node(def)]
    params: Array<Ref<Var>>,
}

fn main() {
    let x = Var::new("x");
    Fun::new([&x]);
}
