import { renderAction } from "@octant/core";
import { createConsoleTool } from "../../packages/app/src/console/console-tool.ts";
import { ENDPOINTS } from "../../packages/console/src/endpoints.ts";

/** The API of the console, from its declarations. */
export function renderConsoleApi(): readonly string[] {
  // Only the declarations are read.
  const tool = createConsoleTool({} as never);
  const rows = Object.entries(ENDPOINTS).map(
    ([name, { method, access, summary }]) => `| ${method} /${name} | ${access} | ${summary} |`,
  );
  const actions = Object.entries(tool.actions).map(
    ([name, { access, summary }]) => `| \`console.${name}\` | ${access} | ${summary} |`,
  );
  return [
    "# The console's API",
    "[The console](console.md) says who may call it. Bodies and answers are JSON; `packages/console/src/api.ts` has their types.",
    "## Requests",
    [
      "| below /console/api | access | |",
      "|---|---|---|",
      ...rows,
      "| GET /events | read | Server-sent events of all processes, with catch-up. |",
      "| POST /login | | Check a token, and set it as the cookie. |",
      "| POST /logout | | Remove the cookie. |",
      "| POST /csp-report | | Count a violation that the browser reports. |",
    ].join("\n"),
    "## The person's tool",
    "Every process has the tool `console`, which no model and no MCP client sees; it is called with POST /call like every other tool of that process. A caller of one project cannot call it.",
    ["| action | access | |", "|---|---|---|", ...actions].join("\n"),
    ...Object.entries(tool.actions).map(([name, act]) =>
      renderAction("console", name, act).replace(/^#/, "##"),
    ),
  ];
}
