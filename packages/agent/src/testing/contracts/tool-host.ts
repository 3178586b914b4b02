import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  action,
  type Call,
  type CallOptions,
  defineTool,
  type QuestionAnswer,
  type Tool,
} from "@octant/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { ToolHost } from "../../tool-host.ts";

/** A host for the folder `root`, which the suite may fill. Its policy asks before changes and commands. */
export interface HostUnderTest extends AsyncDisposable {
  readonly host: ToolHost;
  readonly root: string;
  /** Breaks the connection, or restarts the process of the tools; absent where there is neither. */
  readonly lose?: () => Promise<void>;
}

const WAIT = { timeout: 30_000 };
const caller = { id: "ses_contract", access: "admin" } as const;
const call = (tool: string, name: string, input: object): Call => ({ tool, action: name, input });
const write = (name: string) => call("fs", "write", { uri: `${name}.txt`, content: name });

/** What every adapter of ToolHost promises. The host also serves `tool`. */
export function describeToolHost(name: string, setUp: (tool: Tool) => Promise<HostUnderTest>): void {
  describe(`the tool host ${name}`, () => {
    const { tool, release } = createLateTool();
    let place: HostUnderTest;
    let sleeps = 61;
    beforeAll(async () => {
      place = await setUp(tool);
      writeFileSync(join(place.root, "given.txt"), "one\n");
    });
    afterAll(() => place?.[Symbol.asyncDispose]());

    const send = (what: Call, more: Partial<CallOptions> = {}) =>
      place.host.dispatch(what, { caller, ...more });
    const read = (file: string) => readFileSync(join(place.root, file), "utf8");
    /** Answers every question, and records it. */
    const answering = (answer: QuestionAnswer["answer"], asked: unknown[] = []) => ({
      ask: async (question: object): Promise<QuestionAnswer> => {
        asked.push(question);
        return { answer };
      },
    });
    /** A command that runs until it is stopped, and whether it does. */
    const sleeper = () => {
      const command = `sleep ${sleeps++}.0271`;
      const isRunning = () => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).includes(command);
      return { exec: call("proc", "exec", { command: `touch began; ${command}` }), isRunning };
    };

    test("lists the tools with their actions, and the folders", () => {
      const { registry, roots } = place.host;
      expect(Object.keys(registry.get("fs")?.actions ?? {})).toContain("read");
      expect(registry.list().map((one) => one.name)).toEqual(expect.arrayContaining(["fs", "proc", "job"]));
      expect(roots).toEqual([pathToFileURL(place.root).href]);
    });

    test("describes the project and its platform", async () => {
      expect(await place.host.context()).toMatchObject({ platform: expect.stringMatching(/\w+ \w+/) });
    });

    test("answers a call with its envelope, also when it fails", async () => {
      const { envelope } = await send(call("fs", "read", { uri: "given.txt" }));
      expect(envelope).toMatchObject({ ok: true, data: { hash: expect.stringContaining("sha256:") } });
      const failed = await send(call("fs", "read", { uri: "none.txt" }));
      expect(failed.envelope).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
      const invalid = await send(call("fs", "read", { nope: 1 }));
      expect(invalid.envelope).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENT" } });
    });

    test("refuses what needs an approval when nobody can be asked, or the person says no", async () => {
      const alone = await send(write("alone"));
      expect(alone.envelope.error?.code).toBe("APPROVAL_REQUIRED");
      const refused = await send(write("no"), answering("deny"));
      expect(refused.envelope.error?.code).toBe("PERMISSION_DENIED");
      for (const made of ["alone.txt", "no.txt"]) expect(existsSync(join(place.root, made))).toBe(false);
    });

    test("shows a question with its choices in the front end of the call, and takes each answer", async () => {
      const asked: unknown[] = [];
      const once = await send(write("once"), answering("once", asked));
      expect(once.envelope.error).toBeNull();
      expect(asked).toMatchObject([
        {
          kind: "permission",
          action: "fs.write",
          caller: caller.id,
          choices: ["once", "session", "always", "deny"],
        },
      ]);
      expect(read("once.txt")).toBe("once");
      const touch = call("proc", "exec", { command: "touch touched.txt" });
      await send(touch, answering("session", asked));
      expect((await send(touch)).envelope.error, "the answer for the session").toBeNull();
      expect(asked).toHaveLength(2);
      const other = await send(touch, { caller: { ...caller, id: "ses_other" } });
      expect(other.envelope.error?.code).toBe("APPROVAL_REQUIRED");
    });

    test("shows a form that a job asks for after its call was answered", async () => {
      const asked: unknown[] = [];
      const answer = async (question: object): Promise<QuestionAnswer> => {
        asked.push(question);
        return { answer: "accept", content: { name: "Ada" } };
      };
      const started = await send(call("late", "ask", {}), { timingHint: "async_long", ask: answer });
      const job_id = started.envelope.meta.job_id ?? "";
      expect(job_id, JSON.stringify(started.envelope)).toMatch(/^job_/);
      expect(await place.host.jobs.result(caller.id, job_id)).toBeUndefined();
      release();
      await place.host.jobs.ended(caller.id, job_id, WAIT.timeout, AbortSignal.timeout(WAIT.timeout));
      expect(asked).toMatchObject([{ kind: "form", message: "Your name?" }]);
      const result = await place.host.jobs.result(caller.id, job_id);
      expect(result).toMatchObject({ ok: true, data: { name: "Ada" } });
    });

    test("cancels a job, and what it runs ends", async () => {
      const { exec, isRunning } = sleeper();
      const started = await send(exec, { ...answering("session"), timingHint: "async_long" });
      const job_id = started.envelope.meta.job_id ?? "";
      await expect.poll(isRunning, WAIT).toBe(true);
      await place.host.jobs.cancel(caller.id, job_id);
      await expect.poll(isRunning, WAIT).toBe(false);
      const result = await place.host.jobs.result(caller.id, job_id);
      expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    });

    test("cancels a call with its signal, and what it runs ends", async () => {
      const { exec, isRunning } = sleeper();
      const cancel = new AbortController();
      const answered = send(exec, { ...answering("session"), signal: cancel.signal }).catch(() => undefined);
      await expect.poll(isRunning, WAIT).toBe(true);
      cancel.abort();
      await answered;
      await expect.poll(isRunning, WAIT).toBe(false);
    });

    test("undoes and redoes what a turn changed", async () => {
      const { turns } = place.host;
      let id: number | undefined;
      const onBegin = async (begun: number) => {
        id = begun;
      };
      const turn = await turns.open({ label: "write it", session_id: "ses_contract", onBegin });
      await send(call("fs", "write", { uri: "turn.txt", content: "new\n" }), answering("session"));
      await turn?.end();
      const [done] = await turns.list({ session_id: "ses_contract", limit: 1 });
      expect(done).toMatchObject({ id, label: "write it", undone: false });
      const undo = await turns.plan(done!, "undo");
      expect(undo.restored).toEqual([{ path: "turn.txt", change: "removed" }]);
      expect(await undo.diff({ overwrite: false })).toContain("-new");
      await undo.apply({ overwrite: false });
      expect(existsSync(join(place.root, "turn.txt"))).toBe(false);
      const [undone] = await turns.list({ session_id: "ses_contract" });
      await (await turns.plan(undone!, "redo")).apply({ overwrite: false });
      expect(read("turn.txt")).toBe("new\n");
    });

    test("a turn whose calls were refused never begins", async () => {
      const { turns } = place.host;
      const before = await turns.list();
      const begun: number[] = [];
      const onBegin = async (id: number) => void begun.push(id);
      const turn = await turns.open({ label: "nothing", session_id: "ses_contract", onBegin });
      const { envelope } = await send(write("refused"), answering("deny"));
      expect(envelope.error?.code).toBe("PERMISSION_DENIED");
      await turn?.end();
      expect(await turns.list()).toEqual(before);
      expect(begun).toEqual([]);
    });

    test("goes on after a lost connection; a change that was running is INTERRUPTED", async ({ skip }) => {
      if (!place.lose) return skip("this host has no connection");
      const { exec, isRunning } = sleeper();
      const running = send(exec, answering("session"));
      await expect.poll(isRunning, WAIT).toBe(true);
      await place.lose();
      expect((await running).envelope.error?.code).toBe("INTERRUPTED");
      await expect.poll(isRunning, WAIT).toBe(false);
      const again = await send(call("fs", "read", { uri: "given.txt" }));
      expect(again.envelope.ok, JSON.stringify(again.envelope.error)).toBe(true);
      const changed = await send(write("after"), answering("once"));
      expect(changed.envelope.ok, JSON.stringify(changed.envelope.error)).toBe(true);
      expect(read("after.txt")).toBe("after");
    });
  });
}

/** A tool whose job asks the person once it is released. */
function createLateTool() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "late",
    summary: "Asks later.",
    actions: {
      ask: action({
        summary: "Ask for a name.",
        access: "read",
        timing: "async_medium",
        intent: "inspect",
        input: z.strictObject({}),
        output: z.object({ name: z.unknown() }),
        examples: [{ title: "Ask", input: {} }],
        async run(_, ctx) {
          await promise;
          const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
          const outcome = await ctx.ask({ kind: "form", message: "Your name?", schema });
          return { name: outcome.answer === "unattended" ? null : outcome.content?.["name"] };
        },
      }),
    },
  });
  return { tool, release: resolve };
}
