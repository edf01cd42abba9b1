//! Places on different branches of a program.

use isoform::host::{Place, Places, Step};

/// True if two places are in different branches of one `if`: no path through the
/// program reaches both places. O(distance to the branching).
pub(super) fn exclude_each_other(places: &Places, place: Place, other: Place) -> bool {
    let (mut place, mut other) = (place, other);
    let mut last = (place, other);
    while place != other {
        last = (place, other);
        let (depth, other_depth) = (places.depth(place), places.depth(other));
        if depth >= other_depth {
            place = places.above(place);
        }
        if other_depth >= depth {
            other = places.above(other);
        }
    }
    let name = |place| match places.step(place) {
        Some(Step::Field(name)) => *name,
        _ => "",
    };
    matches!(
        (name(last.0), name(last.1)),
        ("then_body", "else_body") | ("else_body", "then_body")
    )
}

#[cfg(test)]
mod tests {
    use super::{Places, exclude_each_other};

    #[test]
    fn branches_exclude_each_other_and_nothing_else() {
        let mut places = Places::default();
        let branch = places.item(Places::ROOT, 0);
        let (yes, no) = (
            places.field(branch, "then_body"),
            places.field(branch, "else_body"),
        );
        let deep = places.item(yes, 4);
        let next = places.item(Places::ROOT, 1);
        assert!(exclude_each_other(&places, yes, no));
        assert!(exclude_each_other(&places, no, deep));
        assert!(!exclude_each_other(&places, deep, next));
        assert!(!exclude_each_other(&places, deep, yes));
        assert!(!exclude_each_other(&places, deep, deep));
        assert_eq!(places.path(deep).to_string(), "<root>[0].then_body[4]");
    }
}
