import { readFileSync } from "node:fs";
import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { createRedactor, REDACTED } from "./redactor.ts";

const redact = createRedactor({ secrets: [] });

/** Letters and digits as a generator of keys would pick them; written out here, no scanner takes them for a key. */
const random = (length: number, alphabet = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zC0fLrU") =>
  Array.from({ length }, (_, at) => alphabet[(at * 7 + (at >> 2) * 5 + 3) % alphabet.length]).join("");
const hex = (length: number) => random(length, "0a1b2c3d4e5f6789");
const digits = (length: number) => random(length, "3141592653589793");
const upper = (length: number) => random(length, "A2BC3DE4FG5HJ6KL7MNPQR");
const small = (length: number) => random(length, "a2bc3de4fg5hj6kl7mnpqr");
/** In parts, for the same reason. */
const join = (...parts: string[]) => parts.join("");

/** A secret, and the text that it is in when that matters. */
const SECRETS: readonly (readonly [name: string, secret: string, before?: string, after?: string])[] = [
  ["Octant", `oct_${hex(16)}_${random(43)}`],
  ["Anthropic", join("sk-", "ant-api03-", random(93), "AA")],
  ["OpenAI", join("sk-", "proj-", random(74), "T3Blbk", "FJ", random(74))],
  ["GitHub", join("gh", "p_", random(36))],
  ["GitHub, fine-grained", join("github", "_pat_", random(82))],
  ["GitLab", join("gl", "pat-", random(20))],
  ["GitLab runner", join("gl", "rt-", random(20))],
  ["AWS key id", join("AK", "IA", upper(16))],
  ["AWS secret", random(40), "aws_secret_access_key = "],
  ["Google API", join("AI", "za", random(35))],
  ["Google OAuth", join("GOC", "SPX-", random(28)), "client_secret="],
  ["Slack bot", join("xo", "xb-", digits(12), "-", digits(12), "-", random(24))],
  ["Slack app", join("xa", "pp-1-A", upper(10), "-", digits(13), "-", small(64))],
  ["Slack webhook", join("https://hooks.", "slack.com/services/", upper(44))],
  ["Stripe", join("sk", "_live_", random(24))],
  ["Stripe restricted", join("rk", "_live_", random(24))],
  ["npm", join("np", "m_", small(36))],
  ["PyPI", join("py", "pi-AgEIcHlwaS5vcmc", random(60))],
  ["Hugging Face", join("h", "f_", random(34).replace(/\d/g, "k"))],
  ["SendGrid", join("S", "G.", random(22), ".", random(43))],
  ["Mailgun", join("key", "-", hex(32)), "mailgun = ", " "],
  ["Mailchimp", join(hex(32), "-us20"), "mailchimp_key = ", " "],
  ["Twilio", join("S", "K", hex(32))],
  ["DigitalOcean", join("do", "p_v1_", hex(64))],
  ["Shopify", join("shp", "at_", hex(32))],
  ["Databricks", join("da", "pi", hex(32))],
  ["Doppler", join("dp", ".pt.", random(43))],
  ["Vault", join("hv", "s.", random(95))],
  ["Linear", join("lin", "_api_", random(40))],
  ["Notion", join("nt", "n_", digits(11), random(35))],
  ["Postman", join("PM", "AK-", hex(24), "-", hex(34))],
  ["New Relic", join("NR", "AK-", upper(27)), "new_relic_key = "],
  ["Grafana", join("gl", "sa_", random(32), "_", hex(8))],
  ["Sentry", join("sn", "trys_eyJpYXQiO", random(60), "LCJyZWdpb25fdXJs", random(20), "_", random(43))],
  ["Pulumi", join("pu", "l-", hex(40))],
  ["Prefect", join("pn", "u_", small(36))],
  ["Fly.io", join("fo", "1_", random(43))],
  ["Figma-like header", random(40), "X-Api-Key: "],
  ["Atlassian", join("AT", "ATT3", random(186))],
  ["Cloudflare", join("v1.0-", hex(24), "-", hex(146))],
  ["Heroku", join("HR", "KU-AA", random(58))],
  ["1Password", join("op", "s_eyJ", random(260))],
  ["age", join("AGE-SECRET", "-KEY-1", random(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"))],
  ["private key", `-----BEGIN PRIVATE KEY-----\n${random(64)}\n-----END PRIVATE KEY-----`],
  ["JSON Web Token", `ey${"JhbGciOiJIUzI1NiJ9"}.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${random(43)}`],
  ["password of a URL", random(16), "postgres://me:", "@db.test/x"],
  ["Bearer", random(30), "Authorization: Bearer "],
  ["curl user", `me:${random(20)}`, "curl -u ", " https://example.com"],
  ["Azure", `${random(86)}==`, "AccountName=x;AccountKey=", ";EndpointSuffix=y"],
  ["connection string", random(16), "Server=x;Uid=me;Pwd=", ";"],
  ["YAML", random(20), "api_key: "],
  ["code", random(20), 'password = "', '"'],
  ["JSON", random(20), '{"client_secret": "', '"}'],
  ["Kubernetes", `${random(24)}==`, "kind: Secret\ndata:\n  token: ", "\n"],
  ["Artifactory", join("AK", "Cp", random(69))],
  ["RubyGems", join("ruby", "gems_", hex(48))],
  ["Discord", hex(64), "discord_public = ", " "],
];

test.each(SECRETS)("a secret of %s is taken out", (_, secret = "", before = "it is ", after = "\n") => {
  for (const [around, end] of [
    ["", ""],
    ["x\n".repeat(3_000), "\ny".repeat(3_000)],
  ]) {
    const shown = redact(`${around}${before}${secret}${after}${end}`);
    expect(shown).toContain(REDACTED);
    // No more than what says where it comes from is left of it.
    for (let at = 0; at + 24 <= secret.length; at += 12)
      expect(shown).not.toContain(secret.slice(at, at + 24));
    expect(shown).not.toContain(secret.slice(-12));
  }
});

test.each([
  "import { createToken } from './auth/token.ts'; // see API_KEY in docs",
  "sha512-5Jw6AfU0m6gQxQ0c4m3JjLk9o4wqvTgkZb3k3G4c2n0K7l8aFZ1yDqkQ== integrity of npm_package",
  "commit 4b1d5e0f9a7c2b3d4e5f60718293a4b5c6d7e8f9 by Jira import",
  "const apiKey = process.env.API_KEY; password: {{ secrets.PASSWORD }}",
  "token: string; password?: string; secret = null",
])("ordinary text stays: %s", (text) => {
  expect(redact(text)).toBe(text);
});

const { rules } = JSON.parse(readFileSync(new URL("./gitleaks-rules.json", import.meta.url), "utf8"));

test("every rule is an expression of the linear engine and has a keyword", () => {
  expect(rules.length).toBeGreaterThan(200);
  for (const { regex, keywords } of rules) {
    RE2JS.compile(regex);
    expect(keywords.length).toBeGreaterThan(0);
  }
});

test("text full of keywords is redacted in bounded time, and text beyond the budget is redacted unread", () => {
  const keywords = rules.flatMap((rule: { keywords: string[] }) => rule.keywords).join(" = ");
  const text = `${keywords}\n`.repeat(Math.ceil(1_000_000 / keywords.length));
  const started = process.threadCpuUsage();
  const shown = redact(`${text} ghp_${random(36)}`);
  expect(process.threadCpuUsage(started).user).toBeLessThan(20_000_000);
  expect(shown).not.toContain(random(36));
});

test("a long text without keywords costs little, and one secret in it is found", () => {
  const text = "lorem ipsum dolor sit amet\n".repeat(200_000);
  const started = process.threadCpuUsage();
  expect(redact(`${text}ghp_${random(36)}\n${text}`)).not.toContain(random(36));
  expect(process.threadCpuUsage(started).user).toBeLessThan(8_000_000);
});
