"use strict";
// The panes of the page that `constrain inspect -o` writes, over `walk.js`. Whatever comes from a
// grammar, a tokenizer or a file's name is hostile text and is put into the page as text alone.

const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

// An element with attributes and children; texts become text nodes.
function make(name, attributes = {}, ...children) {
  const is = name === "svg" || /^(g|path|rect|text|title|defs|marker)$/.test(name);
  const found = is ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (value !== false && value != null) found.setAttribute(attribute, value === true ? "" : value);
  }
  found.append(...children.filter((child) => child != null));
  return found;
}

// Bytes as people read them: escapes where there is no character to be seen.
function shown(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const octet = bytes[at];
    if (octet >= 0x20 && octet < 0x7f && octet !== 0x5c) {
      text += String.fromCharCode(octet);
      at += 1;
      continue;
    }
    const length = octet < 0x80 ? 1 : octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : 4;
    let char = "";
    try {
      char = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(at, at + length));
    } catch { /* Not a character. */ }
    if (char && at + length <= bytes.length) {
      text += seen(char);
      at += length;
    } else {
      text += `\\x${octet.toString(16).padStart(2, "0")}`;
      at += 1;
    }
  }
  return text;
}

function seen(char) {
  const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" }[char];
  if (known) return known;
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(char) ? `\\u{${char.codePointAt(0).toString(16)}}` : char;
}

// Tokens often begin with a space.
const spaced = (bytes) => shown(bytes).replace(/ /g, "␣");

const oneByte = (octet) => (octet === 32 ? "␣" : shown(Uint8Array.of(octet)));

function rangesText(ranges) {
  const parts = ranges.slice(0, 12).map(([low, high]) => {
    return low === high ? oneByte(low) : `${oneByte(low)}–${oneByte(high)}`;
  });
  if (ranges.length > 12) parts.push("…");
  return parts.length > 1 || !ranges.length || ranges[0][0] !== ranges[0][1] ? `[${parts.join(" ")}]` : parts[0];
}

