// Bytes, ranges of them and counts as people read them.
"use strict";

// How many bytes a character has that begins with this one.
const lengthOf = (octet) => (octet < 0x80 ? 1 : octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : 4);

// Escapes where there is no character to be seen.
function shown(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const octet = bytes[at];
    if (octet >= 0x20 && octet < 0x7f && octet !== 0x5c) {
      text += String.fromCharCode(octet);
      at += 1;
      continue;
    }
    const length = lengthOf(octet);
    const char = character(bytes.subarray(at, at + length));
    if (char && at + length <= bytes.length) {
      text += seen(char);
      at += length;
    } else {
      text += `\\x${octet.toString(16).padStart(2, "0")}`;
      at += 1;
    }
  }
  return text;
}

// The character of these bytes; nothing where they are none.
function character(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

function seen(char) {
  const known = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" }[char];
  if (known) return known;
  return /[\p{C}\p{Zl}\p{Zp}]/u.test(char) ? `\\u{${char.codePointAt(0).toString(16)}}` : char;
}

// Tokens often begin with a space.
const spaced = (bytes) => shown(bytes).replace(/ /g, "␣");

const oneByte = (octet) => (octet === 32 ? "␣" : shown(Uint8Array.of(octet)));

function rangesText(ranges) {
  const parts = ranges.slice(0, 12).map(([low, high]) => {
    return low === high ? oneByte(low) : `${oneByte(low)}–${oneByte(high)}`;
  });
  if (ranges.length > 12) parts.push("…");
  const isOneByte = ranges.length === 1 && ranges[0][0] === ranges[0][1];
  return isOneByte ? parts[0] : `[${parts.join(" ")}]`;
}

const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
