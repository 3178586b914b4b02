import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { openEdits } from "./open-edits.ts";
import type { Report, Torture } from "./report.ts";

const WRITERS = 50;

/** Lets many writers start from the same state; half of them use another lock, as another server would. */
export const races: Torture = async (rounds, random, onProgress) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-races-")));
  const root = join(base, "ws");
  mkdirSync(root);
  const servers = [openEdits(root, join(base, "state")), openEdits(root, join(base, "state"))] as const;
  const violations: string[] = [];
  let conflicts = 0;
  try {
    let { hash } = await servers[0].edits.create("a.txt", Buffer.from("winner: nobody\n"));
    for (let round = 0; round < rounds && violations.length === 0; round++) {
      const old = readFileSync(join(root, "a.txt"), "utf8").trimEnd();
      const outcomes = await Promise.all(
        Array.from({ length: WRITERS }, (_, writer) => {
          const server = servers[random() < 0.5 ? 0 : 1];
          const patch = [{ op: "replace" as const, old, new: `winner: ${round}-${writer}` }];
          return server.edits.apply({ uri: "a.txt", base_hash: hash, patch }).then(
            ({ files }) => ({ writer, hash: files[0]!.hash }),
            (cause: unknown) => (cause instanceof ToolError ? cause.code : String(cause)),
          );
        }),
      );
      const winners = outcomes.filter((outcome) => typeof outcome === "object");
      const others = outcomes.filter((outcome) => typeof outcome === "string" && outcome !== "CONFLICT");
      const now = readFileSync(join(root, "a.txt"), "utf8");
      const [winner] = winners;
      if (winners.length !== 1 || !winner?.hash) violations.push(`round ${round}: ${winners.length} winners`);
      else if (now !== `winner: ${round}-${winner.writer}\n`)
        violations.push(`round ${round}: the file has ${now}`);
      else hash = winner.hash;
      if (others.length > 0) violations.push(`round ${round}: ${[...new Set(others)].join(", ")}`);
      conflicts += WRITERS - winners.length;
      onProgress(round + 1);
    }
    const left = readdirSync(root).filter((name) => name !== "a.txt");
    if (left.length > 0) violations.push(`left behind: ${left.join(", ")}`);
  } finally {
    for (const { edits, warnings } of servers) {
      await edits.close();
      violations.push(...warnings);
    }
    rmSync(base, { recursive: true, force: true });
  }
  const facts = `${rounds} winners, ${conflicts} conflicts`;
  return {
    what: `${rounds} rounds of ${WRITERS} apply_patch with one base_hash`,
    facts,
    violations,
  } satisfies Report;
};
