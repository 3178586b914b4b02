import { MODE_NAMES, ToolError } from "@octant/core";
import { HOST, type Settings } from "./schema.ts";

/** Settings from the environment of the person who starts Octant; `.env` files of a project are never read. */
export function environmentSettings(env: NodeJS.ProcessEnv): Settings {
  const hosts = toList(env["OCTANT_NET_ALLOW"]);
  if (hosts?.some((host) => !HOST.test(host)))
    throw unusable("OCTANT_NET_ALLOW", "expected hosts with an optional port, separated by commas");
  return {
    api_key: env["HANZO_API_KEY"] || undefined,
    model: env["HANZO_MODEL"] || undefined,
    mode: toMode(env["OCTANT_MODE"]),
    tools: toList(env["OCTANT_TOOLS"]),
    checkpoints: toSwitch("OCTANT_CHECKPOINTS", env["OCTANT_CHECKPOINTS"]),
    net: hosts && { allow: hosts },
    ui: isSet(env["OCTANT_SCREEN"]) ? { screen: true } : undefined,
  };
}

const isSet = (value: string | undefined): boolean => value === "1" || value === "true";

function toList(text: string | undefined): string[] | undefined {
  const items = text
    ?.split(",")
    .map((item) => item.trim())
    .filter(Boolean);
  return items && items.length > 0 ? items : undefined;
}

function toMode(name: string | undefined): Settings["mode"] {
  if (!name) return undefined;
  const mode = MODE_NAMES.find((one) => one === name);
  if (!mode) throw unusable("OCTANT_MODE", `expected one of ${MODE_NAMES.join(", ")}`);
  return mode;
}

function toSwitch(variable: string, text: string | undefined): boolean | undefined {
  if (!text) return undefined;
  if (/^(?:1|true|on|yes)$/i.test(text)) return true;
  if (/^(?:0|false|off|no)$/i.test(text)) return false;
  throw unusable(variable, "expected 1 or 0");
}

const unusable = (variable: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", `${variable}: ${message}`, { issues: [{ path: variable, message }] });
