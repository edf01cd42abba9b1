// What a page does with a script: listings built on demand, filters, search, keys, and links
// to changes. The first part is pure and runs in node, too; the second part is the page.
"use strict";

const CONTEXT = 3; // unchanged rows that stay visible on both sides of a changed one
const SHORTEST_FOLD = 4; // rows that a fold hides at least
const ROWS_IN_CHUNK = 100; // items that are built at once
const ROW_HEIGHT = 20; // pixels of a row before it is built
const LONGEST_TEXT = 240; // UTF-16 code units of a text that are shown at once
const CARDS_IN_CHUNK = 25; // cards that are built at once
const CARD_HEIGHT = 220; // pixels of a card before it is built
const SHOWN_PLACES = 5; // places of a card that are shown without a click
const PRINTED_ITEMS = 30000; // items that are built for printing
const MARKS = ["same", "changed", "deleted", "inserted"];
const SHAPES = ["operator", "port", "constant", "group", "ellipsis"];
const MOST_NODES = 1500; // nodes of a picture that are drawn with their texts
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

const rowAnchor = (row, texts) => texts[row[3] || 0];
const rowReason = (row, texts) => texts[row[4] || 0];

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

// The rows at which changes begin: runs of changed rows with one anchor.
function changeStarts(rows, isChanged, texts) {
  const starts = [];
  rows.forEach((row, place) => {
    if (!isChanged(place)) return;
    const continues = place > 0 && isChanged(place - 1) && rowAnchor(row, texts) === rowAnchor(rows[place - 1], texts);
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

// A change as an object: encode.rs describes the encoding.
function decodeCard(code, texts) {
  const [anchor, kind, mark, text, times, places, left, right, why, picture, tensor] = code;
  const sides = [left, right].map((line) => (line ? linePieces(line, texts) : null));
  return {
    id: texts[anchor],
    kind: texts[kind],
    mark: MARKS[mark],
    text: texts[text],
    times: texts[times],
    places: places.map((place) => texts[place]),
    sides,
    why: texts[why],
    picture: picture ? decodeScene(picture[0], texts) : null,
    tensor: texts[tensor],
  };
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

// The box around points.
function boxAround(points) {
  const [xs, ys] = [points.map((point) => point[0]), points.map((point) => point[1])];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, w: Math.max(...xs) - x, h: Math.max(...ys) - y };
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

// The text of a change that a search looks through.
function cardText(data) {
  const sides = data.sides.map((pieces) => (pieces || []).map((piece) => piece.text).join(""));
  return [data.kind, data.text, ...data.places, ...sides, data.why].join("\n");
}

const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

if (typeof module !== "undefined") {
  module.exports = { linePieces, rowLines, rowText, rowAnchor, rowReason, lineNumbers, foldRows, containing, firstRow, lastRow, changeStarts, bindings, beginning, decodeCard, decodeScene, pathPoints, boxAround, overlaps, viewAround, cardText, grouped, counted };
}

// ---- The page ----

// An element with attributes and children; texts become text, never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// A part of a page that is built when a reader comes near.
class Chunk {
  constructor(items, height, fill) {
    Object.assign(this, { items, height, fill, isBuilt: false });
    this.element = make("div", { class: "chunk" });
    this.element.style.height = `${height}px`;
    this.element.chunk = this;
    Chunk.observer.observe(this.element);
  }

  // The height before the chunk is built, without the items that are filtered out.
  resize(isShown) {
    if (!this.isBuilt) this.element.style.height = `${(this.height * this.items.filter(isShown).length) / this.items.length}px`;
  }

  build() {
    if (this.isBuilt) return;
    this.isBuilt = true;
    Chunk.observer.unobserve(this.element);
    this.element.style.height = "";
    this.fill(this);
  }
}

// A listing: rows in chunks below each other.
class Listing {
  constructor(element, data, page) {
    Object.assign(this, { element, page, rows: data.rows, texts: data.texts, sides: data.sides });
    this.numbers = lineNumbers(this.rows);
    this.anchors = new Map();
    this.rows.forEach((row, place) => {
      const anchor = rowAnchor(row, this.texts);
      if (anchor && !this.anchors.has(anchor)) this.anchors.set(anchor, place);
    });
    this.matches = new Set();
    this.hiddenKinds = new Set();
    this.body = make("div", { role: "rowgroup", class: "rows" });
    element.setAttribute("role", "table");
    element.setAttribute("aria-label", element.dataset.title || "Listing");
    element.setAttribute("aria-rowcount", this.rows.length);
    const names = this.sides.map((name) => make("div", { role: "columnheader" }, make("bdi", {}, name)));
    if (names.length > 0) element.append(make("div", { role: "rowgroup" }, make("div", { class: "names", role: "row" }, ...names)));
    element.append(this.body);
    this.layOut();
  }

  isChanged(place) {
    const row = this.rows[place];
    return row[0] !== 0 && !this.hiddenKinds.has(this.page.kinds.get(rowAnchor(row, this.texts)));
  }

  layOut() {
    const isFolding = this.sides.length > 1;
    const items = foldRows(this.rows.length, (place) => this.isChanged(place), isFolding);
    this.chunks = this.chunksOf(items);
    this.body.replaceChildren(...this.chunks.map((chunk) => chunk.element));
  }

  chunksOf(items) {
    const chunks = [];
    for (let start = 0; start < items.length; start += ROWS_IN_CHUNK) {
      const part = items.slice(start, start + ROWS_IN_CHUNK);
      chunks.push(new Chunk(part, part.length * ROW_HEIGHT, (chunk) => this.fill(chunk)));
    }
    return chunks;
  }

  fill(chunk) {
    chunk.element.append(...chunk.items.map((item) => (typeof item === "number" ? this.rowElement(item) : this.foldElement(chunk, item))));
  }

  foldElement(chunk, fold) {
    let hidden = 0;
    for (let row = fold.from; row < fold.to; row += 1) hidden += this.rows[row][0] === 0 ? 0 : 1;
    const same = `${counted(fold.to - fold.from - hidden, "line")} the same`;
    const text = hidden > 0 ? `${same}, ${grouped(hidden)} filtered out` : same;
    const button = make("button", { type: "button", class: "fold", "aria-expanded": "false" }, text);
    button.addEventListener("click", () => {
      this.open(chunk, fold);
      this.page.go(this.rowOf(fold.from), false);
    });
    return make("div", { role: "row" }, make("div", { role: "cell" }, button));
  }

  // Replaces a fold by its rows.
  open(chunk, fold) {
    const place = chunk.items.indexOf(fold);
    const rows = Array.from({ length: fold.to - fold.from }, (_, index) => fold.from + index);
    const items = [...chunk.items.slice(0, place), ...rows, ...chunk.items.slice(place + 1)];
    const chunks = this.chunksOf(items);
    this.chunks.splice(this.chunks.indexOf(chunk), 1, ...chunks);
    chunk.element.replaceWith(...chunks.map((part) => part.element));
  }

  // The element of a row, which is unfolded and built if necessary.
  rowOf(row) {
    const chunkAt = () => this.chunks[containing(row, this.chunks.length, (place) => firstRow(this.chunks[place].items[0]))];
    let chunk = chunkAt();
    const item = chunk.items[containing(row, chunk.items.length, (place) => firstRow(chunk.items[place]))];
    if (typeof item !== "number") {
      this.open(chunk, item);
      chunk = chunkAt();
    }
    const place = this.chunks.indexOf(chunk);
    this.chunks.slice(Math.max(place - 1, 0), place + 2).forEach((part) => part.build());
    return chunk.element.querySelector(`[data-row="${row}"]`);
  }

  rowElement(place) {
    const row = this.rows[place];
    const mark = MARKS[row[0]] || MARKS[0];
    const lines = rowLines(row);
    const sides = this.sides.length > 1 ? [0, 1] : [lines[0] ? 0 : 1];
    const match = this.matches.has(place) ? " match" : "";
    const element = make("div", { class: `row mark-${mark}${match}`, role: "row", "data-row": place, "aria-rowindex": place + 1, tabindex: "-1" });
    for (const side of sides) element.append(this.cell(lines[side], side, place, mark));
    const aside = this.aside(row, place);
    if (aside) element.append(aside);
    return element;
  }

  cell(line, side, place, mark) {
    const name = side === 0 ? "left" : "right";
    if (!line) return make("div", { class: `cell ${name} empty`, role: "cell" });
    const code = make("span", { class: "code" });
    if (mark !== "same") code.append(make("span", { class: "heard" }, mark === "changed" ? ["before: ", "after: "][side] : `${mark}: `));
    for (const piece of linePieces(line, this.texts)) code.append(pieceElement(piece, side));
    code.style.setProperty("--depth", Math.min(line[0], 24));
    return make(
      "div",
      { class: `cell ${name}`, role: "cell" },
      make("span", { class: "number", "aria-hidden": "true" }, String(this.numbers[side][place] || "")),
      make("span", { class: "sign", "aria-hidden": "true" }),
      code,
    );
  }

  // The reason of a match and the way to the card, if the row has them.
  aside(row, place) {
    const [anchor, why] = [rowAnchor(row, this.texts), rowReason(row, this.texts)];
    const parts = [];
    if (why) {
      const text = make("span", { hidden: "" }, make("bdi", {}, why));
      const button = make("button", { type: "button", class: "why", "aria-expanded": "false" }, "why?");
      button.addEventListener("click", () => {
        text.hidden = !text.hidden;
        button.setAttribute("aria-expanded", String(!text.hidden));
      });
      parts.push(button, text);
    }
    if (anchor && this.page.byId.has(anchor) && this.anchors.get(anchor) === place) {
      parts.push(make("a", { href: `#${anchor}` }, "the change"));
    }
    return parts.length > 0 ? make("div", { class: "aside", role: "cell" }, ...parts) : null;
  }

  find(query) {
    this.searchable ||= this.rows.map((row) => rowText(row, this.texts).toLowerCase());
    const found = [];
    if (query) {
      this.searchable.forEach((text, place) => {
        if (text.includes(query)) found.push(place);
      });
    }
    this.matches = new Set(found);
    for (const element of all("[data-row]", this.body)) element.classList.toggle("match", this.matches.has(Number(element.dataset.row)));
    return found;
  }

  bindingsOf(side) {
    this.tables ||= [];
    return (this.tables[side] ||= bindings(this.rows, this.texts, side));
  }
}

// A text, of which only the beginning is shown until a reader asks for the rest.
function longText(text) {
  if (text.length <= LONGEST_TEXT) return text;
  const button = make("button", { type: "button" }, `… ${counted(text.length, "character")}`);
  const element = make("span", {}, beginning(text, LONGEST_TEXT), button);
  button.addEventListener("click", () => element.replaceChildren(text));
  return element;
}

const isolated = (text) => make("bdi", {}, longText(text));

function pieceElement(piece, side) {
  const class_ = [piece.role, piece.definition ? "definition" : ""].join(" ").trim();
  const isBare = !class_ && piece.binding === undefined && /^[\x00-\x7f]*$/.test(piece.text);
  const content = longText(piece.text);
  let element = content;
  if (!isBare) {
    const binding = piece.binding;
    element = make("bdi", { class: class_ || null, "data-binding": binding, tabindex: binding === undefined ? null : "-1" }, content);
  }
  return piece.changed ? make(side === 0 ? "del" : "ins", {}, element) : element;
}

// A change: its element is in the document, or is built from data when a reader comes near.
class Card {
  constructor(id, kind, element, data) {
    Object.assign(this, { id, kind, built: element, data, isHidden: false, isMatch: false });
  }

  get text() {
    return (this.built ? this.built.textContent : cardText(this.data)).toLowerCase();
  }

  // The element in the document.
  get element() {
    if (this.chunk) this.chunk.build();
    return this.built;
  }

  build(page) {
    this.built = cardElement(this.data);
    this.finish(page);
    return this.built;
  }

  // What needs the whole page: the way to the rows of the change.
  finish(page) {
    this.update();
    const listing = page.listings.find((entry) => entry.anchors.has(this.id));
    if (!listing) return;
    const button = make("button", { type: "button", class: "lines" }, "Show lines");
    button.addEventListener("click", () => page.step(page.stopAt(listing, listing.anchors.get(this.id))));
    this.built.querySelector(".head").append(button);
  }

  update() {
    if (!this.built) return;
    this.built.hidden = this.isHidden;
    this.built.classList.toggle("match", this.isMatch);
  }
}

// The element of a change, as cards.rs writes it for the first ones.
function cardElement(data) {
  const article = make("article", { id: data.id, class: `change mark-${data.mark}`, "data-kind": data.kind, tabindex: "-1" });
  const sign = { changed: "~", deleted: "-", inserted: "+" }[data.mark];
  const signs = sign ? [make("span", { class: "sign", "aria-hidden": "true" }, sign), make("span", { class: "heard" }, `${data.mark}: `)] : [];
  const head = make("div", { class: "head" }, make("h3", {}, ...signs, isolated(data.text)));
  if (data.times) head.append(make("span", { class: "times" }, `× ${data.times}`));
  if (data.kind) head.append(make("span", { class: "kind" }, isolated(data.kind)));
  head.append(make("a", { class: "link", href: `#${data.id}` }, "#", make("span", { class: "heard" }, "link to this change")));
  article.append(head);
  const sides = data.sides.map((pieces, side) => {
    if (!pieces) return null;
    const name = make("span", { class: "heard" }, ["Before: ", "After: "][side]);
    return make("div", { class: `side ${["left", "right"][side]}` }, name, make("code", {}, ...pieces.map((piece) => pieceElement(piece, side))));
  });
  if (sides.some(Boolean)) article.append(make("div", { class: "sides" }, ...sides.filter(Boolean)));
  const places = make("ul", { class: "places" }, ...data.places.map((place) => make("li", {}, isolated(place))));
  if (data.places.length > SHOWN_PLACES) article.append(make("details", {}, make("summary", {}, counted(data.places.length, "place")), places));
  else if (data.places.length > 0) article.append(places);
  if (data.why) article.append(make("details", { class: "why" }, make("summary", {}, "Why these two were matched"), make("div", {}, isolated(data.why))));
  if (data.picture) {
    const figure = make("figure", { tabindex: "0", role: "group", "aria-label": "Picture of the change" });
    figure.append(pictureElement(data.picture));
    article.append(figure);
  }
  if (data.tensor) article.insertAdjacentHTML("beforeend", data.tensor);
  return article;
}

// An element of SVG.
function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const box = ({ x, y, w, h }, rx, name) => draw("rect", { class: name, x, y, width: w, height: h, rx });

// The parts of a node, as svg.rs draws them.
function nodeElement(node) {
  const { x, y, w, h, shape } = node;
  const parts = [];
  if (shape === "constant") parts.push(draw("path", { class: "shape", d: `M${x} ${y}h${w - 8}l8 8v${h - 8}h${-w}z` }));
  else parts.push(box(node, { port: h / 2, group: 6 }[shape] || 4, "shape"));
  if (shape === "group") parts.push(box({ x: x + 3, y: y + 3, w: w - 6, h: h - 6 }, 4, "shape"));
  parts.push(draw("text", { class: "label", x: x + w / 2, y: y + 20 }, node.label));
  node.lines.forEach((line, place) => parts.push(draw("text", { class: "line", x: x + w / 2, y: y + 34 + 14 * place }, line)));
  const group = draw("g", { class: `node mark-${node.mark} shape-${shape}` }, draw("title", {}, node.tooltip));
  if (node.anchor) group.append(draw("a", { href: `#${node.anchor}` }, ...parts));
  else group.append(...parts);
  return group;
}

function edgeElement(edge) {
  const [x, y] = pathPoints(edge.path).at(-1) || [0, 0];
  const group = draw("g", { class: `edge mark-${edge.mark}` }, draw("path", { class: "wire", d: edge.path }), draw("path", { class: "head", d: `M${x - 4} ${y - 7}h8l-4 7z` }));
  if (edge.label) group.append(draw("text", { class: "label", x: edge.x, y: edge.y + 4 }, edge.label));
  return group;
}

function frameElement(frame) {
  return draw("g", { class: "block" }, box(frame, 6, ""), draw("text", { x: frame.x + 8, y: frame.y + 16 }, frame.label));
}

function pictureElement(scene) {
  const { width, height } = scene;
  const svg = draw("svg", { class: "isoform-picture", role: "group", "aria-label": scene.label, viewBox: `0 0 ${width} ${height}`, width, height });
  svg.append(...scene.frames.map(frameElement), ...scene.edges.map(edgeElement), ...scene.nodes.map(nodeElement));
  return svg;
}

// One path for the nodes of each mark, which is quick to draw for any number of nodes.
function outlines(scene) {
  return MARKS.map((mark) => {
    const nodes = scene.nodes.filter((node) => node.mark === mark);
    return draw("g", { class: `node mark-${mark}` }, draw("path", { class: "shape", d: nodes.map(({ x, y, w, h }) => `M${x} ${y}h${w}v${h}h${-w}z`).join("") }));
  });
}

// A large picture: zoom, pan, a map, and blocks that open.
class Viewer {
  constructor(element, data) {
    Object.assign(this, { element, data });
    const button = (text, name, action) => {
      const made = make("button", { type: "button", title: name, "aria-label": name }, text);
      made.addEventListener("click", action);
      return made;
    };
    this.crumbs = make("nav", { "aria-label": "Blocks around" });
    this.svg = draw("svg", { class: "isoform-picture" });
    this.canvas = make("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": "Picture: arrow keys move, + and - zoom, 0 shows all" }, this.svg);
    this.map = draw("svg", { class: "isoform-picture map", "aria-hidden": "true" });
    const tools = make("div", { class: "tools" }, this.crumbs, button("−", "Zoom out", () => this.zoom(1.5)), button("+", "Zoom in", () => this.zoom(1 / 1.5)), button("All", "Show all", () => this.fit()));
    element.append(tools, this.canvas, this.map);
    this.listen();
    this.open(0);
  }

  listen() {
    let last = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
    });
    addEventListener("pointerup", () => (last = null));
    this.canvas.addEventListener("pointermove", (event) => {
      if (!last) return;
      const scale = this.view.w / this.size.width;
      this.move((last[0] - event.clientX) * scale, (last[1] - event.clientY) * scale);
      last = [event.clientX, event.clientY];
    });
    const onWheel = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2);
    };
    this.canvas.addEventListener("wheel", onWheel, { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("click", (event) => this.onClick(event));
    this.map.addEventListener("click", (event) => {
      const place = this.map.getBoundingClientRect();
      this.show(((event.clientX - place.left) / place.width) * this.scene.width, ((event.clientY - place.top) / place.height) * this.scene.height, this.view.w);
    });
    new ResizeObserver(() => this.zoom(1)).observe(this.canvas);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = this.view.w / 8;
    const actions = {
      ArrowLeft: () => this.move(-step, 0),
      ArrowRight: () => this.move(step, 0),
      ArrowUp: () => this.move(0, -step),
      ArrowDown: () => this.move(0, step),
      "+": () => this.zoom(1 / 1.5),
      "-": () => this.zoom(1.5),
      0: () => this.fit(),
      Enter: () => this.onClick(event),
    };
    if (!actions[event.key] || (event.key === "Enter" && !event.target.closest("[data-opens]"))) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }

  onClick(event) {
    const group = event.target.closest("[data-opens]");
    if (group) this.open(Number(group.dataset.opens));
  }

  // The size of the canvas in pixels; print and hidden parts have none.
  get size() {
    const { width, height } = this.canvas.getBoundingClientRect();
    return { width: Math.max(width, 1), height: Math.max(height, 1) };
  }

  open(number) {
    const hasFocus = this.canvas.contains(document.activeElement);
    this.scene = decodeScene(this.data.scenes[number], this.data.texts);
    for (const edge of this.scene.edges) edge.box = boxAround(pathPoints(edge.path));
    const path = [];
    for (let outer = number; outer >= 0; outer = this.data.scenes[outer][0]) path.unshift(outer);
    this.crumbs.replaceChildren(...path.map((scene) => this.crumb(scene, scene === number)));
    const { width, height } = this.scene;
    this.map.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.window = draw("rect", { class: "window" });
    this.map.replaceChildren(...outlines(this.scene), this.window);
    if (hasFocus) this.canvas.focus({ preventScroll: true });
    this.fit();
  }

  crumb(number, isCurrent) {
    const label = this.data.texts[this.data.scenes[number][1]];
    const made = make("button", { type: "button", "aria-current": isCurrent ? "true" : null }, number === 0 ? "All" : make("bdi", {}, beginning(label, 60)));
    made.addEventListener("click", () => this.open(number));
    return made;
  }

  fit() {
    this.show(this.scene.width / 2, this.scene.height / 2, Infinity);
  }

  zoom(factor) {
    this.show(this.view.x + this.view.w / 2, this.view.y + this.view.h / 2, this.view.w * factor);
  }

  move(x, y) {
    this.show(this.view.x + this.view.w / 2 + x, this.view.y + this.view.h / 2 + y, this.view.w);
  }

  show(x, y, width) {
    this.view = viewAround(this.scene, this.size, x, y, width);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.render());
  }

  // Draws what is in view; of too many nodes the outlines alone.
  render() {
    const { view, scene } = this;
    this.svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    for (const [name, value] of Object.entries({ x: view.x, y: view.y, width: view.w, height: view.h })) this.window.setAttribute(name, value);
    const nodes = scene.nodes.filter((node) => overlaps(node, view));
    if (nodes.length > MOST_NODES) {
      this.svg.replaceChildren(...outlines({ nodes }));
      return;
    }
    const edges = scene.edges.filter((edge) => overlaps(edge.box, view)).map(edgeElement);
    const elements = nodes.map((node) => {
      const element = nodeElement(node);
      if (node.opens) {
        const attributes = { "data-opens": node.opens, tabindex: "0", role: "button", "aria-label": `Open ${node.label}` };
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      }
      return element;
    });
    this.svg.replaceChildren(...scene.frames.filter((frame) => overlaps(frame, view)).map(frameElement), ...edges, ...elements);
  }
}

