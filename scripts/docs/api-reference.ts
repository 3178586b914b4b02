import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript-5";
import { loadManifest } from "../package/packages.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
/** Packages that other people's programs may import; everything else may change in any release. */
export const PUBLIC_PACKAGES = [
  "app",
  "agent",
  "conformance",
  "core",
  "http",
  "mcp",
  "mcp-client",
  "scripted-provider",
  "wire",
];
/** Longer initial values are shown by their first line, unless they are schemas: those are types. */
const MAX_VALUE_CHARS = 800;

interface Export {
  readonly name: string;
  readonly file: string;
  readonly doc: string;
  readonly code: string;
}

/** The pages of docs/api by name. */
export function renderApiPages(): Record<string, string[]> {
  const pages = PUBLIC_PACKAGES.map((name) => [`api/${name}.md`, renderPackage(name)] as const);
  return { "api/README.md": renderOverview(), ...Object.fromEntries(pages) };
}

function renderOverview(): string[] {
  const rows = PUBLIC_PACKAGES.map((name) => {
    const { description } = loadManifest(join(REPOSITORY, "packages", name));
    return `| [@octant/${name}](${name}.md) | ${description} |`;
  });
  return [
    "# Public API",
    "A program may rely on these packages. Their exports change incompatibly only with a new minor version before 1.0 and with a new major version after it; [CHANGELOG.md](../../CHANGELOG.md) says how to adapt. Additions, such as a new optional field, a new member of a union of events or a new error code, may come with any version.",
    ["| package | |", "|---|---|", ...rows].join("\n"),
    "The same promise holds for the commands, flags and exit codes of `octant` ([commands](../commands.md)), the settings ([settings](../settings.md)), the tools with their parameters and answers ([tools](../tools.md)), the wire format and the vectors ([wire](../wire.md)), and files on disk as far as [stored files](../stored-files.md) says so.",
    "These may change in any release: all other packages, files below `dist` that are not the package's entry, text that people or models read (messages, help, text answers), the order of list entries unless it is documented, and everything marked as a draft or as unverified.",
  ];
}

function renderPackage(name: string): string[] {
  const { description } = loadManifest(join(REPOSITORY, "packages", name));
  const entry = join(REPOSITORY, "packages", name, "src/index.ts");
  const exports = exportsOf(entry).sort(byName);
  const others = mentionedBy(exports).sort(byName);
  return [
    `# @octant/${name}`,
    `${description} [What "public" means](README.md).`,
    ...exports.flatMap((one) => renderExport(one, "##")),
    ...(others.length > 0
      ? ["## Other types", "The declarations above mention them; they have no export of their own."]
      : []),
    ...others.flatMap((one) => renderExport(one, "###")),
  ];
}

const renderExport = ({ name, file, doc, code }: Export, heading: string): string[] => [
  `${heading} ${name}`,
  ...(doc ? [doc] : []),
  `\`\`\`ts\n${code}\n\`\`\``,
  `[${relative(REPOSITORY, file)}](../../${relative(REPOSITORY, file)})`,
];

const byName = (a: Export, b: Export): number => (a.name < b.name ? -1 : 1);

/** The types of the package that these declarations mention, and those that they mention in turn. */
function mentionedBy(exports: readonly Export[]): Export[] {
  const keyOf = ({ file, name }: Export) => `${file} ${name}`;
  const known = new Set(exports.map(keyOf));
  const found: Export[] = [];
  exports.forEach(visit);
  return found;

  function visit({ file, code }: Export): void {
    for (const name of typeNames(code)) {
      const type = findType(file, name);
      if (!type || known.has(keyOf(type))) continue;
      known.add(keyOf(type));
      found.push(type);
      visit(type);
    }
  }
}

function typeNames(code: string): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node) && node.expression;
    if (name && ts.isIdentifier(name)) names.add(name.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest, true));
  return names;
}

/** The type of this name in a file, declared there or imported from another file of the package. */
function findType(file: string, name: string): Export | undefined {
  const { statements } = parse(file);
  const here = statements
    .filter((one) => ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one))
    .find((one) => one.name.text === name);
  if (here) return declared(parse(file), here)[0];
  for (const { moduleSpecifier, importClause } of statements.filter(ts.isImportDeclaration)) {
    const { text: from } = moduleSpecifier as ts.StringLiteral; // The only form that the grammar allows.
    const bindings = importClause?.namedBindings;
    if (!from.startsWith(".") || !bindings || !ts.isNamedImports(bindings)) continue;
    const found = bindings.elements.find((one) => one.name.text === name);
    if (found) return find(join(dirname(file), from), (found.propertyName ?? found.name).text);
  }
  return undefined;
}

