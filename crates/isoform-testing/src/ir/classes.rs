//! The classes of the objects in random modules.

use std::collections::HashMap;
use std::sync::OnceLock;

use isoform::types::{Kind, Schema, TypeIndex, TypeInfo, registered_types};
use isoform::{Error, Result, Value, host};
use isoform_ir::ir::OpRegistry;

/// Base classes without a meaning of their own; drawn rarely.
const BASES: &[&str] = &[
    "ir.Attrs",
    "ir.BaseExpr",
    "ir.BaseFunc",
    "ir.GlobalInfo",
    "ir.PoolInfo",
    "ir.PrimExpr",
    "ir.RelayExpr",
    "ir.Type",
    "ir.TypeConstraint",
    "relay.ExprWithOp",
    "relay.Id",
    "relay.Pattern",
    "relay.TempExpr",
    "tir.BinaryOpExpr",
    "tir.CmpExpr",
    "tir.LogicalExpr",
];

/// The names of the operators in random modules.
const OPERATORS: &[&str] = &["testing.add", "testing.relu", "testing.reshape"];

/// A class, and the number of levels of its smallest object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) info: &'static TypeInfo,
    pub(super) height: usize,
    pub(super) is_base: bool,
}

/// All classes, grouped by their ancestors.
pub(super) struct Classes {
    /// Maps a class to the classes whose objects fit where the class is expected. A class
    /// of kind `none` fits only where exactly this class is expected.
    below: HashMap<TypeIndex, Vec<Class>>,
    /// The comparable classes, sorted by key.
    pub(super) comparable: Vec<Class>,
    /// The classes of kind `none`, sorted by key.
    pub(super) incomparable: Vec<Class>,
    pub(super) operators: Vec<Value>,
}

impl Classes {
    /// The classes, registered at the first call.
    pub(super) fn get() -> Result<&'static Classes> {
        static CLASSES: OnceLock<Classes> = OnceLock::new();
        if let Some(known) = CLASSES.get() {
            return Ok(known);
        }
        let found = Classes::find()?;
        Ok(CLASSES.get_or_init(|| found))
    }

    fn find() -> Result<Classes> {
        isoform_ir::ir::register()?;
        isoform_ir::tir::register()?;
        isoform_relay::register()?;
        let operators = OPERATORS
            .iter()
            .map(|name| Ok(OpRegistry::get_or_register(name)?.op().into()))
            .collect::<Result<_>>()?;
        let mut infos: Vec<_> = registered_types()
            .into_iter()
            .filter(|info| {
                let key = info.key();
                // Values of evaluation are not part of programs.
                !key.starts_with("relay.value.")
                    && ["ir.", "tir.", "relay."]
                        .iter()
                        .any(|prefix| key.starts_with(prefix))
            })
            .collect();
        infos.sort_by_key(|info| info.key());
        let heights = heights(&infos)?;
        let all: Vec<Class> = infos
            .into_iter()
            .map(|info| Class {
                info,
                height: heights[&info.index()],
                is_base: BASES.contains(&info.key()),
            })
            .collect();
        let (incomparable, comparable): (Vec<Class>, Vec<Class>) = all
            .into_iter()
            .partition(|class| class.info.kind() == Kind::None);
        let mut below: HashMap<TypeIndex, Vec<Class>> = HashMap::new();
        for class in &comparable {
            for ancestor in class.info.lineage() {
                below.entry(ancestor).or_default().push(*class);
            }
        }
        for class in &incomparable {
            below.entry(class.info.index()).or_default().push(*class);
        }
        Ok(Classes {
            below,
            comparable,
            incomparable,
            operators,
        })
    }

    /// The classes of the objects accepted where this type is expected.
    pub(super) fn below(&self, ty: TypeIndex) -> &[Class] {
        self.below.get(&ty).map_or(&[], Vec::as_slice)
    }
}

/// The number of levels of the smallest object of each class.
fn heights(infos: &[&'static TypeInfo]) -> Result<HashMap<TypeIndex, usize>> {
    let mut heights: HashMap<TypeIndex, usize> = HashMap::new();
    // Each round adds the classes of the next level.
    for round in 0..=infos.len() {
        let level: Vec<_> = infos
            .iter()
            .filter(|info| !heights.contains_key(&info.index()))
            .filter(|info| {
                let mut fields = info.fields().iter();
                fields.all(|field| is_ready(field.schema(), &heights))
            })
            .map(|info| info.index())
            .collect();
        heights.extend(level.into_iter().map(|index| (index, round)));
    }
    match infos
        .iter()
        .find(|info| !heights.contains_key(&info.index()))
    {
        Some(info) => Err(Error::type_error(format!(
            "{}: every object of it contains another one",
            info.key()
        ))),
        None => Ok(heights),
    }
}

/// True if a value of the schema can be made of classes that have a height.
fn is_ready(schema: &Schema, heights: &HashMap<TypeIndex, usize>) -> bool {
    match schema {
        Schema::Object(ty) => ty.index().is_some_and(|wanted| {
            let mut known = heights.keys();
            known.any(|index| {
                let key = host::type_info(*index).key();
                host::extends(*index, wanted) && !BASES.contains(&key)
            })
        }),
        Schema::Union(choices) => choices.iter().any(|choice| is_ready(choice, heights)),
        Schema::Tuple(items) => items.iter().all(|item| is_ready(item, heights)),
        _ => true,
    }
}
