// Tests of the pure part of the pages' script: `node --test crates/isoform-page/tests/script.test.mjs`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const script = require("../src/page/data.js");

const texts = ["", "%1", " = ", "Conv", "change-1", "same operands"];
const code = (text, flags) => text * 64 + flags;
const definition = [code(1, 2 + 16 + 32), 9];
const use = [code(1, 2 + 16), 9];

test("pieces of a line have text, role, change, binding and definition", () => {
  const line = [3, ...definition, code(2, 0), code(3, 1 + 8)];
  assert.deepEqual(script.linePieces(line, texts), [
    { text: "%1", role: "name", changed: false, binding: 9, definition: true },
    { text: " = ", role: "", changed: false },
    { text: "Conv", role: "operator", changed: true },
  ]);
  assert.deepEqual(script.linePieces([0], texts), []);
});

test("a row has the lines of its sides", () => {
  const [left, right] = [[0, code(1, 0)], [0, code(3, 0)]];
  assert.deepEqual(script.rowLines([0, left]), [left, left]);
  assert.deepEqual(script.rowLines([0, left, 1, 4]), [left, left]);
  assert.deepEqual(script.rowLines([2, left, 0]), [left, null]);
  assert.deepEqual(script.rowLines([3, 0, right]), [null, right]);
  assert.equal(script.rowText([1, left, right], texts), "%1\nConv");
  assert.equal(script.rowText([0, left], texts), "%1");
  assert.deepEqual(script.rowAnchors([1, left, right, 5, 4, 3], texts), ["change-1", "Conv"]);
  assert.deepEqual(script.rowAnchors([0, left], texts), []);
  assert.equal(script.rowReason([1, left, right, 5, 4], texts), "same operands");
  assert.equal(script.rowReason([0, left], texts), "");
});

test("lines are counted on each side", () => {
  const rows = [[0, [0]], [2, [0], 0], [3, 0, [0]], [1, [0], [1]]];
  const [left, right] = script.lineNumbers(rows);
  assert.deepEqual([...left], [1, 2, 0, 3]);
  assert.deepEqual([...right], [1, 0, 2, 3]);
});

const fold = (length, changed, isFolding) => script.foldRows(length, (row) => changed.includes(row), isFolding);

test("unchanged rows away from changed ones are folded", () => {
  assert.deepEqual(fold(20, [10]), [{ from: 0, to: 7 }, 7, 8, 9, 10, 11, 12, 13, { from: 14, to: 20 }]);
  assert.deepEqual(fold(5, []), [{ from: 0, to: 5 }]);
  assert.deepEqual(fold(0, []), []);
  assert.deepEqual(fold(20, [10], false), Array.from({ length: 20 }, (_, row) => row));
});

test("a fold of few rows would hide nothing worth it", () => {
  const all = Array.from({ length: 11 }, (_, row) => row);
  assert.deepEqual(fold(11, [0, 10]), all);
  assert.deepEqual(fold(12, [0, 11]), [0, 1, 2, 3, { from: 4, to: 8 }, 8, 9, 10, 11]);
});

test("each row is in one item, in order", () => {
  for (let seed = 1; seed < 200; seed += 1) {
    const changed = Array.from({ length: 60 }, (_, row) => row).filter((row) => (row * seed * 7919) % 31 < seed % 5);
    const rows = fold(60, changed).flatMap((item) =>
      typeof item === "number" ? [item] : Array.from({ length: item.to - item.from }, (_, place) => item.from + place),
    );
    assert.deepEqual(rows, Array.from({ length: 60 }, (_, row) => row));
    for (const item of fold(60, changed)) {
      if (typeof item !== "number") assert(!changed.some((row) => row >= item.from && row < item.to));
    }
  }
});

test("the part of a list that contains a row is found", () => {
  const firsts = [0, 3, 4, 10];
  const found = [0, 1, 2, 3, 4, 9, 10, 99].map((row) => script.containing(row, firsts.length, (place) => firsts[place]));
  assert.deepEqual(found, [0, 0, 0, 1, 2, 2, 3, 3]);
});

test("a change begins where the anchor changes", () => {
  const rows = [[0, [0]], [1, [0], [1], 0, 4], [1, [0], [1], 0, 4], [1, [0], [1], 0, 4, 5], [0, [0]], [2, [0], 0]];
  assert.deepEqual(script.changeStarts(rows, (row) => rows[row][0] !== 0), [1, 3, 5]);
});

test("bindings know their definition and their uses on one side", () => {
  const rows = [[0, [0, ...definition]], [0, [0, ...use, ...use]], [2, [0, ...use], 0]];
  assert.deepEqual(script.bindings(rows, texts, 0).get(9), { row: 0, uses: 3 });
  assert.deepEqual(script.bindings(rows, texts, 1).get(9), { row: 0, uses: 2 });
});

