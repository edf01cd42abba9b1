//! Local functions: their names, and functions as messages.

use std::collections::{HashMap, HashSet};

use isoform::Ref;

use super::meta::kept;
use crate::{
    error::{OnnxError, Result, ResultExt},
    import::context::{full_name, normal_domain},
    ir::Function,
    layout::{BodyKind, Listing},
    proto::FunctionProto,
};

/// The domain of functions without a given domain.
const DEFAULT_DOMAIN: &str = "local";

/// Domain, name and overload, by which nodes call a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionName {
    pub(super) domain: String,
    pub(super) name: String,
    pub(super) overload: String,
}

/// The names of all functions that a program calls.
pub(super) struct FunctionNames {
    names: HashMap<u64, FunctionName>,
}

impl FunctionNames {
    /// Gives the functions of a listing different names, distinct from the operators
    /// used by the program. Linear in the nodes.
    pub(super) fn choose(listing: &Listing) -> Result<Self> {
        let mut taken = HashSet::new();
        for node in listing.bodies.iter().flat_map(|body| &body.nodes) {
            if node.call.callee.is_none() {
                taken.insert(FunctionName {
                    domain: node.call.domain.to_string(),
                    name: node.call.op.to_string(),
                    overload: String::new(),
                });
            }
        }
        let mut names = HashMap::new();
        let mut counters: HashMap<FunctionName, usize> = HashMap::new();
        for &start in &listing.functions {
            let BodyKind::Function(function) = &listing.bodies[start].kind else {
                continue;
            };
            let wanted = own_name(function).within(|| format!("function '{}'", function.name))?;
            let mut name = wanted.clone();
            let number = counters.entry(wanted.clone()).or_insert(1);
            while !taken.insert(name.clone()) {
                *number += 1;
                name.name = format!("{}_{number}", wanted.name);
            }
            names.insert(function.identity(), name);
        }
        Ok(FunctionNames { names })
    }

    /// The name of a called function.
    pub(super) fn of(&self, function: &Ref<Function>) -> Result<&FunctionName> {
        let name = self.names.get(&function.identity());
        name.ok_or_else(|| OnnxError::value("the function is not one of the program"))
    }

    /// The domains of all functions.
    pub(super) fn domains(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(|name| name.domain.as_str())
    }

    /// True if any function has an overload.
    pub(super) fn has_overloads(&self) -> bool {
        self.names.values().any(|name| !name.overload.is_empty())
    }
}

/// The name in the file. For a function from elsewhere, the parts of its full name.
fn own_name(function: &Function) -> Result<FunctionName> {
    let said: FunctionProto = kept(function.meta.as_ref())?;
    let domain = normal_domain(&said.domain);
    if full_name(domain, &said.name, &said.overload) == function.name.as_str()
        && !said.name.is_empty()
    {
        return Ok(FunctionName {
            domain: domain.to_owned(),
            name: said.name,
            overload: said.overload,
        });
    }
    let full = function.name.as_str();
    let (full, overload) = full.split_once(':').unwrap_or((full, ""));
    let (domain, name) = full.rsplit_once('.').unwrap_or((DEFAULT_DOMAIN, full));
    let name = if name.is_empty() { "function" } else { name };
    Ok(FunctionName {
        domain: domain.to_owned(),
        name: name.to_owned(),
        overload: overload.to_owned(),
    })
}
