//! The layout of one level: layers, order, places, and lines.

use super::coordinates::across;
use super::graph::{Graph, Link, Pin, Placed, Point, Route, Step};
use super::layers::Layers;
use super::order::Chart;

/// Space between layers, and between parts without a connection.
const LAYER_GAP: f64 = 34.0;
const PART_GAP: f64 = 28.0;

/// The part of an item's width over which its lines spread.
const SPREAD: f64 = 0.7;

/// How far a line that leads upwards goes around its items.
const DETOUR: f64 = 18.0;

/// Lays out a level. Parts without a connection come beside each other in rows, unless items
/// are pinned to the borders. O((items + links) log) for each of a bounded number of sweeps.
pub(super) fn placed(graph: &Graph) -> Placed {
    let is_pinned = graph.pins.iter().any(|&pin| pin != Pin::Free);
    let parts = if is_pinned {
        vec![(0..graph.sizes.len()).collect()]
    } else {
        parts(graph)
    };
    if let [_] = parts[..] {
        return connected(graph);
    }
    let mut numbers = vec![0; graph.sizes.len()];
    let mut part_of = vec![0; graph.sizes.len()];
    for (part, items) in parts.iter().enumerate() {
        for (number, &item) in items.iter().enumerate() {
            numbers[item] = number;
            part_of[item] = part;
        }
    }
    let mut graphs: Vec<(Graph, Vec<usize>)> = (parts.iter())
        .map(|items| {
            let part = Graph {
                sizes: items.iter().map(|&item| graph.sizes[item]).collect(),
                pins: vec![Pin::Free; items.len()],
                links: Vec::new(),
            };
            (part, Vec::new())
        })
        .collect();
    for (number, link) in graph.links.iter().enumerate() {
        let (part, links) = &mut graphs[part_of[link.from]];
        let [from, to] = [link.from, link.to].map(|item| numbers[item]);
        part.links.push(Link { from, to, ..*link });
        links.push(number);
    }
    packed(graph, &parts, &graphs)
}

/// The items of each part without a connection to the others, by their first items.
fn parts(graph: &Graph) -> Vec<Vec<usize>> {
    let mut parents: Vec<usize> = (0..graph.sizes.len()).collect();
    let root = |parents: &mut Vec<usize>, mut item: usize| {
        while parents[item] != item {
            parents[item] = parents[parents[item]];
            item = parents[item];
        }
        item
    };
    for link in &graph.links {
        let [from, to] = [link.from, link.to].map(|item| root(&mut parents, item));
        parents[from.max(to)] = from.min(to);
    }
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut part_of = vec![None; graph.sizes.len()];
    for item in 0..graph.sizes.len() {
        let root = root(&mut parents, item);
        let part = *part_of[root].get_or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[part].push(item);
    }
    parts
}

/// Puts parts into rows that make the whole about as wide as high.
fn packed(graph: &Graph, parts: &[Vec<usize>], graphs: &[(Graph, Vec<usize>)]) -> Placed {
    let placed: Vec<Placed> = graphs.iter().map(|(part, _)| connected(part)).collect();
    let areas = placed
        .iter()
        .map(|part| (part.width + PART_GAP) * (part.height + PART_GAP));
    let widest = placed.iter().map(|part| part.width).fold(0.0, f64::max);
    let limit = (areas.sum::<f64>().sqrt() * 1.3).max(widest);
    let mut whole = Placed {
        middles: vec![Point::default(); graph.sizes.len()],
        routes: vec![Route::default(); graph.links.len()],
        ..Placed::default()
    };
    let mut corner = Point::default();
    for ((part, items), (_, links)) in placed.iter().zip(parts).zip(graphs) {
        if corner.x > 0.0 && corner.x + part.width > limit {
            corner = Point {
                x: 0.0,
                y: whole.height + PART_GAP,
            };
        }
        for (&item, middle) in items.iter().zip(&part.middles) {
            whole.middles[item] = middle.moved(corner);
        }
        for (&link, route) in links.iter().zip(&part.routes) {
            whole.routes[link].start = route.start.moved(corner);
            whole.routes[link].append(route, corner);
        }
        whole.width = whole.width.max(corner.x + part.width);
        whole.height = whole.height.max(corner.y + part.height);
        corner.x += part.width + PART_GAP;
    }
    whole
}

/// Lays out one connected graph.
fn connected(graph: &Graph) -> Placed {
    let layers = Layers::of(graph);
    let mut chart = Chart::new(graph, &layers);
    chart.reduce_crossings();
    let (places, mut width) = across(graph, &chart);
    let mut tops = Vec::with_capacity(chart.layers.len());
    let mut bottom = -LAYER_GAP;
    for layer in &chart.layers {
        let heights = layer.iter().filter_map(|&vertex| graph.sizes.get(vertex));
        let height = heights.map(|size| size[1]).fold(0.0, f64::max);
        let top = bottom + LAYER_GAP;
        bottom = top + height;
        tops.push([top, bottom]);
    }
    let middles: Vec<Point> = (0..graph.sizes.len())
        .map(|item| {
            let [top, bottom] = tops[layers.of[item]];
            Point {
                x: places[item],
                y: (top + bottom) / 2.0,
            }
        })
        .collect();
    let mut router = Router {
        graph,
        chart: &chart,
        layers: &layers,
        tops: &tops,
        places: &places,
        middles: &middles,
        ends: Vec::new(),
    };
    router.ends = router.spread();
    let routes: Vec<Route> = (0..graph.links.len())
        .map(|link| router.route(link))
        .collect();
    let detours = routes.iter().zip(&layers.is_back);
    for (route, _) in detours.filter(|(_, is_back)| **is_back) {
        width = width.max(rightmost(route));
    }
    Placed {
        middles,
        routes,
        width,
        height: bottom.max(0.0),
    }
}

