//! Visitors, mutators and builders of the statement dialect.

use isoform::traverse::WalkResult;
use isoform::{Error, Obj, Ref, Result, Value, structural_equal};
use isoform_pto as pto;
use isoform_pto::{
    Add, AssignStmt, BinaryExpr, ConstInt, DataType, EvalStmt, Expr, ForStmt, Function, IRBuilder,
    IRMutator, IRVisitor, IfStmt, IterArg, ProgramBuilder, Role, ScalarType, Scope, SeqStmts, Stmt,
    Type, Var, YieldStmt,
};

use isoform_testing::source::scaled;

const INT: DataType = DataType::Int64;

fn int() -> Ref<Type> {
    ScalarType::new(INT).upcast()
}

fn var(name: &str) -> Ref<Var> {
    Var::new(name, int())
}

fn number(value: i64) -> Ref<Expr> {
    ConstInt::new(value, INT).upcast()
}

fn seq<const N: usize>(stmts: [Ref<Stmt>; N]) -> Ref<Stmt> {
    SeqStmts::new(stmts).upcast()
}

fn assign(var: &Ref<Var>, value: &Ref<Expr>) -> Ref<Stmt> {
    AssignStmt::new(var, value).upcast()
}

fn sum(left: &Ref<Var>, right: &Ref<Expr>) -> Ref<Expr> {
    Add::new(left, right, INT).upcast().upcast()
}

fn text(value: &Value) -> String {
    pto::python_print(value.clone()).expect("a text")
}

/// The nodes met by a visit, in order.
#[derive(Default)]
struct Log(Vec<String>);

impl IRVisitor for Log {
    fn visit_node(&mut self, op: &Ref<Obj>) -> Result<WalkResult<()>> {
        let key = op.type_info().key();
        if !matches!(key, "pto.ScalarType" | "pto.DataType") {
            self.0.push(key.to_owned());
        }
        Ok(WalkResult::Advance)
    }

    fn leave_node(&mut self, op: &Ref<Obj>) -> Result<()> {
        if op.isa::<Stmt>() {
            self.0.push(format!("end of {}", op.type_info().key()));
        }
        Ok(())
    }

    fn visit_binary_expr(&mut self, op: &Ref<BinaryExpr>) -> Result<WalkResult<()>> {
        self.0.push(format!("binary {}", op.type_info().key()));
        self.visit_expr(&op.clone().upcast())
    }

    fn visit_var(&mut self, op: &Ref<Var>) -> Result<WalkResult<()>> {
        self.0.push(op.name_hint.to_string());
        Ok(WalkResult::Skip)
    }
}

#[test]
fn methods_are_found_along_the_classes_and_objects_are_visited_once() {
    let [x, y] = ["x", "y"].map(var);
    let both = sum(&x, &sum(&x, &y.clone().upcast()));
    let stmts = seq([assign(&y, &both), EvalStmt::new(&both).upcast()]);
    let mut log = Log::default();
    pto::visit(&mut log, &stmts).expect("the visit comes to its end");
    assert_eq!(
        log.0,
        [
            "pto.SeqStmts",
            "pto.AssignStmt",
            "y",
            "binary pto.Add",
            "pto.Add",
            "x",
            "binary pto.Add",
            "pto.Add",
            "end of pto.AssignStmt",
            "pto.EvalStmt",
            "end of pto.EvalStmt",
            "end of pto.SeqStmts",
        ]
    );
}

#[test]
fn methods_may_end_a_visit() {
    struct First(Option<String>);
    impl IRVisitor for First {
        fn visit_var(&mut self, op: &Ref<Var>) -> Result<WalkResult<()>> {
            self.0 = Some(op.name_hint.to_string());
            Ok(WalkResult::Interrupt(()))
        }
    }
    let mut first = First(None);
    let both = sum(&var("x"), &var("y").upcast());
    pto::visit(&mut first, &both).expect("the visit ends");
    assert_eq!(first.0.as_deref(), Some("x"));

    struct Fails;
    impl IRVisitor for Fails {
        fn visit_var(&mut self, op: &Ref<Var>) -> Result<WalkResult<()>> {
            Err(Error::value_error(format!("met {}", op.name_hint)))
        }
    }
    let error = pto::visit(&mut Fails, &both).expect_err("the method fails");
    assert_eq!(error.message(), "met x");
}

/// Replaces every variable except one named `keep`.
struct Rename;

impl IRMutator for Rename {
    fn mutate_var(&mut self, op: &Ref<Var>) -> Result<Option<Value>> {
        let renamed = Var::new(format!("{}_", op.name_hint), &op.ty);
        Ok((&*op.name_hint != "keep").then(|| renamed.into()))
    }
}

