//! `substitute`: by hand, and against a naive oracle on random terms.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use isoform::errors::ErrorKind;
use isoform::traverse::substitute;
use isoform::{Array, Map, Node, Ref, Value, structural_equal, structural_hash};

use crate::support::{
    Add, Call, Expr, Lambda, Link, Var, add, chain, count_objects, doubled, int, scaled,
};

/// A variable; all variables have the same compared name.
fn var() -> Ref<Var> {
    crate::support::var("v")
}

/// A statement: binds its target for the later statements.
#[derive(Node)]
#[node(key = "it.Bind")]
#[repr(C)]
pub(crate) struct Bind {
    #[node(base, default)]
    base: Expr,
    pub(crate) value: Ref<Expr>,
    #[node(def_simple)]
    pub(crate) target: Ref<Var>,
}

fn block(items: impl IntoIterator<Item = Value>) -> Ref<Expr> {
    Call::new(items.into_iter().collect::<Vec<_>>()).upcast()
}

#[track_caller]
fn replaced(root: impl Into<Value>, pairs: &[(&Ref<Var>, Value)]) -> Value {
    let pairs: Vec<_> = pairs
        .iter()
        .map(|(var, value)| (Value::from(*var), value.clone()))
        .collect();
    substitute(root, &pairs).expect("the substitution succeeds")
}

#[track_caller]
fn check(root: impl Into<Value>, pairs: &[(&Ref<Var>, Value)], expected: impl Into<Value>) {
    let (result, expected) = (replaced(root, pairs), expected.into());
    assert!(
        structural_equal(&result, &expected).unwrap(),
        "got {result:?}\nexpected {expected:?}"
    );
    assert_eq!(
        structural_hash(&result).unwrap(),
        structural_hash(&expected).unwrap()
    );
}

#[track_caller]
fn unchanged(root: impl Into<Value>, pairs: &[(&Ref<Var>, Value)]) {
    let root = root.into();
    assert_eq!(replaced(&root, pairs), root);
}

#[test]
fn free_occurrences_are_replaced() {
    let (x, y) = (var(), var());
    check(&x, &[(&x, 5.into())], 5);
    check(add(&x, &y), &[(&x, int(1).into())], add(int(1), &y));
    let map: Map = [(Value::from(&x), Value::from(&x))].into_iter().collect();
    let expected: Map = [(Value::from(1), Value::from(1))].into_iter().collect();
    check(map, &[(&x, 1.into())], expected);
    let list = isoform::values::List::from(vec![Value::from(&x)]);
    check(
        list,
        &[(&x, 1.into())],
        isoform::values::List::from(vec![1i64]),
    );
    unchanged(add(&x, &x), &[(&y, int(1).into())]);
    unchanged(add(&x, &x), &[]);
    unchanged(7, &[(&y, int(1).into())]);
}

#[test]
fn all_pairs_are_replaced_at_once() {
    let (x, y) = (var(), var());
    let pairs = [(&x, Value::from(&y)), (&y, Value::from(&x))];
    check(add(&x, &y), &pairs, add(&y, &x));
}

#[test]
fn bound_occurrences_stay() {
    let (x, y) = (var(), var());
    unchanged(
        Lambda::new(add(&x, &x), vec![x.clone()]),
        &[(&x, int(1).into())],
    );
    let root = add(&x, Lambda::new(add(&x, &y), vec![x.clone()]));
    let expected = add(int(1), Lambda::new(add(&x, &y), vec![x.clone()]));
    check(&root, &[(&x, int(1).into())], expected);
    let result = replaced(&root, &[(&x, int(1).into())]);
    let (old, new) = (root.as_object(), result.as_object().unwrap());
    let part = |sum: &Ref<isoform::Obj>| sum.downcast_ref::<Add>().unwrap().rhs.clone();
    assert!(part(old).same_as(&part(new)));
}

#[test]
fn nothing_is_captured() {
    let (x, y, z) = (var(), var(), var());
    // fun x -> x + y, with y := x.
    let root = Lambda::new(add(&x, &y), vec![x.clone()]);
    check(
        &root,
        &[(&y, Value::from(&x))],
        Lambda::new(add(&z, &x), vec![z.clone()]),
    );
    let result = replaced(&root, &[(&y, Value::from(&x))]);
    let result = result.extract::<Ref<Lambda>>().unwrap();
    let param = result.params.get(0).unwrap();
    assert!(!param.same_as(&x));
    assert_eq!(param.name, x.name);
    // Deep inside a replacement, and two binders down.
    let inner = Lambda::new(add(add(&x, &y), &z), vec![x.clone()]);
    let root = Lambda::new(&inner, vec![z.clone()]);
    let (a, b) = (var(), var());
    let expected = Lambda::new(Lambda::new(add(add(&a, add(&x, &z)), &b), vec![a]), vec![b]);
    check(&root, &[(&y, add(&x, &z).into())], expected);
}

