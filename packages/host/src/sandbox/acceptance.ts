import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { attempt } from "@octant/core";
import { z } from "zod";
import { replaceFile } from "../replace-file.ts";

const Accepted = z.object({ version: z.literal(1), machines: z.record(z.string(), z.string()) });

/**
 * Whether the person has accepted that commands of the agent run without a sandbox on this machine, which has none. It
 * is remembered in the user's state, which several machines may share.
 */
export function openAcceptance(base: string) {
  const file = join(base, "unsandboxed.json");
  const load = (): Record<string, string> =>
    attempt(() => Accepted.parse(JSON.parse(readFileSync(file, "utf8"))).machines) ?? {};
  const store = (machines: Record<string, string>): void =>
    replaceFile(file, `${JSON.stringify({ version: 1, machines })}\n`, { mode: 0o600 });
  return {
    /** Since when; undefined when it is not accepted. */
    since: (): string | undefined => load()[machineId()],
    accept: (): void => store({ ...load(), [machineId()]: new Date().toISOString() }),
    /** Whether it was accepted. */
    revoke(): boolean {
      const { [machineId()]: since, ...others } = load();
      if (since !== undefined) store(others);
      return since !== undefined;
    },
  };
}

/** Hashed: the id itself is not meant to be passed on. */
function machineId(): string {
  const id = attempt(() => readFileSync("/etc/machine-id", "utf8").trim()) || hostname();
  return createHash("sha256").update(`octant ${id}`).digest("hex").slice(0, 32);
}
