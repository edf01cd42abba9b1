//! Repeated blocks of dataflow graphs.

use std::collections::HashSet;

use isoform::compare::{RepeatedBlock, repeated_blocks};
use isoform::values::Tensor;
use isoform::{Array, Node, Obj, Ref, Str, Value};
use isoform_testing::source::{scaled, split_mix};

/// An operation on results of others.
#[derive(Node)]
#[node(key = "test.blocks.Op", kind = dag)]
#[repr(C)]
pub(crate) struct Op {
    /// The name.
    pub name: Str,
    /// The operands.
    pub args: Array,
    /// A constant.
    pub weight: Value,
}

/// One of the results of an operation.
#[derive(Node)]
#[node(key = "test.blocks.Result")]
#[repr(C)]
pub(crate) struct Result_ {
    /// The operation.
    pub of: Ref<Op>,
    /// Which result.
    pub index: i64,
}

/// An input.
#[derive(Node)]
#[node(key = "test.blocks.Input", kind = var)]
#[repr(C)]
pub(crate) struct Input {
    /// The name.
    #[node(ignore)]
    pub name: Str,
}

/// A function.
#[derive(Node)]
#[node(key = "test.blocks.Fun", kind = dag, scope)]
#[repr(C)]
pub(crate) struct Fun {
    /// The parameters.
    #[node(def)]
    pub params: Array,
    /// The result.
    pub body: Value,
}

fn weight(fill: u8) -> Value {
    let tensor = Tensor::new("int8".parse().expect("a type"), vec![4], vec![fill; 4]);
    tensor.expect("fits").into()
}

fn op(name: &str, args: &[&Ref<Op>]) -> Ref<Op> {
    let args: Vec<Value> = args
        .iter()
        .map(|arg| Result_::new(*arg, 0).into())
        .collect();
    Op::new(name, args, Value::default())
}

fn weighted(name: &str, args: &[&Ref<Op>], fill: u8) -> Ref<Op> {
    let args: Vec<Value> = args
        .iter()
        .map(|arg| Result_::new(*arg, 0).into())
        .collect();
    Op::new(name, args, weight(fill))
}

fn blocks(value: &Ref<Op>, min_size: usize) -> Vec<RepeatedBlock> {
    repeated_blocks(&[value.into()], min_size, 2).expect("has blocks")
}

fn shape(blocks: &[RepeatedBlock]) -> Vec<(usize, usize)> {
    let shape = |block: &RepeatedBlock| (block.size(), block.places.len());
    blocks.iter().map(shape).collect()
}

fn name(object: &Ref<Obj>) -> &str {
    object
        .downcast_ref::<Op>()
        .expect("an operation")
        .name
        .as_str()
}

/// A layer with a residual connection, a shared mask and a weight of its own.
fn layer(input: &Ref<Op>, mask: &Ref<Op>, number: u8) -> Ref<Op> {
    let norm = op("Norm", &[input]);
    let query = weighted("MatMul", &[&norm], number);
    let key = weighted("MatMul", &[&norm], number + 1);
    let scores = op("Mul", &[&query, &key]);
    let masked = op("Add", &[&scores, mask]);
    op("Add", &[input, &masked])
}

/// The digest of the layers of a program with this many of them.
fn digest_of_layers(count: u8, layer: impl Fn(&Ref<Op>, &Ref<Op>, u8) -> Ref<Op>) -> String {
    let mask = op("Mask", &[]);
    let mut value = op("Norm", &[&mask]);
    for number in 0..count {
        value = layer(&value, &mask, number);
    }
    let blocks = blocks(&value, 4);
    assert_eq!(shape(&blocks), [(6, usize::from(count))]);
    blocks[0].digest.expect("has a digest").to_string()
}

#[test]
fn a_block_has_the_same_digest_in_every_program() {
    let digest = digest_of_layers(24, layer);
    assert_eq!(digest_of_layers(3, layer), digest);
    // The elements of weights do not count.
    let other_weights =
        |input: &Ref<Op>, mask: &Ref<Op>, number: u8| layer(input, mask, number + 9);
    assert_eq!(digest_of_layers(3, other_weights), digest);
    // The same in every process and on every machine.
    assert_eq!(
        digest,
        "c61f484c4a4b9fb7e7293627b95ed39b5705393123d8f9ed7a60b758d4e2037e"
    );
}

