//! Many paths in one value, with shared beginnings.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, Hash};

use super::{AccessPath, AccessStep};
use crate::kernel::error::{Error, Result};

/// Steps of a text: a longer path begins with the number of a beginning that is written once.
const STEPS: usize = 64;

/// Many places in one value, stored as a tree: a place adds one step to the place around
/// it.
///
/// An [`AccessPath`] owns all its steps, so the paths of m places at depth n take m × n
/// steps. The tree takes one step for each place, including the places around the given
/// places. The texts are equally small: a path of more than 64 steps refers to a
/// beginning shared with other paths.
///
/// ```
/// use isoform::paths::{AccessStep, PathTree};
///
/// let mut tree = PathTree::default();
/// let body = tree.below(PathTree::ROOT, AccessStep::Attr("body".into()));
/// let first = tree.below(body, AccessStep::ArrayItem(0));
/// assert_eq!(tree.path(first).to_string(), "<root>.body[0]");
/// assert_eq!(tree.text(first), "<root>.body[0]");
/// assert!(tree.beginnings().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct PathTree {
    nodes: Vec<Node>,
    /// The beginnings referred to by texts of other places, and their numbers by place.
    beginnings: Vec<String>,
    numbers: HashMap<u32, usize>,
}

#[derive(Clone)]
struct Node {
    above: u32,
    depth: u32,
    step: AccessStep,
}

/// The relation of a place to the place around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Above<K> {
    /// It is the root.
    Root,
    /// The same place under another name.
    Same(K),
    /// One step below a place.
    Step(K, AccessStep),
}

impl<K> Above<K> {
    /// The same relation with another name for the place around.
    pub(crate) fn map<L>(self, name: impl FnOnce(K) -> L) -> Above<L> {
        match self {
            Above::Root => Above::Root,
            Above::Same(key) => Above::Same(name(key)),
            Above::Step(key, step) => Above::Step(name(key), step),
        }
    }
}

impl PathTree {
    /// The root.
    pub const ROOT: u32 = 0;

    /// Adds a place one step below another place. O(1).
    pub fn below(&mut self, above: u32, step: AccessStep) -> u32 {
        let depth = self.depth(above) as u32 + 1;
        self.nodes.push(Node { above, depth, step });
        self.nodes.len() as u32
    }

    /// Adds a place and the places around it, except places in `places`. `above` derives
    /// a place from another place, and must lead to the root. O(1) for each added
    /// place.
    pub fn add<K: Hash + Eq, S: BuildHasher>(
        &mut self,
        places: &mut HashMap<K, u32, S>,
        key: K,
        mut above: impl FnMut(&K) -> Above<K>,
    ) -> u32 {
        let mut open: Vec<(K, Option<AccessStep>)> = Vec::new();
        let mut next = key;
        let mut place = loop {
            if let Some(&place) = places.get(&next) {
                break place;
            }
            let (key, step) = match above(&next) {
                Above::Root => break Self::ROOT,
                Above::Same(key) => (key, None),
                Above::Step(key, step) => (key, Some(step)),
            };
            open.push((std::mem::replace(&mut next, key), step));
        };
        while let Some((key, step)) = open.pop() {
            place = step.map_or(place, |step| self.below(place, step));
            places.insert(key, place);
        }
        place
    }

    /// The relation of a place to the place around it. O(1).
    pub fn above(&self, place: u32) -> Above<u32> {
        match self.node(place) {
            None => Above::Root,
            Some(node) => Above::Step(node.above, node.step.clone()),
        }
    }

    /// The number of steps from the root. O(1).
    pub fn depth(&self, place: u32) -> usize {
        self.node(place).map_or(0, |node| node.depth as usize)
    }

    /// The path of a place. O(depth).
    pub fn path(&self, place: u32) -> AccessPath {
        AccessPath::from_steps(self.steps(place, usize::MAX).0)
    }

    /// The text of a place: `<root>` and its steps, or `<3>` and at most 64 steps from
    /// the place of the fourth text in [`beginnings`](Self::beginnings). O(1) for each
    /// step of the text and of new beginnings.
    pub fn text(&mut self, place: u32) -> String {
        // The beginnings still without text, innermost first.
        let mut open = vec![place];
        let mut at = place;
        while let Some(before) = self.beginning(at)
            && !self.numbers.contains_key(&before)
        {
            open.push(before);
            at = before;
        }
        while let Some(place) = open.pop() {
            let text = self.text_from_beginning(place);
            if open.is_empty() {
                return text;
            }
            self.numbers.insert(place, self.beginnings.len());
            self.beginnings.push(text);
        }
        String::new()
    }

    /// The text of a place for people: of more than 64 steps, only the last. O(1).
    pub fn abbreviated(&self, place: u32) -> String {
        let (steps, from) = self.steps(place, STEPS);
        let mut text = match self.depth(from) {
            0 => "<root>".to_owned(),
            depth => format!("<root>...<{depth} steps>..."),
        };
        for step in &steps {
            // Writing to a string cannot fail.
            let _ = write!(text, "{step}");
        }
        text
    }

    /// The beginnings shared by texts of places, each after the beginnings in its own
    /// text. [`text`](Self::text) adds beginnings.
    pub fn beginnings(&self) -> &[String] {
        &self.beginnings
    }

