import {
  type Commands,
  type Ecosystem,
  type EntryPoint,
  entryPointsAt,
  type PackageFolder,
  toCommands,
  workspaceOf,
} from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import { linesOf } from "../formats/lines.ts";
import { frameworksAmong, namedAlike } from "./frameworks.ts";

export const python: Ecosystem = {
  name: "python",
  markers: ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "manage.py"],
  inspectUnmarked(folder) {
    const test = testCommands(folder, new Set(), "pip");
    return test.length > 0 ? { test, entryPoints: entryPoints(folder) } : undefined;
  },
  inspect(folder) {
    const project = folder.toml("pyproject.toml");
    const manager = managerOf(folder);
    const dependencies = pythonDependencies(folder);
    return {
      name:
        project.get("project", "name").text ??
        project.get("tool", "poetry", "name").text ??
        setupName(folder),
      managers: { [manager.name]: manager.from },
      build: buildCommands(folder, manager.name),
      test: testCommands(folder, dependencies, manager.name),
      frameworks: frameworksAmong(dependencies, FRAMEWORKS),
      entryPoints: entryPoints(folder),
      workspaces: workspaceOf("uv workspace", project.get("tool", "uv", "workspace", "members").texts),
    };
  },
};

const setupName = (folder: PackageFolder): string | undefined => {
  const [, name] =
    /\bname\s?=\s?["']([\w.-]{1,100})["']/.exec(folder.text("setup.py")) ??
    /^name\s?=\s?([\w.-]{1,100})/m.exec(folder.text("setup.cfg")) ??
    [];
  return name;
};

/** Determined by a file that only one manager writes; then by the tables of pyproject.toml; otherwise pip. */
function managerOf(folder: PackageFolder): { name: string; from: string } {
  const lock = folder.first(...Object.keys(LOCKS)) ?? folder.nearest(["uv.lock"])?.path;
  if (lock) return { name: LOCKS[lock] ?? "uv", from: lock };
  const tools = folder.toml("pyproject.toml").get("tool");
  const named = ["uv", "poetry", "pdm", "hatch"].find((name) => tools.get(name).isPresent);
  if (named) return { name: named, from: "pyproject.toml" };
  return { name: "pip", from: folder.first(...python.markers) ?? "pyproject.toml" };
}

const LOCKS: Readonly<Record<string, string>> = {
  "uv.lock": "uv",
  "poetry.lock": "poetry",
  "pdm.lock": "pdm",
  "Pipfile.lock": "pipenv",
  Pipfile: "pipenv",
};

/** How a manager runs a command in the project's environment. */
const runPrefix = (manager: string): string => (manager === "pip" ? "" : `${manager} run `);

const INSTALL: Readonly<Record<string, string>> = {
  uv: "uv sync",
  poetry: "poetry install",
  pdm: "pdm install",
  pipenv: "pipenv install --dev",
};
const BUILD: Readonly<Record<string, string>> = {
  uv: "uv build",
  poetry: "poetry build",
  pdm: "pdm build",
  hatch: "hatch build",
  pip: "python -m build",
};

function buildCommands(folder: PackageFolder, manager: string): Commands {
  const what = folder.names.has("requirements.txt") ? "-r requirements.txt" : "-e .";
  const install = manager === "pip" ? `python -m pip install ${what}` : INSTALL[manager];
  const isBuilt = folder.toml("pyproject.toml").get("build-system").isPresent || folder.names.has("setup.py");
  return toCommands({ install, build: isBuilt && BUILD[manager] });
}

function testCommands(folder: PackageFolder, dependencies: ReadonlySet<string>, manager: string): Commands {
  const python = `${runPrefix(manager)}python`;
  const usesPytest =
    dependencies.has("pytest") ||
    folder.toml("pyproject.toml").get("tool", "pytest").isPresent ||
    folder.first("pytest.ini", "conftest.py") !== undefined ||
    /^\[(tool:)?pytest\]/m.test(folder.text("setup.cfg") + folder.text("tox.ini"));
  const tests = toCommands({
    pytest: usesPytest && `${python} -m pytest`,
    django: folder.names.has("manage.py") && `${python} manage.py test`,
    tox: folder.names.has("tox.ini") && "tox",
    nox: folder.names.has("noxfile.py") && "nox",
  });
  if (tests.length > 0) return tests;
  const files = [...folder.filesBelow()].filter((path) => TEST_FILE.test(path)).slice(0, MAX_TEST_FILES);
  if (files.length === 0) return [];
  const texts = files.map(folder.text);
  // unittest finds no plain functions, and pytest may not be installed.
  if (texts.some((text) => PLAIN_TEST.test(text)) && !texts.some((text) => text.includes("unittest")))
    return toCommands({ pytest: `${python} -m pytest` });
  return toCommands({ unittest: `${python} -m unittest discover` });
}

const TEST_FILE = /(^|\/)(test_[^/]*|[^/]*_test|tests)\.py$/;
const PLAIN_TEST = /^(?:import pytest|from pytest|(?:async )?def test_)/m;
/** Read to find out which runner they are for. */
const MAX_TEST_FILES = 20;

function entryPoints(folder: PackageFolder): EntryPoint[] {
  const found: EntryPoint[] = [];
  for (const path of folder.filesBelow()) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (name === "__main__.py") found.push({ path, kind: "command" });
    if (name === "wsgi.py" || name === "asgi.py") found.push({ path, kind: "server" });
  }
  const usual = ["manage.py", "main.py", "app.py", "src/main.py"].filter((path) => folder.hasFile(path));
  return [...entryPointsAt("main", usual), ...scripts(folder), ...found];
}

/** `[project.scripts] name = "package.module:function"`, when the module's file exists. */
function scripts(folder: PackageFolder): EntryPoint[] {
  const project = folder.toml("pyproject.toml");
  return [project.get("project", "scripts"), project.get("tool", "poetry", "scripts")].flatMap((table) =>
    table.keys.flatMap((name): EntryPoint[] => {
      const module = table.get(name).text?.split(":")[0]?.replaceAll(".", "/") ?? "";
      if (!/^[\w/]+$/.test(module)) return [];
      const path = [
        `src/${module}.py`,
        `${module}.py`,
        `src/${module}/__init__.py`,
        `${module}/__init__.py`,
      ].find(folder.hasFile);
      return path ? [{ path, kind: "command", name }] : [];
    }),
  );
}

/** The declared dependencies of a Python package, from all the places where they can be declared. */
function pythonDependencies(folder: PackageFolder): ReadonlySet<string> {
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

const FRAMEWORKS = {
  ...namedAlike("aiohttp celery click django fastapi flask jupyter litestar numpy pandas pydantic pyramid"),
  ...namedAlike("sanic scrapy sqlalchemy starlette streamlit tensorflow tornado typer"),
  djangorestframework: "django-rest-framework",
  torch: "pytorch",
};
