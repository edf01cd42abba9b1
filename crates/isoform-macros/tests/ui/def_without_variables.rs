use isoform::{Array, Node, Obj, Ref, Str, Value};

type Name = Str;

#[derive(Node)]
#[node(key = "ui.Let", scope)]
#[repr(C)]
struct Let {
    #[node(def)]
    name: Name,
    #[node(def_simple)]
    number: i64,
    #[node(def)]
    var: Ref<Obj>,
    #[node(def)]
    vars: Array<Ref<Obj>>,
    #[node(def)]
    pattern: Value,
    #[node(def)]
    rest: Option<Ref<Obj>>,
}

fn main() {}
