#[isoform::export(name = "ui.name")]
fn name() {}

#[isoform::export("ui.generic")]
fn generic<T>(x: T) {}

#[isoform::export("ui.defaults")]
fn defaults(#[default = 1] x: i64, y: i64, #[default] z: i64) -> i64 {
    x + y + z
}

#[isoform::export("ui.mutable")]
fn mutable(x: &mut i64) {}

struct Number(i64);

impl Number {
    #[isoform::export("ui.method")]
    fn method(&self) -> i64 {
        self.0
    }
}

#[isoform::export("ui.constant")]
const CONSTANT: i64 = 3;

fn main() {
    name();
    defaults(1, 2, 3);
}
