"use strict";
/* What is said of a state: the verdict, its branches with forces, its certificate, the critical friction. */
painleve.verdict = (() => {
  const { element, short, table } = painleve.numbers;
  const label = (mode) => Object.entries(mode).map(([name, what]) => (Object.keys(mode).length > 1 ? `${name}: ${what}` : what)).join(", ");

  function say(box, state) {
    box.dataset.verdict = state.verdict || "";
    if (!state.verdict) {
      box.replaceChildren(element("strong", { text: "No verdict" }), state.refusal);
      return;
    }
    const modes = state.branches.map((branch) => label(branch.mode));
    const words = modes.length ? `${state.sentence}: ${modes.join("  |  ")}` : state.sentence;
    box.replaceChildren(element("strong", { text: state.verdict }), element("span", { text: words }));
  }

  const scalar = (value) => (Array.isArray(value) ? "(" + value.map((part) => short(part)).join(", ") + ")" : short(value));
  const measured = (value, unit) => scalar(value) + (unit && value !== null && value !== undefined ? ` ${unit}` : "");

  function branches(panel, state, chosen, choose, critical, units) {
    const cards = state.branches ? state.branches.map((branch, index) => card(branch, index, chosen, choose, units)) : [];
    const parts = [element("div", { class: "cards" }, ...cards)];
    if (state.certificate) parts.push(certificate(state.certificate));
    if (state.contact && Object.keys(state.contact).length) parts.push(sliding(state.contact));
    parts.push(critical);
    const numbers = [];
    if (state.margin !== null && state.margin !== undefined) numbers.push(`Margin to the next change of verdict: ${short(state.margin)}.`);
    if (state.decided_by) numbers.push(`Decided by ${state.decided_by}.`);
    if (state.crosscheck) numbers.push(state.crosscheck);
    for (const note of state.notes || []) numbers.push(`Note: ${note}.`);
    if (numbers.length) parts.push(element("p", { class: "soft", text: numbers.join(" ") }));
    panel.replaceChildren(...parts);
  }

  function card(branch, index, chosen, choose, units) {
    const button = element("button", { type: "button", "aria-pressed": String(index === chosen), text: label(branch.mode) });
    button.addEventListener("click", () => choose(index));
    const names = Object.keys({ ...branch.lambda_N, ...branch.lambda_T });
    const forces = names.map((name) => [name, measured(branch.lambda_N[name], units.forces?.[name]), measured(branch.lambda_T[name], units.tangential_forces?.[name])]);
    /* what is rounding beside the others is nothing */
    const largest = Math.max(...Object.values(branch.acceleration).map(Math.abs));
    const rates = Object.entries(branch.acceleration).map(([name, value]) => [name, measured(Math.abs(value) < 1e-12 * largest ? 0 : value, units.accelerations?.[name])]);
    return element("div", { class: "card" }, element("h2", {}, button), table(["contact", "normal force", "tangential force"], forces), table(["coordinate", "acceleration"], rates));
  }

  function certificate(found) {
    const part = element("div", { id: "certificate" }, element("h2", { text: "Certificate: why there is no consistent mode" }));
    const rows = found.violations.map((item) => [label(item.mode), `${item.contact}: ${item.inequality}`, short(item.value)]);
    part.append(element("p", { text: found.verified ? "Verified in exact arithmetic." : "Not verified." }));
    part.append(table(["mode", "inequality that it breaks", "value"], rows));
    if (found.farkas) part.append(element("p", { class: "soft", text: "A Farkas vector refutes all modes at once: " + JSON.stringify(found.farkas).slice(0, 400) }));
    const kind = found.refutation && found.refutation.kind;
    if (kind) part.append(element("p", { class: "soft", text: `Refutation: ${kind}.` }));
    return part;
  }

  function sliding(contacts) {
    const rows = Object.entries(contacts).map(([name, item]) => [name, short(item["A_slide+"]), short(item["A_slide-"]), short(item.b), short(item.critical_friction)]);
    return element("div", {}, element("h2", { text: "Normal acceleration a_N = A λ_N + b while sliding" }), table(["contact", "A, slide+", "A, slide−", "b", "critical friction here"], rows));
  }

  function critical(found) {
    if (!found.length) return element("p", { class: "soft", text: "No critical friction: no closed contact with friction whose posture the map varies." });
    const rows = found.map((item) => (item.refusal ? [item.contact, item.refusal, ""] : [item.contact, short(item.minimum, 8), Object.entries(item.at || {}).map(([name, value]) => `${name} = ${short(value, 6)}`).join(", ")]));
    return element("div", {}, element("h2", { text: "Least critical friction over the posture" }), table(["contact", "friction", "at"], rows));
  }

  return { say, branches, critical, label };
})();
