"use strict";
/* The automaton as boxes and arrows, with the modes lit that are consistent at the state. */
painleve.automaton = (() => {
  const { shape, element } = painleve.numbers;

  function show(panel, found, consistent) {
    const [width, height] = found.size, [wide, high] = found.box, at = Object.fromEntries(found.nodes.map((node) => [node.key, node]));
    const svg = shape("svg", { class: "automaton", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Automaton with ${found.nodes.length} nodes; consistent here: ${consistent.join(", ") || "none"}` });
    const marks = shape("defs");
    for (const [kind, colour] of [["regular", "var(--ink)"], ["paradox", "var(--bad)"], ["jump", "var(--accent)"]]) {
      const marker = shape("marker", { id: "head-" + kind, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" });
      marker.append(shape("path", { d: "M0 0L10 5L0 10z", fill: colour }));
      marks.append(marker);
    }
    svg.append(marks);
    const pairs = new Set(found.arrows.map((arrow) => arrow.source + "\n" + arrow.target));
    for (const arrow of found.arrows) svg.append(edge(arrow, at, wide, high, pairs.has(arrow.target + "\n" + arrow.source)));
    const touched = new Set(found.arrows.flatMap((arrow) => [arrow.source, arrow.target]));
    for (const node of found.nodes) if (node.kind !== "impact" || touched.has(node.key)) svg.append(box(node, wide, high, node.members.some((key) => consistent.includes(key.split(" (")[0]))));
    panel.replaceChildren(element("div", { class: "scroll" }, svg), element("p", { class: "soft", text: "Filled: consistent at the state. Dashed red: only in a paradox. Blue: after an impact." }));
  }

  function border(from, to, wide, high) {
    const run = [to[0] - from[0], to[1] - from[1]];
    const share = Math.min(Math.abs(run[0]) > 1e-9 ? wide / 2 / Math.abs(run[0]) : Infinity, Math.abs(run[1]) > 1e-9 ? high / 2 / Math.abs(run[1]) : Infinity);
    return [from[0] + share * run[0], from[1] + share * run[1]];
  }

  function edge(arrow, at, wide, high, isPair) {
    const from = at[arrow.source].at, to = at[arrow.target].at, long = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
    const normal = [-(to[1] - from[1]) / long, (to[0] - from[0]) / long], bow = isPair ? (long > 1.5 * wide + 40 ? 0.14 * long + 12 : 0.08 * long) : long > 2.2 * wide ? 0.12 * long : 0;
    const middle = [(from[0] + to[0]) / 2 + bow * normal[0], (from[1] + to[1]) / 2 + bow * normal[1]];
    const start = border(from, middle, wide, high), end = border(to, middle, wide + 8, high + 8);
    const colour = { regular: "var(--ink)", paradox: "var(--bad)", jump: "var(--accent)" }[arrow.kind];
    const group = shape("g");
    group.append(shape("path", { d: `M${start.join(" ")}Q${middle.join(" ")} ${end.join(" ")}`, fill: "none", stroke: colour, "stroke-width": 1.4, "stroke-dasharray": arrow.kind === "paradox" ? "6 4" : "none", "marker-end": `url(#head-${arrow.kind})` }));
    if (arrow.label && arrow.kind !== "jump") {
      const place = [0.25 * start[0] + 0.5 * middle[0] + 0.25 * end[0], 0.25 * start[1] + 0.5 * middle[1] + 0.25 * end[1]];
      const text = shape("text", { x: place[0], y: place[1] + 4, "text-anchor": "middle", stroke: "var(--page)", "stroke-width": 5, "paint-order": "stroke" }, arrow.label);
      text.style.fill = colour;
      group.append(text);
    }
    return group;
  }

  function box(node, wide, high, isLit) {
    const group = shape("g", { class: isLit ? "lit" : "" }), [x, y] = node.at;
    const fill = isLit ? "#ffe08a" : "var(--wash)", ink = isLit ? "#17212b" : "var(--ink)";
    if (node.kind === "impact") group.append(shape("polygon", { points: `${x - 62},${y} ${x},${y - 30} ${x + 62},${y} ${x},${y + 30}`, fill: "var(--wash)", stroke: "var(--accent)" }));
    else group.append(shape("rect", { x: x - wide / 2, y: y - high / 2, width: wide, height: high, rx: 9, fill, stroke: ink, "stroke-width": isLit ? 2.4 : 1 }));
    const rows = node.kind === "impact" ? ["impact"] : node.rows;
    rows.forEach((row, index) => {
      const text = shape("text", { x, y: y + 5 + 16 * (index - (rows.length - 1) / 2), "text-anchor": "middle", "font-weight": 600 }, row);
      text.style.fill = node.kind === "impact" ? "var(--accent)" : ink;
      group.append(text);
    });
    return group;
  }

  return { show };
})();
