//! Stacks reused by the next traversal.

/// Longer stacks are returned to the allocator after a traversal.
const KEPT_FRAMES: usize = 1 << 14;

/// Returns an empty vector in the memory of another vector, whose elements may have had
/// another borrow.
///
/// Safe code cannot change an element's lifetime in place, but a vector collected from
/// another vector's iterator takes over the allocation.
pub(crate) fn recycle<A, B>(mut items: Vec<A>) -> Vec<B> {
    items.clear();
    if items.capacity() > KEPT_FRAMES {
        return Vec::new();
    }
    items.into_iter().map_while(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::{KEPT_FRAMES, recycle};

    #[test]
    fn the_block_is_kept_up_to_a_limit() {
        let items: Vec<&str> = Vec::with_capacity(100);
        let block = items.as_ptr() as usize;
        let recycled: Vec<&'static str> = recycle(items);
        assert_eq!(recycled.as_ptr() as usize, block);
        assert!(recycled.capacity() >= 100);
        let long: Vec<&str> = Vec::with_capacity(KEPT_FRAMES + 1);
        assert_eq!(recycle::<_, &str>(long).capacity(), 0);
    }
}