#[test]
fn a_binder_is_renamed_only_where_something_is_replaced() {
    let (x, y) = (var(), var());
    let inner = Lambda::new(add(&x, &x), vec![x.clone()]);
    unchanged(&inner, &[(&y, Value::from(&x))]);
    let root = Array::from([Value::from(&inner), Value::from(&y)]);
    let result = replaced(root, &[(&y, Value::from(&x))]);
    let items = result.extract::<Array>().unwrap();
    assert_eq!(items.values(), [Value::from(&inner), Value::from(&x)]);
    // An inner binder that refers to a renamed outer binder is changed, too.
    let outer = Lambda::new(
        add(Lambda::new(add(&x, &y), vec![y.clone()]), &x),
        vec![x.clone()],
    );
    unchanged(&outer, &[(&y, Value::from(&x))]);
}

#[test]
fn statements_bind_to_the_end_of_the_scope_around_them() {
    let (x, y, z) = (var(), var(), var());
    let bind = |target: &Ref<Var>| Value::from(Bind::new(int(1), target));
    // { x; let x = 1; x }: only the first is free.
    let root = block([Value::from(&x), bind(&x), Value::from(&x)]);
    let expected = block([int(7).into(), bind(&z), Value::from(&z)]);
    check(&root, &[(&x, int(7).into())], expected);
    // { let x = 1; x + y } with y := x.
    let root = block([bind(&x), add(&x, &y).into()]);
    let expected = block([bind(&z), add(&z, &x).into()]);
    check(&root, &[(&y, Value::from(&x))], expected);
    // { fun () { let x = 1 }; x }: the binding ends with the function.
    let function = Lambda::new(block([bind(&x), Value::from(&x)]), vec![]);
    let root = block([Value::from(&function), Value::from(&x)]);
    let expected = block([Value::from(&function), int(7).into()]);
    check(&root, &[(&x, int(7).into())], expected);
}

#[test]
fn a_bound_variable_whose_type_changes_is_rebuilt_wherever_it_is_bound() {
    let (n, m) = (var(), var());
    let typed = |ty: &Ref<Var>| Var::typed("v", ty);
    let (x, expected) = (typed(&n), typed(&m));
    let body = |x: &Ref<Var>| block([Value::from(Bind::new(int(1), x)), add(x, x).into()]);
    check(body(&x), &[(&n, Value::from(&m))], body(&expected));
    // The type of a parameter is part of the pattern, so variables in the type are bound.
    unchanged(
        Lambda::new(add(&x, &n), vec![x.clone()]),
        &[(&n, Value::from(&m))],
    );
    // A free variable belongs to a binder elsewhere.
    unchanged(add(&x, &x), &[(&n, Value::from(&m))]);
}

#[test]
fn sharing_is_kept_and_makes_the_cost_linear() {
    let y = var();
    let levels = 60;
    let mut root: Ref<Expr> = y.clone().upcast();
    let mut scoped: Ref<Expr> = y.clone().upcast();
    let x = var();
    for _ in 0..levels {
        root = add(&root, &root);
        scoped = Lambda::new(add(add(&scoped, &scoped), &x), vec![x.clone()]).upcast();
    }
    let pairs = [(&y, Value::from(&x))];
    assert_eq!(
        count_objects(replaced(&root, &pairs), Default::default()).unwrap(),
        levels + 1
    );
    let count = |value: &Value| count_objects(value, Default::default()).unwrap();
    // Each level gets a separate copy of the parameter.
    let before = count(&Value::from(&scoped));
    assert_eq!(count(&replaced(&scoped, &pairs)), before + levels - 1);
    unchanged(doubled(levels), &pairs);
}

#[test]
fn depth_is_limited_by_memory_only() {
    let length = scaled(300_000);
    let (x, y) = (var(), var());
    unchanged(chain(length), &[(&x, 1.into())]);
    let mut root = Value::from(&x);
    for _ in 0..length {
        root = Link::new(root).into();
    }
    let result = replaced(&root, &[(&x, Value::from(&y))]);
    assert_eq!(
        count_objects(result, Default::default()).unwrap(),
        length + 1
    );
    let mut nested: Ref<Expr> = x.clone().upcast();
    for _ in 0..length / 10 {
        nested = Lambda::new(&nested, vec![y.clone()]).upcast();
    }
    let result = replaced(&nested, &[(&x, Value::from(&y))]);
    assert!(!structural_equal(&result, &nested).unwrap());
}

