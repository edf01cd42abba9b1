//! Names and documentation of a merged model.
//!
//! Comparison ignores names, so a merge by itself would keep the names of the base where the
//! base stays, and lose what one side has renamed. Here the nodes of the merged program
//! are paired with those of all three programs, and each name is merged by itself: a side
//! that changed a name wins, and the left side wins where both changed it.

use std::collections::{HashMap, HashSet};

use isoform::compare::DiffOptions;
use isoform::traverse::{MapOptions, WalkOrder};
use isoform::values::ValueRef;
use isoform::{Array, Node, Obj, Ref, Result, Str, Value, structural_equal};
use isoform_onnx::NodeOrigin;
use isoform_onnx::ir::{Call, Dim, Function, Graph, Input, Program};
use isoform_onnx::layout::{attributes, holds_graphs, list};

use super::dims::dim_names;
use super::picks::{Picks, Versions, each};
use super::ports::Restored;

/// A graph or function, whether it is a function, and the name of a node in it.
type NodeName = (Str, bool, Str);

/// A merged program with merged names.
pub(super) struct Named {
    pub(super) program: Ref<Program>,
    /// The number of names and descriptions that both sides changed in different ways.
    pub(super) clashes: usize,
    /// Remarks on names that are in no version.
    pub(super) notes: Vec<String>,
    /// An attribute that both sides changed in different ways, although no element of its
    /// list conflicts: a list like the padding of a convolution counts as a whole.
    pub(super) overlap: Option<String>,
}

/// The merged model with the names of the base, left and right programs. As three
/// differences with the merged program, and O(n).
///
/// # Errors
///
/// As [`DiffOptions::diff`].
pub(super) fn named(restored: &Restored, versions: [&Ref<Program>; 3]) -> Result<Named> {
    let merged = &restored.program;
    let mut picks = Picks::default();
    let (dims, notes) = dim_names(&restored.types, &mut picks)?;
    let mut names = Names {
        main: merged.graph.identity(),
        programs: versions.map(Clone::clone),
        calls: HashMap::new(),
        functions: HashMap::new(),
        inputs: HashMap::new(),
        results: merged.io_names.get(1).cloned(),
        done: HashMap::new(),
        dims,
        picks,
        overlap: None,
        taken: HashSet::new(),
        shared: versions.into_iter().flat_map(shared_names).collect(),
        numbers: HashMap::new(),
    };
    for (number, program) in versions.iter().enumerate() {
        names.pair(number, program, merged)?;
    }
    names.name_inputs(merged);
    let wanted = [
        Program::type_index(),
        Graph::type_index(),
        Function::type_index(),
        Input::type_index(),
        Call::type_index(),
        Dim::type_index(),
    ];
    let program = MapOptions::default().order(WalkOrder::Pre).map_selected(
        merged,
        |ty| ty.is_some_and(|ty| wanted.contains(&ty)),
        |visit| Ok(visit.object().and_then(|object| names.part(object))),
    )?;
    Ok(Named {
        program: program.extract()?,
        clashes: names.picks.clashes,
        notes,
        overlap: names.overlap,
    })
}

struct Names {
    /// The identity of the main graph.
    main: u64,
    programs: [Ref<Program>; 3],
    /// The versions of each node of the merged program, by identity.
    calls: HashMap<u64, Versions<Ref<Call>>>,
    functions: HashMap<u64, Versions<Ref<Function>>>,
    /// The names of the main graph's inputs.
    inputs: HashMap<u64, Str>,
    /// The names of symbolic dimensions.
    dims: HashMap<u64, Str>,
    /// The names of the main graph's results.
    results: Option<Array<Str>>,
    /// A part is visited once for each kind of its uses, and has to stay one part.
    done: HashMap<u64, Option<Value>>,
    picks: Picks,
    overlap: Option<String>,
    /// The names of nodes so far.
    taken: HashSet<NodeName>,
    /// The names that several nodes of one version have.
    shared: HashSet<NodeName>,
    /// The last number that made a name unique.
    numbers: HashMap<NodeName, usize>,
}

