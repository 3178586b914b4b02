import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** The modules that a piece of code loads, by name. */
function loadedBy(code: string): string[] {
  const script = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve(specifier, context, next) { seen.add(specifier); return next(specifier, context); } });
    ${code}
    console.log(JSON.stringify([...seen]));
    process.exit(0);`;
  const output = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  return JSON.parse(output.trim().split("\n").at(-1) ?? "");
}

const HEAVY = ["ws", "jose", "node:http", "node:https", "@modelcontextprotocol/server"];
const heavyOf = (names: readonly string[]) => names.filter((name) => HEAVY.includes(name));

test("serving stdio loads nothing of HTTP", () => {
  expect(heavyOf(loadedBy('await import("../index.ts");'))).toEqual([]);
});

test("serving HTTP does not load WebSocket, OAuth or the SDK before they are needed", () => {
  const names = loadedBy(`
    const { serveHttp } = await import("../index.ts");
    const { createTokenStore } = await import("@octant/http");
    const { createDemo } = await import("../../testing/demo.ts");
    const tokens = createTokenStore({ folder: "/nonexistent" });
    const server = await serveHttp({ ...createDemo().options, tokens });
    await fetch(server.url);
    await server.close();`);
  expect(heavyOf(names)).toEqual(["node:http"]);
});
