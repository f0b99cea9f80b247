// Reads a page's data and texts, and says what the page's program makes of each: Node, without DOM.
// node drive.cjs script… < {"data": …, "texts": [base64, …], "masks": bool, "tokens": [id, …]}
"use strict";
const { readFileSync } = require("fs");
const { runInThisContext } = require("vm");
// As in a page: what is at the top of one script is known in those behind it, and here.
for (const filename of process.argv.slice(2)) runInThisContext(readFileSync(filename, "utf8"), { filename });
const { data, texts, masks, tokens } = JSON.parse(readFileSync(0, "utf8"));
const page = new Inspector(data);
const found = texts.map((text) => {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const { path, ...said } = page.walk ? page.verdict(bytes) : {};
  const answer = { ...said, ...page.tokens(bytes) };
  if (masks) {
    const { ids, exact, at } = page.maskAt(answer.ids, answer.ids.length, bytes);
    Object.assign(answer, { mask: ids && Array.from(ids), exact, at });
  }
  if (tokens) {
    const conf = path[path.length - 1];
    answer.why = tokens.map((id) => page.why({ ids: answer.ids, text: bytes }, conf, id));
  }
  return answer;
});
process.stdout.write(JSON.stringify(found));
