//! Rust enums with objects as members, for use in fields, maps and files.

use crate::kernel::container::{Array, Map, Str};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::{Function, Parameter, Signature};
use crate::kernel::hooks::{DynConvert, DynFromJson, DynToJson, Hook};
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::types::singletons::register_singleton;
use crate::kernel::types::{INIT, Schema, TypeDef};
use crate::kernel::value::{Value, ValueRef};

/// The attribute with the names of the members.
pub(super) const MEMBERS: &str = "enum.members";

/// An enum declared by [`node_enum!`](crate::node_enum).
pub trait NodeEnum: Copy + Eq + std::fmt::Debug + Send + Sync + 'static {
    /// The type of the members as objects.
    type Object: Node;
    /// All members, in the order of declaration.
    const MEMBERS: &'static [Self];
    /// Alternative names of members.
    const ALIASES: &'static [(&'static str, Self)];

    /// The name of the member.
    fn name(self) -> &'static str;

    /// The member as an object: always the same object.
    fn object(self) -> Enumerator<Self>;

    /// The data of the members' type besides its fields.
    #[doc(hidden)]
    fn knowledge() -> &'static EnumKnowledge;

    /// The member with this name or alias.
    fn from_name(name: &str) -> Option<Self> {
        let member = Self::MEMBERS.iter().find(|member| member.name() == name);
        let alias = || Self::ALIASES.iter().find(|(alias, _)| *alias == name);
        member.copied().or_else(|| Some(alias()?.1))
    }
}

/// The data of an enum's node type besides its fields; used by
/// [`node_enum!`](crate::node_enum).
#[doc(hidden)]
#[derive(Clone)]
pub struct EnumKnowledge {
    names: Array<Str>,
    aliases: Map<Str, Str>,
    member: Function,
    convert: Function,
    to_json: DynToJson,
    from_json: DynFromJson,
}

impl EnumKnowledge {
    /// Makes the data of an enum. The enum stores the result, because the enum's
    /// definition holds one function of each kind.
    pub fn of<E: NodeEnum>() -> Self {
        let key = <E::Object as Node>::TYPE_KEY;
        let member = Function::new(|args: &[Value]| match args {
            [value] => member_of::<E>(value).map(Value::from),
            _ => Err(Error::type_error(format!(
                "{}: expected one name or number, got {} arguments",
                <E::Object as Node>::TYPE_KEY,
                args.len()
            ))),
        });
        let named = |suffix: &str| {
            let function = member.named(&format!("{key}{suffix}"));
            let either = Schema::Union(Box::new([Schema::Str, Schema::Int]));
            let parameter = Parameter::new(either).named("value");
            function
                .with_doc("The member with this name or number.")
                .with_signature(Signature::new(vec![parameter], Schema::named(key)))
        };
        let names: Vec<Str> = E::MEMBERS
            .iter()
            .map(|member| member.name().into())
            .collect();
        let mut aliases = Map::<Str, Str>::new();
        for (alias, member) in E::ALIASES {
            aliases.insert((*alias).into(), member.name().into());
        }
        EnumKnowledge {
            names: names.into(),
            aliases,
            member: named(""),
            convert: named(".__ffi_convert__"),
            to_json: DynToJson::new(|object| {
                crate::kernel::object::dynamic::field_value(object, "name")
            }),
            from_json: DynFromJson::new(|data| Ok(member_of::<E>(data)?.into_object())),
        }
    }
}

/// Completes the definition of an enum's node type; used by
/// [`node_enum!`](crate::node_enum).
#[doc(hidden)]
pub fn enum_definition<E: NodeEnum>(definition: TypeDef) -> TypeDef {
    let known = E::knowledge().clone();
    definition
        .attr(MEMBERS, known.names)
        .attr("text.member", true)
        .attr("enum.aliases", known.aliases)
        .attr(INIT, known.member)
        .attr(DynConvert::NAME, known.convert)
        .hook(known.to_json)
        .hook(known.from_json)
}

/// Registers the type of an enum, and makes the members.
///
/// # Errors
///
/// `ValueError` if another definition owns the key.
pub fn register_enum<E: NodeEnum>() -> Result<()> {
    crate::kernel::types::register::<E::Object>()?;
    E::MEMBERS.iter().for_each(|member| drop(member.object()));
    Ok(())
}

