//! Reports on mutants: their texts, the known equivalents of the original, and the
//! summary.

use std::fmt;

use crate::mutant::{EquivalentMutant, Mutant};
use crate::trial::Outcome;

/// The entries that fit no candidate.
pub(crate) fn stale(known: &[EquivalentMutant], candidates: &[Mutant]) -> Vec<String> {
    known
        .iter()
        .filter(|known| !candidates.iter().any(|mutant| known.is(mutant)))
        .map(|known| format!("{} {}\n  {}", known.file, known.function, known.before))
        .collect()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Caught(test) => write!(f, "caught by {test}"),
            Outcome::Crashed => f.write_str("caught by a crash"),
            Outcome::Stuck => f.write_str("caught by the time limit"),
            Outcome::Survived => f.write_str("SURVIVED"),
            Outcome::Unreached => f.write_str("NOT REACHED"),
        }
    }
}

/// The result of a run.
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) judged: Vec<(Mutant, Outcome)>,
    /// How many candidates did not compile.
    pub(crate) refused: usize,
    pub(crate) known: Vec<EquivalentMutant>,
    pub(crate) stale: Vec<String>,
}

impl Report {
    fn reason(&self, mutant: &Mutant) -> Option<&str> {
        let known = self.known.iter().find(|known| known.is(mutant))?;
        Some(&known.reason)
    }

    fn list(
        &self,
        f: &mut fmt::Formatter<'_>,
        title: &str,
        wanted: impl Fn(&Mutant, &Outcome) -> bool,
    ) -> fmt::Result {
        let mut mutants: Vec<_> = self.judged.iter().filter(|(m, o)| wanted(m, o)).collect();
        if mutants.is_empty() {
            return Ok(());
        }
        mutants.sort_by(|(left, _), (right, _)| {
            (&left.path, left.line).cmp(&(&right.path, right.line))
        });
        writeln!(f, "\n{title}:")?;
        for (mutant, outcome) in mutants {
            let Mutant { path, line, .. } = mutant;
            writeln!(f, "{path}:{line} {}: {outcome}", mutant.edit.function)?;
            writeln!(f, "  - {}\n  + {}", mutant.before, mutant.after)?;
            if let Some(reason) = self.reason(mutant) {
                writeln!(f, "  {reason}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |wanted: &dyn Fn(&Mutant, &Outcome) -> bool| {
            self.judged.iter().filter(|(m, o)| wanted(m, o)).count()
        };
        let lives = |outcome: &Outcome| matches!(outcome, Outcome::Survived | Outcome::Unreached);
        let same = |mutant: &Mutant| self.reason(mutant).is_some();
        let all = self.judged.len();
        let caught = count(&|_, outcome| !lives(outcome));
        let unchanged = count(&|mutant, outcome| lives(outcome) && same(mutant));
        let share = |of: usize| 100.0 * caught as f64 / of.max(1) as f64;
        writeln!(
            f,
            "seed {}: {caught} of {all} mutants are caught, {:.1} %\n\
             {} by a failed test, {} by a crash, {} by the time limit\n\
             {unchanged} leave the behaviour unchanged; {:.1} % of the others are caught\n\
             {} survive, of them {} where no test comes\n\
             ({} more did not compile)",
            self.seed,
            share(all),
            count(&|_, outcome| matches!(outcome, Outcome::Caught(_))),
            count(&|_, outcome| *outcome == Outcome::Crashed),
            count(&|_, outcome| *outcome == Outcome::Stuck),
            share(all - unchanged),
            all - caught - unchanged,
            count(&|mutant, outcome| *outcome == Outcome::Unreached && !same(mutant)),
            self.refused,
        )?;
        self.list(f, "Survived", |mutant, outcome| {
            lives(outcome) && !same(mutant)
        })?;
        self.list(f, "Behaviour unchanged", |mutant, outcome| {
            lives(outcome) && same(mutant)
        })?;
        self.list(
            f,
            "Caught, though listed as unchanged",
            |mutant, outcome| !lives(outcome) && same(mutant),
        )?;
        if !self.stale.is_empty() {
            writeln!(f, "\nListed as unchanged, and no longer there:")?;
        }
        self.stale
            .iter()
            .try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{EquivalentMutant, Report, stale};
    use crate::mutant::Mutant;
    use crate::operators::edits;
    use crate::trial::Outcome;

    const SOURCE: &str = "fn f() {\n    a(\n        0,\n        1);\n    b.shrink();\n}\n";

    fn mutants() -> Vec<Mutant> {
        let edits = edits(SOURCE).expect("a Rust file");
        let mutants = edits
            .into_iter()
            .map(|edit| Mutant::new("m.rs", SOURCE, edit));
        mutants.collect()
    }

    fn known(before: &str) -> EquivalentMutant {
        EquivalentMutant {
            file: "m.rs".to_owned(),
            function: "f".to_owned(),
            before: before.to_owned(),
            after: Some(String::new()),
            reason: "saves memory".to_owned(),
        }
    }

    #[test]
    fn a_mutant_is_shown_by_its_lines() {
        let shown: Vec<_> = mutants()
            .into_iter()
            .map(|mutant| format!("{}: {} > {}", mutant.line, mutant.before, mutant.after))
            .collect();
        assert_eq!(
            shown,
            [
                "2: a( 0, 1); > ",
                "3: 0, > 1,",
                "4: 1); > 0);",
                "5: b.shrink(); > ",
            ]
        );
    }

    #[test]
    fn entries_without_a_mutant_are_named() {
        let known = [known("b.shrink();"), known("c.shrink();")];
        assert_eq!(stale(&known, &mutants()), ["m.rs f\n  c.shrink();"]);
    }

    #[test]
    fn the_report_counts_and_lists() {
        let outcomes = [
            Outcome::Caught("t".to_owned()),
            Outcome::Stuck,
            Outcome::Unreached,
            Outcome::Survived,
        ];
        let report = Report {
            seed: 3,
            judged: mutants().into_iter().zip(outcomes).collect(),
            refused: 1,
            known: vec![known("b.shrink();")],
            stale: Vec::new(),
        };
        assert_eq!(
            report.to_string(),
            "seed 3: 2 of 4 mutants are caught, 50.0 %\n\
             1 by a failed test, 0 by a crash, 1 by the time limit\n\
             1 leave the behaviour unchanged; 66.7 % of the others are caught\n\
             1 survive, of them 1 where no test comes\n\
             (1 more did not compile)\n\
             \nSurvived:\n\
             m.rs:4 f: NOT REACHED\n  - 1);\n  + 0);\n\
             \nBehaviour unchanged:\n\
             m.rs:5 f: SURVIVED\n  - b.shrink();\n  + \n  saves memory\n"
        );
    }
}
