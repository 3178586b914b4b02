import type { Files } from "./temporary-project.ts";

/**
 * The expected answer of ws.detect in short form: commands as one line, locations as paths from the root ("." is the
 * root).
 */
export interface Facts {
  readonly name?: string;
  readonly languages?: readonly string[];
  readonly managers?: readonly string[];
  readonly build?: readonly string[];
  readonly test?: readonly string[];
  readonly frameworks?: readonly string[];
  readonly entries?: readonly string[];
  readonly tools?: readonly string[];
  readonly packages?: readonly string[];
  readonly vcs?: string;
  readonly instructions?: readonly string[];
  readonly containers?: readonly string[];
  readonly ci?: readonly string[];
  readonly problems?: readonly string[];
}

export interface Row {
  readonly title: string;
  readonly files: Files;
  readonly facts: Facts;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);
const lines = (...text: string[]): string => `${text.join("\n")}\n`;

export const PROJECTS: readonly Row[] = [
  {
    title: "an empty folder",
    files: {},
    facts: { name: "project", languages: [], managers: [], build: [], test: [], entries: [], problems: [] },
  },
  {
    title: "npm with vitest, react and vite",
    files: {
      "package.json": json({
        name: "web",
        main: "./dist/index.js",
        scripts: { build: "vite build", "build:css": "sass", test: "vitest", postinstall: "x", "-rf": "x" },
        dependencies: { react: "19" },
        devDependencies: { vitest: "5", vite: "8" },
      }),
      "package-lock.json": "{}",
      "src/app.tsx": "",
      "src/style.css": "",
      "node_modules/left-pad/index.js": "",
      "dist/index.js": "",
    },
    facts: {
      name: "web",
      languages: ["CSS 1", "TypeScript 1"],
      managers: ["npm package-lock.json"],
      build: ["build: npm run build", "build:css: npm run build:css"],
      test: ["vitest: npm run test"],
      frameworks: ["react .", "vite ."],
      entries: ["main dist/index.js"],
    },
  },
  {
    title:
      "npm init's own test script does not count as a test, and an entry that is not built yet is marked",
    files: {
      "package.json": json({
        name: "fresh",
        module: "dist/x.mjs",
        scripts: { test: 'echo "Error: no test specified" && exit 1' },
      }),
    },
    facts: { test: [], managers: ["npm package.json"], entries: ["module dist/x.mjs (missing)"] },
  },
  {
    title: "yarn with jest and express",
    files: {
      "package.json": json({
        name: "api",
        bin: { api: "bin/api.js" },
        dependencies: { express: "5", hono: "4" },
        devDependencies: { jest: "30" },
      }),
      "yarn.lock": "",
      "bin/api.js": "",
    },
    facts: {
      managers: ["yarn yarn.lock"],
      test: ["jest: yarn run jest"],
      frameworks: ["express .", "hono ."],
      entries: ["command bin/api.js api"],
    },
  },
  {
    title: "bun with its own tests",
    files: {
      "package.json": json({ name: "b", scripts: { test: "bun test", dev: "bun --hot src/index.ts" } }),
      "bun.lock": "",
      "src/index.ts": "",
    },
    facts: {
      managers: ["bun bun.lock"],
      build: ["dev: bun run dev"],
      test: ["bun test: bun run test"],
      entries: ["main src/index.ts"],
    },
  },
  {
    title: "node:test, mocha and playwright side by side",
    files: {
      "package.json": json({
        name: "many",
        scripts: { test: "node --test src/", "test:e2e": "playwright test" },
        devDependencies: { mocha: "11", "@playwright/test": "1" },
      }),
    },
    facts: {
      test: ["node:test: npm run test", "mocha: npx mocha", "playwright: npm run test:e2e"],
    },
  },
  {
    title: "a test script that calls something unknown",
    files: { "package.json": json({ scripts: { test: "make check" } }) },
    facts: { test: ["script: npm run test"], name: "project" },
  },
  {
    title: "a pnpm monorepo with turbo, where fixtures and excluded folders are not members",
    files: {
      "package.json": json({
        name: "root",
        packageManager: "pnpm@10.1.0",
        scripts: { build: "turbo build" },
      }),
      "pnpm-workspace.yaml": lines(
        "packages:",
        "  - 'packages/*'",
        "  # tools",
        "  - apps/**",
        "  - '!**/old'",
      ),
      "pnpm-lock.yaml": "",
      "turbo.json": "{}",
      "packages/a/package.json": json({ name: "@x/a", devDependencies: { vitest: "5" } }),
      "packages/old/package.json": json({ name: "@x/old" }),
      "apps/site/web/package.json": json({ name: "web", dependencies: { next: "16", nuxt: "4" } }),
      "docs/package.json": json({ name: "docs", dependencies: { astro: "5" } }),
      "packages/a/test/fixtures/p/package.json": json({ name: "not-a-package" }),
      "packages/a/esm/package.json": json({ type: "module" }),
    },
    facts: {
      name: "root",
      managers: ["pnpm package.json"],
      build: ["build: pnpm run build"],
      test: ["vitest: pnpm exec vitest run @packages/a"],
      frameworks: ["astro docs", "next apps/site/web", "nuxt apps/site/web"],
      tools: ["pnpm workspaces .", "turbo ."],
      packages: ["docs docs", "@x/a packages/a member", "@x/old packages/old", "web apps/site/web member"],
    },
  },
  {
    title: "npm workspaces with nx and lerna",
    files: {
      "package.json": json({ name: "mono", workspaces: { packages: ["libs/{one,two}"] } }),
      "nx.json": "{}",
      "lerna.json": json({ version: "independent" }),
      "libs/one/package.json": json({ name: "one", dependencies: { "@angular/core": "21" } }),
      "libs/two/package.json": json({
        name: "two",
        dependencies: { "@nestjs/core": "11", svelte: "5", vue: "3" },
      }),
      "libs/three/package.json": json({ name: "three", dependencies: { electron: "40", fastify: "5" } }),
    },
    facts: {
      tools: ["npm workspaces .", "lerna .", "nx ."],
      packages: ["one libs/one member", "three libs/three", "two libs/two member"],
      frameworks: [
        "angular libs/one",
        "electron libs/three",
        "fastify libs/three",
        "nest libs/two",
        "svelte libs/two",
        "vue libs/two",
      ],
    },
  },
  {
    title: "deno with comments in its configuration",
    files: {
      "deno.jsonc": lines(
        "{ // what it is",
        '  "name": "@me/d", "exports": "./mod.ts", /* "tasks": 1 */',
        '  "tasks": { "dev": "deno run main.ts", "test": "deno test" },',
        '  "imports": { "hono": "npm:hono@4", "x": "https://a//b", },',
        "}",
      ),
      "mod.ts": "",
    },
    facts: {
      name: "@me/d",
      managers: ["deno deno.jsonc"],
      build: ["dev: deno task dev"],
      test: ["deno test: deno test"],
      frameworks: ["hono ."],
      entries: ["module mod.ts"],
      problems: [],
    },
  },
  {
    title: "pip with tests that are plain functions",
    files: {
      "requirements.txt": lines("requests"),
      "tests/test_app.py": lines("def test_app():", "    assert True"),
    },
    facts: { test: ["pytest: python -m pytest"] },
  },
  {
    title: "Python tests without a project file",
    files: { "test_a.py": lines("def test_a():", "    assert True"), "notes.md": "" },
    facts: { test: ["pytest: python -m pytest"], managers: [], build: [], problems: [] },
  },
  {
    title: "pip with requirements, flask and unittest",
    files: {
      "requirements.txt": lines(
        "# web",
        "Flask>=3 ; python_version > '3'",
        "-r other.txt",
        "SQLAlchemy[asyncio]==2",
      ),
      "app.py": "",
      "tests/test_app.py": "",
      ".venv/pyvenv.cfg": "",
      "env/pyvenv.cfg": "",
      "env/lib/site.py": "",
    },
    facts: {
      languages: ["Python 2"],
      managers: ["pip requirements.txt"],
      build: ["install: python -m pip install -r requirements.txt"],
      test: ["unittest: python -m unittest discover"],
      frameworks: ["flask .", "sqlalchemy ."],
      entries: ["main app.py"],
    },
  },
  {
    title: "poetry with pytest and fastapi",
    files: {
      "pyproject.toml": lines(
        "[tool.poetry]",
        'name = "svc"',
        "[tool.poetry.dependencies]",
        'python = "^3.12"',
        'fastapi = { version = "^0.120", extras = ["all"] } # web',
        "[tool.poetry.group.dev.dependencies]",
        'pytest = "*"',
        "[tool.poetry.scripts]",
        'svc = "svc.cli:main"',
        "[build-system]",
        'requires = ["poetry-core"]',
      ),
      "poetry.lock": "",
      "svc/__main__.py": "",
      "svc/cli.py": "",
    },
    facts: {
      name: "svc",
      managers: ["poetry poetry.lock"],
      build: ["install: poetry install", "build: poetry build"],
      test: ["pytest: poetry run python -m pytest"],
      frameworks: ["fastapi ."],
      entries: ["command svc/cli.py svc", "command svc/__main__.py"],
    },
  },
  {
    title: "a uv workspace with django",
    files: {
      "pyproject.toml": lines(
        "[project]",
        'name = "site"',
        "dependencies = [",
        '  "Django>=5", # the web',
        "  'typer',",
        "]",
        "[dependency-groups]",
        'dev = ["pytest>=8", {include-group = "lint"}]',
        "[tool.uv.workspace]",
        'members = ["libs/*"]',
      ),
      "uv.lock": "",
      "manage.py": "",
      "site/wsgi.py": "",
      "libs/core/pyproject.toml": lines("[project]", 'name = "core"'),
    },
    facts: {
      name: "site",
      managers: ["uv uv.lock"],
      test: ["pytest: uv run python -m pytest", "django: uv run python manage.py test"],
      frameworks: ["django .", "typer ."],
      entries: ["main manage.py", "server site/wsgi.py"],
      tools: ["uv workspace ."],
      packages: ["core libs/core member"],
    },
  },
  {
    title: "setup.py and a Pipfile",
    files: {
      "old/setup.py": lines(
        "from setuptools import setup",
        "setup(name='old-one', install_requires=['pandas>=2'])",
      ),
      "old/tox.ini": lines("[pytest]"),
      "env/Pipfile": lines("[packages]", 'flask = "*"'),
    },
    facts: {
      managers: ["pipenv env/Pipfile", "pip old/setup.py"],
      frameworks: ["flask env", "pandas old"],
      test: ["pytest: python -m pytest @old", "tox: tox @old"],
      packages: ["env env", "old-one old"],
    },
  },
  {
    title: "a Go module with commands and gin",
    files: {
      "go.mod": lines(
        "module example.com/shop // the shop",
        "go 1.24",
        "require (",
        "\tgithub.com/gin-gonic/gin v1.10.0",
        "\tgithub.com/labstack/echo/v4 v4.13.0 // indirect",
        ")",
        "require github.com/spf13/cobra v1.9.0",
      ),
      "main.go": "package main",
      "cmd/worker/main.go": "package main",
      "vendor/x/x.go": "",
    },
    facts: {
      name: "example.com/shop",
      languages: ["Go 2"],
      managers: ["go go.mod"],
      build: ["build: go build ./...", "vet: go vet ./..."],
      test: ["go test: go test ./..."],
      frameworks: ["cobra .", "echo .", "gin ."],
      entries: ["main main.go", "command cmd/worker/main.go worker"],
    },
  },
  {
    title: "a go.work of two modules",
    files: {
      "go.work": lines("go 1.24", "use (", "\t./a", "\t./b // second", ")"),
      "a/go.mod": "module a\n",
      "a/main.go": "package main",
      "b/go.mod": "module b\n",
      "c/go.mod": "module c\n",
    },
    facts: {
      languages: ["Go 1"],
      tools: ["go.work ."],
      packages: ["a a member", "b b member", "c c"],
      test: ["go test: go test ./... @a", "go test: go test ./... @b", "go test: go test ./... @c"],
      entries: ["main a/main.go"],
    },
  },
  {
    title: "a Cargo workspace runs its members from the root",
    files: {
      "Cargo.toml": lines(
        "[workspace]",
        'members = ["crates/*"]',
        'exclude = ["crates/old"]',
        "[workspace.dependencies]",
        'tokio = { version = "1", features = ["full"] }',
      ),
      "crates/app/Cargo.toml": lines(
        "[package]",
        'name = "app"',
        "[dependencies]",
        'axum = "0.8"',
        "actix-web.workspace = true",
        "[[bin]]",
        'name = "appctl"',
        'path = "src/ctl.rs"',
      ),
      "crates/app/src/main.rs": "",
      "crates/app/src/ctl.rs": "",
      "crates/app/src/bin/extra.rs": "",
      "crates/old/Cargo.toml": lines("[package]", 'name = "old"'),
      "target/debug/x.rs": "",
    },
    facts: {
      languages: ["Rust 3"],
      managers: ["cargo Cargo.toml"],
      build: [
        "build: cargo build --workspace",
        "check: cargo check --workspace",
        "build: cargo build @crates/old",
        "check: cargo check @crates/old",
      ],
      test: ["cargo test: cargo test --workspace", "cargo test: cargo test @crates/old"],
      frameworks: ["tokio .", "actix crates/app", "axum crates/app"],
      entries: [
        "command crates/app/src/ctl.rs appctl",
        "main crates/app/src/main.rs",
        "command crates/app/src/bin/extra.rs extra",
      ],
      tools: ["cargo workspace ."],
      packages: ["app crates/app member", "old crates/old"],
    },
  },
  {
    title: "Maven modules with Spring",
    files: {
      "pom.xml": lines(
        "<project>",
        "<parent><groupId>org.springframework.boot</groupId><artifactId>starter-parent</artifactId></parent>",
        "<artifactId>shop</artifactId>",
        "<!-- <module>gone</module> -->",
        "<modules><module>core</module></modules>",
        "</project>",
      ),
      mvnw: "",
      "core/pom.xml": "<project><artifactId>core</artifactId></project>",
      "core/src/main/java/com/example/shop/ShopApplication.java": "",
    },
    facts: {
      name: "shop",
      languages: ["Java 1"],
      managers: ["maven pom.xml"],
      build: ["build: ./mvnw package -DskipTests", "compile: ./mvnw compile"],
      test: ["maven: ./mvnw test"],
      frameworks: ["spring ."],
      entries: ["main core/src/main/java/com/example/shop/ShopApplication.java"],
      tools: ["maven modules ."],
      packages: ["core core member"],
    },
  },
  {
    title: "Gradle with included projects",
    files: {
      "settings.gradle.kts": lines(
        'rootProject.name = "game"',
        "include(",
        '  ":app",',
        '  ":lib:core"',
        ")",
      ),
      "build.gradle.kts": lines("plugins {", '  id("org.springframework.boot") version "4"', "}"),
      gradlew: "",
      "app/build.gradle.kts": "",
      "app/src/main/kotlin/Main.kt": "",
      "lib/core/build.gradle.kts": "",
    },
    facts: {
      name: "game",
      managers: ["gradle build.gradle.kts"],
      build: ["build: ./gradlew assemble", "check: ./gradlew check"],
      test: ["gradle: ./gradlew test"],
      frameworks: ["spring ."],
      entries: ["main app/src/main/kotlin/Main.kt"],
      tools: ["gradle ."],
      packages: ["app app member", "core lib/core member"],
    },
  },
  {
    title: "Groovy Gradle without a wrapper",
    files: {
      "build.gradle": "apply plugin: 'java'\n",
      "settings.gradle": "include 'a', 'b'\n",
      "a/build.gradle": "",
    },
    facts: { test: ["gradle: gradle test"], packages: ["a a member"] },
  },
  {
    title: "CMake with ctest; its subfolders belong to it",
    files: {
      "CMakeLists.txt": lines(
        "cmake_minimum_required(VERSION 3.25)",
        "project(engine LANGUAGES CXX)",
        "add_executable(engine src/main.cpp)",
        "enable_testing()",
        "add_subdirectory(lib)",
      ),
      "lib/CMakeLists.txt": "add_library(lib lib.cpp)\n",
      "vcpkg.json": "{}",
      "src/main.cpp": "",
      "src/engine.h": "",
    },
    facts: {
      name: "engine",
      languages: ["C++ 2"],
      managers: ["vcpkg vcpkg.json"],
      build: ["configure: cmake -S . -B build", "build: cmake --build build"],
      test: ["ctest: ctest --test-dir build --output-on-failure"],
      entries: ["main src/main.cpp"],
      packages: [],
    },
  },
  {
    title: "Make, just and Task offer commands without being packages",
    files: {
      Makefile: lines(
        ".PHONY: all test",
        "CC := gcc",
        "all: main.o",
        "test: all",
        "\t./run",
        "\tbuild: nothing",
        "%.o: %.c",
        "odd-job:",
      ),
      justfile: lines("set shell := ['sh']", "build target='x':", "  echo"),
      "Taskfile.yml": lines("version: '3'", "tasks:", "  lint:", "    cmds: [x]"),
      "docs/Makefile": "all:\n",
      "main.c": "",
      "main.h": "",
    },
    facts: {
      languages: ["C 2"],
      build: ["all: make all", "build: just build", "lint: task lint"],
      test: ["make: make test"],
      packages: [],
    },
  },
  {
    title: "a .NET solution",
    files: {
      "Shop.sln": lines(
        'Project("{FAE04EC0}") = "Web", "src\\Web\\Web.csproj", "{1}"',
        'Project("{2150E333}") = "folder", "folder", "{2}"',
      ),
      "src/Web/Web.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
      "src/Web/Program.cs": "",
      "tests/Web.Tests/Web.Tests.csproj":
        '<Project Sdk="Microsoft.NET.Sdk">\n<PackageReference Include="Microsoft.NET.Test.Sdk" />\n<PackageReference\n Include="xunit" /></Project>',
      "src/Web/obj/x.cs": "",
    },
    facts: {
      name: "Shop",
      languages: ["C# 1"],
      managers: ["nuget Shop.sln"],
      build: ["build: dotnet build", "build: dotnet build @tests/Web.Tests"],
      test: ["dotnet test: dotnet test", "dotnet test: dotnet test @tests/Web.Tests"],
      frameworks: ["aspnet src/Web", "xunit tests/Web.Tests"],
      entries: ["main src/Web/Program.cs"],
      tools: ["solution ."],
      packages: ["Web src/Web member", "Web.Tests tests/Web.Tests"],
    },
  },
  {
    title: "Rails with rspec and minitest",
    files: {
      Gemfile: lines(
        "source 'https://rubygems.org'",
        'gem "rails", "~> 8"',
        "gem('rspec-rails')",
        "# gem 'sinatra'",
      ),
      "config.ru": "",
      "test/a_test.rb": "",
    },
    facts: {
      managers: ["bundler Gemfile"],
      build: ["install: bundle install", "start: bin/rails server"],
      test: ["rspec: bundle exec rspec", "minitest: bin/rails test"],
      frameworks: ["rails ."],
      entries: ["server config.ru"],
    },
  },
  {
    title: "a gem",
    files: {
      "tool.gemspec": lines(
        "Gem::Specification.new do |s|",
        "  s.name = 'tool'",
        "  s.add_development_dependency 'rspec'",
        "end",
      ),
      "exe/tool": "",
    },
    facts: {
      name: "tool",
      build: ["install: bundle install", "build: gem build tool.gemspec"],
      test: ["rspec: bundle exec rspec"],
      entries: ["command exe/tool tool"],
    },
  },
  {
    title: "Laravel with phpunit",
    files: {
      "composer.json": json({
        name: "acme/shop",
        require: { "laravel/framework": "^12" },
        "require-dev": { "phpunit/phpunit": "^12" },
        scripts: { lint: "pint" },
      }),
      artisan: "",
      "public/index.php": "",
    },
    facts: {
      name: "acme/shop",
      managers: ["composer composer.json"],
      build: ["install: composer install", "lint: composer run lint"],
      test: ["phpunit: vendor/bin/phpunit"],
      frameworks: ["laravel ."],
      entries: ["server public/index.php", "command artisan"],
    },
  },
  {
    title: "Symfony with pest",
    files: {
      "composer.json": json({
        require: { "symfony/framework-bundle": "8" },
        "require-dev": { "pestphp/pest": "4" },
      }),
      "bin/console": "",
    },
    facts: { frameworks: ["symfony ."], test: ["pest: vendor/bin/pest"], entries: ["command bin/console"] },
  },
  {
    title: "Flutter, Elixir and Swift side by side",
    files: {
      "app/pubspec.yaml": lines("name: app # mobile", "dependencies:", "  flutter:", "    sdk: flutter"),
      "app/lib/main.dart": "",
      "server/mix.exs": "",
      "kit/Package.swift": "",
    },
    facts: {
      managers: ["pub app/pubspec.yaml", "swiftpm kit/Package.swift", "mix server/mix.exs"],
      frameworks: ["flutter app"],
      test: ["flutter test: flutter test @app", "swift test: swift test @kit", "mix test: mix test @server"],
      packages: ["app app", "kit kit", "server server"],
      tools: [],
    },
  },
  {
    title: "a repository of several ecosystems, one folder with two",
    files: {
      "backend/go.mod": "module backend\n",
      "frontend/package.json": json({ name: "frontend" }),
      "frontend/pyproject.toml": lines("[project]", 'name = "also"'),
    },
    facts: {
      packages: ["backend backend", "frontend frontend"],
      managers: ["go backend/go.mod", "npm frontend/package.json", "pip frontend/pyproject.toml"],
    },
  },
  {
    title: "instructions, containers and CI, nested and hidden",
    files: {
      "AGENTS.md": "",
      ".cursorrules": "",
      ".github/copilot-instructions.md": "",
      ".github/workflows/ci.yml": "",
      ".cursor/rules/style.mdc": "",
      "packages/a/CLAUDE.md": "",
      "packages/a/Dockerfile": "",
      "node_modules/x/AGENTS.md": "",
      "compose.yaml": "",
      ".devcontainer/devcontainer.json": "{}",
      ".gitlab-ci.yml": "",
    },
    facts: {
      instructions: [
        ".cursorrules",
        "AGENTS.md",
        ".github/copilot-instructions.md",
        ".cursor/rules/style.mdc",
        "packages/a/CLAUDE.md",
      ],
      containers: ["compose.yaml", ".devcontainer/devcontainer.json", "packages/a/Dockerfile"],
      ci: [".gitlab-ci.yml", ".github/workflows/ci.yml"],
    },
  },
  {
    title: "git on a branch",
    files: { ".git/HEAD": "ref: refs/heads/feature/one\n" },
    facts: { vcs: ". feature/one" },
  },
  {
    title: "git without a branch",
    files: { ".git/HEAD": `${"a".repeat(40)}\n` },
    facts: { vcs: `. detached ${"a".repeat(40)}` },
  },
  {
    title: "a worktree whose repository is inside the workspace, seen from the top",
    files: { ".git": "gitdir: repo/.git/worktrees/w\n", "repo/.git/worktrees/w/HEAD": "ref: refs/heads/w\n" },
    facts: { vcs: ". w linked" },
  },
  {
    title: "a .git file that leads nowhere",
    files: { ".git": "gitdir: /somewhere/else/.git\n" },
    facts: { vcs: "" },
  },
  {
    title: "broken manifests are named, and the others are still read",
    files: {
      "package.json": '{ "name": "x", ',
      "package-lock.json": "{}",
      "Cargo.toml": lines("[package]", 'name = "half"', "version = = 1"),
      "a/pyproject.toml": lines("[project]", "name = broken", "[tool.uv"),
      "b/pom.xml": "<nothing/>",
      "c/go.mod": "\n",
      "d/x.csproj": "",
      "e/composer.json": "[]",
      "f/deno.json": "",
    },
    facts: {
      name: "project",
      managers: [
        "npm package-lock.json",
        "cargo Cargo.toml",
        "pip a/pyproject.toml",
        "maven b/pom.xml",
        "go c/go.mod",
        "nuget d/x.csproj",
        "composer e/composer.json",
        "deno f/deno.json",
      ],
      problems: [
        "package.json",
        "Cargo.toml",
        "a/pyproject.toml",
        "b/pom.xml",
        "c/go.mod",
        "d/x.csproj",
        "f/deno.json",
      ],
    },
  },
  {
    title: "names from Object.prototype are data",
    files: {
      "package.json":
        '{"name":"p","__proto__":{"main":"evil.js"},"constructor":1,"dependencies":{"__proto__":{"react":"1"},"constructor":"1","toString":"1"},"scripts":{"__proto__":"x","build":{"a":1}},"bin":{"__proto__":"a.js"}}',
      "Cargo.toml": lines("[__proto__]", 'polluted = "yes"', "[package.__proto__]", 'name = "no"'),
    },
    facts: { name: "p", frameworks: [], entries: ["command a.js __proto__ (missing)"], problems: [] },
  },
  {
    title: "paths in manifests that leave the workspace are dropped",
    files: {
      "package.json": json({ name: "p", main: "../../etc/passwd", module: "/etc/passwd", bin: "./in.js" }),
    },
    facts: { entries: ["command in.js p (missing)"] },
  },
  {
    title: "a manifest that is too large is not read",
    files: { "package.json": json({ name: "big", filler: "x".repeat(300_000) }) },
    facts: { name: "project", problems: ["package.json"] },
  },
];
