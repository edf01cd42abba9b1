//! Nodes of a test family, and checks of pairs of values.

use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::values::DType;
use isoform::{Map, Result, Value};
use isoform_testing::family::{Family, Role};
use isoform_testing::oracle;

pub(crate) use crate::support::MAPPED;

/// Tensors are compared by dtype and shape.
pub(crate) const SKIPPED: CompareOptions = CompareOptions {
    map_free_vars: false,
    skip_tensor_content: true,
};

/// The default options.
pub(crate) const PLAIN: CompareOptions = CompareOptions {
    map_free_vars: false,
    skip_tensor_content: false,
};

/// Makes nodes of one family.
pub(crate) struct Build(pub(crate) Family);

/// Both families.
pub(crate) fn builds() -> [Build; 2] {
    Family::both().expect("the types register").map(Build)
}

impl Build {
    pub(crate) fn node(&self, role: Role, values: Vec<Value>) -> Value {
        let made = self.0.make(role, values);
        made.unwrap_or_else(|error| panic!("{role:?}: {error}"))
            .into()
    }

    pub(crate) fn var(&self) -> Value {
        self.typed(())
    }

    pub(crate) fn typed(&self, ty: impl Into<Value>) -> Value {
        self.named("x", ty)
    }

    pub(crate) fn named(&self, name: &str, ty: impl Into<Value>) -> Value {
        self.node(Role::Var, vec![Value::NONE, name.into(), ty.into()])
    }

    /// A variable of the subtype.
    pub(crate) fn ranked(&self, ty: impl Into<Value>, rank: i64) -> Value {
        let fields = vec![Value::NONE, "x".into(), ty.into(), rank.into()];
        self.node(Role::TypedVar, fields)
    }

    pub(crate) fn constant(&self, value: impl Into<Value>) -> Value {
        self.node(Role::Const, vec![value.into()])
    }

    /// A node without children.
    pub(crate) fn literal(&self, bits: i64) -> Value {
        self.node(Role::Literal, vec![Value::NONE, bits.into(), 1.0.into()])
    }

    /// A field of every storage, one field containing this object.
    pub(crate) fn storages(&self, object: Value) -> Value {
        let values = [
            1.into(),
            object,
            Value::NONE,
            1.into(),
            1.0.into(),
            true.into(),
        ];
        let others = ["text".into(), DType::INT64.into()];
        self.node(Role::Storages, values.into_iter().chain(others).collect())
    }

    pub(crate) fn add(&self, lhs: impl Into<Value>, rhs: impl Into<Value>) -> Value {
        self.node(Role::Add, vec![Value::NONE, lhs.into(), rhs.into()])
    }

    pub(crate) fn shared(&self, lhs: impl Into<Value>, rhs: impl Into<Value>) -> Value {
        self.node(Role::Shared, vec![Value::NONE, lhs.into(), rhs.into()])
    }

    pub(crate) fn frozen(&self, a: impl Into<Value>, b: impl Into<Value>) -> Value {
        self.node(Role::Frozen, vec![a.into(), b.into()])
    }

    pub(crate) fn comm(&self, lhs: impl Into<Value>, rhs: impl Into<Value>) -> Value {
        self.node(Role::Comm, vec![lhs.into(), rhs.into()])
    }

    pub(crate) fn op(&self) -> Value {
        self.node(Role::Op, vec!["add".into()])
    }

    pub(crate) fn hidden(&self) -> Value {
        self.node(Role::Hidden, vec![1.into()])
    }

    pub(crate) fn assign(&self, target: &Value, value: impl Into<Value>) -> Value {
        self.node(Role::Let, vec![value.into(), target.clone()])
    }

    /// A binder of any role with parameters and a body.
    pub(crate) fn binder(&self, role: Role, params: &[&Value], body: impl Into<Value>) -> Value {
        let params = Value::from(params.iter().map(|v| (*v).clone()).collect::<Vec<_>>());
        let body = body.into();
        let fields = match role {
            Role::Lambda => vec![Value::NONE, body, params],
            Role::LateLambda => vec![body, params],
            _ => vec![params, body],
        };
        self.node(role, fields)
    }

