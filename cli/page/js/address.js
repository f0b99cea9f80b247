// The address's fragment holds what is shown, a moment after it has changed.
"use strict";

class Address {
  constructor(reading) {
    this.reading = reading;
    this.timer = 0;
    addEventListener("hashchange", () => location.hash !== this.fragment && this.restore());
  }

  keep() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), 250);
  }

  write() {
    const { text, at, ids } = this.reading;
    const found = new URLSearchParams({ text });
    if (at !== ids.length) found.set("at", at);
    for (const field of ["filter", "why"]) if ($(field).value) found.set(field, $(field).value);
    this.fragment = `#${found}`;
    try {
      history.replaceState(null, "", this.fragment);
    } catch { /* A page without an address of its own. */ }
  }

  // Shows what the fragment holds; false where it holds no text.
  restore() {
    const found = new URLSearchParams(location.hash.slice(1));
    if (!found.has("text")) return false;
    for (const field of ["filter", "why"]) $(field).value = found.get(field) || "";
    this.reading.write(found.get("text"), found.has("at") ? Number(found.get("at")) || 0 : null);
    return true;
  }
}
