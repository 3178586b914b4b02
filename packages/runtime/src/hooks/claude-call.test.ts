import { expect, test } from "vitest";
import { toClaudeCalls } from "./claude-call.ts";

const PATCH =
  "*** Begin Patch\n*** Update File: a.txt\n-one\n+ONE\n*** Update File: src/a.txt\n-two\n+TWO\n+three\n*** End Patch\n";

test("a patch is one call for each file, however often the call names it, with the texts of that file", () => {
  const files = ["/p/a.txt", "/p/src/a.txt", "/p/a.txt", "/p/src/a.txt"];
  const calls = toClaudeCalls("fs.apply_patch", { patch: PATCH }, files);
  expect(calls).toMatchObject([
    { tool_name: "Edit", tool_input: { file_path: "/p/a.txt", old_string: "one", new_string: "ONE" } },
    { tool_input: { file_path: "/p/src/a.txt", old_string: "two", new_string: "TWO\nthree" } },
  ]);
});

test("a unified diff, a rename and a text that is no patch have what can be known of them", () => {
  const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n same\n-one\n+ONE\n";
  const [call] = toClaudeCalls("fs.apply_patch", { patch: diff }, ["/p/a.txt"]);
  expect(call?.tool_input).toMatchObject({ old_string: "one", new_string: "ONE" });
  const rename = "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n";
  expect(toClaudeCalls("fs.apply_patch", { patch: rename }, ["/p/a.txt", "/p/b.txt"])).toHaveLength(2);
  const [ref] = toClaudeCalls("fs.apply_patch", { patch: "blob:sha256:00" }, []);
  expect(ref).toEqual({ tool_name: "Edit", tool_input: { patch: "blob:sha256:00" } });
});

test("calls of other servers and calls without a file keep their fields", () => {
  const input = { uri: "https://a.example", patch: 1 };
  expect(toClaudeCalls("mcp__a__b", input, ["/p/https:/a.example"])).toEqual([
    { tool_name: "mcp__a__b", tool_input: input },
  ]);
  expect(toClaudeCalls("proc.exec", { command: ["ls", "-l"] }, [])).toEqual([
    { tool_name: "Bash", tool_input: { command: "ls -l" } },
  ]);
});
