//! Visitors and mutators: traits with a method for each class.
//!
//! The traversals are those of [`structural_walk`] and [`structural_map`];
//! here is only which method a node goes to, and what a replaced definition
//! means for the uses of its variable.

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::*;
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::types::RegionKind;
use crate::kernel::types::{FieldDef, FieldFlag};
use crate::kernel::value::{Value, ValueRef};
use crate::traverse::{
    MapOptions, WalkOptions, WalkOrder, WalkResult, structural_map, structural_walk,
};

/// Visits a value by the methods of a visitor.
///
/// An object is visited once, where it is met first, before what lies below it;
/// fields that comparison ignores are not visited. A method answers with
/// [`WalkResult::Advance`] to go on below its node, [`WalkResult::Skip`] to
/// leave that out, or [`WalkResult::Interrupt`] to end the visit. Nothing
/// recurses, whatever the methods do; depth is limited by memory only. Linear
/// in the number of objects.
///
/// # Errors
///
/// Those of the methods; `ValueError` for a value that contains itself.
///
/// ```
/// use isoform::dialect::pto::{self, Add, DataType, IRVisitor, ScalarType, Var};
/// use isoform::{Ref, Result, WalkResult};
///
/// #[derive(Default)]
/// struct Names(Vec<String>);
///
/// impl IRVisitor for Names {
///     fn visit_var(&mut self, op: &Ref<Var>) -> Result<WalkResult<()>> {
///         self.0.push(op.name_hint.to_string());
///         Ok(WalkResult::Skip)
///     }
/// }
///
/// let int = ScalarType::new(DataType::Int64);
/// let [x, y] = ["x", "y"].map(|name| Var::new(name, &int));
/// let sum = Add::new(Add::new(&x, &y, DataType::Int64), &x, DataType::Int64);
/// let mut names = Names::default();
/// pto::visit(&mut names, &sum)?;
/// assert_eq!(names.0, ["x", "y"]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn visit<V: IRVisitor + ?Sized>(visitor: &mut V, root: impl Into<Value>) -> Result<()> {
    let options = WalkOptions::default().order(WalkOrder::Pre);
    // The nodes around the one that is visited, with their depths.
    let mut open: Vec<(usize, Ref<Obj>)> = Vec::new();
    let ended = structural_walk(root, options, |visit| {
        let Some(object) = visit.object() else {
            return Ok(WalkResult::Advance);
        };
        while let Some((depth, left)) = open.pop_if(|(depth, _)| *depth >= visit.depth()) {
            debug_assert!(depth >= visit.depth());
            visitor.leave_node(&left)?;
        }
        if object.type_info().is_builtin() {
            return Ok(WalkResult::Advance);
        }
        open.push((visit.depth(), object.clone()));
        visit_as(visitor, Class::of(object), object)
    })?;
    if ended.is_none() {
        while let Some((_, left)) = open.pop() {
            visitor.leave_node(&left)?;
        }
    }
    Ok(())
}

