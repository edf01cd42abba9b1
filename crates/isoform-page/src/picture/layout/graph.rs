//! One level of a picture: items with sizes, and edges between them.

/// The place of an item in layers, where it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Pin {
    #[default]
    Free,
    /// In the first layer, alone with other such items.
    Top,
    /// In the last layer.
    Bottom,
}

/// An edge between two items.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where the edge leaves and enters, from the middle of the items; None if the layout
    /// chooses.
    pub(super) offsets: [Option<f64>; 2],
}

/// The graph of one level.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Width and height of the items.
    pub(super) sizes: Vec<[f64; 2]>,
    pub(super) pins: Vec<Pin>,
    pub(super) links: Vec<Link>,
}

/// A point, `x` to the right and `y` down.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// A part of a line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Step {
    Line(Point),
    /// Two control points, and the end.
    Curve(Point, Point, Point),
}

/// The line of an edge.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Route {
    pub(crate) start: Point,
    pub(crate) steps: Vec<Step>,
}

/// Places of the items and lines of one level.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    /// The middles of the items.
    pub(super) middles: Vec<Point>,
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Point {
    pub(crate) fn moved(self, by: Point) -> Point {
        Point {
            x: self.x + by.x,
            y: self.y + by.y,
        }
    }
}

impl Step {
    pub(crate) fn end(self) -> Point {
        match self {
            Step::Line(end) | Step::Curve(_, _, end) => end,
        }
    }

    fn moved(self, by: Point) -> Step {
        match self {
            Step::Line(end) => Step::Line(end.moved(by)),
            Step::Curve(first, second, end) => {
                Step::Curve(first.moved(by), second.moved(by), end.moved(by))
            }
        }
    }
}

impl Route {
    pub(crate) fn end(&self) -> Point {
        self.steps.last().map_or(self.start, |step| step.end())
    }

    pub(super) fn line_to(&mut self, end: Point) {
        if end != self.end() {
            self.steps.push(Step::Line(end));
        }
    }

    /// A curve that leaves and arrives upright; a line where that is straight.
    pub(super) fn curve_to(&mut self, end: Point) {
        let start = self.end();
        if (start.x - end.x).abs() < 0.5 {
            return self.line_to(end);
        }
        let y = (start.y + end.y) / 2.0;
        let control = |x| Point { x, y };
        let step = Step::Curve(control(start.x), control(end.x), end);
        self.steps.push(step);
    }

    /// Adds the line of the same edge on another level.
    pub(super) fn append(&mut self, next: &Route, by: Point) {
        self.line_to(next.start.moved(by));
        self.steps
            .extend(next.steps.iter().map(|step| step.moved(by)));
    }
}

/// Lists of numbers, one list for each key, in two arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of `count` keys, in the order of the entries. O(count + entries).
    pub(super) fn new(count: usize, entries: impl Iterator<Item = (usize, usize)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        entries.clone().for_each(|(key, _)| starts[key + 1] += 1);
        for key in 0..count {
            starts[key + 1] += starts[key];
        }
        let mut items = vec![0; starts[count]];
        let mut next = starts.clone();
        for (key, item) in entries {
            items[next[key]] = item as u32;
            next[key] += 1;
        }
        Lists { starts, items }
    }

    pub(super) fn get(&self, key: usize, position: usize) -> Option<usize> {
        let items = &self.items[self.starts[key]..self.starts[key + 1]];
        items.get(position).map(|&item| item as usize)
    }

    pub(super) fn of(&self, key: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        let items = &self.items[self.starts[key]..self.starts[key + 1]];
        items.iter().map(|&item| item as usize)
    }
}