test("a text is not cut within a character", () => {
  assert.equal(script.beginning("ab👩c", 3), "ab");
  assert.equal(script.beginning("ab👩c", 4), "ab👩");
  assert.equal(script.beginning("abc", 2), "ab");
});

test("a scene is decoded", () => {
  const code = [-1, 1, 40, 30, [[0, 5, 40, 20, 3, [1], 3, 2, 3, 4, 7]], [[3, 2, 1, 2, "M0 0V9"]], [[0, 0, 9, 9, 3]]];
  const scene = script.decodeScene(code, texts);
  assert.deepEqual(scene.nodes[0], {
    x: 0, y: 5, w: 40, h: 20, opens: 7, label: "Conv", lines: ["%1"], tooltip: "Conv", mark: "deleted", shape: "group", anchor: "change-1",
  });
  assert.deepEqual(scene.edges[0], { mark: "inserted", label: " = ", x: 1, y: 2, path: "M0 0V9" });
  assert.deepEqual(scene.frames[0], { x: 0, y: 0, w: 9, h: 9, label: "Conv" });
});

test("the box around a path", () => {
  const points = script.pathPoints("M10 20V30L-5.5 40C1 2 3 4 50 60");
  assert.deepEqual(points, [[10, 20], [10, 30], [-5.5, 40], [1, 2], [3, 4], [50, 60]]);
  const box = script.boxAround(points);
  assert.deepEqual(box, { x: -5.5, y: 2, w: 55.5, h: 58 });
  assert(script.overlaps(box, { x: 50, y: 60, w: 1, h: 1 }));
  assert(!script.overlaps(box, { x: 51, y: 0, w: 9, h: 99 }));
});

test("the box around a path of half a million points", () => {
  const points = Array.from({ length: 500_000 }, (_, place) => [place, -place]);
  assert.deepEqual(script.boxAround(points), { x: 0, y: -499_999, w: 499_999, h: 499_999 });
});

test("a view stays within the scene and keeps the shape of the canvas", () => {
  const canvas = { width: 400, height: 200 };
  const scene = { width: 1000, height: 2000 };
  assert.deepEqual(script.viewAround(scene, canvas, 0, 0, 400), { x: 0, y: 0, w: 400, h: 200 });
  assert.deepEqual(script.viewAround(scene, canvas, 999, 1999, 400), { x: 600, y: 1800, w: 400, h: 200 });
  assert.deepEqual(script.viewAround(scene, canvas, 500, 500, Infinity), { x: -1500, y: 0, w: 4000, h: 2000 });
  assert.equal(script.viewAround(scene, canvas, 0, 0, 1).w, 200);
});

test("numbers and nouns", () => {
  assert.deepEqual([0, 999, 1000, 1234567].map(script.grouped), ["0", "999", "1,000", "1,234,567"]);
  assert.equal(script.counted(1, "line"), "1 line");
  assert.equal(script.counted(1200, "line"), "1,200 lines");
});

// The colours of the style sheet: texts on the grounds that they appear on, in both schemes.
const style = readFileSync(new URL("../src/page/style.css", import.meta.url), "utf8");
const colours = Object.fromEntries(
  [...style.matchAll(/--([a-z-]+): light-dark\((#\w{6}), (#\w{6})\);/g)].map(([, name, ...schemes]) => [name, schemes]),
);

function luminance(colour) {
  const parts = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((left, right) => right - left);
  return (light + 0.05) / (dark + 0.05);
}

test("texts have a contrast of 4.5 on every ground, and lines of 3", () => {
  const rows = ["page", "raised", "deleted-row", "inserted-row", "changed-row", "current"];
  const pairs = [
    ...["text", "muted", "operator", "field", "literal"].flatMap((text) => rows.map((ground) => [text, ground, 4.5])),
    ...["text", "operator", "field", "literal"].flatMap((text) => ["deleted-word", "inserted-word"].map((ground) => [text, ground, 4.5])),
    ...["page", "raised", "current"].map((ground) => ["link", ground, 4.5]),
    ...["deleted", "inserted", "changed"].flatMap((sign) => ["page", "raised", `${sign}-row`, "current"].map((ground) => [sign, ground, 4.5])),
    ["strong-line", "page", 3],
  ];
  for (const [text, ground, least] of pairs) {
    for (const scheme of [0, 1]) {
      const value = contrast(colours[text][scheme], colours[ground][scheme]);
      assert(value >= least, `${text} on ${ground}, scheme ${scheme}: ${value.toFixed(2)}`);
    }
  }
});
