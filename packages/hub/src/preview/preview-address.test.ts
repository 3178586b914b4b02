import { expect, test } from "vitest";
import { checkApart, parsePreviewAddress, targetOf } from "./preview-address.ts";

const target = { project_id: "project_0abc", port: 8080 };

test("a preview's host name leads back to its project and port", () => {
  const { originOf, domain } = parsePreviewAddress("https://*.preview.example.com:8443");
  expect(domain).toBe("preview.example.com");
  expect(originOf(target)).toBe("https://8080-0abc.preview.example.com:8443");
  expect(targetOf(new URL(originOf(target)).host)).toEqual(target);
});

test.each([
  "99999-0abc.localhost",
  "0-0abc.localhost",
  "8080.localhost",
  "8080-0abc",
  "a-0abc.localhost",
  undefined,
])("the host %s is not a preview", (host) => expect(targetOf(host)).toBeUndefined());

test.each([
  "https://preview.example.com",
  "ftp://*.example.com",
  "https://*.example.com/path",
  "*.example.com",
])("the address %s of previews is refused", (url) =>
  expect(() => parsePreviewAddress(url)).toThrow("is not of the form https://*.preview.example.com"),
);

test.each([
  ["hub.example.com", "hub.example.com"],
  ["preview.hub.example.com", "hub.example.com"],
  ["example.com", "hub.example.com"],
])("previews below %s are refused beside a hub at %s, because they share cookies", (domain, hub) => {
  expect(() => checkApart(parsePreviewAddress(`https://*.${domain}`), [hub])).toThrow(
    "use a domain of its own",
  );
});

test("previews have a domain beside the hub's", () => {
  checkApart(parsePreviewAddress("https://*.previews.example.net"), ["hub.example.com"]);
});
