import type { StampedEvent } from "@octant/agent";
import { createQuestions, ToolError } from "@octant/core";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { TerminalApp } from "./app.ts";
import type { AppOptions } from "./app-options.ts";
import { openHistory } from "./editor/history.ts";
import { plainText, span } from "./styled.ts";
import { createTestApp, hangs, says, type Turn } from "./testing/app.ts";
import type { TestDevice } from "./testing/device.ts";
import { viewTranscript } from "./view/transcript.ts";

let open: { app: TerminalApp; done: Promise<void> } | undefined;
afterEach(async () => {
  open?.app.quit();
  await open?.done;
  open = undefined;
});

function start(turns: Turn[], more: Partial<AppOptions> = {}, size: [number, number] = [80, 24]) {
  const started = createTestApp({ turns, size, more });
  open = { app: started.app, done: started.app.run([[span("Octant")]]) };
  return started;
}

const shows = (device: TestDevice, text: string | RegExp) =>
  vi.waitFor(async () => {
    const all = (await device.all()).join("\n");
    if (typeof text === "string" ? !all.includes(text) : !text.test(all))
      throw new Error(`not shown: ${text}\n${all}`);
  }, PATIENT);

const PATIENT = { timeout: 30_000, interval: 20 };

describe("the terminal agent", () => {
  test("a question and its answer end up in the scrollback, with the status below the prompt", async () => {
    const { device } = start([says("# Hi\n\nIt **works**.")]);
    device.type(..."hello", "Enter");
    await shows(device, "It works.");
    await shows(device, /scripted-1 · ▰▰▰▰▱▱▱▱ 51 % · cache 76 % · main · bubblewrap/);
    expect((await device.all()).filter((row) => row === "Hi")).toHaveLength(1);
    expect(await device.all()).toContain("› hello");
  });

  test("nothing is drawn before the app reads keys", async () => {
    const { app, device } = createTestApp({ turns: [] });
    vi.useFakeTimers();
    app.refresh();
    vi.runAllTimers();
    vi.useRealTimers();
    expect((await device.all()).join("")).toBe("");
    open = { app, done: app.run([]) };
    await shows(device, "ask, or / for commands");
  });

  test("a write asks with the reason, Enter allows nothing, and y allows it with its diff", async () => {
    const { device } = start([says("writing", [{ name: "fs", input: { uri: "a.ts" } }]), says("finished")]);
    device.type(..."go", "Enter");
    await shows(device, "asked because no rule allows it");
    await shows(device, "[y] allow once");
    device.type("Enter", "Enter");
    await shows(device, "[y] allow once");
    device.type("y");
    await shows(device, "✓ fs.write a.ts");
    await shows(device, "+hello");
    await shows(device, "finished");
  });

  test("an unexpected failure of a run is shown once", async () => {
    const { device } = start([
      () => {
        throw new TypeError("out of luck");
      },
      says("It works again."),
    ]);
    device.type(..."go", "Enter");
    await shows(device, "out of luck");
    device.type(..."again", "Enter");
    await shows(device, "It works again.");
    expect((await device.all()).filter((row) => row.includes("out of luck"))).toHaveLength(1);
  });

  test("a message that cannot be stored returns to the input", async () => {
    let isFull = true;
    const store = {
      async append() {
        if (isFull) throw new ToolError("NO_SPACE", "the disk is full", {});
      },
      close: async () => {},
    };
    const { app, device } = createTestApp({ turns: [says("It is stored.")], store });
    open = { app, done: app.run([]) };
    device.type(..."remember this", "Enter");
    await shows(device, "✗ the disk is full");
    await shows(device, /^› remember this$/m);
    isFull = false;
    device.type("Enter");
    await shows(device, "It is stored.");
  });

  test("a denial with a reason reaches the model", async () => {
    const { device, agent } = start([
      says("writing", [{ name: "fs", input: { uri: "a.ts" } }]),
      says("I see"),
    ]);
    device.type(..."go", "Enter");
    await shows(device, "[r] deny and say why");
    device.type("r");
    await shows(device, "why not? Enter sends it to the model");
    device.type(..."use b.ts", "Enter");
    await shows(device, "I see");
    expect(JSON.stringify(agent.session.conversation)).toBeDefined();
    await shows(device, "denied: use b.ts");
  });

  test("the values of a form are typed one after the other, shown, and sent", async () => {
    const { device, app } = start([]);
    const properties = { colour: { type: "string" }, size: { type: "integer" } };
    const asked = createQuestions().ask(
      {
        kind: "form",
        message: "What shall it be?",
        schema: { type: "object", properties, required: ["colour"] },
      },
      { action: "mcp__paint", caller: "me", front: app.ask, signal: new AbortController().signal },
    );
    await shows(device, "message: What shall it be?");
    await shows(device, "question: colour (string; required)");
    await shows(device, "[r] reply");
    device.type("r");
    await shows(device, "your answer; Enter sends it");
    device.type(..."yellow", "Enter");
    await shows(device, "size (integer; empty: left out)");
    device.type("Enter");
    await shows(device, "colour: yellow");
    await shows(device, "[y] send it");
    device.type("y");
    expect(await asked).toEqual({ answer: "accept", content: { colour: "yellow" } });
  });

  test("Esc stops the run and preserves the typed text", async () => {
    const { device, agent } = start([hangs("I begin")]);
    device.type(..."go", "Enter");
    await shows(device, "I begin");
    device.type(..."next");
    device.type("Escape");
    await expect.poll(() => agent.isRunning).toBe(false);
    await shows(device, "› next");
  });

  test("an answer that Esc stopped is in the transcript as far as it was shown", async () => {
    const { device, agent } = start([hangs("I begin")]);
    const events: StampedEvent[] = [];
    agent.subscribe((event) => {
      if (!event.type.endsWith("_delta")) events.push(event as StampedEvent); // The others are stored.
    });
    device.type(..."go", "Enter");
    await shows(device, "I begin");
    device.type("Escape");
    await expect.poll(() => agent.isRunning).toBe(false);
    const rows = viewTranscript(events, 80).map(plainText);
    expect(rows.filter((row) => row !== "")).toEqual(["› go", "I begin", "∙ the run was stopped"]);
  });

  test("Esc Esc lists the earlier messages, and the chosen one goes to /rewind", async () => {
    const lines: string[] = [];
    const { device } = start([], {
      prompts: () => ["make a", "make b", "make c"],
      command: async (line) => {
        lines.push(line);
        return { draft: "make b" };
      },
    });
    device.type("Escape");
    await shows(device, "Esc again goes back to an earlier message");
    device.type("x", "Backspace", "Escape", "Escape");
    await shows(device, "› make c");
    device.type("Up", "Enter");
    await shows(device, "› make b");
    expect(lines).toEqual(["/rewind 2 both"]);
    device.type("Ctrl-C", "Alt-Escape", "Escape");
    await shows(device, "ask, or / for commands");
    device.type("Alt-Escape", "c");
    await shows(device, "› make b");
    expect(lines.at(-1)).toBe("/rewind 1 conversation");
  });

  test("a message sent during a run is queued and the status says so", async () => {
    const { device, agent } = start([hangs("I begin")]);
    device.type(..."go", "Enter");
    await shows(device, "I begin");
    device.type(..."also this", "Enter");
    await shows(device, "1 queued");
    expect(agent.queued).toHaveLength(1);
    device.type(..."draft", "Escape");
    await expect.poll(() => agent.isRunning).toBe(false);
    await shows(device, /› also this\n\s*\n {2}draft/);
    expect(agent.queued, "a stopped run takes nothing along to the next one").toHaveLength(0);
  });

  test("the plan and the sub-agents are shown during a run, and their numbers in the status", async () => {
    const { device, agent } = start([hangs("I begin")], {
      facts: () => ({ agents: [{ role: "code", task: "mend the parser", turns: 1 }] }),
    });
    device.type(..."go", "Enter");
    await shows(device, "I begin");
    const entries = [
      { content: "reproduce it", status: "completed" },
      { content: "mend it\x1b[2J", status: "in_progress" },
      { content: "run the tests", status: "pending" },
    ];
    const data = { plan_id: "plan_1", title: "Fix the parser", entries };
    await agent.session.append({ type: "mark", name: "plan", data });
    await shows(device, /Fix the parser\n {2}✓ reproduce it\n {2}◐ mend it.*\n {2}○ run the tests/);
    await shows(device, "⤷ code  1 turn · mend the parser");
    await shows(device, "steps 1/3 · 1 agent");
    expect(device.written).not.toContain("\x1b[2J");
    await agent.session.append({ type: "mark", name: "plan", data: { entries: "broken" } });
    await agent.cancel();
  });

  test("Esc stops a slow command", async () => {
    const { device } = start([], {
      command: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    device.type(..."/auto it", "Enter");
    await shows(device, "/auto it; Esc stops");
    device.type("Escape");
    await shows(device, "/auto was stopped");
  });

  test("a command typed while another runs is shown when that ends, and Esc stops it", async () => {
    const ends: Record<string, () => void> = {};
    const { device } = start([], {
      command: (line, signal) =>
        new Promise((resolve, reject) => {
          ends[line] = () => resolve({ text: `${line} ended` });
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    device.type(..."/mode ask", "Enter");
    await shows(device, "/mode ask; Esc stops");
    device.type(..."!sleep 9", "Enter");
    await shows(device, "!sleep 9; Esc stops");
    ends["/mode ask"]?.();
    await shows(device, "/mode ask ended");
    await shows(device, "!sleep 9; Esc stops");
    device.type("Escape");
    await shows(device, "!sleep was stopped");
  });

  test("commands are completed with Tab and their output is shown as Markdown", async () => {
    const { device } = start([]);
    device.type("/", "h");
    await shows(device, "/help  list the commands");
    device.type("Tab", "Enter");
    await shows(device, "ran /help");
  });

  test.each([
    ["/mode", "/mode"],
    ["/stash list", "/stash list"],
    ["see @src/a.ts", "see @src/a.ts"],
  ])("Enter sends %s, which is complete, at once", async (text, sent) => {
    const offers = (word: string) =>
      word.startsWith("/mode") ? ["/model", "/mode"] : word.startsWith("/stash ") ? ["list"] : ["@src/a.ts"];
    const { device } = start([], {
      complete: async (word) => offers(word).map((value) => ({ value, detail: "offered" })),
      toContent: async (plain) => `${plain}!`,
    });
    device.type(...text);
    await shows(device, "offered");
    device.type("Enter");
    await shows(device, text.startsWith("/") ? `ran ${sent}` : `› ${sent}!`);
  });

  test("Enter takes a completion that the person moved to, and never one for an earlier text", async () => {
    const { device } = start([], {
      complete: async (word) => (word === "/mode" ? [{ value: "/model" }, { value: "/mode" }] : []),
    });
    device.type(..."/mode");
    await shows(device, "› /mode\n  /model");
    device.type("Up", "Enter", "Enter");
    await shows(device, "ran /model");
    device.type(..."/mode");
    await shows(device, "  /model");
    device.type(..." x", "Enter");
    await shows(device, "ran /mode x");
  });

  test("a failure with several lines keeps them", async () => {
    const command = async () => {
      throw new Error("git failed:\nsay who you are\x1b");
    };
    const { device } = start([], { command });
    device.type(..."/commit", "Enter");
    await shows(device, "✗ git failed:\nsay who you are\\x1b");
  });

  test("@ completes a path", async () => {
    const { device } = start([]);
    device.type(..."see @s");
    await shows(device, "› @src/a.ts");
    device.type("Tab");
    await shows(device, "› see @src/a.ts");
  });

  test("a large paste is shown as a chip and sent whole", async () => {
    const { device, agent } = start([says("ok")]);
    const pasted = Array.from({ length: 3000 }, (_, i) => `row ${i} of a long paste`).join("\n");
    device.paste(pasted);
    await shows(device, "[paste #1, 3000 lines]");
    device.type("Enter");
    await shows(device, "ok");
    expect(JSON.stringify(agent.session.conversation.messages[0])).toContain("row 2999");
    await shows(device, "2981 more lines; Ctrl-O shows all");
    expect((await device.all()).join("\n")).not.toContain("row 2999");
  });

  test("history is recalled with Up and searched with Ctrl-R", async () => {
    const history = openHistory(undefined);
    history.add("fix the parser");
    history.add("run the tests");
    const { device } = start([], { history });
    device.type("Up");
    await shows(device, "› run the tests");
    device.type("Ctrl-C", "Ctrl-R", ..."pars");
    await shows(device, "fix the parser");
    device.type("Enter");
    await shows(device, "› fix the parser");
  });

  test("vim mode shows its mode and edits with its keys", async () => {
    const { device } = start([], { inputMode: "vim" });
    device.type(..."one two three", "Escape");
    await shows(device, "NORMAL");
    device.type("b", "d", "b");
    await shows(device, "› one three");
    device.type("i", "Alt-D", "d", "i", ..."in one packet", "F1", "Ctrl-Alt-F5");
    await shows(device, "› in one packet");
    device.type("Alt-:", "q");
    await shows(device, ":q · ");
    device.type("Enter");
    await open?.done;
  });

  test("hostile text from model and tools never reaches the terminal as control sequences", async () => {
    const evil = "\x1b]52;c;aGk=\x07 \x1b[2J \x1b]8;;http://x\x07y \u202e \0 \x9b31m";
    const { device } = start([
      says(`before ${evil} after`, [{ name: "fs", input: { uri: evil } }]),
      says("end"),
    ]);
    device.type(..."go", "Enter");
    await shows(device, "[y] allow once");
    device.type("n");
    await shows(device, "end");
    expect(device.written).not.toMatch(/\x1b\]52|\x1b\[2J|\x1b\]8|\u202e|\0|\x9b/);
  });

  test("a narrow terminal shows everything without wrapping lines itself", async () => {
    const { device } = start(
      [says("| a | b |\n|---|---|\n| long cell text here | another long one |\n")],
      {},
      [24, 12],
    );
    device.type(..."go", "Enter");
    await shows(device, /another/);
    for (const row of await device.all()) expect(row.length).toBeLessThanOrEqual(24);
  });

  test("an answer that is still growing is wrapped anew when the window becomes narrower", async () => {
    const { device, agent } = start([hangs("one two three four five six seven eight nine ten eleven")]);
    device.type(..."go", "Enter");
    await shows(device, "nine ten eleven");
    await device.resize(24, 12);
    await shows(device, "one two three four five\nsix seven eight nine ten\neleven");
    await agent.cancel();
    await shows(device, "ask, or / for");
    expect((await device.all()).join("\n")).toContain("six seven eight nine ten\neleven");
  });

  test("the question says in words which rule always would add, or that there is none", async () => {
    const { device } = start([
      says("one", [{ name: "proc", input: { command: "git status && npm test" } }]),
      says("two", [{ name: "proc", input: { command: "git status && rm -rf x" } }]),
      says("finished"),
    ]);
    device.type(..."go", "Enter");
    await shows(device, "[a] always allow");
    await shows(device, '"session" allows the same as "always", until the session ends');
    await shows(device, "adds this rule to .hanzo/settings.local.json until 2026-12-16:");
    await shows(device, "allow proc.exec when every command of the line is one of these:");
    await shows(device, "`npm test`, nothing else");
    device.type("n");
    await shows(device, '"always" is not offered');
    await shows(device, '"session" allows exactly this call again, until the session ends');
    expect((await device.screen()).join("\n")).not.toContain("[a]");
    device.type("n");
    await shows(device, "finished");
  });

  test("an unexpected error is shown once", async () => {
    const broken: Turn = () => {
      throw new TypeError("a bug of ours");
    };
    const { device } = start([broken, says("still here")]);
    device.type(..."go", "Enter");
    await shows(device, "a bug of ours");
    device.type(..."on", "Enter");
    await shows(device, "still here");
    expect((await device.all()).join("\n").split("a bug of ours")).toHaveLength(2);
  });

  test("a retry notice is wrapped at words, not cut by the terminal", async () => {
    const { device, agent } = start([hangs("I begin")], {}, [40, 15]);
    device.type(..."go", "Enter");
    await shows(device, "I begin");
    const reason = "the provider cannot be reached at http://127.0.0.1:18999";
    agent.session.publish({ type: "retry", attempt: 1, delay_ms: 2000, reason });
    await shows(device, /^! the provider cannot be reached at\nhttp/m);
    await agent.cancel();
  });

  test("Ctrl-C clears the input, and leaves when it is pressed twice without any", async () => {
    const { device } = start([]);
    device.type(..."text", "Ctrl-C");
    await shows(device, "ask, or / for commands");
    device.type("Ctrl-C");
    await shows(device, "Ctrl-C again leaves");
    device.type("x", "Backspace", "Ctrl-C");
    await shows(device, "Ctrl-C again leaves");
    device.type("Ctrl-C");
    await open?.done;
  });

  test("Ctrl-D leaves and the screen ends with the last committed line", async () => {
    const { device } = start([says("bye")]);
    device.type(..."x", "Enter");
    await shows(device, "bye");
    device.type("Ctrl-D");
    await open?.done;
    const rows = (await device.all()).filter((row) => row !== "");
    expect(rows.at(-1)).toBe("bye");
  });
});