// The whole page.
class Page {
  constructor() {
    this.status = document.querySelector(".toolbar .status");
    this.cards = [];
    this.byId = new Map();
    this.kinds = new Map();
    this.current = -1;
    this.found = [];
    this.query = "";
    for (const list of all(".changes")) this.readCards(list);
    this.listings = all(".listing").map((element) => {
      element.listing = new Listing(element, JSON.parse(element.nextElementSibling.textContent), this);
      return element.listing;
    });
    for (const card of this.cards) if (card.built) card.finish(this);
    this.collectStops();
  }

  readCards(list) {
    for (const element of all("article", list)) this.addCard(new Card(element.id, element.dataset.kind, element, null));
    const source = list.nextElementSibling;
    if (!source || source.tagName !== "SCRIPT") return;
    const data = JSON.parse(source.textContent);
    const rest = data.cards.map((code) => decodeCard(code, data.texts)).map((card) => new Card(card.id, card.kind, null, card));
    for (let start = 0; start < rest.length; start += CARDS_IN_CHUNK) {
      const part = rest.slice(start, start + CARDS_IN_CHUNK);
      const fill = (chunk) => chunk.element.append(...chunk.items.map((card) => card.build(this)));
      const chunk = new Chunk(part, part.length * CARD_HEIGHT, fill);
      for (const card of part) {
        card.chunk = chunk;
        this.addCard(card);
      }
      list.append(chunk.element);
    }
  }

