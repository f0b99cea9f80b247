// Reads a page's data and texts, and says what the page's program makes of each: Node, without DOM.
// node drive.cjs inspect.js < {"data": …, "texts": [base64, …], "masks": bool}
"use strict";
const { Inspector } = require(process.argv[2]);
const { data, texts, masks } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const page = new Inspector(data);
const found = texts.map((text) => {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const begun = process.hrtime.bigint();
  const { path, ...said } = page.verdict(bytes);
  const { ids, how } = page.tokens(bytes);
  const mask = masks ? page.mask(ids, path[said.offset === bytes.length ? bytes.length : -1]) : null;
  const rows = mask && mask.ids && Array.from(mask.ids);
  const milliseconds = Number(process.hrtime.bigint() - begun) / 1e6;
  return { ...said, ids, how, mask: rows, exact: mask && mask.exact, milliseconds };
});
process.stdout.write(JSON.stringify(found));
