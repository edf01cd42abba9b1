//! Facts about types, declared in attributes for this rewrite.

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::options::CseOptions;
use isoform::attrs::Lookup;
use isoform::functions::Function;
use isoform::plumbing::{Binding, RoleTable, table, unfit, visited_position};
use isoform::traverse::PURE;
use isoform::types::{Kind, TypeIndex, TypeInfo};
use isoform::{Error, Result, Value, attrs};

/// The attribute for the role of a type's nodes in a program of statements. The value
/// is `"expression"`, `"computation"` for an expression worth a variable,
/// `"statement"`, or `"text"` for a statement in another language, possibly with uses
/// of any variable. The value `"data"` is for parts of expressions without an evaluation,
/// such as types: equal data make equal expressions. Derived types inherit the attribute.
pub const FORM: &str = "rewrite.form";

/// The attribute of statements that run other statements in order, in the surrounding
/// scope: the name of the field with the array of statements. Without a [`FORM`], these types
/// are statements. Derived types inherit the attribute.
pub const SEQUENCE: &str = "rewrite.sequence";

/// The attribute of types with conditional or repeated evaluation of operands: an array
/// with the names of the operand fields. Derived types inherit the attribute.
pub const CONDITIONAL: &str = "rewrite.conditional";

/// The attribute of expressions that can be bound to a new variable: a function from
/// the expression and a number to a statement that binds the variable to the
/// expression. The number differs for every call. Derived types inherit the attribute.
pub const NEW_BINDING: &str = "rewrite.new_binding";

/// The attribute of statements that can be joined to a sequence: a function from an
/// array of statements to one statement. Derived types inherit the attribute.
pub const NEW_SEQUENCE: &str = "rewrite.new_sequence";

/// The attribute of statements that bind a variable to a value: a bool, or a function
/// from the statement to a bool. True, the default, means that the variable is exactly
/// the value; an assignment with a conversion declares false. Derived types inherit the
/// attribute.
pub const HOLDS: &str = "rewrite.holds";

/// The attribute of types whose nodes give the same result whenever their operands are the
/// same: a bool, or a function from a node to a bool. Without it, those that are
/// [pure](isoform::traverse::PURE) do; a type whose nodes read memory declares false. Types that
/// extend one inherit it.
pub const REPEATABLE: &str = "rewrite.repeatable";

/// The attribute of types whose nodes have no result for some operands, for example
/// divisions: a bool, or a function from a node to a bool. Derived types inherit the
/// attribute.
pub const MAY_FAIL: &str = "rewrite.may_fail";

/// The attribute of types whose nodes keep their parts as they are: a bool, or a function
/// from a node to a bool, for example for functions of another compiler. The parts are
/// neither changed nor shared with other nodes. Derived types inherit the attribute.
pub const OPAQUE: &str = "rewrite.opaque";

/// The meaning of a node in a program of statements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Expression,
    Computation,
    Statement,
    Text,
    Data,
}

impl Form {
    pub(super) fn is_statement(self) -> bool {
        matches!(self, Form::Statement | Form::Text)
    }

    pub(super) fn is_expression(self) -> bool {
        matches!(self, Form::Expression | Form::Computation)
    }
}

/// The facts about a type.
pub(super) struct TypeFacts {
    pub(super) form: Option<Form>,
    pub(super) is_var: bool,
    pub(super) sequence: Option<usize>,
    conditional: Vec<u32>,
    pub(super) new_binding: Option<Function>,
    pub(super) new_sequence: Option<Function>,
    holds: Option<Decision>,
    repeatable: Option<Decision>,
    may_fail: Option<Decision>,
    opaque: Option<Decision>,
}

/// A bool, or a function from a node to a bool.
enum Decision {
    Always(bool),
    By(Function),
}

impl Decision {
    fn of(info: &'static TypeInfo, name: &'static str) -> Result<Option<Decision>> {
        let Some(value) = attrs::get(info.index(), name, Lookup::Nearest) else {
            return Ok(None);
        };
        match (value.as_bool(), value.extract::<Function>()) {
            (Some(always), _) => Ok(Some(Decision::Always(always))),
            (None, Ok(function)) => Ok(Some(Decision::By(function))),
            (None, Err(_)) => Err(unfit(info, name, "a bool or a function", value)),
        }
    }

