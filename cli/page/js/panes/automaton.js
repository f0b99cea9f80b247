// The automaton: the states of the text so far are lit, and a click is a step.
"use strict";

class AutomatonPane {
  constructor(data, reading, links) {
    this.graph = data.graph;
    this.rulesOfStates = data.rules_of_states || {};
    this.reading = reading;
    this.nodes = [];
    this.edges = [];
    this.holder = new Map(); // By state what shows it: a node or an edge.
    this.scale = 1;
    this.frame = 0;
    if (this.graph) this.draw(links);
    else $("graph").append(note(data.missing[0] || "There is no automaton."));
  }

  rulesOf(state) {
    return this.rulesOfStates[state] || [];
  }

  draw(links) {
    const { graph } = this;
    if (graph.layout === "dagre") placed(graph);
    this.svg = drawing(graph);
    for (const edge of graph.edges) this.drawEdge(edge);
    for (const node of graph.nodes) this.drawNode(node, links);
    $("graph").append(this.svg);
    this.drawBar();
  }

  drawEdge(edge) {
    const g = drawnEdge(edge, this.graph.layout === "dot");
    g.addEventListener("click", () => this.step(edge));
    this.edges.push(g);
    edge.via.forEach((state) => this.holder.set(state, g));
    this.svg.append(g);
  }

  drawNode(node, links) {
    const { nodes, edges } = this.graph, rules = this.rulesOf(node.state);
    const g = drawnNode(node, rules);
    whenChosen(g, () => edges.some((edge) => nodes[edge.to] === node && this.step(edge)));
    links.add(g, rules);
    this.nodes.push(g);
    this.holder.set(node.state, g);
    this.svg.append(g);
  }

  drawBar() {
    const { width, height } = this.graph;
    const fits = Math.min(1, ($("graph").clientWidth - 10) / (width + 16), 440 / (height + 16));
    this.zoom(Math.max(0.75, fits));
    $("larger").onclick = () => this.zoom(this.scale * 1.25);
    $("smaller").onclick = () => this.zoom(this.scale / 1.25);
    $("whole").onclick = () => this.zoom(fits);
    $("back").onclick = () => this.reading.write([...this.reading.text].slice(0, -1).join(""));
  }

  zoom(scale) {
    const { width, height } = this.graph;
    this.scale = Math.max(0.05, Math.min(3, scale));
    this.svg.setAttribute("width", (width + 16) * this.scale);
    this.svg.setAttribute("height", (height + 16) * this.scale);
    $("graph").style.height = `${Math.min(460, Math.max(120, (height + 32) * this.scale))}px`;
    this.bring();
  }

  // The first lit state into sight.
  bring() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      const first = this.svg.querySelector(".lit");
      if (!first) return;
      const box = first.getBBox(), pane = $("graph");
      pane.scrollLeft = (box.x + 8 + box.width / 2) * this.scale - pane.clientWidth / 2;
      pane.scrollTop = (box.y + 8 + box.height / 2) * this.scale - pane.clientHeight / 2;
    });
  }

  // Types what an edge reads; a call leads to where it starts. Whether the text goes on so.
  step(edge) {
    if (edge.kind === "call") {
      const entry = this.holder.get(edge.callee);
      if (entry) entry.focus();
      return false;
    }
    if (edge.text == null) return false;
    const isRead = this.reading.goOn(edge.text);
    if (!isRead) $("place").textContent = `the text cannot go on with ${edge.label} here`;
    return isRead;
  }

  // Shows the states of a configuration, and returns their rules.
  light({ heads, below }) {
    const { nodes, edges, holder } = this;
    for (const each of [...nodes, ...edges]) each.classList.remove("lit", "below");
    for (const each of below) if (holder.has(each)) holder.get(each).classList.add("below");
    for (const each of heads) if (holder.has(each)) holder.get(each).classList.add("lit");
    this.lightNear(heads);
    const rules = [...new Set([...heads].flatMap((state) => this.rulesOf(state)))];
    $("place").textContent = this.placeText(heads, rules);
    this.bring();
    return rules;
  }

  // By the keyboard one comes to the lit states and those one step from them.
  lightNear(heads) {
    const { nodes } = this.graph;
    this.nodes.forEach((g) => g.setAttribute("tabindex", g.classList.contains("lit") ? 0 : -1));
    this.graph.edges.forEach((edge, i) => {
      const [from, to] = [edge.from, edge.to].map((end) => heads.has(nodes[end].state));
      this.edges[i].classList.toggle("near", from || to);
      if (from) this.nodes[edge.to].setAttribute("tabindex", 0);
    });
  }

  placeText(heads, rules) {
    const leftOut = this.graph.left_out;
    const hidden = [...heads].filter((state) => !this.holder.has(state)).length;
    return `in ${heads.size === 1 ? "state" : "states"} ${[...heads].slice(0, 8).join(", ")}` +
      (rules.length ? `, rule ${rules.slice(0, 6).join(", ")}` : "") +
      (hidden ? ` (${hidden} not drawn)` : "") +
      (leftOut ? `; ${plural(leftOut, "state")} left out` : "");
  }
}
