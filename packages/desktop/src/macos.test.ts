import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createMacos } from "./macos.ts";
import type { Desktop } from "./program.ts";

const { signal } = new AbortController();

/** A Retina display of 1000x600 points that records its commands. */
function openMac() {
  const ran: string[] = [];
  const desktop: Pick<Desktop, "run"> = {
    async run(program, args, _signal, input) {
      const source = args.at(-1) ?? "";
      if (source.includes("NSScreen"))
        return Buffer.from(JSON.stringify({ width: 1000, height: 600, scale: 2 }));
      if (source.includes("unixId() +"))
        return Buffer.from(
          JSON.stringify([
            { id: "7.0", title: "Notes", pid: 7, x: 10, y: 20, width: 300, height: 200, active: true },
          ]),
        );
      if (program === "screencapture") writeFileSync(source, "picture");
      const shown = program === "screencapture" ? args.slice(0, -1).join(" ") : (input ?? source);
      ran.push(`${program} ${shown}`);
      return Buffer.from("true");
    },
  };
  // The test does not use the rest of a desktop.
  return { mac: createMacos(desktop as Desktop), ran };
}

test("clicks, moves and drags are commands for cliclick, in points", async () => {
  const { mac, ran } = openMac();
  await mac.click({ x: 100, y: 50 }, { button: "left", count: 2, modifiers: ["Meta", "Shift"] }, signal);
  await mac.click({ x: 3, y: 3 }, { button: "right", count: 1, modifiers: [] }, signal);
  await mac.move({ x: 1999, y: 1199 }, signal);
  await mac.drag({ x: 0, y: 0 }, { x: 40, y: 60 }, signal);
  expect(ran).toEqual([
    "cliclick kd:cmd,shift\ndc:50,25\nku:cmd,shift\n",
    "cliclick rc:2,2\n",
    "cliclick m:1000,600\n",
    "cliclick dd:0,0\ndm:20,30\ndu:20,30\n",
  ]);
  await expect(mac.move({ x: 2000, y: 0 }, signal)).rejects.toThrow(/2000,0 is not on the screen/);
});

test("text and keys are typed from stdin, chords with their modifiers held", async () => {
  const { mac, ran } = openMac();
  await mac.type("Grüße\nund mehr", signal);
  await mac.press(["Control+a", "Enter", "F5", "+"], signal);
  expect(ran).toEqual([
    "cliclick t:Grüße\nkp:return\nt:und mehr\n",
    "cliclick kd:ctrl\nt:a\nku:ctrl\nkp:return\nkp:f5\nt:+\n",
  ]);
  await expect(mac.press(["Nokey"], signal)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("windows and pictures are in pixels", async () => {
  const { mac, ran } = openMac();
  expect(await mac.size(signal)).toEqual({ width: 2000, height: 1200 });
  const [window] = await mac.windows(signal);
  expect(window).toMatchObject({ id: "7.0", x: 20, y: 40, width: 600, height: 400 });
  expect((await mac.picture(window, signal)).toString()).toBe("picture");
  await mac.picture(undefined, signal);
  await mac.activate("7.0", signal);
  await mac.scroll(undefined, { dx: 0, dy: 3 }, signal);
  expect(ran.slice(0, 2)).toEqual(["screencapture -x -t png -R10,20,300,200", "screencapture -x -t png"]);
  expect(ran[2]).toContain("unixId: 7");
  expect(ran[3]).toContain("kCGScrollEventUnitLine, 2, -3, 0, 0)");
});
