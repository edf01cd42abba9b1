// What a page does with a script: listings built on demand, filters, search, keys, and links
// to changes.

const ROWS_IN_CHUNK = 100; // items that are built at once
const ROW_HEIGHT = 20; // pixels of a row before it is built
const LONGEST_TEXT = 240; // UTF-16 code units of a text that are shown at once
const CHUNKS_AT_ONCE = 4; // chunks of a listing that are built at the beginning
const PRINTED_ITEMS = 30000; // items that are built for printing

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
    this.element.style.containIntrinsicHeight = `auto ${height}px`;
    this.element.chunk = this;
    Chunk.observer.observe(this.element);
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
      for (const anchor of rowAnchors(row, this.texts)) {
        if (!this.anchors.has(anchor)) this.anchors.set(anchor, place);
      }
    });
    this.matches = new Set();
    this.hiddenKinds = new Set();
    this.body = make("div", { role: "rowgroup", class: "rows" });
    element.setAttribute("role", "table");
    element.setAttribute("aria-label", element.dataset.title || "Listing");
    element.setAttribute("aria-rowcount", this.rows.length);
    const names = this.sides.map((name) => make("div", { role: "columnheader" }, isolated(name)));
    if (names.length > 0) element.append(make("div", { role: "rowgroup" }, make("div", { class: "names", role: "row" }, ...names)));
    element.append(this.body);
    element.style.setProperty("--digits", String(this.rows.length).length);
    element.classList.toggle("with-reasons", this.rows.some((row) => row.length > 3));
    this.layOut();
  }

  isChanged(place) {
    const row = this.rows[place];
    const anchors = rowAnchors(row, this.texts);
    const isHidden = anchors.length > 0 && anchors.every((anchor) => this.hiddenKinds.has(this.page.byId.get(anchor)?.kind));
    return row[0] !== 0 && !isHidden;
  }

  layOut() {
    const isFolding = this.sides.length > 1;
    const items = foldRows(this.rows.length, (place) => this.isChanged(place), isFolding);
    this.chunks = this.chunksOf(items);
    this.body.replaceChildren(...this.chunks.map((chunk) => chunk.element));
    for (const chunk of this.chunks.slice(0, CHUNKS_AT_ONCE)) chunk.build();
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
    element.append(...this.asides(row, place));
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

  // The reason of a match and the ways to the cards, if the row has them.
  asides(row, place) {
    const why = rowReason(row, this.texts);
    const tools = make("div", { class: "aside", role: "cell" });
    const cells = [];
    if (why) {
      const reason = make("div", { class: "reason", role: "cell", hidden: "" }, make("bdi", {}, longText(why)));
      const button = make("button", { type: "button", class: "why", "aria-expanded": "false", title: "Why these two lines were matched" }, "why?");
      button.addEventListener("click", () => {
        reason.hidden = !reason.hidden;
        button.setAttribute("aria-expanded", String(!reason.hidden));
      });
      tools.append(button);
      cells.push(reason);
    }
    for (const anchor of rowAnchors(row, this.texts)) {
      if (this.page.byId.has(anchor) && this.anchors.get(anchor) === place) tools.append(make("a", { href: `#${anchor}`, title: "The change" }, "#", make("span", { class: "heard" }, "the change")));
    }
    return tools.childElementCount > 0 ? [tools, ...cells] : cells;
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

// A change.
class Card {
  constructor(element) {
    const kind = element.querySelector(".kind")?.textContent || "";
    Object.assign(this, { id: element.id, kind, element, isHidden: false, isMatch: false });
    element.tabIndex = -1;
    element.querySelector(".head").append(" ", make("a", { class: "link", href: `#${this.id}`, "aria-label": "Link to this change" }, "#"));
  }

  // Adds the way to the rows of the change.
  lead(page) {
    const listing = page.listings.find((entry) => entry.anchors.has(this.id));
    if (!listing) return;
    const button = make("button", { type: "button", class: "lines" }, "Show lines");
    button.addEventListener("click", () => page.step(page.stopAt(listing, listing.anchors.get(this.id))));
    this.element.querySelector(".head").append(button);
  }

  update() {
    this.element.hidden = this.isHidden;
    this.element.classList.toggle("match", this.isMatch);
  }
}

// The whole page.
class Page {
  constructor() {
    this.status = document.querySelector(".toolbar .status");
    this.cards = all(".changes article").map((element) => new Card(element));
    this.byId = new Map(this.cards.map((card) => [card.id, card]));
    this.current = -1;
    this.found = [];
    this.query = "";
    this.listings = all(".listing").map((element) => {
      element.listing = new Listing(element, JSON.parse(element.nextElementSibling.textContent), this);
      return element.listing;
    });
    for (const card of this.cards) card.lead(this);
    this.collectStops();
  }

  // The places that the keys go to: visible cards, then changes of listings.
  collectStops() {
    this.stops = this.cards.filter((card) => !card.isHidden).map((card) => ({ card }));
    for (const listing of this.listings) {
      const starts = changeStarts(listing.rows, (place) => listing.isChanged(place));
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
      card.isMatch = query !== "" && !card.isHidden && card.element.textContent.toLowerCase().includes(query);
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

// The state of the button before a reader uses it follows the system.
function showTheme(button, isDark) {
  if (!document.documentElement.dataset.theme) button.setAttribute("aria-pressed", String(isDark));
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
  if (card) page.current = page.stops.findIndex((stop) => stop.card?.element === card);
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
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = toolbar.querySelector(".theme");
  dark.addEventListener("change", () => showTheme(theme, dark.matches));
  showTheme(theme, dark.matches);
  toolbar.querySelector(".stepping").hidden = page.stops.length === 0;
  toolbar.querySelector(".search").hidden = page.cards.length + page.listings.length === 0;
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
