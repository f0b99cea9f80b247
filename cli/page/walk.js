"use strict";
// What the page that `constrain inspect -o` writes knows of texts and tokens: ES2020, without DOM, so
// that Node loads it as a module, too.

// --- Data ---------------------------------------------------------------------------------------

const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

// An array of the page's data: {t: type, b: base64}, little-endian.
function numbers({ t, b }) {
  const bytes = fromBase64(b);
  const width = Number(t[1]);
  if (width === 1) return bytes;
  const view = new DataView(bytes.buffer);
  const found = width === 2 ? new Uint16Array(bytes.length / 2) : new Uint32Array(bytes.length / 4);
  for (let i = 0; i < found.length; i++) {
    found[i] = width === 2 ? view.getUint16(2 * i, true) : view.getUint32(4 * i, true);
  }
  return found;
}

// The ids of (left out, in a row) pairs.
function* idsOf(runs) {
  let id = 0;
  for (let i = 0; i < runs.length; i += 2) {
    id += runs[i];
    for (const end = id + runs[i + 1]; id < end; id++) yield id;
  }
}

function hasId(runs, id) {
  let at = 0;
  for (let i = 0; i < runs.length; i += 2) {
    at += runs[i];
    if (id < at) return false;
    at += runs[i + 1];
    if (id < at) return true;
  }
  return false;
}

const utf8 = (text) => new TextEncoder().encode(text);
const key = (bytes, from = 0, to = bytes.length) => {
  let text = "";
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i]);
  return text;
};

// --- The network: a DFA, or automata that call one another ----------------------------------------

const DEAD = 0, REFUSED = -1, UNKNOWN = -2;

// Frames of calls: states to return to, and counters and sets with a value, which are interned.
class Frames {
  constructor(data) {
    this.states = data.states;
    this.counters = data.counters || [];
    this.sets = (data.sets || []).map((rule) => ({
      ...rule,
      bits: rule.flags.map((f, i) => (f & 2 && !(f & 1) ? 0n : 1n << BigInt(i))),
      required: rule.flags.reduce((bits, f, i) => (f & 1 ? bits | (1n << BigInt(i)) : bits), 0n),
      all: (1n << BigInt(rule.parts.length)) - 1n,
      repeats: rule.flags.some((f) => f & 2),
    }));
    this.values = [];
    this.known = new Map();
    this.popped = new Map();
  }

  given(frame) {
    return Array.isArray(frame) ? this.frame(frame[0], BigInt(frame[1])) : frame;
  }

  // The frame of a counter or a set with a value; where only one thing is left to do, the state.
  frame(counter, value) {
    if (counter < this.counters.length) {
      const [, least, most, back] = this.counters[counter];
      if (most < 0) value = value < BigInt(least) ? value : BigInt(least);
      else if (value === BigInt(most)) return back;
    } else {
      const rule = this.sets[counter - this.counters.length];
      const inSeparator = (value - 1n) & 1n;
      if (!inSeparator && !this.hasNext(rule, (value - 1n) >> 1n)) return rule.back;
    }
    const name = `${counter}:${value}`;
    let frame = this.known.get(name);
    if (frame === undefined) {
      frame = this.states + this.values.length;
      this.values.push([counter, value]);
      this.known.set(name, frame);
    }
    return frame;
  }

  // Where the call on a frame ends: [state to go on in, frame that is put back or 0].
  pops(frame) {
    if (frame < this.states) return [[frame, 0]];
    let found = this.popped.get(frame);
    if (found) return found;
    const [counter, value] = this.values[frame - this.states];
    if (counter < this.counters.length) {
      const [item, least, , back] = this.counters[counter];
      found = [[item, this.frame(counter, value + 1n)]];
      if (value >= BigInt(least)) found.push([back, 0]);
    } else {
      found = this.popsOfSet(counter, this.sets[counter - this.counters.length], value);
    }
    this.popped.set(frame, found);
    return found;
  }

  popsOfSet(counter, rule, value) {
    const begun = (value - 1n) >> 1n, inSeparator = (value - 1n) & 1n, found = [];
    if (inSeparator || rule.adjoining) {
      const missing = this.missing(rule, begun);
      rule.bits.forEach((bit, i) => {
        if (!(missing & bit) && !(rule.flags[i] & 2)) return;
        const isEqual = i > 0 && rule.parts[i] === rule.parts[i - 1];
        if (isEqual && !(begun & rule.bits[i - 1])) return;
        found.push([rule.parts[i], this.frame(counter, 1n + 2n * (begun | bit))]);
      });
    }
    if (!inSeparator) {
      if (rule.separator && this.hasNext(rule, begun)) {
        found.push([rule.separator, this.frame(counter, value + 1n)]);
      }
      const enough = !(rule.required & ~begun) && bitCount(begun) >= rule.least;
      if (enough) found.push([rule.back, 0]);
    }
    return found;
  }

