/** A small project of one shape, with one function that is used in other files, in text, and beside a namesake. */
export interface Shape {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The function, and the file that defines it. */
  readonly symbol: string;
  readonly defined: string;
  /** How often the function itself is used in code, its definition included. */
  readonly uses: number;
  /** The functions around its calls; a file's name for a call at the top level. */
  readonly callers: readonly string[];
  /** The files in which the function can stand in code. */
  readonly code: RegExp;
  /** How its calls look for `search_ast`. */
  readonly call: string;
  readonly language: string;
  /** Its server; undefined where names have to answer. */
  readonly server?: string;
  /** Whether types are checked. */
  readonly checked: "all" | "syntax";
  /** Whether the server alone can rename the function in all files. */
  readonly renames?: true;
  readonly newName: string;
  /** The project's own judge of a rename. */
  readonly builds?: readonly [program: string, ...args: string[]];
}

const COMPILER = ["c++", "-std=c++17", "-Iinclude", "-fsyntax-only"] as const;
const CPP = (symbol: string): Record<string, string> => ({
  "README.md": `Call ${symbol} first.\n`,
  "include/price.h": `#pragma once\n// ${symbol} adds it.\ndouble ${symbol}(double amount);\n#define TWICE(x) ${symbol}(${symbol}(x))\n`,
  "src/price.cpp": `#include "price.h"\ndouble ${symbol}(double amount) { return amount * 1.2; }\n`,
  "src/main.cpp": `#include "price.h"\nstruct Other { double ${symbol}2; };\nint main() {\n  const char *text = "${symbol}";\n  return text[0] + static_cast<int>(${symbol}(1) + TWICE(2));\n}\n`,
});

const COMMONJS: Shape = {
  name: "CommonJS app",
  symbol: "roundCents",
  defined: "lib/money.js",
  uses: 9,
  callers: ["half", "total", "main", "app.js", "money.test.js"],
  code: /\.js$/,
  call: "roundCents($$$A)",
  language: "javascript",
  server: "typescript",
  checked: "syntax",
  newName: "toCents",
  builds: [process.execPath, "app.js"],
  files: {
    "package.json": '{ "name": "shop" }\n',
    "README.md": "roundCents rounds.\n",
    "lib/money.js":
      "// roundCents rounds\nexports.roundCents = function (amount) {\n  return Math.round(amount * 100) / 100;\n};\nexports.half = (amount) => exports.roundCents(amount / 2);\n",
    "lib/basket.js":
      "const { roundCents } = require('./money');\nfunction Basket() { this.items = []; }\nBasket.prototype.total = function () { return roundCents(1); };\nmodule.exports = { Basket, makeBasket: () => new Basket() };\n",
    "index.js":
      "exports.money = require('./lib/money');\nexports.makeBasket = require('./lib/basket').makeBasket;\n",
    "app.js":
      "const shop = require('./index');\nconst money = require('./lib/money');\nfunction main() {\n  return money.roundCents(shop.makeBasket().total());\n}\nif (main() + require('./lib/money').roundCents(4.321) + shop.money.roundCents(2) !== 7.32) throw 'roundCents';\n",
    "test/money.test.js":
      "const money = require('../lib/money');\nconst again = money.roundCents;\nif (again(1.005) + money.roundCents(2) !== 3) throw new Error('wrong');\n",
  },
};

const TYPESCRIPT: Shape = {
  name: "TypeScript monorepo with barrels",
  symbol: "prettyPrice",
  defined: "packages/core/src/price.ts",
  uses: 7,
  callers: ["shown", "label"],
  code: /\.ts$/,
  call: "prettyPrice($$$A)",
  language: "typescript",
  server: "typescript",
  checked: "all",
  renames: true,
  newName: "showPrice",
  builds: ["tsc", "-p", "."],
  files: {
    "package.json": '{ "type": "module", "workspaces": ["packages/*"] }\n',
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        target: "es2022",
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: [],
      },
      include: ["packages"],
    }),
    "packages/core/src/price.ts":
      "/** prettyPrice shows it. */\nexport function prettyPrice(amount: number): string {\n  return 'prettyPrice ' + amount;\n}\n",
    "packages/core/src/external.ts": 'export { prettyPrice } from "./price.ts";\n',
    "packages/core/src/index.ts":
      'export * from "./external.ts";\nexport { prettyPrice as priceText } from "./price.ts";\n',
    "packages/app/src/label.ts":
      'import * as core from "../../core/src/index.ts";\nimport { priceText } from "../../core/src/index.ts";\nexport const label = (): string => core.prettyPrice(1) + priceText(2);\n',
    "packages/app/src/shown.ts":
      'import { prettyPrice } from "../../core/src/index.ts";\nexport function shown(): string {\n  return prettyPrice(3) + [4].map(prettyPrice).join();\n}\n',
    "packages/app/src/namesake.ts":
      "export class Printer {\n  prettyPrice(): number {\n    return 1;\n  }\n}\n",
  },
};