  addCard(card) {
    this.cards.push(card);
    if (this.byId.has(card.id)) return;
    this.byId.set(card.id, card);
    this.kinds.set(card.id, card.kind);
  }

  // The places that the keys go to: visible cards, then changes of listings.
  collectStops() {
    this.stops = this.cards.filter((card) => !card.isHidden).map((card) => ({ card }));
    for (const listing of this.listings) {
      const starts = changeStarts(listing.rows, (place) => listing.isChanged(place), listing.texts);
      for (const row of starts) this.stops.push({ listing, row });
    }
    this.current = -1;
  }

  stopAt(listing, row) {
    let stop = -1;
    this.stops.forEach((entry, place) => {
      if (entry.listing === listing && entry.row <= row) stop = place;
    });
    return stop;
  }

  step(stop) {
    if (this.stops.length === 0) {
      this.say("No changes");
      return;
    }
    this.current = (stop + this.stops.length) % this.stops.length;
    const { card, listing, row } = this.stops[this.current];
    this.go(card ? card.element : listing.rowOf(row));
    if (card) history.replaceState(null, "", `#${card.id}`);
    this.say(`${grouped(this.current + 1)} of ${grouped(this.stops.length)}`);
  }

  // Shows an element: builds and opens what contains it, scrolls, and moves the focus.
  go(element, isCurrent = true) {
    if (!element) return;
    for (let outer = element.parentElement; outer; outer = outer.parentElement) {
      if (outer.tagName === "DETAILS") outer.open = true;
    }
    if (isCurrent) {
      for (const other of all('[aria-current="true"]')) other.removeAttribute("aria-current");
      element.setAttribute("aria-current", "true");
    }
    const block = element.matches(".row") ? "center" : "start";
    element.scrollIntoView({ block });
    element.focus({ preventScroll: true });
    // Chunks that were near the way are built now, and move the element.
    requestAnimationFrame(() => requestAnimationFrame(() => element.scrollIntoView({ block })));
  }

