import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startSession } from "./mcp-session.ts";

const MAX_RUNNING = 64;

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-limits-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A project, a home and a state folder, all empty. */
function createPlace(name: string) {
  const [root, home, state] = ["project", "home", "state"].map((part) => join(base, name, part)) as [
    string,
    string,
    string,
  ];
  for (const path of [root, home, state]) mkdirSync(path, { recursive: true });
  return {
    root,
    state,
    options: { cwd: root, env: { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: state } },
  };
}

test("at the process limit another one is OVERLOADED with a retry time; those that wait run one by one when one has ended", async () => {
  await using octant = await startSession([], createPlace("overload").options);
  const started = await Promise.all(
    Array.from({ length: MAX_RUNNING }, () => octant.exec("sleep 600", { background: true })),
  );
  const refused = await octant.exec("echo late");
  expect(refused).toMatchObject({
    ok: false,
    error: { code: "OVERLOADED", details: { retry_after_ms: expect.any(Number) } },
  });
  const waiting = Array.from({ length: 5 }, (_, n) => octant.exec(`echo ${n}`));
  await octant.call("proc", { action: "kill", proc_id: started[0]?.data?.["proc_id"] });
  const answers = await Promise.all(waiting);
  expect(answers.map(({ data, error }) => data?.["stdout"] ?? error)).toEqual(
    answers.map((_, n) => `${n}\n`),
  );
});

test("when one root of two is removed, commands run in the other", async () => {
  const { root, options } = createPlace("roots");
  const other = join(root, "../other");
  const inner = join(root, "inner");
  for (const path of [other, inner]) mkdirSync(path);
  await using octant = await startSession(["--root", root, "--root", other, "--root", inner], options);
  expect((await octant.exec("echo first")).data).toMatchObject({ stdout: "first\n" });
  for (const path of [other, inner]) rmSync(path, { recursive: true });
  expect((await octant.exec("echo here")).data).toMatchObject({ exit_code: 0, stdout: "here\n" });
  const gone = await octant.exec("echo gone", { cwd: other });
  expect(gone.error?.code).toBe("NOT_FOUND");
  rmSync(root, { recursive: true });
  const none = await octant.exec("echo none");
  expect(none.error?.code).toBe("NOT_FOUND");
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.skipIf(!canMount)(
  "a state disk that is full before the sandbox was tested is an error, not the server's end",
  async () => {
    const { state, options } = createPlace("full");
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", state]);
    try {
      await using octant = await startSession([], options);
      expect(() => writeFileSync(join(state, "ballast"), Buffer.alloc(8 << 20))).toThrow("ENOSPC");
      expect((await octant.exec("echo hi")).error?.code).toBe("NO_SPACE");
      await expect.poll(() => octant.log()).toContain("sandbox could not be tested");
      rmSync(join(state, "ballast"));
      const again = async () => (await octant.exec("echo hi")).data?.["stdout"];
      // The audit log retries the disk after a while.
      await expect.poll(again, { timeout: 20_000, interval: 200 }).toBe("hi\n");
    } finally {
      execFileSync("umount", ["-l", state]);
    }
    expect(existsSync(state)).toBe(true);
  },
  60_000,
);
