import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
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
put(
  "config/hanzo/settings.json",
  JSON.stringify({ permissions: [{ tool_pattern: "*", mode: "deny", args: { path: "src/denied.ts" } }] }),
);
const octant = createOctant({
  roots: [join(base, "project")],
  env: {
    PATH: process.env["PATH"],
    HOME: join(base, "home"),
    XDG_CONFIG_HOME: join(base, "config"),
    XDG_STATE_HOME: join(base, "state"),
  },
  tools: ["search", "code", "job"],
});
afterAll(async () => {
  await octant.close();
  rmSync(base, { recursive: true });
});
// biome-ignore lint/suspicious/noExplicitAny: the envelope of any action.
const call = async (tool: string, action: string, input: object): Promise<any> =>
  (await octant.dispatch({ tool, action, input }, { caller: LOCAL_CALLER })).envelope;

test("files with secrets and files denied to every search are neither shown nor indexed", async () => {
  for (const isIndexed of [false, true]) {
    if (isIndexed) {
      const { job_id } = (await call("search", "index", {})).data;
      if (job_id) await call("job", "poll", { job_id });
    }
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
  const index = files.map((file) => readFileSync(file, "latin1")).join("");
  expect(index).toContain("openword");
  const words = ["envword", "rsaword", "credword", "deniedword"];
  expect(words.filter((word) => index.includes(word))).toEqual([]);
});