fn rightmost(route: &Route) -> f64 {
    let points = route.steps.iter().map(|step| match step {
        Step::Line(end) => end.x,
        Step::Curve(first, second, end) => first.x.max(second.x).max(end.x),
    });
    points.fold(0.0, f64::max)
}

/// Draws the lines of a graph whose items have their places.
struct Router<'a> {
    graph: &'a Graph,
    chart: &'a Chart,
    layers: &'a Layers,
    tops: &'a [[f64; 2]],
    places: &'a [f64],
    middles: &'a [Point],
    /// Where each link leaves and enters, from the middle of the item.
    ends: Vec<[f64; 2]>,
}

impl Router<'_> {
    /// Spreads the ends of links over the sides of their items, in the order of the other
    /// ends. O(links log links).
    fn spread(&self) -> Vec<[f64; 2]> {
        let mut ends = vec![[0.0; 2]; self.graph.links.len()];
        for side in 0..2 {
            let mut links: Vec<(usize, f64, usize)> = (self.graph.links.iter().enumerate())
                .map(|(number, link)| {
                    let item = [link.from, link.to][side];
                    (item, self.other_end(number, side), number)
                })
                .collect();
            links.sort_by(|left, right| {
                let other = left.1.total_cmp(&right.1);
                left.0.cmp(&right.0).then(other).then(left.2.cmp(&right.2))
            });
            for links in links.chunk_by(|left, right| left.0 == right.0) {
                let width = self.graph.sizes[links[0].0][0] * SPREAD;
                let step = width / links.len() as f64;
                for (position, &(_, _, link)) in links.iter().enumerate() {
                    let free = (position as f64 + 0.5) * step - width / 2.0;
                    ends[link][side] = self.graph.links[link].offsets[side].unwrap_or(free);
                }
            }
        }
        ends
    }

    /// Where a link comes from, or goes to, one layer away.
    fn other_end(&self, number: usize, side: usize) -> f64 {
        let link = &self.graph.links[number];
        if self.layers.is_back[number] {
            return f64::INFINITY;
        }
        let bends = self.chart.bends[number].clone().unwrap_or_default();
        let bend = if side == 0 {
            bends.clone().next()
        } else {
            bends.clone().next_back()
        };
        let other = [link.to, link.from][side];
        match bend {
            Some(bend) => self.places[bend],
            None => self.places[other] + link.offsets[1 - side].unwrap_or(0.0),
        }
    }

    fn route(&self, number: usize) -> Route {
        let link = &self.graph.links[number];
        let [half, other_half] = [link.from, link.to].map(|item| self.graph.sizes[item][1] / 2.0);
        let [start, end] = [link.from, link.to].map(|item| self.middles[item]);
        let start = start.moved(Point {
            x: self.ends[number][0],
            y: half,
        });
        let end = end.moved(Point {
            x: self.ends[number][1],
            y: -other_half,
        });
        let mut route = Route {
            start,
            steps: Vec::new(),
        };
        if self.layers.is_back[number] {
            self.detour(link, &mut route, end);
            return route;
        }
        let down = |vertex_layer: usize, x: f64| self.tops[vertex_layer].map(|y| Point { x, y });
        route.line_to(down(self.layers.of[link.from], start.x)[1]);
        let mut layer = self.layers.of[link.from];
        for bend in self.chart.bends[number].clone().unwrap_or_default() {
            layer += 1;
            let [top, bottom] = down(layer, self.places[bend]);
            route.curve_to(top);
            route.line_to(bottom);
        }
        route.curve_to(down(self.layers.of[link.to], end.x)[0]);
        route.line_to(end);
        route
    }

    /// A line that leads upwards, around the right sides of its items.
    fn detour(&self, link: &Link, route: &mut Route, end: Point) {
        let sides = [link.from, link.to].map(|item| {
            let half = self.graph.sizes[item][0] / 2.0;
            self.middles[item].x + half + DETOUR
        });
        let start = route.start;
        let [below, above] = [start.y + LAYER_GAP / 2.0, end.y - LAYER_GAP / 2.0];
        let x = sides[0].max(sides[1]);
        let middle = Point {
            x,
            y: (start.y + end.y) / 2.0,
        };
        let control = |x, y| Point { x, y };
        let first = Step::Curve(control(start.x, below), control(x, below), middle);
        let second = Step::Curve(control(x, above), control(end.x, above), end);
        route.steps.extend([first, second]);
    }
}
