//! ONNX models as programs of which nodes can go.

use std::path::Path;

use isoform::compare::Digest;
use isoform::{Ref, Result, structural_digest};
use isoform_onnx::SaveOptions;
use isoform_onnx::ir::Program;
use isoform_onnx::reduce::{Draft, Replacement};

use super::Writable;
use super::search::Reducible;

/// The nodes of a model.
pub(super) struct Nodes(Draft);

impl Nodes {
    pub(super) fn new(program: &Ref<Program>) -> Result<Nodes> {
        Draft::new(program).map(Nodes)
    }

    #[cfg(test)]
    pub(super) fn program(&self) -> &Ref<Program> {
        self.0.program()
    }
}

impl Reducible for Nodes {
    type Replacement = Replacement;
    const REPLACEMENTS: &'static [Replacement] =
        &[Replacement::First, Replacement::Last, Replacement::Input];
    const CUT: Replacement = Replacement::Input;

    fn size(&self) -> usize {
        self.0.node_count()
    }

    fn digest(&self) -> Result<Digest> {
        structural_digest(self.0.program())
    }

    fn parts(&self) -> usize {
        self.0.len()
    }

    fn without(&self, lost: &[bool], replacement: Replacement) -> Result<Option<Self>> {
        Ok(self.0.without(lost, replacement)?.map(Nodes))
    }

    fn needed_by(&self, part: usize) -> Vec<bool> {
        self.0.needed_by(part)
    }

    fn users_of(&self, part: usize) -> Vec<bool> {
        self.0.users_of(part)
    }

    fn variants(&self) -> usize {
        self.0.variants()
    }

    fn variant(&self, number: usize) -> Result<Option<Self>> {
        Ok(self.0.variant(number)?.map(Nodes))
    }
}

impl Writable for Nodes {
    const NOUN: &'static str = "node";
    const FILE: &'static str = "model.onnx";

    fn save(&self, target: &Path) -> Result<()> {
        SaveOptions::default().save(self.0.program(), target)?;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        SaveOptions::default().to_bytes(self.0.program())
    }
}
