//! The vocabulary of IRs: types, modules, operators, diagnostics.

use isoform::compare::CompareOptions;
use isoform::errors::ErrorKind;
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::text::assert_structural_equal;
use isoform::traverse::shallow_copy;
use isoform::types::{IsA, registered_types};
use isoform::values::DType;
use isoform::{Ref, Value, structural_digest};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{
    BaseFunc, Constructor, Diagnostic, DiagnosticContext, FuncType, GlobalTypeVar, GlobalVar,
    IRModule, NameSupply, Op, OpRegistry, PointerType, PrimType, SourceName, Span, TensorType,
    Type, TypeData, TypeVar,
};
use isoform_ir::register_op;
use isoform_ir::tir;
use isoform_relay as relay;
use isoform_relay::AsExpr;
use isoform_testing::oracle;

const PLAIN: CompareOptions = CompareOptions {
    map_free_vars: false,
    skip_tensor_content: false,
};

pub(crate) const MAPPED: CompareOptions = CompareOptions {
    map_free_vars: true,
    ..PLAIN
};

/// Compares, and checks that the oracle, hashes and digests agree.
#[track_caller]
fn check(left: impl Into<Value>, right: impl Into<Value>, options: CompareOptions, expected: bool) {
    let (left, right) = (left.into(), right.into());
    let equal = options.equal(&left, &right).expect("comparable");
    assert_eq!(equal, expected, "{left:?} and {right:?}");
    let judged = oracle::equal(&left, &right, options).expect("comparable");
    assert_eq!(judged, expected, "the oracle on {left:?} and {right:?}");
    if expected {
        let hash = |value: &Value| options.hash(value).expect("hashable");
        assert_eq!(hash(&left), hash(&right));
    }
}

fn float() -> Ref<Type> {
    PrimType::new(DType::FLOAT32).upcast()
}

fn up<T: IsA<Type>>(ty: &Ref<T>) -> Ref<Type> {
    T::upcast_to(ty.clone())
}

#[test]
fn every_type_is_documented() {
    isoform_ir::ir::register().expect("the keys are free");
    tir_registered();
    let ours = |key: &str| {
        ["ir.", "tir.", "relay."]
            .iter()
            .any(|start| key.starts_with(start))
    };
    let mut count = 0;
    for info in registered_types()
        .into_iter()
        .filter(|info| ours(info.key()))
    {
        count += 1;
        assert!(
            !info.doc().is_empty(),
            "{} has no documentation",
            info.key()
        );
        for field in info.fields() {
            let (key, name) = (info.key(), field.name());
            assert!(
                !field.documentation().is_empty(),
                "{key}.{name} has no documentation"
            );
        }
        if let Some(init) = info.init() {
            let signature = init.signature().expect("exported functions have one");
            let mut parameters = signature.parameters().iter();
            assert!(
                parameters.all(|parameter| parameter.name().is_some()),
                "{}",
                info.key()
            );
        }
    }
    assert!(count > 80, "only {count} types");
}

fn tir_registered() {
    isoform_ir::tir::register().expect("the keys are free");
}

#[test]
fn types_are_compared_by_structure() {
    let pointer = |scope: &str| PointerType::new(float()).with_storage_scope(scope);
    check(pointer(""), pointer("global"), PLAIN, true);
    check(pointer(""), pointer("shared"), PLAIN, false);
    let generic = |name: &str, swap: bool| {
        let (a, b) = (TypeVar::new(name), TypeVar::new("b"));
        let result = if swap { &b } else { &a };
        FuncType::new([up(&a), up(&b)], result).with_type_params([a.clone(), b.clone()])
    };
    check(generic("a", false), generic("x", false), PLAIN, true);
    check(generic("a", false), generic("a", true), PLAIN, false);
    let free = |name: &str| GlobalTypeVar::new(name);
    check(free("a"), free("b"), PLAIN, false);
    check(free("a"), free("b"), MAPPED, true);
}

fn list_type(name: &str, parameter: &str) -> (Ref<GlobalTypeVar>, Ref<TypeData>) {
    let (header, a) = (GlobalTypeVar::new(name), TypeVar::new(parameter));
    let cons = Constructor::new("Cons", [up(&a), up(&header)], &header);
    let nil = Constructor::new("Nil", [], &header);
    let data = TypeData::new(&header, [a], [nil, cons]);
    (header, data)
}

