//! The three-way choice of names, documentation and metadata, field by field and entry by entry.

use std::collections::HashMap;

use isoform::values::Bytes;
use isoform::{Array, Str};
use isoform_onnx::proto::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use prost::Message;

/// The same part in the base, on the left and on the right, where it exists.
pub(super) type Versions<T> = [Option<T>; 3];

/// Chooses between versions, and counts the clashes.
#[derive(Default)]
pub(super) struct Picks {
    /// The number of parts that both sides changed in different ways; those of the left side are
    /// taken.
    pub(super) clashes: usize,
}

pub(super) fn each<T, U>(versions: &Versions<T>, field: impl Fn(&T) -> U) -> Versions<U> {
    versions
        .each_ref()
        .map(|version| version.as_ref().map(&field))
}

impl Picks {
    /// The version that counts, where the merged part has `own`.
    pub(super) fn pick<T: Clone + PartialEq>(&mut self, own: &T, versions: Versions<T>) -> T {
        match versions {
            [Some(base), Some(left), Some(right)] => self.of_three([base, left, right]),
            [_, Some(side), _] | [_, None, Some(side)] => side,
            [_, None, None] => own.clone(),
        }
    }

    fn of_three<T: PartialEq>(&mut self, [base, left, right]: [T; 3]) -> T {
        if left == base {
            return right;
        }
        self.clashes += usize::from(right != base && right != left);
        left
    }

    /// A field of three messages.
    fn field<M, T: PartialEq>(&mut self, messages: &[M; 3], field: impl Fn(&M) -> T) -> T {
        self.of_three(messages.each_ref().map(field))
    }

