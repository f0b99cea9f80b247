// States and edges as SVG elements, and their places where the page has to find them by itself.
"use strict";

const ROUND = 13; // Half the height of a state.

// Positions by the layout library inside the page.
function placed(graph) {
  const g = new dagre.graphlib.Graph({ multigraph: true });
  g.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 20, edgesep: 8 });
  graph.nodes.forEach((node, i) => g.setNode(i, { width: node.w, height: 2 * ROUND }));
  graph.edges.forEach((edge, i) => {
    g.setEdge(edge.from, edge.to, { width: edge.w, height: 16, labelpos: "c" }, i);
  });
  dagre.layout(g);
  graph.nodes.forEach((node, i) => Object.assign(node, { x: g.node(i).x, y: g.node(i).y }));
  graph.edges.forEach((edge, i) => {
    const { points, x, y } = g.edge(edge.from, edge.to, i);
    Object.assign(edge, { points: points.map((p) => [p.x, p.y]), at: [x, y] });
  });
  Object.assign(graph, { width: g.graph().width, height: g.graph().height });
}

// The drawing, without states and edges yet.
function drawing({ edges, width, height }) {
  const arrow = make("marker", {
    id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto",
  }, make("path", { d: "M0 0L8 4L0 8z" }));
  return make("svg", {
    class: edges.length > 120 ? "busy" : null, viewBox: `-8 -8 ${width + 16} ${height + 16}`,
    role: "img", "aria-label": "states and edges",
  }, make("defs", {}, arrow));
}

// `isCurved`: its points are those of Bézier curves.
function drawnEdge({ kind, label, points, at: [x, y], w }, isCurved) {
  const [first, ...rest] = points;
  const way = isCurved ? `C${rest.slice(0, -1).join(" ")}L${rest[rest.length - 1]}` : `L${rest.join(" ")}`;
  return make("g", { class: `edge ${kind}` },
    make("title", {}, kind === "call" ? `call ${label}` : label),
    make("path", { class: "line", d: `M${first}${way}` }),
    make("rect", { class: "veil", x: x - w / 2, y: y - 8, width: w, height: 16 }),
    make("text", { x, y: y + 4, "text-anchor": "middle" }, label));
}

function drawnNode({ state, label, accepting, x, y, w }, rules) {
  const ring = { class: "ring", x: x - w / 2 + 3, y: y - 10, width: w - 6, height: 20, rx: 10 };
  return make("g", { class: "node", tabindex: "-1", role: "button", "aria-label": `state ${label}` },
    make("title", {}, [`state ${state}`, ...rules].join(" · ")),
    make("rect", { class: "box", x: x - w / 2, y: y - ROUND, width: w, height: 2 * ROUND, rx: ROUND }),
    accepting ? make("rect", ring) : null,
    make("text", { x, y: y + 4, "text-anchor": "middle" }, label));
}
