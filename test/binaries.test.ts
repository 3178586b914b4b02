import { closeSync, existsSync, globSync, lstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { broughtPackages, MAKERS } from "../scripts/docs/binaries.ts";

const MODULES = join(import.meta.dirname, "../node_modules");
/** Programs and libraries of Linux, Windows and macOS, and WebAssembly. */
const BINARY = /^(\x7fELF|MZ|\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe|\0asm)/;

const installed = broughtPackages().filter(([name]) => existsSync(join(MODULES, name)));
const makerOf = (name: string) => MAKERS.find(({ names }) => names.test(name));

test("the page names the maker of every package that contains a binary", () => {
  const holders = installed.filter(([name]) => holdsBinary(join(MODULES, name))).map(([name]) => name);
  expect(holders.length).toBeGreaterThan(5);
  expect(holders.filter((name) => !makerOf(name))).toEqual([]);
});

test("the named source is the one that the package itself names", () => {
  for (const [name] of installed) {
    const maker = makerOf(name);
    const manifest = JSON.parse(readFileSync(join(MODULES, name, "package.json"), "utf8"));
    if (maker) expect(JSON.stringify(manifest.repository)).toContain(maker.source);
  }
});

function holdsBinary(folder: string): boolean {
  return globSync("**/*", { cwd: folder, exclude: ["**/node_modules/**"] })
    .map((path) => join(folder, path))
    .filter((path) => lstatSync(path).isFile())
    .some((path) => BINARY.test(firstBytes(path)));
}

function firstBytes(path: string): string {
  const bytes = Buffer.alloc(4);
  const file = openSync(path, "r");
  readSync(file, bytes);
  closeSync(file);
  return bytes.toString("latin1");
}
