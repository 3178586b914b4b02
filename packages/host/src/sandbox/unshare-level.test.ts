import { expect, test } from "vitest";
import { DEFAULT_SANDBOX } from "./settings.ts";
import { ESCAPE_PROBES } from "./testing/escape-probes.ts";
import { ESCAPED, toArgv } from "./testing/probe.ts";
import { createWorld, identities } from "./testing/world.ts";

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

test.each(identities())(
  "without bubblewrap the namespaces of util-linux hold the mounts, as $name",
  async ({ uid }) => {
    await using world = await createWorld(uid);
    const probes = [...HOLDS, ...DOES_NOT_HOLD].map(
      (name) => ESCAPE_PROBES.find((probe) => probe.name === name)!,
    );
    const work = "cat README && echo x >written && git add written && cat ~/notes.txt && echo $ODD; exit 3";
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
