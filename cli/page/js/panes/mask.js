// What may follow at the place that is shown: how many tokens and which, what is forced, and why a
// token is not among them.
"use strict";

const MOST_ALLOWED = 50;

class MaskPane {
  // `keep()` is called when the filter or the question has changed.
  constructor(data, reading, keep) {
    Object.assign(this, { data, reading, inspector: reading.inspector });
    this.vocabulary = this.inspector.vocabulary;
    this.texts = []; // By id, as they are shown.
    if (!this.vocabulary) return;
    $("filter").addEventListener("input", () => (this.drawAllowed(), keep()));
    $("why").addEventListener("input", () => (this.drawWhy(), keep()));
    $("allowed").addEventListener("click", (event) => {
      const button = event.target.closest("button"), id = button && Number(button.dataset.id);
      if (button && this.vocabulary.kinds[id] === TEXT) {
        reading.take(this.vocabulary.bytes(id), this.mask.at);
      }
    });
    $("forced").addEventListener("click", (event) => {
      const text = event.target.dataset.take;
      if (text) reading.take(Uint8Array.from(text, (c) => c.charCodeAt(0)), reading.at);
    });
  }

  draw() {
    if (!this.vocabulary) {
      $("count").textContent = this.data.missing[this.data.missing.length - 1] || "";
      return;
    }
    const { ids, at, ends, bytes } = this.reading;
    const isRefused = this.reading.isRefused(ends[at]);
    this.mask = this.inspector.maskAt(ids, at, bytes);
    this.ids = (!isRefused && this.mask.ids) || new Uint32Array();
    this.conf = this.reading.behind(this.mask.end);
    if (isRefused) $("count").textContent = "No token: the text is refused before here.";
    else this.drawCount();
    this.drawForced();
    this.drawAllowed();
    this.drawWhy();
  }

  drawCount() {
    const { ids, exact, at, pending } = this.mask;
    if (ids === null) return this.tell("The page has no masks here. Run");
    const behind = at ? `after ${this.quote(this.reading.ids[at - 1])}` : "at the start";
    const open = pending.length ? `, as beginnings with ${shown(pending)}` : "";
    const rest = exact ? "may come" : "fit the grammar, however they are spelled,";
    const size = this.vocabulary.size.toLocaleString("en");
    const said = `${plural(ids.length, "token")} of ${size} ${rest} ${behind}${open}.`;
    if (exact) $("count").textContent = said;
    else this.tell(`${said} Those of the tokenizer's own are printed by`);
  }

  // A sentence with the command that prints the mask here, to be copied.
  tell(sentence) {
    const text = new TextDecoder().decode(this.reading.bytes.subarray(0, this.mask.end));
    const quoted = `'${text.replace(/'/g, "'\\''")}'`;
    const code = make("code", { class: "code" }, `${this.data.command} --prefix ${quoted}`);
    const copy = make("button", { type: "button" }, "Copy");
    copy.onclick = () => {
      getSelection().selectAllChildren(code);
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).catch(() => {});
    };
    $("count").replaceChildren(`${sentence} `, code, " ", copy);
  }

  drawForced() {
    const { said, bytes, at, ids } = this.reading;
    const isAtEnd = said && said.offset === bytes.length && at === ids.length;
    const conf = isAtEnd ? this.reading.current : this.conf;
    const forced = conf === undefined ? new Uint8Array() : this.inspector.forced(conf);
    const take = { type: "button", class: "code", "data-take": key(forced), title: "take it" };
    const button = forced.length ? ["Forced: ", make("button", take, shown(forced))] : [];
    $("forced").replaceChildren(...button);
  }

  drawAllowed() {
    const { kinds, order, size } = this.vocabulary, wanted = $("filter").value;
    const isAllowed = new Uint8Array(size);
    for (const id of this.ids) isAllowed[id] = 1;
    // Those that have no text first, the others by their bytes.
    const sorted = [...this.ids].filter((id) => kinds[id] !== TEXT);
    for (const id of order) if (isAllowed[id]) sorted.push(id);
    const fitting = wanted ? sorted.filter((id) => this.isLike(id, wanted)) : sorted;
    const found = fitting.slice(0, MOST_ALLOWED).map((id) => make("li", {}, this.choice(id)));
    const more = fitting.length - found.length;
    if (more) found.push(make("li", { class: "note" }, `… and ${plural(more, "more token")}`));
    $("allowed").replaceChildren(...found);
  }

  isLike(id, wanted) {
    const text = this.textOf(id);
    return text.includes(wanted) || text.includes(wanted.replace(/ /g, "␣")) || `#${id}` === wanted;
  }

  choice(id) {
    const end = this.vocabulary.eos.includes(id) ? " end of text" : "";
    return make("button", { type: "button", "data-id": id, title: `take token ${id}` },
      this.textOf(id), make("span", { class: "id" }, ` ${id}${end}`));
  }

  drawWhy() {
    const wanted = $("why").value;
    $("answer").textContent = wanted && this.answer(wanted);
  }

  // Whether a token may come, and why not: by its text, or #id.
  answer(wanted) {
    const bytes = utf8(wanted);
    const id = /^#\d+$/.test(wanted) ? Number(wanted.slice(1)) : this.vocabulary.find(key(bytes));
    if (id === undefined || id >= this.vocabulary.size) {
      const parts = this.inspector.bpe && this.inspector.bpe.encode(bytes);
      if (!parts) return "There is no such token";
      const written = parts.map((each) => this.quote(each)).join(" ");
      return `There is no such token; the tokenizer writes it as ${written}`;
    }
    const name = `${this.quote(id)} (token ${id})`, isAllowed = this.ids.includes(id);
    if (isAllowed && this.mask.exact) return `${name} is allowed.`;
    if (this.conf === undefined) return "";
    const { ids, bytes: text, ends } = this.reading, { at } = this.mask;
    const before = { ids: ids.slice(0, at), text: text.subarray(0, ends[at]) };
    const why = this.inspector.why(before, this.conf, id);
    if (isAllowed && why && why.deadEnd) {
      return `${name} fits the grammar, and the tokenizer writes it after this text.`;
    }
    return `${name} is refused${this.reason(id, why)}`;
  }

  reason(id, why) {
    if (!why) return ".";
    if (why.special) return ": it stands for no text.";
    if (why.byte !== undefined) {
      const octet = oneByte(this.vocabulary.bytes(id)[why.byte]);
      return ` by the grammar: at its byte ${why.byte}, ${octet}, expected ${rangesText(why.expected)}.`;
    }
    if (!why.instead) return ": after it no canonical text goes on to a member.";
    const instead = why.instead.slice(-8).map((each) => this.quote(each)).join(" ");
    return ` by the tokenizer, which would write ${instead}.`;
  }

  textOf(id) {
    const { vocabulary, texts } = this;
    const text = (texts[id] = texts[id] || spaced(vocabulary.bytes(id)));
    return vocabulary.kinds[id] === TEXT ? text : `⟨${text}⟩`;
  }

  quote(id) {
    return `‹${spaced(this.vocabulary.bytes(id))}›`;
  }
}
