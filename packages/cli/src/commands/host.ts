import { mkdirSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { dataFolder } from "@octant/host";
import { announce } from "../announce.ts";
import { defineCommand, toCount, UsageError } from "../command.ts";
import { explainHosts, natsFlags, toNatsAddress } from "../nats-flags.ts";
import { thisInstall } from "../person-command.ts";
import { logLine } from "../workspace-flags.ts";

const MEGABYTE = 1024 * 1024;
/** The share of the machine's memory that containers may use. */
const MEMORY_SHARE = 0.75;

export const host = defineCommand({
  name: "host",
  summary: "Run the containers of hubs on other machines, through a NATS server",
  flags: {
    nats: { summary: "The NATS server, with JetStream", value: "URL", env: "OCTANT_NATS" },
    ...natsFlags,
    label: { summary: "Also take projects with the label host=NAME", value: "NAME", many: true },
    "max-sessions": { summary: "Sessions and builds at once; default: two for each processor", value: "N" },
    "memory-mb": {
      summary: "For the memory limits of all sessions; default: three quarters of the machine's",
      value: "N",
    },
    engine: { summary: "auto (the default), local, podman, docker, or the URL of a socket", value: "ENGINE" },
    folder: { summary: "Where workspaces are; default ~/.local/share/octant/host", value: "DIR" },
    json: { summary: "Print the name and the capacity as one line of JSON" },
  },
  notes: `octant hub --nats URL is the other end. The agent's loop, the keys of models and the database are in the hub; a host
has only the credentials for NATS, and runs the containers in which sessions work. When a host is lost, its sessions
continue on another one. docs/hosts.md describes what is guaranteed.`,
  async run({ flags }, io) {
    const { nats, label: labels = [], json } = flags;
    if (nats === undefined)
      throw new UsageError("octant host needs --nats URL", "octant host --nats nats://127.0.0.1:4222");
    for (const one of labels)
      if (!/^[\w-]{1,64}$/.test(one))
        throw new UsageError(
          `invalid label '${one}'`,
          "a label has 1 to 64 letters, digits, dashes and underscores",
        );
    const { env } = io;
    const folder = resolve(io.cwd(), flags.folder ?? join(dataFolder(env), "host"));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const log = (line: string) => void logLine(line, io);
    const { chooseEngine, createHost, toInstall } = await import("@octant/hub");
    const name = hostname();
    const maxSessions = toCount("max-sessions", flags["max-sessions"]) ?? 2 * availableParallelism();
    const memoryMb =
      toCount("memory-mb", flags["memory-mb"]) ?? Math.floor((totalmem() * MEMORY_SHARE) / MEGABYTE);
    const opened = await createHost({
      ...{ name, labels, maxSessions, memoryMb, folder, log },
      nats: toNatsAddress(nats, flags, io),
      engine: await chooseEngine({ engine: flags.engine ?? "auto", env, folder, log }),
      install: toInstall(thisInstall().launcher),
    }).catch(explainHosts);
    const said = `Octant host ${name} takes up to ${maxSessions} sessions (${memoryMb} MB)${labels.map((one) => `, also for '${one}'`).join("")}; Ctrl-C ends it.`;
    return announce(
      json ? JSON.stringify({ name, max_sessions: maxSessions, memory_mb: memoryMb }) : said,
      opened,
      io,
    );
  },
});