impl Names {
    /// Pairs the nodes of a version with the nodes of the merged program.
    fn pair(&mut self, number: usize, program: &Ref<Program>, merged: &Ref<Program>) -> Result<()> {
        let difference = DiffOptions::default().diff(program, merged)?;
        let pairs: Vec<_> = if difference.is_empty() {
            let calls = [program, merged].map(|program| {
                let bodies = list(program).bodies.into_iter();
                bodies
                    .flat_map(|body| body.nodes)
                    .map(|node| node.call)
                    .collect::<Vec<_>>()
            });
            let [version, merged] = calls;
            version.into_iter().zip(merged).collect()
        } else {
            let call = |value: &Value| value.peek::<Ref<Call>>().cloned();
            let pairs = difference.node_pairs();
            pairs
                .filter_map(|(version, merged)| Some((call(&version)?, call(&merged)?)))
                .collect()
        };
        for (version, merged) in pairs {
            if let (Some(function), Some(callee)) = (&version.callee, &merged.callee) {
                let versions = self.functions.entry(callee.identity()).or_default();
                versions[number] = Some(function.clone());
            }
            self.calls.entry(merged.identity()).or_default()[number] = Some(version);
        }
        Ok(())
    }

    /// The names under which callers feed the model, which were merged as part of the
    /// program.
    fn name_inputs(&mut self, merged: &Ref<Program>) {
        let names = merged.io_names.get(0);
        let pairs = merged
            .graph
            .params
            .iter()
            .zip(names.iter().flat_map(|names| names.iter()));
        self.inputs = pairs
            .map(|(input, name)| (input.identity(), name.clone()))
            .collect();
    }

    /// The part with merged names; None if it has them.
    fn part(&mut self, object: &Ref<Obj>) -> Option<Value> {
        if let Some(done) = self.done.get(&object.identity()) {
            return done.clone();
        }
        let part = if let Some(call) = object.downcast_ref::<Call>() {
            self.call(call)
        } else if let Some(input) = object.downcast_ref::<Input>() {
            self.input(input)
        } else if let Some(dim) = object.downcast_ref::<Dim>() {
            let name = self
                .dims
                .get(&dim.identity())
                .filter(|name| **name != dim.name);
            name.map(|name| Value::from(Ref::new(Dim { name: name.clone() })))
        } else if let Some(graph) = object.downcast_ref::<Graph>() {
            self.graph(graph)
        } else if let Some(function) = object.downcast_ref::<Function>() {
            self.function(function)
        } else {
            object
                .downcast_ref::<Program>()
                .map(|program| self.program(program))
        };
        self.done.insert(object.identity(), part.clone());
        part
    }

    fn call(&mut self, call: &Ref<Call>) -> Option<Value> {
        let versions = self.calls.remove(&call.identity())?;
        if self.overlap.is_none() {
            self.overlap = overlap(&versions);
        }
        let fields = call.clone_fields();
        let of = |field: fn(&Call) -> &Str| each(&versions, |call| field(call).clone());
        // The names of inputs follow from the nodes that compute them, apart from constants.
        let clashes = self.picks.clashes;
        let input_names = self.picks.all(
            &call.input_names,
            each(&versions, |c| c.input_names.clone()),
        );
        self.picks.clashes = clashes;
        let name = self.picks.pick(&call.name, of(|call| &call.name));
        Some(Value::from(Ref::new(Call {
            name: self.unique(call, name),
            doc: self.picks.pick(&call.doc, of(|call| &call.doc)),
            meta: self
                .picks
                .node(&call.meta, each(&versions, |call| call.meta.clone())),
            input_names,
            output_names: self.picks.all(
                &call.output_names,
                each(&versions, |call| call.output_names.clone()),
            ),
            ..fields
        })))
    }

    /// A name that no other node of the same list of nodes has, which runtimes require. Both
    /// sides may have given one number to different nodes. Names that nodes of a version
    /// share stay. O(1) on average.
    fn unique(&mut self, call: &Call, name: Str) -> Str {
        let key = |name: Str| (call.graph.clone(), call.in_function, name);
        if name.is_empty() || self.shared.contains(&key(name.clone())) {
            return name;
        }
        let mut unique = name.clone();
        while !self.taken.insert(key(unique.clone())) {
            let number = self.numbers.entry(key(name.clone())).or_default();
            *number += 1;
            unique = format!("{name}_{number}").into();
        }
        unique
    }

    fn input(&mut self, input: &Ref<Input>) -> Option<Value> {
        let name = self.inputs.get(&input.identity())?.clone();
        let fields = input.clone_fields();
        Some(Value::from(Ref::new(Input { name, ..fields })))
    }

