import fc from "fast-check";
import { expect, test } from "vitest";
import { createStateSeal } from "./request-state.ts";

const call = { caller: "me", subject: "fs", args: { action: "rm", uri: "a" } };
const answers = [{ action: "accept", content: { answer: "once" } }] as const;
const secret = Buffer.from("a secret of the server");

test("a state can be opened for the same call", () => {
  const seal = createStateSeal(secret);
  expect(seal.open(seal.seal({ ...call, answers }), call)).toEqual(answers);
});

test("a state of another call, another caller or another server is refused", () => {
  const seal = createStateSeal(secret);
  const state = seal.seal({ ...call, answers: [] });
  expect(seal.open(state, { ...call, args: { action: "rm", uri: "b" } })).toBeUndefined();
  expect(seal.open(state, { ...call, caller: "you" })).toBeUndefined();
  expect(seal.open(state, { ...call, subject: "proc" })).toBeUndefined();
  expect(createStateSeal(Buffer.from("other")).open(state, call)).toBeUndefined();
});

test("a state expires", () => {
  let now = 0;
  const seal = createStateSeal(secret, () => now);
  const state = seal.seal({ ...call, answers: [] });
  now = 10 * 60_000 + 1;
  expect(seal.open(state, call)).toBeUndefined();
});

test("any change to a state invalidates it", () => {
  const seal = createStateSeal(secret);
  const state = seal.seal({ ...call, answers });
  fc.assert(
    fc.property(fc.nat(state.length - 1), fc.constantFrom(..."abcABC019_-.{\u0000é"), (at, letter) => {
      fc.pre(state[at] !== letter);
      const changed = state.slice(0, at) + letter + state.slice(at + 1);
      expect(seal.open(changed, call)).toBeUndefined();
    }),
  );
  for (const value of [undefined, null, 5, {}, "", ".", "a.b.c"])
    expect(seal.open(value, call)).toBeUndefined();
});
