import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";
import { mayMount, mountSmallDisk } from "./small-disk.ts";

test.skipIf(!mayMount)(
  "a full state disk stops no server: reading goes on, changes are NO_SPACE, and a new one starts elsewhere",
  async () => {
    await using person = await createPerson();
    const root = join(person.folder, "project");
    writeFiles(root, { "src/greet.ts": "export function greetPeople() {}\n" });
    const state = join(person.folder, "state");
    using disk = mountSmallDisk(state);
    const env = { XDG_STATE_HOME: state, TMPDIR: person.folder };

    await using server = await person.serve(root, { env });
    disk.fill();
    expect((await server.call("fs.read", { uri: "src/greet.ts" })).ok).toBe(true);
    const written = await server.call("fs.write", { uri: "new.txt", content: "new\n" });
    expect(written.error).toMatchObject({ code: "NO_SPACE" });
    expect(existsSync(join(root, "new.txt"))).toBe(false);
    for (const [action, input] of [
      ["proc.exec", { command: "echo one" }],
      ["code.search_symbol", { query: "greetPeople" }],
      ["search.query", { query: "greetPeople" }],
    ] as const) {
      const { ok, error } = await server.call(action, input);
      expect(ok ? "OK" : error?.code, action).toMatch(/^(OK|NO_SPACE)$/);
    }
    {
      await using second = await person.serve(root, { env });
      expect((await second.call("proc.exec", { command: "echo two" })).data.stdout).toBe("two\n");
      expect((await second.call("fs.write", { uri: "second.txt", content: "2\n" })).ok).toBe(true);
    }
    disk.free();
    // The audit log does not retry a failing disk at once.
    await expect
      .poll(async () => (await server.call("fs.write", { uri: "new.txt", content: "new\n" })).ok)
      .toBe(true);
    expect((await server.call("proc.exec", { command: "echo three" })).data.stdout).toBe("three\n");
  },
);
