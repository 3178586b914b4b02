import { expect, test } from "vitest";
import { toNotification } from "./notification.ts";

const NOTE = { title: "Octant", text: "done" };
const BY_777 = "\x1b]777;notify;Octant;done\x07";
const BY_9 = "\x1b]9;Octant: done\x07";

test.each([
  ["Ghostty", { TERM_PROGRAM: "ghostty" }, BY_777],
  ["WezTerm", { TERM_PROGRAM: "WezTerm" }, BY_777],
  ["kitty", { TERM: "xterm-kitty" }, BY_777],
  ["foot", { TERM: "foot-extra" }, BY_777],
  ["iTerm2", { TERM_PROGRAM: "iTerm.app" }, BY_9],
  ["iTerm2 over ssh", { LC_TERMINAL: "iTerm2" }, BY_9],
  ["Warp", { TERM_PROGRAM: "WarpTerminal" }, BY_9],
  ["an unknown terminal", { TERM: "xterm-256color", TERM_PROGRAM: "Apple_Terminal" }, undefined],
])("%s gets its own sequence", (_, env, expected) => {
  expect(toNotification(NOTE, env, false)).toBe(expected);
});

test("inside tmux the sequence is wrapped, and only where tmux lets it through", () => {
  const env = { TMUX: "/tmp/tmux", TERM_PROGRAM: "tmux", KITTY_WINDOW_ID: "1" };
  expect(toNotification(NOTE, env, true)).toBe(`\x1bPtmux;\x1b${BY_777}\x1b\\`);
  expect(toNotification(NOTE, env, false)).toBeUndefined();
});

test("no text ends the sequence, adds a field or hides", () => {
  const text = "a\x07b\x1b]0;x\x1b\\;c\u202ed\n";
  const sent = toNotification({ title: "Octant", text }, { TERM: "xterm-kitty" }, false) ?? "";
  expect(sent).toBe("\x1b]777;notify;Octant;a b ]0 x \\ c d\x07");
});
