use std::collections::BTreeMap;

#[isoform::export("ui.argument")]
fn argument(x: i64, table: BTreeMap<String, i64>) -> i64 {
    x + table.len() as i64
}

#[isoform::export("ui.result")]
fn result() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}

#[isoform::export("ui.error")]
fn error() -> Result<i64, String> {
    Err("a text is no error".to_owned())
}

fn main() {
    // The function itself is right, whatever Isoform says.
    argument(1, BTreeMap::new());
}
