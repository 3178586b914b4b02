import { HOSTILE } from "../hostile-characters.ts";

/** Sets a mark when it runs, so that a test can see it. */
const RUN = "window.__ran=1";

/** Markup, links, styles and characters that a page must only ever show. */
const CORES = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg/onload=${RUN}>`,
  `<iframe srcdoc="<script>parent.__ran=1</script>"></iframe>`,
  `<a href="javascript:${RUN}">click</a>`,
  `"><script>${RUN}</script><b title="`,
  `'-${RUN}-'`,
  `[click](javascript:${RUN})`,
  `[click](data:text/html,<script>${RUN}</script>)`,
  "![picture](http://evil.example/p.png)",
  `<style>*{display:none!important}</style>`,
  `<base href="//evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=//evil.example">`,
  `</textarea></pre></title><script>${RUN}</script>`,
  `<math><mi xlink:href="javascript:${RUN}">x</mi></math>`,
  `<link rel=stylesheet href=//evil.example/a.css>`,
  `<form action=//evil.example><input name=q autofocus onfocus=${RUN}></form>`,
  `<object data="javascript:${RUN}"></object>`,
  `<details open ontoggle=${RUN}>x</details>`,
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `url("javascript:${RUN}")`,
  `<div style="position:fixed;inset:0;z-index:9999;background:red">over all</div>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;&#60;img src=x onerror=${RUN}&#62;`,
  "w".repeat(4_000),
  `z${"\u0301\u0489".repeat(200)}`,
  "\u202e\u2066txt.exe\u2069 \u200b\u2060\u{e0041}",
  HOSTILE,
  "__proto__ constructor hasOwnProperty",
  "\n".repeat(60),
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
];

const WRAPPERS: readonly ((core: string) => string)[] = [
  (core) => core,
  (core) => `"${core}"`,
  (core) => `\`\`\`html\n${core}\n\`\`\``,
  (core) => `# ${core}`,
  (core) => `| a | b |\n|---|---|\n| ${core} | x |`,
  (core) => `> - ${core}`,
  (core) => `[${core}](https://example.org/)`,
  (core) => `**${core}** _${core}_`,
  (core) => encodeURIComponent(core.toWellFormed()),
  (core) => `--- a/${core}\n+++ b/${core}\n@@ -1 +1 @@\n-${core}\n+${core}`,
];

/** Over 300 strings: every core in every wrapper. */
export const HOSTILE_STRINGS: readonly string[] = WRAPPERS.flatMap((wrap) => CORES.map(wrap));

/** Names of fields that say what something is; a server of ours never takes them from others. */
const OWN_FIELDS = new Set([
  "id",
  "process",
  "session_id",
  "question_id",
  "trace_id",
  "trace",
  "job_id",
  "proc_id",
  "call_id",
  "permission_id",
  "kind",
  "type",
  "topic",
  "event",
  "state",
  "status",
  "choices",
  "access",
  "outcome",
  "at",
  "started_at",
  "created_at",
  "updated_at",
  "time",
  "asked_at",
  "expires_at",
  "since",
  "base64",
  "mime",
  "role",
  "origin",
  "ok",
  "cursor",
  "uri",
  "roots",
  "tools",
  "content_type",
  "step",
  "strategy",
  "risk",
]);

/** Hostile strings for one text: a quarter of them, so that a field has had all after four appearances; then one. */
const PER_TEXT = 80;

/** Puts hostile strings after every text of others, for each field in turn, and knows which fields had which. */
export function createPoison() {
  const given = new Map<string, number>();
  const next = (field: string): string => {
    const start = given.get(field) ?? 0;
    const count = start < HOSTILE_STRINGS.length ? PER_TEXT : 1;
    given.set(field, start + count);
    return Array.from(
      { length: count },
      (_, index) => HOSTILE_STRINGS[(start + index) % HOSTILE_STRINGS.length],
    ).join(" ");
  };
  const of = (value: unknown, path = "", field = ""): unknown => {
    if (typeof value === "string")
      return OWN_FIELDS.has(field) || value === "plan" ? value : `${value} ${next(path + field)}`;
    if (Array.isArray(value)) return value.map((item) => of(item, path, field));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, of(item, path, key)]));
  };
  return {
    of,
    /** The fields, each with the number of strings that it has had. */
    fields: (): ReadonlyMap<string, number> => given,
  };
}
