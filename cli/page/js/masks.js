// Masks that the page finds by itself: a walk over the vocabulary in the order of its bytes.
"use strict";

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