/// The member with a given name or number.
fn member_of<E: NodeEnum>(value: &Value) -> Result<Enumerator<E>> {
    if let Some(member) = value.peek::<Enumerator<E>>() {
        return Ok(member.clone());
    }
    let key = <E::Object as Node>::TYPE_KEY;
    let member = match value.view() {
        ValueRef::Str(name) => E::from_name(name),
        ValueRef::Int(number) => usize::try_from(number)
            .ok()
            .and_then(|number| E::MEMBERS.get(number).copied()),
        _ => {
            return Err(Error::type_error(format!(
                "{key}: expected a member, its name or its number, got {}",
                value.type_name()
            )));
        }
    };
    member.map(NodeEnum::object).ok_or_else(|| {
        let names: Vec<_> = E::MEMBERS.iter().map(|member| member.name()).collect();
        Error::value_error(format!(
            "{key}: expected one of {}, got {value:?}",
            names.join(", ")
        ))
    })
}

/// The message next to the first name that occurs a second time; used by
/// [`node_enum!`](crate::node_enum) at compile time.
#[doc(hidden)]
pub const fn repeated_name(names: &[(&str, &'static str)]) -> Option<&'static str> {
    let mut later = 1;
    while later < names.len() {
        let mut earlier = 0;
        while earlier < later {
            if is_same(names[earlier].0.as_bytes(), names[later].0.as_bytes()) {
                return Some(names[later].1);
            }
            earlier += 1;
        }
        later += 1;
    }
    None
}

/// `left == right`, for constants.
const fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut position = 0;
    while position < left.len() && position < right.len() && left[position] == right[position] {
        position += 1;
    }
    position == left.len() && position == right.len()
}

/// The member at a position; used by [`node_enum!`](crate::node_enum).
///
/// Every object of the type is a member: the type's constructors return only members.
#[doc(hidden)]
pub fn enum_member<E: NodeEnum>(value: i64) -> E {
    let position = usize::try_from(value).unwrap_or(0);
    E::MEMBERS.get(position).copied().unwrap_or(E::MEMBERS[0])
}

/// The object of a member; used by [`node_enum!`](crate::node_enum).
#[doc(hidden)]
pub fn enum_object<T: Node>(fields: T) -> Ref<T> {
    let object = Ref::new(fields);
    // Members have different names, and the type's own constructors make no other
    // objects, so no collision is possible.
    drop(register_singleton(&object));
    object
}

/// A member of an enum as an object: the type of fields for a member.
pub type Enumerator<E> = Ref<<E as NodeEnum>::Object>;

/// Declares an enum and the node type of its members.
///
/// The enum is a plain Rust enum, for use in `match`. The node type, whose name
/// follows, is of kind `singleton` with one object for each member, and reading a file
/// finds these objects again. A field is declared as [`Enumerator`]; constructors
/// accept the member itself there, `==` compares with one, and `get` returns the member, for
/// `match`. In other languages,
/// the type is constructed from the name or the number of a member; the attribute
/// `enum.members` lists all names, and `enum.aliases` the aliases. A name or alias that
/// occurs twice is an error of the compiler.
///
/// ```
/// use isoform::{Node, node_enum};
/// use isoform::types::{Enumerator, NodeEnum};
///
/// node_enum! {
///     /// Which way to go.
///     pub enum Turn, TurnObject = "doc.Turn" {
///         /// To the left.
///         Left = "left",
///         /// To the right.
///         Right = "right",
///     }
///     aliases { "port" = Left }
/// }
///
/// /// A step.
/// #[derive(Node)]
/// #[node(key = "doc.Step")]
/// #[repr(C)]
/// pub struct Step {
///     /// Which way.
///     pub turn: Enumerator<Turn>,
/// }
///
/// let step = Step::new(Turn::Left);
/// assert!(step.turn == Turn::Left);
/// assert_eq!(step.turn.get(), Turn::Left);
/// assert_eq!(Turn::from_name("port"), Some(Turn::Left));
/// ```
#[macro_export]
macro_rules! node_enum {
    (
        $(#[$doc:meta])*
        pub enum $name:ident, $object:ident = $key:tt {
            $($(#[$member_doc:meta])* $member:ident = $text:literal),* $(,)?
        }
        $(aliases { $($alias:literal = $target:ident),* $(,)? })?
    ) => {
        $(#[$doc])*
        #[derive(
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::cmp::PartialEq,
            ::core::cmp::Eq,
            ::core::cmp::PartialOrd,
            ::core::cmp::Ord,
            ::core::hash::Hash,
            ::core::fmt::Debug,
        )]
        pub enum $name {
            $($(#[$member_doc])* $member,)*
        }

        $(#[$doc])*
        ///
        #[doc = ::core::concat!(
            "The members of [`", ::core::stringify!($name), "`] as objects."
        )]
        #[derive($crate::__private::DeriveNode)]
        #[node(
            key = $key,
            kind = singleton,
            no_new,
            no_with,
            define = $crate::__private::enum_definition::<$name>,
            crate = $crate
        )]
        #[repr(C)]
        pub struct $object {
            /// The name of the member.
            pub name: $crate::Str,
            /// Its position among the members.
            pub value: i64,
        }

        const _: () = if let ::core::option::Option::Some(message) =
            $crate::__private::repeated_name(&[
                $((
                    $text,
                    ::core::concat!(
                        "the member `", ::core::stringify!($name), "::",
                        ::core::stringify!($member), "` has the name \"", $text,
                        "\" of an earlier member",
                    ),
                ),)*
                $($((
                    $alias,
                    ::core::concat!(
                        "the alias \"", $alias, "\" of `", ::core::stringify!($name), "::",
                        ::core::stringify!($target),
                        "` is the name of a member or an earlier alias",
                    ),
                ),)*)?
            ])
        {
            ::core::panic!("{}", message);
        };

        impl $object {
            /// The member.
            pub fn get(&self) -> $name {
                $crate::__private::enum_member(self.value)
            }
        }

        impl $crate::types::NodeEnum for $name {
            type Object = $object;
            const MEMBERS: &'static [Self] = &[$($name::$member),*];
            const ALIASES: &'static [(&'static str, Self)] =
                &[$($(($alias, $name::$target)),*)?];

            fn knowledge() -> &'static $crate::__private::EnumKnowledge {
                static KNOWN: $crate::__private::OnceLock<$crate::__private::EnumKnowledge> =
                    $crate::__private::OnceLock::new();
                KNOWN.get_or_init($crate::__private::EnumKnowledge::of::<$name>)
            }

            fn name(self) -> &'static str {
                match self {
                    $($name::$member => $text,)*
                }
            }

            fn object(self) -> $crate::Ref<$object> {
                static OBJECTS: $crate::__private::OnceLock<::std::vec::Vec<$crate::Ref<$object>>> =
                    $crate::__private::OnceLock::new();
                let make = |(value, member): (usize, &$name)| {
                    $crate::__private::enum_object($object {
                        name: $crate::Str::from($crate::types::NodeEnum::name(*member)),
                        value: value as i64,
                    })
                };
                let objects = OBJECTS.get_or_init(|| {
                    <$name as $crate::types::NodeEnum>::MEMBERS.iter().enumerate().map(make).collect()
                });
                objects[self as usize].clone()
            }
        }

        impl $crate::__private::IntoField<$crate::Ref<$object>> for $name {
            fn into_field(self) -> $crate::Ref<$object> {
                $crate::types::NodeEnum::object(self)
            }
        }

        impl $crate::__private::IntoField<::core::option::Option<$crate::Ref<$object>>> for $name {
            fn into_field(self) -> ::core::option::Option<$crate::Ref<$object>> {
                ::core::option::Option::Some($crate::types::NodeEnum::object(self))
            }
        }

        impl ::core::cmp::PartialEq<$name> for $object {
            fn eq(&self, other: &$name) -> bool {
                self.get() == *other
            }
        }

        impl ::core::cmp::PartialEq<$name> for $crate::Ref<$object> {
            fn eq(&self, other: &$name) -> bool {
                self.get() == *other
            }
        }

        impl ::core::cmp::PartialEq<$crate::Ref<$object>> for $name {
            fn eq(&self, other: &$crate::Ref<$object>) -> bool {
                *self == other.get()
            }
        }
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "expected `pub enum Op, OpNode = \"dialect.Op\" { Add = \"add\" }`: the enum, the node \
             type of its members with its key, and each member with its name in files"
        );
    };
}