const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function start() {
  const page = new Inspector(JSON.parse($("data").textContent));
  const { data, walk, vocabulary } = page;
  const canWalk = walk !== null;
  const state = { text: "", at: null, said: null, ids: [], how: "", ends: [], hover: null, scale: 1 };
  const none = new Uint8Array();

  document.title = `${data.name} – constrain inspect`;
  $("name").textContent = data.name;
  $("about").textContent = `${data.dialect}, start ${data.start}; engine ${data.kind}` +
    (vocabulary ? `; ${data.canonical ? "canonical tokens" : "any tokens"}` : "");

  // - Grammar
  const rows = new Map(); // By rule the rows that it stands in.
  function drawGrammar() {
    const { text, rules, findings, missing, cut } = data.grammar;
    if (missing) $("grammar").append(make("p", { class: "note" }, missing));
    let begin = 0;
    const lines = text === "" ? [] : text.split("\n");
    lines.forEach((line, number) => {
      const end = begin + line.length;
      const here = findings.filter((f) => f.start >= begin && f.start <= end).sort((a, b) => a.start - b.start);
      const source = make("span", { class: "source" });
      let at = begin;
      for (const each of here) {
        const from = Math.max(at, each.start), to = Math.min(end, Math.max(each.end, from));
        source.append(text.slice(at, from), make("span", { class: "marked" }, text.slice(from, to)));
        at = to;
      }
      source.append(text.slice(at, end) || "\u200b");
      const row = make("div", { class: "row" },
        make("span", { title: here.map((f) => f.lint).join(", ") }, here.length ? "●" : ""),
        make("span", { "aria-hidden": "true" }, String(number + 1)), source);
      const inside = rules.filter((r) => r.start <= end && r.end > begin && r.end - r.start < 0.9 * text.length);
      for (const { name } of inside) rows.set(name, [...(rows.get(name) || []), row]);
      row.addEventListener("mouseenter", () => link(inside.map((r) => r.name)));
      row.addEventListener("mouseleave", () => link([]));
      $("grammar").append(row);
      for (const each of here) {
        const said = `${each.level === "uncovered" ? "" : `${each.level} `}${each.lint}: ${each.message}${each.help ? ` (${each.help})` : ""}`;
        $("grammar").append(make("p", { class: `finding level-${each.level}` }, said));
      }
      begin = end + 1;
    });
    if (cut) $("grammar").append(make("p", { class: "note" }, `… and ${plural(cut, "character")} more`));
  }

  // - Railroad diagrams
  const figures = new Map();
  function drawRailroads() {
    for (const each of data.grammar.railroads) {
      const svg = make("svg", { width: each.width, height: each.height, role: "img", "aria-label": `rule ${each.rule}` });
      for (const [kind, ...shape] of each.shapes) {
        if (kind === "p") {
          svg.append(make("path", { class: "line", d: shape[0] }));
          continue;
        }
        const [what, x, y, width, height, text, rule] = shape;
        const box = make("g", { class: what === "rule" ? "rule" : null });
        const round = what === "literal" || what === "pattern" ? 11 : 2;
        if (what !== "note") box.append(make("rect", { class: `box ${what}`, x, y, width, height, rx: round }));
        box.append(make("text", { x: x + 7, y: what === "frame" ? y - 4 : y + 15 }, text));
        if (rule) {
          box.setAttribute("tabindex", "0");
          box.setAttribute("role", "link");
          const go = () => figures.get(rule) && figures.get(rule).scrollIntoView({ block: "nearest" });
          box.addEventListener("click", go);
          box.addEventListener("keydown", (event) => event.key === "Enter" && go());
        }
        svg.append(box);
      }
      const figure = make("figure", {}, make("figcaption", {}, each.rule), svg);
      figure.addEventListener("mouseenter", () => link([each.rule]));
      figure.addEventListener("mouseleave", () => link([]));
      if (!figures.has(each.rule)) figures.set(each.rule, figure);
      $("railroad").append(figure);
    }
    if (!figures.size) $("railroad").append(make("p", { class: "note" }, "There are no rules to draw."));
  }

  // - Automaton
  const nodes = [], edges = [], holder = new Map(); // By state what shows it: a node or an edge.
  let svg = null;
  function drawGraph() {
    const graph = data.graph;
    if (!graph) {
      $("graph").append(make("p", { class: "note" }, data.missing[0] || "There is no automaton."));
      return;
    }
    if (graph.layout === "dagre") place(graph);
    const arrow = make("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
      make("path", { d: "M0 0L8 4L0 8z" }));
    svg = make("svg", { class: graph.edges.length > 120 ? "busy" : null, viewBox: `-8 -8 ${graph.width + 16} ${graph.height + 16}`, role: "img", "aria-label": "states and edges" },
      make("defs", {}, arrow));
    for (const edge of graph.edges) {
      const g = make("g", { class: `edge ${edge.kind}` }, make("title", {}, edge.kind === "call" ? `call ${edge.label}` : edge.label));
      const [first, ...rest] = edge.points;
      const curve = graph.layout === "dot" ? `C${rest.slice(0, -1).join(" ")}L${rest[rest.length - 1]}` : `L${rest.join(" ")}`;
      const [x, y] = edge.at;
      g.append(make("path", { class: "line", d: `M${first}${curve}` }),
        make("rect", { class: "veil", x: x - edge.w / 2, y: y - 8, width: edge.w, height: 16 }),
        make("text", { x, y: y + 4, "text-anchor": "middle" }, edge.label));
      g.addEventListener("click", () => step(edge));
      edges.push(g);
      edge.via.forEach((s) => holder.set(s, g));
      svg.append(g);
    }
    for (const node of graph.nodes) {
      const { x, y, w } = node;
      const g = make("g", { class: "node", tabindex: "-1", role: "button", "aria-label": `state ${node.label}` },
        make("title", {}, [`state ${node.state}`, ...rulesOf(node.state)].join(" · ")),
        make("rect", { class: "box", x: x - w / 2, y: y - 13, width: w, height: 26, rx: 13 }),
        node.accepting ? make("rect", { class: "ring", x: x - w / 2 + 3, y: y - 10, width: w - 6, height: 20, rx: 10 }) : null,
        make("text", { x, y: y + 4, "text-anchor": "middle" }, node.label));
      const go = () => graph.edges.some((e) => graph.nodes[e.to] === node && step(e));
      g.addEventListener("click", go);
      g.addEventListener("keydown", (event) => event.key === "Enter" && go());
      g.addEventListener("mouseenter", () => link(rulesOf(node.state)));
      g.addEventListener("mouseleave", () => link([]));
      nodes.push(g);
      holder.set(node.state, g);
      svg.append(g);
    }
    $("graph").append(svg);
    const fits = Math.min(1, ($("graph").clientWidth - 10) / (graph.width + 16), 440 / (graph.height + 16));
    zoom(Math.max(0.75, fits));
    $("larger").onclick = () => zoom(state.scale * 1.25);
    $("smaller").onclick = () => zoom(state.scale / 1.25);
    $("whole").onclick = () => zoom(fits);
    $("back").onclick = () => write([...state.text].slice(0, -1).join(""));
  }

  // Positions by the layout library inside the page.
  function place(graph) {
    const g = new dagre.graphlib.Graph({ multigraph: true });
    g.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 20, edgesep: 8 });
    graph.nodes.forEach((node, i) => g.setNode(i, { width: node.w, height: 26 }));
    graph.edges.forEach((edge, i) => g.setEdge(edge.from, edge.to, { width: edge.w, height: 16, labelpos: "c" }, i));
    dagre.layout(g);
    graph.nodes.forEach((node, i) => Object.assign(node, { x: g.node(i).x, y: g.node(i).y }));
    graph.edges.forEach((edge, i) => {
      const { points, x, y } = g.edge(edge.from, edge.to, i);
      Object.assign(edge, { points: points.map((p) => [p.x, p.y]), at: [x, y] });
    });
    Object.assign(graph, { width: g.graph().width, height: g.graph().height });
  }

  function zoom(scale) {
    state.scale = Math.max(0.05, Math.min(3, scale));
    svg.setAttribute("width", (data.graph.width + 16) * state.scale);
    svg.setAttribute("height", (data.graph.height + 16) * state.scale);
    $("graph").style.height = `${Math.min(460, Math.max(120, (data.graph.height + 32) * state.scale))}px`;
    bring();
  }

  // The first lit state into sight.
  let frame = 0;
  function bring() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(scroll);
  }

  function scroll() {
    const first = svg && svg.querySelector(".lit");
    if (!first) return;
    const box = first.getBBox(), pane = $("graph");
    pane.scrollLeft = (box.x + 8 + box.width / 2) * state.scale - pane.clientWidth / 2;
    pane.scrollTop = (box.y + 8 + box.height / 2) * state.scale - pane.clientHeight / 2;
  }

  // Type what an edge reads, if it may come here. Inside a chain only its rest is left to type.
  function step(edge) {
    if (edge.kind === "call") {
      const entry = holder.get(edge.callee);
      if (entry) entry.focus();
      return false;
    }
    if (edge.text == null) return false;
    const before = viable(), chars = [...edge.text];
    for (let from = 0; from < chars.length; from++) {
      const text = before + chars.slice(from).join("");
      if (verdictOf(walk, utf8(text)).offset === utf8(text).length) {
        write(text);
        return true;
      }
    }
    $("place").textContent = `the text cannot go on with ${edge.label} here`;
    return false;
  }

  const rulesOf = (number) => (data.rules_of_states || {})[number] || [];

  function link(names) {
    for (const each of document.querySelectorAll(".linked")) each.classList.remove("linked");
    if (!names.length) return;
    for (const name of names) {
      for (const row of rows.get(name) || []) row.classList.add("linked");
      if (figures.has(name)) figures.get(name).classList.add("linked");
    }
    if (data.graph) data.graph.nodes.forEach((node, i) => {
      if (rulesOf(node.state).some((rule) => names.includes(rule))) nodes[i].classList.add("linked");
    });
  }

  function light(conf) {
    const { heads, below } = walk.lit(conf);
    for (const each of [...nodes, ...edges]) each.classList.remove("lit", "below");
    for (const each of below) if (holder.has(each)) holder.get(each).classList.add("below");
    for (const each of heads) if (holder.has(each)) holder.get(each).classList.add("lit");
    // By the keyboard one comes to the lit states and those one step from them.
    nodes.forEach((g) => g.setAttribute("tabindex", g.classList.contains("lit") ? 0 : -1));
    data.graph.edges.forEach((e, i) => {
      const [from, to] = [e.from, e.to].map((end) => heads.has(data.graph.nodes[end].state));
      edges[i].classList.toggle("near", from || to);
      if (from) nodes[e.to].setAttribute("tabindex", 0);
    });
    const rules = new Set([...heads].flatMap(rulesOf));
    for (const row of document.querySelectorAll(".row.current")) row.classList.remove("current");
    const found = [...rules].flatMap((name) => rows.get(name) || []);
    for (const row of found) row.classList.add("current");
    if (found.length) show(found[0]);
    const hidden = [...heads].filter((s) => !holder.has(s)).length;
    $("place").textContent = `in ${heads.size === 1 ? "state" : "states"} ${[...heads].slice(0, 8).join(", ")}` +
      (rules.size ? `, rule ${[...rules].slice(0, 6).join(", ")}` : "") +
      (hidden ? ` (${hidden} not drawn)` : "") + (data.graph.left_out ? `; ${plural(data.graph.left_out, "state")} left out` : "");
    bring();
  }

  // A row of the grammar into sight, if it is not.
  function show(row) {
    const pane = $("grammar"), begin = row.offsetTop - pane.offsetTop;
    if (begin < pane.scrollTop || begin + row.offsetHeight > pane.scrollTop + pane.clientHeight) {
      pane.scrollTop = begin - pane.clientHeight / 3;
    }
  }

  // - Text
  const current = () => state.said.path[state.said.path.length - 1];
  const viable = () => new TextDecoder().decode(utf8(state.text).subarray(0, state.said.offset));

  function write(text, at = null) {
    $("input").value = text;
    read(at);
  }

  function read(at = null) {
    state.text = $("input").value;
    const bytes = utf8(state.text);
    state.said = canWalk ? page.verdict(bytes) : null;
    const { ids, how } = page.tokens(bytes);
    Object.assign(state, { ids, how, at: at === null ? ids.length : Math.min(at, ids.length) });
    state.ends = [0];
    for (const id of ids) state.ends.push(state.ends[state.ends.length - 1] + vocabulary.bytes(id).length);
    drawVerdict(bytes);
    drawBytes(bytes);
    drawTokens();
    drawMask();
    if (canWalk) light(current());
    keep();
  }

  function drawVerdict(bytes) {
    const { said } = state, verdict = $("verdict");
    if (!said) {
      verdict.className = "note";
      verdict.textContent = data.missing[0] || "";
      return;
    }
    verdict.className = said.status;
    let text = said.status;
    if (said.status === "rejected") {
      text += ` at ${said.line}:${said.column} at ${oneByte(bytes[said.offset])} (byte ${said.offset})`;
    }
    const more = said.expected.length ? `expected ${rangesText(said.expected)}` : "";
    if (said.status !== "accepted") text += `; ${[more, said.mayEnd ? "or the end" : ""].filter(Boolean).join(" ")}`;
    else if (more) text += `; more may come: ${rangesText(said.expected)}`;
    verdict.textContent = text;
  }

  function drawBytes(bytes) {
    const { said } = state, found = [];
    if (!said) return;
    const status = (i) => (i >= said.offset ? "rejected" : walk.mayEnd(said.path[i + 1]) ? "accepted" : "incomplete");
    const skip = Math.max(0, bytes.length - 3000);
    if (skip) found.push(`… ${plural(skip, "byte")} before `);
    let run = null;
    for (let i = skip; i < bytes.length; ) {
      const length = bytes[i] < 0x80 ? 1 : bytes[i] < 0xe0 ? 2 : bytes[i] < 0xf0 ? 3 : 4;
      const all = new Set(Array.from({ length }, (_, k) => status(i + k)));
      const parts = all.size === 1 ? [[i, i + length]] : Array.from({ length }, (_, k) => [i + k, i + k + 1]);
      for (const [from, to] of parts) {
        const text = bytes[from] === 10 ? "↵\n" : shown(bytes.subarray(from, to));
        run = make("span", { class: status(to - 1), "data-end": to }, text);
        found.push(run);
      }
      i += length;
    }
    $("bytes").replaceChildren(...found);
  }

  function drawTokens() {
    $("how").textContent = {
      tokenizer: "as the tokenizer writes the text so far", mask: "as the masks allow them",
      longest: "the longest tokens in turn, not the tokenizer's own", none: "",
    }[state.how];
    const { ids, ends, said } = state;
    const first = Math.max(0, ids.length - 400);
    const found = ids.slice(first).map((id, i) => {
      const place = first + i;
      const isDead = said && ends[place + 1] > said.offset;
      // The tokens of a text that goes on may be others than those of its beginning.
      const isOpen = !isDead && data.states && page.stateBehind(ids.slice(0, place + 1)) === undefined;
      return make("button", {
        type: "button", class: isDead ? "refused" : isOpen ? "open" : null, "aria-pressed": String(place === state.at), "data-at": place,
        title: `token ${id}${isOpen ? ": more text would make it another token" : ""}; shows the mask before it`,
      }, spaced(vocabulary.bytes(id)));
    });
    found.push(make("button", { type: "button", "aria-pressed": String(state.at === ids.length), "data-at": ids.length, title: "the mask behind the text" }, "▏end"));
    $("tokens").replaceChildren(...(vocabulary ? found : []));
  }

  function drawMask() {
    if (!vocabulary) {
      $("count").textContent = data.missing[data.missing.length - 1] || "";
      $("allowed").replaceChildren();
      return;
    }
    const { said } = state;
    const mask = page.maskAt(state.ids, state.at, utf8(state.text));
    const { at, end, pending } = mask;
    const conf = said && end <= said.offset ? said.path[end] : undefined;
    Object.assign(state, { mask: mask.ids || new Uint32Array(), conf, kept: at, exact: mask.exact });
    const behind = at ? `behind ${quote(state.ids[at - 1])}` : "at the start";
    const open = pending.length ? `, as beginnings with ${shown(pending)}` : "";
    if (said && state.ends[state.at] > said.offset) {
      $("count").textContent = "No token: the text is refused before here.";
      state.mask = new Uint32Array();
    } else if (mask.ids === null) {
      tell("The page has no masks here. Run", end);
    } else {
      const rest = mask.exact ? "may come" : "fit the grammar, however they are spelled,";
      const said = `${plural(mask.ids.length, "token")} of ${vocabulary.size.toLocaleString("en")} ${rest} ${behind}${open}.`;
      if (mask.exact) $("count").textContent = said;
      else tell(`${said} Those of the tokenizer's own are printed by`, end);
    }
    const last = said && said.offset === utf8(state.text).length && state.at === state.ids.length ? current() : conf;
    const forced = last === undefined ? none : page.forced(last);
    $("forced").replaceChildren(...(forced.length
      ? ["Forced: ", make("button", { type: "button", class: "code", "data-take": key(forced), title: "take it" }, shown(forced))] : []));
    drawAllowed();
    drawWhy();
  }

  // A sentence with the command that prints the mask behind so many bytes, to be copied.
  function tell(sentence, end) {
    const text = new TextDecoder().decode(utf8(state.text).subarray(0, end));
    const code = make("code", { class: "code" }, `${data.command} --prefix '${text.replace(/'/g, "'\\''")}'`);
    const copy = make("button", { type: "button" }, "Copy");
    copy.onclick = () => {
      getSelection().selectAllChildren(code);
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(() => {});
    };
    $("count").replaceChildren(`${sentence} `, code, " ", copy);
  }

  function drawAllowed() {
    const wanted = $("filter").value, ids = state.mask || [], found = [];
    const isAllowed = new Uint8Array(vocabulary.size);
    for (const id of ids) isAllowed[id] = 1;
    let more = 0;
    const add = (id) => {
      if (!wanted && found.length >= 50) return more++;
      const text = textOf(id);
      if (wanted && !text.includes(wanted) && !text.includes(wanted.replace(/ /g, "␣")) && `#${id}` !== wanted) return;
      if (found.length >= 50) return more++;
      const isEnd = vocabulary.eos.includes(id);
      const label = make("button", { type: "button", "data-id": id, title: `take token ${id}` }, text,
        make("span", { class: "id" }, ` ${id}${isEnd ? " end of text" : ""}`));
      found.push(make("li", {}, label));
    };
    for (const id of ids) if (vocabulary.kinds[id] !== TEXT) add(id);
    for (const id of vocabulary.order) if (isAllowed[id]) add(id);
    if (more) found.push(make("li", { class: "note" }, `… and ${plural(more, "more token")}`));
    $("allowed").replaceChildren(...found);
  }

  function drawWhy() {
    const wanted = $("why").value, answer = $("answer");
    answer.textContent = "";
    if (!wanted) return;
    const id = /^#\d+$/.test(wanted) ? Number(wanted.slice(1)) : vocabulary.find(key(utf8(wanted)));
    if (id === undefined || id >= vocabulary.size) {
      const parts = page.bpe && page.bpe.encode(utf8(wanted));
      answer.textContent = "There is no such token" + (parts ? `; the tokenizer writes it as ${parts.map(quote).join(" ")}` : "");
      return;
    }
    const name = `${quote(id)} (token ${id})`;
    const isAllowed = state.mask.includes(id);
    if (isAllowed && state.exact) {
      answer.textContent = `${name} is allowed.`;
      return;
    }
    if (state.conf === undefined) return;
    const before = { ids: state.ids.slice(0, state.kept), text: utf8(state.text).subarray(0, state.ends[state.kept]) };
    const why = page.why(before, state.conf, id);
    const octet = why && why.byte !== undefined ? vocabulary.bytes(id)[why.byte] : 0;
    if (isAllowed && why && why.deadEnd) {
      answer.textContent = `${name} fits the grammar, and the tokenizer writes it behind this text.`;
      return;
    }
    answer.textContent = `${name} is refused` + (
      !why ? "." : why.special ? ": it stands for no text." :
      why.byte !== undefined ? ` by the grammar: at its byte ${why.byte}, ${oneByte(octet)}, expected ${rangesText(why.expected)}.` :
      why.instead ? ` by the tokenizer, which would write ${why.instead.slice(-8).map(quote).join(" ")}.` :
      ": behind it no canonical text goes on to a member.");
  }

  const texts = [];
  const textOf = (id) => {
    const found = (texts[id] = texts[id] || spaced(vocabulary.bytes(id)));
    return vocabulary.kinds[id] === TEXT ? found : `⟨${found}⟩`;
  };
  const quote = (id) => `‹${spaced(vocabulary.bytes(id))}›`;

  function take(octets, at) {
    const before = utf8(state.text).subarray(0, state.ends[at]);
    write(new TextDecoder().decode(Uint8Array.from([...before, ...octets])));
  }

  // - The fragment holds what is shown, a moment after it has changed
  let timer = 0;
  function keep() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const found = new URLSearchParams({ text: state.text });
      if (state.at !== state.ids.length) found.set("at", state.at);
      if ($("filter").value) found.set("filter", $("filter").value);
      if ($("why").value) found.set("why", $("why").value);
      state.fragment = `#${found}`;
      try {
        history.replaceState(null, "", state.fragment);
      } catch { /* A page without an address of its own. */ }
    }, 250);
  }

  function restore() {
    const found = new URLSearchParams(location.hash.slice(1));
    if (!found.has("text")) return false;
    $("filter").value = found.get("filter") || "";
    $("why").value = found.get("why") || "";
    write(found.get("text"), found.has("at") ? Number(found.get("at")) || 0 : null);
    return true;
  }

  // - Numbers
  function drawNumbers() {
    const list = (heading, items) => items.length &&
      $("numbers").append(make("h3", {}, heading), make("ul", {}, ...items.map((text) => make("li", {}, text))));
    list("Notes", data.notes);
    list("What this page does not have", data.missing);
    for (const [heading, rowsOf] of data.numbers) {
      const body = rowsOf.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
      $("numbers").append(make("h3", {}, heading), make("table", {}, make("tbody", {}, ...body)));
    }
  }

  drawGrammar();
  drawRailroads();
  drawGraph();
  drawNumbers();
  $("examples").append(make("option", { value: "" }, "an example"),
    ...data.examples.map((each, i) => make("option", { value: i }, each.name)));
  $("examples").onchange = (event) => event.target.value !== "" && write(data.examples[event.target.value].text);
  $("input").addEventListener("input", () => read());
  $("filter").addEventListener("input", () => (vocabulary && drawAllowed(), keep()));
  $("why").addEventListener("input", () => (vocabulary && drawWhy(), keep()));
  $("tokens").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    state.at = Number(button.dataset.at);
    drawTokens();
    drawMask();
    keep();
  });
  $("allowed").addEventListener("click", (event) => {
    const button = event.target.closest("button"), id = button && Number(button.dataset.id);
    if (button && vocabulary.kinds[id] === TEXT) take(vocabulary.bytes(id), state.kept);
  });
  $("forced").addEventListener("click", (event) => {
    const text = event.target.dataset.take;
    if (text) take(Uint8Array.from(text, (c) => c.charCodeAt(0)), state.at);
  });
  $("bytes").addEventListener("mouseover", (event) => {
    const end = event.target.dataset && event.target.dataset.end;
    if (end && canWalk) light(state.said.path[Math.min(Number(end), state.said.offset)]);
  });
  $("bytes").addEventListener("mouseleave", () => canWalk && light(current()));
  addEventListener("hashchange", () => location.hash !== state.fragment && restore());
  if (!restore()) write(data.examples.length ? data.examples[0].text : "");
}

start();
