// The grammar's text, line by line, with its rules and findings.
"use strict";

class GrammarPane {
  constructor(grammar, links) {
    this.grammar = grammar;
    this.links = links;
    this.pane = $("grammar");
    this.rows = new Map(); // By rule the rows that it stands in.
    this.draw();
  }

  draw() {
    const { text, missing, cut } = this.grammar;
    if (missing) this.pane.append(note(missing));
    let begin = 0;
    const lines = text === "" ? [] : text.split("\n");
    lines.forEach((line, number) => {
      this.drawLine(number + 1, begin, begin + line.length);
      begin += line.length + 1;
    });
    if (cut) this.pane.append(note(`… and ${plural(cut, "character")} more`));
  }

  drawLine(number, begin, end) {
    const here = this.grammar.findings.filter((f) => f.start >= begin && f.start <= end);
    here.sort((a, b) => a.start - b.start);
    const row = make("div", { class: "row" },
      make("span", { title: here.map((f) => f.lint).join(", ") }, here.length ? "●" : ""),
      make("span", { "aria-hidden": "true" }, String(number)), this.source(begin, end, here));
    const rules = this.rulesOf(begin, end);
    for (const rule of rules) this.rows.set(rule, [...(this.rows.get(rule) || []), row]);
    this.links.add(row, rules);
    this.pane.append(row, ...here.map((f) => this.finding(f)));
  }

  // A line with what was found in it marked.
  source(begin, end, findings) {
    const { text } = this.grammar, found = make("span", { class: "source" });
    let at = begin;
    for (const each of findings) {
      const from = Math.max(at, each.start), to = Math.min(end, Math.max(each.end, from));
      found.append(text.slice(at, from), make("span", { class: "marked" }, text.slice(from, to)));
      at = to;
    }
    found.append(text.slice(at, end) || "\u200b");
    return found;
  }

  finding({ level, lint, message, help }) {
    const said = `${level === "uncovered" ? "" : `${level} `}${lint}: ${message}`;
    return make("p", { class: `finding level-${level}` }, help ? `${said} (${help})` : said);
  }

  // The rules that a line is in; not those that are nearly all of the text.
  rulesOf(begin, end) {
    const { rules, text } = this.grammar;
    const isOf = (r) => r.start <= end && r.end > begin && r.end - r.start < 0.9 * text.length;
    return rules.filter(isOf).map((r) => r.name);
  }

  // Shows which rules are being read.
  light(rules) {
    for (const row of this.pane.querySelectorAll(".current")) row.classList.remove("current");
    const found = rules.flatMap((rule) => this.rows.get(rule) || []);
    for (const row of found) row.classList.add("current");
    if (found.length) this.bring(found[0]);
  }

  // A row into sight, if it is not.
  bring(row) {
    const { pane } = this, begin = row.offsetTop - pane.offsetTop;
    if (begin < pane.scrollTop || begin + row.offsetHeight > pane.scrollTop + pane.clientHeight) {
      pane.scrollTop = begin - pane.clientHeight / 3;
    }
  }
}
