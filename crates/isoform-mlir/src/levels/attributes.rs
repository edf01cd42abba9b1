//! Attributes of operations that a level ignores.

use hashbrown::HashMap;
use isoform::traverse::MapOptions;
use isoform::values::Bytes;
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, structural_equal};
use rapidhash::fast::RandomState;

use super::{Level, only};
use crate::nodes::{
    ArrayAttr, DenseAttr, DenseStringsAttr, DialectAttr, DictAttr, FloatAttr, IntegerAttr,
    Operation, Program, ResourceAttr, SparseAttr,
};

/// The key of the resource in place of dropped elements. MLIR reads it like any other key
/// without contents.
const PLACEHOLDER: &str = "isoform_contents";

type Dict = Map<Str, Ref<Obj>>;

/// The keys of the dictionaries of arguments and results.
const DICTIONARIES: [&str; 2] = ["arg_attrs", "res_attrs"];

/// The program without the attributes that a level ignores.
pub(super) fn simplified(level: &Level, program: &Ref<Program>) -> Result<Ref<Program>> {
    let mut simplifier = Simplifier {
        level,
        dictionaries: HashMap::default(),
        dropped: HashMap::default(),
    };
    let wanted = only([Operation::type_index(), ResourceAttr::type_index()]);
    let simplified = MapOptions::default().map_selected(program, wanted, |visit| {
        if let Some(operation) = visit.downcast::<Operation>() {
            let simplified = simplifier.operation(operation)?;
            return Ok(simplified.map(Into::into));
        }
        let object = visit.object().filter(|_| !level.contents);
        Ok(object
            .and_then(|object| simplifier.without_contents(object))
            .map(Into::into))
    })?;
    let simplified = simplified.extract::<Ref<Program>>()?;
    let has_contents = simplified
        .resources
        .values()
        .any(|blobs| blobs.values().any(|blob| !blob.is_empty()));
    if level.contents || !has_contents {
        return Ok(simplified);
    }
    let empty = |blobs: &Map<Str, Bytes>| -> Map<Str, Bytes> {
        let keys = blobs.keys().cloned();
        keys.map(|key| (key, Bytes::from(Vec::new()))).collect()
    };
    let resources = simplified.resources.iter();
    let resources: Map<Str, _> = resources
        .map(|(dialect, blobs)| (dialect.clone(), empty(blobs)))
        .collect();
    Ok(simplified.with_resources(resources))
}

struct Simplifier<'l> {
    level: &'l Level,
    /// The dictionaries of arguments or results without names, by the identity of their
    /// array; None if nothing is left of them.
    dictionaries: HashMap<u64, Option<Ref<Obj>>, RandomState>,
    /// The placeholders of dropped contents, by the identity of the type.
    dropped: HashMap<u64, Ref<Obj>, RandomState>,
}

