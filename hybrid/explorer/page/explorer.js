"use strict";
/* The page: what is typed, moved or clicked changes the state; the state is asked about; the answers are shown. */
(() => {
  const { element, short, plain } = painleve.numbers;
  const by = (id) => document.getElementById(id);
  const { backend } = painleve;
  let state = painleve.state.fresh(), token = "", catalogue = {}, first = null;
  let declared = null, seen = null, mapped = null, motion = null, automata = new Map(), criticals = null;
  let running = null;
  const waiting = new Map();

  const text = () => (state.text !== null ? state.text : state.mechanism === first.name ? first.text : catalogue[state.mechanism]);

  /* one question at a time, of each kind the last one waits; a look goes first, and ends what is under way for the old state */
  async function ask(question, heard, label = "") {
    if (running) {
      waiting.set(question.kind, [question, heard, label]);
      if ((question.kind === "look") !== (running.kind === question.kind)) running.stop.abort();
      return;
    }
    running = { kind: question.kind, stop: new AbortController() };
    const slow = setTimeout(() => { by("working").textContent = label || "computing …"; by("stop").hidden = false; }, 400);
    try {
      await backend.ask({ text: text(), ...question }, heard, running.stop.signal);
      if (question.kind === "look" || question.kind === "declaration") trouble("");
    } catch (error) {
      if (error.name !== "AbortError" && error.kind !== "replaced") failed(question.kind, error);
    } finally {
      clearTimeout(slow);
      by("working").textContent = "";
      by("stop").hidden = true;
      running = null;
      for (const kind of ["declaration", "look", ...waiting.keys()]) {
        if (!waiting.has(kind)) continue;
        const next = waiting.get(kind);
        waiting.delete(kind);
        ask(...next);
        break;
      }
    }
  }
  function trouble(message) {
    by("trouble").textContent = message;
    by("trouble").hidden = !message;
  }
  function notice(message) {
    by("notice").textContent = message;
    by("notice").hidden = !message;
  }
  function failed(kind, error) {
    if (error.kind === "declaration") {
      painleve.editor.problems(error.problems);
      trouble(`The declaration has ${error.problems.length === 1 ? "an error" : error.problems.length + " errors"}: see the tab Declaration.`);
      return;
    }
    const panel = { comparison: "penalty-view", automaton: "panel-automaton" }[kind];
    if (!error.kind) trouble("The explorer does not answer: " + error.message);
    else if (kind === "motion") painleve.motion.clear(error.message);
    else if (panel) by(panel).replaceChildren(element("p", { text: error.message }));
    else trouble(error.message);
  }
  const basis = () => ({ pins: state.pins, parameters: state.parameters, axes: state.x && state.y ? [state.x, state.y] : [] });

  /* ---- the address */
  let lastFragment = "";
  function remember(isStep) {
    const { fragment, isWhole } = painleve.state.written(state, token);
    if (fragment === lastFragment) return;
    lastFragment = fragment;
    if (isStep) {
      history.pushState(null, "", "#" + fragment);
      notice("");
    } else history.replaceState(null, "", "#" + fragment);
    if (!isWhole) notice("The declaration is too long for an address: save the file.");
  }

  /* ---- declaration */
  function declare(isNew, isStep = true) {
    painleve.editor.set(text());
    ask({ kind: "declaration" }, (part) => {
      declared = part.declaration;
      painleve.editor.problems([]);
      criticals = null;
      motion = null;
      painleve.motion.clear("Play follows the motion from the state.");
      if (isNew || !Object.keys(state.pins).length) state.pins = { ...declared.pins };
      const known = new Set([...declared.positions, ...declared.rates, "t"]);
      state.pins = Object.fromEntries(Object.entries(state.pins).filter(([name]) => known.has(name)));
      state.parameters = Object.fromEntries(Object.entries(state.parameters).filter(([name]) => name in declared.parameters));
      by("title").textContent = declared.title || declared.name;
      document.title = declared.name + " – painleve explorer";
      sliders();
      look(isStep);
      if (!isStep) more();
    });
  }

  /* ---- looking */
  function look(isStep) {
    remember(isStep);
    by("stiffness-value").textContent = "10^" + state.stiffness;
    ask({ kind: "look", ...basis() }, (part) => {
      if (part.state) {
        seen = part.state;
        if (!seen.branches || Number(state.branch) >= seen.branches.length) state.branch = "0";
        for (const [name, at] of Object.entries(seen.snapped || {})) {
          const group = name in declared.parameters ? "parameters" : "pins";
          state[group][name] = String(Number(at.toPrecision(6)));
          moveSlider(group, name);
        }
        showState();
      }
      if ("map" in part) {
        mapped = part.map;
        if (mapped) for (const axis of mapped.axes) axis.title = axis.name + (declared && declared.units[axis.name] && declared.units[axis.name] !== "1" ? ` (${declared.units[axis.name]})` : "");
        if (mapped && mapped.complete && !state.x) [state.x, state.y] = mapped.axes.map((axis) => `${axis.name}=${axis.low}:${axis.high}`);
        painleve.map.show(mapped);
        axisMenus();
        mark();
        if (mapped && mapped.complete) remember(false);
      }
    }, "computing the map …");
    if (isStep) more();
  }
  function value(name) {
    if (seen && seen.state) {
      if (name in seen.state.q) return seen.state.q[name];
      if (name in seen.state.v) return seen.state.v[name];
    }
    if (name in state.pins) return plain(state.pins[name]);
    if (declared && name in declared.parameters) return name in state.parameters ? plain(state.parameters[name]) : declared.parameters[name].value;
    return null;
  }
  function mark() {
    painleve.map.mark(mapped ? mapped.axes.map((axis) => (axis.name in state.pins && plain(state.pins[axis.name]) !== null ? plain(state.pins[axis.name]) : value(axis.name))) : null);
  }
  function showState() {
    painleve.verdict.say(by("verdict"), seen);
    const units = declared ? Object.values(declared.units) : [];
    by("drawing-caption").textContent = painleve.drawing.show(by("drawing"), seen.drawing, Number(state.branch), units.includes("N") ? "N" : "", (seen.branches || []).map((branch) => painleve.verdict.label(branch.mode)));
    by("drawing").setAttribute("aria-label", `The mechanism in its posture; verdict ${seen.verdict || "none"}`);
    mark();
    if (state.tab === "branches") showBranches();
    if (state.tab === "automaton") showAutomaton();
  }
  function showBranches() {
    const asked = criticals ? painleve.verdict.critical(criticals) : element("p", {}, criticalButton());
    painleve.verdict.branches(by("panel-branches"), seen, Number(state.branch), (index) => { state.branch = String(index); remember(false); showState(); }, asked, declared ? declared.branch_units : {});
  }
  function criticalButton() {
    if (backend.isOffline) return "";
    const button = element("button", { type: "button", id: "critical", text: "Least critical friction over the posture" });
    button.addEventListener("click", () => ask({ kind: "critical", ...basis() }, (part) => { criticals = part.critical; showBranches(); }, "critical friction …"));
    return button;
  }
  function showAutomaton() {
    const key = text();
    if (!automata.has(key)) {
      ask({ kind: "automaton" }, (part) => { automata.set(key, part.automaton); showAutomaton(); }, "building the automaton …");
      return;
    }
    const consistent = seen && seen.branches ? seen.branches.map((branch) => (Object.keys(branch.mode).length > 1 ? Object.entries(branch.mode).map(([name, what]) => `${name}=${what}`).join(",") : Object.values(branch.mode)[0])) : [];
    painleve.automaton.show(by("panel-automaton"), automata.get(key), consistent);
  }

  /* ---- what a tab needs */
  function more() {
    motion = null;
    if (criticals) criticals = null;
    painleve.motion.clear("Play follows the motion from the state.");
    if (state.tab === "motion" && state.at && !backend.isOffline) follow();
    if (state.tab === "penalty" && !backend.isOffline) compare();
  }
  const course = () => ({ t_end: Number(state.t_end), rule: state.rule, law: state.law });
  function follow(then = () => {}) {
    painleve.motion.clear("following the motion …");
    ask({ kind: "motion", ...basis(), ...course() }, (part) => {
      motion = part.motion;
      painleve.motion.show(motion, state.at === "" ? null : Number(state.at));
      then();
    }, "following the motion …");
  }
  function compare() {
    by("penalty-view").replaceChildren(element("p", { class: "soft", text: "comparing …" }));
    ask({ kind: "comparison", ...basis(), stiffness: 10 ** Number(state.stiffness) }, (part) => painleve.comparison.show(by("penalty-view"), part.comparison), "comparing …");
  }

  /* ---- sliders */
  const range = new Map();
  function ends(name, now, isAngle) {
    if (isAngle) return [Math.min(-Math.PI, now), Math.max(Math.PI, now)];
    const size = Math.max(1, Math.abs(now));
    if (!(name in declared.parameters)) return [-2.5 * size, 2.5 * size];
    /* paradoxes of slender bodies begin at 4/3 */
    return now < 0 ? [2.5 * now, -2.5 * now] : [0, Math.max(declared.frictions.includes(name) ? 2 : 0, now === 0 ? 1 : 2.5 * now)];
  }
  function slider(name, group, now, unit, doc) {
    const key = `${state.mechanism} ${name}`;
    if (!range.has(key)) range.set(key, ends(name, now ?? 0, declared.angles.includes(name)));
    const [low, high] = range.get(key), id = `${group}-${name}`;
    const track = element("input", { type: "range", min: low, max: high, step: (high - low) / 500, value: now ?? 0, id, "aria-label": `${name}${unit && unit !== "1" ? ", " + unit : ""}` });
    const field = element("input", { type: "text", id: id + "-text", "aria-label": `${name}, value`, value: state[group][name] ?? short(now, 6).replace("−", "-"), autocomplete: "off", spellcheck: "false" });
    track.addEventListener("input", () => {
      const typed = String(Number(Number(track.value).toPrecision(6)));
      field.value = typed;
      field.removeAttribute("aria-invalid");
      set(group, name, typed, false);
    });
    track.addEventListener("change", () => set(group, name, state[group][name] ?? field.value, true));
    field.addEventListener("change", () => {
      const number = plain(field.value);
      if (number !== null) {
        if (number < Number(track.min) || number > Number(track.max)) { track.min = Math.min(number, Number(track.min)); track.max = Math.max(number, Number(track.max)); range.set(key, [Number(track.min), Number(track.max)]); }
        track.value = number;
      }
      set(group, name, field.value.trim(), true);
    });
    return element("div", { class: "slider" }, element("label", { for: id, text: name, title: [doc, unit].filter(Boolean).join(", ") || false }), track, field);
  }
  function set(group, name, typed, isStep) {
    state.at = "";
    if (group === "parameters" && plain(typed) === declared.parameters[name].value) delete state.parameters[name];
    else state[group][name] = typed;
    look(isStep);
  }
  function sliders() {
    const pins = Object.entries(state.pins).map(([name, typed]) => slider(name, "pins", plain(typed), declared.units[name], ""));
    const parameters = Object.entries(declared.parameters).map(([name, item]) => slider(name, "parameters", name in state.parameters ? plain(state.parameters[name]) : item.value, item.unit, item.doc));
    const reset = element("button", { type: "button", text: "Back to the declared values" });
    reset.addEventListener("click", () => { state.parameters = {}; state.pins = { ...declared.pins }; range.clear(); sliders(); look(true); });
    const focus = document.activeElement && document.activeElement.id;
    by("sliders").replaceChildren(
      element("fieldset", {}, element("legend", { text: "Parameters" }), ...parameters),
      element("fieldset", {}, element("legend", { text: "State, by its pins" }), ...pins),
      backend.isOffline ? "" : reset,
    );
    if (focus && by(focus)) by(focus).focus();
  }
  function moveSlider(group, name) {
    const track = by(`${group}-${name}`), field = by(`${group}-${name}-text`), typed = state[group][name];
    if (!track) return;
    const number = plain(typed);
    if (number !== null) {
      if (number < Number(track.min)) track.min = number;
      if (number > Number(track.max)) track.max = number;
      track.value = number;
    }
    field.value = typed;
  }

  /* ---- axes of the map */
  function axisMenus() {
    const names = declared ? [...Object.keys(state.pins), ...Object.keys(declared.parameters)] : [];
    mapped && mapped.axes.forEach((axis) => { if (!names.includes(axis.name)) names.unshift(axis.name); });
    ["x", "y"].forEach((key, k) => {
      const menu = by("axis-" + key), now = mapped ? mapped.axes[k].name : "";
      menu.replaceChildren(...(mapped ? [] : [element("option", { value: "", text: "choose" })]), ...names.map((name) => element("option", { value: name, text: name, selected: name === now })));
      menu.disabled = backend.isOffline;
    });
  }
  function chooseAxis() {
    const names = [by("axis-x").value, by("axis-y").value];
    if (!names[0] || !names[1]) return;
    if (names[0] === names[1]) { trouble("The axes of a map are two different quantities."); return; }
    const old = mapped ? Object.fromEntries(mapped.axes.map((axis) => [axis.name, axis])) : {};
    [state.x, state.y] = names.map((name) => {
      if (old[name]) return `${name}=${old[name].low}:${old[name].high}`;
      const [low, high] = declared.angles.includes(name) ? [0, Math.PI] : ends(name, value(name) ?? 0, false);
      return `${name}=${low}:${high}`;
    });
    look(true);
  }

  /* ---- events */
  painleve.motion.listen((now) => { state.at = String(Number(now.toPrecision(6))); remember(false); });
  painleve.map.listen((place, isDone) => {
    state.at = "";
    const before = Object.keys(state.pins).join();
    const swept = mapped.axes.map((axis, k) => [axis.name, String(Number(place[k].toPrecision(5)))]);
    if (mapped.axes.some((axis) => !(axis.name in state.pins) && !(axis.name in declared.parameters))) state.pins = { ...mapped.pins };
    for (const [name, typed] of swept) state[name in declared.parameters ? "parameters" : "pins"][name] = typed;
    if (Object.keys(state.pins).join() !== before) sliders();
    for (const [name] of swept) moveSlider(name in declared.parameters ? "parameters" : "pins", name);
    look(isDone);
  });
  painleve.drawing.listen((change) => {
    state.at = "";
    if (!change) { look(true); return; }
    for (const [name, by_] of Object.entries(change)) {
      const now = plain(state.pins[name]) ?? value(name);
      state.pins[name] = String(Number((now + by_).toPrecision(7)));
      moveSlider("pins", name);
    }
    look(false);
  });
  painleve.editor.listen((typed) => { state.text = typed; state.x = state.y = state.at = ""; remember(true); declare(false); });
  by("mechanism").addEventListener("change", () => { state = { ...painleve.state.fresh(), mechanism: by("mechanism").value, tab: state.tab }; range.clear(); declare(true); });
  for (const key of ["x", "y"]) by("axis-" + key).addEventListener("change", chooseAxis);
  by("stop").addEventListener("click", () => { waiting.clear(); if (running) running.stop.abort(); });
  by("play").addEventListener("click", () => { if (motion) painleve.motion.toggle(); else follow(); });
  by("t-end").addEventListener("change", () => { if (Number(by("t-end").value) > 0) { state.t_end = by("t-end").value; state.at = ""; remember(true); follow(); } });
  for (const name of ["rule", "law"]) by(name).addEventListener("change", () => { state[name] = by(name).value; state.at = ""; remember(true); follow(); });
  by("stiffness").addEventListener("input", () => { state.stiffness = String(Number(by("stiffness").value)); by("stiffness-value").textContent = "10^" + state.stiffness; });
  by("stiffness").addEventListener("change", () => { remember(true); compare(); });

  const tabs = [...document.querySelectorAll('[role="tab"]')].filter((tab) => !(backend.isOffline && tab.classList.contains("online")));
  function choose(tab, isStep) {
    state.tab = tab.id.slice(4);
    for (const item of tabs) {
      const isOn = item === tab;
      item.setAttribute("aria-selected", String(isOn));
      item.tabIndex = isOn ? 0 : -1;
      by(item.getAttribute("aria-controls")).hidden = !isOn;
    }
    if (isStep) remember(true);
    if (!seen) return;
    if (state.tab === "branches") showBranches();
    if (state.tab === "automaton") showAutomaton();
    if (state.tab === "penalty") compare();
  }
  for (const tab of tabs) {
    tab.addEventListener("click", () => choose(tab, true));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      choose(next, true);
    });
  }

  function theme(name) {
    document.documentElement.dataset.theme = name;
    by("theme").setAttribute("aria-pressed", String(name === "dark"));
    painleve.map.redraw();
  }
  by("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

  const told = (button, words) => { const old = button.textContent; button.textContent = words; setTimeout(() => { button.textContent = old; }, 1500); };
  by("share").addEventListener("click", async () => { remember(false); told(by("share"), (await painleve.exports.copy(location.href)) ? "Copied" : "Copy the address above"); });
  by("save-svg").addEventListener("click", () => painleve.exports.save(`${state.mechanism}.svg`, painleve.exports.picture().text, "image/svg+xml"));
  by("save-png").addEventListener("click", () => painleve.exports.png(`${state.mechanism}.png`));
  by("copy-command").addEventListener("click", async (event) => told(event.target, (await painleve.exports.copy(painleve.exports.command(state, state.tab))) ? "Copied" : "Not copied"));
  by("copy-python").addEventListener("click", async (event) => told(event.target, (await painleve.exports.copy(painleve.exports.python(state, mapped && mapped.axes))) ? "Copied" : "Not copied"));
  by("save-gif").addEventListener("click", () => {
    const film = () => painleve.exports.gif(`${state.mechanism}.gif`);
    if (motion) film();
    else follow(film);
  });
  by("save-mp4").addEventListener("click", () => ask({ kind: "film", ...basis(), ...course() }, (part) => {
    const bytes = Uint8Array.from(atob(part.film.data), (letter) => letter.charCodeAt(0));
    painleve.exports.save(`${state.mechanism}.mp4`, new Blob([bytes], { type: part.film.type }));
  }, "drawing the film …"));
  window.addEventListener("popstate", () => enter(location.hash));
  window.addEventListener("hashchange", () => { if (location.hash !== "#" + lastFragment) enter(location.hash); });

  /* ---- the beginning, and every step back */
  function enter(fragment) {
    const found = painleve.state.read(fragment);
    lastFragment = fragment.replace(/^#/, "");
    state = found.state;
    if (!state.mechanism || (!(state.mechanism in catalogue) && state.mechanism !== first.name && state.text === null)) {
      if (state.mechanism) found.ignored.push("mechanism=" + state.mechanism);
      state.mechanism = first.name;
    }
    if (found.ignored.length) notice("Not understood in the address, and left out: " + found.ignored.join(", ").slice(0, 300));
    const names = [...new Set([first.name, ...Object.keys(catalogue)])];
    by("mechanism").replaceChildren(...names.map((name) => element("option", { value: name, text: name, selected: name === state.mechanism })));
    by("t-end").value = state.t_end;
    by("rule").value = state.rule;
    by("law").value = state.law;
    by("stiffness").value = state.stiffness;
    choose(tabs.find((tab) => tab.id === "tab-" + state.tab) || tabs[0], false);
    declare(!Object.keys(state.pins).length, false);
  }
  async function start() {
    theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.documentElement.classList.toggle("offline", backend.isOffline);
    if (backend.isOffline) painleve.editor.readOnly();
    token = painleve.state.read(location.hash).token;
    try {
      ({ catalogue, first } = await backend.begin(token));
    } catch (error) {
      trouble(error.message);
      return;
    }
    enter(location.hash);
  }
  start();
})();
