import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Script, ScriptedRequest } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { openAcpClient } from "./acp-client.ts";

const HASH = /sha256:[0-9a-f]{64}/;
const hashIn = ({ results }: ScriptedRequest) => HASH.exec(results[0]?.text ?? "")?.[0];

/** Reads a file, changes it under its hash, and says so. */
const EDIT: Script = (request) => {
  if (request.answers === 0)
    return { parts: [{ text: "I look." }, { call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
  if (request.answers === 1)
    return {
      parts: [
        {
          call: "fs",
          input: {
            action: "apply_patch",
            uri: "src/main.ts",
            base_hash: hashIn(request),
            patch: [{ op: "replace", old: "42", new: "43" }],
          },
        },
      ],
    };
  return { parts: [{ text: `Done: ${request.results[0]?.text}` }] };
};

test("a turn streams text, calls with kind and location, a diff, usage and a title, all fitting the schema", async () => {
  await using editor = await openAcpClient({ script: EDIT });
  const sessionId = await editor.newSession();
  expect(await editor.prompt(sessionId, "make it 43")).toBe("end_turn");
  const path = join(editor.project.root, "src/main.ts");
  expect(readFileSync(path, "utf8")).toBe("export const answer = 43;\n");
  expect(editor.asked).toHaveLength(1);
  expect(editor.asked[0]).toMatchObject({
    sessionId,
    toolCall: { toolCallId: expect.stringMatching(/./) },
    options: expect.arrayContaining([expect.objectContaining({ optionId: "once", kind: "allow_once" })]),
  });
  expect(editor.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      kind: "edit",
      status: "in_progress",
      locations: [{ path }],
    }),
  );
  expect(editor.updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      status: "completed",
      content: expect.arrayContaining([
        {
          type: "diff",
          path,
          oldText: "export const answer = 42;\n",
          newText: "export const answer = 43;\n",
        },
      ]),
    }),
  );
  const kinds = new Set(editor.updates.map(({ sessionUpdate }) => sessionUpdate));
  for (const kind of [
    "agent_message_chunk",
    "tool_call",
    "usage_update",
    "session_info_update",
    "available_commands_update",
  ])
    expect(kinds).toContain(kind);
  expect(editor.text()).toContain("I look.");
  expect(editor.problems).toEqual([]);
  expect(await editor.end()).toBe(0);
});