#[test]
fn other_blocks_have_other_digests() {
    let mut digests = vec![digest_of_layers(3, layer)];
    // Another operator.
    digests.push(digest_of_layers(3, |input, mask, number| {
        let norm = op("Norm", &[input]);
        let query = weighted("MatMul", &[&norm], number);
        let key = weighted("MatMul", &[&norm], number + 1);
        let scores = op("Div", &[&query, &key]);
        let masked = op("Add", &[&scores, mask]);
        op("Add", &[input, &masked])
    }));
    // Another operand, inside of the block and from outside.
    digests.push(digest_of_layers(3, |input, mask, number| {
        let norm = op("Norm", &[input]);
        let query = weighted("MatMul", &[&norm], number);
        let key = weighted("MatMul", &[&query], number + 1);
        let scores = op("Mul", &[&query, &key]);
        let masked = op("Add", &[&scores, mask]);
        op("Add", &[input, &masked])
    }));
    digests.push(digest_of_layers(3, |input, mask, number| {
        let norm = op("Norm", &[input]);
        let query = weighted("MatMul", &[&norm], number);
        let key = weighted("MatMul", &[&norm], number + 1);
        let scores = op("Mul", &[&query, &key]);
        let masked = op("Add", &[&scores, mask]);
        op("Add", &[&norm, &masked])
    }));
    // The same operands in another order.
    digests.push(digest_of_layers(3, |input, mask, number| {
        let norm = op("Norm", &[input]);
        let query = weighted("MatMul", &[&norm], number);
        let key = weighted("MatMul", &[&norm], number + 1);
        let scores = op("Mul", &[&query, &key]);
        let masked = op("Add", &[mask, &scores]);
        op("Add", &[input, &masked])
    }));
    let distinct: HashSet<&String> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len(), "{digests:?}");
}

#[test]
fn the_layers_of_a_transformer() {
    let input = op("Embed", &[]);
    let mask = op("Mask", &[&input]);
    let mut value = op("Norm", &[&mask]);
    for number in 0..24 {
        value = layer(&value, &mask, number);
    }
    let value = op("Softmax", &[&value]);
    let found = blocks(&value, 2);
    assert_eq!(shape(&found), [(6, 24)]);
    assert_eq!(found[0].saved(), 5 * 23);
    let names: Vec<&str> = found[0].places[23].1.iter().map(name).collect();
    assert_eq!(names, ["Norm", "MatMul", "MatMul", "Mul", "Add", "Add"]);
}

#[test]
fn copies_are_wired_alike() {
    let pair = |swapped: bool, input: &Ref<Op>| {
        let first = op("One", &[input]);
        let second = op("Two", &[&first]);
        if swapped {
            op("Sub", &[&second, &first])
        } else {
            op("Sub", &[&first, &second])
        }
    };
    // The order is the same, since the last node reaches `One` through `Two`.
    let program = |ways: &[bool]| {
        let mut value = op("In", &[]);
        for (number, &swapped) in ways.iter().enumerate() {
            value = op(&format!("Glue{number}"), &[&pair(swapped, &value)]);
        }
        value
    };
    assert_eq!(shape(&blocks(&program(&[false, false]), 3)), [(3, 2)]);
    assert_eq!(shape(&blocks(&program(&[false, true]), 3)), []);
    let mixed = program(&[false, true, true, false, true]);
    assert_eq!(shape(&blocks(&mixed, 3)), [(3, 3), (3, 2)]);
}

#[test]
fn what_enters_a_block_may_differ() {
    let (left, right) = (op("Left", &[]), op("Right", &[]));
    let part = |one: &Ref<Op>, two: &Ref<Op>| op("Out", &[&op("Sum", &[one, two])]);
    let value = op("End", &[&part(&left, &right), &part(&right, &right)]);
    assert_eq!(shape(&blocks(&value, 2)), [(2, 2)]);
}

#[test]
fn operators_shapes_and_results_matter() {
    let input = op("In", &[]);
    let with = |weight: Value, index: i64| {
        let arg = Value::from(Result_::new(&input, index));
        let first = Op::new("First", vec![arg], weight);
        op("Second", &[&first])
    };
    let both = |one: Ref<Op>, other: Ref<Op>| shape(&blocks(&op("End", &[&one, &other]), 2));
    assert_eq!(both(with(weight(1), 0), with(weight(2), 0)), [(2, 2)]);
    assert_eq!(both(with(weight(1), 0), with(weight(2), 1)), []);
    assert_eq!(both(with(weight(1), 0), with(Value::default(), 0)), []);
    let long = Tensor::new("int8".parse().expect("a type"), vec![5], vec![1; 5]);
    assert_eq!(
        both(with(weight(1), 0), with(long.expect("fits").into(), 0)),
        []
    );
}

