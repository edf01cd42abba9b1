//! The mentions between functions of a module.

use indexmap::IndexMap;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Array, Error, Map, Ref, Result, export};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule};
use rapidhash::fast::RandomState;

/// The global variables mentioned by the functions of a module.
///
/// ```
/// use isoform_ir::ir::IRModuleRef;
/// use isoform::Ref;
/// use isoform_relay::{AsExpr, Call, Function};
/// use isoform_relay::analysis::CallGraph;
/// use isoform_ir::ir::{GlobalVar, IRModule};
///
/// let (module, f) = (IRModule::new(), GlobalVar::new("f"));
/// module.update_func(&f, Function::new([], Call::new(&f, [])).upcast())?;
/// let graph = CallGraph::of(&module)?;
/// assert_eq!(graph.ref_count(&f)?, 1);
/// assert!(graph.is_recursive(&f)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CallGraph {
    module: Ref<IRModule>,
    entries: IndexMap<u64, Entry, RandomState>,
}

#[derive(Clone, Debug)]
struct Entry {
    var: Ref<GlobalVar>,
    mentions: Vec<Ref<GlobalVar>>,
    references: usize,
}

impl CallGraph {
    /// The call graph of a module, with its functions in the order of their names.
    /// Functions outside of Relay mention functions, too. Linear in the number of
    /// objects.
    ///
    /// # Errors
    ///
    /// As [`walk_objects`].
    pub fn of(module: &Ref<IRModule>) -> Result<CallGraph> {
        let mut entries: IndexMap<u64, Entry, RandomState> = IndexMap::default();
        for var in module.global_vars() {
            let entry = Entry {
                var: var.clone(),
                mentions: mentioned(&module.lookup(&var)?)?,
                references: 0,
            };
            entries.insert(var.identity(), entry);
        }
        let mentioned: Vec<u64> = entries
            .values()
            .flat_map(|entry| entry.mentions.iter().map(Ref::identity))
            .collect();
        for identity in mentioned {
            if let Some(entry) = entries.get_mut(&identity) {
                entry.references += 1;
            }
        }
        Ok(CallGraph {
            module: module.clone(),
            entries,
        })
    }

    /// The module.
    pub fn module(&self) -> &Ref<IRModule> {
        &self.module
    }

    /// The functions, by name.
    pub fn vars(&self) -> impl Iterator<Item = &Ref<GlobalVar>> {
        self.entries.values().map(|entry| &entry.var)
    }

    fn entry(&self, var: &Ref<GlobalVar>) -> Result<&Entry> {
        self.entries.get(&var.identity()).ok_or_else(|| {
            Error::value_error(format!(
                "The call graph has no function of the variable @{}",
                var.name_hint
            ))
        })
    }

    /// The global variables mentioned by a function.
    ///
    /// # Errors
    ///
    /// `ValueError` for a function outside of the module, as in the other methods.
    pub fn mentions(&self, var: &Ref<GlobalVar>) -> Result<&[Ref<GlobalVar>]> {
        Ok(&self.entry(var)?.mentions)
    }

    /// The number of places that mention a function: shared expressions count once per
    /// function.
    ///
    /// # Errors
    ///
    /// As [`mentions`](Self::mentions).
    pub fn ref_count(&self, var: &Ref<GlobalVar>) -> Result<usize> {
        Ok(self.entry(var)?.references)
    }

    /// The number of functions mentioned by a function.
    ///
    /// # Errors
    ///
    /// As [`mentions`](Self::mentions).
    pub fn global_call_count(&self, var: &Ref<GlobalVar>) -> Result<usize> {
        Ok(self.entry(var)?.mentions.len())
    }

    /// True if a function mentions itself.
    ///
    /// # Errors
    ///
    /// As [`mentions`](Self::mentions).
    pub fn is_recursive(&self, var: &Ref<GlobalVar>) -> Result<bool> {
        let mentions = self.mentions(var)?;
        Ok(mentions.iter().any(|mentioned| mentioned.same_as(var)))
    }
}

/// The distinct global variables mentioned by a function, including its attributes, in
/// order of occurrence. Linear in the number of objects.
///
/// # Errors
///
/// As [`walk_objects`].
pub(crate) fn mentioned(func: &Ref<BaseFunc>) -> Result<Vec<Ref<GlobalVar>>> {
    let mut found = Vec::new();
    walk_objects(func, |object, _| {
        found.extend(object.downcast_ref::<GlobalVar>().cloned());
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// The global variables mentioned by the functions of a module.
#[export("relay.analysis.call_graph")]
fn call_graph(module: &Ref<IRModule>) -> Result<Map<Ref<GlobalVar>, Array<Ref<GlobalVar>>>> {
    let graph = CallGraph::of(module)?;
    let entries = graph.entries.into_values();
    Ok(entries
        .map(|entry| (entry.var, entry.mentions.into()))
        .collect())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![call_graph]
}
