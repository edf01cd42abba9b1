//! Enums of `node_enum!` in a dialect with visitors, in a module whose types have names of the
//! prelude.

use isoform::traverse::{NodeMutator, NodeVisitor, WalkResult};
use isoform::types::{Enumerator, NodeEnum, register_enum};
use isoform::{Array, Node, Obj, Ref, node_enum};

/// A number or nothing.
#[derive(Node)]
#[node(key = "enums.Option")]
#[repr(C)]
pub(crate) struct Option {
    /// The number.
    pub(crate) some: i64,
}

/// Numbers.
#[derive(Node)]
#[node(key = "enums.Vec")]
#[repr(C)]
pub(crate) struct Vec {
    /// How many.
    #[node(default = Size::Many)]
    pub(crate) size: Enumerator<Size>,
    /// The numbers.
    pub(crate) of: Array<Ref<Option>>,
}

node_enum! {
    /// How many there are.
    pub enum Size, SizeNode = "enums.Size" {
        /// One.
        One = "one",
        /// More.
        Many = "many",
    }
    aliases { "single" = One }
}

isoform::dialect! {
    "enums";
    pub(crate) use self::{Option, SizeNode, Vec};
    /// Visits numbers.
    pub(crate) trait Visitor {}
    /// Rewrites numbers.
    pub(crate) trait Mutator {}
}

/// The order of the visit.
#[derive(Default)]
struct Log(String);

impl Visitor for Log {
    fn visit_option(&mut self, op: &Ref<Option>) -> isoform::Result<WalkResult> {
        self.0 += &format!(" {}", op.some);
        Ok(WalkResult::Advance)
    }

    fn visit_size_node(&mut self, op: &Ref<SizeNode>) -> isoform::Result<WalkResult> {
        self.0 += &format!(" {:?}", op.get());
        Ok(WalkResult::Skip)
    }

    fn leave_node(&mut self, _: &Ref<Obj>) -> isoform::Result<()> {
        self.0 += ".";
        Ok(())
    }
}

struct Next;

impl Mutator for Next {
    fn mutate_option(
        &mut self,
        op: &Ref<Option>,
    ) -> isoform::Result<core::option::Option<isoform::Value>> {
        Ok(Some(op.with_some(op.some + 1).into()))
    }
}

#[test]
fn the_enum_of_a_dialect_has_a_method_of_visitors() -> isoform::Result<()> {
    register_types()?;
    register_types()?;
    let name = isoform::types::find_type("enums.Size").map(|info| info.visit_name());
    assert_eq!(name.as_deref(), Some("size_node"));

    let numbers = Vec::new([Option::new(1), Option::new(2)]);
    assert_eq!(numbers.size.get(), Size::Many);
    assert!(numbers.size == Size::Many && Size::One != numbers.size);
    assert!(*numbers.size == Size::Many);
    let mut log = Log::default();
    let visitor = NodeVisitor::new()
        .enter(|log: &mut Log, node: &Ref<Obj>| visit_by_class(log, node))
        .leave(|log, node: &Ref<Obj>| log.leave_node(node));
    visitor.visit(&mut log, &numbers)?;
    assert_eq!(log.0, " Many. 1. 2..");
    let mutator =
        NodeMutator::new().on(|next: &mut Next, node: &Ref<Obj>| mutate_by_class(next, node));
    let next = mutator.mutate(&mut Next, &numbers)?;
    isoform::assert_structural_eq!(next, Vec::new([Option::new(2), Option::new(3)]));
    Ok(())
}

#[test]
fn every_name_of_a_member_finds_it() {
    for (name, member) in [
        ("one", Size::One),
        ("single", Size::One),
        ("many", Size::Many),
    ] {
        assert_eq!(Size::from_name(name), Some(member));
    }
    assert_eq!(Size::from_name("two"), None);
}

mod other {
    isoform::node_enum! {
        /// Another enum with the key.
        pub enum Length, LengthNode = "enums.Size" {
            /// Short.
            Short = "short",
        }
    }
}

#[test]
fn a_second_enum_with_the_key_is_refused_by_name() {
    register_enum::<Size>().expect("the first");
    let error = register_enum::<other::Length>().expect_err("the second");
    let message = error.message();
    for part in ["enums.Size", "SizeNode (", "LengthNode (", "another key"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

mod short {
    use isoform::attrs::node_trait;
    use isoform::{Node, Result};

    /// A trait with the name of many type parameters.
    #[node_trait("enums.short")]
    trait T {
        /// The number.
        fn number(&self) -> Result<i64>;
    }

    #[derive(Node)]
    #[node(key = "enums.short.One", attrs(dyn T))]
    #[repr(C)]
    struct One {}

    impl T for One {
        fn number(&self) -> Result<i64> {
            Ok(1)
        }
    }

    #[test]
    fn a_node_trait_has_any_name() -> Result<()> {
        let one = One::new();
        let number = one.implements::<dyn T>().expect("declared");
        assert_eq!(number.number()?, 1);
        Ok(())
    }
}
