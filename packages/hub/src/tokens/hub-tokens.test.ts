import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openHub } from "../../testing/open-hub.ts";

interface Created {
  readonly token_id: string;
  readonly token: string;
}

test("a token is shown once, works until it is revoked, and its last use is listed", async () => {
  const { hub, get, folder } = await openHub();
  const { token, token_id } = await get<Created>("token.create", { name: "laptop", scope: "admin:ro" });
  const { verify } = hub.tokens.check;
  expect(verify(token)).toMatchObject({ id: token_id, scopes: ["admin:ro"] });
  expect(verify(`${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`)).toBeUndefined();
  const listed = await get<{ tokens: object[] }>("token.list");
  expect(listed.tokens).toEqual([expect.objectContaining({ token_id, name: "laptop" })]);
  expect(JSON.stringify(listed)).not.toContain(token.slice(21));
  expect(readFileSync(join(folder, "hub", "hub.db"))).not.toContain(token.slice(21));
  await vi.waitFor(async () =>
    expect((await hub.tokens.list())[0]?.last_used_at).toEqual(expect.any(String)),
  );
  await get("token.revoke", { token_id });
  expect(verify(token)).toBeUndefined();
});

test("a rotated token has a new text, and the earlier one works for the given time", async () => {
  const { hub, get } = await openHub();
  const { token, token_id } = await get<Created>("token.create", { name: "ci", scope: "admin" });
  const { verify } = hub.tokens.check;
  const next = await get<Created>("token.rotate", { token_id });
  expect([verify(token)?.id, verify(next.token)?.id]).toEqual([token_id, token_id]);
  const last = await get<Created>("token.rotate", { token_id, grace_s: 0 });
  expect([token, next.token, last.token].map((text) => verify(text)?.id)).toEqual([
    undefined,
    undefined,
    token_id,
  ]);
});

test("a token of a project that does not exist, or that has expired, is refused", async () => {
  const { call } = await openHub();
  const create = async (input: object) => (await call("token.create", { name: "x", ...input })).error?.code;
  expect(await create({ scope: "project:nothing" })).toBe("NOT_FOUND");
  expect(await create({ scope: "root" })).toBe("INVALID_ARGUMENT");
  expect(await create({ scope: "admin", expires_at: "2020-01-01T00:00:00Z" })).toBe("INVALID_ARGUMENT");
});
