//! Declarations by `macro_rules!`, which wraps what it passes on in invisible groups, of types
//! with the names that generated code could give to its own generics.

use isoform::traverse::{NodeMutator, NodeVisitor, WalkResult};
use isoform::{Node, Obj, Ref};

macro_rules! types {
    ($number:ty = $default:literal, -$signed:literal; $($ty:ident = $key:literal, $former:literal;)*) => {
        $(
            /// A type.
            #[derive(Node)]
            #[node(key = $key, aliases = [$former])]
            #[repr(C)]
            pub(crate) struct $ty {
                #[node(default = $default)]
                pub(crate) count: $number,
                #[node(default = -$signed)]
                pub(crate) signed: $number,
            }
        )*

        isoform::dialect! {
            "names";
            pub(crate) use self::{$($ty),*};
            /// Visits the types.
            pub(crate) trait Visitor {}
            /// Rewrites the types.
            pub(crate) trait Mutator {}
        }
    };
}

types! {
    i64 = 5, -2;
    A = "names.A", "names.old.A";
    B = "names.B", "names.old.B";
    C = "names.C", "names.old.C";
    D = "names.D", "names.old.D";
    E = "names.E", "names.old.E";
    F = "names.F", "names.old.F";
    G = "names.G", "names.old.G";
    H = "names.H", "names.old.H";
    I = "names.I", "names.old.I";
    J = "names.J", "names.old.J";
    K = "names.K", "names.old.K";
    L = "names.L", "names.old.L";
    M = "names.M", "names.old.M";
    N = "names.N", "names.old.N";
    O = "names.O", "names.old.O";
    P = "names.P", "names.old.P";
    Q = "names.Q", "names.old.Q";
    R = "names.R", "names.old.R";
    S = "names.S", "names.old.S";
    T = "names.T", "names.old.T";
    U = "names.U", "names.old.U";
    V = "names.V", "names.old.V";
    W = "names.W", "names.old.W";
    X = "names.X", "names.old.X";
    Y = "names.Y", "names.old.Y";
    Z = "names.Z", "names.old.Z";
    Ancestor = "names.Ancestor", "names.old.Ancestor";
}

struct Counts(usize);

impl Visitor for Counts {
    fn visit_v(&mut self, _: &Ref<V>) -> isoform::Result<WalkResult> {
        self.0 += 1;
        Ok(WalkResult::Advance)
    }
}

impl Mutator for Counts {
    fn mutate_v(&mut self, op: &Ref<V>) -> isoform::Result<Option<isoform::Value>> {
        Ok(Some(op.with_count(self.0 as i64).into()))
    }
}

#[test]
fn any_letter_names_a_type() -> isoform::Result<()> {
    register_types()?;
    let nodes: [Ref<Obj>; 4] = isoform::nodes![A::new(), V::new(), T::new(), Ancestor::new()];
    let mut counts = Counts(0);
    NodeVisitor::new()
        .enter(|counts: &mut Counts, node: &Ref<Obj>| visit_by_class(counts, node))
        .visit(&mut counts, isoform::Array::from(nodes))?;
    assert_eq!(counts.0, 1);
    let mutator =
        NodeMutator::new().on(|counts: &mut Counts, node: &Ref<Obj>| mutate_by_class(counts, node));
    let V { count, .. } = &*mutator.mutate(&mut counts, V::new())?.extract::<Ref<V>>()?;
    assert_eq!(*count, 1);
    Ok(())
}

#[test]
fn literals_of_a_macro_are_read() -> isoform::Result<()> {
    register_types()?;
    let old = isoform::text::from_text("names.old.K()")?.extract::<Ref<K>>()?;
    assert_eq!((old.count, old.signed), (5, -2));
    Ok(())
}

/// Traits with the names of type parameters.
mod traits {
    use isoform::Node;

    #[derive(Node)]
    #[node(key = "names.traits.Num")]
    #[repr(C)]
    pub(crate) struct Num {}

    isoform::dialect! {
        "names.traits";
        pub(crate) use self::Num;
        /// Visits numbers.
        pub(crate) trait V {}
        /// Rewrites numbers.
        pub(crate) trait M {}
    }
}

#[test]
fn any_letter_names_a_visitor() -> isoform::Result<()> {
    struct Nothing;
    impl traits::V for Nothing {}
    impl traits::M for Nothing {}

    traits::register_types()?;
    let node = traits::Num::new().upcast();
    assert_eq!(
        traits::visit_by_class(&mut Nothing, &node)?,
        WalkResult::Advance
    );
    assert_eq!(traits::mutate_by_class(&mut Nothing, &node)?, None);
    Ok(())
}