/// Rewrites a value by the methods of a mutator.
///
/// A method sees its node after what lies below was rewritten, and answers
/// what comes in its place, or None to keep it. Where nothing changes, the
/// result is the same object; a shared object is rewritten once, and its result
/// shared in the same way. Nothing recurses. Linear in the number of objects,
/// but for a second look at the loops and functions whose own variables a
/// method replaces.
///
/// A variable that is replaced where it is defined is replaced in its uses:
/// when the method for the variable says so, and when that for a statement or
/// function answers a node of the same class with another variable in a
/// definition field. Loop variables and parameters are then replaced inside of
/// that node, others from there on.
///
/// # Errors
///
/// Those of the methods; `TypeError` for an answer that does not fit its field,
/// `ValueError` for a value that contains itself.
///
/// ```
/// use isoform::dialect::pto::{self, Add, ConstInt, DataType, IRMutator, ScalarType, Var};
/// use isoform::{Ref, Result, Value};
///
/// struct Double;
///
/// impl IRMutator for Double {
///     fn mutate_const_int(&mut self, op: &Ref<ConstInt>) -> Result<Option<Value>> {
///         Ok(Some(op.with_value(2 * op.value).into()))
///     }
/// }
///
/// let x = Var::new("x", ScalarType::new(DataType::Int64));
/// let sum = Add::new(&x, ConstInt::new(21, DataType::Int64), DataType::Int64);
/// let doubled = pto::mutate(&mut Double, &sum)?;
/// assert_eq!(pto::python_print(doubled, &Default::default())?, "x + 42");
/// assert_eq!(pto::mutate(&mut Double, &x)?, Value::from(&x));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn mutate<M: IRMutator + ?Sized>(mutator: &mut M, root: impl Into<Value>) -> Result<Value> {
    let mut remapped: HashMap<u64, Value> = HashMap::new();
    let mut images: HashMap<u64, Option<Value>> = HashMap::new();
    let options = MapOptions::default().revisit_vars(true);
    structural_map(root, options, |visit| {
        let Some(object) = visit.object() else {
            return Ok(None);
        };
        if object.type_info().is_builtin() {
            return Ok(None);
        }
        if object.isa::<Var>() {
            // Bound and used, it becomes the same, but for what a statement
            // in front of a use has put in its place.
            let ident = object.identity();
            let image = match images.get(&ident) {
                Some(image) => image.clone(),
                None => {
                    let image = mutate_as(mutator, Class::of(object), object)?;
                    images.insert(ident, image.clone());
                    image
                }
            };
            if visit.region() != RegionKind::Use || remapped.is_empty() {
                return Ok(image);
            }
            let defined = image.as_ref().and_then(Value::as_object).unwrap_or(object);
            let later = remapped.get(&defined.identity()).cloned();
            return Ok(later.or(image));
        }
        let answer = mutate_as(mutator, Class::of(object), object)?;
        let Some(new) = answer.as_ref().and_then(Value::as_object) else {
            return Ok(answer);
        };
        let redefined = Redefined::between(object, new)?;
        for (old, image) in redefined.later {
            remapped.insert(old, image);
        }
        match redefined.inside.is_empty() {
            true => Ok(answer),
            false => replace_vars(new, &redefined.inside).map(Some),
        }
    })
}

/// The variables that a node defines and that another one, which comes in its
/// place, defines as others.
#[derive(Default)]
struct Redefined {
    /// Those whose uses lie inside of the node.
    inside: HashMap<u64, Value>,
    /// Those whose uses come later.
    later: Vec<(u64, Value)>,
}

/// The definition fields whose variables are used inside of their node.
const INSIDE: [&str; 3] = ["loop_var", "iter_args", "params"];

