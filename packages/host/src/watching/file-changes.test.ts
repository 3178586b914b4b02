import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { createFileChanges } from "./file-changes.ts";
import { createWatcher, type WatcherOptions } from "./watcher.ts";

function openFolder(over: Partial<WatcherOptions> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-changes-")));
  const root = join(base, "root");
  for (const folder of ["src", "node_modules"]) mkdirSync(join(root, folder), { recursive: true });
  const confinement = createConfinement([root]);
  const watcher = createWatcher({ confinement, ...over });
  onTestFinished(async () => {
    await watcher.close();
    rmSync(base, { recursive: true });
  });
  const changes = createFileChanges({ confinement, watcher, lookEveryMs: 5 });
  /** Subscribes; `changed` resolves at the next change that has not been awaited yet. */
  const follow = async (name: string) => {
    let next = Promise.withResolvers<void>();
    let count = 0;
    const stop = await changes.subscribe(join(root, name), () => {
      count++;
      next.resolve();
    });
    const changed = async () => {
      await next.promise;
      next = Promise.withResolvers<void>();
    };
    return { changed, stop, count: () => count };
  };
  return {
    base,
    root,
    watcher,
    changes,
    follow,
    write: (name: string) => writeFileSync(join(root, name), name),
  };
}

test("creating, writing, moving and removing a file are reported", async () => {
  const { root, follow, write } = openFolder();
  const { changed } = await follow("src/a.ts");
  write("src/a.ts");
  await changed();
  writeFileSync(join(root, "src/a.ts"), "more");
  await changed();
  renameSync(join(root, "src/a.ts"), join(root, "src/b.ts"));
  await changed();
  renameSync(join(root, "src/b.ts"), join(root, "src/a.ts"));
  await changed();
  unlinkSync(join(root, "src/a.ts"));
  await changed();
});

test("a file changes with its folder, and appears with a new one", async () => {
  const { root, follow, write } = openFolder();
  write("src/a.ts");
  const [there, absent] = await Promise.all([follow("src/a.ts"), follow("other/a.ts")]);
  renameSync(join(root, "src"), join(root, "other"));
  await Promise.all([there.changed(), absent.changed()]);
});

test("only subscribed files are reported, and only until unsubscribed", async () => {
  const { follow, write } = openFolder();
  const [left, fence] = await Promise.all([follow("src/a.ts"), follow("src/fence.ts")]);
  left.stop();
  for (const name of ["src/a.ts", "src/other.ts", "src/fence.ts"]) write(name);
  await fence.changed();
  expect(left.count()).toBe(0);
});

test("a link is reported when its target changes", async () => {
  const { root, follow, write } = openFolder();
  write("src/real.ts");
  symlinkSync("src", join(root, "linked"));
  symlinkSync("src/real.ts", join(root, "link.ts"));
  const [byFile, byFolder, future] = await Promise.all(
    ["link.ts", "linked/real.ts", "linked/new.ts"].map(follow),
  );
  writeFileSync(join(root, "src/real.ts"), "more");
  await Promise.all([byFile?.changed(), byFolder?.changed()]);
  write("src/new.ts");
  await future?.changed();
});

test("a path outside cannot be followed, whether it exists or not", async () => {
  const { base, root, changes } = openFolder();
  writeFileSync(join(base, "secret"), "");
  symlinkSync(base, join(root, "out"));
  for (const name of ["out/secret", "out/absent", "out/absent/deeper"])
    await expect(changes.subscribe(join(root, name), () => {})).rejects.toMatchObject({
      code: "OUTSIDE_WORKSPACE",
    });
});

test("files without system events are polled", async () => {
  const { follow, write } = openFolder();
  const generated = await follow("node_modules/a.js");
  write("node_modules/a.js");
  await generated.changed();
  const blind = openFolder({ subscribe: () => Promise.reject(new Error("no space")) });
  const { changed } = await blind.follow("src/a.ts");
  blind.write("src/a.ts");
  await changed();
});

test("an unknown change makes every file be checked", async () => {
  let send: Parameters<NonNullable<WatcherOptions["subscribe"]>>[1] = () => {};
  const { follow, write } = openFolder({
    subscribe: async (_root, receive) => {
      send = receive;
      return { unsubscribe: async () => {} };
    },
  });
  const [changed, same] = await Promise.all([follow("src/a.ts"), follow("src/b.ts")]);
  write("src/a.ts");
  send(new Error("events were lost"), []);
  await changed.changed();
  expect(same.count()).toBe(0);
});

test("nothing is watched before the first subscription, nor after the last has ended", async () => {
  const { watcher, follow, write } = openFolder();
  expect(watcher.status().kind).toBe("idle");
  const [one, other] = await Promise.all([follow("src/a.ts"), follow("src/b.ts")]);
  expect(watcher.status().kind).toBe("events");
  one.stop();
  expect(watcher.status().kind).toBe("events");
  other.stop();
  expect(watcher.status().kind).toBe("idle");
  const again = await follow("src/a.ts");
  write("src/a.ts");
  await again.changed();
});
