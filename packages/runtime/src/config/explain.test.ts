import { expect, test } from "vitest";
import { createProject } from "../../testing/config/project.ts";
import { explainConfig } from "./explain.ts";

test("every value has its tier, file and line, and an unset value is a default", () => {
  using project = createProject();
  project.write("user", '{\n  "sandbox": {\n    "network": "off"\n  }\n}');
  const rows = new Map(explainConfig(project.load({ HANZO_MODEL: "m" })).map((row) => [row.key, row]));
  expect(rows.get("sandbox.network")).toEqual({
    key: "sandbox.network",
    value: "off",
    origin: { tier: "user", file: project.files.user, line: 3 },
  });
  expect(rows.get("model")?.origin).toEqual({ tier: "environment", file: null, line: null });
  expect(rows.get("sandbox.mode")).toMatchObject({ value: "workspace", origin: { tier: "default" } });
});

test("facts about a model are shown with the line that they come from", () => {
  using project = createProject();
  project.write("user", '{"models": {\n  "local-": { "images": false } } }');
  const [row] = explainConfig(project.load(), "models");
  expect(row).toMatchObject({ key: "models.local-", origin: { tier: "user", line: 2 } });
});

test("one key can be asked for: the rules of all tiers, each with its place", () => {
  using project = createProject();
  project.write("user", '{"permissions":{"fs.*":"allow",\n"proc.*":"prompt"}}');
  project.write(
    "project",
    '{"permissions":[{"tool_pattern":"fs.rm","mode":"deny","reason":"keep\\u001b[2J it"}]}',
  );
  const rows = explainConfig(project.load(), "permissions");
  expect(rows.map(({ value, origin }) => [value, origin.tier, origin.line])).toEqual([
    ["allow fs.*", "user", 1],
    ["prompt proc.*", "user", 2],
    ["deny fs.rm (keep\\x1b[2J it)", "project", 1],
  ]);
});

test("no secret is shown", () => {
  using project = createProject();
  const server = { command: "x", env: { TOKEN: "canary-1" } };
  const far = { url: "https://a.example/?key=canary-6", headers: { Authorization: "canary-2" } };
  project.write(
    "user",
    JSON.stringify({
      api_key: "canary-3",
      net_search: { provider: "brave", key: "canary-search" },
      oauth_credentials: { hanzo: "canary-4" },
      env: { KEY: "canary-5" },
      mcp_servers: { server, far },
    }),
  );
  const rows = explainConfig(project.load());
  expect(JSON.stringify(rows)).not.toMatch(/canary/);
  expect(rows.find(({ key }) => key === "mcp_servers.server")?.value).toContain('"env":["TOKEN"]');
});
