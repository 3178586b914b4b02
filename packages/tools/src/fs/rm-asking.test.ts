import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createCursors,
  createDispatcher,
  createRegistry,
  defineTool,
  type Question,
  type QuestionAnswer,
} from "@octant/core";
import { createWorkspace } from "@octant/host";
import { expect, onTestFinished, test } from "vitest";
import { rm } from "./rm.ts";

/** A folder `d` with two files, and a person with a fixed answer. */
function openFolder(answer: QuestionAnswer | undefined) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-rm-")));
  const root = join(base, "ws");
  mkdirSync(join(root, "d"), { recursive: true });
  for (const name of ["a", "b"]) writeFileSync(join(root, "d", name), name);
  const workspace = createWorkspace({
    roots: [root],
    env: { XDG_STATE_HOME: join(base, "state") },
    warn: () => {},
  });
  onTestFinished(async () => {
    await workspace.close();
    rmSync(base, { recursive: true, force: true });
  });
  const fs = defineTool({ name: "fs", summary: "Files.", actions: { rm: rm(workspace) } });
  const dispatch = createDispatcher({
    registry: createRegistry([fs]),
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => {
      throw cause;
    },
  });
  const asked: Question[] = [];
  const remove = async (input: object) => {
    const ask = async (question: Question) => {
      asked.push(question);
      return answer;
    };
    const caller = { id: "test", access: "admin" } as const;
    return (await dispatch({ tool: "fs", action: "rm", input }, { caller, ask })).envelope;
  };
  return { remove, asked, isThere: () => existsSync(join(root, "d", "a")), uri: `file://${join(root, "d")}` };
}

test("a folder is removed with its contents after the person confirms the list", async () => {
  const { remove, asked, isThere, uri } = openFolder({ answer: "accept" });
  expect(await remove({ uri: "d" })).toMatchObject({ ok: true, data: { uri, removed: 3 } });
  expect(isThere()).toBe(false);
  expect(asked).toHaveLength(1);
  expect(asked).toMatchObject([
    {
      kind: "confirmation",
      action: "fs.rm",
      caller: "test",
      message: expect.stringMatching(/^Remove d\? 3 entries go \(2 bytes\)/),
    },
  ]);
  expect(JSON.stringify(asked)).toContain(`${uri}/a`);
});

test.each<QuestionAnswer>([{ answer: "decline" }, { answer: "cancel" }, { answer: "once" }])(
  "anything but a yes leaves all as it was: %j",
  async (answer) => {
    const { remove, isThere } = openFolder(answer);
    expect(await remove({ uri: "d" })).toMatchObject({
      error: { code: "PERMISSION_DENIED", details: { by: "person" } },
    });
    expect(isThere()).toBe(true);
  },
);

test("when nobody can be asked, the answer lists what would be removed and how to confirm", async () => {
  const { remove, isThere } = openFolder(undefined);
  expect(await remove({ uri: "d" })).toMatchObject({
    error: { code: "CONFIRM_REQUIRED", details: { would: { count: 3 } } },
  });
  expect(isThere()).toBe(true);
});

test("a confirmed removal, or an impossible one, does not ask", async () => {
  const { remove, asked } = openFolder({ answer: "accept" });
  expect(await remove({ uri: "absent" })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(await remove({ uri: "d", confirm: true, recursive: true })).toMatchObject({ ok: true });
  expect(asked).toEqual([]);
});
