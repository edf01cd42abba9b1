//! Memoised passes: recomputation, and the form of a kept result in another program.

use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::functions::Function;
use isoform::types::Schema;
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Str, Value, structural_equal};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule};
use isoform_ir::transform::{
    Cache, ContextOptions, FunctionPass, Memo, MemoryCache, PassContext, PassInfo, ResultCache,
    Sequential, Signature, register_config_option,
};

use crate::transform::program::info;

/// A variable with a name for people.
#[derive(Node)]
#[node(key = "transform_memo.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
}

/// The sum of two values.
#[derive(Node)]
#[node(key = "transform_memo.Add")]
#[repr(C)]
struct Add {
    left: Value,
    right: Value,
    #[node(ignore, default)]
    place: Str,
}

/// A function of one parameter; callers see only the number of the parameter type.
#[derive(Node)]
#[node(key = "transform_memo.Fun", scope, no_new, attrs(dyn Signature))]
#[repr(C)]
struct Fun {
    #[node(base)]
    base: BaseFunc,
    #[node(def)]
    param: Ref<Var>,
    ty: i64,
    body: Value,
    #[node(ignore)]
    name: Str,
}

impl Signature for Fun {
    fn signature(&self) -> Result<Value> {
        Ok(self.ty.into())
    }
}

/// `(x + 0) + (number + @callee)`, with names that begin with `style`.
fn fun(style: &str, name: &str, number: i64, callee: Option<&Ref<GlobalVar>>) -> Ref<Fun> {
    let x = Var::new(format!("{style}x"));
    let zero = Add::new(&x, 0).with_place(format!("{style}1"));
    let callee = callee.map_or(Value::NONE, Value::from);
    let call = Add::new(number, callee).with_place(format!("{style}2"));
    Ref::new(Fun {
        base: BaseFunc::with_parts(None, None),
        param: x,
        ty: 0,
        body: Add::new(zero, call).with_place(format!("{style}3")).into(),
        name: format!("{style}{name}").into(),
    })
}

fn module(entries: impl IntoIterator<Item = (Ref<GlobalVar>, Ref<Fun>)>) -> Ref<IRModule> {
    isoform_ir::transform::register().unwrap();
    let empty = isoform::objects::construct_named(IRModule::type_index(), Vec::new());
    let module: Ref<IRModule> = empty.unwrap().cast().unwrap();
    for (var, function) in entries {
        module.update_func(&var, function.upcast()).unwrap();
    }
    module
}

/// A program in which every function calls the next function.
fn program(style: &str, size: i64) -> Ref<IRModule> {
    let vars: Vec<_> = (0..size)
        .map(|at| GlobalVar::new(format!("f{at:04}")))
        .collect();
    let entries = (0..size as usize).map(|at| {
        let callee = vars.get(at + 1);
        (
            vars[at].clone(),
            fun(style, &format!("f{at}"), at as i64, callee),
        )
    });
    module(entries)
}

fn of(module: &Ref<IRModule>, name: &str) -> Ref<Fun> {
    let function = module.lookup(&module.global_var(name).unwrap()).unwrap();
    function.into_object().cast().unwrap()
}

fn part(value: &Value) -> Ref<Add> {
    value.extract().unwrap()
}

/// A pass that replaces `x + 0` by `x` and counts calls; the surrounding sums are
/// rebuilt.
fn simplifying(name: &str, calls: &Arc<AtomicUsize>, memo: Ref<Memo>) -> Ref<FunctionPass> {
    let calls = Arc::clone(calls);
    let pass = FunctionPass::new(
        &info(name),
        move |fun: Ref<Fun>, _: &Ref<Obj>, _: &Ref<PassContext>| {
            calls.fetch_add(1, Ordering::Relaxed);
            let body = part(&fun.body);
            let Ok(left) = body.left.extract::<Ref<Add>>() else {
                return Ok(fun);
            };
            let body = body.with_left(left.left.clone());
            Ok(fun.with_body(body))
        },
    );
    pass.with_memo(memo)
}

fn context(cache: &Ref<Cache>) -> Ref<PassContext> {
    ContextOptions::default().cache(cache).make().unwrap()
}

/// Runs twenty passes, and returns the result with the number of functions computed.
fn run(root: &Ref<IRModule>, cache: &Ref<Cache>, memo: &Ref<Memo>) -> (Ref<IRModule>, usize) {
    let calls = Arc::new(AtomicUsize::new(0));
    let passes = (0..20).map(|at| simplifying(&format!("P{at}"), &calls, memo.clone()).upcast());
    let pipeline = Sequential::new(passes);
    let done = context(cache).within(|| pipeline.run(root)).unwrap();
    (done, calls.load(Ordering::Relaxed))
}

