import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOctant, LOCAL_CALLER } from "@octant/app";
import { afterAll, expect, test } from "vitest";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-secrets-")));
const put = (path: string, text: string) => {
  mkdirSync(join(base, path, ".."), { recursive: true });
  writeFileSync(join(base, path), text, { mode: 0o600 });
};
put("project/src/open.ts", "export const openword = 1;\n");
put("project/.env", "TOKEN=envword\n");
put("project/keys/id_rsa", "rsaword\n");
put("project/credentials.json", '{ "password": "credword" }\n');
put("project/src/denied.ts", "export const deniedword = 1;\n");
put("project/src/later.ts", "export function laterword() {\n  return 1;\n}\n");
put("project/src/moved.ts", "export function movedword() {\n  return 1;\n}\n");
const deny = (...paths: string[]) =>
  put(
    "config/hanzo/settings.json",
    JSON.stringify({
      permissions: paths.map((path) => ({ tool_pattern: "*", mode: "deny", args: { path } })),
    }),
  );
deny("src/denied.ts");
const open = () =>
  createOctant({
    roots: [join(base, "project")],
    env: {
      PATH: process.env["PATH"],
      HOME: join(base, "home"),
      XDG_CONFIG_HOME: join(base, "config"),
      XDG_STATE_HOME: join(base, "state"),
    },
    tools: ["search", "code", "fs", "job"],
  });
let octant = open();
afterAll(async () => {
  await octant.close();
  rmSync(base, { recursive: true });
});
// biome-ignore lint/suspicious/noExplicitAny: the envelope of any action.
const call = async (tool: string, action: string, input: object): Promise<any> =>
  (await octant.dispatch({ tool, action, input }, { caller: LOCAL_CALLER })).envelope;

const index = async () => {
  const { job_id } = (await call("search", "index", {})).data;
  if (job_id) await call("job", "poll", { job_id });
};
/** The files that Octant keeps, whichever part of it wrote them, that contain one of the words. */
const holding = (...words: string[]) =>
  globSync(join(base, "{state,home}/**/*")).filter(
    (file) => statSync(file).isFile() && words.some((word) => readFileSync(file, "latin1").includes(word)),
  );

test("files with secrets and files denied to every search are neither shown nor indexed", async () => {
  for (const isIndexed of [false, true]) {
    if (isIndexed) await index();
    for (const word of ["envword", "rsaword", "credword", "deniedword"])
      for (const query of [word, `"${word}"`, `what is ${word} for`]) {
        const { data } = await call("search", "query", { query });
        expect(JSON.stringify(data.hits)).not.toMatch(/envword|rsaword|credword|deniedword|id_rsa|\.env/);
      }
    for (const query of ["id_rsa", "*.json", "credentials.json"])
      expect((await call("search", "query", { query, modality: "file" })).data.hits).toEqual([]);
  }
  const files = globSync(join(base, "state/**/search.sqlite*"));
  expect(files.length).toBeGreaterThan(0);
  const found = files.map((file) => readFileSync(file, "latin1")).join("");
  expect(found).toContain("openword");
  const words = ["envword", "rsaword", "credword", "deniedword"];
  expect(words.filter((word) => found.includes(word))).toEqual([]);
});

test("a file that is denied later, or renamed to the name of a secret, leaves nothing", async () => {
  await index();
  for (const word of ["laterword", "movedword"]) expect(holding(word).join()).toContain("search.sqlite");
  await octant.close();
  deny("src/denied.ts", "src/later.ts");
  octant = open();
  renameSync(join(base, "project/src/moved.ts"), join(base, "project/src/.env.moved"));
  await index();
  // Before the queries, which the audit log records.
  expect(holding("laterword", "movedword")).toEqual([]);
  for (const word of ["laterword", "movedword"])
    for (const input of [{ query: word }, { query: `what is ${word} for` }])
      expect(JSON.stringify((await call("search", "query", input)).data.hits)).not.toContain(word);
});