  missing(rule, begun) {
    const room = rule.most - bitCount(begun);
    if (room <= 0) return 0n;
    const required = rule.required & ~begun;
    return bitCount(required) >= room ? required : rule.all & ~begun;
  }

  hasNext(rule, begun) {
    return rule.repeats || this.missing(rule, begun) !== 0n;
  }
}

function bitCount(bits) {
  let count = 0;
  for (; bits; bits &= bits - 1n) count++;
  return count;
}

// Reads bytes. Configurations are numbers: sets of threads, each a state over a set of stacks, which
// are nodes of a graph-structured stack. Steps are cached, so that it becomes a DFA as it reads.
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
    this.nodes = [[[0, 0]]];
    this.nodeNumbers = new Map([["0,0", 0]]);
    this.unions = new Map();
    this.mayReturn = new Map([[0, true]]);
    this.firsts = new Map();
    this.confs = [];
    this.confNumbers = new Map();
    const [start, nullable] = this.initial;
    const threads = new Map([[start, 0]]);
    if (nullable) threads.set(DEAD, 0);
    this.start = this.configuration(threads);
  }

  node(entries) {
    const name = entries.join(";");
    let number = this.nodeNumbers.get(name);
    if (number === undefined) {
      number = this.nodes.length;
      this.nodes.push(entries);
      this.nodeNumbers.set(name, number);
    }
    return number;
  }

  push(frame, node) {
    return this.node([[frame, node]]);
  }

  union(left, right) {
    if (left === right) return left;
    const name = left < right ? `${left},${right}` : `${right},${left}`;
    let found = this.unions.get(name);
    if (found === undefined) {
      const merged = new Map(this.nodes[left]);
      for (const [frame, below] of this.nodes[right]) {
        const other = merged.get(frame);
        merged.set(frame, other === undefined ? below : this.union(other, below));
      }
      found = this.node([...merged].sort((a, b) => a[0] - b[0]));
      this.unions.set(name, found);
    }
    return found;
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
      for (const thread of this.returned(node)) {
        if (!seen.has(String(thread))) seen.add(String(thread)), pending.push(thread);
      }
    }
    return (known.open = pending);
  }

  *returned(node) {
    for (const [frame, below] of this.nodes[node]) {
      if (frame === DEAD) continue;
      for (const [state, again] of this.frames.pops(frame)) {
        yield [state, again ? this.push(again, below) : below];
      }
    }
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
        for (const frame of frames) reached = this.push(frame, reached);
        const other = threads.get(target);
        threads.set(target, other === undefined ? reached : this.union(other, reached));
      }
    }
    const next = threads.size ? this.configuration(threads) : REFUSED;
    if (symbol < 256) this.confs[conf].next[symbol] = next;
    return next;
  }

  mayEnd(conf) {
    return this.confs[conf].threads.some(
      ([state, node]) => state === DEAD || (this.ends[state] && this.returns(node)),
    );
  }

  returns(node) {
    let found = this.mayReturn.get(node);
    if (found === undefined) {
      found = this.nodes[node].some(
        ([frame, below]) =>
          frame === DEAD ||
          (this.frames.pops(frame).some(([state, again]) => !again && this.ends[state]) &&
            this.returns(below)),
      );
      this.mayReturn.set(node, found);
    }
    return found;
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
    const heads = new Set(), below = new Set(), seen = new Set();
    const pending = [];
    for (const [state, node] of this.confs[conf].threads) {
      if (state !== DEAD) heads.add(state);
      pending.push(node);
    }
    while (pending.length && seen.size < 1000) {
      const node = pending.pop();
      if (seen.has(node)) continue;
      seen.add(node);
      for (const [frame, rest] of this.nodes[node]) {
        if (frame === DEAD) continue;
        below.add(frame < this.frames.states ? frame : this.backOf(frame));
        pending.push(rest);
      }
    }
    return { heads, below };
  }

  backOf(frame) {
    const [counter] = this.frames.values[frame - this.frames.states];
    const counters = this.frames.counters;
    return counter < counters.length ? counters[counter][3] : this.frames.sets[counter - counters.length].back;
  }
}

