import { expect, test } from "vitest";
import type { Desktop } from "./program.ts";
import { createWindows } from "./windows.ts";
import { WINDOWS_SCRIPT } from "./windows-script.ts";

const { signal } = new AbortController();
const MAX_COMMAND_CHARS = 32_767;

/** A display of 1920x1080 pixels that records its requests. */
function openWindows(answer: object = {}) {
  const asked: { op: string; events: unknown[] }[] = [];
  const ran: { program: string; args: readonly string[]; input: string }[] = [];
  const desktop: Pick<Desktop, "run"> = {
    async run(program, args, _signal, input = "") {
      ran.push({ program, args, input });
      asked.push(JSON.parse(input));
      return Buffer.from(
        Buffer.from(JSON.stringify({ width: 1920, height: 1080, ...answer })).toString("base64"),
      );
    },
  };
  // The test does not use the rest of a desktop.
  return { windows: createWindows(desktop as Desktop), asked, ran };
}

test("nothing that a caller gives is part of the script or of an argument", async () => {
  const { windows, ran } = openWindows({ active: true });
  const evil = "'; Remove-Item C:\\ -Recurse #\n'@ \" $(calc) `calc` 你好 😀";
  await windows.type(evil, signal);
  await windows.activate(evil, signal);
  for (const { program, args, input } of ran) {
    expect(program).toBe("powershell.exe");
    expect(Buffer.from(args.at(-1) ?? "", "base64").toString("utf16le")).toBe(WINDOWS_SCRIPT);
    expect(args.join(" ").length).toBeLessThan(MAX_COMMAND_CHARS);
    expect(input).toMatch(/^[\x20-\x7e]*$/);
  }
  expect(JSON.parse(ran[1]?.input ?? "")).toEqual({ op: "activate", id: evil });
});

test("clicks, drags and the wheel are events of SendInput", async () => {
  const { windows, asked } = openWindows();
  await windows.click({ x: 10.4, y: 20 }, { button: "right", count: 2, modifiers: ["Control"] }, signal);
  await windows.scroll({ x: 1, y: 2 }, { dx: 0, dy: 2 }, signal);
  await windows.drag({ x: 0, y: 0 }, { x: 120, y: 240 }, signal);
  const [click, scroll, drag] = asked.map(({ events }) => events);
  expect(click?.filter((event) => !String(event).startsWith("pause"))).toEqual([
    ...[
      ["move", 10, 20],
      ["key", 0x11, 0],
    ],
    ...[
      ["mouse", 8, 0],
      ["mouse", 16, 0],
      ["mouse", 8, 0],
      ["mouse", 16, 0],
    ],
    ["key", 0x11, 2],
  ]);
  expect(scroll).toEqual([
    ["move", 1, 2],
    ["mouse", 0x800, -120],
    ["mouse", 0x800, -120],
  ]);
  expect(drag?.at(0)).toEqual(["move", 0, 0]);
  expect(drag?.slice(-3)).toEqual([
    ["move", 120, 240],
    ["pause", 20],
    ["mouse", 4, 0],
  ]);
});

test("text is typed as it is, and keys by their names, chords on the person's keyboard", async () => {
  const { windows, asked } = openWindows();
  await windows.type("ü\n😀", signal);
  await windows.press(["Control+Shift+a", "ArrowLeft", "F12", "+"], signal);
  const [typed, pressed] = asked.map(({ events }) => events);
  expect(typed).toEqual([
    ...[
      ["unit", 0xfc, 0],
      ["unit", 0xfc, 2],
      ["key", 13, 0],
      ["key", 13, 2],
    ],
    ...[
      ["unit", 0xd83d, 0],
      ["unit", 0xd83d, 2],
      ["unit", 0xde00, 0],
      ["unit", 0xde00, 2],
    ],
  ]);
  expect(pressed).toEqual([
    ...[
      ["key", 0x11, 0],
      ["key", 0x10, 0],
      ["keyof", 97, 0],
      ["keyof", 97, 2],
      ["key", 0x10, 2],
      ["key", 0x11, 2],
    ],
    ...[
      ["key", 0x25, 1],
      ["key", 0x25, 3],
      ["key", 0x7b, 0],
      ["key", 0x7b, 2],
    ],
    ...[
      ["keyof", 43, 0],
      ["keyof", 43, 2],
    ],
  ]);
  expect(() => windows.press(["Nokey"], signal)).toThrow(/there is no key 'Nokey'/);
  expect(() => windows.press(["Nokey+a"], signal)).toThrow(/is not a modifier/);
});

test("windows and pictures are read; a point outside and a refused focus are typed errors", async () => {
  const row = ["66", "Notes", 7, -8, 20, 300, 200, true];
  const { windows, asked } = openWindows({ windows: [row], png: Buffer.from("picture").toString("base64") });
  expect(await windows.windows(signal)).toEqual([
    { id: "66", title: "Notes", pid: 7, x: -8, y: 20, width: 300, height: 200, active: true },
  ]);
  expect((await windows.picture(undefined, signal)).toString()).toBe("picture");
  expect(asked.at(-1)).toEqual({ op: "picture", x: 0, y: 0, width: 1920, height: 1080 });
  const outside = openWindows({ outside: [5000, 1] }).windows;
  await expect(outside.move({ x: 5000, y: 1 }, signal)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  await expect(openWindows({ active: false }).windows.activate("66", signal)).rejects.toMatchObject({
    code: "EXEC_FAILED",
  });
});
