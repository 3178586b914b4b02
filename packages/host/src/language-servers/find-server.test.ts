import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { SERVERS } from "./catalog.ts";
import { type FindOptions, findServer } from "./find-server.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "octant-find-server-"));
  folders.push(folder);
  return folder;
}

/** A machine where nothing confines programs, or only the container that this process runs in. */
const noSandbox = (by?: string): FindOptions["sandbox"] => ({
  status: async () => ({ mode: "off", level: "off", detail: "", container: null, tried: [] }),
  unconfined: async () => ({ reason: "", accepted: true, by, note: undefined }),
  wrap: async ({ argv, folder, env }) => ({ argv, folder, env, launcher: false, release: () => [] }),
});

const ON_PATH = SERVERS.flatMap(({ name, language, places, runsProject = false, needs = [] }) =>
  places.flatMap((place) =>
    place.kind === "path" ? [{ name, language, program: place.program, runsProject, needs }] : [],
  ),
);

/** In a project, on a machine with this server and no other. */
async function find({ language, program, needs }: (typeof ON_PATH)[number], sandbox: FindOptions["sandbox"]) {
  const root = makeFolder();
  const machine = makeFolder();
  // One that the newest server does not understand.
  mkdirSync(join(root, "node_modules/typescript"), { recursive: true });
  writeFileSync(join(root, "node_modules/typescript/package.json"), '{ "version": "5.9.3" }');
  for (const name of [program, ...needs])
    writeFileSync(join(machine, name), "#!/bin/sh\necho 1.2.3\n", { mode: 0o755 });
  const env = { PATH: machine };
  return findServer(language, {
    root,
    roots: [root],
    env,
    bundledFrom: null,
    childEnv: env,
    configured: {},
    sandbox,
  });
}

test.each(ON_PATH.filter(({ runsProject }) => runsProject))(
  "$program runs code of the project and is not used without a sandbox",
  async (row) => {
    const reason = `${row.name} would run code of the project, which requires a sandbox`;
    expect(await find(row, noSandbox())).toMatchObject({
      kind: "missing",
      reasons: expect.arrayContaining([reason]),
    });
  },
);

test.each(ON_PATH.filter(({ runsProject }) => !runsProject))(
  "$program only reads the project and is used without a sandbox",
  async (row) => {
    expect(await find(row, noSandbox())).toMatchObject({ server: { row: { name: row.name } } });
  },
);

test.each(ON_PATH)("$program is used where a container confines it", async (row) => {
  expect(await find(row, noSandbox("a container"))).toMatchObject({ server: { row: { name: row.name } } });
});
