//! A kept result in another program: it equals the result of the pass, or the pass
//! computes the result.

use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use isoform::files::{from_bytes, to_bytes};
use isoform::functions::Function;
use isoform::types::register_singleton;
use isoform::values::{Bytes, List, Shape};
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, Value};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule};
use isoform_ir::transform::{
    Cache, ContextOptions, FunctionPass, Memo, MemoryCache, PassContext, ResultCache, Root,
    Signature,
};

use crate::transform::program::{Fun, info, module};

/// A variable with a name for people.
#[derive(Node)]
#[node(key = "memo_hits.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
}

/// A place in a text.
#[derive(Node)]
#[node(key = "memo_hits.Place")]
#[repr(C)]
struct Place {
    line: Value,
}

/// A mark; marks with the same name are the same object.
#[derive(Node)]
#[node(key = "memo_hits.Mark", kind = singleton)]
#[repr(C)]
struct Mark {
    name: Str,
}

/// The mark with a name, found again by files.
fn mark(name: &str) -> Value {
    static MARKS: Mutex<Vec<(String, Ref<Mark>)>> = Mutex::new(Vec::new());
    let mut marks = MARKS.lock().unwrap();
    if let Some((_, known)) = marks.iter().find(|(known, _)| known == name) {
        return known.into();
    }
    let made = Mark::new(name);
    register_singleton(&made).unwrap();
    marks.push((name.to_owned(), made.clone()));
    (&made).into()
}

/// An operation, with its place.
#[derive(Node)]
#[node(key = "memo_hits.Op")]
#[repr(C)]
struct Op {
    number: i64,
    argument: Value,
    #[node(ignore)]
    place: Value,
}

/// A function of parameters.
#[derive(Node)]
#[node(key = "memo_hits.Body", scope)]
#[repr(C)]
struct Body {
    #[node(def)]
    params: Array<Ref<Var>>,
    items: Array<Value>,
}

/// A function whose operations can change.
#[derive(Node)]
#[node(key = "memo_hits.Changing")]
#[repr(C)]
struct Changing {
    items: List<Value>,
    number: i64,
}

/// A program that does not declare the callees of the functions.
#[derive(Node)]
#[node(key = "memo_hits.Program", attrs(dyn Root))]
#[repr(C)]
struct Program {
    names: Array<Value>,
    functions: Array<Ref<Op>>,
}

impl Root for Program {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let functions = self.functions.iter().enumerate();
        Ok(functions
            .map(|(at, function)| (at.to_string().into(), function.as_object().clone()))
            .collect())
    }

    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let mut functions: Vec<Ref<Op>> = self.functions.iter().cloned().collect();
        for (name, function) in changed {
            functions[name.parse::<usize>().unwrap()] = function.cast()?;
        }
        Ok(Program::new(self.names.clone(), Array::from(functions)).into_object())
    }
}

fn op(number: i64, argument: impl Into<Value>, place: impl Into<Value>) -> Ref<Op> {
    Op::new(number, argument, place)
}

fn line(number: i64) -> Value {
    (&Place::new(number)).into()
}

fn body(items: impl IntoIterator<Item = Ref<Op>>) -> Ref<Body> {
    let items: Vec<Value> = items.into_iter().map(|item| (&item).into()).collect();
    Body::new(Array::<Ref<Var>>::new(), Array::from(items))
}

fn ops(body: &Ref<Body>) -> Vec<Ref<Op>> {
    let items = body.items.iter();
    items.map(|item| item.extract().unwrap()).collect()
}

/// A memoised pass with the number of its runs.
fn pass<F: Node, R: Node>(
    ignores: bool,
    change: impl Fn(Ref<F>, &Ref<R>) -> Result<Ref<F>> + Send + Sync + 'static,
) -> (Ref<FunctionPass>, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let pass = FunctionPass::new(
        &info("P"),
        move |function: Ref<F>, root: &Ref<R>, _: &Ref<PassContext>| {
            counted.fetch_add(1, Ordering::Relaxed);
            change(function, root)
        },
    );
    let mut memo = Memo::new("1").with_ignores(ignores);
    if R::TYPE_KEY != Obj::TYPE_KEY {
        // The pass reads the called functions, and nothing else of the program.
        memo = memo.with_reads(Function::new(|_| Ok(Value::NONE)));
    }
    (pass.with_memo(memo), runs)
}

