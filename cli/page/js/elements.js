// Elements of the document. Whatever comes from a grammar, a tokenizer or a file's name is hostile
// text and is put into the page as text alone: through here.
"use strict";

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

const note = (text) => make("p", { class: "note" }, text);

// By mouse and keyboard.
function whenChosen(element, act) {
  element.addEventListener("click", act);
  element.addEventListener("keydown", (event) => event.key === "Enter" && act());
}
