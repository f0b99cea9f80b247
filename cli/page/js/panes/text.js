// The text that is typed, what became of it, and each of its bytes.
"use strict";

const MOST_BYTES = 3000;

class TextPane {
  constructor(data, reading) {
    Object.assign(this, { data, reading });
    $("examples").append(make("option", { value: "" }, "an example"),
      ...data.examples.map((each, i) => make("option", { value: i }, each.name)));
    $("examples").onchange = ({ target: { value } }) => {
      if (value !== "") reading.write(data.examples[value].text);
    };
    $("input").addEventListener("input", () => reading.write($("input").value));
  }

  // `look(conf)` is called with the configuration after the byte under the pointer.
  whenPointed(look) {
    const { reading } = this;
    if (!reading.said) return;
    $("bytes").addEventListener("mouseover", ({ target }) => {
      const end = target.dataset && target.dataset.end;
      if (end) look(reading.behind(Math.min(Number(end), reading.said.offset)));
    });
    $("bytes").addEventListener("mouseleave", () => look(reading.current));
  }

  draw() {
    if ($("input").value !== this.reading.text) $("input").value = this.reading.text;
    this.drawVerdict();
    this.drawBytes();
  }

  drawVerdict() {
    const { said } = this.reading, verdict = $("verdict");
    verdict.className = said ? said.status : "note";
    verdict.textContent = said ? this.verdictText(said) : this.data.missing[0] || "";
  }

  verdictText({ status, line, column, offset, expected, mayEnd }) {
    const more = expected.length ? rangesText(expected) : "";
    if (status === "accepted") return more ? `accepted; more may come: ${more}` : "accepted";
    const place = status !== "rejected" ? "" :
      ` at ${line}:${column} at ${oneByte(this.reading.bytes[offset])} (byte ${offset})`;
    const next = [more && `expected ${more}`, mayEnd ? "or the end" : ""].filter(Boolean).join(" ");
    return `${status}${place}; ${next}`;
  }

  drawBytes() {
    const { said, bytes } = this.reading, found = [];
    if (!said) return;
    let skip = Math.max(0, bytes.length - MOST_BYTES);
    while ((bytes[skip] & 0xc0) === 0x80) skip++; // Inside of a character.
    if (skip) found.push(`… ${plural(skip, "byte")} before `);
    for (let at = skip; at < bytes.length; at += lengthOf(bytes[at])) found.push(...this.character(at));
    $("bytes").replaceChildren(...found);
  }

  // The bytes of a character as one, where the text may end after all of them or after none.
  character(at) {
    const { bytes } = this.reading, length = lengthOf(bytes[at]);
    const ends = Array.from({ length }, (_, i) => at + i + 1);
    const isOne = new Set(ends.map((end) => this.status(end))).size === 1;
    const parts = isOne ? [[at, at + length]] : ends.map((end) => [end - 1, end]);
    return parts.map(([from, to]) => {
      const text = bytes[from] === 10 ? "↵\n" : shown(bytes.subarray(from, to));
      return make("span", { class: this.status(to), "data-end": to }, text);
    });
  }

  // What became of the text up to here.
  status(end) {
    const conf = this.reading.behind(end);
    if (conf === undefined) return "rejected";
    return this.reading.inspector.walk.mayEnd(conf) ? "accepted" : "incomplete";
  }
}