    fn on(&self, node: &Value) -> Result<bool> {
        match self {
            Decision::Always(always) => Ok(*always),
            Decision::By(function) => function.call(std::slice::from_ref(node))?.extract(),
        }
    }
}

impl TypeFacts {
    fn of(info: &'static TypeInfo) -> Result<TypeFacts> {
        let attribute = |name| attrs::get(info.index(), name, Lookup::Nearest);
        let form = match attribute(FORM) {
            None => None,
            Some(value) => Some(match value.as_str() {
                Some("expression") => Form::Expression,
                Some("computation") => Form::Computation,
                Some("statement") => Form::Statement,
                Some("text") => Form::Text,
                Some("data") => Form::Data,
                _ => {
                    return Err(Error::value_error(format!(
                        "attribute '{FORM}' of type {}: expected 'expression', 'computation', \
                         'statement', 'text' or 'data', got {value:?}",
                        info.key()
                    )));
                }
            }),
        };
        let sequence = match attribute(SEQUENCE) {
            None => None,
            Some(value) => {
                let wrong = || unfit(info, SEQUENCE, "the name of a field", value);
                let name = value.as_str().ok_or_else(wrong)?;
                Some(visited_position(info, SEQUENCE, name)? as usize)
            }
        };
        let mut conditional = Vec::new();
        if let Some(value) = attribute(CONDITIONAL) {
            let wrong = || unfit(info, CONDITIONAL, "an array of names of fields", value);
            for name in value.items().ok_or_else(wrong)?.values() {
                let name = name.as_str().ok_or_else(wrong)?;
                conditional.push(visited_position(info, CONDITIONAL, name)?);
            }
        }
        let function = |name| {
            let Some(value) = attribute(name) else {
                return Ok(None);
            };
            let function = value.extract::<Function>();
            let function = function.map_err(|_| unfit(info, name, "a function", value));
            function.map(Some)
        };
        Ok(TypeFacts {
            // A sequence runs statements, so it is one.
            form: form.or(sequence.map(|_| Form::Statement)),
            is_var: info.kind() == Kind::Var && !info.is_builtin(),
            sequence,
            conditional,
            new_binding: function(NEW_BINDING)?,
            new_sequence: function(NEW_SEQUENCE)?,
            holds: Decision::of(info, HOLDS)?,
            repeatable: Decision::of(info, REPEATABLE)?,
            may_fail: Decision::of(info, MAY_FAIL)?,
            opaque: Decision::of(info, OPAQUE)?,
        })
    }

    /// True if the operand in a field is evaluated sometimes, or several times.
    pub(super) fn is_conditional(&self, field: Option<usize>) -> bool {
        field.is_some_and(|field| self.conditional.contains(&(field as u32)))
    }
}

/// The facts about the types seen in one rewrite.
pub(super) struct TypeFactTable<'o> {
    pub(super) options: &'o CseOptions<'o>,
    roles: RoleTable,
    known: HashMap<TypeIndex, Arc<TypeFacts>, RandomState>,
}

