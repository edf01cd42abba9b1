use isoform::{Result, Value};
use isoform::attrs::node_trait;

#[node_trait]
trait Unnamed {}

#[node_trait("ui.structure")]
struct Structure;

#[node_trait("ui.generic")]
trait Generic<T>: Clone {
    const LEVEL: i64;
}

#[node_trait("ui.methods")]
trait Methods {
    fn changes(&mut self) -> Result<()>;
    fn generic<T>(&self, value: T) -> Result<Value>;
    #[node_trait(hidden)]
    fn hidden(&self);
    #[node_trait(rust_only)]
    fn bodiless(&self);
    fn no_result(&self);
    fn right(&self) -> Result<()>;
}

fn main() {}
