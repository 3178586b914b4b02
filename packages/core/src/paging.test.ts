import fc from "fast-check";
import { expect, test } from "vitest";
import { createBox } from "../testing/test-tool.ts";
import { createCursors } from "./paging.ts";

test("pages neither repeat nor drop, whatever their size", async () => {
  const { call } = createBox();
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 12 }),
      async (size, limit) => {
        const seen: number[] = [];
        let cursor: string | null = null;
        do {
          const page = await call("list", { size, limit, ...(cursor && { cursor }) });
          seen.push(...(page.data as { things: number[] }).things);
          cursor = page.meta.paging.cursor;
          expect(page.meta.paging.more).toBe(cursor !== null);
        } while (cursor);
        expect(seen).toEqual(Array.from({ length: size }, (_, i) => i));
      },
    ),
  );
});

test("the limit may change from page to page, the query may not", async () => {
  const { call } = createBox();
  const { cursor } = (await call("list", { size: 10, limit: 2 })).meta.paging;
  expect((await call("list", { size: 10, limit: 5, cursor })).data).toEqual({ things: [2, 3, 4, 5, 6] });
  expect((await call("list", { size: 11, limit: 2, cursor })).error?.code).toBe("INVALID_CURSOR");
});

test("a cursor of another caller, another secret or another action is refused", async () => {
  const { call } = createBox();
  const { cursor } = (await call("list", { size: 10 })).meta.paging;
  const other = { id: "other", access: "admin" } as const;
  expect((await call("list", { size: 10, cursor }, other)).error?.code).toBe("INVALID_CURSOR");
  const elsewhere = createBox({ cursors: createCursors(Buffer.from("another secret")) });
  expect((await elsewhere.call("list", { size: 10, cursor })).error?.code).toBe("INVALID_CURSOR");
  const cursors = createCursors(Buffer.from("s"));
  expect(() => cursors.parse("b", cursors.encode("a", 1))).toThrow(
    expect.objectContaining({ code: "INVALID_CURSOR" }),
  );
});

test("a cursor that was changed anywhere is refused", async () => {
  const { call } = createBox();
  const cursor = (await call("list", { size: 10 })).meta.paging.cursor as string;
  for (let i = 0; i < cursor.length; i++) {
    const changed = cursor.slice(0, i) + (cursor[i] === "A" ? "B" : "A") + cursor.slice(i + 1);
    expect((await call("list", { size: 10, cursor: changed })).error?.code).toBe("INVALID_CURSOR");
  }
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (text) => {
      expect((await call("list", { size: 10, cursor: text })).error?.code).toBe("INVALID_CURSOR");
    }),
  );
});
