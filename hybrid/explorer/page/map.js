"use strict";
/* The map: cells by region, axes, the state's marker; a cell under the pointer is said, a click goes there. */
painleve.map = (() => {
  const { shape, short, ticks, element } = painleve.numbers;
  const canvas = document.getElementById("map"), frame = document.getElementById("map-axes");
  let shown = null, cells = null, marker = null, onPick = () => {}, isMarked = false;

  /* Patterns tell the kinds apart without colour: what hatch a region has in every figure of the project. */
  function isHatched(hatch, column, row, n) {
    const step = Math.max(4, Math.round(n / 40));
    if (hatch === "x") return (column + row) % step === 0 || (column - row + 1000 * step) % step === 0;
    if (hatch === "/") return (column - row + 1000 * step) % step === 0;
    if (hatch === "\\") return (column + row) % step === 0;
    if (hatch === "-") return row % step === 0;
    if (hatch === "+") return row % step === 0 || column % step === 0;
    return column % step === 0 && row % step === 0;
  }

  /* colours as the canvas keeps them: red in the lowest byte */
  function paint(region) {
    const parts = [5, 3, 1].map((start) => parseInt(region.colour.slice(start, start + 2), 16));
    const packed = (factor) => parts.reduce((sum, part) => sum * 256 + Math.min(255, Math.round(part * factor)), 255) >>> 0;
    return { plain: packed(1), line: packed(parts[0] + parts[1] + parts[2] < 380 ? 1.5 : 0.72), hatch: region.hatch[0] || "" };
  }

  function decode(map) {
    const found = new Uint8Array(map.axes[0].n * map.axes[1].n);
    let place = 0;
    for (let k = 0; k < map.runs.length; k += 2) {
      found.fill(map.runs[k + 1], place, place + map.runs[k]);
      place += map.runs[k];
    }
    return found;
  }

  function show(map) {
    shown = map;
    document.getElementById("map-frame").hidden = !map;
    if (!map) {
      cells = null;
      document.getElementById("legend").replaceChildren(element("li", { text: "No map: choose two quantities that change the verdict." }));
      return;
    }
    cells = decode(map);
    const [n0, n1] = map.axes.map((axis) => axis.n);
    canvas.width = n0;
    canvas.height = n1;
    const paints = map.regions.map(paint);
    fill(canvas, n0, n1, (column, row) => paints[cells[row * n0 + column]], n0);
    canvas.dataset.complete = String(map.complete);
    canvas.dataset.drawn = String(Number(canvas.dataset.drawn || 0) + 1);
    legend(map);
    axes();
  }

  /* rows from below; `n` cells across have the patterns of a whole map */
  function fill(target, wide, high, paintOf, n) {
    const pen = target.getContext("2d"), picture = pen.createImageData(wide, high), pixels = new Uint32Array(picture.data.buffer);
    for (let row = 0; row < high; row++) {
      let place = (high - 1 - row) * wide;
      for (let column = 0; column < wide; column++, place++) {
        const own = paintOf(column, row);
        pixels[place] = own.hatch && isHatched(own.hatch, column, row, n) ? own.line : own.plain;
      }
    }
    pen.putImageData(picture, 0, 0);
  }

  function legend(map) {
    const items = map.regions.map((region) => {
      const swatch = element("canvas", { class: "swatch", width: 12, height: 9, "aria-hidden": "true" });
      const own = paint(region);
      fill(swatch, 12, 9, () => own, 160);
      return element("li", { "data-verdict": region.verdict }, swatch, `${region.label}, ${(100 * region.fraction).toFixed(region.fraction < 0.1 ? 2 : 1)} %`);
    });
    if (!map.complete) items.push(element("li", { class: "soft", text: "coarse: a finer map is on its way" }));
    document.getElementById("legend").replaceChildren(...items);
  }

  const inPi = (value) => {
    const part = (4 * value) / Math.PI, whole = Math.round(part);
    if (Math.abs(part - whole) > 1e-6 || whole === 0) return null;
    const [top, below] = whole % 4 === 0 ? [whole / 4, 1] : whole % 2 === 0 ? [whole / 2, 2] : [whole, 4];
    return (Math.abs(top) === 1 ? (top < 0 ? "−" : "") : short(top)) + "π" + (below > 1 ? "/" + below : "");
  };

  function marks(axis) {
    const span = axis.high - axis.low;
    if (inPi(axis.high) && (inPi(axis.low) || axis.low === 0)) {
      const quarter = span > 1.01 * Math.PI ? Math.PI / 2 : Math.PI / 4, found = [];
      for (let value = Math.ceil(axis.low / quarter - 1e-9) * quarter; value <= axis.high + 1e-9; value += quarter) found.push([value, inPi(value) || "0"]);
      return found;
    }
    return ticks(axis.low, axis.high, 6).map((value) => [value, short(value)]);
  }

  function axes() {
    if (!shown) return;
    const outer = frame.getBoundingClientRect(), inner = canvas.getBoundingClientRect();
    if (!outer.width) return;
    const left = inner.left - outer.left, top = inner.top - outer.top, [across, up] = shown.axes;
    const letter = 0.85 * parseFloat(getComputedStyle(document.documentElement).fontSize); /* as in the style sheet */
    frame.setAttribute("viewBox", `0 0 ${outer.width} ${outer.height}`);
    frame.replaceChildren();
    const x = (value) => left + ((value - across.low) / (across.high - across.low)) * inner.width;
    const y = (value) => top + inner.height - ((value - up.low) / (up.high - up.low)) * inner.height;
    for (const [value, text] of marks(across)) {
      frame.append(shape("line", { x1: x(value), x2: x(value), y1: top + inner.height, y2: top + inner.height + 5, stroke: "var(--ink)" }));
      frame.append(shape("text", { x: x(value), y: top + inner.height + 7 + letter, "text-anchor": "middle" }, text));
    }
    for (const [value, text] of marks(up)) {
      frame.append(shape("line", { x1: left - 5, x2: left, y1: y(value), y2: y(value), stroke: "var(--ink)" }));
      frame.append(shape("text", { x: left - 8, y: y(value) + 0.35 * letter, "text-anchor": "end" }, text));
    }
    frame.append(shape("text", { x: left + inner.width / 2, y: top + inner.height + 11 + 2.2 * letter, "text-anchor": "middle" }, across.title || across.name));
    frame.append(shape("text", { x: letter, y: top + inner.height / 2, "text-anchor": "middle", transform: `rotate(-90 ${letter} ${top + inner.height / 2})` }, up.title || up.name));
    isMarked = Boolean(marker) && marker.every((value, k) => value !== null && value >= shown.axes[k].low && value <= shown.axes[k].high);
    if (!isMarked) return;
    const place = [x(marker[0]), y(marker[1])];
    frame.append(shape("circle", { cx: place[0], cy: place[1], r: 8, fill: "none", stroke: "#ffffff", "stroke-width": 5 }));
    frame.append(shape("circle", { cx: place[0], cy: place[1], r: 8, fill: "none", stroke: "#000000", "stroke-width": 2.2, id: "marker" }));
  }

  function at(event) {
    const box = canvas.getBoundingClientRect();
    const share = [(event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height];
    return share.map((part, k) => {
      const axis = shown.axes[k];
      return axis.low + Math.min(1 - 1e-9, Math.max(0, part)) * (axis.high - axis.low);
    });
  }
  function region(place) {
    const index = place.map((value, k) => Math.min(shown.axes[k].n - 1, Math.max(0, Math.floor(((value - shown.axes[k].low) / (shown.axes[k].high - shown.axes[k].low)) * shown.axes[k].n))));
    return shown.regions[cells[index[1] * shown.axes[0].n + index[0]]];
  }
  function tell(place) {
    const found = region(place);
    document.getElementById("cell").textContent = `${shown.axes[0].name} = ${short(place[0])}, ${shown.axes[1].name} = ${short(place[1])}: ${found.verdict}, ${found.label}`;
  }

  canvas.addEventListener("pointermove", (event) => {
    if (!shown) return;
    const place = at(event);
    tell(place);
    if (event.buttons & 1) onPick(place, false);
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (shown && event.button === 0) onPick(at(event), false);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (shown && event.button === 0) onPick(at(event), true);
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step || !shown) return;
    event.preventDefault();
    const part = event.shiftKey ? 1 / 200 : 1 / 40;
    const from = marker && isMarked ? marker : shown.axes.map((axis) => (axis.low + axis.high) / 2);
    const place = from.map((value, k) => Math.min(shown.axes[k].high, Math.max(shown.axes[k].low, value + step[k] * part * (shown.axes[k].high - shown.axes[k].low))));
    tell(place);
    onPick(place, true);
  });
  window.addEventListener("resize", axes);

  return {
    show,
    mark: (place) => { marker = place; axes(); },
    listen: (heard) => { onPick = heard; },
    regionAt: (place) => (shown ? region(place) : null),
    get shown() { return shown; },
    canvas,
    redraw: axes,
  };
})();
