import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const REPOSITORY = join(import.meta.dirname, "..");
const PACKAGES = readdirSync(join(REPOSITORY, "packages"));
const readme = (name: string) => readFileSync(join(REPOSITORY, "packages", name, "README.md"), "utf8");
const programOf = (name: string) => join(REPOSITORY, "examples/packages", `${name}.ts`);

describe.each(PACKAGES)("%s", (name) => {
  test("says what it is in its own words, with links that lead somewhere", () => {
    const text = readme(name);
    expect(text).toMatch(new RegExp(`^# @octant/${name}\n\n\\S`));
    for (const [, target = ""] of text.matchAll(/\]\((?!https?:)([^)#]+)/g))
      expect(existsSync(join(REPOSITORY, "packages", name, target)), target).toBe(true);
  });

  test("has a description, keywords and a licence for the registry", () => {
    const manifest = JSON.parse(readFileSync(join(REPOSITORY, "packages", name, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ license: "MIT", description: expect.stringMatching(/\.$/) });
    expect(manifest.keywords?.length).toBeGreaterThan(2);
  });

  test.runIf(existsSync(programOf(name)))("shows an example that prints what the README says", () => {
    const folder = mkdtempSync(join(tmpdir(), "octant-readme-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "README.md"), "# My project\n");
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const { stdout, stderr, status } = spawnSync(process.execPath, [programOf(name)], {
      cwd: folder,
      encoding: "utf8",
      env: { PATH, NODE_COMPILE_CACHE, HOME: folder, TMPDIR: folder },
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(readme(name)).toContain(
      `\`\`\`ts\n${readFileSync(programOf(name), "utf8")}\`\`\`\n\n\`\`\`text\n${stdout.trim()}\n\`\`\`\n`,
    );
  });
});

test("a package whose exports are public API has an example", () => {
  const isPublic = (name: string) => readme(name).includes("Its exports are [public API]");
  expect(PACKAGES.filter((name) => isPublic(name) && !existsSync(programOf(name)))).toEqual([]);
});
