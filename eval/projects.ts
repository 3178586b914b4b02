// Which code the evaluation asks about: what every machine that can run it has.
import { existsSync, globSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Files with types and without are one language to those who ask about them. */
export type EvalLanguage = "typescript and javascript" | "python" | "go";

export interface Project {
  readonly name: string;
  readonly language: EvalLanguage;
  readonly folder: string;
  readonly files: readonly string[];
}

const MAX_FILES = 1_500;

export function findProjects(repository: string): Project[] {
  return [...nodeProjects(join(repository, "node_modules")), ...pythonProjects(), ...goProjects()];
}

function nodeProjects(modules: string): Project[] {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
  );
  return names
    .filter((name) => !name.startsWith(".") && !name.startsWith("@octant") && !name.startsWith("@types"))
    .flatMap((name) => {
      const folder = join(modules, name);
      const typescript = sources(folder, "**/*.ts", (file) => !file.endsWith(".d.ts"));
      const javascript = sources(folder, "**/*.{js,mjs,cjs}", (file) => !/\.min\.|\.umd\./.test(file));
      const files = typescript.length > 0 ? typescript : javascript;
      return [{ name, language: "typescript and javascript" as const, folder, files }];
    });
}

function pythonProjects(): Project[] {
  const homes = [
    "/usr/lib/python3/dist-packages",
    ...globSync("/usr/lib/python3.*"),
    ...globSync("/root/.pyenv/versions/*/lib/python3.11/site-packages"),
    ...globSync("/root/.pyenv/versions/3.11*/lib/python3.11"),
  ];
  return homes.filter(existsSync).flatMap((home) =>
    readdirSync(home)
      .filter(
        (name) =>
          /^[a-z_]\w*$/i.test(name) &&
          name !== "site-packages" &&
          name !== "test" &&
          name !== "_vendor" &&
          statSync(join(home, name)).isDirectory(),
      )
      .map((name) => ({
        name,
        language: "python" as const,
        folder: join(home, name),
        files: sources(join(home, name), "**/*.py", (file) => !/\/tests?\//.test(file)),
      })),
  );
}

function goProjects(): Project[] {
  const [source] = globSync("/usr/lib/go-*/src").concat(globSync("/usr/share/go-*/src"));
  if (!source) return [];
  return readdirSync(source)
    .filter((name) => statSync(join(source, name)).isDirectory() && name !== "vendor")
    .flatMap((name) =>
      name === "cmd" || name === "internal"
        ? readdirSync(join(source, name)).map((inner) => `${name}/${inner}`)
        : [name],
    )
    .map((name) => ({
      name,
      language: "go" as const,
      folder: join(source, name),
      files: sources(join(source, name), "**/*.go", (file) => !/_test\.go$|\/testdata\//.test(file)),
    }));
}

const sources = (folder: string, pattern: string, keep: (file: string) => boolean): string[] =>
  globSync(pattern, { cwd: folder, exclude: ["**/node_modules/**"] })
    .filter((file) => keep(`/${file}`))
    .sort()
    .slice(0, MAX_FILES)
    .map((file) => join(folder, file));