    pub(super) fn bytes(
        &mut self,
        own: &Option<Bytes>,
        versions: Versions<Option<Bytes>>,
    ) -> Option<Bytes> {
        let plain = |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| bytes.to_vec());
        let versions = versions.map(|version| version.as_ref().map(plain));
        self.pick(&plain(own), versions).map(Bytes::from)
    }

    /// A list of names, name by name where all versions have as many.
    pub(super) fn all(&mut self, own: &Array<Str>, versions: Versions<Array<Str>>) -> Array<Str> {
        let texts = |names: &Array<Str>| -> Vec<Str> { names.iter().cloned().collect() };
        let own = texts(own);
        let fitting = versions.map(|names| {
            let names = names.filter(|names| names.len() == own.len());
            names.as_ref().map(texts)
        });
        let merged = own.iter().enumerate().map(|(index, name)| {
            let versions = fitting
                .each_ref()
                .map(|names| names.as_ref().map(|names| names[index].clone()));
            self.pick(name, versions)
        });
        Array::from(merged.collect::<Vec<_>>())
    }

    /// Entries of three lists by key: those of the left side, and then those that only the right
    /// side has. A list with a repeated key counts as a whole. O(n).
    fn entries<T: Clone + PartialEq>(
        &mut self,
        lists: [Vec<T>; 3],
        key: fn(&T) -> &String,
    ) -> Vec<T> {
        let tables = lists.each_ref().map(|list| {
            let entries = list.iter().map(|entry| (key(entry).clone(), entry.clone()));
            entries.collect::<HashMap<String, T>>()
        });
        let mut sizes = lists.iter().zip(&tables);
        if sizes.any(|(list, table)| list.len() != table.len()) {
            return self.of_three(lists);
        }
        let [_, left, right] = &lists;
        let of_left = &tables[1];
        let rest = right
            .iter()
            .filter(|entry| !of_left.contains_key(key(entry)));
        let merged = left.iter().chain(rest).filter_map(|entry| {
            let versions = tables.each_ref().map(|table| table.get(key(entry)));
            self.of_three(versions).cloned()
        });
        merged.collect()
    }

    /// The description of the main graph: types of values, quantisation annotations and the
    /// rest by name, because each inserted node adds some.
    pub(super) fn graph(
        &mut self,
        own: &Option<Bytes>,
        versions: Versions<Option<Bytes>>,
    ) -> Option<Bytes> {
        let Some(graphs) = decoded::<GraphProto>(&versions) else {
            return self.bytes(own, versions);
        };
        let mut infos = |field: fn(&GraphProto) -> &Vec<ValueInfoProto>| {
            let lists = graphs.each_ref().map(|graph| field(graph).clone());
            self.entries(lists, |info| &info.name)
        };
        encoded(&GraphProto {
            input: infos(|graph| &graph.input),
            output: infos(|graph| &graph.output),
            value_info: infos(|graph| &graph.value_info),
            initializer: self.entries(
                graphs.each_ref().map(|graph| graph.initializer.clone()),
                |tensor| &tensor.name,
            ),
            quantization_annotation: self.entries(
                graphs
                    .each_ref()
                    .map(|graph| graph.quantization_annotation.clone()),
                |annotation| &annotation.tensor_name,
            ),
            metadata_props: self.entries(
                graphs.each_ref().map(|graph| graph.metadata_props.clone()),
                |entry| &entry.key,
            ),
            ..GraphProto::default()
        })
    }

    /// The description of a node.
    pub(super) fn node(
        &mut self,
        own: &Option<Bytes>,
        versions: Versions<Option<Bytes>>,
    ) -> Option<Bytes> {
        let is_everywhere = versions.iter().all(Option::is_some);
        let nodes = decoded::<NodeProto>(&versions).filter(|_| is_everywhere);
        let Some(nodes) = nodes else {
            return self.bytes(own, versions);
        };
        encoded(&NodeProto {
            overload: self.field(&nodes, |node| node.overload.clone()),
            doc_string: self.field(&nodes, |node| node.doc_string.clone()),
            attribute: self.entries(
                nodes.each_ref().map(|node| node.attribute.clone()),
                |attribute| &attribute.name,
            ),
            metadata_props: self.entries(
                nodes.each_ref().map(|node| node.metadata_props.clone()),
                |entry| &entry.key,
            ),
            ..NodeProto::default()
        })
    }

    /// The description of the model, and the field that both sides changed in different ways
    /// although it matters to readers of the model.
    pub(super) fn model(
        &mut self,
        own: &Option<Bytes>,
        versions: Versions<Option<Bytes>>,
    ) -> (Option<Bytes>, Option<&'static str>) {
        let Some(models) = decoded::<ModelProto>(&versions) else {
            let before = self.clashes;
            let bytes = self.bytes(own, versions);
            return (bytes, (self.clashes > before).then_some("the description"));
        };
        let producer_name = self.field(&models, |model| model.producer_name.clone());
        let producer_version = self.field(&models, |model| model.producer_version.clone());
        let (mut clash, mut before) = (None, self.clashes);
        let mut note = |picks: &Picks, words| {
            if picks.clashes > before {
                clash.get_or_insert(words);
            }
            before = picks.clashes;
        };
        let domain = self.field(&models, |model| model.domain.clone());
        note(self, "the domain");
        let model_version = self.field(&models, |model| model.model_version);
        note(self, "the version");
        let doc_string = self.field(&models, |model| model.doc_string.clone());
        note(self, "the documentation");
        let opset_import = self.entries(
            models.each_ref().map(|model| model.opset_import.clone()),
            |set| &set.domain,
        );
        note(self, "an operator set");
        let metadata_props = self.entries(
            models.each_ref().map(|model| model.metadata_props.clone()),
            |entry| &entry.key,
        );
        note(self, "an entry of the metadata");
        let training_info = self.field(&models, |model| model.training_info.clone());
        note(self, "the training steps");
        let model = encoded(&ModelProto {
            producer_name,
            producer_version,
            domain,
            model_version,
            doc_string,
            opset_import,
            metadata_props,
            training_info,
            ..ModelProto::default()
        });
        (model, clash)
    }
}

/// The messages of three versions; an absent one is empty. None if the bytes of a version are not such a message.
fn decoded<M: Message + Default>(versions: &Versions<Option<Bytes>>) -> Option<[M; 3]> {
    let decoded = versions.each_ref().map(|meta| {
        let meta = meta.as_ref().and_then(Option::as_ref);
        meta.map_or(Ok(M::default()), |meta| M::decode(&meta[..]))
    });
    match decoded {
        [Ok(base), Ok(left), Ok(right)] => Some([base, left, right]),
        _ => None,
    }
}

fn encoded(message: &impl Message) -> Option<Bytes> {
    let bytes = message.encode_to_vec();
    (!bytes.is_empty()).then(|| Bytes::from(bytes))
}