/// The reads of a pass that needs only the signatures of callees.
fn nothing_else() -> Function {
    Function::new(|_| Ok(Value::NONE))
}

fn cache() -> Ref<Cache> {
    Cache::of(MemoryCache::new(1 << 28))
}

#[test]
fn of_a_thousand_functions_only_an_edited_one_is_computed_again() {
    for ignores in [false, true] {
        let (cache, memo) = (cache(), Memo::new("1").with_ignores(ignores));
        let (done, calls) = run(&program("a", 1_000), &cache, &memo);
        assert_eq!(calls, 20_000);
        let (again, calls) = run(&program("a", 1_000), &cache, &memo);
        assert_eq!(calls, 0);
        assert!(structural_equal(&done, &again).unwrap());
        let edited = program("a", 1_000);
        let var = edited.global_var("f0500").unwrap();
        let callee = edited.global_var("f0501").unwrap();
        let other = fun("a", "f500", -7, Some(&callee));
        edited.update_func(&var, other.upcast()).unwrap();
        let (_, calls) = run(&edited, &cache, &memo);
        // One function, in each of twenty passes.
        assert_eq!(calls, 20);
    }
}

#[test]
fn callers_are_computed_again_if_the_type_of_a_callee_changes() {
    let (cache, memo) = (cache(), Memo::new("1").with_reads(nothing_else()));
    run(&program("a", 100), &cache, &memo);
    let edited = program("a", 100);
    let var = edited.global_var("f0050").unwrap();
    edited
        .update_func(&var, of(&edited, "f0050").with_ty(1).upcast())
        .unwrap();
    let (_, calls) = run(&edited, &cache, &memo);
    // The function itself and its only caller.
    assert_eq!(calls, 2 * 20);
    let body = program("a", 100);
    let callee = body.global_var("f0051").unwrap();
    let var = body.global_var("f0050").unwrap();
    body.update_func(&var, fun("a", "f50", 1234, Some(&callee)).upcast())
        .unwrap();
    let (_, calls) = run(&body, &cache, &memo);
    assert_eq!(calls, 20, "the body of a callee is its own business");
}

/// All names in a function, and whether its parts are the objects of another function.
fn names(fun: &Ref<Fun>) -> Vec<String> {
    let body = part(&fun.body);
    let right = part(&body.right);
    let x: Ref<Var> = body.left.extract().unwrap();
    [
        &fun.name,
        &fun.param.name,
        &x.name,
        &body.place,
        &right.place,
    ]
    .map(|name| name.to_string())
    .into()
}

#[test]
fn a_kept_result_has_the_names_and_objects_of_the_function_at_hand() {
    for (ignores, expected_calls) in [(true, 0), (false, 3)] {
        let (cache, calls) = (cache(), Arc::new(AtomicUsize::new(0)));
        let pass = simplifying("P", &calls, Memo::new("1").with_ignores(ignores));
        let run = |root: &Ref<IRModule>| context(&cache).within(|| pass.run(root)).unwrap();
        run(&program("a", 3));
        calls.store(0, Ordering::Relaxed);
        let root = program("b", 3);
        let done = run(&root);
        assert_eq!(calls.load(Ordering::Relaxed), expected_calls);
        let (old, new) = (of(&root, "f0000"), of(&done, "f0000"));
        assert_eq!(names(&new), ["bf0", "bx", "bx", "b3", "b2"]);
        assert!(new.param.same_as(&old.param));
        let (old, new) = (part(&old.body), part(&new.body));
        assert!(
            part(&new.right).same_as(&part(&old.right)),
            "parts that stay are shared"
        );
        // The call is that of this module.
        let callee: Ref<GlobalVar> = part(&new.right).right.extract().unwrap();
        assert!(callee.same_as(&root.global_var("f0001").unwrap()));
        // And the computed result is that of the pass.
        let alone = pass.with_memo(None).run(&root).unwrap();
        assert!(structural_equal(&alone, &done).unwrap());
    }
}