fn within<T: Node>(cache: &Ref<Cache>, pass: &Ref<FunctionPass>, root: &Ref<T>) -> Ref<T> {
    let context = ContextOptions::default().cache(cache).make().unwrap();
    context.within(|| pass.run(root)).unwrap()
}

fn cache() -> Ref<Cache> {
    Cache::of(MemoryCache::new(1 << 20))
}

/// The text of everything observable about a value: names, places, and used variables.
/// Two equal trees are the same as one tree at two places.
fn looks(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return format!("{value:?}");
    };
    if let Some(var) = object.downcast_ref::<Var>() {
        return format!("{}#{}", var.name, var.identity());
    }
    if let Some(place) = object.downcast_ref::<Place>() {
        return format!("Place({})", looks(&place.line));
    }
    if let Some(op) = object.downcast_ref::<Op>() {
        let [argument, place] = [&op.argument, &op.place].map(looks);
        return format!("Op({}, {argument}, {place})", op.number);
    }
    if let Some(body) = object.downcast_ref::<Body>() {
        let params = body.params.iter().map(|param| looks(&param.into()));
        let params: Vec<_> = params.collect();
        let items: Vec<_> = body.items.iter().map(looks).collect();
        return format!("Body({params:?}, {items:?})");
    }
    if object.isa::<Mark>() {
        return format!("Mark#{}", object.identity());
    }
    let ty = object.type_info().key();
    let items: Vec<Value> = if let Ok(items) = value.extract::<Array<Value>>() {
        items.iter().cloned().collect()
    } else if let Ok(items) = value.extract::<List<Value>>() {
        items.snapshot().iter().cloned().collect()
    } else if let Ok(entries) = value.extract::<Map<Value, Value>>() {
        entries
            .iter()
            .flat_map(|(key, value)| [key.clone(), value.clone()])
            .collect()
    } else {
        return format!("{value:?}");
    };
    format!("{ty}{:?}", items.iter().map(looks).collect::<Vec<_>>())
}

/// Runs a pass on one function and then on another function equal to the first: with or
/// without a hit, the result is the same as without a cache. Returns the result, and
/// whether it was a hit.
fn second(
    first: &Ref<Body>,
    second: &Ref<Body>,
    change: impl Fn(Ref<Body>) -> Ref<Body> + Send + Sync + 'static,
) -> (Ref<Body>, bool) {
    assert!(isoform::structural_equal(first, second).unwrap());
    let (pass, runs) = pass(true, move |body: Ref<Body>, _: &Ref<Obj>| Ok(change(body)));
    let cache = cache();
    within(&cache, &pass, first);
    let done = within(&cache, &pass, second);
    let is_hit = runs.load(Ordering::Relaxed) == 1;
    let computed = pass.with_memo(None).run(second).unwrap();
    assert_eq!(looks(&(&done).into()), looks(&(&computed).into()));
    (done, is_hit)
}

/// Adds one to the numbers, with new operations in the old places.
fn increased(body: Ref<Body>) -> Ref<Body> {
    let ops = ops(&body);
    let items = ops
        .iter()
        .map(|one| (&op(one.number + 1, one.argument.clone(), one.place.clone())).into());
    body.with_items(Array::from(items.collect::<Vec<Value>>()))
}