    /// A binder that is a scope.
    pub(crate) fn lambda(&self, params: &[&Value], body: impl Into<Value>) -> Value {
        self.binder(Role::Lambda, params, body)
    }

    /// A binder that is not a scope.
    pub(crate) fn function(&self, params: &[&Value], body: impl Into<Value>) -> Value {
        self.binder(Role::Function, params, body)
    }
}

/// An array.
pub(crate) fn arr<const N: usize>(items: [&Value; N]) -> Value {
    items.map(Value::clone).into()
}

/// A map.
pub(crate) fn map<const N: usize>(entries: [(Value, Value); N]) -> Value {
    entries.into_iter().collect::<Map>().into()
}

/// The verdict of the contract on a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    Equal,
    Differ,
    /// A `TypeError` at this place.
    TypeError(&'static str),
    /// A `ValueError` at this place.
    ValueError(&'static str),
}

fn show(result: Result<bool>) -> (String, Option<String>) {
    match result {
        Ok(true) => ("equal".to_string(), None),
        Ok(false) => ("different".to_string(), None),
        Err(error) => (
            error.kind().name().to_string(),
            error.path().map(ToString::to_string),
        ),
    }
}

/// Returns the violations of the contract by a pair, in both directions, in the
/// engine, the recorder, the oracle, and the names.
pub(crate) fn judge(
    name: &str,
    left: &Value,
    right: &Value,
    options: CompareOptions,
    says: Says,
) -> Vec<String> {
    let (outcome, path) = match says {
        Says::Equal => ("equal", None),
        Says::Differ => ("different", None),
        Says::TypeError(path) => ("TypeError", Some(path.to_string())),
        Says::ValueError(path) => ("ValueError", Some(path.to_string())),
    };
    let expected = (outcome.to_string(), path);
    let mut failures = Vec::new();
    for (direction, l, r) in [("", left, right), (" (turned)", right, left)] {
        let recorded = options.first_mismatch(l, r);
        for (who, got) in [
            ("engine", options.equal(l, r)),
            ("recorder", recorded.map(|mismatch| mismatch.is_none())),
            ("oracle", oracle::equal(l, r, options)),
        ] {
            let got = show(got);
            if got != expected {
                failures.push(format!(
                    "{name}{direction}: {who} says {got:?}, not {expected:?}"
                ));
            }
        }
    }
    failures.extend(judge_names(name, left, right, options, says));
    if let (Ok(l), Ok(r)) = (
        oracle::canonical(left, options),
        oracle::canonical(right, options),
    ) && (l == r) != (says == Says::Equal)
    {
        failures.push(format!("{name}: the canonical texts are\n    {l}\n    {r}"));
    }
    failures
}

/// Equal values have the same hash and digest, different values different ones.
fn judge_names(
    name: &str,
    left: &Value,
    right: &Value,
    options: CompareOptions,
    says: Says,
) -> Vec<String> {
    let hash = |value| options.hash(value).map_err(|error| error.kind());
    let digest = |value| options.digest(value).map_err(|error| error.kind());
    let hashes = (hash(left), hash(right));
    let digests = (digest(left), digest(right));
    let mut failures = Vec::new();
    let mut fail = |what: String| failures.push(format!("{name}: {what}"));
    match says {
        Says::Equal => {
            if hashes.0 != hashes.1 {
                fail(format!("equal values have the hashes {hashes:?}"));
            }
            if digests.0 != digests.1 {
                fail(format!("equal values have the digests {digests:?}"));
            }
        }
        Says::Differ => {
            if hashes.0.is_ok() && hashes.0 == hashes.1 {
                fail("different values have the same hash".to_string());
            }
        }
        Says::TypeError(_) | Says::ValueError(_) => {
            let kind = match says {
                Says::TypeError(_) => ErrorKind::Type,
                _ => ErrorKind::Value,
            };
            let failed = |result: &std::result::Result<u64, ErrorKind>| *result == Err(kind);
            if !failed(&hashes.0) && !failed(&hashes.1) {
                fail(format!("neither hash fails: {hashes:?}"));
            }
        }
    }
    failures
}
