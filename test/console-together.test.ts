import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTab } from "./console/browser.ts";
import { allowOnce, row, useStage } from "./console/stage.ts";
import { startOctant } from "./octant-process.ts";
import { openTmux } from "./tmux-terminal.ts";

const stage = useStage();

test("one page shows a client's stdio server, a chat in tmux and an HTTP server; the chat is answered there", async () => {
  const { project, env } = stage.scene;
  const { page } = await openTab(stage.browser, await stage.link());
  const http = startOctant(["serve", "--http", "--port", "0"], { cwd: project.root, env });
  http.stderr.resume();
  using tmux = openTmux(project.root, env);
  try {
    await once(http.stdout, "data");
    http.stdout.resume();
    tmux.type("$OCTANT --model some-model");
    tmux.press("Enter");
    await tmux.shows("ask, or / for commands");
    const roster = (text: string) => page.locator(".roster-row", { hasText: text }).waitFor();
    await roster("octant serve --http");
    await roster("octant chat");
    await roster("claude-code 2.1.4");
    tmux.type("leave a note");
    tmux.press("Enter");
    const question = page.locator(".question-line", { hasText: "note-0.md" });
    await question.waitFor();
    await tmux.has("note-0.md");
    expect(existsSync(join(project.root, "note-0.md"))).toBe(false);
    await question.click();
    await page.locator(".diff-row.added", { hasText: "# A note" }).waitFor();
    await allowOnce(page);
    await tmux.has("The tool said:");
    expect(existsSync(join(project.root, "note-0.md"))).toBe(true);
    await page.goto(`${stage.api.origin}/console/#/sessions`);
    await row(page, "leave a note").click();
    await page.locator(".entry.assistant", { hasText: "The tool said:" }).waitFor();
  } finally {
    http.kill();
    await page.context().close();
  }
});
