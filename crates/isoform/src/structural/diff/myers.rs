//! The common words of two texts, at bounded cost.
//!
//! The crate `similar` offers the same algorithm, but bounds its work by time only,
//! which makes results depend on the machine, and recurses once per split.

/// Aligns texts by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986: in
/// linear space, from both ends at once.
pub(super) struct Myers {
    /// The furthest column reached on a diagonal from the start, and from the end, by
    /// diagonal.
    reached: [Vec<isize>; 2],
    /// The minimum number of differences after which a text is split at the furthest
    /// point of the search.
    many: usize,
    /// The number of comparisons that remain.
    budget: u64,
}

/// A part of both texts that is yet to be aligned.
#[derive(Clone, Copy)]
struct Block {
    left: (usize, usize),
    right: (usize, usize),
}

impl Myers {
    /// A search with at most this many comparisons, besides comparisons of common
    /// beginnings and ends. After that, equal words remain without partners. The result
    /// is minimal for texts with fewer than `many` differences.
    pub(super) fn new(budget: u64, many: usize) -> Self {
        Myers {
            reached: [Vec::new(), Vec::new()],
            many,
            budget,
        }
    }

    /// The number of comparisons that remain; 0 after a search cut short.
    pub(super) fn budget(&self) -> u64 {
        self.budget
    }

    /// Calls `callback` with the positions of words that correspond, at most once per
    /// word, and in order.
    ///
    /// O((n + m) × d) for d differences, as long as the budget lasts.
    pub(super) fn align<W: PartialEq>(
        &mut self,
        left: &[W],
        right: &[W],
        mut callback: impl FnMut(usize, usize),
    ) {
        let mut open = vec![Block {
            left: (0, left.len()),
            right: (0, right.len()),
        }];
        while let Some(mut block) = open.pop() {
            let Block {
                left: (l, l_end),
                right: (r, r_end),
            } = &mut block;
            while l < l_end && r < r_end && left[*l] == right[*r] {
                callback(*l, *r);
                (*l, *r) = (*l + 1, *r + 1);
            }
            while l < l_end && r < r_end && left[*l_end - 1] == right[*r_end - 1] {
                (*l_end, *r_end) = (*l_end - 1, *r_end - 1);
                callback(*l_end, *r_end);
            }
            let (l, l_end, r, r_end) = (*l, *l_end, *r, *r_end);
            if l == l_end || r == r_end {
                continue;
            }
            let Some((x, y)) = self.split(&left[l..l_end], &right[r..r_end]) else {
                continue;
            };
            open.push(Block {
                left: (l + x, l_end),
                right: (r + y, r_end),
            });
            open.push(Block {
                left: (l, l + x),
                right: (r, r + y),
            });
        }
    }

    /// A point inside on the path of a best alignment, or of a good alignment after
    /// many differences. None if the budget is used up.
    fn split<W: PartialEq>(&mut self, left: &[W], right: &[W]) -> Option<(usize, usize)> {
        let (n, m) = (left.len() as isize, right.len() as isize);
        let most = (left.len() + right.len()).isqrt().max(self.many);
        let index = |diagonal: isize| (diagonal + m + 1) as usize;
        for reached in &mut self.reached {
            reached.resize(reached.len().max((n + m + 3) as usize), 0);
        }
        let [forward, backward] = &mut self.reached;
        let end = n - m;
        let is_odd = end % 2 != 0;
        (forward[index(0)], backward[index(end)]) = (0, n);
        let (mut f_low, mut f_high) = (0isize, 0isize);
        let (mut b_low, mut b_high) = (end, end);
        for differences in 1.. {
            // Diagonals outside of the texts are not entered.
            if f_low > -m {
                f_low -= 1;
                forward[index(f_low - 1)] = -1;
            } else {
                f_low += 1
            }
            if f_high < n {
                f_high += 1;
                forward[index(f_high + 1)] = -1;
            } else {
                f_high -= 1
            }
            let mut diagonal = f_high;
            while diagonal >= f_low {
                let (below, above) = (forward[index(diagonal - 1)], forward[index(diagonal + 1)]);
                let start = above.max(below + 1);
                let mut x = start;
                while x < n
                    && x - diagonal < m
                    && left[x as usize] == right[(x - diagonal) as usize]
                {
                    x += 1;
                }
                spend(&mut self.budget, (x - start) as u64 + 1)?;
                forward[index(diagonal)] = x;
                if is_odd && (b_low..=b_high).contains(&diagonal) && backward[index(diagonal)] <= x
                {
                    return inside(x, x - diagonal, n, m);
                }
                diagonal -= 2;
            }
            if b_low > -m {
                b_low -= 1;
                backward[index(b_low - 1)] = isize::MAX;
            } else {
                b_low += 1
            }
            if b_high < n {
                b_high += 1;
                backward[index(b_high + 1)] = isize::MAX;
            } else {
                b_high -= 1
            }
            let mut diagonal = b_high;
            while diagonal >= b_low {
                let (below, above) = (backward[index(diagonal - 1)], backward[index(diagonal + 1)]);
                let start = below.min(above - 1);
                let mut x = start;
                while x > 0
                    && x > diagonal
                    && left[x as usize - 1] == right[(x - diagonal) as usize - 1]
                {
                    x -= 1;
                }
                spend(&mut self.budget, (start - x) as u64 + 1)?;
                backward[index(diagonal)] = x;
                if !is_odd && (f_low..=f_high).contains(&diagonal) && x <= forward[index(diagonal)]
                {
                    return inside(x, x - diagonal, n, m);
                }
                diagonal -= 2;
            }
            if differences >= most {
                break;
            }
        }
        furthest(forward, backward, (f_low, f_high), (b_low, b_high), (n, m))
    }
}

/// Takes comparisons off the budget; None, and an empty budget, if the budget is too
/// small.
fn spend(budget: &mut u64, comparisons: u64) -> Option<()> {
    // The last comparison is kept: an empty budget means that the search was cut short.
    let rest = budget.checked_sub(comparisons).filter(|&rest| rest > 0);
    *budget = rest.unwrap_or(0);
    rest.map(|_| ())
}

/// The point nearest to the other end among the points reached by either search.
fn furthest(
    forward: &[isize],
    backward: &[isize],
    (f_low, f_high): (isize, isize),
    (b_low, b_high): (isize, isize),
    (n, m): (isize, isize),
) -> Option<(usize, usize)> {
    let index = |diagonal: isize| (diagonal + m + 1) as usize;
    let point = |x: isize, diagonal: isize| (x, x - diagonal);
    let from_start = (f_low..=f_high)
        .step_by(2)
        .map(|diagonal| point(forward[index(diagonal)].min(n).min(m + diagonal), diagonal))
        .max_by_key(|(x, y)| x + y)?;
    let from_end = (b_low..=b_high)
        .step_by(2)
        .map(|diagonal| point(backward[index(diagonal)].max(0).max(diagonal), diagonal))
        .min_by_key(|(x, y)| x + y)?;
    let (x, y) = if n + m - (from_end.0 + from_end.1) < from_start.0 + from_start.1 {
        from_start
    } else {
        from_end
    };
    inside(x, y, n, m)
}

/// The point, unless a split at the point makes no progress.
fn inside(x: isize, y: isize, n: isize, m: isize) -> Option<(usize, usize)> {
    let is_corner = (x, y) == (0, 0) || (x, y) == (n, m);
    (!is_corner).then_some((x as usize, y as usize))
}
