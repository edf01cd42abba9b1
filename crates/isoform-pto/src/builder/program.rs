//! Programs built function by function.

use hashbrown::HashMap;

use crate::function::make_program;
use crate::{Function, GlobalVar, Program, Span};
use isoform::{Error, Ref, Result, Str};

/// Builds a program function by function.
///
/// Functions are declared before calls, and added once they are built.
///
/// ```
/// use isoform_pto::{Function, ProgramBuilder, SeqStmts};
///
/// let mut pb = ProgramBuilder::new("pair");
/// let callee = pb.declare_function("f")?;
/// assert_eq!(pb.global_var("f")?, callee);
/// assert!(pb.result().is_err(), "f was declared and not added");
/// pb.add_function(Function::new("f", [], [], SeqStmts::new([])))?;
/// assert!(pb.result()?.function("f").is_some());
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ProgramBuilder {
    name: Str,
    span: Option<Ref<Span>>,
    functions: Vec<Ref<Function>>,
    /// The variables for calling functions, in order of declaration.
    declared: Vec<Ref<GlobalVar>>,
    /// Maps a name to its position in `declared`, and to true if the function was
    /// added.
    names: HashMap<Str, (usize, bool)>,
}

impl ProgramBuilder {
    /// A builder of a program without functions.
    pub fn new(name: impl Into<Str>) -> Self {
        ProgramBuilder {
            name: name.into(),
            ..ProgramBuilder::default()
        }
    }

    /// Sets the source location of the program.
    pub fn at(&mut self, span: Option<Ref<Span>>) -> &mut Self {
        self.span = span;
        self
    }

    /// Returns the variable for calling a function, even before the function is added.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name.
    pub fn declare_function(&mut self, name: impl Into<Str>) -> Result<Ref<GlobalVar>> {
        let name = name.into();
        if name.is_empty() {
            return Err(Error::value_error(
                "declare_function: expected a name, got an empty text",
            ));
        }
        if let Some(known) = self.find(&name) {
            return Ok(known.clone());
        }
        let var = GlobalVar::new(name.clone());
        self.names.insert(name, (self.declared.len(), false));
        self.declared.push(var.clone());
        Ok(var)
    }

    /// Adds a function, declared or not.
    ///
    /// # Errors
    ///
    /// `ValueError` if a function of this name was added before.
    pub fn add_function(&mut self, function: Ref<Function>) -> Result<Ref<GlobalVar>> {
        if let Some((_, true)) = self.names.get(&function.name) {
            return Err(Error::value_error(format!(
                "add_function: expected different names, got two functions '{}'",
                function.name
            )));
        }
        let var = self.declare_function(function.name.clone())?;
        if let Some((_, added)) = self.names.get_mut(&function.name) {
            *added = true;
        }
        self.functions.push(function);
        Ok(var)
    }

    /// Returns the variable for calling a function.
    ///
    /// # Errors
    ///
    /// `ValueError` for a function neither declared nor added.
    pub fn global_var(&self, name: &str) -> Result<Ref<GlobalVar>> {
        self.find(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.declared.iter().map(|var| &*var.name).collect();
            Error::value_error(format!(
                "get_global_var: expected one of {known:?}, got '{name}'"
            ))
        })
    }

    fn find(&self, name: &str) -> Option<&Ref<GlobalVar>> {
        let (position, _) = self.names.get(&Str::from(name))?;
        self.declared.get(*position)
    }

    /// The program of the functions so far.
    ///
    /// # Errors
    ///
    /// `ValueError` for a function that was declared, but not added.
    pub fn result(&self) -> Result<Ref<Program>> {
        let is_added = |var: &Ref<GlobalVar>| matches!(self.names.get(&var.name), Some((_, true)));
        if let Some(missing) = self.declared.iter().find(|var| !is_added(var)) {
            return Err(Error::value_error(format!(
                "program '{}': function '{}' was declared and not added",
                self.name, missing.name
            )));
        }
        make_program(self.functions.clone(), self.name.clone(), self.span.clone())
    }
}
