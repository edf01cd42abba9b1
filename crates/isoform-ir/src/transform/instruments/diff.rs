//! Differences between programs as text.

use std::hash::Hash;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;
use similar::algorithms::{Capture, DiffHook, Replace};
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::transform::root::{changed, own_script};
use isoform::text::{TextOptions, to_text};
use isoform::{Obj, Ref, Result, structural_equal};

/// The maximal number of lines of two parts for pairwise comparison.
const MOST_LINES: usize = 2_000;

/// The differing lines of two texts, with three lines of context, as a unified diff;
/// empty for equal texts.
///
/// Lines in only one text are changes. If both texts together have at most 2,000 common
/// lines, the number of changes is minimal. Otherwise the texts are first split at
/// lines that occur once in both texts and in the same order, as in Bram Cohen's
/// patience diff. A part with more than 2,000 lines is then shown as replaced, except
/// for equal lines at its start and end. O(l log l) for l lines, plus at most 2,000
/// comparisons for each line.
///
/// ```
/// use isoform_ir::transform::instruments::text_diff;
/// let diff = text_diff("old", "new", "a\nb\n", "a\nc\n");
/// assert_eq!(diff, "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// ```
pub fn text_diff(left: &str, right: &str, left_text: &str, right_text: &str) -> String {
    if left_text == right_text {
        return String::new();
    }
    let old: Vec<&str> = left_text.split_inclusive('\n').collect();
    let new: Vec<&str> = right_text.split_inclusive('\n').collect();
    let mut out = format!("--- {left}\n+++ {right}\n");
    let hunks = group_diff_ops(operations(&old, &new), 3);
    for hunk in hunks.iter().filter(|hunk| !hunk.is_empty()) {
        out.push_str(&format!("{}\n", UnifiedHunkHeader::new(hunk)));
        for operation in hunk {
            if let DiffOp::Equal { .. } = operation {
                write_lines(&mut out, ' ', &old[operation.old_range()]);
            } else {
                write_lines(&mut out, '-', &old[operation.old_range()]);
                write_lines(&mut out, '+', &new[operation.new_range()]);
            }
        }
    }
    out
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// The operations that turn the lines of `old` into the lines of `new`, unchanged lines
/// included.
fn operations<T: Copy + Eq + Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut script = Replace::new(Capture::new());
    let (mut old_start, mut new_start) = (0, 0);
    // The ends of both close the last gap.
    for (old_index, new_index) in matches(old, new)
        .into_iter()
        .chain([(old.len(), new.len())])
    {
        if old_start < old_index {
            let Ok(()) = script.delete(old_start, old_index - old_start, new_start);
        }
        if new_start < new_index {
            let Ok(()) = script.insert(old_index, new_start, new_index - new_start);
        }
        if old_index < old.len() {
            let Ok(()) = script.equal(old_index, new_index, 1);
        }
        (old_start, new_start) = (old_index + 1, new_index + 1);
    }
    let Ok(()) = script.finish();
    script.into_inner().into_ops()
}

/// Positions of equal lines.
type Matches = Vec<(usize, usize)>;

/// The unchanged lines, in order.
fn matches<T: Copy + Eq + Hash + Ord>(old: &[T], new: &[T]) -> Matches {
    // A line of only one side is always a change.
    let common = |lines: &[T], others: &[T]| -> Vec<usize> {
        let others: HashSet<T, RandomState> = others.iter().copied().collect();
        let is_common = |index: &usize| others.contains(&lines[*index]);
        (0..lines.len()).filter(is_common).collect()
    };
    let (old_places, new_places) = (common(old, new), common(new, old));
    let left: Vec<T> = old_places.iter().map(|index| old[*index]).collect();
    let right: Vec<T> = new_places.iter().map(|index| new[*index]).collect();
    let anchors = if left.len() + right.len() > MOST_LINES {
        anchors(&left, &right)
    } else {
        Matches::new()
    };
    let mut matches = Matches::new();
    let (mut left_start, mut right_start) = (0, 0);
    for (left_index, right_index) in anchors.into_iter().chain([(left.len(), right.len())]) {
        let part = matches_of_part(
            &left[left_start..left_index],
            &right[right_start..right_index],
        );
        matches.extend(
            part.iter()
                .map(|pair| (left_start + pair.0, right_start + pair.1)),
        );
        if left_index < left.len() {
            matches.push((left_index, right_index));
        }
        (left_start, right_start) = (left_index + 1, right_index + 1);
    }
    for (left_index, right_index) in &mut matches {
        (*left_index, *right_index) = (old_places[*left_index], new_places[*right_index]);
    }
    matches
}

