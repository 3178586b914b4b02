import { Terminal } from "@xterm/headless";
import { expect, test } from "vitest";
import { toRuns } from "./to-runs.ts";

async function runsOf(text: string) {
  const terminal = new Terminal({ cols: 40, rows: 5, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  return toRuns(terminal.buffer.active.getLine(0)!, 40);
}

test("plain text is one run without the blanks at its end", async () => {
  expect(await runsOf("hello  world   ")).toEqual([
    { text: "hello  world", className: "", style: undefined },
  ]);
});

test("colours and weights make runs of their own", async () => {
  expect(
    await runsOf("a \u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3mrgb\u001b[0m\u001b[48;5;232m \u001b[0m"),
  ).toEqual([
    { text: "a", className: "", style: undefined },
    { text: " ", className: "", style: undefined },
    { text: "red", className: "bold fg-1", style: undefined },
    { text: " ", className: "", style: undefined },
    { text: "rgb", className: "", style: { color: "#010203" } },
    { text: " ", className: "", style: { backgroundColor: "#080808" } },
  ]);
});

test("overwritten lines and wide characters are as on a terminal", async () => {
  expect((await runsOf("10 %\r90 %")).map(({ text }) => text)).toEqual(["90 %"]);
  expect((await runsOf("漢字 ok")).map(({ text }) => text)).toEqual(["漢字 ok"]);
});
