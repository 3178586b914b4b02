import assert from "node:assert";
import test from "node:test";
import { isEven } from "./even.js";

test("two is even", () => assert.ok(isEven(2)));
