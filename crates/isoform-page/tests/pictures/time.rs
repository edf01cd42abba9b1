//! Large pictures: time, and graphs that break recursive or quadratic code.

use std::time::{Duration, Instant};

use isoform_page::picture::{Picture, PictureBlock};

use super::{block, edge, node};

/// A graph like a model: mostly a chain, with skips and short branches.
fn model(count: usize) -> Picture {
    let mut state = 12_345u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut edges = Vec::new();
    for number in 1..count {
        edges.push(edge(number - 1 - random(number.min(4)), number));
        if number > 8 && random(3) == 0 {
            edges.push(edge(number - 2 - random(6), number));
        }
    }
    Picture {
        nodes: (0..count)
            .map(|number| node(&format!("Node{}", number % 19)))
            .collect(),
        edges,
        ..Picture::default()
    }
}

/// The shortest time of three.
fn time(picture: &Picture) -> Duration {
    let once = |_| {
        let start = Instant::now();
        assert!(picture.svg().len() > 100);
        start.elapsed()
    };
    (0..3).map(once).min().expect("has three")
}

#[test]
fn a_change_takes_a_moment_and_a_model_two_seconds() {
    let change = time(&model(60));
    assert!(change < Duration::from_millis(50), "{change:?}");
    let whole = time(&model(2_000));
    assert!(whole < Duration::from_secs(2), "{whole:?}");
}

#[test]
fn long_edges_cost_as_much_as_short_ones() {
    let mut skips = model(2_000);
    skips.edges = (1..2_000).map(|number| edge(number - 1, number)).collect();
    skips.edges.extend((2..2_000).map(|number| edge(0, number)));
    let size = skips.svg().len();
    assert!(size < 2_000_000, "{size}");
}

#[test]
fn deep_graphs_and_deep_blocks_do_not_exhaust_the_stack() {
    let count = 50_000;
    let mut chain = Picture {
        nodes: (0..count).map(|_| node("a")).collect(),
        edges: (1..count).map(|number| edge(number - 1, number)).collect(),
        ..Picture::default()
    };
    assert!(chain.svg().contains(&format!("id=\"n{}\"", count - 1)));
    chain.blocks = (0..count)
        .map(|number| block("b", 1, number.checked_sub(1), number % 2 == 1))
        .collect::<Vec<PictureBlock>>();
    chain.edges.clear();
    for (number, node) in chain.nodes.iter_mut().enumerate() {
        node.block = Some(number);
    }
    assert!(chain.svg().contains("× 1") || chain.svg().contains("nodes</text>"));
}

/// Groups inside of groups: a script opens each of them.
#[test]
fn ten_thousand_groups_are_laid_out_in_linear_time() {
    let (outer, inner) = (100, 100);
    let mut blocks: Vec<PictureBlock> = (0..outer).map(|_| block("layer", 1, None, true)).collect();
    blocks.extend((0..outer * inner).map(|number| block("part", 1, Some(number / inner), true)));
    let count = 2 * outer * inner;
    let mut picture = Picture {
        nodes: (0..count).map(|_| node("Add")).collect(),
        edges: (1..count).map(|number| edge(number - 1, number)).collect(),
        blocks,
        ..Picture::default()
    };
    for (number, node) in picture.nodes.iter_mut().enumerate() {
        node.block = Some(outer + number / 2);
    }
    let start = Instant::now();
    let scenes = picture.scenes_json();
    let taken = start.elapsed();
    let scenes = scenes["scenes"].as_array().expect("a list");
    assert_eq!(scenes.len(), 1 + outer + outer * inner);
    assert!(taken < Duration::from_secs(10), "{taken:?}");
}
