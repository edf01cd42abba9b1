//! Digests never change, whatever a program keeps about the file it came from.

use isoform::structural_digest;
use isoform_onnx::ImportOptions;

use super::models::all;
use crate::build::load_with;

const DIGESTS: &str = include_str!("digests.txt");

#[test]
fn digests_of_models_stay_the_same() {
    let lines = all().into_iter().map(|(name, model)| {
        let digest = |io_names| {
            let model = load_with(&model, ImportOptions::default().io_names(io_names));
            structural_digest(model.to_value()).unwrap()
        };
        format!("{name}: {} {}\n", digest(false), digest(true))
    });
    assert_eq!(lines.collect::<String>(), DIGESTS);
}
