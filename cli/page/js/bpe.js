// The tokenizer: a text is split into pre-tokens, and inside of each pairs are merged.
"use strict";

// Pre-tokens are found by a DFA over bytes with marks, of which it accepts one marking alone; the odd
// marks start one. Merges are by rank, the lowest first.
class Bpe {
  constructor(data, vocabulary) {
    this.vocabulary = vocabulary;
    this.base = data.base;
    this.ignoreMerges = data.ignore_merges;
    this.classes = numbers(data.classes);
    this.final = numbers(data.final);
    [this.states, this.marks, this.width] = data.shape;
    this.start = data.start;
    this.table = this.tableOf(numbers(data.targets), numbers(data.lengths));
    const left = numbers(data.left);
    const inRow = typeof data.results === "number";
    this.results = inRow ? Array.from(left, (_, rank) => data.results + rank) : numbers(data.results);
    this.ranks = this.ranksOf(left);
    this.pieces = new Map();
  }

  // The DFA's cells, of runs of equal ones.
  tableOf(targets, lengths) {
    const table = new Uint16Array(this.states * this.marks * this.width);
    let at = 0;
    targets.forEach((target, i) => {
      table.fill(target, at, at + lengths[i]);
      at += lengths[i];
    });
    return table;
  }

  // By left id · V + right id the rank; `left`: how many bytes of each result are of the left one.
  ranksOf(left) {
    const { vocabulary } = this, ranks = new Map();
    this.results.forEach((id, rank) => {
      const bytes = vocabulary.bytes(id);
      const pair = [key(bytes, 0, left[rank]), key(bytes, left[rank])].map((t) => vocabulary.find(t));
      ranks.set(pair[0] * vocabulary.size + pair[1], rank);
    });
    return ranks;
  }

  // Where pre-tokens start; null for a text that the tokenizer would change first.
  starts(bytes) {
    const came = [new Map([[this.start, null]])];
    for (const octet of bytes) {
      const found = new Map();
      for (const state of came[came.length - 1].keys()) {
        for (let mark = 0; mark < this.marks; mark++) {
          const cell = (state * this.marks + mark) * this.width + this.classes[octet];
          if (this.table[cell]) found.set(this.table[cell], [state, mark]);
        }
      }
      if (!found.size) return null;
      came.push(found);
    }
    let state = [...came[came.length - 1].keys()].find((s) => this.final[s]);
    if (state === undefined) return null;
    const starts = [];
    for (let place = bytes.length; place > 0; place--) {
      const [before, mark] = came[place].get(state);
      if (mark & 1) starts.push(place - 1);
      state = before;
    }
    return starts.reverse();
  }

  encode(bytes) {
    const starts = this.starts(bytes);
    if (starts === null) return null;
    return starts.flatMap((start, i) => this.piece(key(bytes, start, starts[i + 1])));
  }

  piece(text) {
    let ids = this.pieces.get(text);
    if (ids) return ids;
    const whole = this.ignoreMerges ? this.vocabulary.find(text) : undefined;
    ids = whole === undefined ? [...text].map((c) => this.base[c.charCodeAt(0)]) : [whole];
    for (;;) {
      let best = Infinity, place = -1;
      for (let i = 0; i + 1 < ids.length; i++) {
        const rank = this.ranks.get(ids[i] * this.vocabulary.size + ids[i + 1]);
        if (rank < best) (best = rank), (place = i);
      }
      if (place < 0) break;
      ids.splice(place, 2, this.results[best]);
    }
    if (this.pieces.size > 10000) this.pieces.clear();
    this.pieces.set(text, ids);
    return ids;
  }
}
