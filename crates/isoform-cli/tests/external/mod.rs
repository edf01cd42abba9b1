//! External data: links, missing files, and the commands that work without external
//! data.

use isoform_onnx::proto::{DataLocation, ModelProto, StringStringEntryProto};
use prost::Message;

use crate::build::{Folder, Small, small};
use crate::check;
use crate::formats::piped;

/// The small model, with its weights in a file of this name.
fn external(location: &str) -> ModelProto {
    let mut model = small(&Small::default());
    let weights = &mut model.graph.as_mut().unwrap().initializer[0];
    weights.float_data.clear();
    weights.data_location = DataLocation::External.into();
    weights.external_data = vec![StringStringEntryProto {
        key: "location".to_owned(),
        value: location.to_owned(),
    }];
    model
}

/// The weights of the small model.
fn weights() -> Vec<u8> {
    [0.25_f32; 12]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect()
}

fn digest(folder: &Folder, line: &str) -> String {
    let ran = folder.run(&format!("hash {line}"));
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.out.split("  ").next().unwrap().to_owned()
}

#[test]
fn missing_data_is_needed_only_for_contents() {
    let folder = Folder::new();
    folder.model("whole.onnx", &small(&Small::default()));
    folder.model("a.onnx", &external("w.data"));
    for line in [
        "hash a.onnx",
        "diff a.onnx whole.onnx",
        "convert a.onnx a.iso",
        "show --shapes a.onnx",
        "summary --architecture a.onnx whole.onnx",
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(ran.err.contains("external data file 'w.data'"), "{ran:?}");
    }
    let ran = folder.run("hash a.onnx");
    assert!(
        ran.err.contains("with --architecture, work without it"),
        "{ran:?}"
    );
    let without = digest(&folder, "--architecture a.onnx");
    assert_eq!(without, digest(&folder, "--architecture whole.onnx"));
    check(
        &folder.run("diff --architecture a.onnx whole.onnx"),
        0,
        "equal\n",
    );
    let shown = folder.run("show a.onnx");
    assert!(
        shown.out.contains("Conv(%x, float32[2, 2, 3] {?})"),
        "{shown:?}"
    );

    folder.file("w.data", &weights());
    assert_eq!(without, digest(&folder, "--architecture a.onnx"));
    check(&folder.run("diff a.onnx whole.onnx"), 0, "equal\n");
    assert_eq!(
        folder.run("show a.onnx").out,
        folder.run("show whole.onnx").out
    );
    assert_eq!(
        folder.run("show --skip-external-data a.onnx").out,
        shown.out
    );
    // Operations on contents read them even so.
    let line = "diff --architecture --simplify a.onnx whole.onnx";
    check(&folder.run(line), 0, "equal\n");
    check(&folder.run("convert --architecture a.onnx a.isob"), 0, "");
    check(&folder.run("diff a.isob whole.onnx"), 0, "equal\n");

    // With --architecture, damaged data is not even looked at.
    folder.file("w.data", b"short");
    assert_eq!(without, digest(&folder, "--architecture a.onnx"));
    assert_eq!(folder.run("hash a.onnx").status, 2);
}

#[test]
fn a_claim_of_a_size_takes_no_memory() {
    let folder = Folder::new();
    let mut model = external("w.data");
    // The elements are bools, which are checked one at a time if the data is present.
    let weights = &mut model.graph.as_mut().unwrap().initializer[0];
    weights.dims = vec![1 << 44];
    weights.data_type = 9;
    folder.model("a.onnx", &model);
    let ran = folder.run("show a.onnx");
    assert!(ran.out.contains("bool[17592186044416] {?}"), "{ran:?}");
    digest(&folder, "--architecture a.onnx");
    // More bytes than the address space has.
    model.graph.as_mut().unwrap().initializer[0].dims = vec![1 << 62];
    folder.model("b.onnx", &model);
    let ran = folder.run("hash --architecture b.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(
        ran.err.contains("stand in for 4611686018427387904 bytes"),
        "{ran:?}"
    );
}

#[test]
fn data_of_models_from_pipes_is_in_the_current_folder() {
    let folder = Folder::new();
    let model = external("w.data").encode_to_vec();
    let ran = piped(folder.path(), "hash -", &model);
    assert!(ran.err.contains("cannot find"), "{ran:?}");
    folder.file("w.data", &weights());
    folder.model("whole.onnx", &small(&Small::default()));
    check(
        &piped(folder.path(), "diff - whole.onnx", &model),
        0,
        "equal\n",
    );
}

#[cfg(unix)]
mod links {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A cache: files with names of their contents, and a folder of links to them.
    fn cache() -> Folder {
        let folder = Folder::new();
        folder.model("whole.onnx", &small(&Small::default()));
        folder.model("blobs/1234", &external("model.onnx_data"));
        folder.file("blobs/5678", &weights());
        let snapshot = folder.path().join("snapshots/main");
        fs::create_dir_all(&snapshot).unwrap();
        symlink("../../blobs/1234", snapshot.join("model.onnx")).unwrap();
        symlink("../../blobs/5678", snapshot.join("model.onnx_data")).unwrap();
        folder
    }

    #[test]
    fn links_out_of_the_folder_are_followed_on_request() {
        let folder = cache();
        for line in ["hash", "show", "hash --simplify"] {
            let ran = folder.run(&format!("{line} snapshots/main/model.onnx"));
            assert_eq!(ran.status, 2, "{ran:?}");
            assert!(ran.err.contains("symbolic link leads out of"), "{ran:?}");
            assert!(ran.err.contains("--follow-links"), "{ran:?}");
        }
        let line = "diff --follow-links snapshots/main/model.onnx whole.onnx";
        check(&folder.run(line), 0, "equal\n");
        assert_eq!(folder.run("dedup --follow-links snapshots").status, 0);
    }

    #[test]
    fn data_is_beside_the_link_or_else_beside_its_target() {
        let folder = cache();
        symlink("blobs/linked.onnx", folder.path().join("link.onnx")).unwrap();
        folder.model("blobs/linked.onnx", &external("w.data"));
        folder.file("blobs/w.data", &weights());
        check(&folder.run("diff link.onnx whole.onnx"), 0, "equal\n");
        // The file beside the link comes first.
        folder.file("w.data", &[0; 48]);
        assert_eq!(folder.run("diff link.onnx whole.onnx").status, 1);
    }
}
