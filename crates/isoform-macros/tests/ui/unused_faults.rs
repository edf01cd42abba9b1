#![deny(unused_must_use)]

use isoform::Value;
use isoform::traverse::check_well_formed;

fn check(value: &Value) -> isoform::Result<()> {
    check_well_formed(value)?;
    Ok(())
}

fn main() {}