#[test]
fn a_hit_with_the_same_names_in_another_order_keeps_its_variables() {
    for notes in [["n1", "n2"], ["n1", "n1"]] {
        let make = |names: [&str; 2], note: &str| {
            let params = names.map(Var::new);
            let inner = op(1, &params[0], note);
            let body = body([op(2, &inner, note)]);
            body.with_params(Array::from(params.to_vec()))
        };
        let first = make(["x", "y"], notes[0]);
        let other = make(["y", "x"], notes[1]);
        let (done, is_hit) = second(&first, &other, |body| {
            let ops = ops(&body);
            let new = op(3, ops[0].argument.clone(), ops[0].place.clone());
            body.with_items(Array::from(vec![Value::from(&new)]))
        });
        assert!(is_hit);
        let inner: Ref<Op> = ops(&done)[0].argument.extract().unwrap();
        let used: Ref<Var> = inner.argument.extract().unwrap();
        assert!(done.params.get(0).unwrap().same_as(&used));
    }
}

#[test]
fn places_that_do_not_correspond_are_computed_again() {
    let two = |left: Value, right: Value| body([op(1, 0, left), op(2, 0, right)]);
    let apart = || two(line(10), line(20));
    let shared = || {
        let place = line(1);
        two(place.clone(), place)
    };
    let list = |number| Value::from([line(number)]);
    let name = |name: &str| Value::from(name);
    let cases = [
        (two(line(1), line(2)), apart(), true),
        (apart(), shared(), true),
        (two(list(1), list(2)), two(list(10), list(20)), true),
        (two(name("a"), name("b")), two(name("c"), name("d")), true),
        // One object of the first function corresponds to two.
        (shared(), apart(), false),
        (two(name("a"), name("a")), two(name("c"), name("d")), false),
        (two(Value::NONE, Value::NONE), apart(), false),
        // A place of another type has no counterpart.
        (apart(), two((&op(3, 0, 0)).into(), line(20)), false),
        (apart(), two(Value::NONE, Value::NONE), false),
    ];
    for (position, (first, other, expected)) in cases.iter().enumerate() {
        let (_, is_hit) = second(first, other, increased);
        assert_eq!(is_hit, *expected, "case {position}");
    }
}

#[test]
fn values_without_parts_are_those_of_the_function_at_hand() {
    let empty = || Value::from(Array::<Value>::new());
    let items = |number: i64| Value::from([number]);
    let cases = [
        (empty(), items(7), false),
        (empty(), empty(), true),
        (items(7), empty(), false),
        ([empty()].into(), [items(7)].into(), false),
        (
            Map::<i64, i64>::new().into(),
            Map::from_iter([(1, 7)]).into(),
            false,
        ),
        (List::<i64>::new().into(), List::from(vec![1]).into(), false),
        (Shape::from([1, 2]).into(), Shape::from([3, 4]).into(), true),
        (Shape::from([1, 2]).into(), items(7), true),
        (mark("fast"), mark("slow"), true),
        (mark("fast"), empty(), true),
        (empty(), mark("slow"), false),
    ];
    for (position, (first, other, expected)) in cases.iter().enumerate() {
        let [first, other] = [first, other].map(|place| body([op(1, 0, place.clone())]));
        let (_, is_hit) = second(&first, &other, increased);
        assert_eq!(is_hit, *expected, "case {position}");
    }
    // One mark of the first function corresponds to two.
    let two = |left: &str, right: &str| body([op(1, 0, mark(left)), op(2, 0, mark(right))]);
    assert!(!second(&two("fast", "fast"), &two("fast", "slow"), increased).1);
    assert!(second(&two("fast", "slow"), &two("slow", "fast"), increased).1);
}