// Maximal munch: a lexer divides the bytes into lexemes, each as long as possible, of those that the
// network may read and those that are ignored; the network reads symbol 256 + l for lexeme l.
class Munch {
  constructor(data) {
    this.parser = new Walk(data);
    const { lexer } = data;
    Object.assign(this, { width: lexer.width, starts: lexer.starts, priorities: lexer.priorities });
    this.ignored = lexer.ignored;
    this.table = numbers(lexer.table);
    this.columns = numbers(lexer.columns);
    this.ends = numbers(lexer.accepting);
    // By state of the DFAs the lexeme that it is of: they stand one after another.
    this.owner = (state) => this.starts.filter((start) => start <= state).length - 1;
    this.reset();
  }

  reset() {
    this.parser.reset();
    this.confs = [];
    this.known = new Map();
    this.start = this.number(this.parser.start, []);
  }

  // A configuration: the network's, and the states of the DFAs inside a lexeme, none between two.
  number(parsed, states) {
    const name = `${parsed}:${states}`;
    let number = this.known.get(name);
    if (number === undefined) {
      number = this.confs.length;
      this.confs.push({ parsed, states, next: new Int32Array(256).fill(UNKNOWN) });
      this.known.set(name, number);
    }
    return number;
  }

  read(states, octet) {
    const found = states.map((state) => this.table[state * this.width + this.columns[octet]]);
    return found.filter((state) => state !== DEAD);
  }

  // The network's configuration behind the lexeme that is being read, if it may end here.
  after({ parsed, states }) {
    if (!states.length) return parsed;
    const ended = states.filter((state) => this.ends[state]).map(this.owner);
    const highest = Math.max(...ended.map((lexeme) => this.priorities[lexeme]));
    const threads = new Map();
    for (const lexeme of ended) {
      if (this.priorities[lexeme] !== highest) continue;
      const next = this.ignored[lexeme] ? parsed : this.parser.step(parsed, 256 + lexeme);
      for (const [state, node] of next === REFUSED ? [] : this.parser.confs[next].threads) {
        const other = threads.get(state);
        threads.set(state, other === undefined ? node : this.parser.union(other, node));
      }
    }
    return threads.size ? this.parser.configuration(threads) : REFUSED;
  }

  // The first states of the lexemes that may begin.
  begun(parsed) {
    const known = this.parser.confs[parsed];
    const allowed = (_, lexeme) => this.ignored[lexeme] || this.parser.step(parsed, 256 + lexeme) !== REFUSED;
    return (known.begun = known.begun || this.starts.filter(allowed));
  }

  step(conf, octet) {
    if (octet > 255) return REFUSED; // It names no tokens.
    const known = this.confs[conf];
    if (known.next[octet] !== UNKNOWN) return known.next[octet];
    let parsed = known.parsed, states = this.read(known.states, octet);
    if (!states.length) {
      parsed = this.after(known);
      states = parsed === REFUSED ? [] : this.read(this.begun(parsed), octet);
    }
    return (known.next[octet] = states.length ? this.number(parsed, states) : REFUSED);
  }

  mayEnd(conf) {
    const parsed = this.after(this.confs[conf]);
    return parsed !== REFUSED && this.parser.mayEnd(parsed);
  }

  lit(conf) {
    return this.parser.lit(this.confs[conf].parsed);
  }
}

Munch.prototype.expected = Walk.prototype.expected;

// What became of a text, as `constrain explain` says it; `path`: the configuration at each place.
function verdictOf(walk, bytes) {
  // What was interned is bounded: a text is then read again from its start.
  if (walk.confs.length > 100000) walk.reset();
  const path = [walk.start];
  for (const octet of bytes) {
    const next = walk.step(path[path.length - 1], octet);
    if (next === REFUSED) break;
    path.push(next);
  }
  const last = path[path.length - 1], mayEnd = walk.mayEnd(last), offset = path.length - 1;
  const status = offset < bytes.length ? "rejected" : mayEnd ? "accepted" : "incomplete";
  const before = new TextDecoder().decode(bytes.subarray(0, offset)).split("\n");
  return {
    status, offset, mayEnd, path,
    line: before.length,
    column: [...before[before.length - 1]].length + 1,
    expected: walk.expected(last),
  };
}

// --- Tokens ---------------------------------------------------------------------------------------

const TEXT = 0, SPECIAL = 1;

