//! Levels of equality: which differences of two models count.
//!
//! A level rewrites a program, and the results are then compared, hashed or diffed:
//! models that differ only in ignored details become equal. No level changes the
//! meaning of a program, but the result is for comparison, not for writing.
//!
//! Levels ignore declared shapes, operator set versions with the same meaning, and
//! written default values.
//!
//! | file | job |
//! |---|---|
//! | `defaults.rs` | values of omitted attributes |
//! | `types.rs` | declared types without shapes |

mod defaults;
mod types;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use isoform::traverse::{MapOptions, WalkOptions, WalkOrder, WalkResult};
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, Value, structural_equal};

pub(crate) use self::defaults::Defaults;
use self::defaults::{Spelled, known_schema};
use self::types::{is_undeclared, same, with_main_types, without_result_types, without_shape};
use crate::ir::{Call, Input, Program};
use crate::schema;

/// The ignored differences. By default every difference counts: programs are compared
/// unchanged.
///
/// ```
/// use isoform_onnx::ir::{Call, Graph, Input, Output, Program};
/// use isoform_onnx::levels::Levels;
/// # use isoform::{Array, Map, Ref, Str, Value, structural_equal};
/// # fn gemm(version: i64, attrs: Vec<(Str, Value)>) -> Ref<Program> {
/// #     let input = Ref::new(Input {
/// #         name: "x".into(), ty: Value::NONE, default: Value::NONE, graph: Str::default(),
/// #         in_function: false, position: 0, meta: None,
/// #     });
/// #     let call = Ref::new(Call {
/// #         domain: Str::default(), op: "Gemm".into(), version, callee: None,
/// #         attrs: attrs.into_iter().collect::<Map<Str, Value>>(),
/// #         inputs: Array::from(vec![Value::from(&input), Value::from(&input)]), outputs: 1,
/// #         name: Str::default(), op_name: "Gemm".into(), doc: Str::default(),
/// #         input_names: Array::new(), output_names: Array::new(), graph: Str::default(),
/// #         in_function: false, position: 0, depth: -1, meta: None,
/// #     });
/// #     let result = Value::from(Ref::new(Output { call, index: 0 }));
/// #     let graph = Ref::new(Graph {
/// #         params: Array::from(vec![input]), result_types: Array::from(vec![Value::NONE]),
/// #         results: Array::from(vec![result]), name: Str::default(), result_names: Array::new(),
/// #         doc: Str::default(), meta: None,
/// #     });
/// #     Ref::new(Program {
/// #         graph, io_names: Array::new(), ir_version: 8, producer: Str::default(), meta: None,
/// #     })
/// # }
///
/// // Gemm is the same in these operator sets, and alpha is 1 if it is not given.
/// let old = gemm(13, vec![("alpha".into(), 1.0.into())]);
/// let new = gemm(17, vec![]);
/// assert!(!structural_equal(&old, &new)?);
/// let (old, new) = Levels::ALL.apply_pair(&old, &new)?;
/// assert!(structural_equal(&old, &new)?);
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// Declared types are ignored as far as the computation determines them: shapes
    /// everywhere, and all types of inputs and results of bodies.
    ///
    /// The element types of the inputs and outputs of the main graph are still
    /// compared, with [`apply_pair`](Self::apply_pair) only if both models declare
    /// them. Types given as attributes belong to the computation, and stay.
    pub ignore_shapes: bool,
    /// Operator sets are equal where a call means the same in both: the version of the
    /// call becomes the newest version with the same meaning.
    ///
    /// A version has the same meaning if it only allows more types, or adds an
    /// attribute whose default is the old behaviour. An attribute that became an input
    /// also keeps its meaning, like the axes of reductions. The versions of operators
    /// outside of the standard's table, or of newer operator sets, stay unchanged.
    pub same_opset_meaning: bool,
    /// An attribute with the default of its operator or local function equals an
    /// omitted attribute.
    ///
    /// The defaults of strides, padding, dilations and the shape of the kernel of
    /// convolutions and pooling, and of the permutation of a Transpose, depend on shapes.
    /// They count where a kernel, weights or inferred shapes make them known; a
    /// comparison takes such an attribute as written if one of the programs has it where
    /// its default is unknown. Operators outside of the standard's table, or of newer
    /// operator sets, keep all attributes.
    pub defaults: bool,
}