#[test]
fn definitions_bind_their_header_and_parameters() {
    check(
        list_type("List", "a").1,
        list_type("Other", "b").1,
        PLAIN,
        true,
    );
    let ((header, data), (other, _)) = (list_type("List", "a"), list_type("List", "a"));
    check(&header, &other, PLAIN, false);
    let tags: Vec<_> = data
        .constructors
        .iter()
        .map(|constructor| constructor.tag())
        .collect();
    assert_ne!(tags[0], tags[1]);
    assert_eq!(tags[0] >> 24, tags[1] >> 24);
}

fn identity(name: &str) -> Ref<BaseFunc> {
    let x = relay::Var::new(name);
    relay::Function::closing(&x.expr())
        .expect("a walk")
        .upcast()
}

/// Two functions; the second calls the first or itself.
fn module(names: [&str; 2], recursive: bool, reverse: bool) -> Ref<IRModule> {
    let [f, g] = names.map(GlobalVar::new);
    let callee = if recursive { &g } else { &f };
    let call = relay::Call::new(callee, [relay::Var::new("x").expr()]);
    let calling: Ref<BaseFunc> = relay::Function::closing(&call.expr())
        .expect("a walk")
        .upcast();
    let module = IRModule::new();
    let mut functions = vec![(f, identity("y")), (g, calling)];
    if reverse {
        functions.reverse();
    }
    for (var, func) in functions {
        module.update_func(&var, func).expect("other names");
    }
    module
}

#[test]
fn globals_are_found_by_name_whatever_happened_to_the_dict() {
    let module = IRModule::new();
    let body = identity("x");
    // A generator of the simplest kind: the same numbers in every run.
    let mut state = 1_u32;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for round in 0..4_000 {
        let functions = &module.functions;
        let name = format!("f{}", draw(30));
        let existing_var = module.global_var(&name).ok();
        match draw(8) {
            0..4 => {
                let var = existing_var.unwrap_or_else(|| GlobalVar::new(&*name));
                module.update_func(&var, body.clone()).expect("its own");
            }
            // Bypasses the module and inserts into the dict; names may
            // occur twice.
            4 => drop(
                functions
                    .insert(GlobalVar::new(&*name), body.clone())
                    .unwrap(),
            ),
            5 => drop(functions.pop()),
            6 => drop(existing_var.and_then(|var| functions.remove(var))),
            _ if round % 5 == 0 => functions.clear(),
            _ => drop(functions.replace(functions.snapshot()).unwrap()),
        }
        for name in 0..30 {
            let name = format!("f{name}");
            let entries = functions.snapshot();
            let vars = entries.keys().filter_map(Value::peek::<Ref<GlobalVar>>);
            let first = vars.into_iter().find(|var| *var.name_hint == *name);
            let result = module.global_var(&name).ok();
            assert_eq!(
                result.map(|var| var.identity()),
                first.map(|var| var.identity()),
                "{name} in round {round}"
            );
        }
    }
}

#[test]
fn modules_of_many_functions_are_built_by_name() {
    // A lookup that visited every function would take ten thousand million
    // steps.
    const COUNT: usize = 100_000;
    let module = IRModule::new();
    let body = identity("x");
    for number in 0..COUNT {
        let name = format!("f{number}");
        if number > 0 {
            let known = format!("f{}", number / 2);
            assert!(module.global_var(&known).is_ok());
        }
        let var = GlobalVar::new(&*name);
        module.update_func(&var, body.clone()).expect("a new name");
    }
    let twice = GlobalVar::new("f5");
    assert!(module.update_func(&twice, body).is_err());
    assert_eq!(module.functions.len(), COUNT);
}

#[test]
fn a_copy_of_a_module_has_dicts_of_its_own() {
    let original = module(["f", "g"], false, false);
    let as_object = Value::from(&original);
    let copy = shallow_copy(as_object.as_object().expect("an object")).expect("a copy");
    let copy: Ref<IRModule> = Value::from(copy).extract().expect("a module");
    check(&copy, &original, PLAIN, true);
    let entry = original.global_var("f").expect("there");
    let func = original.lookup(&entry).expect("there");
    assert!(copy.lookup(&entry).expect("there").same_as(&func));
    copy.update_func(&GlobalVar::new("h"), func).expect("new");
    let (header, list) = list_type("List", "a");
    copy.update_type(&header, list).expect("new");
    assert_eq!((copy.functions.len(), original.functions.len()), (3, 2));
    assert!(original.type_definitions.is_empty());
    assert!(copy.source_map.same_as(&original.source_map));
}

