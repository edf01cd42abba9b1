use isoform::Node;

#[derive(Node)]
#[repr(C)]
struct NoKey {
    value: i64,
}

#[derive(Node)]
#[node(key = "")]
#[repr(C)]
struct EmptyKey {
    value: i64,
}

#[derive(Node)]
#[node(key = ui.Name)]
#[repr(C)]
struct BareKey {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Unknown", colour = "red")]
#[repr(C)]
struct Unknown {
    #[node(skip)]
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Duplicate", scope)]
#[node(scope)]
#[repr(C)]
struct Duplicate {
    #[node(def, def)]
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.WrongForm", scope = true, defs_first = 1, hooks = equal, crate = "isoform")]
#[repr(C)]
struct WrongForm {
    #[node(name = value, default(5))]
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.WrongUse")]
#[repr(C)]
struct WrongUse {
    #[node(compare)]
    a: i64,
    #[node(hash = 1)]
    b: i64,
    #[node(repr(false))]
    c: i64,
}

#[derive(Node)]
#[node(key = "ui.BadKind", kind = leaf)]
#[repr(C)]
struct BadKind {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.BadHooks", hooks(equal, order))]
#[repr(C)]
struct BadHooks {
    value: i64,
}

#[derive(Node)]
#[node(key = "ui.Conflict")]
#[repr(C)]
struct Conflict {
    #[node(ignore, def)]
    value: i64,
    #[node(def_simple)]
    #[node(def)]
    other: i64,
}

#[derive(Node)]
#[node(key = "ui.DuplicateName")]
#[repr(C)]
struct DuplicateName {
    value: i64,
    #[node(name = "value")]
    other: i64,
}

#[derive(Node)]
#[node(key = "ui.WrongVisitOrder", visit_order(first, third, first))]
#[repr(C)]
struct WrongVisitOrder {
    first: i64,
    second: i64,
    #[node(ignore)]
    note: i64,
}

fn main() {}
