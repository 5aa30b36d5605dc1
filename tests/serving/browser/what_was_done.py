"""What a person really did, whatever they meant to do: the page moves on between a look and a key.

Told by the events of the page before its own code hears of them, with the sentence that was to be seen then.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

MARKER = re.compile(r"Q[a-z]{2}")
TELL = "person: "
RECORDER = r"""(() => {
  const one = (selector) => document.querySelector(selector);
  const at = () => one('#sentences').hidden ? null
    : [...document.querySelectorAll('#sentence-list button')].findIndex((button) => button.ariaCurrent === 'true');
  const tell = (what, more) => console.debug('person: ' + JSON.stringify({ what, ...more }));
  const act = (how, word, locked) => word && tell('act', { at: at(), how, word, locked });
  tell('begin', { kept: sessionStorage.getItem('levt-editor-2') });
  addEventListener('DOMContentLoaded', () => {
    const live = one('#live');
    new MutationObserver(() => tell('said', { text: live.textContent })).observe(live, { childList: true });
  });
  // A key that was meant for a word may erase in a field.
  let before = '';
  addEventListener('beforeinput', ({ target, inputType }) => {
    before = inputType.startsWith('delete') ? target.value : '';
  }, true);
  addEventListener('input', ({ target }) => {
    const field = target.matches('.typing') ? 'draft' : target.id;
    const over = /^Instead of (.*)$/.exec(target.getAttribute('aria-label'))?.[1] ?? null;
    tell('typed', { at: at(), field, text: target.value, over });
    const erased = (before.match(/Q[a-z]{2}/g) ?? []).filter((marker) => !target.value.includes(marker));
    if (erased.length) tell('left', { text: erased.join(' ') });
    // In the draft as a text, it may also take a word that was kept.
    const words = (text) => text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
    const there = new Set(words(target.value));
    for (const word of target.id === 'whole' ? words(before) : []) if (!there.has(word)) act('erased', word, false);
    before = '';
  }, true);
  addEventListener('keydown', ({ key, target, ctrlKey, altKey }) => {
    if (ctrlKey || altKey) return;
    if (key === 'Escape' && target.matches?.('.typing')) tell('left', { text: target.value });
    const said = (word) => act(key, word.textContent, word.matches('.locked'));
    if (target.matches?.('#draft .word') && ['Delete', 'Backspace', ' ', 'ArrowUp'].includes(key)) said(target);
    if (!target.matches?.('#draft .gap') || !['Delete', 'Backspace'].includes(key)) return;
    const all = [...document.querySelectorAll('#draft .word, #draft .gap')];
    for (const side of [-1, 1]) if (all[all.indexOf(target) + side]) said(all[all.indexOf(target) + side]);
  }, true);
  addEventListener('click', ({ target }) => {
    if (target.closest('#notice-close')) tell('left', { text: one('#notice-text').textContent });
    const button = target.closest('#popover .choices button:not(.edit), #popover .alternative');
    const word = button && /^“(.*)”$/s.exec(one('#popover-title').textContent)?.[1];
    const [choice, kind] = [button?.textContent, button?.className];
    if (word) act(kind === 'keep' ? choice : kind, word, choice === 'Let go');
  }, true);
})()"""


@dataclass(frozen=True)
class Typed:
    """Where a marker was typed first."""

    at: int | None
    field: str
    over: str | None


@dataclass(frozen=True)
class Act:
    """Something done to a word of a draft."""

    at: int | None
    how: str
    word: str
    locked: bool

    @property
    def keeps(self) -> bool:
        return self.how in (" ", "ArrowUp", "Keep") and not self.locked


@dataclass
class Done:
    """Everything that was done."""

    typed: dict[str, Typed] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    """What was typed and given up."""
    kept: dict[str, Any] | None = None
    """What the page had kept when it was opened last."""
    log: list[str] = field(default_factory=list)

    def hear(self, message: Any) -> None:
        if not message.text.startswith(TELL):
            return
        self.log.append(message.text.removeprefix(TELL)[:200])
        told = json.loads(message.text.removeprefix(TELL))
        what = told.pop("what")
        if what == "begin":
            self.kept = json.loads(told["kept"]) if told["kept"] else None
        elif what == "said":
            return
        elif what == "act":
            self.acts.append(Act(**told))
        elif what == "left":
            self.left.update(MARKER.findall(told["text"]))
        else:
            for marker in MARKER.findall(told.pop("text")):
                self.typed.setdefault(marker, Typed(**told))

    def touched(self, at: int | None, word: str) -> int:
        """How often something was done to a word, or something else typed over it."""
        acts = sum(act.at == at and act.word == word for act in self.acts)
        return acts + sum(typed.at == at and typed.over == word for typed in self.typed.values())

    def stays(self, marker: str) -> bool:
        """Whether nobody took away what was typed into a draft."""
        mine = self.typed[marker]
        over = [act for act in self.acts if act.at == mine.at and marker in act.word]
        over += [
            typed for typed in self.typed.values() if typed.at == mine.at and marker in (typed.over or "")
        ]
        alone = mine.over is None or self.touched(mine.at, mine.over) == 1
        return marker not in self.left and not over and alone

    @property
    def locked(self) -> list[tuple[int, str]]:
        """Words that were kept and never let go of: sentence and word."""
        return [
            (act.at, act.word)
            for act in self.acts
            if act.keeps and act.at is not None and self.touched(act.at, act.word) == 1
        ]
