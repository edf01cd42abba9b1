//! `PassInfo`: the name of a pass, and when it runs.

use std::fmt;

use isoform::{Array, Error, Node, Ref, Result, Str, export};

/// The name of a pass, and the conditions for running the pass.
#[derive(Node)]
#[node(key = "transform.PassInfo", init = make_info, no_with)]
#[repr(C)]
pub struct PassInfo {
    /// The lowest level of optimization at which a `Sequential` runs the pass.
    pub opt_level: i64,
    /// The name by which contexts require and disable the pass.
    pub name: Str,
    /// The names of passes that a `Sequential` runs before this pass, in order.
    #[node(default)]
    pub required: Array<Str>,
    /// The names of analyses whose results stay valid for changed functions; `*` stands
    /// for all analyses.
    #[node(default)]
    pub preserves: Array<Str>,
    /// For tools that trace tuning; the library ignores this field.
    #[node(default = false)]
    pub traceable: bool,
}

/// Describes a pass.
#[export("transform.PassInfo")]
pub(super) fn make_info(
    opt_level: i64,
    name: Str,
    required: Option<Array<Str>>,
    #[default = false] traceable: bool,
    preserves: Option<Array<Str>>,
) -> Result<Ref<PassInfo>> {
    if name.is_empty() {
        return Err(Error::value_error(
            "transform.PassInfo.name: expected the name of a pass, got ''",
        ));
    }
    Ok(Ref::new(PassInfo {
        opt_level,
        name,
        required: required.unwrap_or_default(),
        preserves: preserves.unwrap_or_default(),
        traceable,
    }))
}

impl PassInfo {
    /// A copy with the names of passes that a sequence must run first.
    pub fn with_required(&self, names: impl IntoIterator<Item = impl Into<Str>>) -> Ref<Self> {
        let required = names.into_iter().map(Into::into).collect::<Vec<_>>().into();
        Ref::new(PassInfo {
            required,
            ..self.clone_fields()
        })
    }

    /// A copy with the names of preserved analyses; `*` stands for all analyses.
    pub fn with_preserves(&self, names: impl IntoIterator<Item = impl Into<Str>>) -> Ref<Self> {
        let preserves = names.into_iter().map(Into::into).collect::<Vec<_>>().into();
        Ref::new(PassInfo {
            preserves,
            ..self.clone_fields()
        })
    }
}

impl fmt::Display for PassInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "The meta data of the pass - pass name: {}, opt_level: {}, required passes: {}",
            self.name,
            self.opt_level,
            Names(&self.required)
        )
    }
}

/// `[]`, or each name followed by a comma.
struct Names<'a>(&'a Array<Str>);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("[]");
        }
        f.write_str("[")?;
        self.0.iter().try_for_each(|name| write!(f, "{name}, "))?;
        f.write_str("]")
    }
}

/// The description of the data of a pass for people.
#[export("passes.describe_info")]
fn described_info(info: &Ref<PassInfo>) -> String {
    info.to_string()
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![described_info]
}
