//! Nodes from the tables of a file. Inner operations come first in the tables, so every
//! part of a node is made before the node.

use hashbrown::HashMap;
use isoform::{Array, Error, Map, Ref, Result, Str};
use rapidhash::fast::RandomState;

use super::Reader;
use super::fault::Read;
use super::records::{Dict, Id, Records};
use super::symbols::Settlement;
use super::values::Object;
use crate::nodes::{Block, Label, Operation, Program, Region, Value};

pub(super) const MODULE: &str = "builtin.module";

/// The nodes that are made so far.
struct Builder<'r, 't> {
    records: &'r Records<'t>,
    reader: &'r Reader<'t>,
    settlement: Settlement<'r>,
    values: Vec<Option<Ref<Value>>>,
    labels: Vec<Option<Ref<Label>>>,
    operations: Vec<Option<Ref<Operation>>>,
    /// The values of each region that a use precedes.
    forward: HashMap<Id, Vec<Id>, RandomState>,
    no_operands: Array<Ref<Value>>,
    no_labels: Array<Ref<Label>>,
    no_regions: Array<Ref<Region>>,
}

/// A mistake in the file, or an error of the library.
pub(super) enum Problem {
    Fault(super::fault::Fault),
    Error(Error),
}

impl From<super::fault::Fault> for Problem {
    fn from(fault: super::fault::Fault) -> Self {
        Problem::Fault(fault)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Problem::Error(error)
    }
}

impl Reader<'_> {
    /// The program of the records.
    pub(super) fn build(&self) -> Result<Ref<Program>, Problem> {
        let records = &self.records;
        let blocks = records
            .regions
            .first()
            .map_or(&[][..], |region| &region.blocks);
        let operations = |&block: &Id| &records.blocks[block as usize].operations;
        let outer: Vec<Id> = blocks.iter().flat_map(operations).copied().collect();
        let is_module = |id: &Id| records.operations[*id as usize].name == MODULE;
        let is_wrapped = !(outer.len() == 1 && outer.iter().all(is_module));
        let mut settlement = Settlement::new(
            records,
            &self.resources,
            is_wrapped,
            self.has_resources,
            self.cursor.text.len(),
        );
        if !self.keeps_names {
            settlement.find_symbols(records, &self.nested_names, is_wrapped)?;
        }
        let mut forward: HashMap<Id, Vec<Id>, RandomState> = HashMap::default();
        for (id, value) in (0..).zip(&records.values).filter(|(_, v)| v.is_forward) {
            forward.entry(value.region).or_default().push(id);
        }
        let mut builder = Builder {
            records,
            reader: self,
            settlement,
            values: vec![None; records.values.len()],
            labels: vec![None; records.blocks.len()],
            operations: vec![None; records.operations.len()],
            forward,
            no_operands: Array::new(),
            no_labels: Array::new(),
            no_regions: Array::new(),
        };
        for id in 0..records.operations.len() {
            let operation = builder.operation(id as Id)?;
            builder.operations[id] = Some(operation);
        }
        let module = if is_wrapped {
            let region = builder.outer_region()?;
            Operation::new(MODULE, Array::new()).with_regions([region])
        } else {
            let only = builder.operations[outer[0] as usize].take();
            only.ok_or_else(|| Error::value_error("expected a module"))?
        };
        let resources = self.resources.other.iter();
        let resources: Map<Str, _> = resources.map(|(k, v)| (k.clone(), v.clone())).collect();
        Ok(Program::new(module).with_resources(resources))
    }
}

impl Builder<'_, '_> {
    fn value(&mut self, id: Id) -> Result<Ref<Value>, Problem> {
        if let Some(Some(value)) = self.values.get(id as usize) {
            return Ok(value.clone());
        }
        let record = &self.records.values[id as usize];
        let mut ty = record
            .ty
            .clone()
            .ok_or_else(|| Error::value_error("expected a type"))?;
        if record.is_unsettled {
            ty = self.settlement.settle(&ty, record.region)?;
        }
        let name = String::from_utf8_lossy(record.name);
        let name: Str = match record.number {
            Some(number) => format!("{name}#{number}").into(),
            None => name.as_ref().into(),
        };
        let location = self.reader.settle_place(record.place.clone())?;
        let value = Ref::new(Value { ty, name, location });
        self.values[id as usize] = Some(value.clone());
        Ok(value)
    }

