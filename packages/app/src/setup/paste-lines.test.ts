import { expect, test } from "vitest";
import { CLIENTS } from "./clients.ts";
import { formatOf, toUrl } from "./entry.ts";
import { pasteLines } from "./paste-lines.ts";
import { entryPath } from "./plan.ts";

const server = { url: "http://127.0.0.1:7300/mcp", token: "oct_x" };
const machine = { platform: "linux", env: {}, home: "/home/ada", cwd: "/project" } as const;
const pasted = pasteLines(server, machine, "npx -y @octant/cli");

test.each(CLIENTS.map((client, at) => ({ client, ...pasted[at] })))(
  "$client.title has lines in its own format",
  ({ client, title, lines = [] }) => {
    expect(title).toContain(client.title);
    const text = lines.join("\n");
    if (client.id === "claude-code") return expect(text).toContain("claude mcp add --transport http");
    if (!client.remote) return expect(text).toBe(`npx -y @octant/cli setup ${client.id}`);
    const entry = formatOf(client).read(text, entryPath(client)) ?? {};
    expect(toUrl(entry)?.href).toBe(server.url);
    expect(entry[client.remote.headers]).toEqual({ Authorization: "Bearer oct_x" });
  },
);

test("clients that use `url` for another transport get a different field", () => {
  const of = (name: string) => pasted.find(({ title }) => title.startsWith(name))?.lines.join() ?? "";
  expect(of("Gemini CLI")).toMatch(/^\{"mcpServers":\{"octant":\{"httpUrl":/);
  expect(of("Windsurf")).toMatch(/^\{"mcpServers":\{"octant":\{"serverUrl":/);
  expect(of("VS Code")).toMatch(/^\{"servers":\{"octant":\{"type":"http","url":/);
  expect(of("opencode")).toMatch(/^\{"mcp":\{"octant":\{"type":"remote","url":/);
  expect(of("Zed")).toMatch(/^\{"context_servers":\{"octant":\{"url":/);
});
