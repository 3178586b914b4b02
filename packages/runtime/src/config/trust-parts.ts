import { createHash } from "node:crypto";
import { toExact } from "@octant/core";
import { toRules } from "../permissions/rule.ts";
import type { ProjectTierName } from "./config.ts";
import { contentOfPack } from "./project-packs.ts";
import type { ServerSettings, Settings } from "./schema.ts";

interface TrustPart {
  readonly path: readonly (string | number)[];
  readonly shown: string;
}

/**
 * The parts of a project's file that run or allow something, and so need trust; none when the file asks for nothing.
 * `hash` is the SHA-256 of these parts and everything that affects them.
 */
export function trustPartsOf(settings: Settings, folder: string, tier: ProjectTierName) {
  const wanted = {
    permissions: allowing(settings),
    hooks: settings.hooks ?? [],
    mcp_servers: sortedEntries(settings.mcp_servers).filter(([, server]) => !onlySwitchesOff(server)),
    env: sortedEntries(settings.env),
    language_servers: sortedEntries(settings.language_servers),
  };
  const packs = sortedEntries(settings.packs).map(([name, pack]) => ({
    name,
    pack,
    content: contentOfPack(folder, pack),
  }));
  const { custom_instructions: instructions, status_line: statusLine } = settings;
  const isList = Array.isArray(settings.permissions);
  const parts: TrustPart[] = [
    ...wanted.permissions
      .map((rule, at) => ({ rule, path: ["permissions", isList ? at : rule.tool_pattern] }))
      .filter(({ rule }) => rule.mode === "allow")
      .map(({ rule, path }) => ({ path, shown: show(rule) })),
    ...(instructions ? [{ path: ["custom_instructions"], shown: show(instructions) }] : []),
    ...wanted.hooks.map((hook, at) => ({ path: ["hooks", at], shown: show(hook) })),
    ...(statusLine ? [{ path: ["status_line"], shown: show(statusLine) }] : []),
    ...wanted.mcp_servers.map(([name, server]) => ({
      path: ["mcp_servers", name],
      shown: showServer(server),
    })),
    ...wanted.env.map(([name, value]) => ({ path: ["env", name], shown: show(value) })),
    ...wanted.language_servers.map(([name, { command }]) => ({
      path: ["language_servers", name],
      shown: show(command),
    })),
    ...packs.map(({ name, pack, content }) => ({
      path: ["packs", name],
      shown: show({ ...pack, ...content }),
    })),
  ];
  const canonical = JSON.stringify([
    FORMAT,
    folder,
    tier,
    toCanonical({
      ...wanted,
      ...(packs.length > 0 && { packs }),
      ...(statusLine && { status_line: statusLine }),
      ...(instructions && { custom_instructions: instructions }),
    }),
  ]);
  return { parts, hash: `sha256:${createHash("sha256").update(canonical).digest("hex")}` };
}

const FORMAT = "octant-trust-1";

/** All rules when one of them allows: the first that matches counts, so a deny taken away would allow more. */
function allowing({ permissions = [] }: Settings) {
  const rules = toRules(permissions);
  return rules.some(({ mode }) => mode === "allow") ? rules : [];
}

/** A definition that is switched off needs trust too: another tier may switch it on without showing it. */
const onlySwitchesOff = ({ disabled, command, url }: ServerSettings): boolean =>
  disabled === true && command === undefined && url === undefined;

/** Header values are often secrets, and do not affect what runs here. */
function showServer({ headers, ...server }: ServerSettings): string {
  if (!headers) return show(server);
  const variables = Object.values(headers).flatMap((value) => value.match(/\$\{[^}]*\}/g) ?? []);
  return show({ ...server, headers: Object.keys(headers), ...(variables.length > 0 && { variables }) });
}

const show = (value: unknown): string => toExact(JSON.stringify(value));

/** Equal for equal content, regardless of key order. */
function toCanonical(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...value.map(toCanonical)];
  if (typeof value !== "object" || value === null) return value;
  return ["map", ...sortedEntries({ ...value }).map(([name, inner]) => [name, toCanonical(inner)])];
}

const sortedEntries = <T>(map: { readonly [name: string]: T } = {}): [string, T][] =>
  Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1));
