//! The search on something else than models: lists of numbers.

use isoform::compare::Digest;
use isoform::{Array, Result, Value, structural_digest};

use crate::reduce::search::{Reducible, Search, Verdict};

/// Each number stands alone. Variants halve a number.
#[derive(Debug)]
struct Numbers(Vec<i64>);

impl Reducible for Numbers {
    type Replacement = ();
    const REPLACEMENTS: &'static [()] = &[()];
    const CUT: () = ();

    fn size(&self) -> usize {
        self.0.len()
    }

    fn digest(&self) -> Result<Digest> {
        let numbers = self.0.iter().map(|number| Value::from(*number));
        structural_digest(numbers.collect::<Array>())
    }

    fn parts(&self) -> usize {
        self.0.len()
    }

    fn without(&self, lost: &[bool], (): ()) -> Result<Option<Self>> {
        let kept = self.0.iter().zip(lost).filter(|(_, lost)| !**lost);
        let kept: Vec<i64> = kept.map(|(number, _)| *number).collect();
        // The empty list is not valid.
        Ok((!kept.is_empty() && kept.len() < self.0.len()).then_some(Numbers(kept)))
    }

    fn needed_by(&self, _part: usize) -> Vec<bool> {
        vec![true; self.0.len()]
    }

    fn users_of(&self, _part: usize) -> Vec<bool> {
        vec![true; self.0.len()]
    }

    fn variants(&self) -> usize {
        self.0.len()
    }

    fn variant(&self, number: usize) -> Result<Option<Self>> {
        let mut halved = self.0.clone();
        halved[number] /= 2;
        Ok((self.0[number] > 0).then_some(Numbers(halved)))
    }
}

/// The smallest list found, and the lists that were checked.
fn reduced(numbers: Vec<i64>, fails: impl Fn(&[i64]) -> bool) -> (Vec<i64>, Vec<Vec<i64>>) {
    let mut checked = Vec::new();
    let mut check = |candidate: &Numbers, _| {
        checked.push(candidate.0.clone());
        Ok(if fails(&candidate.0) {
            Verdict::Fails
        } else {
            Verdict::Passes
        })
    };
    let mut search = Search::new(Numbers(numbers), usize::MAX, &mut check);
    assert!(search.run().is_ok());
    let best = search.best.0.clone();
    (best, checked)
}

#[test]
fn any_numbers_that_fail_together_are_found() {
    for wanted in [
        vec![0],
        vec![99],
        vec![17, 18],
        vec![3, 50, 98],
        vec![0, 99],
    ] {
        let has_all = |numbers: &[i64]| {
            wanted
                .iter()
                .all(|number| numbers.contains(&(number + 1000)))
        };
        let (best, checked) = reduced((1000..1100).collect(), has_all);
        let expected: Vec<i64> = wanted.iter().map(|number| number + 1000).collect();
        assert_eq!(best, expected);
        assert!(checked.len() < 60, "{wanted:?}: {} checks", checked.len());
        let mut distinct = checked.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), checked.len(), "{wanted:?}");
    }
}

/// Lists of an even length pass, so that no number can go alone.
#[test]
fn short_rows_go_at_once() {
    let is_odd = |numbers: &[i64]| numbers.len() % 2 == 1 && numbers.contains(&1000);
    let (best, _) = reduced((1000..1015).collect(), is_odd);
    assert_eq!(best, [1000]);
}

#[test]
fn variants_make_the_rest_simpler() {
    let (best, _) = reduced((1000..1100).collect(), |numbers| {
        numbers.iter().any(|number| *number >= 100)
    });
    assert_eq!(best.len(), 1);
    assert!((100..200).contains(&best[0]), "{best:?}");
}

/// A program that fails only as a whole stays.
#[test]
fn nothing_goes_if_all_is_needed() {
    let whole: Vec<i64> = (1000..1010).collect();
    let (best, checked) = reduced(whole.clone(), |numbers| *numbers == *whole);
    assert_eq!(best, whole);
    assert!(checked.len() < 60, "{} checks", checked.len());
}
