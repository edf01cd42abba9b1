use isoform::Node;

struct NoValue;

#[derive(Node)]
#[node(key = "ui.WrongValue", attrs("ui.value" = NoValue))]
#[repr(C)]
struct WrongValue {}

#[derive(Node)]
#[node(key = "ui.WrongAttrs", attrs("ui.value", cost = 5))]
#[repr(C)]
struct WrongAttrs {}

#[derive(Node)]
#[node(key = "ui.RepeatedAttrs", attrs("ui.value" = 1, "ui.value" = 2))]
#[repr(C)]
struct RepeatedAttrs {}

#[derive(Node)]
#[node(key = "ui.NoAttrs", attrs)]
#[repr(C)]
struct NoAttrs {}

fn main() {}
