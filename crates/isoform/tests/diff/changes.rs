//! What differences say.

use isoform::Value;
use isoform::compare::{ChangeKind, Difference, diff};

use crate::support::{Step, Stride, add, call, list};

fn difference(left: impl Into<Value>, right: impl Into<Value>) -> Difference {
    diff(left.into(), right.into()).expect("a difference")
}

#[test]
fn a_node_of_another_type_is_replaced_alone() {
    let parts = || list((0..100).map(|at| add(at, 1).into()));
    let found = difference(Step::new(parts()), Stride::new(parts()));
    assert_eq!(found.counts(), [(ChangeKind::Replaced, 1)]);
    let change = &found.changes()[0];
    assert_eq!((change.left_size(), change.right_size()), (1, 1));
}

#[test]
fn a_dataflow_node_that_is_gone_is_one_change() {
    let graph = |is_there: bool| {
        let input = call("input", 1);
        let gone = call("gone", list([input.clone()]));
        let uses = [0, 1].map(|at| match is_there {
            true => list([call("kept", at), gone.clone()]),
            false => list([call("kept", at)]),
        });
        list([input].into_iter().chain(uses))
    };
    let (left, right) = (graph(true), graph(false));
    for (found, kind) in [
        (difference(&left, &right), ChangeKind::Deleted),
        (difference(&right, &left), ChangeKind::Inserted),
    ] {
        assert_eq!(found.counts(), [(kind, 1)], "{found}");
    }
}