const GO: Shape = {
  name: "Go with make",
  symbol: "SplitBill",
  defined: "bill/bill.go",
  uses: 3,
  callers: ["main", "TestSplit"],
  code: /\.go$/,
  call: "SplitBill($$$A)",
  language: "go",
  server: "gopls",
  checked: "all",
  renames: true,
  newName: "ShareBill",
  builds: ["go", "vet", "./..."],
  files: {
    Makefile: "test: # SplitBill\n\tgo test ./...\n",
    "go.mod": "module example.com/bills\n\ngo 1.19\n",
    "bill/bill.go":
      "package bill\n\n// SplitBill divides.\nfunc SplitBill(sum, people int) int {\n\treturn sum / people\n}\n",
    "bill/bill_test.go":
      'package bill\n\nimport "testing"\n\nfunc TestSplit(t *testing.T) {\n\tif SplitBill(4, 2) != 2 {\n\t\tt.Fatal("SplitBill")\n\t}\n}\n',
    "main.go":
      'package main\n\nimport "example.com/bills/bill"\n\ntype other struct{ SplitBill int }\n\nfunc main() {\n\tprintln(bill.SplitBill(9, 3), other{}.SplitBill)\n}\n',
  },
};

const PYTHON: Shape = {
  name: "Python with uv and .venv",
  symbol: "apply_discount",
  defined: "src/shop/price.py",
  uses: 6,
  callers: ["total", "test_discount"],
  code: /\.py$/,
  call: "apply_discount($$$A)",
  language: "python",
  server: "pyright",
  checked: "all",
  renames: true,
  newName: "reduce_price",
  builds: [
    "python3",
    "-c",
    "import sys; sys.path.insert(0, 'src'); sys.path.insert(0, 'tests'); import test_price; test_price.test_discount()",
  ],
  files: {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n# apply_discount\n',
    "uv.lock": "version = 1\n",
    ".venv/pyvenv.cfg": "home = /usr/bin\n",
    ".gitignore": ".venv\n",
    "src/shop/__init__.py": "",
    "src/shop/price.py":
      'def apply_discount(amount: float) -> float:\n    """apply_discount lowers it."""\n    return amount * 0.9\n',
    "src/shop/basket.py":
      "from shop.price import apply_discount\n\n\ndef total(prices: list[float]) -> float:\n    return sum(apply_discount(one) for one in prices)\n",
    "tests/test_price.py":
      "from shop import price\nfrom shop.basket import total\nfrom shop.price import apply_discount\n\n\ndef test_discount():\n    assert price.apply_discount(10) == 9\n    assert total([10]) == apply_discount(10)\n",
  },
};

const MIXED: Shape = {
  name: "mixed TypeScript, Python and shell",
  symbol: "tax_rate",
  defined: "service/rates.py",
  uses: 3,
  callers: ["gross"],
  code: /\.py$/,
  call: "tax_rate($$$A)",
  language: "python",
  server: "pyright",
  checked: "all",
  renames: true,
  newName: "rate_of_tax",
  builds: [
    "python3",
    "-c",
    "import sys; sys.path.insert(0, 'service'); import gross; assert gross.gross(1) == 1.2",
  ],
  files: {
    "service/rates.py": "def tax_rate() -> float:\n    return 0.2\n",
    "service/gross.py":
      "from rates import tax_rate\n\n\ndef gross(net: float) -> float:\n    return net * (1 + tax_rate())\n",
    "web/rates.ts": "export const tax_rate = (): number => 0.2;\nexport const shown = tax_rate();\n",
    "deploy.sh": "tax_rate() { echo 0.2; }\ntax_rate\n",
  },
};

