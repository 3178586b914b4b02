import { expect, test } from "vitest";
import { z } from "zod";
import { toIssues } from "./issues.ts";

const Edit = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("replace"), old: z.string(), new: z.string() }),
  z.strictObject({ op: z.literal("insert"), line: z.int(), text: z.string() }),
]);
const Input = z.strictObject({
  uri: z.union([z.string(), z.array(z.string())]),
  patch: z.union([z.string(), z.array(Edit)]).optional(),
  count: z.int().max(5).optional(),
  op: z.enum(["list", "open"]),
  limits: z
    .strictObject({ pids: z.int(), hosts: z.array(z.strictObject({ host: z.string() })) })
    .partial()
    .optional(),
});

const issuesOf = (input: unknown) => {
  const parsed = Input.safeParse(input);
  return parsed.success ? [] : toIssues(parsed.error, Input, input);
};

test.each([
  [{}, "uri", "is required"],
  [{ uri: "a" }, "op", "is required: list or open"],
  [{ uri: 7 }, "uri", "must be a string or an array"],
  [{ uri: ["a", 7] }, "uri.1", "expected string"],
  [{ uri: "a", count: 9 }, "count", "<=5"],
  [{ uri: "a", uris: 1 }, "", "valid names: uri, patch, count, op"],
  [{ uri: "a", limits: { pid: 1 } }, "limits", 'Unrecognized key: "pid"; valid names: pids, hosts'],
  [{ uri: "a", limits: { hosts: [{ hots: "a" }] } }, "limits.hosts.0", 'key: "hots"; valid names: host'],
  [{ uri: "a", patch: [{ op: "replace", old: "x" }] }, "patch.0.new", "is required"],
  [{ uri: "a", patch: [{ op: "change" }] }, "patch.0.op", "must be replace or insert"],
  [{ uri: "a", patch: [{ old: "x" }] }, "patch.0.op", "is required"],
])("%j: %s %s", (input, path, words) => {
  expect(issuesOf(input)).toContainEqual({ path, message: expect.stringContaining(words) });
});
