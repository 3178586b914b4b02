import { z } from "zod";
import { describeDictionary, fieldsOf } from "./dictionary.ts";
import { KEYS, type KeyInfo } from "./keys.ts";
import { settingsSchema } from "./schema.ts";

/** The JSON Schema of a settings file, for editors: `packages/runtime/settings.schema.json`. */
export function toSettingsSchema(): z.core.JSONSchema.BaseSchema {
  const schema = z.toJSONSchema(settingsSchema(), { io: "input", override: describeDictionary });
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const info: KeyInfo | undefined = Object.hasOwn(KEYS, name) ? KEYS[name as keyof typeof KEYS] : undefined;
    return [name, info ? { description: describe(info), ...fieldsOf(property) } : property];
  });
  return {
    title: "Octant settings",
    allowComments: true,
    allowTrailingCommas: true,
    ...schema,
    properties: Object.fromEntries(properties),
  };
}

const describe = ({ summary, below, note }: KeyInfo): string =>
  `${summary}. In a project: ${below}${note ? `; ${note}` : ""}.`;

/** The reference of all keys in Markdown: `docs/settings.md`. */
export function renderSettings(): string {
  const rows = Object.entries(KEYS).map(([name, info]: [string, KeyInfo]) => {
    const below = info.note ? `${info.below}: ${info.note}` : info.below;
    return `| \`${name}\` | ${info.summary} | ${below} | ${info.variable ? `\`${info.variable}\`` : ""} |`;
  });
  return `${INTRODUCTION}

| key | what | in the project and local tier | environment |
|---|---|---|---|
${rows.join("\n")}

${EXAMPLE}`;
}

const INTRODUCTION = `# Settings

| tier | file | whose |
|---|---|---|
| user | \`$XDG_CONFIG_HOME/hanzo/settings.json\`, or \`~/.config/hanzo/settings.json\` | yours |
| project | \`.hanzo/settings.json\` in each root | shared by everyone who has the project |
| local | \`.hanzo/settings.local.json\` in each root | yours for this project; not to be committed |
| environment | the variables below | of the person who starts Octant |

Later tiers override earlier ones, but safety settings can only be narrowed below the user tier. The files are JSON with
comments and trailing commas. A file that is broken or is a link is refused with its line and column, and Octant does not start: its restrictions would be lost. So is an unknown key that resembles a known one, or that is inside a key that limits something
(\`sandbox\`, \`permissions\` and the like). Any other unknown key may belong to a newer version: it is ignored with a warning that
names its line, so that an older Octant still starts.

Programs and permissions that a project asks for **need trust**: they have no effect until you have seen them in full and trusted them
(\`octant trust\`). Trust belongs to the exact content; when that changes, you are asked again. It is remembered in
\`~/.config/hanzo/trust.json\` and can be given neither by the environment nor by a file of the project. \`.env\` files are not read.

\`octant config\` shows each value with the tier, file and line that it comes from.`;

const EXAMPLE = `\`\`\`jsonc
{
  "$schema": "../node_modules/@octant/runtime/settings.schema.json",
  "permissions": [
    { "tool_pattern": "proc.exec", "mode": "allow", "args": { "command": ["npm", "test"] } },
    { "tool_pattern": "vcs.commit", "mode": "prompt", "reason": "I read every commit" },
  ],
  "hooks": [{ "event": "pre_tool_use", "tool_pattern": "fs.*", "command": "./check.sh", "timeout_ms": 2000 }],
  "mcp_servers": {
    "docs": { "command": "docs-server", "args": ["--stdio"], "env": { "LEVEL": "info" } },
    "tickets": { "url": "https://tickets.example.com/mcp", "disabled": true },
  },
  "sandbox": { "mode": "workspace", "network": ["registry.npmjs.org"], "hide_home": true },
}
\`\`\``;