/** Where no server can be installed here, names answer. */
const BY_NAME: readonly Shape[] = [
  {
    name: "Ruby",
    symbol: "settle!",
    defined: "lib/account.rb",
    uses: 5,
    callers: ["close", "main.rb"],
    code: /\.rb$/,
    call: "$X.settle!($$$A)",
    language: "ruby",
    checked: "syntax",
    newName: "pay!",
    files: {
      "README.md": "settle! settles; settle does not.\n",
      "lib/account.rb":
        "class Account\n  # settle! is final\n  def settle!(amount = 0)\n    amount\n  end\n\n  def settle\n    :later\n  end\n\n  def close\n    settle!\n    settle\n  end\nend\n",
      "main.rb":
        "require_relative 'lib/account'\naccount = Account.new\naccount.settle!(1)\naccount.public_send(:settle!)\naccount.settle!(2) if account.settle == 'settle!'\n",
    },
  },
  {
    name: "Rust with macros",
    symbol: "net_total",
    defined: "src/price.rs",
    uses: 6,
    callers: ["main", "checks"],
    code: /\.rs$/,
    call: "net_total($$$A)",
    language: "rust",
    checked: "syntax",
    newName: "sum_net",
    builds: ["rustc", "--edition", "2021", "--emit=metadata", "-o", "target.rmeta", "src/main.rs"],
    files: {
      "Cargo.toml": '[package]\nname = "prices"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/price.rs":
        "/// net_total adds.\npub fn net_total(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n",
      "src/main.rs":
        'mod price;\nuse price::net_total;\nfn main() {\n    println!("{} net_total", net_total(&[1, 2]));\n}\n#[test]\nfn checks() {\n    assert_eq!(net_total(&[1]), price::net_total(&vec![net_total(&[1])]));\n}\n',
    },
  },
  {
    name: "Maven",
    symbol: "grossTotal",
    defined: "src/main/java/shop/Price.java",
    uses: 4,
    callers: ["main", "adds"],
    code: /\.java$/,
    call: "Price.grossTotal($$$A)",
    language: "java",
    checked: "syntax",
    newName: "totalGross",
    files: {
      "pom.xml": "<project><!-- grossTotal --><artifactId>shop</artifactId></project>\n",
      "src/main/java/shop/Price.java":
        "package shop;\n\npublic class Price {\n    /** grossTotal adds tax. */\n    public static int grossTotal(int net) {\n        return net + net / 5;\n    }\n}\n",
      "src/main/java/shop/Main.java":
        'package shop;\n\npublic class Main {\n    public static void main(String[] args) {\n        System.out.println("grossTotal" + Price.grossTotal(10));\n    }\n}\n',
      "src/test/java/shop/PriceTest.java":
        "package shop;\n\nclass PriceTest {\n    void adds() {\n        assert Price.grossTotal(5) == 6 && Price.grossTotal(Price.class.hashCode()) > 0;\n    }\n}\n",
    },
  },
  {
    name: "PHP",
    symbol: "format_price",
    defined: "src/price.php",
    uses: 4,
    callers: ["shown", "index.php"],
    code: /\.php$/,
    call: "format_price($$$A)",
    language: "php",
    checked: "syntax",
    newName: "price_text",
    files: {
      "composer.json": '{ "name": "shop/format_price" }\n',
      "src/price.php":
        "<?php\n// format_price shows it\nfunction format_price($amount) {\n    return '€ ' . $amount;\n}\n",
      "src/shown.php":
        "<?php\nfunction shown($items) {\n    return format_price(count($items)) . 'format_price';\n}\n",
      "index.php": "<?php\nrequire 'src/price.php';\necho format_price(1);\necho format_price(2);\n",
    },
  },
  {
    name: "C++ without a compile database",
    symbol: "addToll",
    defined: "src/price.cpp",
    uses: 5,
    callers: ["TWICE", "main"],
    code: /\.(?:cpp|h)$/,
    call: "addToll($$$A)",
    language: "cpp",
    checked: "syntax",
    newName: "withToll",
    builds: [...COMPILER, "src/main.cpp", "src/price.cpp"],
    files: { ...CPP("addToll"), "CMakeLists.txt": "project(prices)\n" },
  },
];

export const SHAPES: readonly Shape[] = [
  COMMONJS,
  TYPESCRIPT,
  GO,
  PYTHON,
  MIXED,
  {
    name: "C++ with a compile database",
    symbol: "addTax",
    defined: "src/price.cpp",
    uses: 5,
    callers: ["TWICE", "main"],
    code: /\.(?:cpp|h)$/,
    call: "addTax($$$A)",
    language: "cpp",
    server: "clangd",
    checked: "all",
    newName: "withTax",
    builds: [...COMPILER, "src/main.cpp", "src/price.cpp"],
    files: CPP("addTax"),
  },
  ...BY_NAME,
];
