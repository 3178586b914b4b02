import { expect, test } from "vitest";
import { loadCommands } from "./commands/index.ts";
import { renderOverview, renderUsage } from "./usage.ts";

test("on a terminal of 80 columns no text of the help is wider, and nothing of it is lost", async () => {
  const commands = await loadCommands();
  const wordsOf = (text: string) => text.split(/\s+/);
  for (const render of [
    (columns?: number) => renderOverview(commands, columns),
    ...commands.map((command) => (columns?: number) => renderUsage(command, columns)),
  ]) {
    const lines = render(80).split("\n");
    // Usage lines and examples stay whole, so that they can be copied.
    const wide = lines.filter((line) => line.length > 80 && !/^( {2})?(octant |[$\w/~]+ )/.test(line));
    expect(wide).toEqual([]);
    expect(wordsOf(render(80))).toEqual(wordsOf(render()));
  }
});

test("a long first cell stands on a line of its own", async () => {
  const commands = await loadCommands();
  expect(renderOverview(commands, 80)).toContain(
    `\n  call TOOL.ACTION [KEY=VALUE …]\n${" ".repeat(28)}Call one action`,
  );
});
