//! Programs of MLIR as programs of which operations can go.

use std::io::Write;
use std::path::Path;

use isoform::compare::Digest;
use isoform::{Ref, Result, structural_digest};
use isoform_mlir::{Program, ReducibleProgram, Replacement};
use isoform_onnx::WholeFile;

use super::Writable;
use super::search::Reducible;

/// The operations of a program.
pub(super) struct Operations(ReducibleProgram);

impl Operations {
    pub(super) fn new(program: &Ref<Program>) -> Result<Operations> {
        ReducibleProgram::new(program).map(Operations)
    }
}

impl Reducible for Operations {
    type Replacement = Replacement;
    const REPLACEMENTS: &'static [Replacement] = &[
        Replacement::First,
        Replacement::Last,
        Replacement::Placeholder,
    ];
    const CUT: Replacement = Replacement::Placeholder;

    fn size(&self) -> usize {
        self.0.len()
    }

    fn digest(&self) -> Result<Digest> {
        structural_digest(self.0.program())
    }

    fn parts(&self) -> usize {
        self.0.len()
    }

    fn without(&self, lost: &[bool], replacement: Replacement) -> Result<Option<Self>> {
        Ok(self.0.without(lost, replacement)?.map(Operations))
    }

    fn needed_by(&self, part: usize) -> Vec<bool> {
        self.0.needed_by(part)
    }

    fn users_of(&self, part: usize) -> Vec<bool> {
        self.0.users_of(part)
    }

    fn variants(&self) -> usize {
        0
    }

    fn variant(&self, _number: usize) -> Result<Option<Self>> {
        Ok(None)
    }
}

impl Writable for Operations {
    const NOUN: &'static str = "operation";
    const FILE: &'static str = "program.mlir";

    fn save(&self, target: &Path) -> Result<()> {
        let bytes = self.to_bytes()?;
        let mut file = WholeFile::create(target)?;
        file.write_all(&bytes)?;
        file.keep()?;
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        isoform_mlir::write(self.0.program()).map(String::into_bytes)
    }
}