impl Redefined {
    fn between(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<Redefined> {
        let mut found = Redefined::default();
        let info = old.type_info();
        if old.same_as(new) || new.type_index() != old.type_index() {
            return Ok(found);
        }
        for field in definition_fields(info) {
            let before = vars_of(&crate::get_field(old, field.name())?);
            let after = vars_of(&crate::get_field(new, field.name())?);
            if before.len() != after.len() {
                continue;
            }
            for (before, after) in before.iter().zip(after).filter(|(b, a)| !b.same_as(a)) {
                let (ident, after) = (before.identity(), Value::from(after));
                match INSIDE.contains(&field.name()) {
                    true => drop(found.inside.insert(ident, after)),
                    false => found.later.push((ident, after)),
                }
            }
        }
        Ok(found)
    }
}

/// The fields of a type that define variables.
fn definition_fields(info: &TypeInfo) -> impl Iterator<Item = &FieldDef> {
    let defines = |flag| matches!(flag, FieldFlag::Def | FieldFlag::DefSimple);
    let fields = info.fields().iter();
    fields.filter(move |field| defines(field.field_flag()))
}

/// The variables that a node itself defines, and not what is below it.
pub(super) fn definitions_of(object: &Ref<Obj>) -> Result<Vec<Ref<Obj>>> {
    let mut found = Vec::new();
    for field in definition_fields(object.type_info()) {
        found.extend(vars_of(&crate::get_field(object, field.name())?));
    }
    Ok(found)
}

/// The variables in a definition field: itself, or the elements of an array.
fn vars_of(value: &Value) -> Vec<Ref<Obj>> {
    match value.view() {
        ValueRef::Array(array) => array
            .iter()
            .filter_map(|v| v.as_object().cloned())
            .collect(),
        _ => value.as_object().cloned().into_iter().collect(),
    }
}

fn replace_vars(root: &Ref<Obj>, images: &HashMap<u64, Value>) -> Result<Value> {
    structural_map(root, MapOptions::default(), |visit| {
        let var = visit.object().filter(|object| object.isa::<Var>());
        Ok(var.and_then(|var| images.get(&var.identity()).cloned()))
    })
}

/// Declares the traits, with a method for each class.
macro_rules! classes {
    ($($class:ident: $visit:ident, $mutate:ident;)*) => {
        /// The classes that have methods.
        #[derive(Clone, Copy)]
        enum Class {
            $($class,)*
        }

        impl Class {
            const ALL: &[Class] = &[$(Class::$class),*];

            fn type_index(self) -> TypeIndex {
                match self {
                    $(Class::$class => <$class as Node>::type_index(),)*
                }
            }
        }

        /// A visitor: what [`visit`] calls.
        ///
        /// Each class has a method, whose default is that of its parent class,
        /// up to [`visit_node`](IRVisitor::visit_node). An override ends with
        /// the answer for its node, or with the method of the parent class.
        pub trait IRVisitor {
            /// Visits a node for which there is no other method: by default
            /// goes on below it.
            ///
            /// # Errors
            ///
            /// Those that the visit is to end with.
            fn visit_node(&mut self, _op: &Ref<Obj>) -> Result<WalkResult<()>> {
                Ok(WalkResult::Advance)
            }

            /// Called when a node and what lies below it have been visited.
            ///
            /// # Errors
            ///
            /// Those that the visit is to end with.
            fn leave_node(&mut self, _op: &Ref<Obj>) -> Result<()> {
                Ok(())
            }
            $(
                #[doc = concat!("Visits a [`struct@", stringify!($class), "`]: by default as its parent class.")]
                ///
                /// # Errors
                ///
                /// Those that the visit is to end with.
                fn $visit(&mut self, op: &Ref<$class>) -> Result<WalkResult<()>> {
                    visit_as(self, Class::above::<$class>(), op.as_object())
                }
            )*
        }

        /// A mutator: what [`mutate`] calls.
        ///
        /// Each class has a method, whose default is that of its parent class,
        /// up to [`mutate_node`](IRMutator::mutate_node).
        pub trait IRMutator {
            /// What comes in place of a node for which there is no other
            /// method: by default the node itself.
            ///
            /// # Errors
            ///
            /// Those that the rewrite is to end with.
            fn mutate_node(&mut self, _op: &Ref<Obj>) -> Result<Option<Value>> {
                Ok(None)
            }
            $(
                #[doc = concat!("What comes in place of a [`struct@", stringify!($class), "`]: by default as for its parent class.")]
                ///
                /// # Errors
                ///
                /// Those that the rewrite is to end with.
                fn $mutate(&mut self, op: &Ref<$class>) -> Result<Option<Value>> {
                    mutate_as(self, Class::above::<$class>(), op.as_object())
                }
            )*
        }

        /// Visits a node by the method of a class it belongs to.
        fn visit_as<V: IRVisitor + ?Sized>(
            visitor: &mut V,
            class: Option<Class>,
            node: &Ref<Obj>,
        ) -> Result<WalkResult<()>> {
            match class {
                $(Some(Class::$class) => match node.downcast_ref::<$class>() {
                    Some(op) => visitor.$visit(op),
                    None => visitor.visit_node(node),
                },)*
                None => visitor.visit_node(node),
            }
        }

        /// What comes in place of a node by the method of a class it belongs to.
        fn mutate_as<M: IRMutator + ?Sized>(
            mutator: &mut M,
            class: Option<Class>,
            node: &Ref<Obj>,
        ) -> Result<Option<Value>> {
            match class {
                $(Some(Class::$class) => match node.downcast_ref::<$class>() {
                    Some(op) => mutator.$mutate(op),
                    None => mutator.mutate_node(node),
                },)*
                None => mutator.mutate_node(node),
            }
        }
    };
}

classes! {
    IRNode: visit_ir_node, mutate_ir_node;
    Span: visit_span, mutate_span;
    Op: visit_op, mutate_op;
    GlobalVar: visit_global_var, mutate_global_var;
    Expr: visit_expr, mutate_expr;
    Type: visit_type, mutate_type;
    UnknownType: visit_unknown_type, mutate_unknown_type;
    ScalarType: visit_scalar_type, mutate_scalar_type;
    ShapedType: visit_shaped_type, mutate_shaped_type;
    TensorType: visit_tensor_type, mutate_tensor_type;
    TileType: visit_tile_type, mutate_tile_type;
    ArrayType: visit_array_type, mutate_array_type;
    TupleType: visit_tuple_type, mutate_tuple_type;
    PtrType: visit_ptr_type, mutate_ptr_type;
    TensorView: visit_tensor_view, mutate_tensor_view;
    TileView: visit_tile_view, mutate_tile_view;
    Var: visit_var, mutate_var;
    IterArg: visit_iter_arg, mutate_iter_arg;
    MemRef: visit_mem_ref, mutate_mem_ref;
    ConstInt: visit_const_int, mutate_const_int;
    ConstFloat: visit_const_float, mutate_const_float;
    ConstBool: visit_const_bool, mutate_const_bool;
    Call: visit_call, mutate_call;
    MakeTuple: visit_make_tuple, mutate_make_tuple;
    TupleGetItemExpr: visit_tuple_get_item_expr, mutate_tuple_get_item_expr;
    BinaryExpr: visit_binary_expr, mutate_binary_expr;
    Add: visit_add, mutate_add;
    Sub: visit_sub, mutate_sub;
    Mul: visit_mul, mutate_mul;
    FloorDiv: visit_floor_div, mutate_floor_div;
    FloorMod: visit_floor_mod, mutate_floor_mod;
    FloatDiv: visit_float_div, mutate_float_div;
    Min: visit_min, mutate_min;
    Max: visit_max, mutate_max;
    Pow: visit_pow, mutate_pow;
    Eq: visit_eq, mutate_eq;
    Ne: visit_ne, mutate_ne;
    Lt: visit_lt, mutate_lt;
    Le: visit_le, mutate_le;
    Gt: visit_gt, mutate_gt;
    Ge: visit_ge, mutate_ge;
    And: visit_and, mutate_and;
    Or: visit_or, mutate_or;
    Xor: visit_xor, mutate_xor;
    BitAnd: visit_bit_and, mutate_bit_and;
    BitOr: visit_bit_or, mutate_bit_or;
    BitXor: visit_bit_xor, mutate_bit_xor;
    BitShiftLeft: visit_bit_shift_left, mutate_bit_shift_left;
    BitShiftRight: visit_bit_shift_right, mutate_bit_shift_right;
    UnaryExpr: visit_unary_expr, mutate_unary_expr;
    Abs: visit_abs, mutate_abs;
    Neg: visit_neg, mutate_neg;
    Not: visit_not, mutate_not;
    BitNot: visit_bit_not, mutate_bit_not;
    Cast: visit_cast, mutate_cast;
    Stmt: visit_stmt, mutate_stmt;
    AssignStmt: visit_assign_stmt, mutate_assign_stmt;
    IfStmt: visit_if_stmt, mutate_if_stmt;
    YieldStmt: visit_yield_stmt, mutate_yield_stmt;
    ReturnStmt: visit_return_stmt, mutate_return_stmt;
    ForStmt: visit_for_stmt, mutate_for_stmt;
    WhileStmt: visit_while_stmt, mutate_while_stmt;
    ScopeStmt: visit_scope_stmt, mutate_scope_stmt;
    InCoreScopeStmt: visit_in_core_scope_stmt, mutate_in_core_scope_stmt;
    ClusterScopeStmt: visit_cluster_scope_stmt, mutate_cluster_scope_stmt;
    HierarchyScopeStmt: visit_hierarchy_scope_stmt, mutate_hierarchy_scope_stmt;
    SpmdScopeStmt: visit_spmd_scope_stmt, mutate_spmd_scope_stmt;
    RuntimeScopeStmt: visit_runtime_scope_stmt, mutate_runtime_scope_stmt;
    SeqStmts: visit_seq_stmts, mutate_seq_stmts;
    EvalStmt: visit_eval_stmt, mutate_eval_stmt;
    BreakStmt: visit_break_stmt, mutate_break_stmt;
    ContinueStmt: visit_continue_stmt, mutate_continue_stmt;
    InlineStmt: visit_inline_stmt, mutate_inline_stmt;
    Function: visit_function, mutate_function;
    Program: visit_program, mutate_program;
}

impl Class {
    /// The class of a node, or the nearest one that it extends.
    fn of(node: &Ref<Obj>) -> Option<Class> {
        let mut info = Some(node.type_info());
        while let Some(found) = info {
            if let Some(class) = Class::at(found.index()) {
                return Some(class);
            }
            info = found.parent();
        }
        None
    }

    /// The class that a class extends.
    fn above<T: Node>() -> Option<Class> {
        Class::at(<T::Parent as Node>::type_index())
    }

    fn at(index: TypeIndex) -> Option<Class> {
        static TABLE: OnceLock<HashMap<u32, Class>> = OnceLock::new();
        let table = TABLE.get_or_init(|| {
            let entry = |class: &Class| (class.type_index().get(), *class);
            Class::ALL.iter().map(entry).collect()
        });
        table.get(&index.get()).copied()
    }
}
