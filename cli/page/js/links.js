// What belongs to one rule, in all panes: under the pointer all of it is lit.
"use strict";

class Links {
  constructor() {
    this.elements = new Map();
  }

  // An element belongs to these rules, and shows it.
  add(element, rules) {
    for (const rule of rules) {
      if (!this.elements.has(rule)) this.elements.set(rule, []);
      this.elements.get(rule).push(element);
    }
    element.addEventListener("mouseenter", () => this.light(rules));
    element.addEventListener("mouseleave", () => this.light([]));
  }

  light(rules) {
    for (const each of document.querySelectorAll(".linked")) each.classList.remove("linked");
    for (const rule of rules) {
      for (const each of this.elements.get(rule) || []) each.classList.add("linked");
    }
  }
}
