use isoform::{Result, Value};
use isoform::attrs::node_trait;

struct Own;

#[node_trait("ui.types")]
trait Types {
    fn by_value(&self, own: Own) -> Result<Value>;
    fn by_reference(&self, own: &Own) -> Result<Value>;
    fn cannot_fail(&self) -> i64;
    fn own_result(&self) -> Result<Own>;
    #[node_trait(rust_only)]
    fn hidden(&self, own: Own) -> Own {
        own
    }
}

fn main() {}
