import type {
  Command,
  Ecosystem,
  EntryPoint,
  Manager,
  PackageFolder,
  TestCommand,
} from "../detect/ecosystem.ts";
import { frameworksAmong } from "./frameworks.ts";
import { pythonDependencies } from "./python-dependencies.ts";

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
    const members = project.get("tool", "uv", "workspace", "members").texts;
    return {
      name:
        project.get("project", "name").text ??
        project.get("tool", "poetry", "name").text ??
        setupName(folder),
      managers: [manager],
      build: buildCommands(folder, manager.name),
      test: testCommands(folder, dependencies, manager.name),
      frameworks: frameworksAmong(dependencies, FRAMEWORKS),
      entryPoints: entryPoints(folder),
      workspaces: members.length > 0 ? [{ tool: "uv workspace", members }] : [],
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
function managerOf(folder: PackageFolder): Manager {
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

/** How each manager runs a command in the project's environment. */
const RUN: Readonly<Record<string, readonly string[]>> = {
  uv: ["uv", "run"],
  poetry: ["poetry", "run"],
  pdm: ["pdm", "run"],
  pipenv: ["pipenv", "run"],
  hatch: ["hatch", "run"],
};

const runModule = (manager: string, module: string, ...more: string[]): string[] => [
  ...(RUN[manager] ?? []),
  "python",
  "-m",
  module,
  ...more,
];

function buildCommands(folder: PackageFolder, manager: string): Command[] {
  const install: Readonly<Record<string, readonly string[]>> = {
    uv: ["uv", "sync"],
    poetry: ["poetry", "install"],
    pdm: ["pdm", "install"],
    pipenv: ["pipenv", "install", "--dev"],
    pip: folder.names.has("requirements.txt")
      ? ["python", "-m", "pip", "install", "-r", "requirements.txt"]
      : ["python", "-m", "pip", "install", "-e", "."],
  };
  const build: Readonly<Record<string, readonly string[]>> = {
    uv: ["uv", "build"],
    poetry: ["poetry", "build"],
    pdm: ["pdm", "build"],
    hatch: ["hatch", "build"],
    pip: ["python", "-m", "build"],
  };
  const isBuilt = folder.toml("pyproject.toml").get("build-system").isPresent || folder.names.has("setup.py");
  return [
    ...(install[manager] ? [{ name: "install", command: install[manager] }] : []),
    ...(isBuilt && build[manager] ? [{ name: "build", command: build[manager] }] : []),
  ];
}

function testCommands(
  folder: PackageFolder,
  dependencies: ReadonlySet<string>,
  manager: string,
): TestCommand[] {
  const tests: TestCommand[] = [];
  const usesPytest =
    dependencies.has("pytest") ||
    folder.toml("pyproject.toml").get("tool", "pytest").isPresent ||
    folder.first("pytest.ini", "conftest.py") !== undefined ||
    /^\[(tool:)?pytest\]/m.test(folder.text("setup.cfg") + folder.text("tox.ini"));
  if (usesPytest) tests.push({ runner: "pytest", command: runModule(manager, "pytest") });
  if (folder.names.has("manage.py")) {
    tests.push({ runner: "django", command: [...(RUN[manager] ?? []), "python", "manage.py", "test"] });
  }
  if (folder.names.has("tox.ini")) tests.push({ runner: "tox", command: ["tox"] });
  if (folder.names.has("noxfile.py")) tests.push({ runner: "nox", command: ["nox"] });
  if (tests.length > 0) return tests;
  const files = [...folder.filesBelow()].filter((path) => TEST_FILE.test(path)).slice(0, MAX_TEST_FILES);
  if (files.length === 0) return [];
  const texts = files.map(folder.text);
  // unittest finds no plain functions, and pytest may not be installed.
  if (texts.some((text) => PLAIN_TEST.test(text)) && !texts.some((text) => text.includes("unittest")))
    return [{ runner: "pytest", command: runModule(manager, "pytest") }];
  return [{ runner: "unittest", command: runModule(manager, "unittest", "discover") }];
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
  return [...usual.map((path): EntryPoint => ({ path, kind: "main" })), ...scripts(folder), ...found];
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

const FRAMEWORKS = {
  aiohttp: "aiohttp",
  celery: "celery",
  click: "click",
  django: "django",
  djangorestframework: "django-rest-framework",
  fastapi: "fastapi",
  flask: "flask",
  jupyter: "jupyter",
  litestar: "litestar",
  numpy: "numpy",
  pandas: "pandas",
  pydantic: "pydantic",
  pyramid: "pyramid",
  sanic: "sanic",
  scrapy: "scrapy",
  sqlalchemy: "sqlalchemy",
  starlette: "starlette",
  streamlit: "streamlit",
  tensorflow: "tensorflow",
  torch: "pytorch",
  tornado: "tornado",
  typer: "typer",
} as const;