impl<'o> TypeFactTable<'o> {
    pub(super) fn new(options: &'o CseOptions<'o>) -> TypeFactTable<'o> {
        TypeFactTable {
            options,
            roles: RoleTable::default(),
            known: HashMap::default(),
        }
    }

    /// The facts about the type of an object; None for other values.
    pub(super) fn of(&mut self, value: &Value) -> Result<Option<Arc<TypeFacts>>> {
        let Some(object) = value.as_object() else {
            return Ok(None);
        };
        let ty = object.type_info().index();
        if let Some(known) = self.known.get(&ty) {
            return Ok(Some(known.clone()));
        }
        let facts = Arc::new(TypeFacts::of(table::info(ty))?);
        self.known.insert(ty, facts.clone());
        Ok(Some(facts))
    }

    /// Fails if neither the types of a program nor other types of their dialects declare a
    /// role, so that nothing in the program could ever be merged.
    ///
    /// # Errors
    ///
    /// `ValueError` with the type and the missing role.
    pub(super) fn check_roles(&self) -> Result<()> {
        let mut types: Vec<&'static TypeInfo> =
            self.known.keys().map(|ty| table::info(*ty)).collect();
        types.retain(|info| {
            !info.is_builtin() && !matches!(info.kind(), Kind::Var | Kind::Singleton)
        });
        types.sort_unstable_by_key(|info| info.index());
        let Some(first) = types.first().filter(|_| self.options.pure.is_none()) else {
            return Ok(());
        };
        let dialect = |key: &'static str| key.rsplit_once('.').map_or("", |(dialect, _)| dialect);
        let mut roles = [PURE, REPEATABLE, FORM].into_iter();
        let is_known = roles.any(|role| {
            let has = |info: &&TypeInfo| attrs::has(info.index(), role, Lookup::Nearest);
            types.iter().any(has) || {
                let mut declared = attrs::types_with(role).into_iter();
                declared.any(|ty| {
                    let known = dialect(table::info(ty).key());
                    types.iter().any(|info| dialect(info.key()) == known)
                })
            }
        });
        if is_known {
            return Ok(());
        }
        let key = first.key();
        Err(Error::value_error(format!(
            "cse has no effect on {key}: neither the types of the program nor other types of \
             '{}' have the attribute '{PURE}', '{REPEATABLE}' or '{FORM}'; declare this role \
             where the types are declared, for example type_attrs.set({key}, \"{PURE}\", True), \
             in Rust attrs::set, or call cse with a function for the nodes to merge",
            dialect(key)
        )))
    }

    pub(super) fn form(&mut self, value: &Value) -> Result<Option<Form>> {
        Ok(self.of(value)?.and_then(|facts| facts.form))
    }

    pub(super) fn is_var(&mut self, value: &Value) -> Result<bool> {
        Ok(self.of(value)?.is_some_and(|facts| facts.is_var))
    }

    /// The fields of a statement that binds a variable for its later siblings.
    pub(super) fn binding(&self, value: &Value) -> Result<Option<Binding>> {
        let binding = self.roles.of(value)?.and_then(|roles| roles.binding);
        Ok(binding.filter(|binding| binding.body.is_none()))
    }

    /// The fields of an expression that binds a variable around its scope, and the field
    /// of the body.
    pub(super) fn binding_around(&self, value: &Value) -> Result<Option<(Binding, u32)>> {
        let binding = self.roles.of(value)?.and_then(|roles| roles.binding);
        Ok(binding.and_then(|binding| Some((binding, binding.body?))))
    }

    /// True if the parts of a node stay as they are.
    pub(super) fn is_opaque(&mut self, node: &Value) -> Result<bool> {
        let known = self.of(node)?;
        let opaque = known.as_ref().and_then(|known| known.opaque.as_ref());
        opaque.map_or(Ok(false), |opaque| opaque.on(node))
    }

    /// True if the variable of a binding is exactly its value.
    pub(super) fn holds(&mut self, stmt: &Value) -> Result<bool> {
        let known = self.of(stmt)?;
        let holds = known.as_ref().and_then(|known| known.holds.as_ref());
        holds.map_or(Ok(true), |holds| holds.on(stmt))
    }

    /// True if a node, apart from its parts, may lack a result.
    pub(super) fn may_fail(&mut self, node: &Value) -> Result<bool> {
        let known = self.of(node)?;
        let may_fail = known.as_ref().and_then(|known| known.may_fail.as_ref());
        may_fail.map_or(Ok(false), |may_fail| may_fail.on(node))
    }

    /// True if a node, apart from its parts, has no effect and depends only on its
    /// operands.
    pub(super) fn is_repeatable(&mut self, node: &Value) -> Result<bool> {
        if let Some(pure) = &self.options.pure {
            return pure(node);
        }
        let known = self.of(node)?;
        if let Some(decision) = known.as_ref().and_then(|known| known.repeatable.as_ref()) {
            return decision.on(node);
        }
        match self.roles.of(node)? {
            Some(roles) => roles.is_pure(node),
            None => Ok(false),
        }
    }
}
