import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callOctant } from "./octant-in-process.ts";
import { runOctant } from "./octant-process.ts";
import { installCommand } from "./published-command.ts";
import { lacks } from "./ui/lacks.ts";

const VECTORS = join(import.meta.dirname, "../vectors");
const DOMAINS = [
  "sse-frames",
  "mcp-normalization",
  "permission-policy",
  "session-compaction",
  "oauth-pkce",
  "config-merge",
  "backoff-timing",
];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "octant-vectors-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => callOctant(["vectors", ...args], { cwd: folder });

describe.each(DOMAINS)("%s", (domain) => {
  const { vectors } = JSON.parse(readFileSync(join(VECTORS, `${domain}.json`), "utf8"));

  test("every case has a unique id and a sentence", () => {
    const ids = vectors.map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(vectors.length);
    for (const { id, sentence, name } of vectors) {
      expect(id).toMatch(/^[a-z]+-\d{3}$/);
      expect(sentence ?? name).toMatch(/\S/);
    }
  });
});

test("there are more than fifty event streams", () => {
  const { vectors } = JSON.parse(readFileSync(join(VECTORS, "sse-frames.json"), "utf8"));
  expect(vectors.length).toBeGreaterThan(50);
});

test("the installed command passes all its vectors", async () => {
  const launcher = installCommand(folder);
  const { code, stdout, stderr } = await runOctant(["vectors", "--json"], { cwd: folder, launcher });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const results = JSON.parse(stdout);
  expect(results.map(({ domain }: { domain: string }) => domain)).toEqual(DOMAINS);
  for (const result of results) expect(result).toMatchObject({ failures: [], passed: result.cases });
});

/** The domains that every implementation has; Python has all. */
const SHARED = ["sse-frames", "mcp-normalization", "permission-policy", "oauth-pkce", "backoff-timing"];

/** Runs a program of a toolchain, and returns what it prints. */
const make = (cwd: string, program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** The crates of Debian's packages in place of those of crates.io. */
const DEBIAN_CRATES = [
  'source.crates-io.replace-with="debian"',
  'source.debian.directory="/usr/share/cargo/registry"',
].flatMap((line) => ["--config", line]);
/** Built crates are used again by the next run. */
const RUST_TARGET = join(VECTORS, "../node_modules/.cache/rust-vectors");

const IMPLEMENTATIONS = [
  {
    language: "python",
    needs: ["python3"],
    extension: ".py",
    domains: DOMAINS,
    command: (source: string) => `python3 '${source}/implementation.py'`,
  },
  {
    language: "go",
    needs: ["golang-go"],
    extension: ".go",
    domains: SHARED,
    command(source: string) {
      make(source, "go", "build", "-o", join(folder, "go-vectors"), ".");
      return join(folder, "go-vectors");
    },
  },
  {
    language: "rust",
    needs: ["cargo", "librust-serde-json-dev", "librust-sha2-dev"],
    extension: ".rs",
    domains: SHARED,
    command(source: string) {
      // cargo writes a lock file beside the manifest.
      const copy = join(folder, "rust");
      cpSync(source, copy, { recursive: true });
      make(copy, "cargo", "build", "--offline", "--target-dir", RUST_TARGET, ...DEBIAN_CRATES);
      return join(RUST_TARGET, "debug/octant-vectors");
    },
  },
];

describe.each(IMPLEMENTATIONS)("the implementation in $language", ({ language, needs, ...about }) => {
  const source = join(VECTORS, "implementations", language);

  test("has less than 600 lines, none of them long", () => {
    const files = globSync(`**/*${about.extension}`, { cwd: source });
    // The last of each is the empty one after the last newline.
    const lines = files.flatMap((file) => readFileSync(join(source, file), "utf8").split("\n").slice(0, -1));
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.length).toBeLessThan(600);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  test.skipIf(lacks(...needs))("passes every case of its domains", async () => {
    const { code, stdout } = await run(...about.domains, "--json", "--command", about.command(source));
    expect(code, stdout).toBe(0);
    const results = JSON.parse(stdout);
    expect(results.map(({ domain }: { domain: string }) => domain)).toEqual(about.domains);
    for (const result of results) expect(result).toMatchObject({ failures: [], passed: result.cases });
  });
});

/** An implementation that answers every case the same way. */
function implementation(answer: string): string {
  const file = join(folder, "wrong.mjs");
  writeFileSync(
    file,
    `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  console.log(${answer});
}`,
  );
  return `"${process.execPath}" "${file}"`;
}

test("a wrong implementation fails, and each failure names its case", async () => {
  const { code, stdout } = await run(
    "oauth-pkce",
    "--command",
    implementation('JSON.stringify({ id, output: { challenge: "x" } })'),
  );
  expect(code).toBe(1);
  expect(stdout).toContain("pkce-001: the example of RFC 7636, appendix B");
  expect(stdout).toContain('got {"challenge":"x"}');
});

test("a case cannot be skipped", async () => {
  const { code, stderr } = await run(
    "oauth-pkce",
    "--command",
    implementation('JSON.stringify({ id, unsupported: "no" })'),
  );
  expect(code).toBe(1);
  expect(stderr).toContain("pkce-001 with no output");
});

test.each([
  ["is no JSON", '"nonsense"', "UPSTREAM_ERROR"],
  ["is about another case", 'JSON.stringify({ id: "other", output: {} })', "UPSTREAM_ERROR"],
  ["never comes", "process.exit(3)", "EXEC_FAILED"],
])("an answer that %s ends the test with an error", async (_, answer, expected) => {
  const { code, stderr } = await run("oauth-pkce", "--command", implementation(answer));
  expect(code).toBe(1);
  expect(stderr).toContain(expected);
});

test("an answer may contain the line separators of Unicode", async () => {
  const { code, stdout } = await run(
    "oauth-pkce",
    "--command",
    implementation('JSON.stringify({ id, output: { challenge: "one\\u2028line" } })'),
  );
  expect(code).toBe(1);
  expect(stdout).toContain('got {"challenge":"one\\u{2028}line"}');
});

test("an unknown domain is refused with the existing ones", async () => {
  const { code, stderr } = await run("sse");
  expect(code).toBe(2);
  expect(stderr).toContain("domains: sse-frames, mcp-normalization");
});
