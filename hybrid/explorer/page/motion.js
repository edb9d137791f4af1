"use strict";
/* A motion: the mechanism moving, modes, forces and energy over time, and the other futures beside it. */
painleve.motion = (() => {
  const { shape, short, element } = painleve.numbers;
  const drawing = painleve.drawing;
  const view = document.getElementById("motion-view"), scrub = document.getElementById("scrub");
  const play = document.getElementById("play"), time = document.getElementById("time");
  let lines = [], now = 0, span = 1, playing = false, last = 0, onPause = () => {};

  /* from the root to a leaf: the parts of one future, one after the other */
  function futures(parts) {
    const parents = new Set(parts.map((part) => part.parent));
    return parts.map((_, number) => number).filter((number) => !parents.has(number)).map((leaf) => {
      const path = [];
      for (let k = leaf; k !== null && k !== undefined; k = parts[k].parent) path.unshift(parts[k]);
      return path;
    });
  }

  function show(motion, at) {
    const all = futures(motion.parts), most = all.slice(0, 4);
    lines = most.map((path) => future(path));
    if (lines.length === 1) lines[0].box.classList.add("alone");
    const hidden = all.length - most.length;
    view.replaceChildren(element("div", { class: "cards" }, ...lines.map((line) => line.box)), hidden ? element("p", { class: "soft", text: `${hidden} more futures are not drawn; painleve simulate --rule branch lists them.` }) : "");
    span = Math.max(1e-300, ...lines.map((line) => line.end));
    go(at ?? 0);
    setPlaying(at === null && !matchMedia("(prefers-reduced-motion: reduce)").matches && span > 0);
  }

  function future(path) {
    const choices = path.map((part) => part.choice).filter(Boolean), end = path.at(-1);
    const heading = choices.length ? "Future: " + choices.join(", then ") : "The motion";
    const box = element("div", { class: "card future" }, element("h2", { text: heading }));
    const svg = shape("svg", { viewBox: `0 0 ${drawing.WIDTH} ${drawing.HEIGHT}`, class: "curves", role: "img", "aria-label": heading });
    const scenes = path.map((part) => part.scene).filter(Boolean);
    if (scenes.length) box.append(svg);
    const joined = (pick) => path.flatMap((part) => pick(part.curves));
    const t = joined((curves) => curves.t);
    const names = Object.keys(path[0].curves.forces), charts = [];
    charts.push(timeline(path));
    if (names.length) charts.push(painleve.curves.draw("normal contact force", "t", names.map((name) => ({ label: name, x: t, y: joined((curves) => curves.forces[name]) }))));
    charts.push(painleve.curves.draw("energy", "t", [{ label: "", x: t, y: joined((curves) => curves.energy) }]));
    box.append(element("div", { class: "charts" }, ...charts));
    const events = path.reduce((sum, part) => sum + part.events.length, 0);
    box.append(element("p", { class: "ending", text: `${end.cause} (t = ${short(end.final.t)}; ${events} events).` }));
    for (const part of path) for (const warning of part.warnings) box.append(element("p", { class: "soft", text: warning }));
    const places = scenes.length ? drawing.fitted(scenes.map((scene) => sampled(scene))) : null;
    return { box, svg, scenes, charts, places, end: end.final.t };
  }

  const place = (scene, frame, point) => Array.from({ length: scene.axes }, (_, axis) => scene.origin[axis] + scene.grid * scene.points[(frame * scene.names.length + point) * scene.axes + axis]);
  function sampled(scene) {
    const step = Math.max(1, Math.floor(scene.t.length / 60)), found = [];
    for (let frame = 0; frame < scene.t.length; frame += step) for (let point = 0; point < scene.names.length; point++) found.push(place(scene, frame, point));
    return found;
  }

  function timeline(path) {
    const names = path[0].scene ? path[0].scene.timeline.map((row) => row.name) : [];
    const ROW = 24, svg = shape("svg", { class: "curves", viewBox: `0 0 520 ${names.length * ROW + 22}`, role: "img", "aria-label": "modes over time" });
    const whole = path.at(-1).final.t || 1e-300, x = (value) => 74 + (value / whole) * 434;
    names.forEach((name, row) => {
      svg.append(shape("text", { x: 66, y: row * ROW + 16, "text-anchor": "end" }, name));
      for (const part of path) {
        const own = part.scene && part.scene.timeline.find((item) => item.name === name);
        for (const [from, to, label] of own ? own.pieces : []) {
          const [fill, ink] = part.scene.fills[label];
          svg.append(shape("rect", { x: x(from), y: row * ROW, width: Math.max(0.8, x(to) - x(from)), height: ROW - 4, fill, stroke: "var(--soft)", "stroke-width": 0.6 }));
          if (x(to) - x(from) > 8 * label.length) {
            const text = shape("text", { x: (x(from) + x(to)) / 2, y: row * ROW + 15, "text-anchor": "middle" }, label);
            text.style.fill = ink;
            svg.append(text);
          }
        }
      }
    });
    const mark = shape("line", { y1: 0, y2: names.length * ROW, stroke: "var(--force)", "stroke-width": 2, x1: x(0), x2: x(0) });
    svg.append(mark, shape("text", { x: 74, y: names.length * ROW + 15 }, "t = 0"), shape("text", { x: 508, y: names.length * ROW + 15, "text-anchor": "end" }, short(whole)));
    svg.setNow = (value) => { const at = x(Math.min(whole, value)); mark.setAttribute("x1", at); mark.setAttribute("x2", at); };
    return svg;
  }

  function paint(line) {
    const scene = line.scenes.filter((item) => item.start <= now).at(-1) || line.scenes[0];
    if (!scene) return;
    let frame = 0;
    while (frame + 1 < scene.t.length && scene.t[frame + 1] <= now) frame++;
    const next = Math.min(frame + 1, scene.t.length - 1), gap = scene.t[next] - scene.t[frame];
    const share = gap > 0 ? Math.min(1, Math.max(0, (now - scene.t[frame]) / gap)) : 0;
    const at = (point) => { const a = place(scene, frame, point), b = place(scene, next, point); return a.map((value, axis) => value + share * (b[axis] - value)); };
    const svg = line.svg;
    svg.replaceChildren();
    for (const surface of scene.surfaces) {
      if (scene.axes !== 2) continue;
      const k = surface.still ? 0 : frame;
      const foot = [0, 1].map((axis) => scene.origin[axis] + scene.grid * surface.at[2 * k + axis]);
      svg.append(drawing.surface(line.places, { at: foot, normal: surface.normal.slice(2 * k, 2 * k + 2), guide: surface.guide }));
    }
    for (const [first, second] of scene.links) {
      const [x1, y1] = drawing.on(line.places, at(first)), [x2, y2] = drawing.on(line.places, at(second));
      svg.append(shape("line", { x1, y1, x2, y2, stroke: "var(--link)", "stroke-width": 5, "stroke-linecap": "round" }));
    }
    scene.names.forEach((_, point) => {
      const [cx, cy] = drawing.on(line.places, at(point));
      svg.append(shape("circle", { cx, cy, r: 4.5, fill: "var(--joint)", stroke: "var(--ink)", "stroke-width": 1.2 }));
    });
    for (const force of scene.forces) {
      const vector = Array.from({ length: scene.axes }, (_, axis) => force.vector[frame * scene.axes + axis] / scene.forceSteps);
      const seen = drawing.flat(vector), size = Math.hypot(...seen);
      if (size < 0.01) continue;
      const tip = drawing.on(line.places, at(force.point)), long = (Math.min(2, size) / size) * 45;
      svg.append(drawing.arrow([tip[0] - seen[0] * long, tip[1] + seen[1] * long], tip, "var(--force)", ""));
    }
  }

  function go(value) {
    now = Math.min(span, Math.max(0, value));
    scrub.value = 1000 * (now / span);
    time.textContent = "t = " + short(now);
    scrub.setAttribute("aria-valuetext", "t = " + short(now));
    for (const line of lines) {
      paint(line);
      for (const chart of line.charts) chart.setNow(now);
    }
  }
  function setPlaying(value) {
    const isHeld = playing && !value;
    playing = value && lines.length > 0;
    play.textContent = playing ? "Pause" : "Play";
    if (isHeld) hold();
    if (!playing) return;
    if (now >= span) now = 0;
    last = performance.now();
    requestAnimationFrame(tick);
  }
  function tick(stamp) {
    if (!playing) return;
    go(now + (Math.max(0, stamp - last) / 1000) * Math.max(1e-12, span / Math.max(2, Math.min(8, span))));
    last = stamp;
    if (now >= span) setPlaying(false);
    else requestAnimationFrame(tick);
  }
  scrub.addEventListener("input", () => { setPlaying(false); go((span * Number(scrub.value)) / 1000); });
  scrub.addEventListener("change", hold);

  /* at an instant that an address can hold */
  function hold() {
    if (!lines.length) return;
    go(Number(now.toPrecision(6)));
    onPause(now);
  }

  return {
    show,
    clear: (text) => { playing = false; play.textContent = "Play"; lines = []; view.replaceChildren(element("p", { class: "soft", text })); },
    /* the pictures of the first future, one after the other, for a film */
    frames: async (count, drawn) => {
      setPlaying(false);
      const found = [];
      for (let k = 0; k < count; k++) {
        go((span * k) / (count - 1));
        found.push(await drawn(lines[0].svg));
      }
      return { frames: found, span };
    },
    toggle: () => setPlaying(!playing),
    has: () => lines.length > 0,
    /* where the motion is when it is held */
    listen: (heard) => { onPause = heard; },
  };
})();
