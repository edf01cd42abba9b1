//! The interface of builders for other languages: functions with a command as the first
//! argument.

use std::sync::{Mutex, PoisonError};

use isoform::functions::{Argument, Function as Callable};
use isoform::types::NodeEnum;
use isoform::{Array, Error, Ref, Result, Str, Value, export};

use super::frame::Scope;
use super::ir_builder::IRBuilder;
use super::program::ProgramBuilder;
use crate::*;

/// A builder of functions, as a function of a command, the source location, and the
/// command's arguments.
#[export("pto.IRBuilder")]
fn new_builder() -> Callable {
    let builder = Mutex::new(IRBuilder::new());
    Callable::new(move |given| {
        let mut arguments = Arguments::new(given)?;
        // A panic can only have left unfinished statements open.
        let mut builder = builder.lock().unwrap_or_else(PoisonError::into_inner);
        builder.at(arguments.next()?);
        run(&mut builder, &mut arguments)
    })
}

/// A builder of programs, as a function of a command and its arguments.
#[export("pto.ProgramBuilder")]
fn new_program_builder(name: Str, span: Option<Ref<Span>>) -> Callable {
    let mut builder = ProgramBuilder::new(name);
    builder.at(span);
    let builder = Mutex::new(builder);
    Callable::new(move |given| {
        let mut arguments = Arguments::new(given)?;
        let mut builder = builder.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match arguments.command.as_str() {
            "declare" => builder.declare_function(arguments.next::<Str>()?)?.into(),
            "add" => builder.add_function(arguments.next()?)?.into(),
            "global_var" => builder.global_var(&arguments.next::<String>()?)?.into(),
            "result" => builder.result()?.into(),
            _ => return Err(arguments.unknown()),
        })
    })
}

/// The arguments of a command.
struct Arguments<'a> {
    command: String,
    rest: std::slice::Iter<'a, Value>,
}

impl<'a> Arguments<'a> {
    fn new(given: &'a [Value]) -> Result<Self> {
        let mut rest = given.iter();
        let command = rest.next().cloned().unwrap_or_default();
        Ok(Arguments {
            command: String::from_value(command)?,
            rest,
        })
    }

    /// The next argument; a missing argument counts as None.
    fn next<T: Argument>(&mut self) -> Result<T> {
        let value = self.rest.next().cloned().unwrap_or_default();
        T::from_value(value).map_err(|error| {
            Error::new(
                error.kind(),
                format!("{}: {}", self.command, error.message()),
            )
        })
    }

    fn unknown(&self) -> Error {
        Error::value_error(format!("builder: unknown command '{}'", self.command))
    }
}

fn run(builder: &mut IRBuilder, arguments: &mut Arguments<'_>) -> Result<Value> {
    let command = arguments.command.clone();
    match command.as_str() {
        "depth" => return Ok((builder.depth() as i64).into()),
        "in_function" => return Ok(builder.in_function().into()),
        "in_loop" => return Ok(builder.in_loop().into()),
        "in_if" => return Ok(builder.in_if().into()),
        "abort" => {
            let depth = usize::try_from(arguments.next::<i64>()?).unwrap_or(0);
            builder.abort(depth);
        }
        "begin_function" => builder.begin_function(arguments.next()?)?,
        "declare" => builder.declare(&arguments.next::<Ref<Function>>()?),
        "end_function" => return Ok(builder.end_function()?.into()),
        "param" => {
            let (name, ty) = (arguments.next::<Str>()?, arguments.next::<Ref<Type>>()?);
            let direction: Ref<ParamDirectionObject> = arguments.next()?;
            return Ok(builder.param_with(name, ty, direction.get())?.into());
        }
        "return_type" => builder.return_type(arguments.next::<Ref<Type>>()?)?,
        "begin_for" => builder.begin_for(arguments.next()?)?,
        "begin_while" => builder.begin_while(arguments.next()?)?,
        "while_condition" => builder.while_condition(arguments.next::<Ref<Expr>>()?)?,
        "end_loop" => return Ok(builder.end_loop()?.into()),
        "iter_arg" => {
            let name = arguments.next::<Str>()?;
            let (value, ty) = (arguments.next()?, arguments.next()?);
            return Ok(builder.iter_arg_of(name, value, ty)?.into());
        }
        "return_var" => {
            let name = arguments.next::<Str>()?;
            return Ok(builder.return_var(name, arguments.next()?)?.into());
        }
        "begin_if" => builder.begin_if(arguments.next::<Ref<Expr>>()?)?,
        "begin_else" => builder.begin_else()?,
        "end_if" => return Ok(builder.end_if()?.into()),
        "begin_scope" => {
            let scope = scope(arguments)?;
            builder.begin_scope(scope)?;
        }
        "end_scope" => return Ok(builder.end_scope()?.into()),
        "emit" => builder.emit(arguments.next::<Ref<Stmt>>()?)?,
        "assign" => {
            let var = arguments.next::<Ref<Var>>()?;
            builder.assign(var, arguments.next::<Ref<Expr>>()?)?;
        }
        "let" => {
            let name = arguments.next::<Str>()?;
            let value = builder.called(arguments.next::<Ref<Expr>>()?)?;
            let ty = arguments.next::<Option<Ref<Type>>>()?;
            let var = builder.placed_var(name, ty.unwrap_or_else(|| value.ty.clone()));
            builder.assign(&var, value)?;
            return Ok(var.into());
        }
        "eval" => builder.eval(arguments.next::<Ref<Expr>>()?)?,
        "return" => builder.emit_return(arguments.next::<Array<Ref<Expr>>>()?)?,
        "yield" => builder.emit_yield(arguments.next::<Array<Ref<Expr>>>()?)?,
        "break" => builder.emit_break()?,
        "continue" => builder.emit_continue()?,
        _ => return Err(arguments.unknown()),
    }
    Ok(Value::NONE)
}

/// A scope from its kind and the arguments for that kind.
fn scope(arguments: &mut Arguments<'_>) -> Result<Scope> {
    let kind: Ref<ScopeKindObject> = arguments.next()?;
    let name_hint = arguments.next::<Str>()?;
    Ok(match kind.get() {
        ScopeKind::InCore => Scope::InCore {
            split: arguments.next::<Ref<SplitModeObject>>()?.get(),
            name_hint,
        },
        ScopeKind::Cluster => Scope::Cluster { name_hint },
        ScopeKind::Hierarchy => Scope::Hierarchy {
            level: arguments.next::<Ref<LevelObject>>()?.get(),
            role: arguments
                .next::<Option<Ref<RoleObject>>>()?
                .map(|role| role.get()),
            name_hint,
        },
        ScopeKind::Spmd => Scope::Spmd {
            core_num: arguments.next::<crate::arguments::Extent>()?.0,
            sync_start: arguments.next()?,
            name_hint,
        },
        ScopeKind::Runtime => Scope::Runtime {
            manual: arguments.next()?,
            name_hint,
        },
        ScopeKind::CommDomain | ScopeKind::SplitAiv => {
            return Err(Error::value_error(format!(
                "begin_scope: expected the kind of a scope statement, got {}",
                kind.get().name()
            )));
        }
    })
}

pub(crate) fn register() -> Result<()> {
    isoform::register_functions![new_builder, new_program_builder]
}
