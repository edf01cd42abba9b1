//! Supplies of unused names.

use isoform::values::Dict;
use isoform::{Error, Node, Ref, Result, Str, Value, export};

use super::expr::GlobalVar;
use super::module::IRModule;

/// Supplies unused names.
#[derive(Node)]
#[node(key = "ir.NameSupply", kind = none, init = make_name_supply)]
#[repr(C)]
pub struct NameSupply {
    /// The prefix of all names.
    #[node(default)]
    pub prefix: Str,
    /// The names in use, with the last appended numbers.
    #[node(name = "name_map", default)]
    names: Dict<Str, i64>,
}

impl NameSupply {
    /// The name with the prefix, in the characters of identifiers: letters,
    /// digits and underscores.
    fn full_name(&self, name: &str, add_prefix: bool, add_underscore: bool) -> String {
        let mut full = String::new();
        if add_prefix && !self.prefix.is_empty() {
            full.push_str(&self.prefix);
            if add_underscore && !name.is_empty() {
                full.push('_');
            }
        }
        full.push_str(name);
        let clean = |letter: char| {
            if letter.is_alphanumeric() || letter == '_' {
                letter
            } else {
                '_'
            }
        };
        full.chars().map(clean).collect()
    }

    /// Returns an unused name, and marks the name as used: the given name, with a
    /// number appended if necessary.
    ///
    /// # Errors
    ///
    /// Errors of [`Dict::insert`], if another field holds the names, too.
    pub fn fresh_name(&self, name: &str, add_prefix: bool, add_underscore: bool) -> Result<String> {
        let name = self.full_name(name, add_prefix, add_underscore);
        let Some(mut last) = self.names.get(&*name) else {
            self.names.insert((&*name).into(), 0)?;
            return Ok(name);
        };
        let separator = if add_underscore { "_" } else { "" };
        let fresh = loop {
            last += 1;
            let candidate = format!("{name}{separator}{last}");
            if !self.names.contains_key(&*candidate) {
                break candidate;
            }
        };
        self.names.insert(name.into(), last)?;
        self.names.insert((&*fresh).into(), 0)?;
        Ok(fresh)
    }

    /// Marks a name as used, and returns the name with the prefix.
    ///
    /// # Errors
    ///
    /// Errors of [`Dict::insert`], if another field holds the names, too.
    pub fn reserve_name(&self, name: &str, add_prefix: bool) -> Result<String> {
        let name = self.full_name(name, add_prefix, true);
        if !self.names.contains_key(&*name) {
            self.names.insert((&*name).into(), 0)?;
        }
        Ok(name)
    }

    /// True if a name is in use.
    pub fn contains_name(&self, name: &str, add_prefix: bool) -> bool {
        let name = self.full_name(name, add_prefix, true);
        self.names.contains_key(&*name)
    }
}

/// Makes a supply of names that begin with a prefix.
#[export("ir.NameSupply")]
fn make_name_supply(#[default = ""] prefix: Str) -> Ref<NameSupply> {
    NameSupply::new().with_prefix(prefix)
}

/// Returns an unused name, and marks the name as used.
#[export("ir.NameSupply.fresh_name")]
fn fresh_name(
    this: &Ref<NameSupply>,
    name: &str,
    #[default = true] add_prefix: bool,
    #[default = true] add_underscore: bool,
) -> Result<String> {
    this.fresh_name(name, add_prefix, add_underscore)
}

/// Marks a name as used, and returns the name with the prefix.
#[export("ir.NameSupply.reserve_name")]
fn reserve_name(
    this: &Ref<NameSupply>,
    name: &str,
    #[default = true] add_prefix: bool,
) -> Result<String> {
    this.reserve_name(name, add_prefix)
}

/// True if a name is in use.
#[export("ir.NameSupply.contains_name")]
fn contains_name(this: &Ref<NameSupply>, name: &str, #[default = true] add_prefix: bool) -> bool {
    this.contains_name(name, add_prefix)
}

/// Supplies global variables with names unused in its modules.
#[derive(Node)]
#[node(key = "ir.GlobalVarSupply", kind = none, init = make_global_var_supply)]
#[repr(C)]
pub struct GlobalVarSupply {
    /// The supply of names.
    #[node(default = NameSupply::new())]
    pub name_supply: Ref<NameSupply>,
    /// The variables by name.
    #[node(name = "name_to_var_map", default)]
    vars: Dict<Str, Ref<GlobalVar>>,
}

