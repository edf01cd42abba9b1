use isoform::{Obj, Ref, match_node};

fn without_the_last_arm(node: &Ref<Obj>) -> i64 {
    match_node!(node, {
        Obj(_) => 1,
    })
}

fn with_an_arm_after_the_last(node: &Ref<Obj>) -> bool {
    match_node!(node, {
        other => other.is_unique(),
        Obj(_) => true,
    })
}

fn without_a_comma(node: &Ref<Obj>) -> i64 {
    match_node!(node, {
        Obj(_) => 1
    })
}

fn with_a_pattern_of_fields(node: &Ref<Obj>) -> i64 {
    match_node!(node, {
        Obj { .. } => 1,
        _ => 2,
    })
}

fn with_a_type_alone(node: &Ref<Obj>) -> i64 {
    match_node!(node, {
        Obj => 1,
        _ => 2,
    })
}

fn main() {}