#[test]
fn versions_options_and_what_is_read_are_part_of_the_key() {
    let cache = cache();
    let count = |memo: Ref<Memo>, name: &str, option: i64| {
        let calls = Arc::new(AtomicUsize::new(0));
        let pass = simplifying(name, &calls, memo);
        pass.options.insert("option".into(), option.into()).unwrap();
        context(&cache)
            .within(|| pass.run(&program("a", 2)))
            .unwrap();
        calls.load(Ordering::Relaxed)
    };
    assert_eq!(count(Memo::new("1"), "P", 1), 2);
    assert_eq!(count(Memo::new("1"), "P", 1), 0);
    assert_eq!(count(Memo::new("2"), "P", 1), 2);
    assert_eq!(count(Memo::new("1"), "Q", 1), 2);
    assert_eq!(count(Memo::new("1"), "P", 2), 2);
    let reading =
        |number: i64| Memo::new("1").with_reads(Function::new(move |_| Ok(number.into())));
    assert_eq!(count(reading(1), "P", 1), 2);
    assert_eq!(count(reading(1), "P", 1), 0);
    assert_eq!(count(reading(2), "P", 1), 2);
}

#[test]
fn without_cache_or_declaration_nothing_is_kept() {
    let calls = Arc::new(AtomicUsize::new(0));
    let pass = simplifying("P", &calls, Memo::new("1"));
    let root = program("a", 2);
    for _ in 0..2 {
        pass.run(&root).unwrap();
    }
    let cache = cache();
    let plain = pass.with_memo(None);
    for _ in 0..2 {
        context(&cache).within(|| plain.run(&root)).unwrap();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 8);
}

