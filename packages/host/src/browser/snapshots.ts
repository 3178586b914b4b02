import type { Frame, Locator } from "playwright-core";
import { isTimeout, unreadable } from "./failures.ts";
import type { ChangesAnswer, TreeAnswer } from "./page-script/index.ts";
import { toPageSelector } from "./playwright.ts";
import type { Tab } from "./tab.ts";

export interface Snapshot {
  readonly text: string;
  readonly lines: number;
  /** False when the page is too large to be read in time. */
  readonly complete: boolean;
}

export interface Changes {
  /** `+` added, `~` changed, `gone` removed; on a new page, its start. */
  readonly text: string;
  readonly isNew: boolean;
  readonly more: number;
  readonly title: string;
  /** Links that were used meanwhile and download. */
  readonly downloadLinks: readonly string[];
}

export interface SnapshotOptions {
  readonly interactive: boolean;
  readonly depth: number;
  /** Restricts the snapshot to this element. */
  readonly root?: Locator | undefined;
}

const MAX_TREE_CHARS = 8 * 1024 * 1024;
const MAX_TREE_MS = 2_500;
/** Runs after each action, so it must be fast. */
const MAX_CHANGES_MS = 300;
/** With the rest of an answer it stays below 2 KiB. */
const MAX_CHANGE_BYTES = 1_500;
const MAX_FRAMES = 12;
const MAX_LABELS = 50_000;
const READ_MS = 10_000;
/** A frame may never become readable. */
const FRAME_MS = 3_000;

/** The accessibility tree as lines, including frames; the baseline for the next changes. */
export async function takeSnapshot(
  tab: Tab,
  { interactive, depth, root }: SnapshotOptions,
): Promise<Snapshot> {
  const request = { interactive, depth, maxChars: MAX_TREE_CHARS, maxMs: MAX_TREE_MS };
  // A part of the page cannot be the baseline for the whole.
  const isWhole = !interactive && depth === 0 && root === undefined;
  let complete = true;
  let framesLeft = MAX_FRAMES;
  const read = async (frame: Frame, prefix: string, from?: Locator): Promise<string> => {
    const asked = { op: "tree", ...request, prefix, next: tab.refs.next, remember: isWhole };
    const until = Date.now() + (prefix === "" ? READ_MS : FRAME_MS);
    const tree = await ask<TreeAnswer>(tab, from ?? frame, asked, until);
    tab.refs.next = Math.max(tab.refs.next, tree.next);
    complete &&= tree.complete;
    if (depth > 0 || !/^ *- iframe/m.test(tree.text)) return tree.text;
    const lines: string[] = [];
    for (const line of tree.text.split("\n")) {
      lines.push(line);
      const [, indent, ref] = IFRAME.exec(line) ?? [];
      if (ref === undefined || indent === undefined || framesLeft-- <= 0) continue;
      const inner = await innerFrame(frame, ref);
      const number = inner && numberOf(tab, inner);
      const text = inner && (await read(inner, `f${number}`).catch(() => undefined));
      // A frame whose address the browser refused, for example, would keep every later answer waiting.
      if (number !== undefined && text === undefined) tab.frames.delete(number);
      if (text) lines.push(...text.split("\n").map((one) => `${indent}${interactive ? "" : "  "}${one}`));
    }
    return lines.join("\n");
  };
  const text = await read(tab.page.mainFrame(), "", root);
  learnLabels(tab, text);
  return { text, lines: text === "" ? 0 : text.split("\n").length, complete };
}

const IFRAME = /^( *)- iframe(?: "(?:[^"\\]|\\.)*")? \[([a-z0-9]+)\]/;

async function innerFrame(frame: Frame, ref: string): Promise<Frame | undefined> {
  const element = await frame.locator(toPageSelector({ op: "ref", ref })).elementHandle({ timeout: READ_MS });
  const inner = await element?.contentFrame();
  await element?.dispose();
  return inner ?? undefined;
}

function numberOf(tab: Tab, frame: Frame): number {
  for (const [number, known] of tab.frames) if (known === frame) return number;
  const number = Math.max(0, ...tab.frames.keys()) + 1;
  tab.frames.set(number, frame);
  return number;
}

/** The differences since the last snapshot or action. */
export async function takeChanges(tab: Tab, until = Date.now() + READ_MS): Promise<Changes> {
  const request = {
    op: "changes",
    interactive: false,
    depth: 0,
    remember: true,
    maxChars: MAX_TREE_CHARS,
    maxMs: MAX_CHANGES_MS,
  } as const;
  let room = MAX_CHANGE_BYTES;
  let more = 0;
  const texts: string[] = [];
  const downloadLinks: string[] = [];
  const read = async (frame: Frame, prefix: string, end: number): Promise<ChangesAnswer> => {
    const asked = { ...request, prefix, next: tab.refs.next, maxChangeChars: room };
    const answer = await ask<ChangesAnswer>(tab, frame, asked, end);
    tab.refs.next = Math.max(tab.refs.next, answer.next);
    const { kept, left } = keepLines(answer.text, room);
    room = Math.max(0, room - Buffer.byteLength(kept) - 1);
    more += answer.more + left;
    if (kept) texts.push(kept);
    downloadLinks.push(...answer.downloadLinks);
    return answer;
  };
  const { fresh, title } = await read(tab.page.mainFrame(), "", until);
  // Frames that were in no snapshot have no baseline.
  for (const [number, frame] of fresh ? [] : tab.frames)
    await read(frame, `f${number}`, Math.min(until, Date.now() + FRAME_MS)).catch(() => {});
  const text = texts.join("\n");
  learnLabels(tab, text);
  return { text, isNew: fresh, more, title, downloadLinks };
}

/** As many whole lines as fit. */
function keepLines(text: string, maxBytes: number): { kept: string; left: number } {
  if (Buffer.byteLength(text) <= maxBytes) return { kept: text, left: 0 };
  const lines = text.split("\n");
  let bytes = 0;
  const count = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > maxBytes;
  });
  return { kept: lines.slice(0, count).join("\n"), left: lines.length - count };
}

export async function markElements(tab: Tab, isShown: boolean): Promise<void> {
  for (const frame of [tab.page.mainFrame(), ...tab.frames.values()])
    await ask(tab, frame, { op: isShown ? "mark" : "unmark" }).catch(() => {});
}

/** Queries our script; TIMEOUT when there is no answer before `until`. */
async function ask<T>(
  tab: Tab,
  at: Frame | Locator,
  request: object & { readonly op: string },
  until = Date.now() + READ_MS,
): Promise<T> {
  const ms = Math.max(1, until - Date.now());
  const asked = { ...request, until };
  const quick = at === tab.page.mainFrame() ? await tab.askNew<T>(asked, ms) : undefined;
  if (quick) return quick;
  const text = await at
    .locator(toPageSelector(asked))
    .textContent({ timeout: Math.max(1, until - Date.now()) })
    .catch((cause: unknown) => {
      throw isTimeout(cause) ? unreadable(ms, cause) : cause;
    });
  // Our own script has written it, out of the reach of the page's.
  return JSON.parse(text ?? "null") as T;
}

const LABEL = /^ *[-+~] ([a-z]+(?: "(?:[^"\\]|\\.)*")?) \[((?:f\d+)?e\d+)\]/gm;

function learnLabels({ labels }: Tab, text: string): void {
  for (const [, label = "", ref = ""] of text.matchAll(LABEL)) {
    labels.delete(ref);
    labels.set(ref, label);
  }
  for (const oldest of labels.keys()) {
    if (labels.size <= MAX_LABELS) break;
    labels.delete(oldest);
  }
}