impl Levels {
    /// No difference is ignored.
    pub const NONE: Levels = Levels {
        ignore_shapes: false,
        same_opset_meaning: false,
        defaults: false,
    };

    /// Operator sets are compared by meaning, and written defaults equal omitted
    /// defaults; shapes count.
    pub const MEANING: Levels = Levels {
        ignore_shapes: false,
        same_opset_meaning: true,
        defaults: true,
    };

    /// All differences are ignored that do not change the computation of a model.
    pub const ALL: Levels = Levels {
        ignore_shapes: true,
        same_opset_meaning: true,
        defaults: true,
    };

    /// The program without the ignored differences, or the same object if the program
    /// has no such differences. A second application changes nothing. O(n).
    ///
    /// # Errors
    ///
    /// `ValueError` for a program that contains itself.
    pub fn apply(self, program: &Ref<Program>) -> Result<Ref<Program>> {
        let defaults = Defaults::of(program);
        self.rewrite(
            program,
            &Interface::default(),
            &defaults,
            &Spelled::default(),
        )
    }

    /// [`apply`](Self::apply) to both programs of a comparison. An element type counts
    /// only if both programs declare it. O(n).
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    pub fn apply_pair(
        self,
        left: &Ref<Program>,
        right: &Ref<Program>,
    ) -> Result<(Ref<Program>, Ref<Program>)> {
        self.apply_pair_for(left, right, false)
    }

    /// [`apply_pair`](Self::apply_pair), for a comparison that may have a tolerance.
    pub(crate) fn apply_pair_for(
        self,
        left: &Ref<Program>,
        right: &Ref<Program>,
        has_tolerance: bool,
    ) -> Result<(Ref<Program>, Ref<Program>)> {
        let mut open = Interface::default();
        // Without different operator sets, attributes that later became inputs stay
        // attributes.
        let same_opset_meaning =
            self.same_opset_meaning && operator_sets(left)? != operator_sets(right)?;
        let levels = Levels {
            same_opset_meaning,
            ..self
        };
        for graph in [&left.graph, &right.graph] {
            let inputs = graph.params.iter().map(|param| &param.ty).enumerate();
            let results = graph.result_types.values().iter().enumerate();
            let positions = |types: &mut dyn Iterator<Item = (usize, &Value)>| -> Vec<usize> {
                let undeclared = types.filter(|(_, ty)| is_undeclared(ty));
                undeclared.map(|(position, _)| position).collect()
            };
            open.inputs.extend(positions(&mut { inputs }));
            open.results.extend(positions(&mut { results }));
        }
        let defaults = [left, right].map(|program| Defaults::of(program));
        let [of_left, of_right] = &defaults;
        let spelled = if self.defaults {
            Spelled::of([(left, of_left), (right, of_right)], has_tolerance)?
        } else {
            Spelled::default()
        };
        let rewrite = |program, defaults| levels.rewrite(program, &open, defaults, &spelled);
        Ok((rewrite(left, of_left)?, rewrite(right, of_right)?))
    }