    fn values_of(&mut self, ids: impl Iterator<Item = Id>) -> Result<Array<Ref<Value>>, Problem> {
        let values = ids
            .map(|id| self.value(id))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(array(values, &self.no_operands))
    }

    fn label(&mut self, block: Id) -> Ref<Label> {
        let name = self.records.blocks[block as usize].name;
        let name = || Label {
            name: String::from_utf8_lossy(name).as_ref().into(),
        };
        self.labels[block as usize]
            .get_or_insert_with(|| Ref::new(name()))
            .clone()
    }

    fn operation(&mut self, id: Id) -> Result<Ref<Operation>, Problem> {
        let records = self.records;
        let record = &records.operations[id as usize];
        let operands = records.operands[record.operands.positions()]
            .iter()
            .copied();
        let operands = self.values_of(operands)?;
        let successors = records.successors[record.successors.positions()].iter();
        let successors: Vec<_> = successors.map(|&block| self.label(block)).collect();
        let successors = array(successors, &self.no_labels);
        let mut properties = record.properties.clone();
        let mut attributes = record.attributes.clone();
        if record.is_unsettled {
            properties = self.dict(&properties, record.region)?;
            attributes = self.dict(&attributes, record.region)?;
        }
        if let Some((symbol, is_property)) = self.settlement.definition(id) {
            let dict = if *is_property {
                &mut properties
            } else {
                &mut attributes
            };
            dict.insert("sym_name".into(), symbol.clone().into_object());
        }
        let results = self.values_of(record.results.ids())?;
        let regions = record.regions.iter().map(|&region| self.region(region));
        let regions = regions.collect::<Result<Vec<_>, _>>()?;
        let regions = array(regions, &self.no_regions);
        let location = self.reader.settle_place(record.place.clone())?;
        Ok(Ref::new(Operation {
            name: record.name.clone(),
            operands,
            successors,
            properties,
            attributes,
            results,
            regions,
            location,
        }))
    }

    fn dict(&mut self, dict: &Dict, region: Id) -> Result<Dict> {
        let settled = |(key, value): (&Str, &Object)| {
            Ok((key.clone(), self.settlement.settle(value, region)?))
        };
        dict.iter().map(settled).collect()
    }

    fn region(&mut self, id: Id) -> Result<Ref<Region>, Problem> {
        let records = self.records;
        let mut symbols = Vec::new();
        let mut labels = Vec::new();
        let mut blocks = Vec::new();
        for &block in &records.regions[id as usize].blocks {
            let record = &records.blocks[block as usize];
            let label = self.label(block);
            labels.push(label.clone());
            let arguments = self.values_of(record.arguments.ids())?;
            let mut operations = Vec::with_capacity(record.operations.len());
            for &operation in &record.operations {
                if let Some((symbol, _)) = self.settlement.definition(operation) {
                    symbols.push(symbol.clone());
                }
                operations.extend(self.operations[operation as usize].take());
            }
            let operations = operations.into();
            blocks.push(Ref::new(Block {
                label,
                arguments,
                operations,
            }));
        }
        let forward = self.forward.remove(&id).unwrap_or_default();
        let forward = self.values_of(forward.into_iter())?;
        Ok(Region::of_parts(
            symbols.into(),
            labels.into(),
            forward,
            blocks.into(),
        ))
    }

    /// The region of the operations that no module holds.
    fn outer_region(&mut self) -> Result<Ref<Region>, Problem> {
        let region = self.records.regions.first();
        if region.is_none_or(|region| region.blocks.is_empty()) {
            return Ok(Region::new([Block::new(Label::new(), [], [])]));
        }
        self.region(0)
    }
}

/// An array of these elements; the given one for an empty list.
fn array<T>(elements: Vec<Ref<T>>, none: &Array<Ref<T>>) -> Array<Ref<T>>
where
    T: isoform::Node,
{
    if elements.is_empty() {
        none.clone()
    } else {
        elements.into()
    }
}

/// Refuses what is known to be wrong only at the end of a file.
pub(super) fn check_end(reader: &Reader<'_>) -> Read<()> {
    reader.check_waiting()?;
    reader.check_late_types()
}
