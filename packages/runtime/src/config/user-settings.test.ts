import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createProject } from "../../testing/config/project.ts";
import { setUserSettings } from "./user-settings.ts";

test("a value takes the place of the one before; comments and other keys stay", async () => {
  using project = createProject();
  project.write("user", '{\n  // mine\n  "model": "old",\n  "input_mode": "vim"\n}\n');
  await setUserSettings({ model: "new", base_url: "http://127.0.0.1:1/v1" }, { env: project.env });
  expect(readFileSync(project.files.user, "utf8")).toBe(
    '{\n  // mine\n  "model": "new",\n  "input_mode": "vim",\n  "base_url": "http://127.0.0.1:1/v1"\n}\n',
  );
});

test("settings that could not be read again are not written", async () => {
  using project = createProject();
  project.write("user", '{ "model": "old" }');
  await expect(setUserSettings({ base_url: "not a URL" }, { env: project.env })).rejects.toThrow("base_url");
  expect(readFileSync(project.files.user, "utf8")).toBe('{ "model": "old" }');
});