  goToAddress() {
    const anchor = decodeAddress(location.hash);
    if (!anchor) return;
    const card = this.byId.get(anchor);
    const listing = this.listings.find((entry) => entry.anchors.has(anchor));
    if (card) {
      card.isHidden = false;
      card.update();
      this.current = this.stops.findIndex((stop) => stop.card === card);
      this.go(card.element);
    } else if (listing) {
      this.current = this.stopAt(listing, listing.anchors.get(anchor));
      this.go(listing.rowOf(listing.anchors.get(anchor)));
    } else {
      this.go(document.getElementById(anchor), false);
    }
  }

  filter() {
    const hidden = new Set(all(".kinds input").filter((box) => !box.checked).map((box) => box.value));
    let shown = 0;
    for (const card of this.cards) {
      card.isHidden = hidden.has(card.kind);
      card.update();
      shown += card.isHidden ? 0 : 1;
    }
    for (const chunk of all(".changes > .chunk")) chunk.chunk.resize((card) => !card.isHidden);
    for (const listing of this.listings) {
      listing.hiddenKinds = hidden;
      listing.layOut();
    }
    this.collectStops();
    this.say(`${grouped(shown)} of ${counted(this.cards.length, "change")} shown`);
  }

  search(text) {
    const query = text.trim().toLowerCase();
    this.query = text;
    this.found = [];
    for (const card of this.cards) {
      card.isMatch = query !== "" && !card.isHidden && card.text.includes(query);
      card.update();
      if (card.isMatch) this.found.push({ card });
    }
    for (const listing of this.listings) {
      for (const row of listing.find(query)) this.found.push({ listing, row });
    }
    this.match = -1;
    this.say(query ? counted(this.found.length, "match").replace(/matchs$/, "matches") : "");
  }

