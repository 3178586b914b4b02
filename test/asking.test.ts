import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { createOctant } from "../packages/app/src/octant.ts";
import { connectTo } from "../packages/mcp/testing/in-process.ts";

function openProject() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-asking-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, "project");
  mkdirSync(root);
  writeFileSync(join(root, "README.md"), "# Demo\n");
  return { base, root };
}

interface Told {
  readonly ok: boolean;
  readonly error: { readonly code: string; readonly details: Readonly<Record<string, unknown>> } | null;
}

/**
 * A server that asks by itself, and a client whose person gives fixed answers. `edge-processes.test.ts` has the same
 * with the command.
 */
async function connect(root: string, base: string, options: ClientOptions, answers: readonly object[]) {
  const asked: string[] = [];
  const env = { PATH: process.env["PATH"] ?? "", HOME: base };
  const octant = createOctant({ projectPath: root, env, permissions: "enforce" });
  const { client, close } = await connectTo(octant.serveStdio, options);
  onTestFinished(async () => {
    await close();
    await octant.close();
  });
  if (options.capabilities?.elicitation)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      const content = answers[asked.length - 1];
      return content ? { action: "accept", content: { ...content } } : { action: "cancel" };
    });
  const write = async (uri: string) =>
    // Octant's envelope.
    (await client.callTool({ name: "fs", arguments: { action: "write", uri, content: "new\n" } }))
      .structuredContent as unknown as Told;
  return { client, asked, write };
}

const FORMS = { elicitation: { form: {} } };

describe.each([
  { era: "handshake", versionNegotiation: { mode: "legacy" } },
  { era: "modern", versionNegotiation: { mode: "auto" } },
] as const)("a server that asks, with a client of the $era era", ({ versionNegotiation }) => {
  test("asks before a change, and obeys the person", async () => {
    const { base, root } = openProject();
    const answers = [{ answer: "once" }, { answer: "deny" }];
    const { asked, write } = await connect(root, base, { versionNegotiation, capabilities: FORMS }, answers);
    expect(await write("a.txt")).toMatchObject({ ok: true });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("new\n");
    expect(await write("b.txt")).toMatchObject({
      ok: false,
      error: {
        code: "PERMISSION_DENIED",
        details: { by: "permission", reason: "the person said no" },
      },
    });
    expect(existsSync(join(root, "b.txt"))).toBe(false);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toContain("fs.write");
    expect(asked[0]).toContain("a.txt");
  });

  test("asks once per session, and stores 'always' as a narrow rule of the local tier", async () => {
    const { base, root } = openProject();
    const answers = [{ answer: "session" }, { answer: "always" }];
    const { asked, write } = await connect(root, base, { versionNegotiation, capabilities: FORMS }, answers);
    mkdirSync(join(root, "one"));
    mkdirSync(join(root, "two"));
    for (const uri of ["one/a.txt", "one/b.txt", "two/a.txt", "two/b.txt"])
      expect(await write(uri)).toMatchObject({ ok: true });
    expect(asked).toHaveLength(2);
    const local = JSON.parse(readFileSync(join(root, ".hanzo/settings.local.json"), "utf8"));
    expect(JSON.stringify(local.permissions)).toContain("fs.write");
    expect(JSON.stringify(local.permissions)).toContain("two/");

    const next = await connect(root, base, { versionNegotiation, capabilities: FORMS }, []);
    expect(await next.write("two/c.txt")).toMatchObject({ ok: true });
    expect(next.asked).toEqual([]);
  });

  test("treats a closed form as a no, and reads without asking", async () => {
    const { base, root } = openProject();
    const { client, write } = await connect(root, base, { versionNegotiation, capabilities: FORMS }, []);
    expect(await write("a.txt")).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
    const read = await client.callTool({ name: "fs", arguments: { action: "read", uri: "README.md" } });
    expect(read.structuredContent).toMatchObject({ ok: true });
  });

  test("refuses with APPROVAL_REQUIRED when the client cannot show a form", async () => {
    const { base, root } = openProject();
    const { write } = await connect(root, base, { versionNegotiation }, []);
    expect(await write("a.txt")).toMatchObject({ ok: false, error: { code: "APPROVAL_REQUIRED" } });
    expect(existsSync(join(root, "a.txt"))).toBe(false);
  });
});
