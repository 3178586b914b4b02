import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOctant } from "@octant/cli";
import type { AnyAction, Holding } from "@octant/core";
import { afterAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { OWN_TOOLS } from "../packages/cli/src/own-tools.ts";
import { textPlacesOf } from "./denied/declared.ts";
import { createVaultProject, HIDDEN, holdsCanary, SECRET } from "./denied/vault-project.ts";

const caller = { id: "test", access: "admin" } as const;
const project = createVaultProject();
const rules = [{ tool_pattern: "*", mode: "deny", args: { path: [SECRET.path, "notes/nm-*.md"] } }];
mkdirSync(join(project.env["HOME"] ?? "", ".config/hanzo"), { recursive: true });
writeFileSync(
  join(project.env["HOME"] ?? "", ".config/hanzo/settings.json"),
  JSON.stringify({ permissions: rules }),
);
const bugs: unknown[] = [];
const octant = createOctant({
  projectPath: project.root,
  env: project.env,
  tools: Object.keys(OWN_TOOLS),
  onBug: (bug) => bugs.push(bug),
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

const actions = octant.registry.list().flatMap((tool) =>
  Object.entries(tool.actions).map(([name, act]) => ({
    label: `${tool.name}.${name}`,
    tool: tool.name,
    name,
    act,
  })),
);

/** What a hostile caller would put into an argument of each kind. */
const secret = SECRET.path;
/** In a spelling of its own, so that an echo of the argument can be told from a leak. */
const hidden = `notes/../${HIDDEN.path}`;
const NAMES = [secret, `file://${project.root}/${hidden}`, "src/link.ts", "twin.md"];
const PATCHES = [secret, HIDDEN.path].flatMap((path) => [
  `--- a/${path}\n+++ b/${path}\n@@ -1,2 +1,2 @@\n-wrong\n+right\n`,
  `--- a/${path}\n+++ b/${path}\n@@ -0,0 +1 @@\n+added\n`,
  `diff --git a/${path} b/stolen.txt\nsimilarity index 100%\ncopy from ${path}\ncopy to stolen.txt\n`,
  `diff --git a/${path} b/stolen.txt\nsimilarity index 100%\nrename from ${path}\nrename to stolen.txt\n`,
  `*** Begin Patch\n*** Update File: ${path}\n@@\n-wrong\n+right\n*** End Patch\n`,
  `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch\n`,
]);
const COMMANDS = [
  ["cat", secret, hidden, "src/link.ts", "twin.md"],
  `cat ${secret} notes/* src/link.ts twin.md; cp ${secret} stolen.txt; cp -r notes stolen; mv ${secret} moved.ts; mv notes n2; cat n2/*; for f in notes/*; do echo x >> $f; rm -f $f; done; grep -r CANARY . --exclude-dir=.git`,
];
const TEXTS: Readonly<Record<Holding | "none", readonly unknown[]>> = {
  path: NAMES,
  tree: [...NAMES, "notes", "src", "."],
  patch: PATCHES,
  symbol: [`sym:${secret}#shared`, `sym:src/link.ts#vaulted`, `sym:src/main.ts#answer`],
  command: COMMANDS,
  environment: [],
  host: [`file://${project.root}/${secret}`],
  address: [...NAMES, `http://workspace.localhost${project.root}/${secret}`],
  subject: NAMES,
  none: [
    secret,
    hidden,
    `HEAD:${secret}`,
    `other:${hidden}`,
    `other:${HIDDEN.path}`,
    "other",
    "HEAD",
    "CANARY",
    "shared",
    "notes/**",
  ],
};

const withValue = (input: unknown, [key, ...rest]: readonly string[], value: unknown): unknown => {
  if (key === undefined) return value;
  if (key === "*") return [withValue(Array.isArray(input) ? input[0] : undefined, rest, value)];
  const record = typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
  return { ...record, [key]: withValue(Reflect.get(record, key), rest, value) };
};

/** Each example, each argument replaced by what it could reach a denied file with, and every switch turned on. */
function inputsFor(act: AnyAction): readonly object[] {
  const isValid = (input: unknown): input is object => act.input.safeParse(input).success;
  // Without actions the shape is of any schema.
  const shape: Readonly<Record<string, z.ZodType>> = act.input.shape;
  const accepts = (name: string, value: unknown) => shape[name]?.safeParse(value).success === true;
  const switches = Object.keys(shape).filter((name) => accepts(name, true) && !accepts(name, "text"));
  const bases = [...act.examples.map(({ input }) => input), {}];
  // No page is open, so a text that says where on the page would only be waited for.
  const places = textPlacesOf(act).filter(
    ({ holds }) => holds !== undefined || shape["profile"] === undefined,
  );
  const attacks = places.flatMap(({ path, holds }) =>
    TEXTS[holds ?? "none"].map((value) => bases.map((base) => withValue(base, path, value)).find(isValid)),
  );
  const plain = [...bases, ...attacks].filter(isValid);
  const on = Object.fromEntries(switches.map((name) => [name, true]));
  const inputs =
    act.access === "read" ? plain : [...plain, ...plain.map((one) => ({ ...one, ...on })).filter(isValid)];
  return [...new Map(inputs.map((input) => [JSON.stringify(input), input])).values()];
}

/** Arguments that name the hidden file, which answers may repeat. */
const echoes = new Set<string>();

function withoutEchoes(said: string, input: unknown): string {
  for (const [, text = ""] of JSON.stringify(input).matchAll(/"((?:[^"\\]|\\.)*)"/g))
    if (text.includes(HIDDEN.name)) echoes.add(text);
  return [...echoes].reduce(
    (rest, echo) => rest.replaceAll(echo, "").replaceAll(JSON.stringify(echo).slice(1, -1), ""),
    said,
  );
}

describe("a file that a rule denies stays out of every answer and unchanged", () => {
  const before = project.denied();
  test.each(actions.filter(({ tool, name }) => tool !== "ui" || name !== "navigate"))(
    "$label",
    async ({ tool, name, act }) => {
      const inputs = inputsFor(act);
      for (const input of inputs) {
        const { envelope, attachments } = await octant.dispatch(
          { tool, action: name, input },
          { caller, timingHint: "async_short" },
        );
        const said = JSON.stringify(envelope);
        const given = JSON.stringify(input);
        const bytes = attachments.map(({ bytes }) => Buffer.from(bytes).toString()).join();
        expect.soft(holdsCanary(said + bytes), `${given} leaks ${said}`).toBe(false);
        // A command sees the names of masked files.
        if (act.input.shape["command"] === undefined)
          expect.soft(withoutEchoes(said, input), given).not.toContain(HIDDEN.name);
      }
      expect(bugs.splice(0)).toEqual([]);
      expect(project.denied(), "the denied files").toEqual(before);
      expect(project.copies(), "copies").toEqual([]);
    },
    120_000,
  );
});
