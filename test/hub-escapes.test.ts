import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ENGINE_NAMES, openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { openHub } from "../packages/hub/testing/open-hub.ts";

const KEY = "sk-test-key-of-the-hub-0123456789";
const PERSON = "SECRET-OF-THE-PERSON";

interface Place {
  /** Of the hub. */
  readonly folder: string;
  readonly port: string;
  readonly other: string;
  readonly pid: number;
  readonly secret: string;
}

/** What a hostile command tries; it prints OPEN when it got through. */
const ATTEMPTS: Readonly<Record<string, (place: Place) => string>> = {
  "the hub's HTTP port": ({ port }) => tcp("127.0.0.1", port),
  "the metadata address of clouds": () => tcp("169.254.169.254", "80"),
  "a name of the network": () => "getent hosts example.com >/dev/null 2>&1 && echo OPEN",
  "the hub's state folder": ({ folder }) => `ls ${folder} >/dev/null 2>&1 && echo OPEN`,
  "the hub's database": ({ folder }) => `head -c 1 ${folder}/hub.db 2>/dev/null && echo OPEN`,
  "sockets of the hub and of engines": ({ folder }) =>
    `ls ${folder}/podman.sock /run/podman /var/run/docker.sock /run/containerd /run/octant-proxy 2>/dev/null && echo OPEN`,
  "a file of the person": ({ secret }) => `cat ${secret} 2>/dev/null && echo OPEN`,
  "keys in the environment of any process": () =>
    `cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q ${KEY} && echo OPEN`,
  "keys and secrets in files": () =>
    `grep -rqs -e ${KEY} -e ${PERSON} /etc /root /tmp /run /var /workspaces /home && echo OPEN`,
  "the workspaces of another project": ({ other }) =>
    `ls -d ${other} 2>/dev/null && echo OPEN; test $(ls /workspaces | wc -l) = 1 || echo OPEN`,
  "processes of the machine": ({ pid }) =>
    `grep -qs vites[t] /proc/*/cmdline && echo OPEN; kill -0 ${pid} 2>/dev/null && echo OPEN; test $(ls -d /proc/[0-9]* | wc -l) -gt 30 && echo OPEN`,
  "the rules of the tools": () =>
    "echo x >> /etc/octant/hanzo/settings.json && echo OPEN; mv /etc/octant/hanzo /etc/octant/x && echo OPEN",
  "files beside the packages of the hub's install": () =>
    "ls -A /opt/octant | grep -vx -e node_modules -e packages -e packs && echo OPEN",
  "the hub's install": () => "touch /opt/octant/x && echo OPEN; touch /opt/octant/package.json && echo OPEN",
  "a mount": () =>
    "mkdir -p /tmp/m; mount -t tmpfs none /tmp/m && echo OPEN; mount -o remount,rw / && echo OPEN; mount --bind / /tmp/m && echo OPEN",
  "a device": () =>
    "for d in 8 254 259; do mknod /tmp/d b $d 0 && echo OPEN; done; head -c 1 /dev/mem && echo OPEN",
  // Opened for writing, and not written to.
  "settings of the kernel": () =>
    "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do test -e $f && (: >> $f) && echo OPEN; done",
  "a control group": () =>
    "for f in /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max; do test -e $f && echo 999999999999 > $f && echo OPEN; done",
  "more rights by setuid": () =>
    "cp /usr/bin/id /tmp/id && chmod 4755 /tmp/id; grep -q 'NoNewPrivs:.0' /proc/self/status && echo OPEN; grep -q 'CapEff:.0*[1-9a-f]' /proc/self/status && echo OPEN",
};

const tcp = (host: string, port: string): string =>
  `timeout 3 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null && echo OPEN`;

for (const name of ENGINE_NAMES) {
  const opened = await openEngine(name);
  if (typeof opened === "string") test.skip(`escapes from containers of ${name} (not here: ${opened})`);
  else describe(`a container of ${name} cannot reach`, () => describeEscapes(opened));
}

function describeEscapes(opened: TestEngine): void {
  afterAll(() => opened[Symbol.asyncDispose]());

  test("anything of this list", async () => {
    const env = { ANTHROPIC_API_KEY: KEY };
    const { get, folder, hub, createSource } = await openHub({ engine: opened.engine, env });
    const server = await hub.serve();
    const source = createSource();
    const secret = join(folder, "home", "secret");
    writeFileSync(secret, PERSON);
    const create = async (name: string) => {
      const { project_id } = await get<{ project_id: string }>("project.create", {
        name,
        folder: source,
        secrets: { [`OF_${name.toUpperCase()}`]: `value-${name}` },
      });
      const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
      return { project_id, workspace_id };
    };
    const { project_id, workspace_id } = await create("own");
    const other = await create("other");
    const place: Place = {
      folder: join(folder, "hub"),
      port: new URL(server.url).port,
      other: join(folder, "hub", "projects", other.project_id),
      pid: process.pid,
      secret,
    };
    const run = (command: string) =>
      get<{ stdout: string; stderr: string }>("container.exec", { project_id, workspace_id, command });
    expect((await run("env")).stdout).toContain("OF_OWN=value-own");
    expect((await run("env")).stdout).not.toContain("OF_OTHER");
    const through: string[] = [];
    for (const [what, attempt] of Object.entries(ATTEMPTS)) {
      const { stdout } = await run(`(${attempt(place)}) 2>/dev/null; echo tried`);
      if (stdout !== "tried\n") through.push(`${what}: ${stdout}`);
    }
    expect(through).toEqual([]);
    await server.close();
  });

  test("the hub's git with settings that it wrote", async () => {
    const { get, folder, createSource } = await openHub({ engine: opened.engine });
    const source = createSource();
    const { project_id } = await get<{ project_id: string }>("project.create", {
      name: "demo",
      folder: source,
    });
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
    const marks = join(folder, "marks");
    mkdirSync(marks);
    const fire = (name: string) => `sh -c 'echo x > ${marks}/${name}; cat'`;
    const command = `
      git config core.fsmonitor "${fire("fsmonitor")}"
      git config core.sshCommand "${fire("ssh")}"
      git config diff.external "${fire("diff")}"
      git config filter.evil.clean "${fire("clean")}"
      git config filter.evil.smudge "${fire("smudge")}"
      git config uploadpack.packObjectsHook "${fire("pack")}"
      git config include.path /workspaces/more
      mkdir -p .git/hooks
      for hook in post-checkout pre-push reference-transaction post-merge; do
        printf '#!/bin/sh\\necho x > ${marks}/hook\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook
      done
      echo '* filter=evil diff=evil' > .gitattributes
      echo two > a.txt
      git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c filter.evil.clean=cat add -A
      git -c core.hooksPath=/dev/null -c core.fsmonitor=false commit -qm Change
      git log --oneline | head -1`;
    const { stdout } = await get<{ stdout: string }>("container.exec", { project_id, workspace_id, command });
    expect(stdout).toContain("Change");
    expect(await get("workspace.diff", { workspace_id })).toMatchObject({
      patch: expect.stringContaining("+two"),
    });
    expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true, pushed: true });
    await get("workspace.delete", { workspace_id });
    for (const mark of ["fsmonitor", "ssh", "diff", "clean", "smudge", "pack", "hook"])
      expect(existsSync(join(marks, mark))).toBe(false);
  });
}
