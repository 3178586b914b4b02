import { afterAll, expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";

const project = createFixtureProject();
afterAll(() => project[Symbol.dispose]());
const octant = (...args: string[]) => callOctant(args, { cwd: project.root, env: project.env });

test.each([
  ["fs.read", "uri=/etc/passwd"],
  ["fs.read", "uri=../../etc/passwd"],
  ["fs.read", "uri=README.md"],
  ["fs.read", "uri=.mcp.json"],
  ["fs.write", "uri=.mcp.json", "content=x"],
  ["fs.write", "uri=.git/hooks/pre-commit", "content=x"],
  ["fs.write", "uri=/etc/octant", "content=x"],
  ["fs.write", "uri=new.txt", "content=x"],
  ["vcs.status", "path=/etc"],
  ["net.request", "url=http://169.254.169.254/"],
])("policy explain %s %s says what the call does", async (...call) => {
  const { stdout } = await octant("policy", "explain", ...call, "--json");
  const { outcome } = JSON.parse(stdout);
  const answer = JSON.parse((await octant("call", ...call, "--json")).stdout);
  const refused = ["OUTSIDE_WORKSPACE", "PROTECTED_PATH", "PERMISSION_DENIED", "NET_BLOCKED"];
  expect(outcome).toBe(refused.includes(answer.error?.code) ? "refused" : "runs");
});
