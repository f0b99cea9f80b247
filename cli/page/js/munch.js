// Maximal munch: a lexer divides the bytes into lexemes, each as long as possible, of those that the
// network may read and those that are ignored; the network reads symbol 256 + l for lexeme l.
"use strict";

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

  // The network's configuration after the lexeme that is being read, if it may end here.
  after({ parsed, states }) {
    if (!states.length) return parsed;
    const ended = states.filter((state) => this.ends[state]).map(this.owner);
    const highest = Math.max(...ended.map((lexeme) => this.priorities[lexeme]));
    const threads = new Map();
    for (const lexeme of ended) {
      if (this.priorities[lexeme] !== highest) continue;
      const next = this.ignored[lexeme] ? parsed : this.parser.step(parsed, 256 + lexeme);
      for (const [state, node] of next === REFUSED ? [] : this.parser.confs[next].threads) {
        this.parser.stacks.join(threads, state, node);
      }
    }
    return threads.size ? this.parser.configuration(threads) : REFUSED;
  }

  // The first states of the lexemes that may begin.
  begun(parsed) {
    const known = this.parser.confs[parsed];
    const isRead = (lexeme) => this.parser.step(parsed, 256 + lexeme) !== REFUSED;
    const mayBegin = (_, lexeme) => this.ignored[lexeme] || isRead(lexeme);
    return (known.begun = known.begun || this.starts.filter(mayBegin));
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
