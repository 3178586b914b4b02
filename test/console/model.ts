import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Script, ScriptedRequest, ScriptedTurn } from "@octant/scripted-provider";

export const PATCH = `--- a/src/parser.js
+++ b/src/parser.js
@@ -4,7 +4,11 @@
 export function parse(text) {
   const tokens = tokenize(text);
   let position = 0;
-  const next = () => tokens[position++];
+  const next = () => {
+    const token = tokens[position++];
+    if (token === undefined) throw new SyntaxError(\`unexpected end at \${text.length}\`);
+    return token;
+  };
   const peek = () => tokens[position];
 
   function term() {
`;

const EXPLANATION = `\`next()\` returns **undefined** at the end of the text. I make it throw:

1. read the token
2. check it

| file | change |
|---|---|
| src/parser.js | \`next\` throws a SyntaxError |
`;

/** The tool of `form-server.mjs`. */
const RELEASE = "mcp__forms__release";

/** Its end is far away from its beginning. */
const HIDDEN = `rm -rf building${" ".repeat(3_000)}${"\n".repeat(121)}${"echo building\n".repeat(80)}touch hidden`;

const STEPS = ["Read the parser", "Throw a SyntaxError at the end", "Run the tests"];

/** A model that knows a few tasks, by the words of the last message. `rootOf` names the project. */
export const createModel =
  (rootOf: () => string): Script =>
  (request) => {
    const { answers } = request;
    return {
      usage: { input: 9_900 + 2_400 * answers, cached: 9_000 + 2_400 * answers, output: 350 },
      ...turnOf(request, rootOf),
    };
  };

function turnOf({ user, results, answers, tools }: ScriptedRequest, rootOf: () => string): ScriptedTurn {
  const [last] = results.toReversed();
  const says = (text: string) => ({ parts: [{ text }] });
  if (user.includes("hide a command"))
    return last
      ? says("Refused.")
      : { parts: [{ call: "proc", input: { action: "exec", command: HIDDEN } }] };
  if (user.includes("release it")) {
    if (last) return says(last.text);
    return tools.includes(RELEASE) ? { parts: [{ call: RELEASE, input: {} }] } : says("Not connected yet.");
  }
  if (user.includes("take your time")) return { ...says("Let me think."), fault: { stall_after: 4 } };
  if (user.includes("leave a note") && last) return says(`The tool said: ${last.text}`);
  if (user.includes("the same note") && last) return says("It is there.");
  if (user.includes("the same note"))
    return {
      parts: [{ call: "fs", input: { action: "write", uri: "same.md", content: "# The same\n" } }],
    };
  if (user.includes("leave a note"))
    return {
      parts: [{ call: "fs", input: { action: "write", uri: `note-${answers}.md`, content: "# A note\n" } }],
    };
  if (!user.includes("unfinished")) return says("All good: **nothing** to change.");
  if (!last) return { parts: [{ text: "I look at the parser first." }, plan(), read()] };
  if (last.text.includes("tokenize")) return { parts: [{ text: EXPLANATION }, patch(rootOf())] };
  return says("Done. An unfinished expression is now a `SyntaxError` that says where the text ends.");
}

const plan = () => ({
  call: "plan",
  input: { action: "create", title: "Refuse unfinished expressions", steps: STEPS },
});
const read = () => ({ call: "fs", input: { action: "read", uri: "src/parser.js" } });

function patch(root: string) {
  const bytes = readFileSync(join(root, "src/parser.js"));
  const base_hash = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return {
    call: "fs",
    input: { action: "apply_patch", uri: "src/parser.js", patch: PATCH, base_hash },
  };
}
