//! `Column`: an attribute whose name was resolved.

use std::fmt;
use std::marker::PhantomData;

use crate::kernel::error::Result;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::types::Schema;
use crate::kernel::types::attr_table::{Attribute, Declaration};
use crate::kernel::types::attributes::{Lookup, canonical, nearest, table};
use crate::kernel::value::Value;

/// A handle of an attribute with values of type `T`: lookups need no name.
///
/// ```
/// use isoform::attrs::{self, Column};
/// use isoform::types::{TypeDef, register_type};
///
/// let pure = Column::<bool>::open("doc.column.pure")?;
/// let ty = register_type(TypeDef::new("doc.column.Load").attr("doc.column.pure", true))?;
/// assert_eq!(pure.get(ty), Some(&true));
/// // The type of the values is enforced from now on.
/// let error = attrs::replace(ty, "doc.column.pure", "yes").unwrap_err();
/// assert!(error.to_string().contains("expected bool"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct Column<T: ElementType = Value> {
    attribute: &'static Attribute,
    values: PhantomData<fn() -> T>,
}

impl<T: ElementType> Column<T> {
    /// Opens the column of an attribute, and declares values of type `T` for the
    /// attribute unless declared before.
    ///
    /// # Errors
    ///
    /// `ValueError` for an empty name, or an attribute declared with another type of
    /// values; `TypeError` for an existing value of another type.
    pub fn open(name: &str) -> Result<Self> {
        let schema = match T::element_schema() {
            Schema::Any => None,
            schema => Some(schema),
        };
        let declaration = Declaration {
            schema,
            ..Declaration::default()
        };
        table().declare(name, declaration)?;
        let attribute = table().open(name)?;
        Ok(Column {
            attribute,
            values: PhantomData,
        })
    }

    /// The name of the attribute.
    pub fn name(&self) -> &'static str {
        self.attribute.name()
    }

    /// The value of exactly this type. O(1), no lock.
    #[inline]
    pub fn get(&self, ty: TypeIndex) -> Option<&'static T> {
        T::peek(self.attribute.get(canonical(ty).get())?)
    }

    /// The value of this type, or of the nearest ancestor with a value. O(depth of the
    /// type), no lock.
    #[inline]
    pub fn nearest(&self, ty: TypeIndex) -> Option<&'static T> {
        nearest(self.attribute, ty).and_then(|(_, value)| T::peek(value))
    }

    /// The value that a lookup finds.
    pub fn lookup(&self, ty: TypeIndex, lookup: Lookup) -> Option<&'static T> {
        match lookup {
            Lookup::Exact => self.get(ty),
            Lookup::Nearest => self.nearest(ty),
        }
    }

    /// Sets the value of a type.
    ///
    /// # Errors
    ///
    /// As [`set`](super::set).
    pub fn set(&self, ty: TypeIndex, value: impl Into<T>) -> Result<()> {
        super::assign(ty, self.name(), value.into().into_value(), false)
    }

    /// Sets the value of a type, replacing an existing value.
    ///
    /// # Errors
    ///
    /// As [`replace`](super::replace).
    pub fn replace(&self, ty: TypeIndex, value: impl Into<T>) -> Result<()> {
        super::assign(ty, self.name(), value.into().into_value(), true)
    }

    /// The types with a value, paired with the value, in order of registration.
    pub fn iter(&self) -> impl Iterator<Item = (TypeIndex, &'static T)> {
        let entries = self.attribute.entries().into_iter();
        entries.filter_map(|(index, value)| Some((TypeIndex(index), T::peek(value)?)))
    }
}

impl<T: ElementType> Clone for Column<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ElementType> Copy for Column<T> {}

impl<T: ElementType> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Column").field(&self.name()).finish()
    }
}

impl<N: Node> Ref<N> {
    /// The attribute of exactly this object's type. O(1), no lock.
    #[inline]
    pub fn attr<T: ElementType>(&self, column: &Column<T>) -> Option<&'static T> {
        column.get(self.type_index())
    }

    /// The attribute of this object's type, or of the nearest ancestor with the
    /// attribute. O(depth of the type), no lock.
    #[inline]
    pub fn attr_nearest<T: ElementType>(&self, column: &Column<T>) -> Option<&'static T> {
        column.nearest(self.type_index())
    }
}

impl Value {
    /// The attribute of the value's type; see [`attrs`](super).
    /// O(1), no lock.
    pub fn attr<T: ElementType>(&self, column: &Column<T>) -> Option<&'static T> {
        column.get(self.type_index())
    }
}
