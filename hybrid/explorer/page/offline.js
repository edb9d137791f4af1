"use strict";
/* Answers of a page without a server: maps for some values of one quantity, states on a grid. */
const painleve = {};
painleve.offline = (() => {
  const nearest = (values, value) => values.reduce((best, item, k) => (Math.abs(item - value) < Math.abs(values[best] - value) ? k : best), 0);

  function answer(tables, question, heard) {
    if (question.kind === "declaration") {
      const middle = tables.axes.map((axis) => String(axis.values[Math.floor(axis.values.length / 2)]));
      const pins = Object.fromEntries(tables.axes.map((axis, k) => [axis.name, middle[k]]).filter(([name]) => name in tables.declaration.pins));
      heard({ declaration: { ...tables.declaration, pins } });
      return;
    }
    const { plain } = painleve.numbers, declared = tables.declaration.parameters;
    const given = (name) => plain(question.pins[name] ?? question.parameters[name] ?? "") ?? (declared[name] ? declared[name].value : 0);
    const index = nearest(tables.values, given(tables.slider));
    const place = tables.axes.map((axis) => nearest(axis.values, given(axis.name)));
    const found = tables.states[index][place[0] * tables.axes[1].values.length + place[1]];
    const snapped = Object.fromEntries([[tables.slider, tables.values[index]], ...tables.axes.map((axis, k) => [axis.name, axis.values[place[k]]])]);
    heard({ state: { ...(found || { verdict: null, refusal: "There is no such state.", drawing: null, state: { q: {}, v: {} } }), snapped } });
    heard({ map: tables.maps[index] });
  }

  return { answer };
})();
