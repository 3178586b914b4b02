import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import {
  type CodeProject,
  FIXTURES,
  linkPackages,
  openCodeProject,
  positionOf,
  writeCompileCommands,
} from "./code-project.ts";

/** The same small shop in four languages, so that the same questions can be asked about each. */
interface Shop {
  readonly name: string;
  readonly language: string;
  readonly backend: string;
  readonly money: string;
  /** Where the function is defined, as seen from main. */
  readonly defined: string;
  readonly basket: string;
  /** Where the class is declared. */
  readonly declared: string;
  readonly main: string;
  readonly round: string;
  readonly total: string;
  /** The files that a rename of the function touches. */
  readonly renamed: readonly string[];
  readonly newName: string;
  /** How often the function is mentioned in all. */
  readonly mentions: number;
  readonly hover: RegExp;
  readonly typeOfPrice: RegExp;
  readonly outline: readonly string[];
  /** The packages in the project's node_modules, by the names of our own packages. */
  readonly packages?: Readonly<Record<string, string>>;
}

const TYPESCRIPT: Shop = {
  name: "typescript",
  language: "typescript",
  backend: "typescript",
  round: "roundCents",
  total: "total",
  money: "src/money.ts",
  defined: "src/money.ts",
  basket: "src/basket.ts",
  declared: "src/basket.ts",
  main: "src/main.ts",
  newName: "toCents",
  mentions: 5,
  renamed: ["src/basket.ts", "src/main.ts", "src/money.ts"],
  hover: /function roundCents\(amount: number\): number[\s\S]*whole cents/,
  typeOfPrice: /const price: number/,
  outline: ["Item", "Item.name", "Item.price", "Basket", "Basket.items", "Basket.add", "Basket.total"],
};
const PYTHON: Shop = {
  name: "python",
  language: "python",
  backend: "pyright",
  round: "round_cents",
  total: "total",
  money: "shop/money.py",
  defined: "shop/money.py",
  basket: "shop/basket.py",
  declared: "shop/basket.py",
  main: "shop/main.py",
  newName: "to_cents",
  mentions: 5,
  renamed: ["shop/basket.py", "shop/main.py", "shop/money.py"],
  hover: /def round_cents\(amount: float\) -> float[\s\S]*whole cents/,
  typeOfPrice: /price: float/,
  outline: ["Item", "Item.name", "Item.price", "Basket", "Basket.__init__", "Basket.add", "Basket.total"],
};

/** With preferred or bundled servers. */
const SHOPS: readonly Shop[] = [
  TYPESCRIPT,
  PYTHON,
  {
    name: "cpp",
    language: "cpp",
    backend: "clangd",
    round: "roundCents",
    total: "total",
    money: "src/money.cpp",
    defined: "src/money.",
    basket: "src/basket.cpp",
    declared: "src/basket.h",
    main: "src/main.cpp",
    newName: "toCents",
    mentions: 4,
    renamed: ["src/basket.cpp", "src/main.cpp", "src/money.cpp", "src/money.h"],
    hover: /double roundCents\(double amount\)/,
    typeOfPrice: /double price/,
    outline: ["Basket.add", "Basket.total"],
  },
  {
    name: "go",
    language: "go",
    backend: "gopls",
    round: "RoundCents",
    total: "Total",
    money: "shop/money.go",
    defined: "shop/money.go",
    basket: "shop/basket.go",
    declared: "shop/basket.go",
    main: "main.go",
    newName: "ToCents",
    mentions: 3,
    renamed: ["main.go", "shop/basket.go", "shop/money.go"],
    hover: /func shop\.RoundCents\(amount float64\) float64[\s\S]*whole cents/,
    typeOfPrice: /var price float64/,
    outline: ["Item", "Item.Name", "Item.Price", "Basket", "Basket.Items", "Basket.Add", "Basket.Total"],
  },
];

/** With the servers of the project itself. */
const SHOPS_WITH_PACKAGES: readonly Shop[] = [
  {
    ...TYPESCRIPT,
    name: "typescript 5",
    backend: "typescript-language-server",
    hover: /roundCents\(amount: number\): number[\s\S]*whole cents/,
    packages: { typescript: "typescript-5", "typescript-language-server": "typescript-language-server" },
  },
  {
    ...PYTHON,
    name: "python with basedpyright",
    backend: "basedpyright",
    packages: { basedpyright: "basedpyright" },
  },
];
const ALL_SHOPS = [...SHOPS, ...SHOPS_WITH_PACKAGES];
const hasServer = ({ backend }: Shop) => !inject("missing").includes(backend);
const hasGo = !inject("missing").some((name) => name === "gopls" || name === "golang-go");

const openShops = (
  shops: readonly Shop[],
  options: Parameters<typeof openCodeProject>[1] = {},
): CodeProject => {
  const project = openCodeProject(
    shops.map(({ language }) => join(FIXTURES, language)),
    options,
  );
  for (const { name, packages } of shops) if (packages) linkPackages(rootOf(project, name), packages);
  writeCompileCommands(rootOf(project, "cpp"));
  return project;
};
const rootOf = ({ roots }: CodeProject, name: string) =>
  roots[ALL_SHOPS.findIndex((shop) => shop.name === name)]!;