#[test]
fn several_programs_and_functions() {
    let function = |names: [&str; 2]| {
        let x = Input::new(names[0]);
        let first = Op::new("One", vec![Value::from(&x)], Value::default());
        let second = op(names[1], &[&first]);
        let third = Op::new(
            "Three",
            vec![Value::from(second), Value::from(&x)],
            Value::default(),
        );
        Value::from(Fun::new(vec![Value::from(&x)], third))
    };
    let programs = [
        function(["x", "Two"]),
        function(["y", "Two"]),
        function(["z", "Other"]),
    ];
    let repeats = repeated_blocks(&programs, 2, 2).expect("has blocks");
    assert_eq!(shape(&repeats), [(4, 2)]);
    let values: Vec<usize> = repeats[0].places.iter().map(|place| place.0).collect();
    assert_eq!(values, [0, 1]);
    // A use of the parameter of the wrong function is not a copy.
    let (x, y) = (Input::new("x"), Input::new("y"));
    let inner = |used: &Ref<Input>| {
        let first = Op::new("One", vec![Value::from(used)], Value::default());
        Fun::new(vec![Value::from(&y)], op("Two", &[&first]))
    };
    let both = vec![Value::from(inner(&x)), Value::from(inner(&y))];
    let both = Value::from(Fun::new(vec![Value::from(&x)], both));
    assert_eq!(
        shape(&repeated_blocks(&[both], 3, 2).expect("has blocks")),
        []
    );
}

#[test]
fn a_value_bound_to_a_variable_is_that_value() {
    use isoform_ir::ir::OpRegistry;
    use isoform_relay::{AsExpr, Call, Let, Var};

    isoform_relay::register().expect("registers");
    let op = |name: &str| {
        let key = format!("test.blocks.{name}");
        OpRegistry::get_or_register(&key)
            .expect("an operator")
            .op()
            .clone()
    };
    let (add, neg) = (op("add"), op("neg"));
    let chain = |swapped: bool| {
        let x = Var::new("x");
        let mut bound: Vec<(Ref<Var>, isoform::Ref<isoform_ir::ir::RelayExpr>)> = Vec::new();
        let mut last = x.clone();
        for copy in 0..2 {
            let (first, second, third) = (Var::new("a"), Var::new("b"), Var::new("c"));
            bound.push((first.clone(), Call::new(&neg, [last.expr()]).expr()));
            bound.push((second.clone(), Call::new(&neg, [first.expr()]).expr()));
            let order = if swapped && copy == 1 {
                [second.expr(), first.expr()]
            } else {
                [first.expr(), second.expr()]
            };
            bound.push((third.clone(), Call::new(&add, order).expr()));
            last = third;
        }
        let body = bound
            .into_iter()
            .rev()
            .fold(last.expr(), |body, (var, value)| {
                Let::new(var, value, body).expr()
            });
        Value::from(body)
    };
    assert_eq!(
        shape(&repeated_blocks(&[chain(false)], 3, 2).expect("has blocks")),
        [(3, 2)]
    );
    assert_eq!(
        shape(&repeated_blocks(&[chain(true)], 3, 2).expect("has blocks")),
        []
    );
}

#[test]
fn small_and_rare_blocks_are_left_out() {
    let mut value = op("In", &[]);
    for _ in 0..100 {
        value = op("Relu", &[&value]);
    }
    assert_eq!(shape(&blocks(&value, 1)), [(1, 100)]);
    assert_eq!(shape(&blocks(&value, 4)), [(5, 20)]);
    assert_eq!(
        repeated_blocks(&[(&value).into()], 4, 26)
            .expect("runs")
            .len(),
        0
    );
    assert!(repeated_blocks(&[], 4, 2).expect("runs").is_empty());
    assert!(
        repeated_blocks(&[Value::from(1)], 0, 0)
            .expect("runs")
            .is_empty()
    );
}

#[test]
fn long_programs_take_bounded_work() {
    let mut chain = op("In", &[]);
    let mut varied = op("In", &[]);
    let mut state = 9;
    let levels = scaled(100_000).max(20_000);
    for number in 0..levels {
        chain = op("Relu", &[&chain]);
        varied = op(
            ["A", "B", "C"][split_mix(&mut state) as usize % 3],
            &[&varied],
        );
        if number % 10 == 9 {
            varied = op("Layer", &[&varied]);
        }
    }
    let repeats = blocks(&chain, 4);
    assert_eq!(repeats.len(), 1);
    assert!(repeats[0].size() * repeats[0].places.len() > levels - 100);
    let repeats = blocks(&varied, 4);
    assert!(!repeats.is_empty());
    check(&repeats, 4, 2);
    // Parts shared many times do not multiply the edges.
    let mut shared = Value::from(vec![Value::from(op("In", &[]))]);
    for _ in 0..60 {
        shared = vec![shared.clone(), shared].into();
    }
    let value = Op::new("End", vec![shared], Value::default());
    assert!(blocks(&value, 2).is_empty());
}

