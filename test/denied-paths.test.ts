import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createOctant } from "@octant/app";
import type { AnyAction, ArgumentKind } from "@octant/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWN_TOOLS } from "../packages/app/src/tools/own-tools.ts";
import { DATA_EVERYWHERE, DATA_TEXTS } from "./denied/data-texts.ts";
import { type TextPlace, textPlacesOf } from "./denied/declared.ts";
import { inputsWith } from "./denied/inputs.ts";
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
// Some answers come from the index once it is there.
beforeAll(async () => {
  await octant.dispatch({ tool: "search", action: "index", input: {} }, { caller });
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
const TEXTS: Readonly<Record<ArgumentKind | "none", readonly unknown[]>> = {
  path: NAMES,
  tree: [...NAMES, "notes", "src", "."],
  patch: PATCHES,
  symbol: [`sym:${secret}#shared`, `sym:src/link.ts#vaulted`, `sym:src/main.ts#answer`],
  command: COMMANDS,
  input: [`cat ${SECRET.path} notes/*`],
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

/** No page is open, so a text that says where on the page would only be waited for. */
const textsFor = (act: AnyAction, { kind }: TextPlace): readonly unknown[] =>
  kind === undefined && act.input.shape["profile"] !== undefined ? [] : TEXTS[kind ?? "none"];

/** Arguments that name the hidden file, which answers may repeat. */
const echoes = new Set<string>();
const longestFirst = (a: string, b: string) => b.length - a.length;

function withoutEchoes(said: string, input: unknown): string {
  // A name that is taken for that of an action is repeated up to its dot.
  for (const [, text = ""] of JSON.stringify(input).matchAll(/"((?:[^"\\]|\\.)*)"/g))
    if (text.includes(HIDDEN.name)) echoes.add(text).add(text.replace(/\.md$/, ""));
  return [...echoes]
    .sort(longestFirst)
    .reduce(
      (rest, echo) => rest.replaceAll(echo, "").replaceAll(JSON.stringify(echo).slice(1, -1), ""),
      said,
    );
}

describe("a file that a rule denies stays out of every answer and unchanged", () => {
  const before = project.denied();
  test.each(actions.filter(({ tool, name }) => tool !== "ui" || name !== "navigate"))(
    "$label",
    async ({ tool, name, act }) => {
      const inputs = inputsWith(act, (place) => textsFor(act, place));
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

test("every text that an action takes is declared by kind, or known to be data", () => {
  const undecided = actions.flatMap(({ label, tool, act }) => {
    const known = [...DATA_EVERYWHERE, ...(DATA_TEXTS[tool]?.split(" ") ?? [])];
    const texts = textPlacesOf(act).filter(({ kind }) => kind === undefined);
    return texts
      .map(({ path }) => path.join("."))
      .filter((place) => !known.includes(place))
      .map((place) => `${label} ${place}`);
  });
  expect(undecided).toEqual([]);
});