#[test]
fn a_variable_that_is_replaced_is_replaced_in_its_uses() {
    let [x, y, keep] = ["x", "y", "keep"].map(var);
    let stmts = seq([
        assign(&x, &keep.clone().upcast()),
        assign(&y, &sum(&x, &sum(&x, &number(1)))),
    ]);
    let renamed = pto::mutate(&mut Rename, &stmts).expect("the rewrite comes to its end");
    assert!(structural_equal(&renamed, &stmts).expect("comparable"));
    assert_eq!(
        text(&renamed),
        "x_: pl.INT64 = keep\ny_: pl.INT64 = x_ + (x_ + 1)\n"
    );
    let only = assign(&keep, &number(1));
    let same = pto::mutate(&mut Rename, &only).expect("the rewrite comes to its end");
    assert_eq!(same, Value::from(&only));
}

/// Replaces the variables in definitions of statements, and nowhere else.
struct Redefine;

impl IRMutator for Redefine {
    fn mutate_assign_stmt(&mut self, op: &Ref<AssignStmt>) -> Result<Option<Value>> {
        let var = Var::new(format!("{}_new", op.var.name_hint), &op.var.ty);
        Ok(Some(op.with_var(var).into()))
    }

    fn mutate_for_stmt(&mut self, op: &Ref<ForStmt>) -> Result<Option<Value>> {
        let var = Var::new("k", &op.loop_var.ty);
        Ok(Some(op.with_loop_var(var).into()))
    }
}

#[test]
fn definitions_that_a_statement_replaces_are_replaced_in_their_uses() {
    let [i, x, y] = ["i", "x", "y"].map(var);
    let body = assign(&x, &sum(&i, &number(1)));
    let looped = ForStmt::new(&i, number(0), number(8), number(1), body);
    let again = assign(&x, &sum(&x, &number(2)));
    let stmts = seq([looped.upcast(), again, assign(&y, &x.clone().upcast())]);
    let result = pto::mutate(&mut Redefine, &stmts).expect("the rewrite comes to its end");
    // Each use gets the variable of the preceding definition.
    assert_eq!(
        text(&result),
        "\
for k in pl.range(0, 8, 1):
    x_new: pl.INT64 = k + 1
x_new_1: pl.INT64 = x_new + 2
y_new: pl.INT64 = x_new_1
"
    );
}

#[test]
fn shared_nodes_are_rewritten_once_and_stay_shared() {
    struct Count(usize);
    impl IRMutator for Count {
        fn mutate_add(&mut self, op: &Ref<Add>) -> Result<Option<Value>> {
            self.0 += 1;
            Ok(Some(Add::new(&op.right, &op.left, INT).into()))
        }
    }
    let mut expr: Ref<Expr> = var("x").upcast();
    for _ in 0..60 {
        expr = Add::new(&expr, &expr, INT).upcast().upcast();
    }
    let mut count = Count(0);
    let result = pto::mutate(&mut count, &expr).expect("the rewrite comes to its end");
    assert_eq!(count.0, 60);
    assert!(structural_equal(result, &expr).expect("comparable"));
}

#[test]
fn depth_is_limited_by_memory_only() {
    let depth = scaled(1_000_000);
    struct Deep(usize);
    impl IRVisitor for Deep {
        fn visit_add(&mut self, op: &Ref<Add>) -> Result<WalkResult<()>> {
            self.0 += 1;
            self.visit_binary_expr(&op.clone().upcast())
        }

        fn visit_if_stmt(&mut self, _op: &Ref<IfStmt>) -> Result<WalkResult<()>> {
            self.0 += 1;
            Ok(WalkResult::Advance)
        }
    }
    struct Next;
    impl IRMutator for Next {
        fn mutate_const_int(&mut self, op: &Ref<ConstInt>) -> Result<Option<Value>> {
            Ok(Some(op.with_value(op.value + 1).into()))
        }
    }
    let mut expr = number(1);
    for _ in 0..depth {
        expr = sum(&var("x"), &expr);
    }
    let mut stmt: Ref<Stmt> = EvalStmt::new(&expr).upcast();
    for _ in 0..depth {
        stmt = IfStmt::new(var("c"), stmt, None, []).upcast();
    }
    let mut deep = Deep(0);
    pto::visit(&mut deep, &stmt).expect("the visit comes to its end");
    assert_eq!(deep.0, 2 * depth);
    let result = pto::mutate(&mut Next, &stmt).expect("the rewrite comes to its end");
    assert_ne!(result, Value::from(&stmt));
}

#[test]
fn a_definition_behind_a_use_is_collected() {
    let [x, y] = ["x", "y"].map(var);
    let stmts = Value::from(seq([
        EvalStmt::new(sum(&x, &y.clone().upcast())).upcast(),
        assign(&x, &number(1)),
    ]));
    assert_eq!(pto::collect_def_vars(&stmts).expect("collected"), [x]);
    assert_eq!(pto::collect_free_vars(&stmts).expect("collected"), [y]);
}

