import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { toCaller } from "./scopes.ts";
import { createTokenStore } from "./tokens.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "octant-tokens-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("a token is valid until it is revoked, also for stores opened before", () => {
  const folder = createFolder();
  const [ours, theirs] = [createTokenStore({ folder }), createTokenStore({ folder })];
  const { token: first } = ours.create({ scopes: ["admin"] });
  expect(theirs.verify(first)).toBeDefined();
  const { token, id } = ours.create({ scopes: ["admin:ro"], name: "laptop" });
  expect(theirs.verify(token)).toMatchObject({ id, name: "laptop", scopes: ["admin:ro"] });
  expect(theirs.list()).toEqual(ours.list());
  expect(ours.verify(token)).toMatchObject({ id });
  expect(ours.revoke(id)).toBe(true);
  expect(ours.revoke(id)).toBe(false);
  expect(ours.verify(token)).toBeUndefined();
  expect(createTokenStore({ folder }).verify(token)).toBeUndefined();
});

test("the file contains hashes, is readable only by its owner, and no other file is left", () => {
  const folder = createFolder();
  const store = createTokenStore({ folder });
  const { token } = store.create({ scopes: ["admin"] });
  const file = join(folder, "tokens.json");
  expect(readdirSync(folder)).toEqual(["tokens.json"]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(token.slice(-20));
});

test("an expired token is refused", () => {
  const store = createTokenStore({ folder: createFolder() });
  expect(
    store.verify(store.create({ scopes: ["admin"], expires: new Date(Date.now() - 1) }).token),
  ).toBeUndefined();
  expect(
    store.verify(store.create({ scopes: ["admin"], expires: new Date(Date.now() + 60_000) }).token),
  ).toBeDefined();
});

test("invalid scopes are refused, and a damaged file is not mistaken for an empty one", () => {
  const folder = createFolder();
  const store = createTokenStore({ folder });
  for (const scope of ["root", "project:", "project:a b", "admin:rw", ""])
    expect(() => store.create({ scopes: [scope as never] })).toThrow(TypeError);
  expect(() => store.create({ scopes: [] })).toThrow(TypeError);
  writeFileSync(join(folder, "tokens.json"), '{"tokens":[{"id":1}]}');
  expect(() => createTokenStore({ folder }).list()).toThrow("damaged");
});

test("no other string is accepted as a token", () => {
  const store = createTokenStore({ folder: createFolder() });
  const { token } = store.create({ scopes: ["admin"] });
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(..."abcxyzABC019_-. é"), (at, letter) => {
      fc.pre(token[at] !== letter);
      // The right one first, so that it is cached.
      expect(store.verify(token)).toBeDefined();
      expect(store.verify(token.slice(0, at) + letter + token.slice(at + 1))).toBeUndefined();
    }),
  );
});

test("scopes grant what they say, and those of other projects nothing", () => {
  const remote = true;
  expect(toCaller("t", ["admin"], "a")).toEqual({ id: "t", access: "admin", remote });
  expect(toCaller("t", ["admin:ro"], "a")).toEqual({ id: "t", access: "read", remote });
  expect(toCaller("t", ["project:a"], "a")).toEqual({ id: "t", access: "write", project: "a", remote });
  expect(toCaller("t", ["project:a:ro"], "a")).toEqual({ id: "t", access: "read", project: "a", remote });
  expect(toCaller("t", ["project:b", "project:b:ro"], "a")).toBeUndefined();
  expect(toCaller("t", ["project:a"], undefined)).toBeUndefined();
  expect(toCaller("t", ["other"], "a")).toBeUndefined();
});

test("a token of another version is not valid, and stays in the file; a newer file is refused", () => {
  const folder = createFolder();
  const file = join(folder, "tokens.json");
  const odd = { id: "x", from: "the future" };
  writeFileSync(file, JSON.stringify({ tokens: [odd] }));
  const store = createTokenStore({ folder });
  const { token } = store.create({ scopes: ["admin"] });
  expect(store.verify(token)).toBeDefined();
  expect(store.list()).toHaveLength(1);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1, tokens: [odd, {}] });
  writeFileSync(file, '{"version": 2, "tokens": []}');
  expect(() => createTokenStore({ folder }).create({ scopes: ["admin"] })).toThrow("update Octant");
});