#[test]
fn modules_match_their_variables_by_name() {
    let plain = || module(["f", "g"], false, false);
    check(plain(), plain(), PLAIN, true);
    check(plain(), module(["f", "g"], false, true), PLAIN, true);
    check(plain(), module(["f", "h"], false, false), PLAIN, false);
    check(plain(), module(["f", "g"], true, false), PLAIN, false);
    check(plain(), IRModule::new(), PLAIN, false);
    let digest = |module| structural_digest(&module).expect("closed");
    assert_eq!(digest(plain()), digest(module(["f", "g"], false, true)));
    assert_ne!(digest(plain()), digest(module(["f", "g"], true, false)));
    // The names bound by a module are free again after it.
    let (left, right) = (plain(), plain());
    let var = |module: &Ref<IRModule>| Value::from(module.global_var("f").expect("there"));
    let pair = |module: &Ref<IRModule>| Value::from([module.into(), var(module)]);
    check(pair(&left), pair(&right), PLAIN, false);
    // Two modules may bind the same variable in succession.
    let twice = |module: &Ref<IRModule>| Value::from([module.clone(), module.copied()]);
    check(twice(&left), twice(&right), PLAIN, true);
    // Functions are shared or not, like other nodes of a graph.
    check(twice(&left), Value::from([right, plain()]), PLAIN, false);
}

#[test]
fn files_keep_modules() {
    let module = module(["f", "g"], true, false);
    let (header, data) = list_type("List", "a");
    module.update_type(&header, data).expect("a new name");
    let json = to_json_graph(&module).expect("no cycles");
    check(
        from_json_graph(&json).expect("written above"),
        &module,
        PLAIN,
        true,
    );
    let bytes = to_bytes(&module).expect("no cycles");
    check(
        from_bytes(&bytes).expect("written above"),
        &module,
        PLAIN,
        true,
    );
}

#[test]
fn names_of_a_module_are_unique() {
    let module = module(["f", "g"], false, false);
    let error = module
        .update_func(&GlobalVar::new("f"), identity("z"))
        .expect_err("taken");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(
        error.message(),
        "the module has another global variable of the name \"f\""
    );
    let f = module.global_var("f").expect("there");
    module.update_func(&f, identity("z")).expect("its own name");
    let other = IRModule::new();
    other
        .update_func(&GlobalVar::new("new"), identity("z"))
        .expect("free");
    other
        .update_func(&GlobalVar::new("g"), identity("z"))
        .expect("free");
    module.update(&other).expect_err("another g");
    module.global_var("new").expect_err("nothing was added");
}

#[test]
fn an_expression_becomes_a_module() {
    let (x, y) = (relay::Var::new("x"), relay::Var::new("y"));
    let inner = relay::Function::closing(&y.expr()).expect("a walk");
    let call = relay::Call::new(inner, [x.expr()]);
    let module =
        isoform_relay::module_from_expr(&call.expr(), Default::default(), Default::default());
    let module = module.expect("a fresh name");
    let main = module
        .lookup(&module.global_var("main").expect("made"))
        .expect("defined");
    let main = main.downcast_ref::<relay::Function>().expect("wrapped");
    assert_eq!(main.params.len(), 1);
    assert!(main.params.get(0).is_some_and(|param| param.same_as(&x)));
}

#[test]
fn operators_are_one_object_per_name() {
    let add = register_op!("ir_test.add").expect("a name").num_inputs(2);
    assert!(
        Op::get("ir_test.add")
            .expect("registered")
            .same_as(add.op())
    );
    let again = OpRegistry::get_or_register("ir_test.add").expect("a name");
    assert!(again.op().same_as(add.op()));
    let json = to_json_graph(add.op()).expect("no cycles");
    let read = from_json_graph(&json).expect("written above");
    assert_eq!(read, Value::from(add.op()));
    let error = Op::get("ir_test.none").expect_err("not registered");
    assert_eq!(
        error.to_string(),
        "AttributeError: Operator ir_test.none is not registered"
    );
    assert_eq!(
        register_op!("").expect_err("empty").kind(),
        ErrorKind::Value
    );
}

