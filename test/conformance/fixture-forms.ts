import type { FormBody } from "@octant/core";

export const DEFAULTS: FormBody = {
  kind: "form",
  message: "Please review and update the form fields with defaults",
  schema: {
    type: "object",
    properties: {
      name: { type: "string", description: "User name", default: "John Doe" },
      age: { type: "integer", description: "User age", default: 30 },
      score: { type: "number", description: "User score", default: 95.5 },
      status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", description: "Verification status", default: true },
    },
    required: [],
  },
};

const named = (names: readonly string[], title: string) =>
  ["First", "Second", "Third"].map((word, index) => ({ const: names[index], title: `${word} ${title}` }));

const VALUES = ["value1", "value2", "value3"];
const OPTIONS = ["option1", "option2", "option3"];

export const ENUMS: FormBody = {
  kind: "form",
  message: "Please select options from the enum fields",
  schema: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: OPTIONS },
      titledSingle: { type: "string", oneOf: named(VALUES, "Option") },
      legacyEnum: {
        type: "string",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: OPTIONS } },
      titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: named(VALUES, "Choice") } },
    },
    required: [],
  },
};

const form = (message: string, name: string, type: string): FormBody => ({
  kind: "form",
  message,
  schema: { type: "object", properties: { [name]: { type } }, required: [name] },
});

export const NAME = form("What is your name?", "name", "string");
export const CONFIRM = form("Please confirm", "ok", "boolean");
export const DELETE = form("Delete it?", "confirm", "boolean");
export const STEP_1 = form("Step 1: What is your name?", "name", "string");
export const STEP_2 = form("Step 2: What is your favorite color?", "color", "string");
export const CONTEXT = form("What context should the prompt use?", "context", "string");

export const person = (message: string): FormBody => ({
  kind: "form",
  message,
  schema: {
    type: "object",
    properties: {
      username: { type: "string", description: "User's response" },
      email: { type: "string", description: "User's email address" },
    },
    required: ["username", "email"],
  },
});
