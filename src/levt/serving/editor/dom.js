// Elements, made of text only: nothing that comes from a person or a server is ever read as HTML.

export const byId = (id) => document.getElementById(id);

/** An element with properties, `data-` and `aria-` attributes, listeners (onclick …), and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "popover") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A probability as a reader sees it. */
export function percent(p) {
  if (p < 0.001) return "< 0.1 %";
  if (p > 0.99 && p < 0.9995) return "> 99 %";
  return `${p < 0.1 ? (100 * p).toFixed(1) : Math.round(100 * p)} %`;
}

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Switch a button off or on. One that has the focus keeps it: whoever has no mouse would be sent to the top of the page. */
export function switchOff(button, off) {
  const held = off && document.activeElement === button;
  button.disabled = off && !held;
  if (!held) return button.removeAttribute("aria-disabled");
  if (isOff(button)) return;
  button.setAttribute("aria-disabled", "true");
  button.addEventListener("blur", () => isOff(button) && switchOff(button, true), { once: true });
}

/** Whether a button is switched off. */
export const isOff = (button) => button.disabled || button.hasAttribute("aria-disabled");
