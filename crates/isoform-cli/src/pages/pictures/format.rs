//! The formats of pictures on the command line.

use clap::ValueEnum;
use isoform_page::Picture;

/// The format of a picture.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PictureFormat {
    /// A picture for browsers.
    Svg,
    /// The language of graphviz.
    Dot,
    /// The language of mermaid, which code hosts draw.
    Mermaid,
}

impl PictureFormat {
    /// The picture as text. The anchors of its nodes are places on a page, so they are left out.
    pub(crate) fn draw(self, mut picture: Picture) -> String {
        for node in &mut picture.nodes {
            node.anchor = None;
        }
        match self {
            PictureFormat::Svg => picture.svg(),
            PictureFormat::Dot => picture.dot(),
            PictureFormat::Mermaid => picture.mermaid(),
        }
    }
}