/// The longest sequence of lines that occur once on each side and in the same order: a
/// longest increasing subsequence, by the piles of patience sorting.
fn anchors<T: Copy + Eq + Hash>(left: &[T], right: &[T]) -> Matches {
    let once = |lines: &[T]| {
        let mut places: HashMap<T, Option<usize>, RandomState> = HashMap::default();
        for (index, line) in lines.iter().enumerate() {
            places
                .entry(*line)
                .and_modify(|place| *place = None)
                .or_insert(Some(index));
        }
        places
    };
    let (in_left, in_right) = (once(left), once(right));
    let place = |places: &HashMap<T, Option<usize>, RandomState>, line: &T| {
        places.get(line).copied().flatten()
    };
    let pairs: Matches = left
        .iter()
        .filter_map(|line| Some((place(&in_left, line)?, place(&in_right, line)?)))
        .collect();
    let mut piles: Vec<usize> = Vec::new();
    let mut before = Vec::with_capacity(pairs.len());
    for (number, (_, to)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|top| pairs[*top].1 < *to);
        before.push(pile.checked_sub(1).map(|pile| piles[pile]));
        match piles.get_mut(pile) {
            Some(top) => *top = number,
            None => piles.push(number),
        }
    }
    let last = piles.last().copied();
    let mut chain: Matches = std::iter::successors(last, |number| before[*number])
        .map(|number| pairs[number])
        .collect();
    chain.reverse();
    chain
}

/// The unchanged lines of two parts without anchors.
fn matches_of_part<T: Copy + Eq + Hash + Ord>(left: &[T], right: &[T]) -> Matches {
    let is_equal = |(left, right): &(&T, &T)| left == right;
    let start = left.iter().zip(right).take_while(is_equal).count();
    let (left, right) = (&left[start..], &right[start..]);
    let end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(is_equal)
        .count();
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    let mut matches: Matches = (0..start).map(|index| (index, index)).collect();
    if left.len() + right.len() <= MOST_LINES {
        for operation in capture_diff_slices(Algorithm::Myers, left, right) {
            if let DiffOp::Equal { .. } = operation {
                let pairs = operation.old_range().zip(operation.new_range());
                matches
                    .extend(pairs.map(|(left_index, right_index)| {
                        (start + left_index, start + right_index)
                    }));
            }
        }
    }
    let ends = (start + left.len(), start + right.len());
    matches.extend((0..end).map(|offset| (ends.0 + offset, ends.1 + offset)));
    matches
}

/// The changes from one program to another as unified diffs of the replaced functions;
/// empty if no function was replaced, or if the texts are equal.
///
/// Compares texts like [`text_diff`]: those of the dialect, or else those of `isoform::text`
/// without source locations and without the fields that `repr` leaves out. If these leave out
/// every difference, the texts are complete.
///
/// # Errors
///
/// Errors of the implementation of [`Root`](crate::transform::Root), and of
/// [`to_text`](isoform::text::to_text). Where the implementation of
/// [`Script`](crate::transform::Script) fails, the text begins with the error in a comment.
pub fn changes_text(old: &Ref<Obj>, new: &Ref<Obj>) -> Result<String> {
    let text = changes_text_by(old, new, readable)?;
    if text.is_empty() && !structural_equal(old, new).unwrap_or(false) {
        // Some programs have only a text of their dialect.
        return changes_text_by(old, new, |function| to_text(function)).or(Ok(text));
    }
    Ok(text)
}

