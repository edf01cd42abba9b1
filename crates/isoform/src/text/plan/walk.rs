//! The visit of all nodes in the order of the text, which finds the named nodes in this
//! order, and decides which variables are defined in place.

use super::{NONE, Plan};
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::types::{FieldFlag, Kind};
use crate::text::graph::{Graph, Item, NodeKind};

impl Plan {
    /// Visits the nodes in the order of the text, and decides which variables are defined in
    /// place. Returns the named nodes in the order of their first appearance.
    pub(super) fn walk(&mut self, graph: &Graph<'_>, poll: &mut Poll) -> Result<Vec<u32>> {
        for block in &mut self.blocks {
            block.lines.sort_unstable();
        }
        let mut walk = Walk {
            plan: self,
            graph,
            stack: Vec::new(),
            late: Vec::new(),
            named: Vec::new(),
        };
        let root = graph.root();
        for position in 0..walk.plan.blocks[0].lines.len() {
            let line = walk.plan.blocks[0].lines[position];
            walk.line(line);
            walk.run(poll)?;
        }
        walk.enter(root, Region::Use, 0, 0);
        walk.run(poll)?;
        let Walk { late, named, .. } = walk;
        for (block, line) in late {
            self.blocks[block as usize].lines.push(line);
        }
        for block in &mut self.blocks {
            block.lines.sort_unstable();
        }
        Ok(named)
    }
}

/// The treatment of variables at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Use,
    Def,
    DefSimple,
}

struct Walk<'p, 'g> {
    plan: &'p mut Plan,
    graph: &'p Graph<'g>,
    stack: Vec<Frame>,
    /// Variables with a line, and the block of the line.
    late: Vec<(u32, u32)>,
    /// The nodes with names, by the numbers of their names.
    named: Vec<u32>,
}

struct Frame {
    node: u32,
    next: usize,
    region: Region,
    level: u8,
}

impl Walk<'_, '_> {
    fn run(&mut self, poll: &mut Poll) -> Result<()> {
        while let Some(frame) = self.stack.last_mut() {
            poll.step_outside()?;
            let (number, position, region, level) =
                (frame.node, frame.next, frame.region, frame.level);
            frame.next += 1;
            let graph = self.graph;
            let node = graph.node(number);
            let parts = graph.parts_of(number);
            let header = node.header as usize;
            let lines = self.plan.lines_in(number);
            let position = if position < header {
                position
            } else if let Some(&line) = lines.get(position - header) {
                self.line(line);
                continue;
            } else {
                position - lines.len()
            };
            let Some(part) = parts.get(position) else {
                self.stack.pop();
                continue;
            };
            let Item::Node(item) = part.item else {
                continue;
            };
            if !self.plan.prints(graph, number, part) {
                continue;
            }
            let region = match node.what {
                NodeKind::Object(ty) => {
                    match graph.types[ty as usize].fields[part.field as usize].flag {
                        FieldFlag::Def => Region::Def,
                        FieldFlag::DefSimple => Region::DefSimple,
                        FieldFlag::Use => Region::Use,
                        FieldFlag::None | FieldFlag::Ignore => region,
                    }
                }
                // A name before a colon is a key.
                NodeKind::Mapping(_) if position.is_multiple_of(2) => Region::Use,
                _ => region,
            };
            self.enter(item, region, level, position as u32);
        }
        Ok(())
    }

    /// Enters a node with its own line.
    fn line(&mut self, number: u32) {
        self.give_name(number);
        self.push(number, Region::Use, 0);
    }

    /// Enters a part, if its text is in this place.
    fn enter(&mut self, number: u32, region: Region, level: u8, site: u32) {
        let spot = self.plan.spots[number as usize];
        if !spot.is_named {
            self.push(number, region, level);
            return;
        }
        if spot.name != NONE {
            return;
        }
        if self.graph.is_constant(self.graph.node(number).what) {
            self.plan.constants.push(number);
            self.give_name(number);
            return;
        }
        if self.graph.type_of(number).map(|ty| ty.kind()) != Some(Kind::Var) {
            // Named at its line.
            return;
        }
        self.give_name(number);
        let limit = self.graph.options().levels();
        if region != Region::Use && level < limit {
            let parent = self.stack.last().map_or(NONE, |frame| frame.node);
            let spot = &mut self.plan.spots[number as usize];
            spot.in_place = true;
            // From here on, only the place of the definition counts.
            spot.home = parent;
            spot.site = site;
            let inner = if region == Region::Def {
                Region::Def
            } else {
                Region::Use
            };
            self.push(number, inner, level);
        } else {
            self.late.push((spot.home, number));
            self.push(number, Region::Use, 0);
        }
    }

    fn push(&mut self, number: u32, region: Region, level: u8) {
        if self.graph.node(number).count > 0 || !self.plan.lines_in(number).is_empty() {
            self.stack.push(Frame {
                node: number,
                next: 0,
                region,
                level: level.saturating_add(1),
            });
        }
    }

    fn give_name(&mut self, number: u32) {
        self.plan.spots[number as usize].name = self.named.len() as u32;
        self.named.push(number);
    }
}
