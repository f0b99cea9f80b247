// The railroad diagrams of the rules, which came as shapes.
"use strict";

class RailroadPane {
  constructor(railroads, links) {
    this.figures = new Map(); // By rule.
    for (const each of railroads) this.draw(each, links);
    if (!railroads.length) $("railroad").append(note("There are no rules to draw."));
  }

  draw({ rule, width, height, shapes }, links) {
    const svg = make("svg", { width, height, role: "img", "aria-label": `rule ${rule}` });
    for (const [kind, ...shape] of shapes) {
      svg.append(kind === "p" ? make("path", { class: "line", d: shape[0] }) : this.box(shape));
    }
    const figure = make("figure", {}, make("figcaption", {}, rule), svg);
    if (!this.figures.has(rule)) this.figures.set(rule, figure);
    links.add(figure, [rule]);
    $("railroad").append(figure);
  }

  // A terminal, a note, or a use of a rule, which leads to its diagram.
  box([what, x, y, width, height, text, rule]) {
    const box = make("g", { class: what === "rule" ? "rule" : null });
    const rx = what === "literal" || what === "pattern" ? 11 : 2;
    if (what !== "note") box.append(make("rect", { class: `box ${what}`, x, y, width, height, rx }));
    box.append(make("text", { x: x + 7, y: what === "frame" ? y - 4 : y + 15 }, text));
    if (rule) {
      box.setAttribute("tabindex", "0");
      box.setAttribute("role", "link");
      whenChosen(box, () => {
        const figure = this.figures.get(rule);
        if (figure) figure.scrollIntoView({ block: "nearest" });
      });
    }
    return box;
  }
}
