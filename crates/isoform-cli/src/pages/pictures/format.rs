//! The formats of pictures on the command line.

use std::io;
use std::str::FromStr;

use clap::ValueEnum;
use isoform::Error;
use isoform_page::Picture;
use isoform_page::picture::mermaid_warning;

use crate::output::Output;

/// The format of a picture.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureFormat {
    /// A picture for browsers.
    Svg,
    /// The language of graphviz.
    Dot,
    /// The language of mermaid, which code hosts draw.
    Mermaid,
}

impl PictureFormat {
    /// The picture as text. The anchors of its nodes are places on a page, so they are left out.
    ///
    /// ```
    /// use isoform_cli::pages::pictures::{PictureFormat, value_picture};
    /// let picture = value_picture(&isoform::Array::from(vec![1, 2]).into(), "A pair");
    /// let format: PictureFormat = "mermaid".parse()?;
    /// assert!(format.draw(picture).starts_with("flowchart"));
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn draw(self, mut picture: Picture) -> String {
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

impl PictureFormat {
    /// Writes a picture, and warns on standard error of a chart that code hosts do not draw.
    pub(crate) fn write(self, picture: Picture, output: &mut Output<'_, '_>) -> io::Result<()> {
        let text = self.draw(picture);
        if let Some(warning) = mermaid_warning(&text) {
            output.aside(&format!("isoform: warning: {warning}\n"));
        }
        output.bytes(text.as_bytes())
    }
}

impl FromStr for PictureFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        <Self as ValueEnum>::from_str(name, false).map_err(|_| {
            Error::value_error(format!(
                "format: expected 'svg', 'dot' or 'mermaid', got {name:?}"
            ))
        })
    }
}