#[test]
fn a_builder_makes_the_same_as_the_constructors() {
    let mut ib = IRBuilder::new();
    let built = ib
        .function("f", |ib| {
            let n = ib.param("n", int())?;
            let c = ib.param("c", ScalarType::new(DataType::Bool))?;
            let out = ib.for_loop("i", number(0), &n, number(1), |ib, i| {
                let acc = ib.iter_arg("acc", number(0))?;
                let out = ib.return_var("out", None)?;
                let next = ib.let_("next", Add::new(&acc, i, INT))?;
                ib.emit_yield([next.upcast()])?;
                Ok(out)
            })?;
            ib.if_else(&c, |ib| ib.eval(&out), |ib| ib.eval(&n))
        })
        .expect("the function is built");
    let [n, i, next, out] = ["a", "b", "c", "d"].map(var);
    let c = Var::new("e", ScalarType::new(DataType::Bool));
    let acc = IterArg::new("f", int(), number(0));
    let body = seq([
        assign(&next, &sum(&acc.clone().upcast(), &i.clone().upcast())),
        YieldStmt::new([next.upcast()]).upcast(),
    ]);
    let looped =
        ForStmt::carrying(&i, number(0), &n, number(1), [acc], body, [out.clone()]).upcast();
    let branch = IfStmt::new(
        &c,
        EvalStmt::new(&out).upcast(),
        Some(EvalStmt::new(&n).upcast()),
        [],
    );
    let expected = Function::new("g", [n, c], [], seq([looped, branch.upcast()]));
    assert!(structural_equal(&built, &expected).expect("comparable"));
    assert!(
        pto::verify(&built, &Default::default())
            .expect("checked")
            .is_empty()
    );
}

#[track_caller]
fn refused(build: impl FnOnce(&mut IRBuilder) -> Result<()>, expected: &str) {
    let mut ib = IRBuilder::new();
    let error = build(&mut ib).expect_err("the builder refuses this");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn misuse_of_a_builder_is_an_error() {
    let zero = || number(0);
    refused(
        |ib| ib.emit_return([]),
        "ValueError: return: expected a function to be open, got nothing open",
    );
    refused(
        |ib| ib.function("f", |ib| ib.emit_break()).map(drop),
        "ValueError: break: expected a loop to be open, got an open function",
    );
    refused(
        |ib| ib.function("f", |ib| ib.emit_yield([])).map(drop),
        "ValueError: yield: expected a loop or an if to be open, got an open function",
    );
    refused(
        |ib| ib.for_loop("i", zero(), zero(), zero(), |_, _| Ok(())),
        "ValueError: for loop: expected a function to be open, got nothing open",
    );
    refused(
        |ib| {
            ib.function("f", |ib| {
                ib.for_loop("i", zero(), zero(), zero(), |ib, _| {
                    ib.iter_arg("a", zero()).map(drop)
                })
            })
            .map(drop)
        },
        "ValueError: end of loop: expected 1 return_var, as many as there are iter_arg, got 0",
    );
    refused(
        |ib| ib.function("f", |ib| ib.while_loop(|_| Ok(()))).map(drop),
        "ValueError: end of loop: expected a condition of the while loop, got none",
    );
    refused(
        |ib| {
            ib.function("f", |ib| ib.function("g", |_| Ok(())).map(drop))
                .map(drop)
        },
        "ValueError: function: expected nothing to be open, got an open function",
    );
    refused(
        |ib| {
            ib.function("f", |ib| ib.iter_arg("a", zero()).map(drop))
                .map(drop)
        },
        "ValueError: iter_arg: expected a loop to be open, got an open function",
    );
    let mut ib = IRBuilder::new();
    let failed = ib.function("f", |ib| ib.if_then(zero(), |ib| ib.emit_break()));
    assert!(failed.is_err());
    assert_eq!(ib.depth(), 0, "what failed is left out");
    assert!(ib.function("f", |_| Ok(())).is_ok());
}

#[test]
fn builders_make_scopes_and_programs() {
    let mut ib = IRBuilder::new();
    let function = ib
        .function("f", |ib| {
            let scope = Scope::Hierarchy {
                level: pto::Level::Host,
                role: Some(Role::Orchestrator),
                name_hint: "outer".into(),
            };
            ib.scope(scope, |ib| ib.eval(number(1)))
        })
        .expect("the function is built");
    let mut pb = ProgramBuilder::new("p");
    let named = pb.add_function(function).expect("a new name");
    assert_eq!(&*named.name, "f");
    let program = pb.result().expect("a program");
    assert_eq!(
        text(&program.into()),
        "\
@pl.program
class p:
    @pl.function
    def f():
        with pl.at(level=pl.Level.HOST, role=pl.Role.Orchestrator, name_hint=\"outer\"):
            1
"
    );
}

#[test]
fn a_million_nested_statements_are_built() {
    let mut ib = IRBuilder::new();
    ib.begin_function(Function::new("f", [], [], seq([])))
        .expect("begun");
    for _ in 0..scaled(1_000_000) {
        ib.begin_if(number(1)).expect("begun");
    }
    ib.eval(number(1)).expect("added");
    for _ in 0..scaled(1_000_000) {
        ib.end_if().expect("ended");
    }
    assert!(ib.end_function().expect("ended").body.isa::<IfStmt>());
}