/// Checks that copies correspond by the definition, and do not overlap.
fn check(repeats: &[RepeatedBlock], min_size: usize, min_count: usize) {
    let mut seen = std::collections::HashSet::new();
    for block in repeats {
        assert!(block.size() >= min_size && block.places.len() >= min_count);
        let (_, first) = &block.places[0];
        for (_, copy) in &block.places {
            assert_eq!(copy.len(), block.size());
            let position = |nodes: &[Ref<Obj>], node: &Ref<Op>| {
                nodes
                    .iter()
                    .position(|candidate| candidate.identity() == node.identity())
            };
            for (node, partner) in first.iter().zip(copy) {
                assert!(seen.insert(partner.identity()) || node.identity() == partner.identity());
                let [node, partner] =
                    [node, partner].map(|node| node.downcast_ref::<Op>().expect("one"));
                assert_eq!(node.name, partner.name);
                assert_eq!(node.weight.is_none(), partner.weight.is_none());
                assert_eq!(node.args.len(), partner.args.len());
                for (argument, other_argument) in
                    node.args.values().iter().zip(partner.args.values())
                {
                    let [argument, other_argument] = [argument, other_argument].map(|arg| {
                        arg.as_object()
                            .and_then(|arg| arg.downcast_ref::<Result_>())
                            .expect("one")
                    });
                    assert_eq!(argument.index, other_argument.index);
                    assert_eq!(
                        position(first, &argument.of),
                        position(copy, &other_argument.of)
                    );
                }
            }
        }
    }
}

/// For each node: name, operands in the block, and operands from outside.
type Template = Vec<(u64, Vec<usize>, Vec<usize>)>;

#[test]
fn planted_copies_are_found() {
    let mut state = 21;
    let mut next = |limit: usize| split_mix(&mut state) as usize % limit;
    let (mut planted, mut covered) = (0, 0);
    for case in 0..400 {
        let letters = [4, 12, 1000][case % 3];
        let templates: Vec<Template> = (0..1 + next(2))
            .map(|_| {
                let size = 4 + next(20);
                let node = |number: usize, next: &mut dyn FnMut(usize) -> usize| {
                    let inside = (0..next(3)).map(|_| next(number.max(1)));
                    let inside = inside.filter(|_| number > 0).collect();
                    let outside = (0..next(2)).map(|_| next(3)).collect();
                    (next(letters) as u64, inside, outside)
                };
                (0..size).map(|number| node(number, &mut next)).collect()
            })
            .collect();
        let inputs = ["A", "B", "C"].map(|name| op(name, &[]));
        let mut value = op("In", &[&inputs[0], &inputs[1], &inputs[2]]);
        let copies: Vec<usize> = templates.iter().map(|_| 2 + next(10)).collect();
        let mut plan: Vec<usize> = copies
            .iter()
            .enumerate()
            .flat_map(|(which, count)| vec![which; *count])
            .collect();
        for left in (1..plan.len()).rev() {
            plan.swap(left, next(left + 1));
        }
        for (place, which) in plan.iter().enumerate() {
            for glue in 0..next(3) {
                value = op(&format!("glue{place}.{glue}"), &[&value]);
            }
            let mut nodes: Vec<Ref<Op>> = Vec::new();
            for (letter, inside, outside) in &templates[*which] {
                // The first operand makes the visit reach the nodes one after another.
                let mut args = vec![nodes.last().unwrap_or(&value)];
                args.extend(inside.iter().map(|&node| &nodes[node]));
                args.extend(outside.iter().map(|&input| &inputs[input]));
                nodes.push(op(&letter.to_string(), &args));
            }
            value = nodes.pop().expect("a node");
        }
        let repeats = blocks(&value, 4);
        check(&repeats, 4, 2);
        let each = templates.iter().zip(&copies);
        planted += each
            .map(|(template, count)| template.len() * (count - 1))
            .sum::<usize>();
        let each = repeats
            .iter()
            .map(|block| block.size() * (block.places.len() - 1));
        covered += each.sum::<usize>();
    }
    assert!(covered * 100 >= planted * 98, "{covered} of {planted}");
}
