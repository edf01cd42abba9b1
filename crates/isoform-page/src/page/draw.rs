//! Pictures inside of pages.

use maud::html;

use super::text::brief;
use crate::Picture;

/// The picture as SVG, with the nodes below each other.
pub(super) fn picture_svg(picture: &Picture, _prefix: &str) -> String {
    let height = 30 * picture.nodes.len() + 10;
    let markup = html! {
        svg.isoform-picture viewBox=(format!("0 0 240 {height}")) width="240" height=(height) role="img" {
            title { (brief(&picture.title, 200)) }
            @for (place, node) in picture.nodes.iter().enumerate() {
                g class=(format!("node mark-{}", node.mark.name())) {
                    rect x="5" y=(30 * place + 5) width="230" height="24" rx="4" fill="none" stroke="currentColor" {}
                    text x="14" y=(30 * place + 21) fill="currentColor" font-size="12" { (brief(&node.label, 30)) }
                }
            }
        }
    };
    markup.into_string()
}