  // Goes to another match; the focus stays in the field, so that Enter goes on.
  goToMatch(step, field) {
    if (field.value !== this.query) this.search(field.value);
    if (this.found.length === 0) return;
    this.match = this.match < 0 && step < 0 ? this.found.length - 1 : (this.match + step + this.found.length) % this.found.length;
    const { card, listing, row } = this.found[this.match];
    this.go(card ? card.element : listing.rowOf(row));
    field.focus({ preventScroll: true });
    this.say(`Match ${grouped(this.match + 1)} of ${grouped(this.found.length)}`);
  }

  say(text) {
    this.status.textContent = text;
  }

  // Builds everything for paper, up to a limit.
  print() {
    let left = PRINTED_ITEMS;
    for (const { chunk } of all(".chunk")) {
      left -= chunk.items.length;
      if (left >= 0) chunk.build();
    }
    this.closed = all("details:not([open])");
    for (const details of this.closed) details.open = true;
  }
}

function decodeAddress(hash) {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return "";
  }
}

// Highlights the definition and the uses of a variable within its side.
function highlight(piece) {
  for (const other of all(".use")) other.classList.remove("use");
  const scope = piece && piece.closest(".listing, .changes");
  if (!scope) return;
  const side = piece.closest(".left") ? ".left" : ".right";
  const name = `[data-binding="${CSS.escape(piece.dataset.binding)}"]`;
  for (const other of all(`${side} ${name}`, scope)) other.classList.add("use");
  const listing = scope.listing;
  if (!listing) return;
  const index = side === ".left" ? 0 : 1;
  const entry = listing.bindingsOf(index).get(Number(piece.dataset.binding));
  if (!entry) return;
  const line = entry.row < 0 ? "" : `defined in line ${grouped(listing.numbers[index][entry.row])}, `;
  piece.title = `${line}${counted(entry.uses, "use")}`;
}

