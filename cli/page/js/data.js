// Bytes, arrays and sets of ids as the page's data has them, and bytes as keys of maps.
"use strict";

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
