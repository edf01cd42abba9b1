// The data of a page and questions about them, without the page: tests/script.test.mjs runs
// these functions in node. A page has data.js, viewer.js and script.js as one script.
"use strict";

const CONTEXT = 3; // unchanged rows that stay visible on both sides of a changed one
const SHORTEST_FOLD = 4; // rows that a fold hides at least
const MARKS = ["same", "changed", "deleted", "inserted"];
const SHAPES = ["operator", "port", "constant", "group", "ellipsis"];
const ROLES = ["", "operator", "name", "field", "literal", "comment", "control"];

// The pieces of an encoded line: encode.rs describes the encoding.
function linePieces(line, texts) {
  const pieces = [];
  for (let place = 1; place < line.length; place += 1) {
    const code = line[place];
    const flags = code % 64;
    const piece = { text: texts[(code - flags) / 64], role: ROLES[flags & 7], changed: (flags & 8) > 0 };
    if (flags & 16) piece.binding = line[(place += 1)];
    if (flags & 32) piece.definition = true;
    pieces.push(piece);
  }
  return pieces;
}

// The encoded lines of both sides of a row; null where a side has none.
function rowLines(row) {
  const right = row.length < 3 || row[2] === 1 ? row[1] : row[2];
  return [row[1] || null, right || null];
}

function rowText(row, texts) {
  const [left, right] = rowLines(row);
  const sides = left === right ? [left] : [left, right];
  return sides.map((line) => (line ? linePieces(line, texts).map((piece) => piece.text).join("") : "")).join("\n");
}

const rowReason = (row, texts) => texts[row[3] || 0];
const rowAnchors = (row, texts) => row.slice(4).map((place) => texts[place]);

// The numbers of the lines of both sides, counted from 1; 0 where a side has no line.
function lineNumbers(rows) {
  const numbers = [new Int32Array(rows.length), new Int32Array(rows.length)];
  const last = [0, 0];
  rows.forEach((row, place) => {
    rowLines(row).forEach((line, side) => {
      if (line) numbers[side][place] = last[side] += 1;
    });
  });
  return numbers;
}

// What a reader sees from top to bottom: places of rows, and folds {from, to} of rows that
// are not changed.
function foldRows(length, isChanged, isFolding = true) {
  const items = [];
  const push = (from, to) => {
    for (let row = from; row < to; row += 1) items.push(row);
  };
  let row = 0;
  while (row < length) {
    if (isChanged(row)) {
      items.push(row);
      row += 1;
      continue;
    }
    let end = row;
    while (end < length && !isChanged(end)) end += 1;
    const from = row === 0 ? 0 : row + CONTEXT;
    const to = end === length ? length : end - CONTEXT;
    if (isFolding && to - from >= SHORTEST_FOLD) {
      push(row, from);
      items.push({ from, to });
      push(to, end);
    } else {
      push(row, end);
    }
    row = end;
  }
  return items;
}

const firstRow = (item) => (typeof item === "number" ? item : item.from);
const lastRow = (item) => (typeof item === "number" ? item : item.to - 1);

// The place of the part of a sorted list that contains a row.
function containing(row, length, first) {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (first(middle) <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The rows at which changes begin: runs of changed rows with the same anchors.
function changeStarts(rows, isChanged) {
  const starts = [];
  rows.forEach((row, place) => {
    if (!isChanged(place)) return;
    const continues = place > 0 && isChanged(place - 1) && String(row.slice(4)) === String(rows[place - 1].slice(4));
    if (!continues) starts.push(place);
  });
  return starts;
}

// The row that defines each binding of a side, and the number of its other uses.
function bindings(rows, texts, side) {
  const table = new Map();
  rows.forEach((row, place) => {
    const line = rowLines(row)[side];
    if (!line) return;
    for (const piece of linePieces(line, texts)) {
      if (piece.binding === undefined) continue;
      const entry = table.get(piece.binding) || { row: -1, uses: 0 };
      if (piece.definition) entry.row = place;
      else entry.uses += 1;
      table.set(piece.binding, entry);
    }
  });
  return table;
}

// The start of a text that does not end within a pair of surrogates.
function beginning(text, length) {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

// A scene of a picture as an object: scenes.rs describes the encoding.
function decodeScene([parent, label, width, height, nodes, edges, frames], texts) {
  return {
    parent,
    label: texts[label],
    width,
    height,
    nodes: nodes.map(([x, y, w, h, name, lines, tooltip, mark, shape, anchor, opens]) => ({
      x, y, w, h, opens,
      label: texts[name],
      lines: lines.map((line) => texts[line]),
      tooltip: texts[tooltip],
      mark: MARKS[mark],
      shape: SHAPES[shape],
      anchor: texts[anchor],
    })),
    edges: edges.map(([mark, name, x, y, path]) => ({ mark: MARKS[mark], label: texts[name], x, y, path })),
    frames: frames.map(([x, y, w, h, name]) => ({ x, y, w, h, label: texts[name] })),
  };
}

// The points of a path of M, L, C and V with absolute coordinates.
function pathPoints(path) {
  const points = [];
  let [x, y] = [0, 0];
  for (const [, command, numbers] of path.matchAll(/([MLCV])([^MLCV]*)/g)) {
    const values = (numbers.match(/-?[\d.]+/g) || []).map(Number);
    if (command === "V") values.unshift(x);
    for (let place = 0; place + 1 < values.length; place += 2) {
      [x, y] = [values[place], values[place + 1]];
      points.push([x, y]);
    }
  }
  return points;
}

// The box around points, of which a path may have hundreds of thousands.
function boxAround(points) {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [x, y] of points) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  }
  return { x: left, y: top, w: right - left, h: bottom - top };
}

const overlaps = (one, other) => one.x <= other.x + other.w && other.x <= one.x + one.w && one.y <= other.y + other.h && other.y <= one.y + one.h;

// A view with the wanted width around a centre, between all of the scene and twice its size.
function viewAround(scene, canvas, x, y, width) {
  const ratio = canvas.height / canvas.width;
  const whole = Math.max(scene.width, scene.height / ratio, canvas.width);
  const w = Math.min(Math.max(width, canvas.width / 2), whole);
  const h = w * ratio;
  const clamp = (centre, size, all) => (size >= all ? (all - size) / 2 : Math.min(Math.max(centre - size / 2, 0), all - size));
  return { x: clamp(x, w, scene.width), y: clamp(y, h, scene.height), w, h };
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

if (typeof module !== "undefined") {
  module.exports = { linePieces, rowLines, rowText, rowAnchors, rowReason, lineNumbers, foldRows, containing, firstRow, lastRow, changeStarts, bindings, beginning, decodeScene, pathPoints, boxAround, overlaps, viewAround, grouped, counted };
}