// biome-ignore lint/suspicious/noExplicitAny: the results of any action.
const filesOf = (results: any[], root: string): string[] =>
  [...new Set(results.map(({ uri }) => decodeURI(uri.slice(pathToFileURL(`${root}/`).href.length))))].sort();

/** Ten questions about a shop, each asked over the dispatcher. */
function askAll(get: () => CodeProject, shop: Shop) {
  const { language, main, round, total, basket } = shop;
  const root = () => rootOf(get(), shop.name);
  const uri = (file: string) => join(root(), file);
  const ask = async (action: string, file: string, text: string, nth = 0, more = {}) => {
    const position = positionOf(uri(file), text, nth);
    const envelope = await get().call("code", action, { uri: uri(file), position, ...more });
    expect(envelope.error).toBeNull();
    expect(envelope.meta.backend).toBe(shop.backend);
    return envelope.data;
  };

  test("the definition of a function that another file calls", async () => {
    const { results } = await ask("definition", main, `${round}(4`);
    expect(results[0].uri).toContain(shop.defined);
    expect(results[0].symbol_id).toMatch(new RegExp(`#${round}$`));
  });
  test("the definition of a class that another file uses", async () => {
    const { results } = await ask(
      "definition",
      main,
      "Basket",
      language === "typescript" || language === "python" ? 1 : 0,
    );
    expect(results.map((one: { uri: string }) => one.uri)).toEqual([expect.stringContaining(shop.declared)]);
  });
  test("the definition of a method", async () => {
    const { results } = await ask("definition", main, `${total}()`);
    expect(results[0].symbol_id).toMatch(new RegExp(`Basket\\.${total}$`));
  });
  test("the definition of a local variable", async () => {
    // Right after the word counts as at it.
    const { line, col } = positionOf(uri(main), "return price");
    const position = { line, col: col + "return price".length };
    const { data, meta } = await get().call("code", "definition", { uri: uri(main), position });
    expect(meta.backend).toBe(shop.backend);
    expect(data.results).toHaveLength(1);
    expect(data.results[0].snippet).toMatch(/price\b.*[Tt]otal/);
  });
  test("every reference to a function, in all files", async () => {
    const { results, total: count } = await ask("references", main, `${round}(4`);
    expect(count).toBe(shop.mentions);
    expect(filesOf(results, root())).toEqual(shop.renamed);
  });
  test("every reference to a method", async () => {
    const { results } = await ask("references", main, `${total}()`);
    expect(filesOf(results, root())).toEqual(expect.arrayContaining([main, shop.declared]));
  });
  test("what a function is, with its documentation", async () => {
    expect((await ask("hover", main, `${round}(4`)).text).toMatch(shop.hover);
  });
  test("the type of an unannotated variable", async () => {
    expect(
      (await ask("hover", main, "price", language === "python" ? 1 : language === "typescript" ? 1 : 0)).text,
    ).toMatch(shop.typeOfPrice);
  });
  test("a wrong type is reported as soon as the file is saved, and no longer when it is fixed", async () => {
    const right = readFileSync(uri(basket), "utf8");
    try {
      writeFileSync(uri(basket), right.replace(/(\w*ound_?[cC]ents)\(sum\w*/, '$1("many" '));
      const { data, meta } = await get().call("code", "diagnostics", { uri: uri(basket) });
      expect(meta.backend).toBe(shop.backend);
      expect(data.results).toContainEqual(expect.objectContaining({ severity: "error" }));
    } finally {
      writeFileSync(uri(basket), right);
    }
    const { data } = await get().call("code", "diagnostics", { uri: uri(basket) });
    expect(data.results.filter((one: { severity: string }) => one.severity === "error")).toEqual([]);
  });
  test("a file that was and is correct is reported as correct", async () => {
    const right = readFileSync(uri(main), "utf8");
    try {
      writeFileSync(uri(main), `${right}\n`);
      const { data, meta } = await get().call("code", "diagnostics", { uri: uri(main) });
      expect(meta.backend).toBe(shop.backend);
      expect(data.results.filter((one: { severity: string }) => one.severity === "error")).toEqual([]);
    } finally {
      writeFileSync(uri(main), right);
    }
  });
  test("a rename from an import or a call reaches all files", async () => {
    const data = await ask("rename", main, round, 0, { new_name: shop.newName, dry_run: true });
    expect(filesOf(data.files, root())).toEqual(shop.renamed);
    expect(data.patch).not.toContain(" as ");
    expect(data.undo).toBeNull();
    expect(readFileSync(uri(shop.money), "utf8")).toContain(round);
  });
}

describe("with its language server", () => {
  let project: CodeProject;
  beforeAll(() => {
    project = openShops(ALL_SHOPS);
  });
  afterAll(() => project[Symbol.asyncDispose]());
  const [here, missing] = [ALL_SHOPS.filter(hasServer), ALL_SHOPS.filter((shop) => !hasServer(shop))];
  describe.each(here)("$name", (shop) => askAll(() => project, shop));
  test.skip.each(missing)("$name: ten questions, without $backend", () => {});

  test.each(here)("$name: an error in another file caused by a change is reported", async (shop) => {
    const root = rootOf(project, shop.name);
    const [main, changed] = [
      join(root, shop.main),
      join(root, shop.language === "cpp" ? "src/money.h" : shop.money),
    ];
    const errors = async () => {
      const { data } = await project.call("code", "diagnostics", { uri: main });
      return data.results.filter((one: { severity: string }) => one.severity === "error").length;
    };
    const right = readFileSync(changed, "utf8");
    const write = (text: string) => {
      writeFileSync(changed, text);
      project.servers.changed([changed]);
    };
    expect(await errors()).toBe(0);
    try {
      write(right.replaceAll(shop.round, `${shop.round}2`));
      await expect.poll(errors).toBeGreaterThan(0);
    } finally {
      write(right);
    }
    await expect.poll(errors).toBe(0);
  });
  test.skipIf(!hasGo)("a rename refused by the server is refused with its message", async () => {
    const uri = join(rootOf(project, "go"), "shop/money.go");
    const position = positionOf(uri, "RoundCents(");
    const { error } = await project.call("code", "rename", { uri, position, new_name: "roundCents" });
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringContaining("unexported") });
  });
  test("Python has no formatter in its server, and the answer says so", async () => {
    const uri = join(rootOf(project, "python"), "shop/main.py");
    expect((await project.call("code", "format", { uri })).error).toMatchObject({ code: "UNSUPPORTED" });
  });
  test.skipIf(!hasGo)(
    "a file is formatted through the edit engine, and only looked at in a dry run",
    async () => {
      const uri = join(rootOf(project, "go"), "untidy.go");
      writeFileSync(uri, "package main\n\nfunc  untidy( )   int {\nreturn 1\n}\n");
      const look = await project.call("code", "format", { uri, dry_run: true });
      expect(look.data.patch).toContain("+\treturn 1");
      expect(readFileSync(uri, "utf8")).toContain("untidy( )");
      const { data } = await project.call("code", "format", { uri });
      expect(readFileSync(uri, "utf8")).toBe("package main\n\nfunc untidy() int {\n\treturn 1\n}\n");
      expect(data.undo).toMatch(/^blob:/);
    },
  );
});

