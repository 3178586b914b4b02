/** Code to put around a fragment so that its grammar can parse it. */
export type Context = readonly [before: string, behind: string];

const ANYWHERE: readonly Context[] = [
  ["", ""],
  ["", ";"],
];
const SCRIPT: readonly Context[] = [...ANYWHERE, ["(", ")"], ["class A { ", " }"], ["switch (a) { ", " }"]];
const TYPED_SCRIPT: readonly Context[] = [...SCRIPT, ["type A = ", ""], ["interface A { ", " }"]];
const IN_CLASS: readonly Context[] = [
  ["class A { void f() { ", " } }"],
  ["class A { void f() { ", "; } }"],
  ["class A { ", " }"],
];
const IN_FUNCTION: readonly Context[] = [
  ["void f() { ", " }"],
  ["void f() { ", "; }"],
];

const CONTEXTS: Readonly<Record<string, readonly Context[]>> = {
  typescript: TYPED_SCRIPT,
  tsx: TYPED_SCRIPT,
  javascript: SCRIPT,
  python: [
    ["", ""],
    ["class A:\n    ", ""],
    ["", ":\n    pass"],
  ],
  go: [
    ["package p\n", "\n"],
    ["package p\nfunc f() {\n", "\n}"],
    ["package p\ntype T struct {\n", "\n}"],
    ["package p\nvar a ", "\n"],
  ],
  rust: [...ANYWHERE, ["fn f() { ", " }"], ["fn f() { ", "; }"], ["impl A { ", " }"], ["type A = ", ";"]],
  java: [...IN_CLASS, ...ANYWHERE],
  csharp: [...ANYWHERE, ...IN_CLASS],
  c: [...IN_FUNCTION, ...ANYWHERE, ["struct a { ", " };"]],
  cpp: [...IN_FUNCTION, ...ANYWHERE, ["class A { ", " };"]],
  php: [
    ["<?php ", ""],
    ["<?php ", ";"],
    ["<?php class A { ", " }"],
  ],
  css: [
    ["", ""],
    ["a { ", " }"],
    ["a { ", "; }"],
  ],
};

export const contextsOf = (language: string): readonly Context[] => CONTEXTS[language] ?? ANYWHERE;
