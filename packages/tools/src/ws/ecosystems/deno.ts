import { type Ecosystem, entryPointsAt, toCommands, toScripts, workspaceOf } from "../detect/ecosystem.ts";
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
    const tasks = manifest
      .get("tasks")
      .keys.filter((name) => /^\w[\w:.-]*$/.test(name) && !/^test\b/.test(name));
    return {
      name: manifest.get("name").text,
      managers: { deno: file },
      build: toScripts(tasks, "deno", "task"),
      test: toCommands({ "deno test": "deno test" }),
      frameworks: frameworksAmong(imported, FRAMEWORKS),
      entryPoints: exported ? entryPointsAt("module", [exported]) : entryPointsAt("main", usual),
      workspaces: workspaceOf("deno workspace", members),
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