impl Simplifier<'_> {
    /// The operation without what the level ignores; None if all of it counts.
    fn operation(&mut self, operation: &Ref<Operation>) -> Result<Option<Ref<Operation>>> {
        let mut properties = operation.properties.clone();
        let mut attributes = operation.attributes.clone();
        for dict in [&mut properties, &mut attributes] {
            if !self.level.io_names {
                self.drop_names(dict);
            }
            if !self.level.contents {
                self.drop_contents(&operation.name, dict);
            }
        }
        if self.level.semantics {
            join(&mut properties, &mut attributes)?;
            self.drop_defaults(&operation.name, &mut properties)?;
            self.drop_defaults(&operation.name, &mut attributes)?;
        }
        let is_same =
            properties.same_as(&operation.properties) && attributes.same_as(&operation.attributes);
        Ok((!is_same).then(|| {
            let mut copy = operation.clone_fields();
            copy.properties = properties;
            copy.attributes = attributes;
            Ref::new(copy)
        }))
    }

    fn drop_names(&mut self, dict: &mut Dict) {
        for key in DICTIONARIES {
            let Some(array) = dict.get(key).cloned() else {
                continue;
            };
            match self.without_names(&array) {
                Some(new) if new.same_as(&array) => {}
                Some(new) => drop(dict.insert(key.into(), new)),
                None => drop(dict.remove(key)),
            }
        }
    }

    /// The dictionaries of arguments without names; None if all of them are empty.
    fn without_names(&mut self, object: &Ref<Obj>) -> Option<Ref<Obj>> {
        let known = &self.level.dialects.names;
        let Some(array) = object.downcast_ref::<ArrayAttr>() else {
            return Some(object.clone());
        };
        if let Some(known) = self.dictionaries.get(&object.identity()) {
            return known.clone();
        }
        let (mut is_empty, mut is_same) = (true, true);
        let elements = array.elements.iter().map(|element| {
            let Some(dict) = element.downcast_ref::<DictAttr>() else {
                is_empty = false;
                return element.clone();
            };
            let kept = dict.entries.iter().filter(|(key, _)| !known.contains(*key));
            let kept: Dict = kept
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            is_empty &= kept.is_empty();
            if kept.len() == dict.entries.len() {
                return element.clone();
            }
            is_same = false;
            DictAttr::new(kept).into_object()
        });
        let elements: Array<Ref<Obj>> = elements.collect();
        let simplified = match (is_empty, is_same) {
            (true, _) => None,
            (false, true) => Some(object.clone()),
            (false, false) => Some(ArrayAttr::new(elements).into_object()),
        };
        let identity = object.identity();
        self.dictionaries.insert(identity, simplified.clone());
        simplified
    }

    fn drop_contents(&mut self, operation: &Str, dict: &mut Dict) {
        let dialects = &self.level.dialects;
        let entries = dict
            .iter()
            .filter(|(key, _)| dialects.is_contents(operation, key))
            .map(|(key, value)| (key.clone(), value.clone()));
        let entries: Vec<(Str, Ref<Obj>)> = entries.collect();
        for (key, value) in entries {
            if let Some(dropped) = self.without_contents(&value) {
                dict.insert(key, dropped);
            }
        }
    }

    /// The placeholder of elements, of a number, or of a list of numbers such as the parts of
    /// a complex number; None for any other attribute.
    fn without_contents(&mut self, value: &Ref<Obj>) -> Option<Ref<Obj>> {
        if let Some(array) = value.downcast_ref::<ArrayAttr>() {
            let elements = array.elements.iter();
            let elements: Option<Vec<_>> = elements.map(|element| self.dropped(element)).collect();
            let elements = elements.filter(|elements| !elements.is_empty())?;
            return Some(ArrayAttr::new(elements).into_object());
        }
        self.dropped(value)
    }

    fn dropped(&mut self, value: &Ref<Obj>) -> Option<Ref<Obj>> {
        if let Some(ty) = type_of_elements(value) {
            let dropped = self.dropped.entry(ty.identity()).or_insert_with(|| {
                let placeholder = ResourceAttr::new(PLACEHOLDER, ty.clone());
                placeholder.with_key(PLACEHOLDER).into_object()
            });
            return Some(dropped.clone());
        }
        let number = value.downcast_ref::<IntegerAttr>().map(|attr| &attr.ty);
        let ty = number.or_else(|| value.downcast_ref::<FloatAttr>().map(|attr| &attr.ty))?;
        let dropped = self.dropped.entry(ty.identity()).or_insert_with(|| {
            let placeholder = DialectAttr {
                dialect: "isoform".into(),
                name: "contents".into(),
                body: None,
                ty: Some(ty.clone()),
                spaces: None,
            };
            Ref::new(placeholder).into_object()
        });
        Some(dropped.clone())
    }

    fn drop_defaults(&self, operation: &Str, dict: &mut Dict) -> Result<()> {
        let Some(known) = self.level.dialects.operations.get(operation) else {
            return Ok(());
        };
        for key in known.defaults.keys() {
            if let Some(value) = dict.get(key)
                && known.is_default(key, value)?
            {
                dict.remove(key);
            }
        }
        Ok(())
    }
}

/// The type of the elements of an attribute, unless they are dropped already.
fn type_of_elements(value: &Ref<Obj>) -> Option<&Ref<Obj>> {
    if let Some(resource) = value.downcast_ref::<ResourceAttr>() {
        let is_dropped = resource.contents.as_str() == Some(PLACEHOLDER);
        return (!is_dropped).then_some(&resource.ty);
    }
    let dense = value.downcast_ref::<DenseAttr>().map(|attr| &attr.ty);
    // Strings stay, as everywhere.
    dense.or_else(|| {
        let sparse = value.downcast_ref::<SparseAttr>();
        let numbers = sparse.filter(|attr| !attr.values.isa::<DenseStringsAttr>());
        numbers.map(|attr| &attr.ty)
    })
}

/// Moves the properties to the attributes. Properties that are not a dictionary stay, and so
/// do those of an operation where a key has two values.
fn join(properties: &mut Dict, attributes: &mut Dict) -> Result<()> {
    if properties.is_empty() || properties.contains_key("") {
        return Ok(());
    }
    for (key, value) in properties.iter() {
        if let Some(other) = attributes.get(key)
            && !structural_equal(value, other)?
        {
            return Ok(());
        }
    }
    for (key, value) in properties.iter() {
        attributes.insert(key.clone(), value.clone());
    }
    *properties = Map::new();
    Ok(())
}
