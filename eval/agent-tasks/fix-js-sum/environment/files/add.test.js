import assert from "node:assert";
import test from "node:test";
import { add } from "./add.js";

test("adds", () => assert.equal(add(1, 2), 3));
