import { homedir } from "node:os";
import { ToolError } from "@octant/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePaths, fromNative, isWithin, pathToUri, toBytes, uriToPath } from "./path.ts";

const name = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .filter((bytes) => !bytes.includes(0) && !bytes.includes(47));
const nativePath = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => Buffer.concat(names.flatMap((bytes) => [Buffer.from("/"), Buffer.from(bytes)])));

test("any path a file can have survives the way to a uri and back", () => {
  fc.assert(
    fc.property(nativePath, (bytes) => {
      const path = fromNative(bytes);
      expect(toBytes(path).equals(bytes)).toBe(true);
      const uri = pathToUri(path);
      expect(uri).toMatch(/^file:\/\/\/[\x21-\x7e]*$/);
      const dots = bytes
        .toString("latin1")
        .split("/")
        .some((part) => part === "." || part === "..");
      if (!dots) expect(uriToPath(uri, "/")).toBe(path);
    }),
  );
});

test("a tilde is the home folder, as in a shell, and ./~ is a folder of that name", () => {
  expect(uriToPath("~/a/../b", "/w")).toBe(`${homedir()}/b`);
  expect(uriToPath("~", "/w")).toBe(homedir());
  expect(uriToPath("./~/b", "/w")).toBe("/w/~/b");
  expect(uriToPath("~b/c", "/w")).toBe("/w/~b/c");
});

test("a uri from anywhere gives a normalised absolute path or INVALID_ARGUMENT", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.webUrl(),
        fc.string().map((s) => `file:///${s}`),
      ),
      (uri) => {
        let path: string;
        try {
          path = uriToPath(uri, "/base");
        } catch (error) {
          expect(error).toBeInstanceOf(ToolError);
          return;
        }
        expect(path.startsWith("/")).toBe(true);
        expect(path.split("/").slice(1)).not.toEqual(expect.arrayContaining([".."]));
        expect(path === "/" || !path.endsWith("/")).toBe(true);
      },
    ),
  );
});

test.each([
  "file://host/a",
  "file:a",
  "file:///a?b",
  "file:///a#b",
  "file:///a%zz",
  "file:///a%00b",
  "http://a/b",
  "a\0b",
])("%j is not a valid path", (uri) => {
  expect(() => uriToPath(uri, "/")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});

test("a name with a colon is a path, not a scheme", () => {
  expect(uriToPath("c:notes.txt", "/base")).toBe("/base/c:notes.txt");
});

test("within means the folder or below it, never a neighbour with the same beginning", () => {
  expect(isWithin("/ws", "/ws/a")).toBe(true);
  expect(isWithin("/ws", "/ws")).toBe(true);
  expect(isWithin("/ws", "/ws-evil/a")).toBe(false);
  expect(isWithin("/", "/a")).toBe(true);
});

test("paths sort folder by folder, each name by its bytes", () => {
  const sorted = ["/a", "/a/b", "/a-b", "/a.b", "/é", "/😀"];
  expect([...sorted].reverse().sort(comparePaths)).toEqual(sorted);
});
