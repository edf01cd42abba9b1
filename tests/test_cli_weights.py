"""The command on weights of language models, judged by the packages that write them."""

import json
import subprocess
import sys

import pytest

import isoform

np = pytest.importorskip("numpy")
gguf = pytest.importorskip("gguf", reason="gguf writes and reads the files: not installed")
safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors writes the files")

QUANTIZED = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0"]
PLAIN = ["float16", "float32", "float64", "int8", "int16", "int32", "int64"]
METADATA = {
    "general.name": "a\n名",
    "answer": 42,
    "most": 2**64 - 1,
    "least": -(2**63),
    "half": 0.5,
    "yes": True,
    "words": ["<s>", "", "é"] * 20,
    "scores": [0.25, -1.0],
    "flags": [True, False],
}


def run(folder, *arguments):
    command = [sys.executable, "-m", "isoform", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def floats(seed, shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def write(path, changed=None, alignment=None):
    """Write tensors of every type that the package can make, one of them changed."""
    writer = gguf.GGUFWriter(path, "llama")
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    writer.add_string("general.name", METADATA["general.name"])
    writer.add_uint8("answer", METADATA["answer"])
    writer.add_uint64("most", METADATA["most"])
    writer.add_int64("least", METADATA["least"])
    writer.add_float32("half", METADATA["half"])
    writer.add_bool("yes", METADATA["yes"])
    for key in ("words", "scores", "flags"):
        writer.add_array(key, METADATA[key])
    for name in PLAIN:
        writer.add_tensor(f"plain.{name}", (floats(1, (2, 3, 5)) * 50).astype(name))
    for seed, name in enumerate(["BF16", *QUANTIZED]):
        kind = gguf.GGMLQuantizationType[name]
        data = floats(seed, (2, 3, 512))
        if name == changed:
            data[1, 2, 300] += 9
        writer.add_tensor(f"blocks.{name}", gguf.quants.quantize(data, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def load(folder, name):
    run(folder, "convert", "-f", name, "value.isob")
    return isoform.serialization.from_bytes((folder / "value.isob").read_bytes())


def shape_and_bytes(tensor):
    return tuple(tensor.shape), tensor.numpy().tobytes()


@pytest.mark.parametrize("alignment", [None, 8, 256])
def test_the_contents_are_those_that_the_package_reads(tmp_path, alignment):
    write(tmp_path / "a.gguf", alignment=alignment)
    value = load(tmp_path, "a.gguf")
    reader = gguf.GGUFReader(tmp_path / "a.gguf")
    metadata = value["metadata"]
    for key, expected in METADATA.items():
        actual = metadata[key]
        assert (list(actual) if isinstance(expected, list) else actual) == expected, key
        assert isinstance(actual, bool) == isinstance(expected, bool), key
    fields = {key for key in reader.fields if not key.startswith("GGUF.")}
    assert set(metadata) == fields
    tensors = value["tensors"]
    assert list(tensors) == sorted(tensor.name for tensor in reader.tensors)
    for tensor in reader.tensors:
        actual = tensors[tensor.name]
        elements = tuple(int(dim) for dim in reversed(tensor.shape))
        kind = tensor.tensor_type.name
        if tensor.name.startswith("plain.") or kind == "BF16":
            assert shape_and_bytes(actual) == (elements, tensor.data.tobytes())
            expected = "bfloat16" if kind == "BF16" else tensor.name.removeprefix("plain.")
            assert str(actual.dtype) == expected
            continue
        assert actual["type"] == kind
        assert tuple(actual["shape"]) == elements
        size, count = gguf.GGML_QUANT_SIZES[tensor.tensor_type]
        blocks = (*elements[:-1], elements[-1] // size, count)
        assert shape_and_bytes(actual["blocks"]) == (blocks, tensor.data.tobytes())


def test_a_changed_element_is_told_by_its_tensor(tmp_path):
    write(tmp_path / "a.gguf")
    lines = run(tmp_path, "show", "a.gguf").splitlines()
    for name in QUANTIZED:
        assert any(line.startswith(f'  "blocks.{name}": {name}[2, 3, 512] ') for line in lines)
        write(tmp_path / "b.gguf", changed=name)
        changes = json.loads(run(tmp_path, "diff", "--json", "a.gguf", "b.gguf"))["changes"]
        places = [change["left_path"] for change in changes]
        assert places == [f'<root>["tensors"]["blocks.{name}"]["blocks"]']
        assert run(tmp_path, "diff", "--architecture", "a.gguf", "b.gguf") == "equal\n"


def test_the_order_of_a_file_does_not_count(tmp_path):
    for name, keys in (("a", "xyz"), ("b", "zyx")):
        writer = gguf.GGUFWriter(tmp_path / f"{name}.gguf", "llama")
        for key in keys:
            writer.add_string(key, key)
            writer.add_tensor(key, floats(ord(key), (4, 4)))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    first, second = run(tmp_path, "hash", "a.gguf", "b.gguf").splitlines()
    assert first.split()[0] == second.split()[0]


def test_other_byte_orders_are_refused(tmp_path):
    order = gguf.GGUFEndian.BIG
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama", endianess=order)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    command = [sys.executable, "-m", "isoform", "hash", "a.gguf"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "gguf-convert-endian FILE little" in done.stderr


def test_shards_are_the_same_as_one_file(tmp_path):
    tensors = {f"layer.{number}": floats(number, (3, 4)) for number in range(7)}
    safetensors.save_file(tensors, tmp_path / "whole.safetensors")
    weight_map = {}
    for shard in range(3):
        name = f"model-{shard + 1:05}-of-00003.safetensors"
        part = {key: tensors[key] for key in list(tensors)[shard::3]}
        safetensors.save_file(part, tmp_path / name)
        weight_map.update(dict.fromkeys(part, name))
    index = {"metadata": {"total_size": 336}, "weight_map": weight_map}
    for name, keys in (("a", ["metadata", "weight_map"]), ("b", ["weight_map", "metadata"])):
        text = json.dumps({key: index[key] for key in keys}, indent=2)
        (tmp_path / f"{name}.safetensors.index.json").write_text(text)
        file = f"{name}.safetensors.index.json"
        assert run(tmp_path, "diff", file, "whole.safetensors") == "equal\n"
        shown = json.loads(run(tmp_path, "show", "--json", file))
        assert shown["files"] == sorted(set(weight_map.values()))
    group = json.loads(run(tmp_path, "dedup", "--json", "."))["groups"][0]
    assert len(group["files"]) == 3