const parsed = new Map<string, ts.SourceFile>();

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known) return known;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

/** The exports of a file; those of other packages are shown as what they are. */
function exportsOf(file: string): Export[] {
  const source = parse(file);
  return source.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return reexports(file, statement);
    return declared(source, statement).filter(() => isExported(statement));
  });
}

function reexports(file: string, { moduleSpecifier, exportClause }: ts.ExportDeclaration): Export[] {
  if (!exportClause || !ts.isNamedExports(exportClause)) return [];
  const from = moduleSpecifier && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : "";
  return exportClause.elements.map(({ name, propertyName }) => {
    const original = (propertyName ?? name).text;
    const foreign = { file, doc: "", code: `export { ${original} } from "${from}";` };
    const found = from.startsWith(".") ? find(join(dirname(file), from), original) : foreign;
    return { ...found, name: name.text };
  });
}

/** A schema and its type share a name: both belong to it. */
function find(file: string, name: string): Export {
  const all = exportsOf(file).filter((one) => one.name === name);
  const [first] = all;
  if (!first) throw new Error(`${file} has no export '${name}'`);
  const doc = all.find((one) => one.doc)?.doc ?? "";
  return { ...first, doc, code: all.map(({ code }) => code).join("\n") };
}

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);

function declared(source: ts.SourceFile, statement: ts.Statement): Export[] {
  const doc = docOf(statement);
  const file = source.fileName;
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((one) => ({
      name: one.name.getText(),
      file,
      doc,
      code: `const ${variableText(one)};`,
    }));
  if (ts.isFunctionDeclaration(statement)) {
    const name = statement.name?.text ?? "";
    return [{ name, file, doc, code: `${signatureOf(statement)};` }];
  }
  if (ts.isClassDeclaration(statement)) {
    const name = statement.name?.text ?? "";
    return [{ name, file, doc, code: classText(statement) }];
  }
  if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
    return [{ name: statement.name.text, file, doc, code: withoutExport(statement.getText()) }];
  return [];
}

const withoutExport = (text: string) => text.replace(/^export\s+/, "");

/** The text before the body. */
function signatureOf(node: ts.FunctionLikeDeclaration): string {
  const from = node.getStart();
  return withoutExport(
    node
      .getSourceFile()
      .text.slice(from, node.body?.getStart() ?? node.end)
      .trim(),
  );
}

function variableText({ name, type, initializer }: ts.VariableDeclaration): string {
  if (type) return `${name.getText()}: ${type.getText()}`;
  if (initializer && ts.isArrowFunction(initializer))
    return `${name.getText()} = ${signatureOf(initializer)} …`;
  const text = initializer?.getText() ?? "";
  const isCut = text.length > MAX_VALUE_CHARS && !/^z\b/.test(text);
  const shown = isCut ? `${text.split("\n", 1)[0]} … ` : text;
  return `${name.getText()} = ${shown}`.trimEnd();
}

function classText(node: ts.ClassDeclaration): string {
  const header = withoutExport(node.getSourceFile().text.slice(node.getStart(), node.members.pos).trim());
  const members = node.members
    .filter((member) => !isHidden(member))
    .map((member) => `  ${memberText(member)}`);
  return [header, ...members, "}"].join("\n");
}

const isHidden = (member: ts.ClassElement): boolean =>
  (member.name !== undefined && ts.isPrivateIdentifier(member.name)) ||
  (ts.canHaveModifiers(member) &&
    (ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) ?? false));

function memberText(member: ts.ClassElement): string {
  const doc = docOf(member);
  const text = ts.isPropertyDeclaration(member)
    ? member.getSourceFile().text.slice(member.getStart(), (member.type ?? member.name).end)
    : ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member) || ts.isAccessor(member)
      ? signatureOf(member)
      : member.getText().replace(/;$/, "");
  return `${doc ? `/** ${doc} */\n  ` : ""}${text.trim()};`;
}

/** The comment of a declaration as one paragraph. */
const docOf = (node: ts.Node): string =>
  ts
    .getJSDocCommentsAndTags(node)
    .filter(ts.isJSDoc)
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
    .join("\n")
    .replace(/\s+/g, " ")
    .trim();