/// The text of a function for people, whose last line ends as all lines do.
fn readable(function: &Ref<Obj>) -> Result<String> {
    let general = || {
        let options = TextOptions::default().spans(false).unshown_fields(false);
        options.to_text(function)
    };
    let mut text = match own_script(function) {
        Ok(Some(text)) => text.to_string(),
        Ok(None) => general()?,
        // A printer that fails must not end the passes that it reports.
        Err(error) => format!("// {}\n{}", error.message().replace('\n', " "), general()?),
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn changes_text_by(
    old: &Ref<Obj>,
    new: &Ref<Obj>,
    write: impl Fn(&Ref<Obj>) -> Result<String>,
) -> Result<String> {
    let mut text = String::new();
    let shown = |function: &Option<Ref<Obj>>| function.as_ref().map_or(Ok(String::new()), &write);
    for (name, before, after) in changed(old, new)? {
        let (left, right) = (shown(&before)?, shown(&after)?);
        let side = |present: bool, which: &str| match (present, name.is_empty()) {
            (false, _) => "(absent)".to_owned(),
            (true, true) => which.to_owned(),
            (true, false) => format!("{which}/{name}"),
        };
        let (before, after) = (
            side(before.is_some(), "before"),
            side(after.is_some(), "after"),
        );
        text.push_str(&text_diff(&before, &after, &left, &right));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::{Hash, Hasher};

    use similar::DiffOp;

    use super::{MOST_LINES, operations, text_diff};

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// A line that counts its comparisons.
    #[derive(Clone, Copy, Eq, PartialOrd, Ord, Debug)]
    struct Line(usize);

    impl PartialEq for Line {
        fn eq(&self, other: &Line) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    impl Hash for Line {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    /// The number of unchanged lines, if the operations lead from one side to the
    /// other, and the number of comparisons per line.
    fn compared(old: &[usize], new: &[usize]) -> (usize, usize) {
        let lines =
            |numbers: &[usize]| -> Vec<Line> { numbers.iter().copied().map(Line).collect() };
        let (left, right) = (lines(old), lines(new));
        COMPARED.set(0);
        let found = operations(&left, &right);
        let count = COMPARED.get() / (old.len() + new.len());
        let (mut old_end, mut new_end, mut kept) = (0, 0, 0);
        for operation in &found {
            assert_eq!(operation.old_range().start, old_end);
            assert_eq!(operation.new_range().start, new_end);
            (old_end, new_end) = (operation.old_range().end, operation.new_range().end);
            if let DiffOp::Equal { len, .. } = operation {
                kept += len;
                assert_eq!(old[operation.old_range()], new[operation.new_range()]);
            }
        }
        assert_eq!((old_end, new_end), (old.len(), new.len()));
        (kept, count)
    }

    #[test]
    fn comparisons_grow_with_the_lines() {
        for size in [10_000, 100_000] {
            let old: Vec<usize> = (0..size).collect();
            let all: Vec<usize> = (size..2 * size).collect();
            assert_eq!(compared(&old, &all), (0, 0));
            let mut some = old.clone();
            for index in (7..size).step_by(size / 100) {
                some[index] = size + index;
            }
            let (kept, count) = compared(&old, &some);
            assert_eq!(kept, size - 100);
            assert!(count < 10, "{count}");
            let moved: Vec<usize> = (0..size).map(|index| (index + size / 3) % size).collect();
            let (kept, count) = compared(&old, &moved);
            assert_eq!(kept, size - size / 3);
            assert!(count < 10, "{count}");
            let turned: Vec<usize> = (0..size).rev().collect();
            let (kept, count) = compared(&old, &turned);
            assert!(kept >= 1 && count < 10, "{kept} {count}");
            let shuffled: Vec<usize> = (0..size).map(|index| index * 7919 % size).collect();
            let (kept, count) = compared(&old, &shuffled);
            assert!(kept > 10 && count < MOST_LINES, "{kept} {count}");
            // No line occurs once.
            let few: Vec<usize> = (0..size).map(|index| index * index % 101).collect();
            let other: Vec<usize> = (0..size).map(|index| index * 3 % 101).collect();
            let (_, count) = compared(&few, &other);
            assert!(count < 10, "{count}");
        }
    }

    #[test]
    fn few_lines_have_the_fewest_changes() {
        let mut state = 1_usize;
        let mut next = |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % limit
        };
        for _ in 0..300 {
            let choice = 1 + next(12);
            let mut lines = || -> Vec<usize> {
                let count = next(12);
                (0..count).map(|_| next(choice)).collect()
            };
            let (old, new) = (lines(), lines());
            if old.len() + new.len() == 0 {
                continue;
            }
            // The longest common subsequence, by its definition.
            let mut longest = vec![vec![0; new.len() + 1]; old.len() + 1];
            for row in 0..old.len() {
                for column in 0..new.len() {
                    longest[row + 1][column + 1] = if old[row] == new[column] {
                        longest[row][column] + 1
                    } else {
                        longest[row][column + 1].max(longest[row + 1][column])
                    };
                }
            }
            assert_eq!(
                compared(&old, &new).0,
                longest[old.len()][new.len()],
                "{old:?} {new:?}"
            );
        }
    }

    #[test]
    fn a_line_without_an_end_is_told() {
        assert_eq!(
            text_diff("l", "r", "a\nb", "a\nb\n"),
            "--- l\n+++ r\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
        assert_eq!(
            text_diff("l", "r", "", "a\n"),
            "--- l\n+++ r\n@@ -0,0 +1 @@\n+a\n"
        );
    }
}
