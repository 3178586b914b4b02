import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLock } from "./lock.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-lock-"));
  file = join(folder, "lock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that holds the lock until it is killed. */
async function holdElsewhere() {
  const script = `
    import { createLock } from ${JSON.stringify(join(import.meta.dirname, "lock.ts"))};
    await createLock(${JSON.stringify(file)}).hold(() => {
      process.stdout.write("held");
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    });`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  await once(child.stdout, "data");
  return { child, stderr: () => stderr };
}

test("work runs one at a time, in the order in which it was asked for", async () => {
  const lock = createLock(file);
  const order: string[] = [];
  await Promise.all(
    ["a", "b", "c"].map((name) =>
      lock.hold(async () => {
        order.push(`${name} in`);
        await new Promise(setImmediate);
        order.push(`${name} out`);
      }),
    ),
  );
  expect(order).toEqual(["a in", "a out", "b in", "b out", "c in", "c out"]);
  await lock.close();
});

test("two locks on one file exclude each other", async () => {
  const locks = [createLock(file), createLock(file)];
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise(setImmediate);
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 40 }, (_, i) => locks[i % 2]!.hold(work)));
  expect(most).toBe(1);
  for (const lock of locks) await lock.close();
});

test("an exception of the work propagates, and the next one still gets its turn", async () => {
  const lock = createLock(file);
  await expect(
    lock.hold(() => {
      throw new TypeError("no");
    }),
  ).rejects.toThrow(TypeError);
  expect(await lock.hold(() => "next")).toBe("next");
  await lock.close();
});

test("closing waits for the work that is under way", async () => {
  const lock = createLock(file);
  let done = false;
  const work = lock.hold(async () => {
    await new Promise(setImmediate);
    done = true;
  });
  await lock.close();
  expect(done).toBe(true);
  await work;
});

test("another process's lock is waited for, then LOCKED; it is free as soon as that process is killed", async () => {
  const { child, stderr } = await holdElsewhere();
  const impatient = createLock(file, { giveUpMs: 30 });
  await expect(impatient.hold(() => "in")).rejects.toMatchObject({ code: "LOCKED" });
  const patient = createLock(file).hold(() => "in");
  child.kill("SIGKILL");
  expect(await patient).toBe("in");
  expect(stderr()).toBe("");
});

test("waiting ends when the caller gives up", async () => {
  const { child } = await holdElsewhere();
  const caller = new AbortController();
  const waiting = createLock(file).hold(() => "in", caller.signal);
  caller.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
  child.kill("SIGKILL");
});

test("an unusable state folder is reported as such", async () => {
  const lock = createLock(join(folder, "missing", "lock"));
  await expect(lock.hold(() => "in")).rejects.toMatchObject({ code: "IO_ERROR" });
});

test("a damaged file is repaired, also while another process holds the lock", async () => {
  const damage = () =>
    writeFileSync(file, "not a database, and longer than its header of a hundred bytes\n".repeat(9));
  damage();
  const lock = createLock(file, { giveUpMs: 50 });
  expect(await lock.hold(() => "held")).toBe("held");
  const { child } = await holdElsewhere();
  damage();
  const second = createLock(file, { giveUpMs: 50 });
  await expect(second.hold(() => "both")).rejects.toMatchObject({ code: "LOCKED" });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await second.hold(() => "next")).toBe("next");
  await Promise.all([lock.close(), second.close()]);
});
