//! A whole model as a picture.

use isoform::compare::repeated_blocks;
use isoform::{Ref, Result, Value};
use isoform_onnx::ir::Program;
use isoform_page::picture::{Picture, PictureBlock, PictureEdge, PictureNode};

use super::blocks::{group_names, group_repeats};
use super::parts::Parts;

/// Nodes in a copy of a block that is drawn once.
const LEAST_BLOCK: usize = 4;

/// The nodes of a model whose functions and inner graphs are drawn in full.
const MANY: usize = 150;

/// A model: its nodes, inputs and outputs. Constants are in the tooltips of their users. Graphs in
/// attributes and functions are blocks, which are collapsed in a model of many nodes. Of blocks that occur several times, the first copy is
/// drawn with the number of copies, and the others are collapsed; where many nodes remain, those
/// whose names begin alike are collapsed, too.
///
/// O(n log n) in the size of the model, as [`repeated_blocks`].
///
/// # Errors
///
/// As [`repeated_blocks`].
pub fn model_picture(program: &Ref<Program>, title: &str) -> Result<Picture> {
    let parts = Parts::of(program);
    let mut picture = Picture {
        title: title.to_owned(),
        ..Picture::default()
    };
    let bodies = add_bodies(&parts, &mut picture);
    picture.nodes = (parts.list.iter())
        .map(|part| PictureNode {
            block: bodies[part.body],
            ..part.picture_node()
        })
        .collect();
    picture.edges = (parts.uses.iter())
        .map(|used| PictureEdge {
            from: used.from,
            to: used.to,
            ..PictureEdge::default()
        })
        .collect();
    let repeats = repeated_blocks(&[Value::from(program.clone())], LEAST_BLOCK, 2)?;
    group_repeats(&parts, &repeats, &mut picture);
    group_names(&parts, &mut picture);
    Ok(picture)
}

/// A block for each body but the main graph.
fn add_bodies(parts: &Parts, picture: &mut Picture) -> Vec<Option<usize>> {
    let mut next = 0;
    let numbers: Vec<Option<usize>> = (parts.bodies.iter())
        .map(|body| {
            let number = (!body.is_main).then_some(next);
            next += usize::from(!body.is_main);
            number
        })
        .collect();
    for body in parts.bodies.iter().filter(|body| !body.is_main) {
        picture.blocks.push(PictureBlock {
            label: body.label.clone(),
            count: body.calls,
            parent: body.parent.and_then(|parent| numbers[parent]),
            is_collapsed: parts.list.len() > MANY,
        });
    }
    numbers
}
