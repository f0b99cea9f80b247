// What became of a text, as `constrain explain` says it.
"use strict";

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