#[test]
fn wrong_arguments_are_errors() {
    let x = Value::from(var());
    let error = |pairs: &[(Value, Value)]| {
        let error = substitute(1, pairs).expect_err("wrong arguments");
        assert_eq!(error.kind(), ErrorKind::Type);
        error.message().to_string()
    };
    let message = error(&[(int(1).into(), 2.into())]);
    assert_eq!(message, "substitute: expected a variable, got it.Int");
    let twice = error(&[(x.clone(), 1.into()), (x.clone(), 2.into())]);
    assert!(twice.ends_with("is given twice"), "{twice}");
    let root = Value::from([Value::from(add(x.extract::<Ref<Var>>().unwrap(), int(1)))]);
    let unfit = substitute(&root, &[(x.clone(), 5)]).expect_err("an int is no expression");
    assert_eq!(
        unfit.to_string(),
        "TypeError: it.Add.lhs: expected it.Expr, got int (at <root>[0])"
    );
    let list: isoform::values::List = isoform::values::List::new();
    list.push(list.clone().into()).unwrap();
    let cyclic = substitute(list.clone(), &[(x, 1)]).expect_err("a cycle");
    assert_eq!(cyclic.kind(), ErrorKind::Value);
    list.clear();
}

/// A term over numbered variables; the same `Rc` is the same object.
#[derive(Debug)]
pub(crate) enum Term {
    Var(usize),
    Int(i64),
    Add(Rc<Term>, Rc<Term>),
    Block(Vec<Rc<Term>>),
    Bind(Rc<Term>, usize),
    Lambda(Vec<usize>, Rc<Term>),
}

pub(crate) const VARS: usize = 5;

/// The type of a variable: the preceding variable, or `None`.
fn type_of(var: usize) -> Option<usize> {
    (var % 2 == 1).then(|| var - 1)
}

pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        (self.0 >> 33) as usize % limit
    }

    pub(crate) fn term(&mut self, depth: usize, terms: &mut Vec<Rc<Term>>) -> Rc<Term> {
        if !terms.is_empty() && self.below(6) == 0 {
            return terms[self.below(terms.len())].clone();
        }
        let term = match if depth == 0 { 9 } else { self.below(10) } {
            0..3 => Term::Add(self.term(depth - 1, terms), self.term(depth - 1, terms)),
            3 | 4 => {
                let length = self.below(4);
                Term::Block((0..length).map(|_| self.term(depth - 1, terms)).collect())
            }
            5 => Term::Bind(self.term(depth - 1, terms), self.below(VARS)),
            6 | 7 => {
                let length = self.below(3);
                let params = (0..length).map(|_| self.below(VARS)).collect();
                Term::Lambda(params, self.term(depth - 1, terms))
            }
            _ if self.below(5) == 0 => Term::Int(self.below(3) as i64),
            _ => Term::Var(self.below(VARS)),
        };
        let term = Rc::new(term);
        terms.push(term.clone());
        term
    }
}

/// The term in IR, with the sharing and the given variables.
pub(crate) fn shared(
    term: &Rc<Term>,
    vars: &[Ref<Var>],
    done: &mut HashMap<*const Term, Ref<Expr>>,
) -> Ref<Expr> {
    if let Some(expr) = done.get(&Rc::as_ptr(term)) {
        return expr.clone();
    }
    let mut go = |term: &Rc<Term>| shared(term, vars, done);
    let result = match &**term {
        Term::Var(index) => vars[*index].clone().upcast(),
        Term::Int(number) => int(*number),
        Term::Add(left, right) => add(go(left), go(right)),
        Term::Block(items) => block(items.iter().map(|item| go(item).into())),
        Term::Bind(value, target) => Bind::new(go(value), &vars[*target]).upcast(),
        Term::Lambda(params, body) => {
            let params: Vec<_> = params.iter().map(|param| vars[*param].clone()).collect();
            Lambda::new(go(body), params).upcast()
        }
    };
    done.insert(Rc::as_ptr(term), result.clone());
    result
}

/// Gives every binder a new variable while it replaces: obviously right, and
/// exponential.
struct Oracle<'a> {
    vars: &'a [Ref<Var>],
    pairs: &'a HashMap<usize, Ref<Expr>>,
    scopes: Vec<HashMap<usize, Ref<Var>>>,
    replaced: usize,
    free: HashSet<usize>,
    ill_formed: bool,
}

