import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { PackManifest, ToolError } from "@octant/core";
import { loadVersion } from "../version.ts";

/** Writes a pack that works, with a test; returns its files. */
export function newPack(path: string): {
  readonly name: string;
  readonly folder: string;
  readonly files: string[];
} {
  const folder = resolve(path);
  const name = PackManifest.shape.pack.safeParse(basename(folder).toLowerCase()).data;
  if (name === undefined) {
    const message = `'${basename(folder)}' is not a name for a pack; use lower-case letters, digits and '-'`;
    throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "folder", message }] });
  }
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new ToolError("ALREADY_EXISTS", `${folder} is not empty; name a new folder`, { uri: folder });
  const tool = name.replaceAll("-", "_");
  const files = {
    "package.json": toManifest(name),
    "README.md": toReadme(name, tool),
    "tsconfig.json": toJson({ compilerOptions: COMPILER_OPTIONS, include: ["src"] }),
    "src/index.ts": toModule(tool),
    "src/index.test.ts": toTest(tool),
  };
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return { name, folder, files: Object.keys(files) };
}

const toJson = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const COMPILER_OPTIONS = {
  target: "esnext",
  module: "nodenext",
  types: ["node"],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
};

const toManifest = (name: string): string =>
  toJson({
    name: `octant-pack-${name}`,
    version: "0.1.0",
    type: "module",
    exports: "./src/index.ts",
    scripts: { test: "octant pack test ." },
    peerDependencies: { "@octant/core": `^${loadVersion()}` },
    octant: { pack: name, rights: { files: "none", network: "none", processes: false } },
  });

const toReadme = (name: string, tool: string): string => `# ${name}

Tools for Octant. \`src/index.ts\` declares them; \`octant.rights\` in \`package.json\` is all that the pack may do.

\`\`\`sh
octant pack test .                         # checks the declarations, runs the examples and the tests
octant call ${tool}.greet name=Ada --pack .   # one call, without adding the pack
octant pack add .                          # shows its rights and adds it to your settings
octant call ${tool}.greet name=Ada            # now every agent has the tool
\`\`\`

The pack runs as it is. For types in an editor: \`npm install --save-dev @octant/core zod @types/node typescript\`.
`;

const toModule = (tool: string): string => `import { action, defineTool, type Tool } from "@octant/core";
import { z } from "zod";

const ${tool}Tool = defineTool({
  name: "${tool}",
  summary: "Greets people.",
  actions: {
    greet: action({
      summary: "Greet a person by name.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ name: z.string().min(1).describe("The person's name") }),
      output: z.object({ text: z.string() }),
      examples: [{ title: "Greet the world", input: { name: "world" } }],
      run: ({ name }) => ({ text: \`Hello, \${name}!\` }),
    }),
  },
});

export const tools: readonly Tool[] = [${tool}Tool];
`;

const toTest = (tool: string): string => `import assert from "node:assert/strict";
import { test } from "node:test";
import { createCursors, createDispatcher, createRegistry } from "@octant/core";
import { tools } from "./index.ts";

const dispatch = createDispatcher({
  registry: createRegistry(tools),
  cursors: createCursors(Buffer.from("for tests")),
  onBug: ({ cause }) => console.error(cause),
});

test("greet names the person", async () => {
  const call = { tool: "${tool}", action: "greet", input: { name: "Ada" } };
  const { envelope } = await dispatch(call, { caller: { id: "test", access: "read" } });
  assert.deepEqual(envelope.data, { text: "Hello, Ada!" });
});
`;