#[test]
fn a_part_that_is_shared_in_one_function_stands_for_several_in_another() {
    let added = |body: Ref<Body>| {
        let mut items: Vec<Value> = body.items.iter().cloned().collect();
        items.push((&op(7, 0, line(99))).into());
        body.with_items(Array::from(items))
    };
    let shared = |number: i64| {
        let one = op(1, 0, line(number));
        body([one.clone(), one])
    };
    let apart = |left: i64, right: i64| body([op(1, 0, line(left)), op(1, 0, line(right))]);
    assert!(second(&apart(1, 2), &shared(3), added).1);
    assert!(second(&shared(1), &shared(3), added).1);
    assert!(!second(&shared(1), &apart(3, 4), added).1);
    // A mark equal in both objects represents either.
    let (pass, runs) = pass(true, move |body: Ref<Body>, _: &Ref<Obj>| Ok(added(body)));
    let cache = cache();
    within(&cache, &pass, &shared(1));
    within(&cache, &pass, &apart(3, 3));
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn parts_of_places_are_those_of_the_function_at_hand() {
    let nested = |number: i64| body([op(1, 0, Place::new(line(number)))]);
    let inner = |body: Ref<Body>| {
        let place: Ref<Place> = ops(&body)[0].place.extract().unwrap();
        body.with_items(Array::from(vec![Value::from(&op(
            2,
            0,
            place.line.clone(),
        ))]))
    };
    assert!(second(&nested(1), &nested(10), inner).1);
    // A new place made of an old number, and a place made up by the pass.
    let flat = |number: i64| body([op(1, 0, line(number))]);
    let again = |body: Ref<Body>| {
        let place: Ref<Place> = ops(&body)[0].place.extract().unwrap();
        let new = [op(2, 0, Place::new(place.line.clone())), op(3, 0, line(99))];
        body.with_items(Array::from(new.map(|new| Value::from(&new)).to_vec()))
    };
    assert!(second(&flat(1), &flat(10), again).1);
}

/// A random value of an ignored field, of any type that a file can hold.
fn random_place(choose: &mut impl FnMut() -> usize, depth: usize) -> Value {
    let number = (choose() % 3) as i64;
    let kinds = if depth == 0 { 9 } else { 14 };
    match choose() % kinds {
        0 => ["p", "q", ""][number as usize].into(),
        1 => Value::NONE,
        2 => line(number),
        3 => number.into(),
        4 => Shape::from(vec![1; number as usize]).into(),
        5 => mark(["fast", "slow", "hot"][number as usize]),
        6 => Bytes::from(vec![7; number as usize]).into(),
        7 => (1 << number).into(),
        8 => Value::from(number as f64),
        kind => {
            let items = (0..number).map(|_| random_place(choose, depth - 1));
            let items: Vec<Value> = items.collect();
            match kind {
                9 => List::from(items).into(),
                10 => items
                    .into_iter()
                    .enumerate()
                    .map(|(position, item)| (position as i64, item))
                    .collect::<Map<i64, Value>>()
                    .into(),
                11 => (&Place::new(Value::from(Array::from(items)))).into(),
                _ => Array::from(items).into(),
            }
        }
    }
}

/// A random tree of operations over a few places and names, some of them shared, with the
/// choices of a sequence; equal structure for equal `shape`.
fn random_body(shape: &mut impl FnMut() -> usize, looks: &mut impl FnMut() -> usize) -> Ref<Body> {
    let mut operations: Vec<Ref<Op>> = Vec::new();
    let mut places: Vec<Value> = Vec::new();
    let params = [0, 1].map(|_| Var::new(["x", "y", "z"][looks() % 3]));
    let mut items = Vec::new();
    for _ in 0..2 + shape() % 5 {
        let number = (shape() % 3) as i64;
        let argument = match shape() % 4 {
            0 => Value::from(&params[0]),
            1 => Value::from(&params[1]),
            _ if operations.is_empty() => 0.into(),
            choice => {
                let child = operations[(shape() / 2 + choice) % operations.len()].clone();
                // An equal part is the same object, or another object that looks
                // different.
                match looks() % 3 {
                    0 => (&op(child.number, child.argument.clone(), line(5))).into(),
                    _ => (&child).into(),
                }
            }
        };
        let place = match looks() % 6 {
            0 if !places.is_empty() => places[looks() % places.len()].clone(),
            _ => random_place(looks, 2),
        };
        places.push(place.clone());
        let new = op(number, argument, place);
        operations.push(new.clone());
        items.push(new);
    }
    body(items).with_params(Array::from(params.to_vec()))
}

fn random(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize
    }
}

