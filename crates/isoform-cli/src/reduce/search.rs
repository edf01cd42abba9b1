//! The search for a small program that still fails, for programs of any kind.

use std::collections::HashMap;
use std::rc::Rc;

use isoform::Result;
use isoform::compare::Digest;

/// A program of which parts can go.
///
/// Parts are for example the nodes of a model, or the operations of a module, in an order in
/// which a part uses only earlier parts. All methods are deterministic.
pub(crate) trait Reducible: Sized {
    /// A name of the ways in which a lost part is replaced, tried in this order.
    type Replacement: Copy + 'static;
    /// All replacements, the most fruitful first.
    const REPLACEMENTS: &'static [Self::Replacement];
    /// The replacement that cuts a program in two: what is lost becomes an input.
    const CUT: Self::Replacement;

    /// The number of parts for people, those included that cannot go.
    fn size(&self) -> usize;
    /// A name of the program: programs with one digest get one check.
    fn digest(&self) -> Result<Digest>;
    /// The number of parts that can go.
    fn parts(&self) -> usize;
    /// The program without these parts, as far as they can go; None if none can, or if the
    /// rest is not a valid program. `lost` has an entry for each part.
    fn without(&self, lost: &[bool], replacement: Self::Replacement) -> Result<Option<Self>>;
    /// For each part, true if the given part needs it, or is the part itself.
    fn needed_by(&self, part: usize) -> Vec<bool>;
    /// For each part, true if it needs the given part, or is the part itself.
    fn users_of(&self, part: usize) -> Vec<bool>;
    /// The number of other programs with less in them, such as a branch in place of a
    /// conditional.
    fn variants(&self) -> usize;
    /// One of these programs; None if it is not valid.
    fn variant(&self, number: usize) -> Result<Option<Self>>;
}

/// The judgement about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The candidate fails as the whole program does.
    Fails,
    /// The candidate does not fail, or fails otherwise.
    Passes,
    /// There was no judgement, because the search shall end.
    Stopped,
}

/// The end of a search before its time.
pub(crate) enum Halt {
    /// The user, or the greatest number of checks, ended the search.
    Stopped,
    Error(isoform::Error),
}

impl From<isoform::Error> for Halt {
    fn from(error: isoform::Error) -> Self {
        Halt::Error(error)
    }
}

/// The greatest number of parts of which all short rows are tried.
const MAX_SLIDING: usize = 8;

type Searched<T> = std::result::Result<T, Halt>;

/// A step that made the program smaller.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Step {
    pub(crate) step: &'static str,
    /// The size after the step.
    pub(crate) nodes: usize,
    /// The number of checks until then.
    pub(crate) checks: usize,
}

/// A search for a small program that fails.
pub(crate) struct Search<'a, P: Reducible> {
    /// The smallest program so far that fails.
    pub(crate) best: Rc<P>,
    /// The number of candidates that were checked.
    pub(crate) checks: usize,
    pub(crate) steps: Vec<Step>,
    limit: usize,
    tried: HashMap<Digest, bool>,
    check: &'a mut dyn FnMut(&P, Progress) -> Result<Verdict>,
}

/// The state of a search before a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// The size of the smallest program that fails.
    pub(crate) nodes: usize,
    /// The number of checks before.
    pub(crate) checks: usize,
}

impl<'a, P: Reducible> Search<'a, P> {
    /// A search in a program that fails, with at most `limit` checks.
    pub(crate) fn new(
        whole: P,
        limit: usize,
        check: &'a mut dyn FnMut(&P, Progress) -> Result<Verdict>,
    ) -> Self {
        Search {
            best: Rc::new(whole),
            checks: 0,
            steps: Vec::new(),
            limit,
            tried: HashMap::new(),
            check,
        }
    }

    /// Makes the program as small as the search can; `best` is also right after an end before
    /// its time.
    pub(crate) fn run(&mut self) -> Searched<()> {
        let digest = self.best.digest()?;
        self.tried.insert(digest, true);
        self.cut_end()?;
        self.cut_start()?;
        self.cut_beside()?;
        loop {
            for replacement in P::REPLACEMENTS {
                self.thin(*replacement)?;
            }
            if !self.slide()? && !self.vary()? {
                return Ok(());
            }
        }
    }

    /// True if a candidate fails. A digest that was tried needs no check.
    fn fails(&mut self, candidate: &P) -> Searched<bool> {
        let digest = candidate.digest()?;
        if let Some(fails) = self.tried.get(&digest) {
            return Ok(*fails);
        }
        if self.checks >= self.limit {
            return Err(Halt::Stopped);
        }
        let progress = Progress {
            nodes: self.best.size(),
            checks: self.checks,
        };
        let fails = match (self.check)(candidate, progress)? {
            Verdict::Fails => true,
            Verdict::Passes => false,
            Verdict::Stopped => return Err(Halt::Stopped),
        };
        self.checks += 1;
        self.tried.insert(digest, fails);
        Ok(fails)
    }

