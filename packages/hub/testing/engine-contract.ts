import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { attempt, newHandle } from "@octant/core";
import { afterAll, expect, test } from "vitest";
import type { ContainerEngine, ContainerLimits, ContainerSpec, ExecSpec } from "../src/engines/engine.ts";
import type { TestEngine } from "./engines.ts";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in a container to its end. */
export async function runIn(engine: ContainerEngine, id: string, spec: ExecSpec, input = ""): Promise<Ran> {
  const { stdin, stdout, stderr, exited } = await engine.exec(id, spec);
  stdin.end(input);
  const [out, err, code] = await Promise.all([text(stdout), text(stderr), exited]);
  return { code, out, err };
}

/** Processes of this machine, in containers too, whose environment or arguments have the text. */
export const processesWith = (wanted: string): string[] =>
  readdirSync("/proc").filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      pid !== String(process.pid) &&
      ["environ", "cmdline"].some((file) =>
        (attempt(() => readFileSync(`/proc/${pid}/${file}`, "utf8")) ?? "").includes(wanted),
      ),
  );

const sh = (script: string): ExecSpec => ({ argv: ["sh", "-c", script] });
const GRACE_MS = 5_000;
/** 100 in `npm run torture`. */
const CYCLES = Number(process.env["ENGINE_CYCLES"] ?? 3);