    fn rewrite(
        self,
        program: &Ref<Program>,
        open: &Interface,
        defaults: &Defaults<'_>,
        spelled: &Spelled,
    ) -> Result<Ref<Program>> {
        if self == Levels::NONE {
            return Ok(program.clone());
        }
        let main: HashMap<u64, usize> = program
            .graph
            .params
            .iter()
            .enumerate()
            .map(|(position, input)| (input.identity(), position))
            .collect();
        // A variable is visited at its binding and at each use, and must become the
        // same variable.
        let inputs: RefCell<HashMap<u64, Value>> = RefCell::default();
        let (input, call) = (Input::type_index(), Call::type_index());
        // Shapes are known of the calls of the program, not of rewritten ones.
        let mapped = MapOptions::default().order(WalkOrder::Pre).map_selected(
            program,
            |ty| ty == Some(call) || ty == Some(input) && self.ignore_shapes,
            |visit| {
                let Some(object) = visit.object() else {
                    return Ok(None);
                };
                if let Some(call) = object.downcast_ref::<Call>() {
                    return self.call(call, defaults, spelled);
                }
                let Some(input) = object.downcast_ref::<Input>() else {
                    return Ok(None);
                };
                if let Some(copy) = inputs.borrow().get(&input.identity()) {
                    return Ok(Some(copy.clone()));
                }
                let ty = match main.get(&input.identity()) {
                    Some(position) if !open.inputs.contains(position) => without_shape(&input.ty),
                    _ => Value::NONE,
                };
                if same(&ty, &input.ty) {
                    return Ok(None);
                }
                let fields = input.clone_fields();
                let changed = Value::from(Ref::new(Input { ty, ..fields }));
                inputs
                    .borrow_mut()
                    .insert(input.identity(), changed.clone());
                Ok(Some(changed))
            },
        )?;
        let mapped = mapped.extract::<Ref<Program>>()?;
        Ok(if self.ignore_shapes {
            with_main_types(program, mapped, open)
        } else {
            mapped
        })
    }

    /// The canonical form of a call at these levels; None if the call is already canonical.
    fn call(
        self,
        call: &Ref<Call>,
        defaults: &Defaults<'_>,
        spelled: &Spelled,
    ) -> Result<Option<Value>> {
        let schema = known_schema(call);
        let meaning = schema
            .filter(|_| self.same_opset_meaning)
            .map(|schema| schema::meaning(call, schema));
        let newer = meaning.as_ref().map(|meaning| meaning.schema);
        let default = |name: &str| {
            let versions = schema.into_iter().chain(newer);
            defaults.value_by(call, name, versions)
        };
        let mut filled_in = spelled.names(call);
        let mut left_out = HashSet::new();
        let mut bodies = HashMap::new();
        for (name, value) in call.attrs.iter() {
            if let Some(body) = without_result_types(value).filter(|_| self.ignore_shapes) {
                bodies.insert(name.clone(), body);
            }
            if filled_in.remove(name.as_str()) || !self.defaults {
                continue;
            }
            if let Some(default) = default(name)
                && structural_equal(value, default)?
            {
                left_out.insert(name.clone());
            }
        }
        let filled_in = filled_in.into_iter();
        let filled_in = filled_in.filter_map(|name| Some((name.into(), default(name)?)));
        let filled_in: Vec<(Str, Value)> = filled_in.collect();
        let (mut version, mut inputs) = (call.version, None);
        if let Some(meaning) = meaning {
            version = meaning.schema.since;
            left_out.extend(meaning.left_out);
            inputs = meaning.inputs;
        }
        let changes = left_out.len() + filled_in.len() + bodies.len();
        if changes == 0 && version == call.version {
            return Ok(None);
        }
        let kept = call
            .attrs
            .iter()
            .filter(|(name, _)| !left_out.contains(*name));
        let attrs = kept
            .map(|(name, value)| {
                (
                    name.clone(),
                    bodies.remove(name).unwrap_or_else(|| value.clone()),
                )
            })
            .chain(filled_in)
            .collect::<Map<Str, Value>>();
        let fields = call.clone_fields();
        let changed = Ref::new(Call {
            version,
            attrs,
            inputs: inputs.map_or_else(|| call.inputs.clone(), Array::from),
            ..fields
        });
        Ok(Some(changed.into()))
    }
}

/// The operator sets of the calls in a program: domains and versions.
fn operator_sets(program: &Ref<Program>) -> Result<BTreeSet<(String, i64)>> {
    let calls = calls(program)?.into_iter();
    Ok(calls
        .map(|call| (call.domain.to_string(), call.version))
        .collect())
}

/// All calls in a program, functions and bodies included.
fn calls(program: &Ref<Program>) -> Result<Vec<Ref<Call>>> {
    let mut found = Vec::new();
    WalkOptions::default().walk_objects(program, |object: &Ref<Obj>, _| {
        found.extend(object.downcast_ref::<Call>().cloned());
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// Positions of the main graph's inputs and outputs whose element types are not compared.
#[derive(Default)]
struct Interface {
    inputs: HashSet<usize>,
    results: HashSet<usize>,
}
