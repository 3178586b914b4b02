import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openCodeProject } from "./code-project.ts";

let template: string;
beforeEach(() => {
  template = mkdtempSync(join(tmpdir(), "octant-limits-"));
});
afterEach(() => rmSync(template, { recursive: true }));

test("code that is too large to be indexed is named where it contains the name, and counts in references", async () => {
  const filler = "# filler\n".repeat(130_000);
  writeFileSync(join(template, "small.rb"), "def charge!\nend\n");
  writeFileSync(join(template, "large.rb"), `def charge_all\n  charge!\nend\n${filler}`);
  // Smaller files are read without ripgrep.
  writeFileSync(join(template, "medium.rb"), `CHARGE!\n${filler.slice(0, 1_020_000)}`);
  writeFileSync(join(template, "bytes.rb"), `charge!\n"\0"\n${filler.slice(0, 1_020_000)}`);
  for (const [name, length] of [
    ["other.rb", filler.length],
    ["another.rb", 1_020_000],
  ] as const)
    writeFileSync(join(template, name), filler.slice(0, length));
  writeFileSync(join(template, "huge.rb"), `charge!\n${filler.repeat(4)}`);
  await using project = openCodeProject([template]);
  const uriOf = (file: string) => pathToFileURL(join(project.roots[0]!, file)).href;
  for (const query of ["charge!", "charge"]) {
    const { data } = await project.call("code", "search_symbol", { query });
    expect(data.results.map(({ name }: { name: string }) => name)).toContain("charge!");
    const named = ["bytes.rb", "huge.rb", "large.rb", "medium.rb"];
    expect(data.unparsed.toSorted()).toEqual(named.map(uriOf));
  }
  const { data } = await project.call("code", "references", { uri: "small.rb", at: "1:5" });
  expect(data).toMatchObject({ total: 2, not_listed: { unread: [uriOf("huge.rb")] } });
});

test("a language server that cannot start is named with its reason, in every action that needs it", async () => {
  writeFileSync(join(template, "a.rb"), "def greet\nend\ngreet\n");
  const command = [process.execPath, "-e", "console.error('no license'); process.exit(3)"] as const;
  await using project = openCodeProject([template], { configured: { ruby: { command: [...command] } } });
  const spot = { uri: "a.rb", at: "1:5" };
  for (const action of ["definition", "references", "calls", "hover"]) {
    const { data, meta } = await project.call("code", action, spot);
    expect(meta.backend).toBe("tree-sitter");
    expect(data.note).toContain("no license");
  }
  const { data } = await project.call("code", "diagnostics", { uri: "a.rb" });
  expect(data).toMatchObject({ checked: "syntax", note: expect.stringContaining("no license") });
  const { error } = await project.call("code", "rename", { ...spot, new_name: "salute" });
  expect(error.message).toContain("no license");
});
