//! Holes: the parts that a variable of a template may match.

use std::fmt;
use std::sync::Arc;

use super::data::{Form, Hole, Pattern, Test};
use super::field_test::FieldTest;
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::path::AccessPath;
use crate::kernel::types::attributes::{self, Lookup};
use crate::kernel::types::call_method;
use crate::kernel::value::Value;
use crate::structural::{self, CompareOptions, Guard};

impl Hole {
    /// Makes a hole from a variable.
    pub fn new(var: impl Into<Value>) -> Hole {
        Hole {
            var: var.into(),
            class: None,
            guard: None,
            tests: Vec::new(),
            form: Form::default(),
        }
    }

    /// Restricts the hole to objects of a class or of an extending class.
    ///
    /// ```
    /// use isoform::pattern::{Hole, Pattern};
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let (x, y) = (tir::Var::new("x", DType::INT32), tir::Var::new("y", DType::INT32));
    /// let any_sum = Pattern::new(&x, [Hole::new(&x).class::<tir::Add>()])?;
    /// assert!(any_sum.match_value(tir::Add::new(&y, &y)?)?.is_some());
    /// assert!(any_sum.match_value(y)?.is_none());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn class<T: Node>(self) -> Hole {
        self.class_index(T::type_index())
    }

    /// Like [`class`](Self::class), with a type given by its index.
    #[must_use]
    pub fn class_index(mut self, class: TypeIndex) -> Hole {
        self.class = Some(class);
        self
    }

    /// Restricts the hole to parts accepted by a function. The function is called after
    /// the fields have been compared, and must return the same result for equal parts.
    #[must_use]
    pub fn guard(mut self, guard: impl Fn(&Value) -> Result<bool> + Send + Sync + 'static) -> Hole {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// Restricts the hole to parts with a value in a field, or deeper: `path` is a path
    /// such as `dtype` or `checked_type_.shape[0]`. The values are compared
    /// structurally; a part without the place does not match. Matching runs no user code.
    ///
    /// The value may have any form that the field takes, such as a text for a data type.
    /// A number, string or bool also stands for a literal of the IR, whatever its data
    /// type: for an object of a type with the attribute
    /// [`CONSTANT`](crate::traverse::CONSTANT) that has the value in a field `value`.
    ///
    /// Making a pattern with the hole is an error for a path that no registered type
    /// allows, starting from the [class](Self::class) of the hole if known, and for a
    /// value that no field at the place takes.
    ///
    /// ```
    /// use isoform::pattern::{Hole, Pattern};
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let (x, y) = (tir::Var::new("x", DType::INT32), tir::Var::new("y", DType::INT32));
    /// let four = Hole::new(&x).class::<tir::IntImm>().field("value", 4);
    /// let pattern = Pattern::new(tir::Mul::new(&x, &y)?, [four, (&y).into()])?;
    /// let times = |number| tir::Mul::new(&tir::constant(DType::INT32, number)?, &y);
    /// assert!(pattern.match_value(times(4)?)?.is_some());
    /// assert!(pattern.match_value(times(5)?)?.is_none());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn field(mut self, path: &str, value: impl Into<Value>) -> Hole {
        self.tests.push(Test::Field(path.to_owned(), value.into()));
        self
    }

    /// Restricts the hole to parts whose value at a place, given as for
    /// [`field`](Self::field), matches a pattern. The pattern's holes are part of the
    /// match.
    #[must_use]
    pub fn field_matching(mut self, path: &str, pattern: Pattern) -> Hole {
        self.form.fields.push((path.to_owned(), pattern));
        self
    }

    /// Restricts the hole to parts with an attribute. The attribute belongs to the
    /// part's type or the nearest ancestor with the attribute, or is the result of the
    /// part's method `get_attr` for the name. For operators, the method returns the
    /// attributes of the operator.
    #[must_use]
    pub fn attr(mut self, name: &str, value: impl Into<Value>) -> Hole {
        self.tests.push(Test::Attr(name.to_owned(), value.into()));
        self
    }

    /// Lets the hole match any value: objects that differ from the variable in the
    /// fields of their common class, containers and plain values.
    #[must_use]
    pub fn anything(mut self) -> Hole {
        self.form.anything = true;
        self
    }

    /// Restricts the hole to constants: objects whose type has the attribute
    /// [`CONSTANT`](crate::traverse::CONSTANT), tensors, numbers, strings and bytes.
    #[must_use]
    pub fn constant(mut self) -> Hole {
        self.form.constant = true;
        self
    }

    /// Lets the hole, an item of an array in the template, match any number of items,
    /// including zero. The hole's part is the array of these items; a replacement with
    /// the hole in an array has the items in the place of the hole.
    ///
    /// Several holes of this form may be in one array. The first hole takes as few
    /// items as possible, then the second, and the following in turn; finding the
    /// lengths takes O(nᵏ) for k holes and n items.
    ///
    /// ```
    /// use isoform::pattern::{Hole, Pattern};
    /// use isoform::Value;
    /// use isoform_ir::tir;
    /// use isoform::values::DType;
    ///
    /// let int = |name| tir::Var::new(name, DType::INT32);
    /// let (all, last, a) = (int("all"), int("last"), int("a"));
    /// let template = vec![Value::from(&all), Value::from(&last)];
    /// let pattern = Pattern::new(template, [Hole::new(&all).items(), (&last).into()])?;
    /// let found = pattern.match_value(vec![&a, &a, &a])?.expect("three items");
    /// let before = found.get(all).and_then(|part| part.extract::<isoform::Array>().ok());
    /// assert_eq!(before.map(|items| items.len()), Some(2));
    /// assert!(pattern.match_value(isoform::Array::<Value>::new())?.is_none());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn items(mut self) -> Hole {
        self.form.items = true;
        self
    }

    /// Restricts the hole to parts used only by the match, in one place.
    ///
    /// The users are known to [`rewrite_greedily`](super::rewrite_greedily()) and to
    /// [`Pattern::match_in`].
    #[must_use]
    pub fn one_use(mut self) -> Hole {
        self.form.one_use = true;
        self
    }

    /// Restricts the hole to parts that match a pattern, whose holes are part of the
    /// match. With [`Pattern::any_of`], the hole has alternatives.
    #[must_use]
    pub fn matching(mut self, pattern: Pattern) -> Hole {
        self.form.patterns.push(pattern);
        self
    }

    /// The variable.
    pub fn var(&self) -> &Value {
        &self.var
    }

    /// The class that is required.
    pub fn required_class(&self) -> Option<TypeIndex> {
        self.class
    }

    /// The patterns of the hole's part and of places below the part.
    pub(super) fn inner_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let fields = self.form.fields.iter().map(|(_, pattern)| pattern);
        self.form.patterns.iter().chain(fields)
    }

    /// True if the hole stands for any number of items.
    pub(super) fn takes_items(&self) -> bool {
        self.form.items
    }

    /// True if a function of the user decides about the part.
    pub(super) fn is_guarded(&self) -> bool {
        self.guard.is_some()
    }

    /// The hole in the form used by comparison.
    ///
    /// # Errors
    ///
    /// `ValueError` for a path that cannot be read.
    pub(super) fn compared(&self) -> Result<structural::Hole> {
        let mut hole = structural::Hole::new(self.var.clone());
        hole.class = self.class;
        hole.guard = self.decision()?;
        Ok(hole)
    }

    /// The tests and the guard as one function.
    fn decision(&self) -> Result<Option<Arc<Guard>>> {
        if self.tests.is_empty() {
            return Ok(self.guard.clone());
        }
        let mut fields: Vec<FieldTest> = Vec::new();
        let mut attrs: Vec<(String, Value)> = Vec::new();
        for test in &self.tests {
            match test {
                Test::Field(path, value) => fields.push(FieldTest::new(self.class, path, value)?),
                Test::Attr(name, value) => attrs.push((name.clone(), value.clone())),
            }
        }
        let guard = self.guard.clone();
        Ok(Some(Arc::new(move |part: &Value| {
            for field in &fields {
                if !field.holds(part)? {
                    return Ok(false);
                }
            }
            for (name, wanted) in &attrs {
                let Some(value) = attribute(part, name)? else {
                    return Ok(false);
                };
                if !CompareOptions::default().equal(wanted, &value)? {
                    return Ok(false);
                }
            }
            guard.as_ref().map_or(Ok(true), |guard| guard(part))
        })))
    }
}