    /// Adds the place of a text; the text may begin with a reference into `beginnings`.
    ///
    /// # Errors
    ///
    /// `ValueError` for text that is not a path, or has an object as a key.
    pub fn parse(&mut self, text: &str, beginnings: &[u32]) -> Result<u32> {
        let head = text.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let number = head.and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest)));
        let (mut place, steps) = match number {
            None => (Self::ROOT, AccessPath::parse(text)?),
            Some((number, rest)) => {
                let Some(&place) = beginnings.get(number) else {
                    return Err(Error::value_error(format!(
                        "access path: expected the number of one of {} places, got {number}",
                        beginnings.len()
                    )));
                };
                (place, AccessPath::parse(&format!("<root>{rest}"))?)
            }
        };
        for step in steps.steps {
            place = self.below(place, step);
        }
        Ok(place)
    }

    fn node(&self, place: u32) -> Option<&Node> {
        self.nodes.get(place.checked_sub(1)? as usize)
    }

    /// The last steps to a place, at most `most`, and the place at their beginning.
    fn steps(&self, place: u32, most: usize) -> (Vec<AccessStep>, u32) {
        let mut steps = Vec::with_capacity(self.depth(place).min(most));
        let mut at = place;
        while steps.len() < most
            && let Some(node) = self.node(at)
        {
            steps.push(node.step.clone());
            at = node.above;
        }
        steps.reverse();
        (steps, at)
    }

    /// The place at the beginning of another place's text, unless the text begins with
    /// the root.
    fn beginning(&self, place: u32) -> Option<u32> {
        let most = self.steps_of_text(place);
        let mut at = place;
        for _ in 0..most {
            at = self.node(at)?.above;
        }
        (at != Self::ROOT).then_some(at)
    }

    /// The number of steps in the text of a place: beginnings end at multiples of 64,
    /// for many places to share a beginning.
    fn steps_of_text(&self, place: u32) -> usize {
        match self.depth(place) {
            0 => 0,
            depth => (depth - 1) % STEPS + 1,
        }
    }

    fn text_from_beginning(&self, place: u32) -> String {
        let (steps, from) = self.steps(place, self.steps_of_text(place));
        let mut text = match self.numbers.get(&from) {
            Some(number) => format!("<{number}>"),
            None => "<root>".to_owned(),
        };
        for step in &steps {
            // Writing to a string cannot fail.
            let _ = write!(text, "{step:#}");
        }
        text
    }
}

impl fmt::Debug for PathTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<PathTree of {} places>", self.nodes.len() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(tree: &mut PathTree, from: u32, length: usize) -> Vec<u32> {
        let mut places = vec![from];
        for at in 0..length {
            let step = match at % 2 {
                0 => AccessStep::Attr("next".to_owned()),
                _ => AccessStep::ArrayItem(at),
            };
            places.push(tree.below(places[at], step));
        }
        places
    }

    #[test]
    fn texts_lead_to_the_same_places() {
        for length in [0, 1, 63, 64, 65, 128, 129, 1000] {
            let mut tree = PathTree::default();
            let places = chain(&mut tree, PathTree::ROOT, length);
            let texts: Vec<String> = places.iter().rev().map(|it| tree.text(*it)).collect();
            let mut read = PathTree::default();
            let mut beginnings = Vec::new();
            for text in tree.beginnings() {
                let place = read.parse(text, &beginnings).expect("a path");
                beginnings.push(place);
            }
            for (text, place) in texts.iter().zip(places.iter().rev()) {
                assert!(text.matches(['.', '[']).count() <= STEPS, "{text}");
                let found = read.parse(text, &beginnings).expect("a path");
                assert_eq!(read.path(found), tree.path(*place));
            }
        }
    }

    #[test]
    fn beginnings_are_written_once() {
        let mut tree = PathTree::default();
        let trunk = chain(&mut tree, PathTree::ROOT, 10_000);
        let mut steps = 0;
        for at in (0..10_000).step_by(10) {
            let leaf = tree.below(trunk[at], AccessStep::Attr("leaf".to_owned()));
            steps += tree.text(leaf).matches(['.', '[']).count();
        }
        let shared = tree.beginnings().iter();
        let shared: usize = shared.map(|text| text.matches(['.', '[']).count()).sum();
        assert_eq!(shared, 9_984);
        assert!(steps <= 1000 * STEPS);
    }

    #[test]
    fn places_are_added_once() {
        let mut tree = PathTree::default();
        let mut known: HashMap<u32, u32> = HashMap::new();
        let mut asked = 0;
        for key in (0..1000).rev() {
            let place = tree.add(&mut known, key, |&key| {
                asked += 1;
                match key {
                    0 => Above::Root,
                    key if key % 3 == 0 => Above::Same(key - 1),
                    key => Above::Step(key - 1, AccessStep::ArrayItem(key as usize)),
                }
            });
            assert_eq!(tree.depth(place), (key - key / 3) as usize);
        }
        assert!(asked <= 2000, "{asked}");
    }

    #[test]
    fn numbers_of_no_place_are_refused() {
        let error = PathTree::default().parse("<1>.a", &[0]);
        let error = error.expect_err("there is one place");
        assert_eq!(
            error.message(),
            "access path: expected the number of one of 1 places, got 1"
        );
    }
}