/// A cache with one of several defects.
struct Broken(&'static str);

impl ResultCache for Broken {
    fn load(&self, _key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.0 {
            "load" => Err(Error::value_error("no disk")),
            "bytes" => Ok(Some(b"nonsense".to_vec())),
            "other" => Ok(Some(isoform::files::to_bytes(Array::from([
                Value::from(1),
                2.into(),
            ]))?)),
            _ => Ok(None),
        }
    }
    fn store(&self, _key: &[u8], _bytes: &[u8]) -> Result<()> {
        match self.0 {
            "store" => Err(Error::value_error("disk full")),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_broken_cache_is_no_cache() {
    for way in ["load", "bytes", "other", "store"] {
        let calls = Arc::new(AtomicUsize::new(0));
        let pass = simplifying("P", &calls, Memo::new("1"));
        let root = program("a", 2);
        let done = context(&Cache::of(Broken(way)))
            .within(|| pass.run(&root))
            .unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 2, "{way}");
        assert!(structural_equal(&done, pass.run(&root).unwrap()).unwrap());
    }
}

#[test]
fn names_that_are_not_unique_are_computed_again() {
    // All variables of the first function have one name, unlike those of the second; the
    // pass makes a new parameter with the name of the old one.
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let pass = FunctionPass::new(
        &PassInfo::new(0, "Fresh"),
        move |fun: Ref<Fun>, _: &Ref<Obj>, _: &Ref<PassContext>| {
            counted.fetch_add(1, Ordering::Relaxed);
            let fresh = Var::new(&*fun.param.name);
            let body = Add::new(&fun.body, &fresh);
            Ok(fun.with_param(fresh).with_body(body))
        },
    );
    let pass = pass.with_memo(Memo::new("1").with_ignores(true));
    let make = |first: &str, second: &str| {
        let function = fun("", "f", 1, None);
        let free = Var::new(second);
        function
            .with_param(Var::new(first))
            .with_body(Add::new(&free, 1))
    };
    let cache = cache();
    let run = |function: Ref<Fun>| context(&cache).within(|| pass.run(&function)).unwrap();
    let fresh_name = |done: &Ref<Fun>| {
        let fresh: Ref<Var> = part(&done.body).right.extract().unwrap();
        fresh.name.to_string()
    };
    assert_eq!(fresh_name(&run(make("same", "same"))), "same");
    assert_eq!(fresh_name(&run(make("one", "two"))), "one");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    // Where the name of the parameter is its own, the cache has the right result.
    assert_eq!(fresh_name(&run(make("other", "other"))), "other");
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[test]
fn a_cache_in_memory_is_bounded() {
    let cache = MemoryCache::new(10_000);
    assert!(cache.is_empty());
    for key in 0u32..1_000 {
        cache.store(&key.to_le_bytes(), &[0; 96]).unwrap();
        // What is used stays.
        assert!(cache.load(&0u32.to_le_bytes()).unwrap().is_some(), "{key}");
    }
    assert!(cache.len() <= 101, "{}", cache.len());
    assert!(cache.load(&999u32.to_le_bytes()).unwrap().is_some());
    assert!(cache.load(&500u32.to_le_bytes()).unwrap().is_none());
    cache.store(b"large", &[0; 20_000]).unwrap();
    assert!(cache.load(b"large").unwrap().is_none());
}

/// The sum in the body of a function after a pass that adds a number to it.
fn number_of(module: &Ref<IRModule>) -> Option<i64> {
    let body = part(&of(module, "f0000").body);
    part(&body.right).left.as_int()
}

/// A pure pass that replaces the number of a function by the result of `read`.
fn reading(
    memo: Ref<Memo>,
    read: impl Fn(&Ref<PassContext>) -> Result<i64> + Send + Sync + 'static,
) -> Ref<FunctionPass> {
    FunctionPass::pure(&info("Reading"), memo, move |fun: Ref<Fun>, ctx| {
        let body = part(&fun.body);
        let call = part(&body.right).with_left(read(ctx)?);
        Ok(fun.with_body(body.with_right(&call)))
    })
}

#[test]
fn the_context_is_part_of_the_key() {
    register_config_option("memos.number", Schema::Int, 1, "A number.").unwrap();
    let cache = cache();
    let root = program("a", 1);
    let run = |pass: &Ref<FunctionPass>, options: ContextOptions| {
        let ctx = options.cache(&cache).make().unwrap();
        number_of(&ctx.within(|| pass.run(&root)).unwrap())
    };
    let options = ContextOptions::default;
    let option = reading(Memo::new("1"), |ctx| {
        let value = ctx.config_value("memos.number")?;
        Ok(value.as_int().unwrap_or_default())
    });
    for number in [1, 5, 1] {
        let result = run(&option, options().config("memos.number", number));
        assert_eq!(result, Some(number));
    }
    // The default is the value that the context does not set.
    assert_eq!(run(&option, options()), Some(1));
    let level = reading(Memo::new("2"), |ctx| Ok(ctx.opt_level));
    for number in [0, 3, 0] {
        assert_eq!(run(&level, options().opt_level(number)), Some(number));
    }
    let current = reading(Memo::new("3"), |_| Ok(PassContext::current().opt_level));
    for number in [0, 3, 0] {
        assert_eq!(run(&current, options().opt_level(number)), Some(number));
    }
}

#[test]
fn a_pure_pass_that_does_not_declare_what_it_reads_gets_no_program() {
    let pass = FunctionPass::new(
        &info("Counting"),
        |fun: Ref<Fun>, root: &Ref<IRModule>, _: &Ref<PassContext>| {
            Ok(fun.with_ty(root.functions.len() as i64))
        },
    );
    let undeclared = pass.with_memo(Memo::new("1"));
    for ctx in [context(&cache()), ContextOptions::default().make().unwrap()] {
        let error = ctx.within(|| undeclared.run(&program("a", 2))).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("expected ir.IRModule, got transform.NoProgram"),
            "{text}"
        );
        assert!(
            text.contains("only if it declares what it reads of it"),
            "{text}"
        );
    }
    let count = |arguments: &[Value]| {
        let root: Ref<IRModule> = arguments[1].extract()?;
        Ok(Value::from(root.functions.len()))
    };
    let declared = pass.with_memo(Memo::new("1").with_reads(Function::new(count)));
    let ctx = context(&cache());
    for size in [2, 3, 2] {
        let done = ctx.within(|| declared.run(&program("a", size))).unwrap();
        assert_eq!(of(&done, "f0000").ty, size);
    }
}

#[test]
fn the_state_of_a_pass_is_part_of_the_key_and_must_not_change() {
    let state = Arc::new(AtomicUsize::new(1));
    let shared = Arc::clone(&state);
    let returned = move |_: &[Value]| {
        let count = shared.load(Ordering::Relaxed);
        Ok(Map::<Str, Value>::from_iter([("count".into(), count.into())]).into())
    };
    let memo = Memo::new("1").with_state(Function::new(returned));
    let shared = Arc::clone(&state);
    let steady = reading(memo.clone(), move |_| {
        Ok(shared.load(Ordering::Relaxed) as i64)
    });
    let (ctx, root) = (context(&cache()), program("a", 1));
    for number in [1, 7, 1] {
        state.store(number, Ordering::Relaxed);
        let done = ctx.within(|| steady.run(&root)).unwrap();
        assert_eq!(number_of(&done), Some(number as i64));
    }
    let counting = reading(memo, move |_| {
        Ok(state.fetch_add(1, Ordering::Relaxed) as i64)
    });
    let error = context(&cache())
        .within(|| counting.run(&root))
        .unwrap_err();
    let expected = "pass 'Reading' is pure, but changed 'count' while it ran";
    assert!(error.to_string().contains(expected), "{error}");
}
