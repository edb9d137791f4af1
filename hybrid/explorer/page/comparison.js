"use strict";
/* Penalty against LCP: every method's outcome, and the compliant contact over fast time at the chosen stiffness. */
painleve.comparison = (() => {
  const { element, short, table } = painleve.numbers;

  function show(panel, found) {
    const slip = (row) => Object.entries(row.slip_after || {}).map(([name, value]) => `${name} ${Array.isArray(value) ? value.map((part) => short(part)).join(", ") : short(value)}`).join("; ");
    const gap = (row) => Object.entries(row.gap_dot_after || {}).map(([name, value]) => `${name} ${short(value)}`).join("; ");
    const rows = found.rows.map((row) => [row.method, row.stiffness ? short(row.stiffness) : "–", row.outcome, gap(row), slip(row), short(row.energy_change)]);
    const parts = [element("p", { text: `Verdict of the rigid contact: ${found.verdict}.` }), table(["method", "K", "outcome", "gap velocity after", "slip after", "energy change"], rows)];
    const contacts = [...new Set(Object.values(found.histories).flatMap((item) => Object.keys(item)))];
    for (const contact of contacts) {
      const lines = (key) => Object.entries(found.histories).filter(([, item]) => item[contact]).map(([method, item]) => ({ label: method, x: item[contact].s, y: item[contact][key] }));
      parts.push(element("div", { class: "cards" },
        painleve.curves.draw(`${contact}: normal force / √K`, "fast time s = √K t", lines("force_N")),
        painleve.curves.draw(`${contact}: penetration × √K`, "fast time s = √K t", lines("penetration"))));
    }
    for (const note of found.notes) parts.push(element("p", { class: "soft", text: note }));
    panel.replaceChildren(...parts);
  }

  return { show };
})();