function goToDefinition(page, piece) {
  const listing = piece.closest(".listing")?.listing;
  if (!listing) return;
  const index = piece.closest(".left") ? 0 : 1;
  const entry = listing.bindingsOf(index).get(Number(piece.dataset.binding));
  if (!entry || entry.row < 0) return;
  const row = listing.rowOf(entry.row);
  page.go(row);
  const side = index === 0 ? ".left" : ".right";
  row.querySelector(`${side} .definition[data-binding="${CSS.escape(piece.dataset.binding)}"]`)?.focus({ preventScroll: true });
}

// The arrow keys within a listing: rows up and down, variables left and right.
function arrow(page, key, target) {
  const row = target.closest && target.closest(".row");
  if (!row) return false;
  const listing = row.closest(".listing").listing;
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = Number(row.dataset.row) + (key === "ArrowUp" ? -1 : 1);
    if (next >= 0 && next < listing.rows.length) {
      const element = listing.rowOf(next);
      element.scrollIntoView({ block: "nearest" });
      element.focus({ preventScroll: true });
    }
    return true;
  }
  const pieces = all("[data-binding]", row);
  const next = pieces.indexOf(target) + (key === "ArrowLeft" ? -1 : 1);
  const piece = pieces[key === "ArrowLeft" && next < 0 ? pieces.length - 1 : next % Math.max(pieces.length, 1)];
  if (piece) piece.focus();
  return true;
}

