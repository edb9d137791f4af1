"use strict";
/* The mechanism in its posture: links, surfaces, forces of one branch; points that can be dragged or moved by keys. */
painleve.drawing = (() => {
  const { shape, short } = painleve.numbers;
  const WIDTH = 640, HEIGHT = 480, EDGE = 105, ARROW = 80;
  let onDrag = () => {};

  const flat = (place) => (place.length === 2 ? place : [0.8 * place[0] + 0.6 * place[1], 0.94 * place[2] - 0.2 * place[0] + 0.27 * place[1]]);

  function fitted(frames) {
    const places = frames.flat().map(flat);
    const low = [0, 1].map((axis) => Math.min(...places.map((place) => place[axis])));
    const high = [0, 1].map((axis) => Math.max(...places.map((place) => place[axis])));
    const room = Math.max(high[0] - low[0], high[1] - low[1]) || 1;
    const scale = Math.min((WIDTH - 2 * EDGE) / Math.max(high[0] - low[0], 0.25 * room), (HEIGHT - 2 * EDGE) / Math.max(high[1] - low[1], 0.25 * room));
    const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    return { scale, middle };
  }
  function on(view, place) {
    const [x, y] = flat(place);
    return [WIDTH / 2 + (x - view.middle[0]) * view.scale, HEIGHT / 2 - (y - view.middle[1]) * view.scale];
  }

  function surface(view, item) {
    const group = shape("g", { stroke: "var(--ground)", "stroke-width": 1.6, fill: "none" });
    const [x, y] = on(view, item.at);
    const n = flat(item.normal), long = Math.hypot(...n) || 1, along = [n[1] / long, n[0] / long];
    const reach = WIDTH;
    const to = (a, b) => [x + a * along[0] - (b * n[0]) / long, y + a * along[1] + (b * n[1]) / long];
    const line = (from, end, width) => group.append(shape("line", { x1: from[0], y1: from[1], x2: end[0], y2: end[1], "stroke-width": width }));
    line(to(-reach, 0), to(reach, 0), 1.6);
    if (item.guide) {
      group.setAttribute("stroke-dasharray", "9 5");
      return group;
    }
    for (let a = -reach; a <= reach; a += 16) line(to(a, 0), to(a - 7, 9), 0.8);
    return group;
  }

  function arrow(tail, tip, colour, label) {
    const run = [tip[0] - tail[0], tip[1] - tail[1]], long = Math.hypot(...run);
    const group = shape("g", { stroke: colour, fill: colour });
    if (long < 3) return group;
    const u = [run[0] / long, run[1] / long], head = Math.min(11, long);
    const base = [tip[0] - u[0] * head, tip[1] - u[1] * head];
    group.append(shape("line", { x1: tail[0], y1: tail[1], x2: base[0], y2: base[1], "stroke-width": 2.6 }));
    group.append(shape("polygon", { points: [tip, [base[0] - u[1] * 5, base[1] + u[0] * 5], [base[0] + u[1] * 5, base[1] - u[0] * 5]].map((p) => p.join(",")).join(" ") }));
    if (label) group.append(shape("text", { x: tail[0] - 14 * u[0] + 4, y: tail[1] - 14 * u[1] + 4, stroke: "none", "text-anchor": u[0] > 0.3 ? "end" : "start" }, label));
    return group;
  }

  /* svg, drawing of a state, number of the branch whose forces are shown, unit of forces, names of the branches */
  function show(svg, drawing, branch, unit, branches) {
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.point : null;
    svg.replaceChildren();
    if (!drawing) {
      svg.append(shape("text", { x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle" }, "The declaration has no [drawing], or it has no place here."));
      return "";
    }
    const view = fitted([Object.values(drawing.points)]);
    for (const item of drawing.surfaces) if (item.at.length === 2) svg.append(surface(view, item));
    for (const [first, second] of drawing.links) {
      const [x1, y1] = on(view, drawing.points[first]), [x2, y2] = on(view, drawing.points[second]);
      svg.append(shape("line", { x1, y1, x2, y2, stroke: "var(--link)", "stroke-width": 6, "stroke-linecap": "round" }));
    }
    const forces = drawing.forces[branch] || [];
    const largest = Math.max(0, ...forces.map((force) => Math.hypot(...force.vector)));
    for (const force of forces) {
      const tip = on(view, drawing.points[force.point]), seen = flat(force.vector), share = ARROW / largest;
      svg.append(arrow([tip[0] - seen[0] * share, tip[1] + seen[1] * share], tip, "var(--force)", short(Math.hypot(...force.vector), 3) + (unit ? " " + unit : "")));
    }
    for (const [name, place] of Object.entries(drawing.points)) svg.append(handle(view, drawing, name, place));
    if (focused) [...svg.querySelectorAll(".handle")].find((item) => item.dataset.point === focused)?.focus();
    if (!branches.length) return "";
    if (!forces.length) return `${branches[branch]}: no contact force.${branches.length > 1 ? " Other branches are below." : ""}`;
    return branches.length > 1 ? `Arrows: contact forces of the branch ${branches[branch]}.` : "Arrows: contact forces.";
  }

  /* the side of a point that its links leave most room on */
  function side(view, drawing, name) {
    const [x, y] = on(view, drawing.points[name]);
    const taken = drawing.links.filter((link) => link.includes(name)).map((link) => {
      const [a, b] = on(view, drawing.points[link[0] === name ? link[1] : link[0]]);
      return Math.atan2(b - y, a - x);
    });
    /* below a point is the ground, and the tails of its forces */
    const room = (angle) => Math.min(...taken.map((other) => Math.abs(Math.atan2(Math.sin(angle - other), Math.cos(angle - other)))), 1.6) - 0.3 * Math.max(0, Math.sin(angle));
    return [-0.7, 0, -2.4, Math.PI, 0.7, 2.4].reduce((best, angle) => (room(angle) > room(best) + 0.05 ? angle : best));
  }

  function handle(view, drawing, name, place) {
    const [cx, cy] = on(view, place);
    const moves = Object.fromEntries(Object.entries(drawing.moves || {}).map(([pin, rates]) => [pin, flat(rates[name])]));
    const canMove = place.length === 2 && Object.values(moves).some((rate) => Math.hypot(...rate) > 1e-9);
    const group = shape("g", canMove ? { class: "handle", tabindex: 0, role: "button", "aria-label": `point ${name}: drag, or arrow keys` } : {});
    group.dataset.point = name;
    group.append(shape("circle", { cx, cy, r: 14, fill: "transparent" }));
    group.append(shape("circle", { cx, cy, r: 5.5, fill: "var(--joint)", stroke: "var(--ink)", "stroke-width": 1.6 }));
    const at = side(view, drawing, name);
    const text = shape("text", { x: cx + 13 * Math.cos(at), y: cy + 13 * Math.sin(at) + 6, "text-anchor": Math.cos(at) < -0.1 ? "end" : "start", stroke: "var(--page)", "stroke-width": 5, "paint-order": "stroke" }, name);
    group.append(text);
    if (!canMove) return group;
    const move = (dx, dy) => onDrag(change(moves, [dx / view.scale, -dy / view.scale]));
    group.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      group.focus();
      const svg = group.ownerSVGElement, box = svg.getBoundingClientRect(), factor = WIDTH / box.width;
      let last = [event.clientX, event.clientY];
      const follow = (now) => {
        move((now.clientX - last[0]) * factor, (now.clientY - last[1]) * factor);
        last = [now.clientX, now.clientY];
      };
      const end = () => {
        window.removeEventListener("pointermove", follow);
        window.removeEventListener("pointerup", end);
        window.removeEventListener("pointercancel", end);
        onDrag(null);
      };
      window.addEventListener("pointermove", follow);
      window.addEventListener("pointerup", end);
      window.addEventListener("pointercancel", end);
    });
    group.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] }[event.key];
      if (!step) return;
      event.preventDefault();
      move(...step);
      onDrag(null);
    });
    return group;
  }

  /* The smallest change of pins that moves a point by d: (J^T J) with a little of the unit matrix, by conjugate steps. */
  function change(moves, d) {
    const names = Object.keys(moves), J = names.map((name) => moves[name]);
    const G = [[1e-12, 0], [0, 1e-12]];
    for (const [a, b] of J) { G[0][0] += a * a; G[0][1] += a * b; G[1][0] += a * b; G[1][1] += b * b; }
    const soft = 1e-3 * (G[0][0] + G[1][1]);
    G[0][0] += soft; G[1][1] += soft;
    const det = G[0][0] * G[1][1] - G[0][1] * G[1][0];
    const w = [(G[1][1] * d[0] - G[0][1] * d[1]) / det, (G[0][0] * d[1] - G[1][0] * d[0]) / det];
    return Object.fromEntries(names.map((name, index) => [name, J[index][0] * w[0] + J[index][1] * w[1]]));
  }

  return { show, surface, arrow, fitted, on, flat, WIDTH, HEIGHT, listen: (heard) => { onDrag = heard; } };
})();
