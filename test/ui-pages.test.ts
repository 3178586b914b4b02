import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openUi, type UiClient } from "./ui/ui-client.ts";

const ROWS = 12_000;
const rows = Array.from(
  { length: ROWS },
  (_, at) =>
    `<tr><td><b>Row</b> ${at}</td><td><button onclick="document.title='${at}'"><i>Delete</i> ${at}</button></td></tr>`,
).join("");

/** The structure of Monaco: drawn lines that are hidden from readers, in any order, and a field of one pixel. */
const EDITOR = `<div class="monaco-editor" style="width:400px;height:200px;position:relative" onclick="this.querySelector('textarea').focus()">
  <textarea aria-label="Editor content" style="position:absolute;width:1px;height:1px;opacity:0"
    oninput="document.querySelector('.view-lines').innerHTML = this.value.split('\\n').map((l, i) => '<div class=view-line style=position:absolute;top:' + i * 20 + 'px>' + l + '</div>').join('')"></textarea>
  <div class="view-lines" role="presentation" aria-hidden="true">
    <div class="view-line" style="position:absolute;top:20px">&nbsp;&nbsp;return&nbsp;1;</div>
    <div class="view-line" style="position:absolute;top:0">function&nbsp;a()&nbsp;{</div>
  </div></div>`;

const PAGES: Readonly<Record<string, string>> = {
  "/list": `<div role=listbox><div role=option onclick="document.title='chosen'">One</div></div>
    <ul><li draggable=true>Card</li><li>Plain</li></ul><select><option>native</option></select>`,
  "/errors": `<script src=/bad.js></script><script>\nnull.foo</script>`,
  "/bad.js": "let a = ;",
  "/rows": `<table>${rows}</table>`,
  "/editor": EDITOR,
  "/form": `<form><input id=name><input id=agree type=checkbox><select id=size><option value=s>Small</option><option value=l>Large</option></select>
    <label>City <input id=city></label></form>`,
  "/drop": `<div id=zone style="width:100px;height:100px" ondragover="event.preventDefault()"
    ondrop="event.preventDefault(); event.dataTransfer.files[0].text().then((text) => { this.textContent = event.dataTransfer.files[0].name + ': ' + text })">Drop here</div>`,
};

describe.skipIf(inject("missing").includes("chromium"))("pages, over MCP", () => {
  let client: UiClient;
  let server: Server;
  let base: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? "/";
      if (path === "/private" && request.headers.authorization !== `Basic ${btoa("me:s3cret")}`)
        return response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end("no");
      response.setHeader("content-type", path.endsWith(".js") ? "text/javascript" : "text/html");
      return response.end(PAGES[path] ?? "<h1>Welcome</h1>");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    base = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    client = await openUi();
  });
  afterAll(async () => {
    await client?.[Symbol.asyncDispose]();
    server?.close();
  });
  const open = (path: string) => client.ui("navigate", { url: base + path });

  test("options and draggable items have refs; the options of a select box do not need them", async () => {
    const { changes } = await open("/list");
    const [, option] = /option "One" \[(e\d+)\]/.exec(changes) ?? [];
    expect((await client.ui("click", { target: option })).title).toBe("chosen");
    expect(changes).toMatch(/listitem \[e\d+\] draggable: Card/);
    expect(changes).toContain("listitem: Plain");
    expect(changes).toContain('option "native" selected');
  });

  test("credentials in an address are sent to the server and shown to nobody", async () => {
    const { url, status, changes } = await client.ui("navigate", {
      url: `${base.replace("//", "//me:s3cret@")}/private`,
    });
    expect(status).toBe(200);
    expect(changes).toContain("Welcome");
    expect(url).toBe(`${base}/private`);
    expect(
      JSON.stringify([
        await client.ui("snapshot"),
        await client.ui("console"),
        await client.ui("tabs", { op: "list" }),
      ]),
    ).not.toContain("s3cret");
  });

  test("errors of a page have a text and a place, also those of scripts that cannot be parsed", async () => {
    const { errors } = await open("/errors");
    expect(errors[0]).toMatch(/^SyntaxError: Unexpected token/);
    expect(errors[1]).toMatch(/^TypeError: .*null.* \(http.*\/errors:2\)$/s);
  });

  test("role and name find an element among 12,000 rows, and a name that is not there does not block the page", async () => {
    await open("/rows");
    const { title } = await client.ui("click", { target: `role=button[name="Delete ${ROWS - 1}"]` });
    expect(title).toBe(String(ROWS - 1));
    expect(
      await client.fails("click", { target: 'role=button[name="Nothing"]', timeout: 500 }),
    ).toMatchObject({
      code: "NOT_FOUND",
    });
    expect((await open("/form")).changes).toContain("textbox");
  });

  test("the text of a code editor is read in the order of its lines, and can be replaced by its ref", async () => {
    const { changes } = await open("/editor");
    expect(changes).toContain("multiline: function a() {\\n  return 1;");
    const [, ref] = /textbox "Editor content" \[(e\d+)\]/.exec(changes) ?? [];
    const typed = await client.ui("type", { target: ref, text: "let b;\nlet c;" });
    expect(typed.changes).toContain("let b;\\nlet c;");
  });

  test("snapshot finds a text with the elements around it", async () => {
    await open("/rows");
    const { text, lines } = await client.ui("snapshot", { find: "DELETE 777" });
    expect(lines).toBeLessThan(40);
    expect(text.split("\n")[0]).toMatch(/^- table/);
    expect(text).toContain('button "Delete 777"');
    expect(text).not.toContain('"Delete 776"');
  });

  test("fill fills text, check boxes and options in one call, or nothing when a field is missing", async () => {
    await open("/form");
    const values =
      "[...document.querySelectorAll('input, select')].map((f) => f.type === 'checkbox' ? f.checked : f.value)";
    expect(
      await client.fails("fill", {
        fields: [
          { target: "#name", value: "Ada" },
          { target: "e999", value: "x" },
        ],
      }),
    ).toMatchObject({ code: "NOT_FOUND" });
    expect((await client.ui("evaluate", { script: values })).result).toEqual(["", false, "s", ""]);
    await client.ui("fill", {
      fields: [
        { target: "#name", value: "Ada" },
        { target: "#agree", value: "true" },
        { target: "#size", value: "Large" },
        { target: 'role=textbox[name="City"]', value: "Kyiv" },
      ],
    });
    expect((await client.ui("evaluate", { script: values })).result).toEqual(["Ada", true, "l", "Kyiv"]);
    expect(await client.fails("fill", { fields: [{ target: "#agree", value: "yes" }] })).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
  });

  test("files are dropped on an element", async () => {
    writeFileSync(join(client.root, "note.txt"), "from the workspace");
    await open("/drop");
    await client.ui("upload", { target: "#zone", files: ["note.txt"], drop: true });
    await client.ui("wait", { text: "note.txt: from the workspace" });
  });
});