impl GlobalVarSupply {
    /// Returns a variable with an unused name.
    ///
    /// # Errors
    ///
    /// Errors of [`Dict::insert`], if another field holds the names or variables, too.
    pub fn fresh_global(&self, name: &str, add_prefix: bool) -> Result<Ref<GlobalVar>> {
        let name = self.name_supply.fresh_name(name, add_prefix, true)?;
        let var = GlobalVar::new(&*name);
        self.vars.insert(name.into(), var.clone())?;
        Ok(var)
    }

    /// Returns the variable of a name, made at the first request.
    ///
    /// # Errors
    ///
    /// Errors of [`Dict::insert`], if another field holds the names or variables, too.
    pub fn unique_global_for(&self, name: &str, add_prefix: bool) -> Result<Ref<GlobalVar>> {
        let name = self.name_supply.reserve_name(name, add_prefix)?;
        if let Some(known) = self.vars.get(&*name) {
            return Ok(known);
        }
        let var = GlobalVar::new(&*name);
        self.vars.insert(name.into(), var.clone())?;
        Ok(var)
    }

    /// Marks the name of a variable as used by the variable.
    ///
    /// # Errors
    ///
    /// `ValueError` if another variable has the name, unless conflicts are allowed; the
    /// other variable keeps the name then.
    pub fn reserve_global(&self, var: &Ref<GlobalVar>, allow_conflict: bool) -> Result<()> {
        self.name_supply.reserve_name(&var.name_hint, false)?;
        let name = Value::from(&var.name_hint);
        match self.vars.get(&name) {
            Some(known) if !known.same_as(var) => {
                if allow_conflict {
                    Ok(())
                } else {
                    Err(Error::value_error(format!(
                        "another global variable has the name {:?}",
                        &*var.name_hint
                    )))
                }
            }
            _ => {
                self.vars.insert(var.name_hint.clone(), var.clone())?;
                Ok(())
            }
        }
    }

    fn reserve_module(&self, module: &Ref<IRModule>) -> Result<()> {
        let mut vars = module.global_vars().into_iter();
        vars.try_for_each(|var| self.reserve_global(&var, false))
    }
}

/// Makes a supply: from another supply of names, a module or several.
#[export("ir.GlobalVarSupply")]
fn make_global_var_supply(value: Option<Value>) -> Result<Ref<GlobalVarSupply>> {
    let supply = GlobalVarSupply::new();
    let Some(value) = value else {
        return Ok(supply);
    };
    if let Some(names) = value.peek::<Ref<NameSupply>>() {
        return Ok(supply.with_name_supply(names));
    }
    let modules = value.items().unwrap_or_else(|| [value.clone()].into());
    for module in modules.iter() {
        let module = module.extract::<Ref<IRModule>>().map_err(|_| {
            Error::type_error(format!(
                "ir.GlobalVarSupply: expected ir.NameSupply, ir.IRModule or a sequence of \
                 ir.IRModule, got {}",
                module.type_name()
            ))
        })?;
        supply.reserve_module(&module)?;
    }
    Ok(supply)
}

/// A variable with an unused name.
#[export("ir.GlobalVarSupply.fresh_global")]
fn fresh_global(
    this: &Ref<GlobalVarSupply>,
    name: &str,
    #[default = true] add_prefix: bool,
) -> Result<Ref<GlobalVar>> {
    this.fresh_global(name, add_prefix)
}

/// The variable of a name, made on the first request.
#[export("ir.GlobalVarSupply.unique_global_for")]
fn unique_global_for(
    this: &Ref<GlobalVarSupply>,
    name: &str,
    #[default = true] add_prefix: bool,
) -> Result<Ref<GlobalVar>> {
    this.unique_global_for(name, add_prefix)
}

/// Marks the name of a variable as used by the variable.
#[export("ir.GlobalVarSupply.reserve_global")]
fn reserve_global(
    this: &Ref<GlobalVarSupply>,
    global_var: &Ref<GlobalVar>,
    #[default = false] allow_conflict: bool,
) -> Result<()> {
    this.reserve_global(global_var, allow_conflict)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { NameSupply:
        fresh_name = fresh_name,
        reserve_name = reserve_name,
        contains_name = contains_name,
    }?;
    isoform::register_methods! { GlobalVarSupply:
        fresh_global = fresh_global,
        unique_global_for = unique_global_for,
        reserve_global = reserve_global,
    }?;
    Ok(())
}