test("a server that announces its kind of diagnostics after the handshake is asked in time", async () => {
  await using project = openCodeProject([join(FIXTURES, "python")]);
  const { meta } = await project.call("code", "diagnostics", {
    uri: join(project.roots[0]!, "shop/main.py"),
  });
  expect(meta.backend).toBe("pyright");
});

describe("without any language server", () => {
  let project: CodeProject;
  let bin: string;
  beforeAll(() => {
    bin = mkdtempSync(join(tmpdir(), "octant-bin-"));
    project = openShops(SHOPS, { env: { PATH: bin }, bundledFrom: null });
  });
  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    rmSync(bin, { recursive: true });
  });

  describe.each(SHOPS)("$language", ({ language, main, round, total, basket, ...shop }) => {
    const uri = (file: string) => join(rootOf(project, language), file);
    const ask = (action: string, file: string, text: string, more = {}) =>
      project.call("code", action, { uri: uri(file), position: positionOf(uri(file), text), ...more });

    test.each([
      ["function", () => `${round}(4`, shop.defined, round],
      [
        "class",
        () => (language === "cpp" || language === "go" ? "Basket" : "Basket()"),
        shop.declared,
        "Basket",
      ],
      ["method", () => `${total}()`, basket.split(".")[0]!, `Basket.${total}`],
    ] as const)("tree-sitter finds the definition of a %s", async (_kind, text, file, symbol) => {
      const { data, meta } = await ask("definition", main, text());
      expect(meta.backend).toBe("tree-sitter");
      expect(data.results.length).toBeGreaterThan(0);
      for (const { uri: found } of data.results) expect(found).toContain(file);
      expect(data.results.map((one: { symbol_id: string }) => one.symbol_id.split("#")[1])).toContain(symbol);
    });
    test("tree-sitter provides the outline", async () => {
      const { data, meta } = await project.call("code", "outline", { uri: uri(basket) });
      expect(meta.backend).toBe("tree-sitter");
      expect(data.results.map((one: { symbol_id: string }) => one.symbol_id.split("#")[1])).toEqual(
        shop.outline,
      );
    });
    test("references and callers are found by name, without comments and strings, and the answer says so", async () => {
      const { data } = await ask("references", main, `${round}(4`);
      expect(data.total).toBe(shop.mentions);
      expect(data.note).toContain("matched by name: other symbols with this name may be included");
      const callers = await ask("calls", main, `${round}(4`);
      expect(callers.data.note).toBe(data.note);
      expect(callers.data.results.map((one: { name: string }) => one.name).sort()).toEqual(
        [total, "checkout"].sort(),
      );
    });
    test("a rename is refused, and the answer says how to get a server", async () => {
      const { error } = await ask("rename", main, `${round}(4`, { new_name: "x" });
      expect(error).toMatchObject({
        code: "UNSUPPORTED",
        details: { how: expect.stringContaining("install") },
      });
    });
  });
});
