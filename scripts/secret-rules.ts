// Converts the rules of gitleaks to the data of our redactor: node scripts/secret-rules.ts path/to/gitleaks.toml COMMIT
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { z } from "zod";

const Allow = z.object({ regexes: z.array(z.string()).default([]), regexTarget: z.string().optional() });
const Source = z.object({
  allowlist: z.object({ regexes: z.array(z.string()), stopwords: z.array(z.string()) }),
  rules: z.array(
    z.object({
      id: z.string(),
      regex: z.string().optional(),
      keywords: z.array(z.string()).default([]),
      entropy: z.number().optional(),
      secretGroup: z.number().optional(),
      allowlists: z.array(Allow).default([]),
    }),
  ),
});

/** Names such as api_key before a value are found by our own shapes, without a list of 1,400 words that are none. */
const LEFT_OUT: ReadonlySet<string> = new Set(["generic-api-key"]);

const [file = "", commit = ""] = process.argv.slice(2);
const { allowlist, rules } = Source.parse(parse(readFileSync(file, "utf8")));
const converted = rules.flatMap(({ id, regex, keywords, entropy, secretGroup, allowlists }) => {
  if (regex === undefined || LEFT_OUT.has(id)) return [];
  const allow = allowlists.filter((one) => one.regexTarget === undefined).flatMap(({ regexes }) => regexes);
  return [{ id, regex, keywords, entropy, group: secretGroup, allow: allow.length > 0 ? allow : undefined }];
});
const data = {
  source: `https://github.com/gitleaks/gitleaks/blob/${commit}/config/gitleaks.toml (MIT, see NOTICE.md)`,
  allow: allowlist.regexes,
  stopwords: allowlist.stopwords,
  rules: converted,
};
const out = join(import.meta.dirname, "../packages/runtime/src/redact/gitleaks-rules.json");
writeFileSync(out, `${JSON.stringify(data, undefined, 2)}\n`);
console.log(`${converted.length} rules`);