/// A path below a part, which may be written without its root.
///
/// # Errors
///
/// `ValueError` for a text that is not a path.
pub(super) fn parse(path: &str) -> Result<AccessPath> {
    let whole = match path.chars().next() {
        Some('<') => path.to_owned(),
        Some('[' | '.') => format!("<root>{path}"),
        _ => format!("<root>.{path}"),
    };
    AccessPath::parse(&whole).map_err(|error| error.in_context(format_args!("Hole.field '{path}'")))
}

/// An attribute of a part's type, or the result of the part's method `get_attr`.
fn attribute(part: &Value, name: &str) -> Result<Option<Value>> {
    if let Some(found) = attributes::get(part.type_index(), name, Lookup::Nearest) {
        return Ok(Some(found.clone()));
    }
    let has_method = part
        .as_object()
        .is_some_and(|object| object.type_info().method("get_attr").is_some());
    if has_method {
        match call_method(part, "get_attr", &[name.into()]) {
            Ok(found) => Ok(Some(found).filter(|found| !found.is_none())),
            Err(error) if matches!(error.kind(), ErrorKind::Attribute | ErrorKind::Key) => Ok(None),
            Err(error) => Err(error),
        }
    } else {
        Ok(None)
    }
}

impl fmt::Debug for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Hole");
        text.field("var", &self.var)
            .field("class", &self.class)
            .field("guarded", &self.guard.is_some());
        if !self.tests.is_empty() {
            text.field("tests", &self.tests);
        }
        let flags = [
            ("anything", self.form.anything),
            ("items", self.form.items),
            ("constant", self.form.constant),
            ("one_use", self.form.one_use),
        ];
        for (name, _) in flags.iter().filter(|(_, set)| *set) {
            text.field(name, &true);
        }
        if !self.form.patterns.is_empty() {
            text.field("patterns", &self.form.patterns);
        }
        text.finish()
    }
}

impl<T: Node> From<&Ref<T>> for Hole {
    fn from(var: &Ref<T>) -> Hole {
        Hole::new(var)
    }
}

impl From<Value> for Hole {
    fn from(var: Value) -> Hole {
        Hole::new(var)
    }
}

/// The error for a hole in a place where its form has no meaning.
pub(super) fn misplaced(hole: &Hole, problem: &str) -> Error {
    Error::value_error(format!("Pattern.holes: the hole {:?} {problem}", hole.var))
}
