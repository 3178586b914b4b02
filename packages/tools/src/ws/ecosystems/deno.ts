import type { Ecosystem } from "../detect/ecosystem.ts";
import { frameworksAmong } from "./frameworks.ts";

export const deno: Ecosystem = {
  name: "deno",
  markers: ["deno.json", "deno.jsonc"],
  inspect(folder) {
    const file = folder.first("deno.json", "deno.jsonc") ?? "deno.json";
    const manifest = folder.json(file);
    const exported = manifest.get("exports").text ?? manifest.get("exports", ".").text;
    const usual = ["main.ts", "mod.ts"].filter((name) => folder.names.has(name));
    const members = [...manifest.get("workspace").texts, ...manifest.get("workspace", "members").texts];
    const imports = manifest.get("imports");
    const imported = imports.keys.flatMap((key) => [key, packageOf(imports.get(key).text ?? "")]);
    return {
      name: manifest.get("name").text,
      managers: [{ name: "deno", from: file }],
      build: manifest
        .get("tasks")
        .keys.filter((name) => /^\w[\w:.-]*$/.test(name) && !/^test\b/.test(name))
        .map((name) => ({ name, command: ["deno", "task", name] })),
      test: [{ runner: "deno test", command: ["deno", "test"] }],
      frameworks: frameworksAmong(imported, FRAMEWORKS),
      entryPoints: exported
        ? [{ path: exported, kind: "module" }]
        : usual.map((path) => ({ path, kind: "main" })),
      workspaces: members.length > 0 ? [{ tool: "deno workspace", members }] : [],
    };
  },
};

/** `npm:hono@4/jsx` and `jsr:@hono/hono@^4` contain a package name and more. */
const packageOf = (specifier: string): string =>
  /^(?:npm|jsr):\/?(@[^/]+\/[^@/]+|[^@/]+)/.exec(specifier)?.[1] ?? "";

const FRAMEWORKS = {
  "@fresh/core": "fresh",
  "$fresh/": "fresh",
  "@hono/hono": "hono",
  "@oak/oak": "oak",
  hono: "hono",
  preact: "preact",
  react: "react",
  vite: "vite",
} as const;
