// All that the page can say of a text; the panes show it.
"use strict";

class Inspector {
  constructor(data) {
    this.data = data;
    this.walk = data.walk.states ? new (data.walk.lexer ? Munch : Walk)(data.walk) : null;
    this.vocabulary = data.vocabulary ? new Vocabulary(data.vocabulary) : null;
    this.bpe = data.bpe && data.bpe.base ? new Bpe(data.bpe, this.vocabulary) : null;
    this.states = data.states ? new TokenStates(data, this.vocabulary) : null;
    this.classes = (data.vocabulary && data.vocabulary.classes) || [];
    this.classes.decides = Boolean(data.walk.decides);
    // Masks after tokens of the given texts, by these; and those that were walked.
    this.rows = new Map();
    for (const { ids, rows } of data.reached || []) {
      rows.forEach((row, i) => this.rows.set(ids.slice(0, i).join(","), data.rows[row]));
    }
    this.masks = new Map();
  }

  verdict(bytes) {
    return verdictOf(this.walk, bytes);
  }

  // The tokens of a text: {ids, how}. Of what is written so far the tokenizer's; else the longest
  // tokens in turn.
  tokens(bytes) {
    if (!this.vocabulary) return { ids: [], how: "none" };
    const own = this.bpe && this.bpe.encode(bytes);
    if (own) return { ids: own, how: "tokenizer" };
    if (this.states) return { ids: this.states.pathOf(bytes), how: "mask" };
    return { ids: this.vocabulary.longestOf(bytes), how: "longest" };
  }

  // Whether no canonical text has these tokens: more text would make other ones of them.
  isOpen(ids) {
    return this.states !== null && this.states.behind(ids) === undefined;
  }

  // The mask after the first `at` tokens of a text: {ids, exact, at, end, pending}. Where a text
  // breaks off inside a token, that of fewer tokens, and of its tokens those that begin with what is
  // `pending` of the text. `end`: how many bytes these tokens have.
  maskAt(ids, at, bytes) {
    const length = (id) => this.vocabulary.bytes(id).length;
    const whole = ids.slice(0, at).reduce((sum, id) => sum + length(id), 0);
    let kept = at, end = whole;
    while (kept && this.isOpen(ids.slice(0, kept))) end -= length(ids[--kept]);
    const found = this.mask(ids.slice(0, kept), this.behind(bytes.subarray(0, end)));
    const pending = bytes.subarray(end, whole), begun = key(pending);
    const fits = (id) => this.vocabulary.kinds[id] === TEXT && length(id) > begun.length &&
      key(this.vocabulary.bytes(id)).startsWith(begun);
    const allowed = begun && found.ids ? found.ids.filter(fits) : found.ids;
    return { ids: allowed, exact: found.exact, at: kept, end, pending };
  }

  // The configuration after a text; undefined where it is refused.
  behind(bytes) {
    if (!this.walk) return undefined;
    let conf = this.walk.start;
    for (let i = 0; i < bytes.length && conf !== REFUSED; i++) conf = this.walk.step(conf, bytes[i]);
    return conf === REFUSED ? undefined : conf;
  }

  // The mask after some tokens: {ids, exact}; ids null where the page has none. `conf`: after
  // their text.
  mask(ids, conf) {
    const row = this.rows.get(ids.join(","));
    if (row) return { ids: Uint32Array.from(idsOf(row)), exact: true };
    if (this.states) {
      const state = this.states.behind(ids);
      return { ids: state === undefined ? null : this.states.mask(state), exact: true };
    }
    if (conf === undefined) return { ids: null, exact: false };
    let mask = this.masks.get(conf);
    if (!mask) {
      if (this.masks.size > 40) this.masks.clear();
      mask = maskOf(this.walk, this.vocabulary, conf, this.classes);
      this.masks.set(conf, mask);
    }
    return { ids: mask, exact: !this.data.canonical };
  }

  // Why a token may not come: {byte} at which the grammar refuses it, or what the tokenizer would
  // write `instead`; null where it is allowed or nothing is known.
  why(before, conf, id) {
    if (this.vocabulary.kinds[id] === SPECIAL) return { special: true };
    let reached = conf;
    const bytes = this.vocabulary.bytes(id);
    for (let i = 0; i < bytes.length; i++) {
      const next = this.walk.step(reached, bytes[i]);
      if (next === REFUSED) return { byte: i, expected: this.walk.expected(reached) };
      reached = next;
    }
    if (!this.data.canonical) return null;
    const text = Uint8Array.from([...before.text, ...bytes]);
    const own = this.bpe && this.bpe.encode(text), taken = [...before.ids, id];
    if (own && own.join() !== taken.join()) return { instead: own };
    return { deadEnd: true };
  }

  // The bytes that each allowed token begins with, as far as there is one way on.
  forced(conf, most = 200) {
    const found = [];
    for (let at = conf; found.length < most && !this.walk.mayEnd(at); ) {
      const ranges = this.walk.expected(at);
      if (ranges.length !== 1 || ranges[0][0] !== ranges[0][1]) break;
      found.push(ranges[0][0]);
      at = this.walk.step(at, ranges[0][0]);
    }
    return Uint8Array.from(found);
  }
}
