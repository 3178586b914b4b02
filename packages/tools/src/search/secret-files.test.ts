import { expect, test } from "vitest";
import { isSecretFile } from "./secret-files.ts";

test.each([
  ".env",
  "app/.env.production",
  "deploy/id_rsa",
  "home/.ssh/work",
  "certs/server.key",
  "credentials",
  "config/credentials.json",
  "service-account-prod.json",
  ".netrc",
  "secrets.yaml",
  "/other/root/.aws/credentials",
])("%s is a secret", (path) => {
  expect(isSecretFile(path)).toBe(true);
});

test.each([
  ".env.example",
  "src/env.ts",
  "id_rsa.pub",
  ".ssh/id_ed25519.pub",
  "src/credentials.ts",
  "docs/secrets.md",
  "src/secret.ts",
  "keys.json",
])("%s is not", (path) => {
  expect(isSecretFile(path)).toBe(false);
});
