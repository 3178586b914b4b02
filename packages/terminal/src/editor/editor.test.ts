import { expect, test } from "vitest";
import { createEditor, editKey } from "./editor.ts";

/** Text that is typed, then keys; the last column is what bash's readline made of the same keys. */
test.each([
  ["hello world", ["Ctrl-A", "X"], "Xhello world"],
  ["hello", ["Ctrl-A", "Ctrl-E", "X"], "helloX"],
  ["hello", ["Ctrl-B", "Ctrl-B", "X"], "helXlo"],
  ["hello", ["Ctrl-A", "Ctrl-F", "X"], "hXello"],
  ["foo bar-baz qux", ["Alt-B", "Alt-B", "X"], "foo bar-Xbaz qux"],
  ["foo bar-baz qux", ["Ctrl-A", "Alt-F", "Alt-F", "X"], "foo barX-baz qux"],
  ["hello world", ["Alt-B", "Ctrl-K", "Ctrl-A", "Ctrl-Y"], "worldhello "],
  ["hello world", ["Alt-B", "Ctrl-U", "Ctrl-E", "Ctrl-Y"], "worldhello "],
  ["foo bar-baz", ["Ctrl-W", "X"], "foo X"],
  ["a b c", ["Ctrl-W", "Ctrl-W", "Ctrl-Y"], "a b c"],
  ["foo bar baz", ["Ctrl-A", "Alt-D", "Alt-D", "Ctrl-E", "Ctrl-Y"], " bazfoo bar"],
  ["foo bar-baz", ["Alt-Backspace", "X"], "foo bar-X"],
  ["a b c", ["Ctrl-W", "Ctrl-A", "Ctrl-K", "Ctrl-Y", "Alt-Y"], "c"],
  ["abc", ["Ctrl-T"], "acb"],
  ["abcd", ["Ctrl-B", "Ctrl-B", "Ctrl-T", "X"], "acbXd"],
  ["ab", ["Ctrl-A", "Ctrl-T", "X"], "Xab"],
  ["abc", ["Ctrl-A", "Ctrl-D"], "bc"],
  ["abc", ["Ctrl-H"], "ab"],
  ["foo bar", ["Ctrl-A", "Alt-U", "X"], "FOOX bar"],
  ["FOO BAR", ["Ctrl-A", "Alt-L"], "foo BAR"],
  ["foo bar", ["Ctrl-A", "Alt-C", "Alt-C"], "Foo Bar"],
  ["a🎉b", ["Ctrl-B", "Ctrl-H"], "ab"],
  ["foo bar baz", ["Ctrl-A", "Alt-F", "Alt-T", "X"], "bar fooX baz"],
  ["foo bar-baz", ["Alt-T"], "foo baz-bar"],
  ["foo bar baz", ["Ctrl-B", "Alt-T", "X"], "foo baz barX"],
  ["foo bar", ["Ctrl-A", "Alt-T", "X"], "Xfoo bar"],
  ["foo", ["Alt-T", "X"], "fooX"],
  ["a   b", ["Ctrl-B", "Ctrl-B", "Alt-\\", "X"], "aXb"],
  ["foo bar", ["Alt-B", "Ctrl-U", "Ctrl-E", "Ctrl-_", "X"], "foo Xbar"],
] as const)("in emacs mode, %s and %j", (typed, keys, expected) => {
  const end = [...typed, ...keys].reduce((state, key) => editKey(state, key).state, createEditor("emacs"));
  expect(end.input.text).toBe(expected);
});
