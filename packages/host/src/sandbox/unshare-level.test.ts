import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { ESCAPE_PROBES } from "../../testing/sandbox/escape-probes.ts";
import { ESCAPED, toArgv } from "../../testing/sandbox/probe.ts";
import { createWorld, identities } from "../../testing/sandbox/world.ts";
import { DEFAULT_SANDBOX } from "./settings.ts";

// Where bubblewrap cannot run there are perhaps no namespaces at all; CI has both.
const sandboxed = test.skipIf(inject("missing").includes("bubblewrap"));

const HOLDS = [
  ...["writes outside by its path", "writes outside through a link", "writes outside through a hard link"],
  ...["writes to the state of Octant", "signals another process", "reads the environment of the server"],
  ...["reaches a socket in /tmp", "connects by TCP with the network off", "makes the root writable again"],
  ...[
    "becomes root by a setuid program",
    "changes what handles a crash",
    "reads a disk",
    "plants a hook of git",
  ],
  ...["reads ~/.ssh/id_ed25519", "reads any secret of the home", "moves settings of the agent away"],
];
/** What only a seccomp filter would stop. */
const DOES_NOT_HOLD = ["makes a user namespace"];

sandboxed.each(identities())(
  "nothing that a project brings along runs before the rights are given up, as $name",
  async ({ uid }) => {
    await using world = await createWorld(uid);
    for (const name of ["setpriv", "unshare", "mount", "sh", "rm"])
      world.write(join(world.ws, "bin", name), `#!/bin/sh\necho "${ESCAPED} $0"; exit 1\n`);
    chmodSync(join(world.ws, "bin"), 0o755);
    for (const name of readdirSync(join(world.ws, "bin"))) chmodSync(join(world.ws, "bin", name), 0o755);
    const { outcomes } = await world.run({
      settings: DEFAULT_SANDBOX,
      level: "unshare",
      commands: [
        { argv: ["/bin/echo", "planted"], env: { PATH: `${world.ws}/bin:/usr/bin:/bin` } },
        // The library writes outside where it can; the mounts are in place, so only a process with rights could undo them.
        {
          argv: ["/bin/grep", "-h", "CapEff", "/proc/self/status"],
          env: { LD_PRELOAD: `${world.ws}/evil.so` },
        },
      ],
    });
    expect(outcomes[0]).toEqual({ code: 0, stdout: "planted\n", stderr: "" });
    expect(outcomes[1]?.code).toBe(0);
    expect(readdirSync(world.outside)).not.toContain("by-library");
  },
);

sandboxed.each(identities())(
  "without bubblewrap the namespaces of util-linux hold the mounts, as $name",
  async ({ uid }) => {
    await using world = await createWorld(uid);
    const probes = [...HOLDS, ...DOES_NOT_HOLD].map(
      (name) => ESCAPE_PROBES.find((probe) => probe.name === name)!,
    );
    const work =
      "cat README && echo gone >/dev/null && echo x >written && git add written && cat ~/notes.txt && echo $ODD; exit 3";
    const { level, outcomes } = await world.run({
      settings: DEFAULT_SANDBOX,
      level: "unshare",
      commands: [
        { argv: ["/bin/sh", "-c", work], env: { ODD: "it's" } },
        ...probes.map((probe) => ({ argv: toArgv(probe), ...(probe.network && { network: probe.network }) })),
      ],
    });
    const [worked, ...attempts] = outcomes;
    expect(level).toBe("unshare");
    expect(worked).toEqual({ code: 3, stdout: "hello\nplain\nit's\n", stderr: "" });
    const escaped = probes.filter((_, n) => attempts[n]!.stdout.includes(ESCAPED)).map(({ name }) => name);
    expect(escaped).toEqual(DOES_NOT_HOLD);
  },
);
