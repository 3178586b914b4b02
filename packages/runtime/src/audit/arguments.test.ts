import { expect, test } from "vitest";
import { REDACTED } from "../redact/redactor.ts";
import { showValue } from "./arguments.ts";

test("all texts below a secret name are left out, and their names are shown", () => {
  const input = {
    name: "demo",
    secrets: { DEPLOY: "hunter2", nested: { more: ["one", 2, null] } },
    password: "hunter2",
    labels: { team: "web" },
  };
  expect(showValue(input, (text) => text, 1_000).value).toEqual({
    name: "demo",
    secrets: { DEPLOY: REDACTED, nested: { more: [REDACTED, 2, null] } },
    password: REDACTED,
    labels: { team: "web" },
  });
});

test("a value is shown with its keys in their own order", () => {
  const { value } = showValue({ ok: true, data: { b: 1, a: 2 }, error: null }, (text) => text, 1_000);
  expect(JSON.stringify(value)).toBe('{"ok":true,"data":{"b":1,"a":2},"error":null}');
});
