//! The operators that work on strings.

/// True for operators whose kernels also handle strings, encoded as numbers.
pub(in crate::eval) fn moves_strings(name: &str) -> bool {
    matches!(
        name,
        "Identity"
            | "Transpose"
            | "Reshape"
            | "Flatten"
            | "Squeeze"
            | "Unsqueeze"
            | "Concat"
            | "Split"
            | "Slice"
            | "Gather"
            | "GatherElements"
            | "GatherND"
            | "Scatter"
            | "ScatterElements"
            | "ScatterND"
            | "Expand"
            | "Tile"
            | "Pad"
            | "DepthToSpace"
            | "SpaceToDepth"
            | "Compress"
            | "Where"
            | "ReverseSequence"
            | "Equal"
            | "Unique"
            | "OneHot"
            | "Shape"
            | "Size"
            | "Cast"
            | "CastLike"
            | "StringConcat"
            | "Trilu"
            | "CenterCropPad"
            | "TensorScatter"
            | "StringNormalizer"
            | "StringSplit"
            | "RegexFullMatch"
            | "TfIdfVectorizer"
            | "ArrayFeatureExtractor"
            | "CategoryMapper"
            | "LabelEncoder"
            | "OneHotEncoder"
    )
}

/// True if a numeric result stands for a string, given that an input does.
pub(in crate::eval) fn makes_strings(name: &str, position: usize) -> bool {
    match name {
        "Shape" | "Size" | "Equal" | "Cast" | "CastLike" => false,
        // These operators read strings, and make their string results directly.
        "StringNormalizer" | "StringSplit" | "RegexFullMatch" | "TfIdfVectorizer"
        | "CategoryMapper" | "LabelEncoder" | "OneHotEncoder" => false,
        "Split" => true,
        _ => position == 0,
    }
}
