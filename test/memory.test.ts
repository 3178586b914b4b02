import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { type McpSession, startSession } from "./mcp-session.ts";
import { callOctant } from "./octant-in-process.ts";

const remember = async (session: McpSession, action: string, input: object = {}) =>
  session.call("memory", { action, ...input });
const memoriesOf = ({ data }: { data: Record<string, unknown> | null }) =>
  // The server has validated the output against its schema.
  (data as { memories: { text: string }[] }).memories;
const textsOf = (answer: { data: Record<string, unknown> | null }) =>
  memoriesOf(answer).map(({ text }) => text);

test("a memory is found by words in the next server, reports when its files changed, and can be removed", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  let id = "";
  {
    await using session = await startSession(["--tools", "memory"], { cwd, env });
    const made = await remember(session, "create", {
      text: "Releases are tagged by the pipeline, never by hand.",
      kind: "fact",
      links: ["README.md"],
    });
    expect(made, JSON.stringify(made.error)).toMatchObject({
      ok: true,
      data: { scope: "project", confidence: 0.8 },
    });
    id = String(made.data?.["memory_id"]);
    await remember(session, "create", { text: "The parser keeps comments.", tags: ["parser"] });
    await remember(session, "create", { text: "I prefer short commits.", scope: "global" });
    await remember(session, "create", { text: "Only for this session.", scope: "session" });
  }
  writeFileSync(join(cwd, "README.md"), "changed\n");
  await using session = await startSession(["--tools", "memory"], { cwd, env });
  const found = await remember(session, "recall", { query: "how does tagging a release work?" });
  expect(textsOf(found)[0]).toContain("Releases are tagged");
  // The server has validated the output against its schema.
  const [first] = (found.data?.["memories"] ?? []) as object[];
  expect(first).toMatchObject({ changed_since: [expect.stringContaining("README.md")] });
  expect(textsOf(await remember(session, "facts"))).toHaveLength(1);
  expect((await remember(session, "summarize")).data).toMatchObject({ memories: 2 });
  using other = createFixtureProject();
  await using elsewhere = await startSession(["--tools", "memory"], {
    cwd: other.root,
    env: { ...other.env, XDG_STATE_HOME: env["XDG_STATE_HOME"] },
  });
  expect(textsOf(await remember(elsewhere, "manage"))).toEqual(["I prefer short commits."]);
  expect(
    (await remember(session, "update", { memory_id: id, text: "Releases are tagged by hand." })).ok,
  ).toBe(true);
  expect(textsOf(await remember(session, "recall", { query: "releases" }))[0]).toBe(
    "Releases are tagged by hand.",
  );
  expect((await remember(session, "delete", { memory_id: id })).ok).toBe(true);
  expect(await remember(session, "delete", { memory_id: id })).toMatchObject({
    error: { code: "NOT_FOUND" },
  });
});

const SECRETS = [
  "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345",
  "The admin password is Tr0ub4dor&3xyz",
  "password: correct-horse-battery-9!",
  "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  "deploy with curl -u admin:s3cretpass https://example.org",
  "postgres://admin:hunter2secret@db.example.org/prod",
  `SG.${"abcdefghij0123456789ab"}.${"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"}`,
];
const INNOCENT = [
  "The password reset page is at /reset/v2/form.",
  "Tokens expire after 30 minutes.",
  "password: see 1Password",
  "The auth token is in the keychain, never in files.",
  "The secret is $DB_SECRET_2 in CI, from https://vault.example.org/v1",
  "token: https://example.org/docs/v2/tokens",
  "Passwords are hashed with argon2id; commit 3d7c672a fixed it.",
];

test("a secret is never stored, and text about secrets is", async () => {
  using project = createFixtureProject();
  await using session = await startSession(["--tools", "memory"], { cwd: project.root, env: project.env });
  for (const text of SECRETS)
    expect(await remember(session, "create", { text }), text).toMatchObject({
      error: { code: "INVALID_ARGUMENT" },
    });
  expect(textsOf(await remember(session, "manage"))).toEqual([]);
  for (const text of INNOCENT) expect((await remember(session, "create", { text })).ok, text).toBe(true);
});

