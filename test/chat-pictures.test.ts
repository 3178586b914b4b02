import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChat } from "./open-chat.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

test("pictures come by a mention, a dropped path and the clipboard, and reach the model as images", async () => {
  await using opened = await openChat(() => ({ parts: [{ text: "I see." }] }));
  const { terminal, project, provider } = opened;
  const home = project.env["HOME"] ?? "";
  writeFileSync(join(project.root, "inside.png"), PNG);
  writeFileSync(join(home, "a shot.png"), PNG);
  writeFileSync(join(home, "fake.png"), "not a picture");
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin/wl-paste"), `#!/bin/sh\necho ${PNG.toString("base64")} | base64 -d\n`, {
    mode: 0o755,
  });
  await opened.start(`PATH=${home}/bin:$PATH`);
  terminal.type(`\x1b[200~'${join(home, "fake.png")}'\x1b[201~`);
  await terminal.shows("fake.png'");
  terminal.type("\x03");
  await terminal.shows("ask, or / for commands");
  terminal.type(`\x1b[200~${join(home, "a\\ shot.png")}\x1b[201~`);
  await terminal.shows("[picture 1: a shot.png, 1 kB]");
  terminal.type("\x16");
  await terminal.shows("[picture 2: clipboard, 1 kB]");
  terminal.type("beside @inside.png ");
  await terminal.shows("beside @inside.png");
  terminal.type("\r");
  await terminal.shows("I see.");
  await terminal.shows("with 3 pictures");
  const raw = provider.requests[0]?.raw ?? "";
  expect(raw.split(PNG.toString("base64"))).toHaveLength(4);
  expect(raw).toContain("image/png");
});
