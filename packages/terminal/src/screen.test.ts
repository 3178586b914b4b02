import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Screen } from "./screen.ts";
import { type Line, span } from "./styled.ts";
import { createTestDevice } from "./testing/device.ts";

const PALETTE = { depth: "none", background: "dark" } as const;
const line = (text: string): Line => [span(text)];
const live = (...texts: string[]) => ({
  lines: texts.map(line),
  cursor: { row: texts.length - 1, column: 0 },
});

const SHELL = ["$ make", "ok", "$ octant"];

function open(columns: number, rows: number) {
  const device = createTestDevice(columns, rows);
  device.write(`${SHELL.join("\r\n")}\r\n`);
  return { device, screen: new Screen(device, PALETTE) };
}

const withoutEmptyEnd = (rows: string[]) => rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);

describe.each([
  [80, 24],
  [40, 10],
  [200, 60],
])("a screen of %i x %i", (columns, rows) => {
  test("committed lines go into the scrollback once, below the shell's output", async () => {
    const { device, screen } = open(columns, rows);
    const committed: string[] = [];
    for (let i = 0; i < 100; i++) {
      committed.push(`line ${i}`);
      screen.draw([line(`line ${i}`)], live(`tail ${i}`, "> prompt", "status"));
    }
    expect(withoutEmptyEnd(await device.all())).toEqual([
      ...SHELL,
      ...committed,
      "tail 99",
      "> prompt",
      "status",
    ]);
  });

  test("random drawing leaves exactly the committed lines and the last live region", async () => {
    const step = fc.record({
      committed: fc.array(fc.string({ unit: fc.constantFrom(..."abc"), minLength: 1, maxLength: columns }), {
        maxLength: 3,
      }),
      live: fc.array(fc.string({ unit: fc.constantFrom(..."xyz"), minLength: 1, maxLength: columns - 1 }), {
        minLength: 1,
        maxLength: 6,
      }),
      row: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const { device, screen } = open(columns, rows);
        for (const one of steps) {
          const row = Math.min(one.row, one.live.length - 1);
          screen.draw(one.committed.map(line), { lines: one.live.map(line), cursor: { row, column: 1 } });
        }
        const committed = steps.flatMap((one) => one.committed);
        expect(withoutEmptyEnd(await device.all())).toEqual([
          ...SHELL,
          ...committed,
          ...(steps.at(-1)?.live ?? []),
        ]);
        expect(device.written).not.toContain("\x1b[3J");
        expect(device.written).not.toContain("\x1b[2J");
      }),
      { numRuns: 40 },
    );
  });
});

test("unchanged lines are not written again", () => {
  const { device, screen } = open(80, 24);
  screen.draw([], live("one", "two", "three"));
  const before = device.written.length;
  screen.draw([], live("one", "two", "three"));
  expect(device.written.length).toBe(before);
  screen.draw([], live("one", "CHANGED", "three"));
  expect(device.written.slice(before)).not.toContain("one");
  expect(device.written.slice(before)).toContain("CHANGED");
});

test("a live region taller than the screen shows the part around the cursor", async () => {
  const { device, screen } = open(40, 8);
  screen.draw([], live(...Array.from({ length: 30 }, (_, i) => `row ${i}`)));
  expect(withoutEmptyEnd(await device.screen()).at(-1)).toBe("row 29");
  screen.draw([line("done")], live("> "));
  expect(withoutEmptyEnd(await device.all())).toContain("done");
});

test.each([
  [60, 20],
  [120, 24],
  [30, 12],
])(
  "after a resize to %i x %i the person's scrollback and every committed line are still there, once",
  async (columns, rows) => {
    const { device, screen } = open(80, 24);
    const committed = Array.from({ length: 30 }, (_, i) => `committed ${i}`);
    for (const text of committed) screen.draw([line(text)], live("tail", "> prompt", "status"));
    await device.resize(columns, rows);
    screen.draw([], live("tail", "> prompt", "status"));
    screen.draw([line("after")], live("tail", "> prompt", "status"));
    const shown = withoutEmptyEnd(await device.all()).filter((row) => row !== "");
    expect(shown).toEqual([...SHELL, ...committed, "after", "tail", "> prompt", "status"]);
    expect(device.written).not.toContain("\x1b[3J");
  },
);

test("closing removes the live region and leaves the cursor below the last committed line", async () => {
  const { device, screen } = open(80, 24);
  screen.draw([line("answer")], live("> prompt", "status"));
  screen.clear();
  device.write("$");
  expect(withoutEmptyEnd(await device.all())).toEqual([...SHELL, "answer", "$"]);
});
