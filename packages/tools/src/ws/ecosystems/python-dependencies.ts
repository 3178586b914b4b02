import type { PackageFolder } from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import { linesOf } from "../formats/lines.ts";

/** The declared dependencies of a Python package, from all the places where they can be declared. */
export function pythonDependencies(folder: PackageFolder): ReadonlySet<string> {
  const project = folder.toml("pyproject.toml");
  const pipfile = folder.toml("Pipfile");
  const poetry = project.get("tool", "poetry");
  const requirements = [
    ...project.get("project", "dependencies").texts,
    ...valuesOf(project.get("project", "optional-dependencies")).flatMap(({ texts }) => texts),
    ...valuesOf(project.get("dependency-groups")).flatMap(({ texts }) => texts),
    ...project.get("tool", "uv", "dev-dependencies").texts,
    ...valuesOf(project.get("tool", "pdm", "dev-dependencies")).flatMap(({ texts }) => texts),
    ...poetry.get("dependencies").keys,
    ...poetry.get("dev-dependencies").keys,
    ...valuesOf(poetry.get("group")).flatMap((group) => group.get("dependencies").keys),
    ...pipfile.get("packages").keys,
    ...pipfile.get("dev-packages").keys,
    ...requirementFiles(folder).flatMap((name) => linesOf(folder.text(name))),
    ...linesOf(folder.text("setup.cfg")).filter((line) => /^\s/.test(line)),
    ...linesOf(folder.text("setup.py")).flatMap((line) =>
      [...line.matchAll(/["']([^"']+)["']/g)].map(([, quoted]) => quoted as string),
    ),
  ];
  return new Set(requirements.flatMap(toName));
}

const valuesOf = (table: Data): Data[] => table.keys.map((key) => table.get(key));

const requirementFiles = (folder: PackageFolder): string[] =>
  [...folder.names].filter((name) => /^([\w-]*-)?requirements([-_.][\w-]+)?\.(txt|in)$/.test(name));

/** `Flask_Login[x]>=1.0 ; python_version > "3"` is flask-login. */
const toName = (requirement: string): string[] => {
  const [name] = /^[a-z0-9][\w.-]*/i.exec(requirement.trim()) ?? [];
  return name ? [name.toLowerCase().replaceAll(/[._]/g, "-")] : [];
};
