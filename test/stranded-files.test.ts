import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { startSession } from "./mcp-session.ts";

test.skipIf(inject("missing").includes("bubblewrap"))(
  "a command that writes to the sandbox's own home or temp folder says where the files really are",
  async () => {
    using project = createFixtureProject();
    const home = project.env["HOME"] ?? "";
    writeFileSync(join(home, ".bashrc"), "# mine\n");
    await using session = await startSession([], { cwd: project.root, env: project.env });
    const noteOf = async (command: string) => {
      const { data } = await session.exec(command);
      expect(data, command).toMatchObject({ exit_code: 0 });
      return String(data?.["note"] ?? "");
    };
    for (const [command, path, text] of [
      ["cp package.json ~/keep.json", `${home}/keep.json`, '"name": "demo"'],
      ["git diff --stat > /tmp/my.patch; echo 1 >> /tmp/my.patch", "/tmp/my.patch", "1\n"],
      [`cd && echo made > "$(echo plain)"`, `${home}/plain`, "made\n"],
      ["echo 'export A=1' >> $HOME/.bashrc", `${home}/.bashrc`, "# mine\nexport A=1\n"],
      ["cd /tmp && echo moved > in-temp.txt", "/tmp/in-temp.txt", "moved\n"],
      ["mkdir -p /tmp/deep && (cd /tmp/deep; echo 3 > y)", "/tmp/deep/y", "3\n"],
      ["tar cf - package.json | tar xf - -C /tmp", "/tmp/package.json", '"name": "demo"'],
      ["mkdir /var/tmp/made && echo 2 > /var/tmp/made/x", "/var/tmp/made/x", "2\n"],
    ] as const) {
      const note = await noteOf(command);
      expect(note, command).toContain("only commands in the sandbox see");
      const source = note
        .split(/: |, /)
        .find((one) => one.startsWith(`${path} is really `))
        ?.slice(`${path} is really `.length);
      expect(readFileSync(source ?? expect.fail(note), "utf8"), command).toContain(text);
    }
    expect(["keep.json", "plain"].filter((name) => existsSync(join(home, name)))).toEqual([]);
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
    for (const command of [
      "cat /tmp/my.patch ~/keep.json ~/.bashrc",
      "echo x > /tmp/gone && rm /tmp/gone",
      'echo x > "$(mktemp)"',
      "mkdir -p ~/.cache/tool && echo x > ~/.cache/tool/y && echo x > ~/.toolrc.tmp && rm ~/.toolrc.tmp",
      "cd /tmp && cat in-temp.txt deep/y",
      "echo x > made-here.txt",
    ])
      expect(await noteOf(command), command).toBe("");
  },
);
