// The labelling widget: shows what Python says (`shown`), and sends what somebody presses.

const PICTURE = /^(data:image\/|https?:\/\/\S+\.(png|jpe?g|gif|webp|svg)(\?\S*)?$)/i;

function make(name, text = "", className = "") {
  const element = document.createElement(name);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

function fieldOf(name, value) {
  const row = make("div", "", "mp-field");
  row.append(make("span", name, "mp-name"));
  if (PICTURE.test(String(value))) {
    const picture = make("img");
    picture.src = String(value);
    picture.alt = name;
    row.append(picture);
  } else {
    row.append(make("span", String(value), "mp-value"));
  }
  return row;
}

function button(text, press, key, kind = "") {
  const made = make("button", text, kind);
  made.type = "button";
  if (key) {
    made.append(make("kbd", key));
    made.setAttribute("aria-keyshortcuts", key);
  }
  made.addEventListener("click", press);
  return made;
}

function choices(shown, send) {
  const row = make("div", "", "mp-choices");
  const tell = (label) => send({ item: shown.item, label });
  const ownKeys = shown.classes.every((label) => label.length === 1 && !"su".includes(label));
  shown.classes.forEach((label, place) => {
    const key = ownKeys ? label : place < 9 ? String(place + 1) : "";
    row.append(button(label, () => tell(label), key));
  });
  if (shown.typed) {
    const box = make("input");
    box.placeholder = "another class, then Enter";
    box.setAttribute("aria-label", "another class");
    box.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && box.value.trim()) tell(box.value.trim());
    });
    row.append(box);
  }
  row.append(button("I cannot tell", () => tell(null), "s", "mp-quiet"));
  return row;
}

function progress(shown, send) {
  const row = make("div", "", "mp-progress");
  const count = `${shown.answered} ${shown.answered === 1 ? "answer" : "answers"}`;
  row.append(make("span", shown.to_go ? `${count} · ${shown.to_go}` : count));
  if (shown.answered) row.append(button("Undo", () => send({ undo: true }), "u", "mp-quiet"));
  return row;
}

function render({ model, el }) {
  const root = make("div", "", "mp-label");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Label items");
  const send = (message) => model.send(message);

  function draw() {
    const shown = model.get("shown");
    const focused = root.contains(document.activeElement);
    root.replaceChildren();
    if (shown.item === null) {
      const card = make("div");
      card.innerHTML = shown.card; // made by Python, which escapes every name in it
      root.append(card);
    } else {
      Object.entries(shown.fields).forEach(([name, value]) => root.append(fieldOf(name, value)));
      root.append(choices(shown, send));
    }
    if (shown.error) root.append(make("p", shown.error, "mp-error"));
    root.append(progress(shown, send));
    if (focused) root.focus();
  }

  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    const pressed = root.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
    if (!pressed) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook has shortcuts of its own
    pressed.click();
  });
  model.on("change:shown", draw);
  el.append(root);
  draw();
  return () => model.off("change:shown", draw);
}

export default { render };
