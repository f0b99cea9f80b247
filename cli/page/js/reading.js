// The text that is typed, its tokens, and the place among these whose mask is shown.
"use strict";

class Reading {
  // `whenTyped`, `whenMoved`: what is called when the text has changed, and when the place alone has.
  constructor(inspector, whenTyped, whenMoved) {
    Object.assign(this, { inspector, whenTyped, whenMoved });
    this.read("");
  }

  // `at`: a place among the tokens; after the last one if there is none.
  write(text, at = null) {
    this.read(text, at);
    this.whenTyped();
  }

  moveTo(at) {
    this.at = at;
    this.whenMoved();
  }

  // Types bytes after the first `at` tokens.
  take(bytes, at) {
    const before = this.bytes.subarray(0, this.ends[at]);
    this.write(new TextDecoder().decode(Uint8Array.from([...before, ...bytes])));
  }

  // Types what an edge of the automaton reads, if it may come here. Inside a chain only its rest is
  // left to type.
  goOn(text) {
    const before = new TextDecoder().decode(this.bytes.subarray(0, this.said.offset));
    const chars = [...text];
    for (let from = 0; from < chars.length; from++) {
      const whole = before + chars.slice(from).join(""), bytes = utf8(whole);
      if (this.inspector.verdict(bytes).offset === bytes.length) {
        this.write(whole);
        return true;
      }
    }
    return false;
  }

  read(text, at = null) {
    const { inspector } = this;
    this.text = text.replace(/\r\n?/g, "\n"); // As a text area has it.
    this.bytes = utf8(this.text);
    this.said = inspector.walk ? inspector.verdict(this.bytes) : null;
    Object.assign(this, inspector.tokens(this.bytes)); // ids, how
    this.at = at === null ? this.ids.length : Math.min(at, this.ids.length);
    // By place where in the text it is.
    this.ends = [0];
    for (const id of this.ids) {
      this.ends.push(this.ends[this.ends.length - 1] + inspector.vocabulary.bytes(id).length);
    }
  }

  // The configuration after the text, or after as much of it as was read.
  get current() {
    return this.said.path[this.said.path.length - 1];
  }

  // The configuration after so many bytes; undefined where the text is refused before.
  behind(end) {
    return this.said && end <= this.said.offset ? this.said.path[end] : undefined;
  }

  // Whether the text is refused before the end of a token, or the place after it.
  isRefused(end) {
    return this.said !== null && end > this.said.offset;
  }
}
