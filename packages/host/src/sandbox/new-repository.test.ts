import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { disarmRepository } from "./new-repository.ts";

const home = mkdtempSync(join(tmpdir(), "octant-new-repository-"));
afterAll(() => rmSync(home, { recursive: true }));

test.skipIf(process.platform !== "linux")(
  "a repository is never without settings while programs are removed from them",
  () => {
    const git = join(home, ".git");
    const config = join(git, "config");
    mkdirSync(git);
    writeFileSync(config, "[user]\n\tname = A\n[core]\n\tfsmonitor = ./evil.sh\n");
    const moved = disarmRepository(git, (path, name) => {
      renameSync(path, join(home, name));
      // A git that looks now would otherwise start with new settings.
      expect(existsSync(config)).toBe(true);
      return true;
    });
    expect(moved).toEqual([config]);
    expect(readFileSync(config, "utf8")).toBe("[user]\n\tname = A\n[core]\n");
    expect(readFileSync(join(home, "config"), "utf8")).toContain("evil");
    expect(readdirSync(git)).toEqual(["config"]);
  },
);
