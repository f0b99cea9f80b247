// The stacks of calls, as a graph: nodes are numbers, and a node is a list of (frame, node below),
// by frame. Equal nodes are one. Node 0 is the bottom, which has the frame DEAD.
"use strict";

class Stacks {
  constructor(frames, ends) {
    this.frames = frames;
    this.ends = ends;
    this.nodes = [[[0, 0]]];
    this.numbers = new Map([["0,0", 0]]);
    this.unions = new Map();
    this.mayReturn = new Map([[0, true]]);
  }

  node(entries) {
    const name = entries.join(";");
    let number = this.numbers.get(name);
    if (number === undefined) {
      number = this.nodes.length;
      this.nodes.push(entries);
      this.numbers.set(name, number);
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

  // Adds a thread, a state over a node, to those of a configuration.
  join(threads, state, node) {
    const other = threads.get(state);
    threads.set(state, other === undefined ? node : this.union(other, node));
  }

  // The threads after the call that ends here.
  *returned(node) {
    for (const [frame, below] of this.nodes[node]) {
      if (frame === DEAD) continue;
      for (const [state, again] of this.frames.pops(frame)) {
        yield [state, again ? this.push(again, below) : below];
      }
    }
  }

  // Whether all calls may end here.
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

  // The states that calls of these nodes go on in.
  statesOf(nodes) {
    const pending = [...nodes], seen = new Set(), found = new Set();
    while (pending.length && seen.size < 1000) {
      const node = pending.pop();
      if (seen.has(node)) continue;
      seen.add(node);
      for (const [frame, below] of this.nodes[node]) {
        if (frame === DEAD) continue;
        found.add(this.frames.backOf(frame));
        pending.push(below);
      }
    }
    return found;
  }
}