    fn take(&mut self, candidate: P, step: &'static str) {
        self.best = Rc::new(candidate);
        let (nodes, checks) = (self.best.size(), self.checks);
        match self.steps.last_mut() {
            Some(last) if last.step == step => (last.nodes, last.checks) = (nodes, checks),
            _ => self.steps.push(Step {
                step,
                nodes,
                checks,
            }),
        }
    }

    /// Takes the candidate if it fails.
    fn offer(&mut self, candidate: Option<P>, step: &'static str) -> Searched<bool> {
        let Some(candidate) = candidate else {
            return Ok(false);
        };
        let fails = self.fails(&candidate)?;
        if fails {
            self.take(candidate, step);
        }
        Ok(fails)
    }

    /// Finds the first part with which the program fails without the parts that follow.
    fn cut_end(&mut self) -> Searched<()> {
        self.cut("end", |part, kept, _| part >= kept)
    }

    /// Finds the last part with which the program fails without the parts before.
    fn cut_start(&mut self) -> Searched<()> {
        self.cut("start", |part, kept, parts| part < parts - kept)
    }

    /// Finds the smallest number of parts to keep at one end, with as many checks as the
    /// logarithm of the number of parts. `is_lost` decides about a part, given the number of
    /// parts to keep and of all parts.
    fn cut(
        &mut self,
        step: &'static str,
        is_lost: impl Fn(usize, usize, usize) -> bool,
    ) -> Searched<()> {
        // The order of the parts that stay may change with each removal.
        let base = Rc::clone(&self.best);
        let parts = base.parts();
        let (mut low, mut high) = (1, parts);
        while low < high {
            let middle = low + (high - low) / 2;
            let lost: Vec<bool> = (0..parts)
                .map(|part| is_lost(part, middle, parts))
                .collect();
            let candidate = base.without(&lost, P::CUT)?;
            if self.offer(candidate, step)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(())
    }

    /// Leaves out what the last part does not need, and what does not need the first part.
    fn cut_beside(&mut self) -> Searched<()> {
        let Some(last) = self.best.parts().checked_sub(1) else {
            return Ok(());
        };
        self.keep(&self.best.needed_by(last))?;
        self.keep(&self.best.users_of(0))
    }

    fn keep(&mut self, kept: &[bool]) -> Searched<()> {
        let lost: Vec<bool> = kept.iter().map(|kept| !kept).collect();
        if lost.contains(&true) {
            let candidate = self.best.without(&lost, P::CUT)?;
            self.offer(candidate, "beside")?;
        }
        Ok(())
    }

    /// Leaves out parts in chunks of halves, quarters and so on, until no single part can go.
    fn thin(&mut self, replacement: P::Replacement) -> Searched<()> {
        let mut chunk = self.best.parts().div_ceil(2);
        while chunk > 0 {
            let mut is_smaller = false;
            // Users go before what they use.
            let mut end = self.best.parts();
            while end > 0 {
                let parts = self.best.parts();
                let start = end.saturating_sub(chunk);
                let lost: Vec<bool> = (0..parts)
                    .map(|part| (start..end).contains(&part))
                    .collect();
                let candidate = self.best.without(&lost, replacement)?;
                is_smaller |= self.offer(candidate, "parts")?;
                end = start.min(self.best.parts());
            }
            // A part may be able to go once a later part is gone.
            if chunk > 1 {
                chunk = chunk.min(self.best.parts()) / 2;
            } else if !is_smaller {
                chunk = 0;
            }
        }
        Ok(())
    }

    /// Leaves out a few parts in a row, of the few that are left; true if some can go. Parts may
    /// be replaced together that cannot be replaced one by one, such as two products that
    /// change a shape and change it back.
    fn slide(&mut self) -> Searched<bool> {
        let parts = self.best.parts();
        if parts > MAX_SLIDING {
            return Ok(false);
        }
        for length in 2..parts.min(5) {
            for start in 0..=parts - length {
                let lost: Vec<bool> = (0..parts)
                    .map(|part| (start..start + length).contains(&part))
                    .collect();
                let candidate = self.best.without(&lost, P::REPLACEMENTS[0])?;
                if self.offer(candidate, "parts")? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Takes the variants that fail; true if there is one.
    fn vary(&mut self) -> Searched<bool> {
        let mut number = 0;
        let mut is_smaller = false;
        while number < self.best.variants() {
            let candidate = self.best.variant(number)?;
            if self.offer(candidate, "variants")? {
                is_smaller = true;
            } else {
                number += 1;
            }
        }
        Ok(is_smaller)
    }
}
