import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** The source files with a function that runs between the bytes of a warm call and the dispatcher. */
const SCRIPT = `
  import { Session } from "node:inspector/promises";
  import { serveStdio } from "./index.ts";
  import { createDemo } from "../testing/demo.ts";
  import { createLineClient } from "../testing/lines.ts";
  const [era] = process.argv.slice(1);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  const { options } = createDemo();
  let onDispatch = () => {};
  const dispatch = (call, given) => {
    onDispatch();
    return options.dispatch(call, given);
  };
  const client = createLineClient();
  serveStdio({ ...options, ...client, dispatch });
  const _meta = era === "modern" ? {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  } : {};
  const call = (id) => {
    client.send({ jsonrpc: "2.0", id, method: "tools/call",
      params: { name: "demo", arguments: { action: "echo", text: "x" }, _meta } });
    return client.next();
  };
  if (era === "legacy") {
    client.send({ jsonrpc: "2.0", id: 0, method: "initialize", params: {
      protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } } });
    await client.next();
  }
  await call(1);
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  let taken;
  onDispatch = () => { taken = session.post("Profiler.takePreciseCoverage"); };
  await call(2);
  const { result } = await taken;
  const files = result
    .filter(({ url, functions }) => /packages\\/(mcp|core)\\/src\\//.test(url) && url.endsWith(".ts") &&
      functions.some(({ functionName, ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => url.replace(/.*packages\\//, ""));
  console.log(JSON.stringify(files));
  process.exit(0);
`;

test.each(["legacy", "modern"])(
  "a plain call passes at most nine files before the dispatcher (%s)",
  (era) => {
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", SCRIPT, era], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    const files: string[] = JSON.parse(output.trim());
    expect(files).toContain("mcp/src/connection.ts");
    expect(files.length, files.join("\n")).toBeLessThanOrEqual(9);
  },
);
