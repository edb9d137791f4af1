"use strict";
(() => {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const by = (id) => document.getElementById(id);
  const picture = by("picture"), modes = by("modes"), play = by("play"), scrub = by("scrub");
  const speed = by("speed"), arrows = by("arrows"), follow = by("follow");
  const axes = scene.axes, count = scene.names.length, frames = scene.t.length;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let now = scene.start, playing = false, last = 0, turn = -0.6, tilt = 0.35;

  /* places: a frame and the share of the way to the next one */
  function frameAt(t) {
    let low = 0, high = frames - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (scene.t[middle] <= t) low = middle; else high = middle - 1;
    }
    const next = Math.min(low + 1, frames - 1), gap = scene.t[next] - scene.t[low];
    return [low, next, gap > 0 ? Math.min(1, Math.max(0, (t - scene.t[low]) / gap)) : 0];
  }
  function blend(values, width, index, at) {
    const [low, next, share] = at, found = [];
    for (let axis = 0; axis < axes; axis++) {
      const a = values[(low * width + index) * axes + axis], b = values[(next * width + index) * axes + axis];
      found.push(a + (b - a) * share);
    }
    return found;
  }
  const world = (grid) => grid.map((value, axis) => scene.origin[axis] + value * scene.grid);
  const point = (index, at) => world(blend(scene.points, count, index, at));

  /* looking: plane drawings as they are, spatial ones turned and tilted, without perspective */
  function flat(place) {
    if (axes === 2) return place;
    const [x, y, z] = place, c = Math.cos(turn), s = Math.sin(turn);
    const right = c * x + s * y, deep = -s * x + c * y;
    return [right, Math.cos(tilt) * z + Math.sin(tilt) * deep];
  }
  function box() {
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let frame = 0; frame < frames; frame += Math.max(1, frames >> 8)) {
      for (let index = 0; index < count; index++) {
        const seen = flat(point(index, [frame, frame, 0]));
        for (let axis = 0; axis < 2; axis++) {
          low[axis] = Math.min(low[axis], seen[axis]);
          high[axis] = Math.max(high[axis], seen[axis]);
        }
      }
    }
    return [low, high];
  }
  function extent(at) {
    let low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (let index = 0; index < count; index++) {
      const seen = flat(point(index, at));
      for (let axis = 0; axis < 2; axis++) {
        low[axis] = Math.min(low[axis], seen[axis]);
        high[axis] = Math.max(high[axis], seen[axis]);
      }
    }
    return [low, high];
  }
  let whole = box();
  const own = extent([0, 0, 0]);
  const body = Math.hypot(own[1][0] - own[0][0], own[1][1] - own[0][1]) || scene.size / 6;
  const far = Math.hypot(whole[1][0] - whole[0][0], whole[1][1] - whole[0][1]) > 14 * body;
  follow.checked = far && count > 1;

  function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return [pen, width, height];
  }
  let colours;
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const name of ["ink", "soft", "line", "link", "ground", "force", "accent", "joint", "page"]) {
      colours[name] = style.getPropertyValue("--" + name).trim();
    }
  }

  function draw() {
    const [pen, width, height] = prepare(picture), at = frameAt(now);
    let [low, high] = whole;
    if (follow.checked) {
      const [first, second] = extent(at);
      const middle = [(first[0] + second[0]) / 2, (first[1] + second[1]) / 2];
      low = middle.map((value) => value - 1.5 * body);
      high = middle.map((value) => value + 1.5 * body);
    }
    const room = Math.max(high[0] - low[0], high[1] - low[1], 1e-300), edge = 0.1 * room;
    /* an arrow ends at a point of the mechanism: the longest that begins outside of it is still seen */
    const margin = arrows.checked && scene.forces.length ? LONGEST * unitLength({ width, height }) : 0;
    const fit = (pixels, length) => Math.min(pixels / (length + 2 * edge), (pixels - 2 * margin) / Math.max(length, 1e-9 * room));
    const scale = Math.min(fit(width, high[0] - low[0]), fit(height - 34, high[1] - low[1]));
    const centre = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    const onScreen = (place) => {
      const seen = flat(place);
      return [width / 2 + (seen[0] - centre[0]) * scale, (height + 24) / 2 - (seen[1] - centre[1]) * scale];
    };
    const view = { pen, width, height, scale, onScreen };
    for (const curve of scene.curves) drawCurve(view, curve);
    for (const surface of scene.surfaces) drawSurface(view, surface, at);
    pen.lineCap = "round";
    pen.lineJoin = "round";
    pen.strokeStyle = colours.link;
    pen.lineWidth = 5;
    for (const [first, second] of scene.links) {
      pen.beginPath();
      pen.moveTo(...onScreen(point(first, at)));
      pen.lineTo(...onScreen(point(second, at)));
      pen.stroke();
    }
    const linked = new Set(scene.links.flat());
    for (let index = 0; index < count; index++) {
      pen.beginPath();
      pen.arc(...onScreen(point(index, at)), linked.has(index) ? 4 : 8, 0, 2 * Math.PI);
      pen.fillStyle = linked.has(index) ? colours.joint : colours.link;
      pen.strokeStyle = colours.ink;
      pen.lineWidth = 1.2;
      pen.fill();
      pen.stroke();
    }
    drawImpacts(view, at);
    if (arrows.checked) for (const force of scene.forces) drawForce(view, force, at);
    drawModes();
    tell(at);
  }
  function line(pen, from, to) {
    pen.beginPath();
    pen.moveTo(...from);
    pen.lineTo(...to);
    pen.stroke();
  }
  function drawSurface(view, surface, at) {
    const { pen, width, height, scale, onScreen } = view, where = surface.still ? [0, 0, 0] : at;
    const foot = world(blend(surface.at, 1, 0, where)), normal = blend(surface.normal, 1, 0, where);
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 1;
    if (axes === 3) {
      drawPlane(view, foot, normal);
      return;
    }
    const size = Math.hypot(...normal) || 1, along = [normal[1] / size, -normal[0] / size];
    const down = [-normal[0] / size, -normal[1] / size];
    const reach = surface.still ? 2 * (width + height) / scale : 45 / scale;
    const screen = onScreen(foot), u = [along[0], -along[1]], d = [down[0], -down[1]];
    const to = (a, b) => [screen[0] + a * scale * u[0] + b * d[0], screen[1] + a * scale * u[1] + b * d[1]];
    pen.lineWidth = 1.6;
    if (surface.guide) {
      /* held from both sides: dashed, without the strokes of a solid */
      pen.setLineDash([9, 5]);
      line(pen, to(-reach, 0), to(reach, 0));
      pen.setLineDash([]);
      return;
    }
    line(pen, to(-reach, 0), to(reach, 0));
    pen.lineWidth = 0.8;
    /* strokes stand at fixed places of the surface, so that one sees it pass by */
    const origin = foot[0] * along[0] + foot[1] * along[1], pace = 14 / scale;
    const firstStroke = Math.ceil((origin - reach) / pace), lastStroke = Math.floor((origin + reach) / pace);
    for (let stroke = firstStroke; stroke <= lastStroke; stroke++) {
      const a = stroke * pace - origin, from = to(a, 0), end = to(a - 7 / scale, 8);
      if (from[0] > -20 && from[0] < width + 20 && from[1] > -20 && from[1] < height + 20) line(pen, from, end);
    }
  }
  function drawCurve(view, curve) {
    const { pen, onScreen } = view, count = curve.places.length / axes, screen = [];
    for (let index = 0; index < count; index++) {
      screen.push(onScreen(world(curve.places.slice(index * axes, (index + 1) * axes))));
    }
    pen.strokeStyle = colours.ground;
    pen.lineWidth = 1.6;
    if (!curve.normals) pen.setLineDash([9, 5]);
    pen.beginPath();
    screen.forEach((place, index) => (index ? pen.lineTo(...place) : pen.moveTo(...place)));
    pen.stroke();
    pen.setLineDash([]);
    if (!curve.normals) return;
    pen.lineWidth = 0.8;
    let passed = 0;
    for (let index = 1; index < count; index++) {
      const [x, y] = screen[index], [u, v] = [curve.normals[2 * index], -curve.normals[2 * index + 1]];
      passed += Math.hypot(x - screen[index - 1][0], y - screen[index - 1][1]);
      if (passed < 14) continue;
      passed = 0;
      line(pen, [x, y], [x - 8 * u + 5 * v, y - 8 * v - 5 * u]);
    }
  }
  function drawPlane(view, foot, normal) {
    const { pen, onScreen } = view, size = Math.hypot(...normal) || 1, n = normal.map((value) => value / size);
    const helper = Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const a = cross(n, helper), long = Math.hypot(...a), first = a.map((value) => value / long), second = cross(n, first);
    const middle = scene.origin.map((value, axis) => value + (scene.size / 4) * (axis < 2 ? 1 : 0));
    const offset = middle.reduce((sum, value, axis) => sum + (value - foot[axis]) * n[axis], 0);
    const centre = middle.map((value, axis) => value - offset * n[axis]);
    const step = scene.size / 6;
    pen.lineWidth = 0.7;
    for (let k = -6; k <= 6; k++) {
      for (const [one, other] of [[first, second], [second, first]]) {
        const end = (sign) => centre.map((value, axis) => value + step * (k * one[axis] + sign * 6 * other[axis]));
        line(pen, onScreen(end(-1)), onScreen(end(1)));
      }
    }
  }
  const LONGEST = 2;
  function unitLength(view) {
    return 0.09 * Math.min(view.width, view.height - 34);
  }
  function drawForce(view, force, at) {
    /* forces jump where the mode changes: that of the frame, not a blend with the next mode's */
    const { pen, onScreen } = view;
    const smooth = scene.t[at[1]] > scene.t[at[0]] ? at : [at[0], at[0], 0];
    const vector = blend(force.vector, 1, 0, smooth).map((value) => value / scene.forceSteps);
    const seen = flat(vector), size = Math.hypot(...vector);
    if (size < 0.01) return;
    const share = Math.min(1, LONGEST / size) * unitLength(view);
    const tip = onScreen(point(force.point, at)), tail = [tip[0] - seen[0] * share, tip[1] + seen[1] * share];
    arrow(pen, tail, tip);
  }
  function arrow(pen, tail, tip) {
    const run = [tip[0] - tail[0], tip[1] - tail[1]], long = Math.hypot(...run);
    if (long < 2) return;
    const u = [run[0] / long, run[1] / long], head = Math.min(10, long);
    pen.strokeStyle = pen.fillStyle = colours.force;
    pen.lineWidth = 2.4;
    line(pen, tail, [tip[0] - u[0] * head * 0.8, tip[1] - u[1] * head * 0.8]);
    pen.beginPath();
    pen.moveTo(...tip);
    pen.lineTo(tip[0] - u[0] * head - u[1] * head * 0.45, tip[1] - u[1] * head + u[0] * head * 0.45);
    pen.lineTo(tip[0] - u[0] * head + u[1] * head * 0.45, tip[1] - u[1] * head - u[0] * head * 0.45);
    pen.fill();
  }

  function drawImpacts(view, at) {
    /* an impact takes no time: a ring that is seen for a fifth of a second */
    const lasting = 0.2 * Number(speed.value);
    for (const [t, , carriers] of scene.events) {
      const age = (now - t) / lasting;
      if (age < 0 || age >= 1) continue;
      for (const place of scene.touching) {
        if (!carriers.includes(place.name)) continue;
        view.pen.strokeStyle = colours.force;
        view.pen.lineWidth = 2;
        view.pen.globalAlpha = 1 - age;
        view.pen.beginPath();
        view.pen.arc(...view.onScreen(point(place.point, at)), 8 + 12 * age, 0, 2 * Math.PI);
        view.pen.stroke();
        view.pen.globalAlpha = 1;
      }
    }
  }

  /* modes */
  const ROW = 24, LEFT = () => Math.min(110, modes.clientWidth * 0.25);
  modes.style.height = Math.max(1, scene.timeline.length) * ROW + 23 + "px";
  function labelAt(row, t) {
    let low = 0, high = row.pieces.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (row.pieces[middle][0] <= t) low = middle; else high = middle - 1;
    }
    return row.pieces.length ? row.pieces[low][2] : "";
  }
  const across = (t, width) => LEFT() + ((t - scene.start) / scene.span) * (width - LEFT() - 2);
  function drawModes() {
    const [pen, width, height] = prepare(modes);
    pen.font = "13px Helvetica Neue, Arial, Liberation Sans, sans-serif";
    pen.textBaseline = "middle";
    scene.timeline.forEach((row, index) => {
      const top = index * ROW + 1, middle = top + ROW / 2 - 1;
      pen.fillStyle = colours.ink;
      pen.textAlign = "left";
      pen.fillText(row.name, 0, middle, LEFT() - 8);
      for (const [start, end, label] of row.pieces) {
        const from = across(start, width), wide = across(end, width) - from, [fill, ink] = scene.fills[label];
        pen.fillStyle = fill;
        pen.fillRect(from, top, Math.max(wide, 0.6), ROW - 3);
        if (wide > 3) {
          pen.strokeStyle = colours.soft;
          pen.lineWidth = 0.6;
          pen.strokeRect(from, top, wide, ROW - 3);
        }
        if (pen.measureText(label).width + 8 < wide) {
          pen.fillStyle = ink;
          pen.textAlign = "center";
          pen.fillText(label, from + wide / 2, middle);
        }
      }
    });
    pen.strokeStyle = colours.soft;
    pen.lineWidth = 1;
    for (const [t] of scene.events) {
      const mark = across(t, width);
      line(pen, [mark, height - 22], [mark, height - 17]);
    }
    const x = across(now, width);
    pen.strokeStyle = colours.force;
    pen.lineWidth = 2;
    line(pen, [x, 0], [x, height - 22]);
    pen.fillStyle = colours.soft;
    pen.font = "12px Helvetica Neue, Arial, Liberation Sans, sans-serif";
    pen.textAlign = "left";
    pen.fillText("t = " + short(scene.start), LEFT(), height - 8);
    pen.textAlign = "right";
    pen.fillText(short(scene.end) + " s", width - 2, height - 8);
  }
  const short = (value) => String(Number(value.toPrecision(6)));
  const digits = scene.end > scene.start ? Math.max(0, Math.min(12, 3 - Math.floor(Math.log10(scene.span)))) : 3;
  let told = "";
  function tell() {
    const states = scene.timeline.map((row) => [row.name, labelAt(row, now)]);
    by("time").textContent = "t = " + now.toFixed(digits) + " s";
    const words = states.map(([name, label]) => name + " " + label).join(", ");
    if (words !== told) {
      told = words;
      by("state").replaceChildren(
        ...states.filter(([, label]) => label).map(([name, label]) => {
          const chip = document.createElement("span");
          chip.className = "chip";
          chip.textContent = scene.timeline.length > 1 ? name + ": " + label : label;
          if (scene.fills[label]) [chip.style.background, chip.style.color] = scene.fills[label];
          return chip;
        })
      );
    }
    scrub.value = (1000 * (now - scene.start)) / scene.span;
    scrub.setAttribute("aria-valuetext", "t = " + now.toFixed(digits) + (words ? ", " + words : ""));
    picture.setAttribute("aria-label", "The mechanism at t = " + now.toFixed(digits) + (words ? ", " + words : ""));
  }

  /* time */
  function go(t) {
    now = Math.min(scene.end, Math.max(scene.start, t));
    draw();
  }
  function setPlaying(value) {
    playing = value;
    play.textContent = playing ? "Pause" : now >= scene.end ? "Replay" : "Play";
    if (playing) {
      if (now >= scene.end) now = scene.start;
      last = performance.now();
      requestAnimationFrame(tick);
    }
  }
  function tick(stamp) {
    if (!playing) return;
    const passed = Math.max(0, stamp - last) / 1000;
    last = stamp;
    go(now + passed * Number(speed.value));
    if (now >= scene.end) setPlaying(false);
    else requestAnimationFrame(tick);
  }
  const instants = [scene.start, ...scene.events.map((event) => event[0]), scene.end];
  const least = scene.span * 1e-9;
  function jump(forward) {
    setPlaying(false);
    const found = forward ? instants.find((t) => t > now + least) : instants.findLast((t) => t < now - least);
    if (found !== undefined) go(found);
  }
  /* a motion is watched in about eight seconds, in real time where that is near */
  const ideal = scene.span / 8, power = 10 ** Math.floor(Math.log10(ideal));
  let usual = [1, 2, 5, 10].map((step) => step * power).reduce((a, b) => (Math.abs(b - ideal) < Math.abs(a - ideal) ? b : a));
  if (ideal >= 0.2 && ideal < 3) usual = 1;
  for (const factor of [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10]) {
    const option = document.createElement("option");
    option.value = usual * factor;
    option.textContent = short(Number((usual * factor).toPrecision(3))) + "×";
    option.selected = factor === 1;
    speed.append(option);
  }
  if (scene.forces.length) {
    by("scale").textContent = "an arrow of full length: " + short(LONGEST * scene.reference) + (scene.unit ? " " + scene.unit : "") + " or more";
  } else {
    arrows.closest("label").hidden = true;
  }

  play.addEventListener("click", () => setPlaying(!playing));
  by("back").addEventListener("click", () => jump(false));
  by("forth").addEventListener("click", () => jump(true));
  scrub.addEventListener("input", () => {
    if (playing) setPlaying(false);
    go(scene.start + (scrub.valueAsNumber / 1000) * scene.span);
    setPlaying(false);
  });
  for (const box of [arrows, follow]) box.addEventListener("change", draw);
  const seek = (event) => {
    const bounds = modes.getBoundingClientRect(), room = bounds.width - LEFT() - 2;
    go(scene.start + ((event.clientX - bounds.left - LEFT()) / room) * scene.span);
    setPlaying(false);
  };
  modes.addEventListener("pointerdown", (event) => {
    modes.setPointerCapture(event.pointerId);
    seek(event);
  });
  modes.addEventListener("pointermove", (event) => {
    if (event.buttons) seek(event);
  });
  const list = by("events");
  if (list) {
    list.addEventListener("click", (event) => {
      if (event.target.dataset.at === undefined) return;
      go(Number(event.target.dataset.at));
      setPlaying(false);
    });
  }
  if (axes === 3) {
    const look = (right, up) => {
      turn += right;
      tilt = Math.max(-1.5, Math.min(1.5, tilt + up));
      whole = box();
      draw();
    };
    picture.addEventListener("pointermove", (event) => {
      if (event.buttons) look(event.movementX / 150, event.movementY / 150);
    });
    picture.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
      if (!steps) return;
      event.preventDefault();
      event.stopPropagation();
      look(...steps);
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target.tagName;
    if (event.key === " " && !["BUTTON", "SELECT", "SUMMARY"].includes(on) && event.target.type !== "checkbox") {
      event.preventDefault();
      setPlaying(!playing);
    } else if (event.key === "[" || event.key === "]") {
      jump(event.key === "]");
    } else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && !["INPUT", "SELECT"].includes(on)) {
      setPlaying(false);
      go(now + ((event.key === "ArrowRight" ? 1 : -1) * scene.span) / 200);
    } else {
      return;
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    draw();
  });
  new ResizeObserver(draw).observe(picture);
  readColours();
  /* "#t=0.5" opens the page at an instant */
  const asked = Number((location.hash.match(/^#t=([-+.\deE]+)$/) || [])[1]);
  go(Number.isFinite(asked) && location.hash ? asked : scene.start);
  if (!location.hash && !still && scene.end > scene.start) setPlaying(true);
})();