class Vocabulary {
  constructor(data) {
    this.data = fromBase64(data.data);
    const lengths = numbers(data.lengths);
    this.kinds = numbers(data.kinds);
    this.size = lengths.length;
    this.offsets = new Uint32Array(this.size + 1);
    for (let i = 0; i < this.size; i++) this.offsets[i + 1] = this.offsets[i] + lengths[i];
    this.eos = data.eos;
    // Ids of texts that are not empty by their bytes, and what each shares with the one before it.
    const ids = [];
    for (let i = 0; i < this.size; i++) if (this.kinds[i] === TEXT && lengths[i]) ids.push(i);
    this.order = Uint32Array.from(ids).sort((a, b) => this.compare(a, b));
    this.shared = this.order.map((id, i) => (i ? this.common(this.order[i - 1], id) : 0));
    this.longest = lengths.reduce((a, b) => Math.max(a, b), 0);
    this.lookup = null;
  }

  bytes(id) {
    return this.data.subarray(this.offsets[id], this.offsets[id + 1]);
  }

  compare(a, b) {
    const { data, offsets } = this;
    let i = offsets[a], j = offsets[b];
    for (; i < offsets[a + 1] && j < offsets[b + 1]; i++, j++) {
      if (data[i] !== data[j]) return data[i] - data[j];
    }
    return offsets[a + 1] - i - (offsets[b + 1] - j) || a - b;
  }

  common(a, b) {
    const { data, offsets } = this;
    const most = Math.min(offsets[a + 1] - offsets[a], offsets[b + 1] - offsets[b]);
    let i = 0;
    while (i < most && data[offsets[a] + i] === data[offsets[b] + i]) i++;
    return i;
  }

  find(text) {
    if (!this.lookup) {
      this.lookup = new Map();
      for (const id of this.order) {
        const name = key(this.bytes(id));
        if (!this.lookup.has(name)) this.lookup.set(name, id);
      }
    }
    return this.lookup.get(text);
  }
}

// The tokens whose bytes some member goes on with, ascending: any way of spelling counts.
function maskOf(walk, vocabulary, conf, classes) {
  const { data, offsets, order, shared } = vocabulary;
  const flags = new Uint8Array(vocabulary.size);
  const stack = [conf];
  let alive = 0; // How many bytes of the token before were read; `stack` has a place for each.
  for (let i = 0; i < order.length; i++) {
    const id = order[i], begin = offsets[id], length = offsets[id + 1] - begin;
    const common = shared[i];
    if (common > alive) continue; // It begins with what was refused.
    let depth = common;
    while (depth < length) {
      const next = walk.step(stack[depth], data[begin + depth]);
      if (next === REFUSED) break;
      stack[++depth] = next;
    }
    alive = depth;
    if (depth === length) flags[id] = 1;
  }
  classes.forEach((runs, terminal) => {
    const isAllowed = walk.step(conf, 256 + terminal) !== REFUSED;
    for (const id of idsOf(runs)) if (isAllowed || classes.decides) flags[id] = isAllowed ? 1 : 0;
  });
  if (walk.mayEnd(conf)) for (const id of vocabulary.eos) flags[id] = 1;
  return Uint32Array.from(flags.keys()).filter((id) => flags[id]);
}