function setColumns(isNarrow, toggles) {
  const button = document.querySelector(".toolbar .columns");
  const isWanted = toggles ? button?.getAttribute("aria-pressed") !== "true" : button?.getAttribute("aria-pressed") === "true";
  button?.setAttribute("aria-pressed", String(Boolean(isWanted)));
  if (button) button.hidden = isNarrow;
  for (const element of all(".listing")) element.classList.toggle("unified", isNarrow || Boolean(isWanted));
}

function toggleTheme(button) {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  button.setAttribute("aria-pressed", String(!isDark));
}

function onKey(page, event, actions) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target;
  const isTyping = target.matches?.("input:not([type=checkbox]), textarea, select");
  const help = document.querySelector("dialog");
  if (isTyping) {
    if (event.key === "Enter") page.goToMatch(event.shiftKey ? -1 : 1, target);
    if (event.key === "Escape") target.blur();
    return;
  }
  if (help.open && event.key !== "?") return;
  const isArrow = event.key.startsWith("Arrow") && arrow(page, event.key, target);
  if (event.key === "Enter" && target.matches?.("[data-binding]")) goToDefinition(page, target);
  else if (actions[event.key]) actions[event.key]();
  else if (!isArrow) return;
  event.preventDefault();
}

function onClick(page, event) {
  const target = event.target;
  const link = target.closest("a.link");
  if (link) {
    navigator.clipboard?.writeText(link.href).then(() => page.say("Link copied"), () => page.say("Link is in the address bar"));
  }
  const piece = target.closest(".code [data-binding]");
  if (piece && !target.closest("button") && String(getSelection()) === "") goToDefinition(page, piece);
  const card = target.closest("article");
  const row = target.closest(".row");
  if (card) page.current = page.stops.findIndex((stop) => stop.card?.built === card);
  else if (row) page.current = page.stopAt(row.closest(".listing").listing, Number(row.dataset.row));
}

