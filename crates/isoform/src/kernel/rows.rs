//! Lists for numbers, one after the other in one allocation: the neighbours of vertices, the
//! users of nodes, the members of classes.

/// A list of items for each number below a count.
pub struct Rows<T = u32> {
    /// The start of each list, and the end of the last list.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// The lists of `count` numbers, from items in any order, each with its number. A list
    /// keeps the order of its items. O(count + items), by counting.
    pub fn new(count: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        // A count is stored two places after the start that it determines. While items are
        // placed, the start of a list moves to the end of the list, which is the next start.
        let mut starts = vec![0u32; count + 2];
        for (number, _) in items.clone() {
            starts[number as usize + 2] += 1;
        }
        for number in 2..count + 2 {
            starts[number] += starts[number - 1];
        }
        let mut placed = vec![T::default(); starts[count + 1] as usize];
        for (number, item) in items {
            let place = &mut starts[number as usize + 1];
            placed[*place as usize] = item;
            *place += 1;
        }
        starts.pop();
        Rows {
            starts,
            items: placed,
        }
    }
}

impl<T> Rows<T> {
    /// The count of lists.
    pub fn list_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The list of a number.
    pub fn of(&self, number: u32) -> &[T] {
        let number = number as usize;
        &self.items[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn lists_keep_the_order_of_their_items() {
        let items = [(2, 'c'), (0, 'a'), (2, 'd'), (0, 'b')];
        let rows = Rows::new(4, items.iter().copied());
        let lists: Vec<String> = (0..4)
            .map(|number| rows.of(number).iter().collect())
            .collect();
        assert_eq!(lists, ["ab", "", "cd", ""]);
        assert_eq!(Rows::<u32>::new(0, [].into_iter()).list_count(), 0);
    }
}