#[test]
fn hits_on_random_functions_are_what_the_pass_computes() {
    type Change = fn(Ref<Body>) -> Ref<Body>;
    let rebuilt: Change = |body| {
        let items = ops(&body).into_iter().enumerate();
        let items = items.map(|(position, operation)| match position % 2 {
            0 => Value::from(&op(9, &operation, operation.place.clone())),
            _ => operation.argument.clone(),
        });
        body.with_items(Array::from(items.collect::<Vec<_>>()))
    };
    // The empty name of a new operation is not a name of the function, whatever it has.
    let wrapped: Change = |body| {
        let items = ops(&body)
            .into_iter()
            .map(|operation| op(9, &operation, ""));
        let items = items.map(|new| Value::from(&new));
        body.with_items(Array::from(items.collect::<Vec<_>>()))
    };
    // New containers of the places, and new operations with the places inside of places.
    let regrouped: Change = |body| {
        let items = ops(&body).into_iter().flat_map(|operation| {
            let inner = match operation.place.extract::<Array<Value>>() {
                Ok(items) => Array::from(items.iter().cloned().collect::<Vec<_>>()).into(),
                Err(_) => operation.place.clone(),
            };
            let both = Array::from(vec![operation.place.clone(), inner.clone()]);
            [op(7, 0, inner), op(8, 0, both)]
        });
        let items = items.map(|new| Value::from(&new));
        body.with_items(Array::from(items.collect::<Vec<_>>()))
    };
    let reversed: Change = |body| {
        let items: Vec<Value> = body.items.iter().cloned().collect();
        body.with_items(Array::from(items.into_iter().rev().collect::<Vec<_>>()))
    };
    let mut hits = 0;
    for seed in 1..=1_000 {
        for change in [increased as Change, rebuilt, wrapped, regrouped, reversed] {
            let [first, other] =
                [1, 2].map(|look| random_body(&mut random(seed), &mut random(seed * 1_000 + look)));
            hits += usize::from(second(&first, &other, change).1);
        }
    }
    assert!(hits > 40, "{hits}");
}

#[test]
fn a_pass_that_sees_the_whole_program_sees_which_variables_it_shares() {
    for (ignores, names) in [(false, ["v", "v"]), (true, ["v", "w"])] {
        let (pass, _) = pass(ignores, |one: Ref<Op>, root: &Ref<Program>| {
            let at = root.names.iter().position(|name| *name == one.argument);
            Ok(one.with_argument(at.unwrap() as i64))
        });
        let [a, b] = names.map(Var::new);
        let program = Program::new(
            Array::from(vec![Value::from(&a), Value::from(&b)]),
            Array::from(vec![op(0, &a, 0), op(0, &b, 0)]),
        );
        let cache = cache();
        for _ in 0..2 {
            let done = within(&cache, &pass, &program);
            let found = done.functions.iter().map(|one| one.argument.as_int());
            assert_eq!(found.collect::<Vec<_>>(), [Some(0), Some(1)]);
        }
    }
}

