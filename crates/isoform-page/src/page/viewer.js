// Pictures drawn from their scenes, and the viewer of large ones.

const MOST_NODES = 1500; // nodes of a picture that are drawn with their texts

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
  const group = draw("g", { class: `node mark-${node.mark} shape-${shape}` }, draw("title", {}, node.opens ? `Open: ${node.tooltip}` : node.tooltip));
  if (node.anchor && !node.opens) group.append(draw("a", { href: `#${node.anchor}` }, ...parts));
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

// One path for the nodes of each mark, which is quick to draw for any number of nodes.
function outlines(scene) {
  return MARKS.map((mark) => {
    const nodes = scene.nodes.filter((node) => node.mark === mark);
    return draw("g", { class: `node outline mark-${mark}` }, draw("path", { class: "shape", d: nodes.map(({ x, y, w, h }) => `M${x} ${y}h${w}v${h}h${-w}z`).join("") }));
  });
}

// A large picture: zoom, pan, a map, and blocks that open.
class Viewer {
  constructor(element, data) {
    Object.assign(this, { element, data });
    const button = (text, name, action) => {
      const control = make("button", { type: "button", title: name, "aria-label": name }, text);
      control.addEventListener("click", action);
      return control;
    };
    this.crumbs = make("nav", { "aria-label": "Blocks around" });
    this.svg = draw("svg", { class: "isoform-picture" });
    this.canvas = make("div", { class: "canvas", tabindex: "0", role: "group", "aria-label": "Picture: arrow keys move, + and - zoom, 0 shows all" }, this.svg);
    this.map = draw("svg", { class: "isoform-picture map", "aria-hidden": "true", preserveAspectRatio: "none" });
    const tools = make("div", { class: "tools" }, this.crumbs, button("−", "Zoom out", () => this.zoom(1.5)), button("+", "Zoom in", () => this.zoom(1 / 1.5)), button("Fit", "Fit all", () => this.fit()));
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
    const ratio = Math.min(Math.max(width / height, 0.4), 2);
    const attributes = { viewBox: `0 0 ${width} ${height}`, width: 100 * Math.min(ratio, 1.2), height: 100 / Math.max(ratio, 0.6) };
    for (const [name, value] of Object.entries(attributes)) this.map.setAttribute(name, value);
    this.window = draw("rect", { class: "window" });
    this.map.replaceChildren(...outlines(this.scene), this.window);
    if (hasFocus) this.canvas.focus({ preventScroll: true });
    // Of a large scene, the beginning is shown in a size that can be read.
    const readable = this.size.width * 1.25;
    const first = this.scene.nodes.find((node) => node.mark !== "same") || this.scene.nodes[0] || { x: width / 2, y: 0 };
    const isLarge = width > readable || height > (readable * this.size.height) / this.size.width;
    this.show(isLarge ? first.x : width / 2, isLarge ? first.y : height / 2, readable);
  }

  crumb(number, isCurrent) {
    const label = this.data.texts[this.data.scenes[number][1]];
    const control = make("button", { type: "button", "aria-current": isCurrent ? "true" : null }, number === 0 ? "Whole" : make("bdi", {}, beginning(label, 60)));
    control.addEventListener("click", () => this.open(number));
    return control;
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
        const attributes = { "data-opens": node.opens, tabindex: "0", role: "button" };
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      }
      return element;
    });
    this.svg.replaceChildren(...scene.frames.filter((frame) => overlaps(frame, view)).map(frameElement), ...edges, ...elements);
  }
}
