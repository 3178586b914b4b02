import { action, type Context, defineTool } from "@octant/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { createAtOwner } from "./at-owner.ts";
import type { HubAbout } from "./peers.ts";

const caller = { id: "admin", access: "admin" } as const;
const { signal } = new AbortController();
const hub = (id: string): HubAbout => ({ id, place: "place", machine: "machine", where: id });

test("a call whose project moves meanwhile is passed on by the hub that was called, and runs once", async () => {
  const ran: string[] = [];
  const toolOf = (id: string) =>
    defineTool({
      name: "demo",
      summary: "Makes something.",
      actions: {
        make: action({
          summary: "Make it.",
          access: "write",
          timing: "sync",
          intent: "apply",
          input: z.object({}),
          output: z.object({ by: z.string() }),
          examples: [{ title: "It", input: {} }],
          projectOf: () => "project",
          run() {
            ran.push(id);
            return { by: id };
          },
        }),
      },
    });
  const owners = ["b", "c"];
  const hubs = new Map(
    ["b", "c"].map((id) => {
      const one = createAtOwner({
        ownerOf: async () => (id === "c" ? undefined : hub("c")),
        pass: () => Promise.reject(new Error("a hub that was passed a call does not pass it on")),
      });
      one.atOwner(toolOf(id));
      return [id, one];
    }),
  );
  const passedTo: string[] = [];
  const { atOwner } = createAtOwner({
    ownerOf: async () => hub(owners.shift() ?? "none"),
    async pass(to, { name, input }) {
      passedTo.push(to.id);
      return hubs.get(to.id)?.runHere(name, input, { caller, signal });
    },
  });
  // Of a context only these are read.
  const context = { caller, signal } as Context;
  expect(await atOwner(toolOf("a")).actions.make.run({}, context)).toEqual({ by: "c" });
  expect({ passedTo, ran }).toEqual({ passedTo: ["b", "c"], ran: ["c"] });
});