function showMoreRows(button) {
  const table = button.previousElementSibling.querySelector("table");
  const template = table.querySelector("template");
  if (template) template.replaceWith(template.content);
  button.hidden = !table.querySelector("template");
}

function start() {
  Chunk.observer = new IntersectionObserver(
    (entries) => entries.forEach((entry) => entry.isIntersecting && entry.target.chunk.build()),
    { rootMargin: "1000px 0px" },
  );
  const toolbar = document.querySelector(".toolbar");
  toolbar.hidden = false;
  const page = new Page();
  for (const element of all(".viewer")) new Viewer(element, JSON.parse(element.nextElementSibling.textContent));
  const narrow = matchMedia("(max-width: 760px)");
  narrow.addEventListener("change", () => setColumns(narrow.matches, false));
  setColumns(narrow.matches, false);
  const help = document.querySelector("dialog");
  const field = toolbar.querySelector("input[type=search]");
  const showHelp = () => (help.open ? help.close() : help.showModal());
  const actions = {
    n: () => page.step(page.current + 1),
    p: () => page.step(Math.max(page.current, 0) - 1),
    u: () => setColumns(narrow.matches, true),
    "/": () => {
      field.focus();
      field.select();
    },
    "?": showHelp,
  };
  document.addEventListener("keydown", (event) => onKey(page, event, actions));
  document.addEventListener("click", (event) => onClick(page, event));
  for (const kind of ["mouseover", "focusin"]) {
    document.addEventListener(kind, (event) => highlight(event.target.closest?.("[data-binding]")));
  }
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => field.value !== page.query && page.search(field.value), 120);
  });
  toolbar.querySelector(".kinds")?.addEventListener("change", () => page.filter());
  toolbar.querySelector(".columns")?.addEventListener("click", actions.u);
  toolbar.querySelector(".theme").addEventListener("click", (event) => toggleTheme(event.currentTarget));
  toolbar.querySelector(".keys").addEventListener("click", showHelp);
  help.querySelector(".close").addEventListener("click", () => help.close());
  for (const button of all(".step")) button.addEventListener("click", button.dataset.step === "1" ? actions.n : actions.p);
  for (const button of all(".more")) {
    button.hidden = false;
    button.addEventListener("click", () => showMoreRows(button));
  }
  addEventListener("hashchange", () => page.goToAddress());
  addEventListener("beforeprint", () => page.print());
  addEventListener("afterprint", () => page.closed?.forEach((details) => (details.open = false)));
  page.goToAddress();
}

if (typeof document !== "undefined") start();
