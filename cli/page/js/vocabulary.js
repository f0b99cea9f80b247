// The tokens: their bytes, and ids by the order of these.
"use strict";

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

  // The longest tokens in turn that spell a text, or a beginning of it.
  longestOf(bytes) {
    const ids = [];
    for (let at = 0; at < bytes.length; ) {
      let length = Math.min(this.longest, bytes.length - at), id;
      while (length && (id = this.find(key(bytes, at, at + length))) === undefined) length--;
      if (!length) break;
      ids.push(id);
      at += length;
    }
    return ids;
  }
}
