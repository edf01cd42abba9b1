//! Objects on both sides of a difference, which are read once.

use super::tables::{Cell, IS_DEFINED, Marks, NONE, Node, Tables};
use crate::kernel::error::Result;
use crate::kernel::object::access::{Poll, Section};
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::region::RegionKind;

/// The tables of the other side, whose rows are reused for the objects on both sides.
pub(super) struct SharedRows<'k> {
    tables: &'k Tables,
    marks: Marks,
    /// The number of a node on this side, by its number on the other side. Empty until
    /// the reader meets an object of both sides.
    numbers: Vec<u32>,
    /// The rows that are being taken over, as the frames of open objects.
    rows: Vec<Row>,
}

struct Row {
    number: u32,
    /// The position of the next part among all cells.
    next: u32,
    region: RegionKind,
}

impl<'k> SharedRows<'k> {
    pub(super) fn new(tables: &'k Tables, marks: Marks) -> Self {
        SharedRows {
            tables,
            marks,
            numbers: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// The number of an object on the other side; None if the object is only on this
    /// side.
    pub(super) fn find(&mut self, object: ObjRef<'_>) -> Option<u32> {
        let number = self.marks.get(object.ident())?.checked_sub(1)?;
        if self.numbers.is_empty() {
            self.numbers.resize(self.tables.nodes.len(), NONE);
        }
        Some(number)
    }

    /// Copies a row and all missing rows below, in the order in which reading the
    /// objects again would add them. Returns the node's number on this side.
    ///
    /// # Errors
    ///
    /// `ValueError` for too many parts; errors from the host.
    pub(super) fn take_over(
        &mut self,
        section: &mut Section,
        poll: &mut Poll,
        own: &mut Tables,
        number: u32,
        region: RegionKind,
    ) -> Result<u32> {
        let other = self.tables;
        self.meet(own, number, region);
        while let Some(row) = self.rows.last_mut() {
            let node = other.node(row.number);
            let rest = &other.cells[row.next as usize..(node.first + node.count) as usize];
            match rest.iter().position(Cell::is_node) {
                Some(before) => {
                    let position = row.next + before as u32;
                    row.next = position + 1;
                    let region = Tables::region_of(node, position - node.first, row.region);
                    self.meet(own, rest[before].word as u32, region);
                }
                None => {
                    poll.step(section)?;
                    self.close(own, node)?;
                }
            }
        }
        Ok(self.numbers[number as usize])
    }

    #[inline]
    fn meet(&mut self, own: &mut Tables, number: u32, region: RegionKind) {
        match self.numbers[number as usize] {
            NONE => self.rows.push(Row {
                number,
                next: self.tables.node(number).first,
                region,
            }),
            number => own.meet_again(number, region),
        }
    }

    /// Copies the last row, whose parts all have numbers on this side.
    #[inline]
    fn close(&mut self, own: &mut Tables, node: &Node) -> Result<()> {
        let Some(Row { number, region, .. }) = self.rows.pop() else {
            return Ok(());
        };
        let (copy, first) = own.room()?;
        own.add(Node {
            object: node.object.clone(),
            first,
            flags: node.flags & !IS_DEFINED,
            ..*node
        });
        own.meet_again(copy, region);
        let numbers = &self.numbers;
        let cells = self.tables.cells(number).iter();
        own.cells.extend(cells.map(|cell| match cell.node_number() {
            Some(part) => Cell::node(numbers[part as usize]),
            None => Cell {
                value: cell.value.clone(),
                word: cell.word,
            },
        }));
        self.numbers[number as usize] = copy;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use isoform_macros::Node;

    use super::super::options::Ignored;
    use super::super::tables::Tables;
    use crate::kernel::container::{Array, Str};
    use crate::kernel::mixing::Mixing;
    use crate::kernel::object::reference::Ref;
    use crate::kernel::value::Value;
    use crate::structural::CompareOptions;

    #[derive(Node)]
    #[node(key = "diff.known.Var", kind = var, crate = crate)]
    #[repr(C)]
    struct Var {
        #[node(ignore)]
        name: Str,
    }

    #[derive(Node)]
    #[node(key = "diff.known.Fun", scope, crate = crate)]
    #[repr(C)]
    struct Fun {
        #[node(def)]
        params: Array<Ref<Var>>,
        body: Value,
    }

    #[derive(Node)]
    #[node(key = "diff.known.Pair", crate = crate)]
    #[repr(C)]
    struct Pair {
        lhs: Value,
        rhs: Value,
    }

    /// The contents of tables, except for the values of cells.
    type Rows = (Vec<(u64, [u32; 2], [u64; 4], u8)>, Vec<u64>);

    fn rows(tables: &Tables) -> Rows {
        let nodes = tables.nodes.iter().map(|node| {
            let numbers = [node.shape, node.skeleton, node.size, node.own_size];
            let cells = [node.first, node.count];
            (node.object.identity(), cells, numbers, node.flags)
        });
        let words = tables.cells.iter().map(|cell| cell.word);
        (nodes.collect(), words.chain([tables.root.word]).collect())
    }

    #[test]
    fn rows_that_are_taken_over_are_those_of_reading() {
        let options = CompareOptions::default();
        let ignored = Ignored::default();
        let mut seed = 1;
        let mut below = |end: usize| {
            seed = Mixing::FIXED.fold(seed ^ 0x9e37_79b9_7f4a_7c15);
            (seed >> 33) as usize % end
        };
        for _ in 0..200 {
            let vars: Vec<Ref<Var>> = (0..3).map(|_| Var::new("x")).collect();
            let mut values: Vec<Value> = vec![1.into(), "a text of some length".into()];
            values.extend(vars.iter().map(|var| Value::from(var.clone())));
            for _ in 0..below(30) + 2 {
                let parts = [0, 1].map(|_| values[below(values.len())].clone());
                let [lhs, rhs] = parts.clone();
                values.push(match below(4) {
                    0 => Fun::new([vars[below(3)].clone()], lhs).into(),
                    1 => Array::<Value>::from(parts.to_vec()).into(),
                    _ => Pair::new(lhs, rhs).into(),
                });
            }
            let mut root = || values[values.len() - 1 - below(values.len() / 2)].clone();
            let (left, right) = (root(), Value::from(Pair::new(root(), root())));
            let both = Tables::of_both([&left, &right], options, &ignored, 0).expect("tables");
            for (tables, value) in both.iter().zip([&left, &right]) {
                let alone = Tables::of(value, options, &ignored).expect("tables");
                assert_eq!(rows(tables), rows(&alone));
            }
        }
    }
}
