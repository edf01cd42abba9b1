//! Module-level information besides functions, for example devices.

use isoform::types::ElementType;
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, export};

/// The base class of module-level information other than functions.
#[derive(Node, Default)]
#[node(key = "ir.GlobalInfo")]
#[repr(C)]
pub struct GlobalInfo {}

/// Nothing in particular.
#[derive(Node)]
#[node(key = "ir.DummyGlobalInfo")]
#[repr(C)]
pub struct DummyGlobalInfo {
    #[node(base, default)]
    base: GlobalInfo,
}

/// A machine to compile for.
///
/// A string such as `llvm -mcpu=skylake` or a dict with a `kind` becomes a target,
/// where a target is expected.
#[derive(Node)]
#[node(key = "ir.Target", convert = target_from, init = make_target)]
#[repr(C)]
pub struct Target {
    /// The kind of machine, such as `llvm` or `cuda`.
    pub kind: Str,
    /// Groups of targets that the target belongs to.
    #[node(default)]
    pub keys: Array<Str>,
    /// Its properties.
    #[node(default)]
    pub attrs: Map<Str, Value>,
    /// The machine that controls the target.
    #[node(default)]
    pub host: Option<Ref<Target>>,
}

fn refused(what: impl std::fmt::Display) -> Error {
    Error::value_error(format!("ir.Target: {what}"))
}

/// Reads a kind and options such as `-mcpu=skylake` or `-system-lib`.
fn parse_target(text: &str) -> Result<Ref<Target>> {
    let mut words = text.split_whitespace();
    let kind = words.next().filter(|kind| !kind.starts_with('-'));
    let kind = kind.ok_or_else(|| refused(format!("expected a kind, got {text:?}")))?;
    let mut attrs = Map::<Str, Value>::new();
    let mut keys = Vec::new();
    for word in words {
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let option = option.filter(|option| !option.is_empty()).ok_or_else(|| {
            refused(format!(
                "expected an option such as -mcpu=name, got {word:?}"
            ))
        })?;
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, plain_value(value)),
            None => (option, Value::from(true)),
        };
        if name == "keys" {
            let value = value.as_str().unwrap_or_default();
            keys.extend(value.split(',').map(Str::from));
        } else if attrs.insert(name.into(), value).is_some() {
            return Err(refused(format!("option '{name}' is given twice")));
        }
    }
    Ok(Ref::new(Target {
        kind: kind.into(),
        keys: keys.into(),
        attrs,
        host: None,
    }))
}

/// The number written in the text, or the text.
fn plain_value(text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(number) => Value::from(number),
        Err(_) => Value::from(text),
    }
}

fn target_of_dict(dict: &Map) -> Result<Ref<Target>> {
    let mut kind = None;
    let mut keys = Array::default();
    let mut host = None;
    let mut attrs = Map::<Str, Value>::new();
    for (name, value) in dict.iter() {
        let text = |value: &Value| {
            value.as_str().map(Str::from).ok_or_else(|| {
                refused(format!("{name:?}: expected str, got {}", value.type_name()))
            })
        };
        match name.as_str() {
            Some("kind" | "id") => kind = Some(text(value)?),
            Some("keys") => {
                let schema = Array::<Str>::element_schema();
                keys = schema.convert(value.clone())?.extract()?;
            }
            Some("host") if value.is_none() => {}
            Some("host") => host = Some(host_of(value)?),
            Some(name) => {
                attrs.insert(name.into(), value.clone());
            }
            None => {
                return Err(refused(format!(
                    "expected names of properties, got {}",
                    name.type_name()
                )));
            }
        }
    }
    let kind = kind.ok_or_else(|| refused("the dict has no 'kind'"))?;
    Ok(Ref::new(Target {
        kind,
        keys,
        attrs,
        host,
    }))
}

/// The machine that controls another machine; a text or dict may not describe a machine
/// with a host.
fn host_of(given: &Value) -> Result<Ref<Target>> {
    let has_host = |dict: Map| dict.contains_key("host");
    if given.entries().is_some_and(has_host) {
        Err(refused("a host in a dict cannot have a host itself"))
    } else {
        make_target(given.clone(), None)
    }
}

/// Makes a target from its text or its properties.
#[export("ir.Target")]
fn make_target(target: Value, host: Option<Value>) -> Result<Ref<Target>> {
    let made = match (target.as_str(), target.entries()) {
        (Some(text), _) => parse_target(text)?,
        (_, Some(dict)) => target_of_dict(&dict)?,
        _ => target.extract::<Ref<Target>>().map_err(|_| {
            Error::type_error(format!(
                "ir.Target: expected str or dict, got {}",
                target.type_name()
            ))
        })?,
    };
    match host {
        Some(host) => Ok(made.with_host(host_of(&host)?)),
        None => Ok(made),
    }
}

/// Converts a text or a dict to a target.
#[export("ir.Target.__ffi_convert__")]
fn target_from(value: Value) -> Result<Ref<Target>> {
    make_target(value, None)
}

/// A device of a machine, for values placed on the device.
#[derive(Node)]
#[node(key = "ir.VDevice", init = make_vdevice)]
#[repr(C)]
pub struct VDevice {
    #[node(base, default)]
    base: GlobalInfo,
    /// The machine, if given.
    #[node(default)]
    pub target: Option<Ref<Target>>,
    /// The index of the device.
    #[node(default)]
    pub vdevice_id: i64,
    /// The memory of the device.
    #[node(default = "global")]
    pub memory_scope: Str,
}

/// Makes a device; a target may be given by its text or a dict.
#[export("ir.VDevice")]
fn make_vdevice(
    target: Option<Ref<Target>>,
    #[default = 0] vdevice_id: i64,
    #[default = "global"] memory_scope: Str,
) -> Ref<VDevice> {
    Ref::new(VDevice {
        base: GlobalInfo {},
        target,
        vdevice_id,
        memory_scope,
    })
}