#[test]
fn the_highest_priority_wins_whatever_the_order() {
    let priorities = [5, 10, 7, 30, 1];
    for first in 0..priorities.len() {
        let mut op = register_op!(&format!("ir_test.priority{first}")).expect("a name");
        for offset in 0..priorities.len() {
            let priority = priorities[(first + offset) % priorities.len()];
            op = op
                .attr("ir_test.level", priority, priority)
                .expect("another priority");
        }
        let info = op.attribute_info("ir_test.level").expect("set");
        assert_eq!((info.value.as_int(), info.priority), (Some(30), 30));
        let error = op
            .clone()
            .attr("ir_test.level", 0, 30)
            .expect_err("the same priority");
        assert_eq!(
            error.message(),
            format!(
                "Attribute 'ir_test.level' of operator ir_test.priority{first} is already \
                 registered with the same plevel=30: is 30, got 0"
            )
        );
    }
}

#[test]
fn threads_register_one_operator() {
    let register = || register_op!("ir_test.shared").map(|op| op.op().clone());
    let found: Vec<Ref<Op>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(register)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        threads
            .into_iter()
            .map(|thread| join(thread).expect("a name"))
            .collect()
    });
    assert!(found.iter().all(|op| op.same_as(&found[0])));
}

#[test]
fn shapes_are_concrete_or_say_where_not() {
    let size = |size| tir::constant(DType::INT64, size).expect("in range");
    let shape = TensorType::new([size(2), size(3)]);
    assert_eq!(shape.concrete_shape().expect("numbers"), [2, 3]);
    let n = tir::Var::new("n", DType::INT64).upcast();
    let error = TensorType::new([size(2), n])
        .concrete_shape()
        .expect_err("symbolic");
    assert_eq!(
        error.message(),
        "ir.TensorType.concrete_shape: expected ir.IntImm as dimension 1, got tir.Var"
    );
}

#[test]
fn any_place_can_be_shown() {
    let module = IRModule::new();
    let name = module
        .source_map
        .add("a.txt", "läst\n\n\tx\r\nend")
        .unwrap();
    let numbers = [i64::MIN, -1, 0, 1, 2, 3, 4, 5, 6, 100, i64::MAX];
    for line in numbers {
        for end_line in numbers {
            for column in numbers {
                for end_column in numbers {
                    let span = Span::new(&name, line, end_line, column, end_column);
                    let context = Ref::new(DiagnosticContext {
                        module: module.clone(),
                        diagnostics: Default::default(),
                        renderer: None,
                    });
                    context.emit(Diagnostic::new(20, &span, "here")).unwrap();
                    assert!(context.to_text(false).contains("a.txt"));
                }
            }
        }
    }
    assert_eq!(SourceName::new("a.txt").name.to_string(), "a.txt");
}

#[test]
fn fresh_names_are_never_given_twice() {
    let supply = NameSupply::new();
    let mut given = std::collections::HashSet::new();
    for name in ["a", "a_1", "a", "a", "a_1", "a_2", "", "", "a_1_1", "a_1"] {
        let fresh = supply.fresh_name(name, true, true).unwrap();
        assert!(given.insert(fresh.clone()), "{fresh} was given twice");
    }
}

#[test]
fn mismatches_name_functions_and_show_what_is_compared() {
    let [left, right] = [false, true].map(|recursive| module(["f", "g"], recursive, false));
    let error = assert_structural_equal(&left, &right).expect_err("they call others");
    let text = error.to_string();
    let place = "<root>.functions[ir.GlobalVar(name_hint=\"g\", ...)].body.op";
    assert!(text.contains(&format!("left:  {place}\n")), "{text}");
    assert!(text.contains("op=%f, args=[%x])"), "{text}");
    assert!(text.contains("op=%g, args=[%x])"), "{text}");
    let shown = text.split_once('\n').expect("lines").1;
    assert!(!shown.contains("span"), "{text}");
}