/** What any engine must do. */
export async function describeEngine(opened: TestEngine): Promise<void> {
  const { enforces, detail } = await opened.engine.status();
  const lacks = (...limits: readonly (keyof ContainerLimits)[]) =>
    !limits.every((one) => enforces.includes(one));
  const label = { "octant.test": newHandle("test", Date.now()) };
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  const create = async (more: Partial<ContainerSpec> = {}): Promise<string> => {
    const work = join(opened.folder, newHandle("work", Date.now()));
    mkdirSync(work);
    const id = await opened.engine.create({
      ...{ name: newHandle("octant-test", Date.now()), env: { GREETING: "hello" }, cwd: "/work" },
      ...{ mounts: [{ source: work, target: "/work", readOnly: false }], network: "none", limits: {} },
      ...{ labels: label },
      ...more,
    });
    await opened.engine.start(id);
    return id;
  };
  const inContainer = async (work: (id: string) => Promise<void>, more?: Partial<ContainerSpec>) => {
    const id = await create(more);
    try {
      await work(id);
    } finally {
      await opened.engine.remove(id);
    }
  };
  const run = (id: string, script: string) => runIn(opened.engine, id, sh(script));
  const limited = (limits: ContainerLimits, work: (id: string) => Promise<void>) =>
    inContainer(work, { limits });

  test("a container is created, started, used, stopped, started again and removed", async () => {
    const { engine } = opened;
    const id = await create();
    expect(await engine.inspect(id)).toMatchObject({ id, state: "running", labels: label });
    expect(await engine.list(label)).toMatchObject([{ id, state: "running" }]);
    expect(await engine.list({ ...label, other: "one" })).toEqual([]);
    expect(await run(id, "echo kept > file; echo $GREETING; pwd; echo bad >&2; exit 3")).toEqual({
      code: 3,
      out: "hello\n/work\n",
      err: "bad\n",
    });
    expect(
      await runIn(engine, id, { ...sh("echo $MORE; pwd"), cwd: "/tmp", env: { MORE: "x y" } }),
    ).toMatchObject({
      out: "x y\n/tmp\n",
    });
    await engine.stop(id, GRACE_MS);
    expect(await engine.inspect(id)).toMatchObject({ state: "stopped" });
    await expect(engine.exec(id, sh("true"))).rejects.toMatchObject({ code: "CONFLICT" });
    await engine.start(id);
    await engine.start(id);
    expect(await run(id, "cat file")).toMatchObject({ out: "kept\n" });
    await engine.remove(id);
    await engine.remove(id);
    expect(await engine.inspect(id)).toBeUndefined();
    expect(await engine.list(label)).toEqual([]);
    await expect(engine.exec(id, sh("true"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("bytes pass through a command unchanged, and its input has an end", () =>
    inContainer(async (id) => {
      const all = Buffer.from(Array.from({ length: 1_000_000 }, (_, n) => (n * 7) % 256));
      const { stdin, stdout, stderr, exited } = await opened.engine.exec(id, { argv: ["cat"] });
      stderr.resume();
      stdin.end(all);
      const back = Buffer.concat(await stdout.toArray());
      expect(back.equals(all)).toBe(true);
      expect(await exited).toBe(0);
    }));

  test("the root is read-only, and a command has neither capabilities nor a way to get them", () =>
    inContainer(async (id) => {
      const { out } = await run(
        id,
        "for f in / /usr /etc /opt; do touch $f/x 2>/dev/null && echo wrote $f; done; touch /tmp/x /root/x && echo scratch; grep -E 'Cap(Prm|Eff)|NoNewPrivs' /proc/self/status; cat /proc/net/dev | tail -n +3 | cut -d: -f1",
      );
      expect(out).not.toContain("wrote");
      expect(out).toContain("scratch");
      expect(out.match(/Cap\w+:\t0{16}\n/g)).toHaveLength(2);
      expect(out).toContain("NoNewPrivs:\t1");
      expect(out.trimEnd().split("\n").at(-1)?.trim()).toBe("lo");
    }));

  test("a mount is as writable as it was asked for", async () => {
    const place = join(opened.folder, newHandle("given", Date.now()));
    mkdirSync(place);
    writeFileSync(join(place, "given"), "given\n");
    const mounts = [{ source: place, target: "/given", readOnly: true }];
    await inContainer(
      async (id) => {
        expect(await run(id, "cat /given/given; echo no > /given/made")).toMatchObject({ out: "given\n" });
        expect(existsSync(join(place, "made"))).toBe(false);
      },
      { mounts, cwd: "/" },
    );
  });

  test("the commands of a container share its network, and no other container does", async () => {
    const listen = `perl -MIO::Socket::INET -e '$|=1; my $s = IO::Socket::INET->new(Listen=>1, LocalAddr=>"127.0.0.1:8080") or die; print "ready\\n"; sleep 300'`;
    const look = `perl -MIO::Socket::INET -e 'print IO::Socket::INET->new("127.0.0.1:8080") ? "open" : "closed"'`;
    await inContainer(async (id) => {
      const listening = await opened.engine.exec(id, sh(listen));
      await listening.stdout.take(1).toArray();
      expect(await run(id, look)).toMatchObject({ out: "open" });
      await inContainer(async (other) => expect(await run(other, look)).toMatchObject({ out: "closed" }));
      await listening.kill();
    });
  });

  test.skipIf(lacks("memory_mb"))(
    "a command that needs more memory than its container has is killed, and that is counted",
    () =>
      limited({ memory_mb: 64 }, async (id) => {
        expect(await opened.engine.hits(id)).toEqual({ memory: 0, pids: 0 });
        await run(id, "head -c 200000000 /dev/zero | tail | wc -c");
        expect((await opened.engine.hits(id)).memory).toBeGreaterThan(0);
        expect(await run(id, "echo alive")).toMatchObject({ code: 0, out: "alive\n" });
      }),
  );

  test.skipIf(lacks("pids"))(
    "no more processes are started than the container may have, and that is counted",
    () =>
      limited({ pids: 24 }, async (id) => {
        const { err } = await run(id, "for i in $(seq 40); do sleep 5 & done");
        expect(err).toMatch(/fork/i);
        expect((await opened.engine.hits(id)).pids).toBeGreaterThan(0);
      }),
  );

  test("no file and no scratch folder grows beyond the disk limit", () =>
    limited({ disk_mb: 16 }, async (id) => {
      const { err } = await run(
        id,
        "head -c 40000000 /dev/zero > big; for i in 1 2 3; do head -c 10000000 /dev/zero > /tmp/$i; done; wc -c big >&2",
      );
      expect(err).toMatch(/no space left/i);
      // A rootless Podman drops the limit of one file; the hub's count of all files holds there, too.
      if (!detail.includes("rootless")) expect(Number(/(\d+) big/.exec(err)?.[1])).toBe(16 * 1024 * 1024);
    }));

  test("killing a command ends all that it started", () =>
    inContainer(async (id) => {
      const mark = newHandle("mark", Date.now());
      const script = `export M=${mark}; setsid sleep 300 & (setsid sh -c 'sleep 300; :' &); echo ready; sleep 300`;
      const process = await opened.engine.exec(id, sh(script));
      const [first] = await process.stdout.take(1).toArray();
      expect(String(first)).toBe("ready\n");
      await expect.poll(() => processesWith(mark).length).toBeGreaterThan(2);
      await process.kill();
      await process.exited;
      await expect.poll(() => processesWith(mark)).toEqual([]);
      expect(await run(id, "echo alive")).toMatchObject({ out: "alive\n" });
    }));

  test.skipIf(lacks("memory_mb", "pids"))("what a container uses is counted", () =>
    inContainer(async (id) => {
      const sleeping = await opened.engine.exec(id, sh("echo ready; sleep 300"));
      await sleeping.stdout.take(1).toArray();
      expect(await opened.engine.stats(id)).toMatchObject({
        memory_bytes: expect.toSatisfy((bytes: number) => bytes > 0),
        pids: expect.toSatisfy((count: number) => count > 0),
      });
      await sleeping.kill();
    }),
  );

  test(`${CYCLES} starts and stops leave nothing behind`, async () => {
    const { engine } = opened;
    const ids: string[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const id = await create();
      ids.push(id);
      expect(await run(id, "echo $GREETING")).toMatchObject({ out: "hello\n" });
      await engine.stop(id, GRACE_MS);
      await engine.remove(id);
      await expect.poll(() => processesWith(id)).toEqual([]);
    }
    expect(await engine.list(label)).toEqual([]);
    expect(groups().filter((name) => ids.some((id) => name.includes(id)))).toEqual([]);
  });
}

/** Where engines make the control groups of containers. */
const groups = (): string[] =>
  ["memory", "memory/libpod_parent", "pids", "machine.slice", "."]
    .map((name) => join("/sys/fs/cgroup", name))
    .flatMap((folder) => attempt(() => readdirSync(folder)) ?? []);
