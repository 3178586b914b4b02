import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOctant } from "../../packages/app/src/octant.ts";
import { createFixtureProject } from "../fixture-project.ts";

test("a page of an expression with four million matches in one file is answered", async () => {
  using project = createFixtureProject();
  writeFileSync(join(project.root, "big.txt"), "answer 12345\n".repeat(4_000_000));
  const octant = createOctant({ roots: [project.root], env: project.env, log: () => {} });
  try {
    const call = { tool: "fs", action: "search_text", input: { pattern: "a[a-z]+r", limit: 10 } };
    const { envelope } = await octant.dispatch(call, { caller: { id: "me", access: "read" } });
    expect(envelope).toMatchObject({ ok: true });
    expect(JSON.stringify(envelope)).toContain("answer 12345");
  } finally {
    await octant.close();
  }
});
