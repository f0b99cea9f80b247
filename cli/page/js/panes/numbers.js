// Numbers and notes, and what the page does not have.
"use strict";

class NumbersPane {
  constructor({ notes, missing, numbers }) {
    this.drawList("Notes", notes);
    this.drawList("What this page does not have", missing);
    for (const [heading, rows] of numbers) {
      const cells = (row) => row.map((cell) => make("td", {}, cell));
      const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row))));
      $("numbers").append(make("h3", {}, heading), make("table", {}, body));
    }
  }

  drawList(heading, items) {
    if (!items.length) return;
    const list = make("ul", {}, ...items.map((text) => make("li", {}, text)));
    $("numbers").append(make("h3", {}, heading), list);
  }
}