impl Oracle<'_> {
    fn used(&mut self, var: usize) -> Ref<Expr> {
        if let Some(bound) = self.scopes.iter().rev().find_map(|scope| scope.get(&var)) {
            return bound.clone().upcast();
        }
        if let Some(replacement) = self.pairs.get(&var) {
            self.replaced += 1;
            return replacement.clone();
        }
        // A free variable with a type bound here is meaningless.
        let bound = |ty| self.scopes.iter().any(|scope| scope.contains_key(&ty));
        self.ill_formed |= type_of(var).is_some_and(bound);
        self.free.insert(var);
        self.free.extend(type_of(var));
        self.vars[var].clone().upcast()
    }

    /// The variable that a definition field binds or refers to; in a pattern, its type
    /// binds too.
    fn defined(&mut self, index: usize, pattern: bool) -> Ref<Var> {
        let innermost = self.scopes.len() - 1;
        if let Some(known) = self.scopes[innermost].get(&index) {
            return known.clone();
        }
        // Comparison identifies a variable used before it is bound in the
        // outermost scope with the bound variable.
        self.ill_formed |= innermost == 0 && self.free.contains(&index);
        let fresh = match type_of(index) {
            None => var(),
            Some(ty) if pattern => Var::typed("v", self.defined(ty, true)),
            Some(ty) => Var::typed("v", self.used(ty)),
        };
        self.scopes[innermost].insert(index, fresh.clone());
        fresh
    }

    fn build(&mut self, term: &Term) -> Ref<Expr> {
        match term {
            Term::Var(var) => self.used(*var),
            Term::Int(number) => int(*number),
            Term::Add(left, right) => {
                let left = self.build(left);
                add(left, self.build(right))
            }
            Term::Block(items) => {
                let items: Vec<_> = items.iter().map(|item| self.build(item).into()).collect();
                block(items)
            }
            Term::Bind(value, target) => {
                let value = self.build(value);
                Bind::new(value, self.defined(*target, false)).upcast()
            }
            Term::Lambda(params, body) => {
                self.scopes.push(HashMap::new());
                let params: Vec<_> = params.iter().map(|var| self.defined(*var, true)).collect();
                let body = self.build(body);
                self.scopes.pop();
                Lambda::new(body, params).upcast()
            }
        }
    }
}

#[test]
fn random_terms_agree_with_renaming_everything_apart() {
    let (mut replaced_somewhere, mut left_alone) = (0, 0);
    for seed in 0..scaled(100_000) as u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut vars: Vec<Ref<Var>> = Vec::new();
        for index in 0..VARS {
            vars.push(match type_of(index) {
                None => var(),
                Some(ty) => Var::typed("v", &vars[ty]),
            });
        }
        let mut terms = Vec::new();
        let term = random.term(6, &mut terms);
        let mut done = HashMap::new();
        let root = shared(&term, &vars, &mut done);
        let mut pairs = HashMap::new();
        for _ in 0..1 + random.below(2) {
            let var = random.below(VARS);
            let replacement = random.term(2, &mut Vec::new());
            // Replacing a variable by itself changes nothing, renames nothing and
            // leaves the meant occurrence open.
            if !matches!(*replacement, Term::Var(same) if same == var) {
                pairs.insert(var, shared(&replacement, &vars, &mut HashMap::new()));
            }
        }
        let mut oracle = Oracle {
            vars: &vars,
            pairs: &pairs,
            scopes: vec![HashMap::new()],
            replaced: 0,
            free: HashSet::new(),
            ill_formed: false,
        };
        let expected = oracle.build(&term);
        if oracle.ill_formed {
            continue;
        }
        let list: Vec<_> = pairs
            .iter()
            .map(|(var, value)| (Value::from(&vars[*var]), Value::from(value)))
            .collect();
        let result = substitute(&root, &list).expect("the substitution succeeds");
        if oracle.replaced == 0 {
            left_alone += 1;
            assert_eq!(
                result,
                Value::from(&root),
                "seed {seed}: {root:?} with {list:?}"
            );
        } else {
            replaced_somewhere += 1;
        }
        assert!(
            structural_equal(&result, &expected).unwrap(),
            "seed {seed}: {term:?} with {:?}\ngives {result:?}\ninstead of {expected:?}",
            pairs
        );
    }
    assert!(replaced_somewhere > left_alone / 20 && left_alone > replaced_somewhere / 20);
}
