import { ToolError } from "@octant/core";
import { encodeMsgPack, parseMsgPack } from "../msgpack/codec.ts";
import { withoutCredentials } from "./address.ts";
import type { NatsConnection } from "./connection.ts";
import { DISCOVER } from "./subjects.ts";
import type { Announcement } from "./worker.ts";

const DISCOVER_MS = 1_000;

/** The projects that workers announce. */
async function discover({ nc }: NatsConnection): Promise<readonly Announcement[]> {
  const found: Announcement[] = [];
  const answers = await nc.requestMany(DISCOVER, encodeMsgPack({}), {
    strategy: "stall",
    maxWait: DISCOVER_MS,
    stall: 300,
  });
  try {
    // Workers wrote it; an invalid field fails where it is used.
    for await (const { data } of answers) found.push(parseMsgPack(data) as Announcement);
  } catch {
    // No listeners.
  }
  return found;
}

/** The only announced project; NOT_FOUND when there is none or more than one. */
export async function findProject(connection: NatsConnection, url: string): Promise<string> {
  const projects = [...new Set((await discover(connection)).map(({ project }) => project))];
  const [only, ...others] = projects;
  if (only !== undefined && others.length === 0) return only;
  const where = withoutCredentials(url);
  const message =
    only === undefined
      ? `no worker announces itself at ${where}; octant worker --nats ${where} starts one`
      : `workers at ${where} announce several projects; choose one with --project: ${projects.join(", ")}`;
  throw new ToolError("NOT_FOUND", message, {});
}

export const noWorker = (project: string, cause?: unknown) =>
  new ToolError(
    "UPSTREAM_ERROR",
    `no worker of ${project} answers, and none took over; octant worker --nats … starts one`,
    {},
    { cause },
  );
