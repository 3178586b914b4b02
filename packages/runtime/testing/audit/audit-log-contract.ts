import { ToolError } from "@octant/core";
import { describe, expect, test } from "vitest";
import type { AuditLog } from "../../src/audit/audit-log.ts";
import type { AuditEntry } from "../../src/audit/record.ts";
import { entry } from "./entry.ts";

/** `connect` opens the same log once more, as another process would. */
export interface StoredAudit extends AsyncDisposable {
  connect(): AuditLog;
  /** All entries in the order in which they were stored. */
  read(): Promise<readonly AuditEntry[]>;
  /** From now on nothing can be stored. */
  fail(): void;
  /** Storing works again, and the log may try it. */
  heal(): void;
}

const numberOf = (one: AuditEntry) => (one.kind === "call" ? [one.duration] : []);

/** What every adapter of AuditLog promises. `setUp` starts with an empty log. */
export function describeAuditLog(name: string, setUp: () => StoredAudit): void {
  describe(`the audit log ${name}`, () => {
    const numbersIn = async (place: StoredAudit) => (await place.read()).flatMap(numberOf);

    test("has an entry when append resolves, and gives each its own place", async () => {
      await using place = setUp();
      const log = place.connect();
      const places = [await log.append(entry(1)), await log.append(entry(2))];
      expect(await numbersIn(place)).toEqual([1, 2]);
      expect((await place.read()).filter(({ kind }) => kind === "call")).toMatchObject([entry(1), entry(2)]);
      expect(new Set(places).size).toBe(2);
      await log.close();
    });

    test("stores entries that may wait before those that come later, and all of them when it is closed", async () => {
      await using place = setUp();
      const log = place.connect();
      log.appendSoon(() => entry(1));
      log.appendSoon(() => entry(2));
      await log.append(entry(3));
      expect(await numbersIn(place)).toEqual([1, 2, 3]);
      log.appendSoon(() => entry(4));
      await log.close();
      expect(await numbersIn(place)).toEqual([1, 2, 3, 4]);
    });

    test("stores entries that may wait without a further call", async () => {
      await using place = setUp();
      const log = place.connect();
      log.appendSoon(() => entry(1));
      await expect.poll(() => numbersIn(place)).toEqual([1]);
      await log.close();
    });

    test("has the entries of all writers", async () => {
      await using place = setUp();
      const logs = [place.connect(), place.connect()];
      for (let at = 0; at < 10; at++) await logs[at % 2]?.append(entry(at));
      for (const log of logs) await log.close();
      const again = place.connect();
      await again.append(entry(10));
      await again.close();
      const numbers = await numbersIn(place);
      expect(numbers.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });

    test("refuses with a typed error while it cannot store, keeps what may wait, and goes on afterwards", async () => {
      await using place = setUp();
      const log = place.connect();
      place.fail();
      log.appendSoon(() => entry(1));
      const refused = await Promise.try(() => log.append(entry(2))).catch((cause: unknown) => cause);
      expect(refused).toBeInstanceOf(ToolError);
      place.heal();
      await log.append(entry(3));
      expect(await numbersIn(place)).toEqual([1, 3]);
      await log.close();
    });
  });
}
