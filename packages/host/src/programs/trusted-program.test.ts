import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findOnPath, findOutsideProjects, findTrusted, pathOutsideProjects } from "./trusted-program.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-programs-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a trusted program comes from a system folder", () => {
  expect(findTrusted("sh")).toMatch(/^\/(usr\/)?bin\/sh$/);
  expect(findTrusted("no-such-program")).toBeUndefined();
});

test("a program in a folder that commands can write to is not trusted, nor one linked into it", () => {
  expect(findTrusted("sh", ["/"])).toBeUndefined();
  // On most systems /bin is a link to /usr/bin.
  expect(findTrusted("sh", ["/usr", "/bin"])).toBeUndefined();
});

test("a relative folder of a PATH holds no programs: it depends on where we are", () => {
  const path = [relative(process.cwd(), "/usr/bin"), "", "/bin"].join(":");
  expect(findOnPath("sh", path)).toBe("/bin/sh");
  expect(findOnPath("no-such-program", path)).toBeUndefined();
});

test("a project's folders and every node_modules are left out of the PATH", () => {
  const path = ["bin", join(root, "node_modules/.bin"), "/opt/x/node_modules/.bin", "/usr/bin", "."].join(
    ":",
  );
  expect(pathOutsideProjects(path, [root])).toBe("/usr/bin");
});

test("a program that a project planted is not found", () => {
  const planted = join(root, "node_modules/.bin");
  mkdirSync(planted, { recursive: true });
  writeFileSync(join(planted, "sh"), "#!/bin/sh\n");
  chmodSync(join(planted, "sh"), 0o755);
  const path = pathOutsideProjects(`${planted}:/usr/bin:/bin`, [root]);
  expect(findOutsideProjects("sh", path, [root])).toMatch(/bin\/sh$/);
  expect(findOutsideProjects("sh", planted, [root])).toBeUndefined();
});
