// What calls go on with when they end: states to return to, and counters and sets with a value.
"use strict";

// States stand for themselves; a counter or a set with a value is interned as a number after them.
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

  // The state after the call on a frame.
  backOf(frame) {
    if (frame < this.states) return frame;
    const [counter] = this.values[frame - this.states];
    if (counter < this.counters.length) return this.counters[counter][3];
    return this.sets[counter - this.counters.length].back;
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
