// The tokens of the text; a click shows the mask before one.
"use strict";

const MOST_TOKENS = 400;

class TokensPane {
  constructor(reading) {
    this.reading = reading;
    this.vocabulary = reading.inspector.vocabulary;
    $("tokens").addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) reading.moveTo(Number(button.dataset.at));
    });
  }

  draw() {
    const { ids, how } = this.reading;
    $("how").textContent = {
      tokenizer: "as the tokenizer writes the text so far", mask: "as the masks allow them",
      longest: "the longest tokens in turn, not the tokenizer's own", none: "",
    }[how];
    if (!this.vocabulary) return;
    const first = Math.max(0, ids.length - MOST_TOKENS);
    const buttons = ids.slice(first).map((id, i) => this.token(id, first + i));
    buttons.push(this.button("▏end", ids.length, { title: "the mask after the text" }));
    $("tokens").replaceChildren(...buttons);
  }

  token(id, at) {
    const { ids, ends, inspector } = this.reading;
    const isRefused = this.reading.isRefused(ends[at + 1]);
    // The tokens of a text that goes on may be others than those of its beginning.
    const isOpen = !isRefused && inspector.isOpen(ids.slice(0, at + 1));
    const said = isOpen ? ": more text would make it another token" : "";
    return this.button(spaced(this.vocabulary.bytes(id)), at, {
      class: isRefused ? "refused" : isOpen ? "open" : null,
      title: `token ${id}${said}; shows the mask before it`,
    });
  }

  button(text, at, attributes) {
    const pressed = String(at === this.reading.at);
    const own = { type: "button", "aria-pressed": pressed, "data-at": at };
    return make("button", { ...own, ...attributes }, text);
  }
}