// The tokenizer: a text is split by a DFA over bytes with marks, of which it accepts one marking
// alone; the odd marks start a pre-token. Inside one pairs are merged, the lowest rank first.
class Bpe {
  constructor(data, vocabulary) {
    this.vocabulary = vocabulary;
    this.base = data.base;
    this.ignoreMerges = data.ignore_merges;
    this.classes = numbers(data.classes);
    this.final = numbers(data.final);
    [this.states, this.marks, this.width] = data.shape;
    const targets = numbers(data.targets), lengths = numbers(data.lengths);
    this.table = new Uint16Array(this.states * this.marks * this.width);
    let at = 0;
    targets.forEach((target, i) => {
      this.table.fill(target, at, at + lengths[i]);
      at += lengths[i];
    });
    this.start = data.start;
    // By left · V + right the rank; the result has the id of the same rank.
    this.ranks = new Map();
    const left = numbers(data.left);
    const inRow = typeof data.results === "number";
    this.results = inRow ? Array.from(left, (_, rank) => data.results + rank) : numbers(data.results);
    this.results.forEach((id, rank) => {
      const bytes = vocabulary.bytes(id);
      const pair = [key(bytes, 0, left[rank]), key(bytes, left[rank])].map((t) => vocabulary.find(t));
      this.ranks.set(pair[0] * vocabulary.size + pair[1], rank);
    });
    this.pieces = new Map();
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

// All that the page can say of a text; the panes below show it.
class Inspector {
  constructor(data) {
    this.data = data;
    this.walk = data.walk.states ? new (data.walk.lexer ? Munch : Walk)(data.walk) : null;
    this.vocabulary = data.vocabulary ? new Vocabulary(data.vocabulary) : null;
    this.bpe = data.bpe && data.bpe.base ? new Bpe(data.bpe, this.vocabulary) : null;
    this.classes = (data.vocabulary && data.vocabulary.classes) || [];
    this.classes.decides = Boolean(data.walk.decides);
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
    const known = this.data.states && this.pathOf(bytes);
    if (known) return { ids: known, how: "mask" };
    const ids = [];
    for (let at = 0; at < bytes.length; ) {
      let length = Math.min(this.vocabulary.longest, bytes.length - at), id;
      while (length && (id = this.vocabulary.find(key(bytes, at, at + length))) === undefined) length--;
      if (!length) break;
      ids.push(id);
      at += length;
    }
    return { ids, how: "longest" };
  }

  // The path of embedded token states that spells a text, or the longest beginning of it.
  pathOf(bytes) {
    let best = [0, []];
    const pending = [[0, this.data.token_start, []]];
    while (pending.length) {
      const [at, state, ids] = pending.pop();
      if (at > best[0]) best = [at, ids];
      if (at === bytes.length) return ids;
      for (let end = at + 1; end <= Math.min(bytes.length, at + this.vocabulary.longest); end++) {
        const id = this.vocabulary.find(key(bytes, at, end));
        const next = id === undefined ? undefined : this.stateAfter(state, id);
        if (next !== undefined) pending.push([end, next, [...ids, id]]);
      }
    }
    return best[1];
  }

  stateAfter(state, id) {
    const found = this.data.states[state].find(([, runs]) => hasId(runs, id));
    return found && found[0];
  }

  stateBehind(ids) {
    return ids.reduce((at, id) => (at === undefined ? at : this.stateAfter(at, id)), this.data.token_start);
  }

  // The mask behind the first `at` tokens of a text: {ids, exact, at, end, pending}. Where a text
  // breaks off inside a token, that of fewer tokens, and of its tokens those that begin with what is
  // `pending` of the text. `end`: how many bytes these tokens have.
  maskAt(ids, at, bytes) {
    const whole = ids.slice(0, at).reduce((sum, id) => sum + this.vocabulary.bytes(id).length, 0);
    let kept = at, end = whole;
    while (kept && this.data.states && this.stateBehind(ids.slice(0, kept)) === undefined) {
      end -= this.vocabulary.bytes(ids[--kept]).length;
    }
    const conf = this.walk ? [...bytes.subarray(0, end)].reduce((c, b) => (c < 0 ? c : this.walk.step(c, b)), this.walk.start) : REFUSED;
    const found = this.mask(ids.slice(0, kept), conf < 0 ? undefined : conf);
    const pending = bytes.subarray(end, whole), begun = key(pending);
    const fits = (id) => this.vocabulary.kinds[id] === TEXT && key(this.vocabulary.bytes(id)).startsWith(begun) &&
      this.vocabulary.bytes(id).length > begun.length;
    const allowed = begun && found.ids ? found.ids.filter(fits) : found.ids;
    return { ids: allowed, exact: found.exact, at: kept, end, pending };
  }

  // The mask behind some tokens: {ids, exact}; ids null where the page has none. `conf`: behind
  // their text.
  mask(ids, conf) {
    const name = ids.join(",");
    const row = this.rows.get(name);
    if (row) return { ids: Uint32Array.from(idsOf(row)), exact: true };
    if (this.data.states) {
      const state = this.stateBehind(ids);
      if (state === undefined) return { ids: null, exact: true };
      const found = this.data.states[state].flatMap(([, runs]) => [...idsOf(runs)]);
      if (this.data.token_accepting[state]) found.push(...this.vocabulary.eos);
      return { ids: Uint32Array.from(new Set(found)).sort(), exact: true };
    }
    if (!this.walk || conf === undefined) return { ids: null, exact: false };
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
    const text = new Uint8Array(before.text.length + bytes.length);
    text.set(before.text);
    text.set(bytes, before.text.length);
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

if (typeof module === "object") {
  module.exports = { Inspector, Walk, Vocabulary, Bpe, verdictOf, maskOf, idsOf, numbers };
}
