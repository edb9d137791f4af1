"use strict";
/* Curves over one quantity: lines told apart by dashes as well as by colour, gaps where values are missing. */
painleve.curves = (() => {
  const { shape, short, ticks } = painleve.numbers;
  const WIDTH = 520, HEIGHT = 200, LEFT = 74, RIGHT = 12, TOP = 26, BOTTOM = 40;
  const STYLES = [["var(--first)", ""], ["var(--second)", "8 4"], ["var(--third)", "2 3"], ["var(--fourth)", "10 3 2 3"], ["var(--fifth)", "5 3"], ["var(--sixth)", "1 3"]];

  function ends(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) if (value !== null && Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    if (!(low <= high)) return [0, 1];
    const size = Math.max(Math.abs(low), Math.abs(high));
    return high - low > 1e-9 * size ? [low, high] : [low - (0.05 * size || 1), high + (0.05 * size || 1)];
  }

  /* lines: [{label, x[], y[]}] */
  function draw(title, across, lines) {
    const height = HEIGHT + 16 * Math.ceil(lines.length / 3);
    const svg = shape("svg", { class: "curves", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": title });
    const [left, right] = ends(lines.flatMap((line) => line.x)), [low, high] = ends(lines.flatMap((line) => line.y));
    const x = (value) => LEFT + ((value - left) / (right - left)) * (WIDTH - LEFT - RIGHT);
    const y = (value) => TOP + (1 - (value - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
    svg.append(shape("text", { x: LEFT, y: 15, "font-weight": 600 }, title));
    svg.append(shape("rect", { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM, fill: "none", stroke: "var(--line)" }));
    for (const value of ticks(left, right, 6)) svg.append(shape("text", { x: x(value), y: HEIGHT - 23, "text-anchor": "middle" }, short(value)));
    for (const value of ticks(low, high, 4)) {
      svg.append(shape("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value), stroke: "var(--line)", "stroke-width": 0.6 }));
      svg.append(shape("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)));
    }
    svg.append(shape("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 7, "text-anchor": "middle" }, across));
    lines.forEach((line, index) => {
      const [stroke, dash] = STYLES[index % STYLES.length];
      let path = "", isOpen = false;
      line.x.forEach((value, k) => {
        const other = line.y[k];
        if (value === null || other === null || other === undefined) { isOpen = false; return; }
        path += `${isOpen ? "L" : "M"}${x(value).toFixed(2)} ${y(other).toFixed(2)}`;
        isOpen = true;
      });
      svg.append(shape("path", { d: path, fill: "none", stroke, "stroke-width": 1.8, "stroke-dasharray": dash || "none" }));
      if (lines.length > 1 || line.label) {
        const at = [LEFT + 150 * (index % 3), HEIGHT + 9 + 16 * Math.floor(index / 3)];
        svg.append(shape("line", { x1: at[0], x2: at[0] + 26, y1: at[1] - 4, y2: at[1] - 4, stroke, "stroke-width": 2.2, "stroke-dasharray": dash || "none" }));
        svg.append(shape("text", { x: at[0] + 32, y: at[1] }, line.label));
      }
    });
    svg.append(shape("line", { class: "now", x1: LEFT, x2: LEFT, y1: TOP, y2: HEIGHT - BOTTOM, stroke: "var(--force)", "stroke-width": 1.6, visibility: "hidden" }));
    svg.setNow = (value) => {
      const mark = svg.querySelector(".now"), place = x(Math.min(right, Math.max(left, value)));
      mark.setAttribute("x1", place);
      mark.setAttribute("x2", place);
      mark.setAttribute("visibility", "visible");
    };
    return svg;
  }

  return { draw };
})();
