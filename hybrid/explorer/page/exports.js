"use strict";
/* What is taken away: pictures, films, the command line and the Python of what is seen. */
painleve.exports = (() => {
  const quote = (word) => (/^[\w.,:=+\-\/*()]+$/.test(word) && !/[()*]/.test(word) ? word : "'" + word.replaceAll("'", `'\\''`) + "'");

  function save(name, content, type) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  }

  /* a picture on its own knows no page: colours are written into it */
  function resolved(svg, width, height) {
    const copy = svg.cloneNode(true), style = getComputedStyle(document.documentElement);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    copy.setAttribute("font-family", "Helvetica, Arial, sans-serif");
    copy.setAttribute("font-size", "13");
    const own = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
    own.forEach((item, k) => {
      for (const name of ["fill", "stroke"]) {
        const value = copies[k].getAttribute(name) || "";
        const found = /^var\((--\w+)\)$/.exec(value);
        if (found) copies[k].setAttribute(name, style.getPropertyValue(found[1]).trim());
      }
      if (item.tagName === "text") {
        copies[k].setAttribute("fill", getComputedStyle(item).fill);
        copies[k].removeAttribute("style");
      }
    });
    return copy;
  }

  /* the regions below the pictures, a line each; returns the height with them */
  function legend(sheet, regions, high) {
    const { shape } = painleve.numbers, ink = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
    [...document.querySelectorAll("#legend canvas")].forEach((swatch, k) => {
      const y = high + 22 * k, words = swatch.parentElement.textContent;
      const image = shape("image", { href: swatch.toDataURL("image/png"), x: 660, y, width: 24, height: 18, preserveAspectRatio: "none" });
      image.style.imageRendering = "pixelated"; /* an attribute would be an inline style, which the page's policy refuses */
      sheet.append(image);
      sheet.append(shape("text", { x: 692, y: y + 13, fill: ink, "font-family": "Helvetica, Arial, sans-serif", "font-size": 14 }, words));
    });
    const verdict = document.getElementById("verdict");
    sheet.append(shape("text", { x: 20, y: high - 20, fill: ink, "font-family": "Helvetica, Arial, sans-serif", "font-size": 18, "font-weight": 600 }, verdict.dataset.verdict));
    return high + 22 * regions.length + 10;
  }

  /* drawing and map side by side, as one SVG */
  function picture() {
    const map = painleve.map, frame = document.getElementById("map-axes");
    const sheet = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const box = frame.getBoundingClientRect(), canvas = map.canvas.getBoundingClientRect();
    const wide = 640 + (map.shown ? box.width + 20 : 0);
    let high = Math.max(480, map.shown ? box.height + 30 : 0);
    sheet.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    sheet.setAttribute("width", wide);
    const ground = document.createElementNS(sheet.namespaceURI, "rect");
    ground.setAttribute("width", wide);
    ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--page").trim());
    sheet.append(ground, resolved(document.getElementById("drawing"), 640, 480));
    if (map.shown) {
      const image = document.createElementNS(sheet.namespaceURI, "image");
      const values = { href: map.canvas.toDataURL("image/png"), x: 650 + canvas.left - box.left, y: canvas.top - box.top, width: canvas.width, height: canvas.height, preserveAspectRatio: "none" };
      for (const [name, value] of Object.entries(values)) image.setAttribute(name, value);
      image.style.imageRendering = "pixelated";
      const axes = resolved(frame, box.width, box.height);
      axes.setAttribute("x", 650);
      axes.setAttribute("overflow", "visible");
      sheet.append(image, axes);
      high = legend(sheet, map.shown.regions, high);
    }
    sheet.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    sheet.setAttribute("height", high);
    ground.setAttribute("height", high);
    return { text: new XMLSerializer().serializeToString(sheet), wide, high };
  }

  function png(name) {
    const { text, wide, high } = picture(), image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = 2 * wide;
      canvas.height = 2 * high;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(name, blob));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  }

  /* an SVG as pixels of a canvas */
  function pixels(svg, wide, high) {
    const sheet = resolved(svg, wide, high), ground = getComputedStyle(document.documentElement).getPropertyValue("--page").trim();
    return new Promise((done, failed) => {
      const image = new Image();
      image.onerror = failed;
      image.onload = () => {
        const canvas = document.createElement("canvas");
        canvas.width = wide;
        canvas.height = high;
        const pen = canvas.getContext("2d");
        pen.fillStyle = ground;
        pen.fillRect(0, 0, wide, high);
        pen.drawImage(image, 0, 0, wide, high);
        done(pen.getImageData(0, 0, wide, high));
      };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(sheet));
    });
  }

  async function gif(name) {
    const { frames, span } = await painleve.motion.frames(60, (svg) => pixels(svg, 480, 360));
    const seconds = Math.max(2, Math.min(8, span));
    save(name, painleve.gif.encode(frames, Math.round((100 * seconds) / frames.length)));
  }

  function command(state, tab) {
    const words = ["painleve", { motion: "simulate", penalty: "compare" }[tab] || "verdict", state.text === null ? state.mechanism : state.mechanism + ".toml"];
    for (const [name, value] of Object.entries(state.parameters)) words.push("--param", `${name}=${value}`);
    for (const [name, value] of Object.entries(state.pins)) words.push("--pin", `${name}=${value}`);
    if (tab === "motion") words.push("--t-end", state.t_end, "--rule", state.rule, "--law", state.law);
    if (tab === "penalty") words.push("--stiffness", String(10 ** Number(state.stiffness)));
    return words.map(quote).join(" ");
  }

  function python(state, axes) {
    const table = (items) => "{" + Object.entries(items).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(", ") + "}";
    const load = state.text === null ? `mechanisms.load(${JSON.stringify(state.mechanism)})` : `read_mechanism(${JSON.stringify(state.mechanism + ".toml")})`;
    const lines = [
      state.text === null ? "import mechanisms" : "from hybrid import read_mechanism",
      "from hybrid import Axis, derive, region_map, select, solve_state",
      "",
      `dynamics = derive(${load})`,
      `parameters = ${table(state.parameters)}`,
      `pins = ${table(state.pins)}`,
      "state = solve_state(dynamics, pins, parameters=parameters)",
      "print(select(dynamics, state, parameters=parameters).verdict)",
    ];
    if (axes) {
      const names = axes.map((axis) => axis.name);
      const rest = Object.fromEntries(Object.entries(state.pins).filter(([name]) => !names.includes(name)));
      const held = Object.fromEntries(Object.entries(state.parameters).filter(([name]) => !names.includes(name)));
      lines.push(
        `axes = [${axes.map((axis) => `Axis(${JSON.stringify(axis.name)}, ${axis.low}, ${axis.high}, ${axis.n})`).join(", ")}]`,
        `print(region_map(dynamics, axes=axes, pins=${table(rest)}, parameters=${table(held)}).mode_fractions)`,
      );
    }
    return lines.join("\n") + "\n";
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (_) {
      const field = document.createElement("textarea");
      field.value = text;
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      return done;
    }
  }

  return { save, picture, png, gif, command, python, copy };
})();
