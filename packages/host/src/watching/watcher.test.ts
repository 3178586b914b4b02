import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { createWatcher, type Watcher, type WatcherOptions } from "./watcher.ts";

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function watchFolder(options: Partial<WatcherOptions> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-watch-")));
  for (const folder of ["src", "node_modules/x", ".git"]) mkdirSync(join(root, folder), { recursive: true });
  const watcher = createWatcher({ confinement: { roots: [root] }, ...options });
  opened.push(() => rmSync(root, { recursive: true }), watcher.close);
  const seen = collect(watcher);
  await watcher.ready();
  return { root, watcher, ...seen };
}

/** Collects all reported paths, with a wait for one of them. */
function collect(watcher: Watcher) {
  const reported = new Set<string | null>();
  let look = () => {};
  const stop = watcher.onChange((paths) => {
    for (const path of paths ?? [null]) reported.add(path);
    look();
  });
  const until = (isThere: (told: ReadonlySet<string | null>) => boolean) =>
    new Promise<void>((resolve) => {
      look = () => isThere(reported) && resolve();
      look();
    });
  return { told: reported, until, stop };
}

test("a file that is written, moved or removed is reported", async () => {
  const { root, until } = await watchFolder();
  writeFileSync(join(root, "src/a.ts"), "1");
  await until((told) => told.has(join(root, "src/a.ts")));
  renameSync(join(root, "src/a.ts"), join(root, "src/b.ts"));
  await until((told) => told.has(join(root, "src/b.ts")));
  rmSync(join(root, "src/b.ts"));
  await until((told) => told.has(join(root, "src/b.ts")));
});

test.runIf(process.platform === "linux")("no program of PATH is asked to watch", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-watch-")));
  opened.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "watchman"), `#!/bin/sh\necho started > ${folder}/started\n`, { mode: 0o755 });
  const script = `import { createWatcher } from ${JSON.stringify(join(import.meta.dirname, "watcher.ts"))};
    const watcher = createWatcher({ confinement: { roots: [${JSON.stringify(folder)}] } });
    watcher.onChange(() => {});
    await watcher.ready();
    console.log(watcher.status().kind);
    await watcher.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    env: { PATH: folder },
  });
  expect(stdout).toBe("events\n");
  expect(existsSync(join(folder, "started"))).toBe(false);
});

test("generated and ignored folders are left out", async () => {
  const { root, told, until } = await watchFolder();
  for (const file of ["node_modules/x/a.js", ".git/index", "src/a.ts"]) writeFileSync(join(root, file), "1");
  mkdirSync(join(root, "src/node_modules"));
  writeFileSync(join(root, "src/node_modules/a.js"), "1");
  writeFileSync(join(root, "src/last.ts"), "1");
  await until((paths) => paths.has(join(root, "src/last.ts")));
  expect([...told].filter((path) => /node_modules|\.git/.test(path ?? ""))).toEqual([]);
});

test("the initial contents of a new folder are reported", async () => {
  const { root, until } = await watchFolder();
  mkdirSync(join(root, "staged/deep"), { recursive: true });
  for (let n = 0; n < 20; n++) writeFileSync(join(root, `staged/deep/${n}.ts`), "1");
  await until((told) =>
    Array.from({ length: 20 }, (_, n) => n).every((n) => told.has(join(root, `staged/deep/${n}.ts`))),
  );
});

test("1,000 externally edited files are all reported", async () => {
  const { root, until, told } = await watchFolder();
  const files = Array.from({ length: 1_000 }, (_, n) => join(root, `src/${n}.ts`));
  for (const file of files) writeFileSync(file, "1");
  await until(() => files.every((file) => told.has(file)));
});

test("too many changes are reported as unknown", async () => {
  let send: Parameters<NonNullable<WatcherOptions["subscribe"]>>[1] = () => {};
  const { until } = await watchFolder({
    subscribe: async (_root, receive) => {
      send = receive;
      return { unsubscribe: async () => {} };
    },
  });
  send(
    null,
    Array.from({ length: 20_000 }, (_, n) => ({ path: `/x/${n}`, type: "update" as const })),
  );
  await until((told) => told.has(null));
});

test("where nothing can be watched, that is reported, and a poll makes every listener check everything", async () => {
  const warnings: string[] = [];
  const { watcher, told } = await watchFolder({
    subscribe: () => Promise.reject(new Error("No space left on device")),
    warn: (message) => warnings.push(message),
  });
  expect(watcher.status()).toMatchObject({
    kind: "polling",
    detail: expect.stringContaining("No space left"),
  });
  expect(warnings).toHaveLength(1);
  expect(told.size).toBe(0);
  watcher.poll();
  expect(told).toEqual(new Set([null]));
});

test("nothing is reported after the watcher was closed or the listener was removed", async () => {
  const { root, watcher, told, stop } = await watchFolder();
  const other = collect(watcher);
  stop();
  writeFileSync(join(root, "src/a.ts"), "1");
  await other.until((paths) => paths.has(join(root, "src/a.ts")));
  expect(told.size).toBe(0);
  await watcher.close();
  await watcher.close();
});