test("shared memory is Markdown in the project that people can edit, and detects when a symbol changed", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  const folder = join(cwd, ".hanzo/memory");
  mkdirSync(join(cwd, ".hanzo"), { recursive: true });
  writeFileSync(join(cwd, ".hanzo/settings.json"), JSON.stringify({ memory: { shared: true } }));
  writeFileSync(
    join(cwd, "src/two.ts"),
    "export function one() {\n  return 1;\n}\n\nexport function two() {\n  return 2;\n}\n",
  );
  await using session = await startSession(["--tools", "memory,search,fs"], { cwd, env });
  const made = await remember(session, "create", {
    text: "The counter starts at one.",
    symbols: ["sym:src/two.ts#one"],
    tags: ["counting"],
  });
  expect(made.data, JSON.stringify(made.error)).toMatchObject({
    links: [{ uri: "sym:src/two.ts#one", hash: expect.stringMatching(/^sha256:/) }],
  });
  const file = join(folder, `${made.data?.["memory_id"]}.md`);
  expect(readFileSync(file, "utf8")).toMatch(
    /^---\nkind: "note"\ntags: \["counting"\]\n[\s\S]*\n---\nThe counter starts at one\.\n$/,
  );

  // Changes to other symbols of the file do not matter.
  writeFileSync(
    join(cwd, "src/two.ts"),
    "export function two() {\n  return 22;\n}\n\nexport function one() {\n  return 1;\n}\n",
  );
  const [same] = memoriesOf(await remember(session, "recall", { query: "counter" }));
  expect(same).not.toHaveProperty("changed_since");
  writeFileSync(join(cwd, "src/two.ts"), "export function one() {\n  return 11;\n}\n");
  const [changed] = memoriesOf(await remember(session, "recall", { query: "counter" }));
  expect(changed).toMatchObject({ changed_since: ["sym:src/two.ts#one"] });

  writeFileSync(join(folder, "mem_byhand.md"), "The window is painted green.\n");
  const withheld = await remember(session, "recall", { query: "green window" });
  expect(textsOf(withheld)).not.toContain("The window is painted green.");
  expect(withheld.data?.["note"]).toContain("octant trust");
  const shown = await callOctant(["trust", "--yes"], { cwd, env });
  expect(shown.stdout).toContain("The window is painted green.");
  expect(shown.stdout, "what the agent wrote itself").not.toContain("The counter starts at one.");
  expect(textsOf(await remember(session, "recall", { query: "green window" }))[0]).toBe(
    "The window is painted green.",
  );
  const found = await session.call("search", { action: "query", query: "green window", modality: "memory" });
  expect(found.data, JSON.stringify(found.error)).toMatchObject({
    hits: [{ uri: "memory:mem_byhand", kind: "memory", snippet: "The window is painted green." }],
  });
  expect((await session.call("fs", { action: "read", uri: "memory:mem_byhand" })).data).toMatchObject({
    text: "The window is painted green.",
  });
  const conflict = "<<<<<<< HEAD\nThe door is red.\n=======\nThe door is blue.\n>>>>>>> topic\n";
  writeFileSync(join(folder, "mem_merged.md"), `---\ntags: [entrance, paint]\n---\n${conflict}`);
  await callOctant(["trust", "--yes"], { cwd, env });
  expect(memoriesOf(await remember(session, "recall", { query: "entrance" }))[0]).toMatchObject({
    text: expect.stringContaining("[unresolved merge conflict in .hanzo/memory/mem_merged.md]"),
    tags: ["entrance", "paint"],
    confidence: 0,
  });
  rmSync(join(folder, "mem_merged.md"));
  rmSync(file);
  expect(textsOf(await remember(session, "recall", { query: "counter" }))).not.toContain(
    "The counter starts at one.",
  );
  expect((await remember(session, "delete", { memory_id: "mem_byhand" })).ok).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});
