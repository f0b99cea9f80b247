// Canonical masks that are in the page state by state: by state lists of (target, ids as runs).
"use strict";

class TokenStates {
  constructor(data, vocabulary) {
    this.rows = data.states;
    this.start = data.token_start;
    this.accepting = data.token_accepting;
    this.vocabulary = vocabulary;
  }

  after(state, id) {
    const found = this.rows[state].find(([, runs]) => hasId(runs, id));
    return found && found[0];
  }

  // The state after some tokens; undefined where they are refused.
  behind(ids) {
    return ids.reduce((at, id) => (at === undefined ? at : this.after(at, id)), this.start);
  }

  mask(state) {
    const found = this.rows[state].flatMap(([, runs]) => [...idsOf(runs)]);
    if (this.accepting[state]) found.push(...this.vocabulary.eos);
    return Uint32Array.from(new Set(found)).sort();
  }

  // The tokens on the path that spells a text, or the longest beginning of it.
  pathOf(bytes) {
    let best = [0, []];
    const pending = [[0, this.start, []]];
    while (pending.length) {
      const [at, state, ids] = pending.pop();
      if (at > best[0]) best = [at, ids];
      if (at === bytes.length) return ids;
      for (let end = at + 1; end <= Math.min(bytes.length, at + this.vocabulary.longest); end++) {
        const id = this.vocabulary.find(key(bytes, at, end));
        const next = id === undefined ? undefined : this.after(state, id);
        if (next !== undefined) pending.push([end, next, [...ids, id]]);
      }
    }
    return best[1];
  }
}
