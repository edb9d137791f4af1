"use strict";
/* A film as GIF 89a, made in the page: 216 colours of a cube and 39 greys, LZW as the format asks for. */
painleve.gif = (() => {
  const GREYS = 39;
  const palette = [];
  for (let red = 0; red < 6; red++) for (let green = 0; green < 6; green++) for (let blue = 0; blue < 6; blue++) palette.push(51 * red, 51 * green, 51 * blue);
  for (let k = 1; k <= GREYS; k++) palette.push(...Array(3).fill(Math.round((255 * k) / (GREYS + 1))));
  while (palette.length < 768) palette.push(0);

  function indexed(data) {
    const found = new Uint8Array(data.length / 4);
    for (let k = 0; k < found.length; k++) {
      const red = data[4 * k], green = data[4 * k + 1], blue = data[4 * k + 2];
      if (Math.max(red, green, blue) - Math.min(red, green, blue) < 12 && red > 6 && red < 250) {
        found[k] = 215 + Math.min(GREYS, Math.max(1, Math.round((green * (GREYS + 1)) / 255)));
      } else found[k] = 36 * Math.round(red / 51) + 6 * Math.round(green / 51) + Math.round(blue / 51);
    }
    return found;
  }

  function packed(pixels) {
    const CLEAR = 256, END = 257, bytes = [];
    let size = 9, next = 258, table = new Map(), bits = 0, held = 0;
    const put = (code) => {
      held |= code << bits;
      bits += size;
      while (bits >= 8) { bytes.push(held & 255); held >>>= 8; bits -= 8; }
    };
    put(CLEAR);
    let prefix = pixels[0];
    for (let k = 1; k < pixels.length; k++) {
      const key = prefix * 256 + pixels[k], known = table.get(key);
      if (known !== undefined) { prefix = known; continue; }
      put(prefix);
      table.set(key, next);
      if (next === 1 << size && size < 12) size++;
      next++;
      if (next === 4096) { put(CLEAR); table = new Map(); next = 258; size = 9; }
      prefix = pixels[k];
    }
    put(prefix);
    put(END);
    if (bits) bytes.push(held & 255);
    return bytes;
  }

  /* frames: ImageData of one size; delay in hundredths of a second */
  function encode(frames, delay) {
    const { width, height } = frames[0], short = (value) => [value & 255, value >> 8];
    const parts = [new TextEncoder().encode("GIF89a"), [...short(width), ...short(height), 0xf7, 0, 0], palette];
    parts.push([0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0]);
    frames.forEach((frame, k) => {
      const wait = k === frames.length - 1 ? 100 : delay;
      parts.push([0x21, 0xf9, 4, 0, ...short(wait), 0, 0, 0x2c, 0, 0, 0, 0, ...short(width), ...short(height), 0, 8]);
      const data = packed(indexed(frame.data));
      for (let start = 0; start < data.length; start += 255) {
        const block = data.slice(start, start + 255);
        parts.push([block.length, ...block]);
      }
      parts.push([0]);
    });
    parts.push([0x3b]);
    return new Blob(parts.map((part) => Uint8Array.from(part)), { type: "image/gif" });
  }

  return { encode, packed };
})();
