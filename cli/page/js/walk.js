// The network reads bytes: a DFA, or automata that call one another.
"use strict";

const DEAD = 0, REFUSED = -1, UNKNOWN = -2;

// Configurations are numbers: sets of threads, each a state over a set of stacks. Steps are cached,
// so that it becomes a DFA as it reads.
class Walk {
  constructor(data) {
    this.table = numbers(data.table);
    this.columns = numbers(data.classes);
    this.ends = numbers(data.accepting);
    this.width = data.width;
    this.terminals = data.terminals;
    this.frames = new Frames(data);
    this.calls = new Map(
      Object.entries(data.calls).map(([state, calls]) => [
        Number(state),
        calls.map(([start, frame]) => [start, this.frames.given(frame)]),
      ]),
    );
    this.initial = [data.start, data.nullable];
    this.reset();
  }

  reset() {
    this.stacks = new Stacks(this.frames, this.ends);
    this.firsts = new Map();
    this.confs = [];
    this.confNumbers = new Map();
    const [start, nullable] = this.initial;
    const threads = new Map([[start, 0]]);
    if (nullable) threads.set(DEAD, 0);
    this.start = this.configuration(threads);
  }

  configuration(threads) {
    const sorted = [...threads].sort((a, b) => a[0] - b[0]);
    const name = sorted.join(";");
    let number = this.confNumbers.get(name);
    if (number === undefined) {
      number = this.confs.length;
      this.confs.push({ threads: sorted, next: new Int32Array(256).fill(UNKNOWN), open: null });
      this.confNumbers.set(name, number);
    }
    return number;
  }

  // The threads of a configuration and all that they become by returns.
  open(conf) {
    const known = this.confs[conf];
    if (known.open) return known.open;
    const pending = known.threads.slice(), seen = new Set(pending.map(String));
    for (const [state, node] of pending) {
      if (!this.ends[state]) continue;
      for (const thread of this.stacks.returned(node)) {
        if (!seen.has(String(thread))) seen.add(String(thread)), pending.push(thread);
      }
    }
    return (known.open = pending);
  }

  // How a state reads a symbol without returning: [target, frames that calls push on the way].
  first(state, symbol) {
    const name = state * 1024 + symbol;
    let found = this.firsts.get(name);
    if (found) return found;
    found = [];
    const column = symbol < 256 ? this.columns[symbol] : this.width - this.terminals + symbol - 256;
    const pending = [[state, []]];
    for (const [reached, frames] of pending) {
      const target = this.table[reached * this.width + column];
      if (target !== DEAD) found.push([target, frames]);
      for (const [start, frame] of this.calls.get(reached) || []) {
        pending.push([start, [...frames, frame]]);
      }
    }
    this.firsts.set(name, found);
    return found;
  }

  // The configuration after a byte (or 256 + a token terminal), or REFUSED.
  step(conf, symbol) {
    const known = symbol < 256 ? this.confs[conf].next[symbol] : UNKNOWN;
    if (known !== UNKNOWN) return known;
    const threads = new Map();
    for (const [state, node] of this.open(conf)) {
      for (const [target, frames] of this.first(state, symbol)) {
        let reached = node;
        for (const frame of frames) reached = this.stacks.push(frame, reached);
        this.stacks.join(threads, target, reached);
      }
    }
    const next = threads.size ? this.configuration(threads) : REFUSED;
    if (symbol < 256) this.confs[conf].next[symbol] = next;
    return next;
  }

  mayEnd(conf) {
    return this.confs[conf].threads.some(
      ([state, node]) => state === DEAD || (this.ends[state] && this.stacks.returns(node)),
    );
  }

  // The bytes that may come next, as ranges, both ends included.
  expected(conf) {
    const found = [];
    for (let octet = 0; octet < 256; octet++) {
      if (this.step(conf, octet) === REFUSED) continue;
      const last = found[found.length - 1];
      if (last && last[1] === octet - 1) last[1] = octet;
      else found.push([octet, octet]);
    }
    return found;
  }

  // States of the threads, and those below them on the stacks: what is lit.
  lit(conf) {
    const { threads } = this.confs[conf];
    const heads = new Set(threads.map(([state]) => state).filter((state) => state !== DEAD));
    return { heads, below: this.stacks.statesOf(threads.map(([, node]) => node)) };
  }
}