    fn graph(&mut self, graph: &Ref<Graph>) -> Option<Value> {
        if graph.identity() != self.main {
            return None;
        }
        let versions = self
            .programs
            .each_ref()
            .map(|program| Some(program.graph.clone()));
        let of = |field: fn(&Graph) -> &Str| each(&versions, |graph| field(graph).clone());
        let fields = graph.clone_fields();
        let meta = self
            .picks
            .graph(&graph.meta, each(&versions, |graph| graph.meta.clone()));
        let results = self.result_names(graph);
        Some(Value::from(Ref::new(Graph {
            name: self.picks.pick(&graph.name, of(|graph| &graph.name)),
            doc: self.picks.pick(&graph.doc, of(|graph| &graph.doc)),
            meta,
            result_names: results,
            ..fields
        })))
    }

    /// The names of the main graph's results.
    fn result_names(&self, graph: &Graph) -> Array<Str> {
        match &self.results {
            Some(names) if names.len() == graph.results.len() => names.clone(),
            _ => graph.result_names.clone(),
        }
    }

    fn function(&mut self, function: &Ref<Function>) -> Option<Value> {
        let versions = self.functions.remove(&function.identity())?;
        let of = |field: fn(&Function) -> &Str| each(&versions, |one| field(one).clone());
        let fields = function.clone_fields();
        let results = each(&versions, |one| one.result_names.clone());
        Some(Value::from(Ref::new(Function {
            name: self
                .picks
                .pick(&function.name, of(|function| &function.name)),
            doc: self.picks.pick(&function.doc, of(|function| &function.doc)),
            meta: self
                .picks
                .bytes(&function.meta, each(&versions, |one| one.meta.clone())),
            result_names: self.picks.all(&function.result_names, results),
            ..fields
        })))
    }

    fn program(&mut self, program: &Ref<Program>) -> Value {
        let versions = self.programs.clone().map(Some);
        let fields = program.clone_fields();
        let metas = each(&versions, |program| program.meta.clone());
        let (meta, clash) = self.picks.model(&program.meta, metas);
        if let Some(clash) = clash {
            let reason = format!("both sides changed {clash} of the model in different ways");
            self.overlap.get_or_insert(reason);
        }
        Value::from(Ref::new(Program {
            ir_version: self.picks.pick(
                &program.ir_version,
                each(&versions, |program| program.ir_version),
            ),
            producer: self.picks.pick(
                &program.producer,
                each(&versions, |program| program.producer.clone()),
            ),
            meta,
            ..fields
        }))
    }
}

/// The names that several nodes of a program have.
fn shared_names(program: &Ref<Program>) -> Vec<NodeName> {
    let mut names = HashSet::new();
    let bodies = list(program).bodies.into_iter();
    let calls = bodies.flat_map(|body| body.nodes).map(|node| node.call);
    let names_of = calls.map(|call| (call.graph.clone(), call.in_function, call.name.clone()));
    names_of
        .filter(|name| !names.insert(name.clone()))
        .collect()
}

/// The words for an attribute that both sides changed in different ways.
fn overlap([base, left, right]: &Versions<Ref<Call>>) -> Option<String> {
    let (base, left, right) = (base.as_ref()?, left.as_ref()?, right.as_ref()?);
    let value = |call: &Ref<Call>, name: &str| {
        let all = attributes(call);
        let attribute = all.into_iter().find(|(known, _)| *known == name);
        attribute.map(|(_, value)| value.clone())
    };
    let differ = |one: &Option<Value>, other: &Option<Value>| match (one, other) {
        (Some(one), Some(other)) => structural_equal(one, other).is_ok_and(|equal| !equal),
        (one, other) => one.is_some() != other.is_some(),
    };
    let mut lists = attributes(base).into_iter();
    lists.find_map(|(name, before)| {
        let is_list = matches!(before.view(), ValueRef::Array(_)) && !holds_graphs(before);
        let before = Some(before.clone()).filter(|_| is_list)?;
        let (left, right) = (value(left, name), value(right, name));
        let before = Some(before);
        let is_overlap = differ(&before, &left) && differ(&before, &right) && differ(&left, &right);
        is_overlap.then(|| {
            let node = NodeOrigin::of_part(&Value::from(base));
            let node = node.map_or_else(String::new, |node| node.to_string());
            format!("both sides changed attribute '{name}' of {node} in different ways")
        })
    })
}
