//! Free variables, new variables for binders, and faults of bindings: by hand, and against
//! a naive oracle on random terms.

use std::collections::{BTreeSet, HashMap};

use isoform::assert_structural_eq;
use isoform::traverse::{
    BindingFaultKind, WalkOptions, WalkResult, check_well_formed, free_variables, fresh_binders,
};
use isoform::types::RegionKind;
use isoform::{Array, Ref, Value, structural_equal};

use crate::substitute::{Random, Term, VARS, shared};
use crate::support::{Lambda, Var, add, int, scaled, var};

fn faults(value: impl Into<Value>) -> Vec<(String, BindingFaultKind)> {
    let found = check_well_formed(value).expect("the value has no cycle");
    let pairs = found
        .into_iter()
        .map(|fault| (fault.path.to_string(), fault.kind));
    pairs.collect()
}

fn bound_in(value: &Value) -> BTreeSet<u64> {
    let mut bound = BTreeSet::new();
    let walked = WalkOptions::default().walk_objects(value, |object, region| {
        if region != RegionKind::Use && object.downcast_ref::<Var>().is_some() {
            bound.insert(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    });
    walked.expect("the value has no cycle");
    bound
}

#[test]
fn faults_have_places_and_kinds() {
    let (x, y) = (var("x"), var("y"));
    let fun = || Lambda::new(add(&x, &y), vec![x.clone()]);
    assert_eq!(faults(fun()), []);
    let twice = Array::from([Value::from(fun()), fun().into()]);
    let path = "<root>[1].params[0]".to_owned();
    assert_eq!(faults(twice), [(path, BindingFaultKind::BoundTwice)]);
    let outside = Array::from([Value::from(fun()), Value::from(&x), Value::from(&x)]);
    let path = "<root>[1]".to_owned();
    assert_eq!(faults(outside), [(path, BindingFaultKind::UsedOutside)]);
    let before = Array::from([Value::from(&x), fun().into()]);
    let path = "<root>[1].params[0]".to_owned();
    assert_eq!(faults(before), [(path, BindingFaultKind::UsedBefore)]);
    let same = Lambda::new(&x, vec![x.clone(), x.clone()]);
    let path = "<root>.params[1]".to_owned();
    assert_eq!(faults(same), [(path, BindingFaultKind::BoundTwice)]);
    // One object on two paths binds once.
    let one = fun();
    assert_eq!(faults(Array::from([Value::from(&one), one.into()])), []);
    let nested = Lambda::new(fun(), vec![x.clone()]);
    assert_eq!(faults(nested)[0].1, BindingFaultKind::BoundTwice);
}

#[test]
fn faults_are_an_error_on_request() {
    let x = var("x");
    let fun = || Value::from(Lambda::new(&x, vec![x.clone()]));
    let check = |value: Vec<Value>| check_well_formed(Array::from(value))?.into_result();
    assert!(check(vec![fun()]).is_ok());
    let error = check(vec![fun(), fun()]).expect_err("bound twice");
    let path = "<root>[1].params[0]: the variable";
    let begin = format!("the bindings have 1 fault:\n  {path}");
    assert!(error.message().starts_with(&begin), "{error}");
    let error = check(vec![fun(), fun(), fun()]).expect_err("bound twice");
    assert!(
        error.message().starts_with("the bindings have 2 faults:\n"),
        "{error}"
    );
}

#[test]
fn fresh_binders_bind_apart_and_keep_the_rest() {
    let (x, y) = (var("x"), var("y"));
    let fun = || Value::from(Lambda::new(add(&x, &y), vec![x.clone()]));
    let open = Value::from(add(&x, &y));
    assert_eq!(fresh_binders(&open).unwrap(), open);
    let twice = Value::from(Array::from([fun(), fun(), open.clone()]));
    let fresh = fresh_binders(&twice).unwrap();
    assert_structural_eq!(&fresh, &twice, "with new variables");
    let items = fresh.extract::<Array>().unwrap();
    assert_eq!(items.values()[2], open);
    assert_eq!(bound_in(&fresh).len(), 2);
    assert!(bound_in(&fresh).is_disjoint(&bound_in(&twice)));
    let one = fun();
    let shared = fresh_binders(Array::from([one.clone(), one])).unwrap();
    let items = shared.extract::<Array>().unwrap();
    assert_eq!(items.values()[0], items.values()[1]);
}

#[test]
#[should_panic(expected = "after the pass: ValueError: the values are not structurally equal")]
fn the_macro_shows_both_sides() {
    let pass = "the pass";
    assert_structural_eq!(add(int(1), int(1)), add(int(1), int(2)), "after {pass}");
}

/// The occurrences of variables in a term, written out: exponential, and obviously right.
#[derive(Default)]
struct Oracle {
    scopes: Vec<BTreeSet<usize>>,
    free: BTreeSet<usize>,
    /// The objects that bind a variable.
    binders: HashMap<usize, BTreeSet<*const Term>>,
    is_faulty: bool,
}

impl Oracle {
    fn used(&mut self, var: usize) {
        if !self.scopes.iter().any(|scope| scope.contains(&var)) {
            self.free.insert(var);
        }
    }

    fn defined(&mut self, var: usize, binder: *const Term) {
        let scope = self.scopes.last_mut().expect("the outermost scope");
        // The second definition of a variable in a scope.
        self.is_faulty |= !scope.insert(var);
        self.binders.entry(var).or_default().insert(binder);
    }

    fn visit(&mut self, term: &Term) {
        match term {
            Term::Var(var) => self.used(*var),
            Term::Int(_) => {}
            Term::Add(left, right) => [left, right].into_iter().for_each(|it| self.visit(it)),
            Term::Block(items) => items.iter().for_each(|item| self.visit(item)),
            Term::Bind(value, target) => {
                self.visit(value);
                self.defined(*target, term);
            }
            Term::Lambda(params, body) => {
                self.scopes.push(BTreeSet::new());
                params.iter().for_each(|param| self.defined(*param, term));
                self.visit(body);
                self.scopes.pop();
            }
        }
    }

    fn is_well_formed(&self) -> bool {
        let is_right =
            |(var, by): (&usize, &BTreeSet<_>)| by.len() == 1 && !self.free.contains(var);
        !self.is_faulty && self.binders.iter().all(is_right)
    }
}

#[test]
fn random_terms_agree_with_the_oracle() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..scaled(100_000) as u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let vars: Vec<Ref<Var>> = (0..VARS).map(|_| var("v")).collect();
        // Deep terms bind something twice nearly always.
        let term = random.term(2 + seed as usize % 4, &mut Vec::new());
        let root = Value::from(shared(&term, &vars, &mut HashMap::new()));
        let mut oracle = Oracle {
            scopes: vec![BTreeSet::new()],
            ..Oracle::default()
        };
        oracle.visit(&term);

        let free = free_variables(&root).unwrap();
        let free: BTreeSet<u64> = free.iter().map(|var| var.identity()).collect();
        let expected = oracle.free.iter().map(|var| vars[*var].identity());
        assert_eq!(free, expected.collect(), "seed {seed}: {term:?}");

        let found = check_well_formed(&root).unwrap();
        let is_right = oracle.is_well_formed();
        assert_eq!(
            found.is_empty(),
            is_right,
            "seed {seed}: {term:?}: {found:?}"
        );
        if is_right {
            right += 1;
        } else {
            wrong += 1;
        }

        // Comparison identifies a free variable with the binder of the outermost scope that
        // comes later, and the copy keeps the free variable.
        let confused = |var: &usize| oracle.scopes[0].contains(var);
        if oracle.free.iter().any(confused) {
            continue;
        }
        let fresh = fresh_binders(&root).unwrap();
        assert!(
            structural_equal(&fresh, &root).unwrap(),
            "seed {seed}: {term:?}"
        );
        let (old, new) = (bound_in(&root), bound_in(&fresh));
        assert!(old.is_disjoint(&new), "seed {seed}: {term:?} {fresh:?}");
        let of_fresh = free_variables(&fresh).unwrap();
        let of_fresh: BTreeSet<u64> = of_fresh.iter().map(|var| var.identity()).collect();
        assert_eq!(of_fresh, free, "seed {seed}: {term:?}");
    }
    assert!(right > wrong / 20 && wrong > right / 20, "{right} {wrong}");
}