#[test]
fn variables_of_the_program_are_not_copied_by_a_hit() {
    let (pass, runs) = pass(false, |one: Ref<Op>, root: &Ref<Program>| {
        Ok(one.with_argument(root.names.get(0).unwrap().clone()))
    });
    let var = Var::new("v");
    let program = Program::new(
        Array::from(vec![Value::from(&var)]),
        Array::from(vec![op(0, 1, 0)]),
    );
    let cache = cache();
    for _ in 0..2 {
        let done = within(&cache, &pass, &program);
        let used: Ref<Var> = done.functions.get(0).unwrap().argument.extract().unwrap();
        assert!(used.same_as(&var));
    }
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

/// A program whose functions all call the first function.
#[derive(Node)]
#[node(key = "memo_hits.Calls", attrs(dyn Root))]
#[repr(C)]
struct Calls {
    functions: Array<Value>,
}

impl Root for Calls {
    fn functions(&self) -> Result<Vec<(Str, Ref<Obj>)>> {
        let functions = self.functions.iter().enumerate();
        let function =
            |(at, function): (usize, &Value)| Ok((Str::from(at.to_string()), function.extract()?));
        functions.map(function).collect()
    }

    fn with_functions(&self, changed: Vec<(Str, Ref<Obj>)>) -> Result<Ref<Obj>> {
        let mut functions: Vec<Value> = self.functions.iter().cloned().collect();
        for (name, function) in changed {
            functions[name.parse::<usize>().unwrap()] = function.into();
        }
        Ok(Calls::new(Array::from(functions)).into_object())
    }

    fn callees(&self, _function: &Ref<Obj>) -> Result<Option<Vec<Str>>> {
        Ok(Some(vec!["0".into()]))
    }
}

#[test]
fn variables_that_a_function_shares_with_its_callee_are_part_of_the_key() {
    for ignores in [false, true] {
        let (pass, runs) = pass(ignores, |operation: Ref<Op>, root: &Ref<Calls>| {
            let callee: Ref<Op> = root.functions.get(0).unwrap().extract()?;
            let is_shared = callee.argument == operation.argument;
            Ok(operation.with_number(if is_shared { 1 } else { 2 }))
        });
        let cache = cache();
        let mut computed = 0;
        for _ in 0..2 {
            let [a, b] = ["v", "v"].map(Var::new);
            for (other, expected) in [(&a, 1), (&b, 2)] {
                let functions = [Value::from(&op(0, &a, 0)), Value::from(&op(5, other, 0))];
                let done = within(&cache, &pass, &Calls::new(Array::from(functions.to_vec())));
                let caller: Ref<Op> = done.functions.get(1).unwrap().extract().unwrap();
                assert_eq!(caller.number, expected, "ignores {ignores}");
            }
            computed = match computed {
                0 => runs.load(Ordering::Relaxed),
                // The second round finds all results.
                _ => computed,
            };
        }
        assert_eq!(runs.load(Ordering::Relaxed), computed);
    }
}

/// A function that counts the requests for the signature.
#[derive(Node)]
#[node(key = "memo_hits.Signed", attrs(dyn Signature))]
#[repr(C)]
struct Signed {
    number: i64,
}

static SIGNATURES: AtomicUsize = AtomicUsize::new(0);

impl Signature for Signed {
    fn signature(&self) -> Result<Value> {
        SIGNATURES.fetch_add(1, Ordering::Relaxed);
        Ok(self.number.into())
    }
}

#[test]
fn a_callee_is_looked_at_once_for_all_its_callers() {
    let (pass, runs) = pass(false, |one: Ref<Signed>, _: &Ref<Calls>| Ok(one));
    let functions = (0..1_000).map(|number| Value::from(&Signed::new(number)));
    let program = Calls::new(Array::from(functions.collect::<Vec<_>>()));
    let cache = cache();
    for round in 1..=2 {
        within(&cache, &pass, &program);
        assert_eq!(SIGNATURES.load(Ordering::Relaxed), round);
        assert_eq!(runs.load(Ordering::Relaxed), 1_000);
    }
}

/// A function that refers to another function and has an ignored name.
#[derive(Node)]
#[node(key = "memo_hits.Caller", no_new)]
#[repr(C)]
struct Caller {
    #[node(base)]
    base: BaseFunc,
    callee: Value,
    found: Value,
    #[node(ignore)]
    name: Str,
}

fn calling(functions: &[(&str, &str, &str)]) -> Ref<IRModule> {
    let module = module(&[]);
    let vars: Vec<_> = functions
        .iter()
        .map(|(name, ..)| GlobalVar::new(*name))
        .collect();
    for (var, (_, callee, name)) in vars.iter().zip(functions) {
        let callee = vars.iter().find(|var| *var.name_hint == **callee);
        let caller = Ref::new(Caller {
            base: BaseFunc::with_parts(None, None),
            callee: callee.map_or(Value::NONE, Value::from),
            found: Value::NONE,
            name: (*name).into(),
        });
        module.update_func(var, caller.upcast()).unwrap();
    }
    module
}

/// The callee of a function.
fn callee(module: &Ref<IRModule>, function: &Ref<Caller>) -> Option<Ref<Caller>> {
    let var: Ref<GlobalVar> = function.callee.extract().ok()?;
    module.lookup(&var).ok()?.into_object().cast().ok()
}

fn found(module: &Ref<IRModule>, name: &str) -> Option<String> {
    let function = module.lookup(&module.global_var(name).unwrap()).unwrap();
    let function: Ref<Caller> = function.into_object().cast().unwrap();
    function.found.as_str().map(str::to_owned)
}

#[test]
fn names_inside_callees_are_part_of_the_key() {
    let (pass, _) = pass(false, |one: Ref<Caller>, root: &Ref<IRModule>| {
        Ok(match callee(root, &one) {
            Some(callee) => one.with_found(&callee.name),
            None => one,
        })
    });
    let cache = cache();
    for name in ["a", "b"] {
        let program = calling(&[("f", "g", ""), ("g", "", name)]);
        let done = within(&cache, &pass, &program);
        assert_eq!(found(&done, "f").as_deref(), Some(name));
    }
}

#[test]
fn a_function_that_calls_itself_is_not_one_that_calls_an_equal_one() {
    for ignores in [false, true] {
        let (pass, _) = pass(ignores, |one: Ref<Caller>, root: &Ref<IRModule>| {
            let callee = callee(root, &one).unwrap();
            let found = if callee.same_as(&one) {
                "itself"
            } else {
                "another"
            };
            Ok(one.with_found(found))
        });
        let program = calling(&[("f", "g", ""), ("g", "g", "")]);
        let done = within(&cache(), &pass, &program);
        let both = ["f", "g"].map(|name| found(&done, name).unwrap());
        assert_eq!(both, ["another", "itself"]);
    }
}

#[test]
fn passes_of_one_name_that_are_written_in_different_places_share_nothing() {
    let cache = cache();
    let count = |code: &str| {
        let (pass, runs) = pass(false, |fun: Ref<Fun>, _: &Ref<IRModule>| Ok(fun));
        let pass = pass.with_memo(pass.memo.as_ref().unwrap().with_code(code));
        within(&cache, &pass, &module(&[("f", 1)]));
        runs.load(Ordering::Relaxed)
    };
    assert_eq!([count("one"), count("other"), count("one")], [1, 1, 0]);
}

#[test]
fn a_list_that_stays_is_the_same_object() {
    for ignores in [false, true] {
        let (pass, runs) = pass(ignores, |one: Ref<Changing>, _: &Ref<Obj>| {
            Ok(one.with_number(one.number + 1))
        });
        let cache = cache();
        for at in 1..=2 {
            let function = Changing::new(List::from(vec![Value::from(1)]), 1);
            let done = within(&cache, &pass, &function);
            let same = Value::from(done.items.clone()) == Value::from(function.items.clone());
            assert!(same, "run {at}");
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    }
}

/// A cache whose entries have another result.
struct Other(MemoryCache, Value);

impl ResultCache for Other {
    fn load(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(bytes) = self.0.load(key)? else {
            return Ok(None);
        };
        let entry = from_bytes(&bytes)?;
        let old = entry.extract::<Array>()?.get(0).unwrap().clone();
        to_bytes([old, self.1.clone()]).map(Some)
    }

    fn store(&self, key: &[u8], bytes: &[u8]) -> Result<()> {
        self.0.store(key, bytes)
    }
}

#[test]
fn a_kept_result_of_another_class_is_computed_again() {
    let others: [Value; 4] = [
        3.into(),
        Value::NONE,
        (&GlobalVar::new("other")).into(),
        [1].into(),
    ];
    for other in others {
        for of_any_class in [false, true] {
            let (pass, runs) = pass(false, |fun: Ref<Fun>, _: &Ref<IRModule>| {
                Ok(Fun::new(fun.number + 1))
            });
            let pass = if of_any_class {
                pass.with_function_class("")
            } else {
                pass
            };
            let cache = Cache::of(Other(MemoryCache::new(1 << 20), other.clone()));
            for _ in 0..2 {
                let done = within(&cache, &pass, &module(&[("f", 1)]));
                assert_eq!(
                    crate::transform::program::numbers(&done),
                    [("f".to_owned(), 2)]
                );
            }
            assert_eq!(runs.load(Ordering::Relaxed), 2);
        }
    }
}
