import { Terminal } from "@xterm/headless";
import { useEffect, useRef, useState } from "preact/hooks";
import { useFollowing } from "../use-following.ts";
import { keyToBytes } from "./key-to-bytes.ts";
import { type Run, toRuns } from "./to-runs.ts";
import "./terminal.css";

interface Props {
  /** Writes the output until the signal aborts. */
  follow(write: (text: string) => void, signal: AbortSignal): Promise<void>;
  /** Whether the program has a terminal of its own; otherwise line feeds need a carriage return. */
  readonly isPty: boolean;
  /** The log has output before the one that `follow` writes. */
  readonly isCut: boolean;
  /** Shows the output from its beginning. */
  onEarlier(): void;
  onInput?(text: string): void;
  onError(cause: unknown): void;
}

const COLUMNS = 120;
const ROWS = 40;
const SCROLLBACK = 5_000;
const LINE_PX = 18;
const OVERSCAN = 20;

/**
 * A terminal: xterm.js interprets the output, and the lines in view are drawn as text nodes. Its own renderer needs
 * inline styles, which the content security policy forbids.
 */
export function TerminalView({ follow, isPty, isCut, onEarlier, onInput, onError }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal | undefined>(undefined);
  const [version, setVersion] = useState(0);
  const [top, setTop] = useState(0);
  const content = useRef<HTMLDivElement>(null);
  useFollowing(content, () => place.current);
  useEffect(() => {
    const emulator = new Terminal({
      cols: COLUMNS,
      rows: ROWS,
      scrollback: SCROLLBACK,
      convertEol: !isPty,
      allowProposedApi: true,
      // Bytes that are not terminal output are normal here.
      logLevel: "off",
    });
    terminal.current = emulator;
    const ended = new AbortController();
    let frame = 0;
    const draw = () => {
      frame = 0;
      setVersion((count) => count + 1);
    };
    const write = (text: string) =>
      emulator.write(text, () => {
        frame ||= requestAnimationFrame(draw);
      });
    follow(write, ended.signal).catch((cause: unknown) => !ended.signal.aborted && onError(cause));
    return () => {
      ended.abort();
      cancelAnimationFrame(frame);
      emulator.dispose();
    };
  }, []);
  const buffer = terminal.current?.buffer.active;
  const count = buffer ? lastLine(buffer) + 1 : 0;
  const height = place.current?.clientHeight ?? 400;
  const first = Math.max(0, Math.floor(top / LINE_PX) - OVERSCAN);
  const last = Math.min(count, Math.ceil((top + height) / LINE_PX) + OVERSCAN);
  const lines = [];
  for (let index = first; index < last; index++) {
    const line = buffer?.getLine(index);
    if (line) lines.push(<Line key={index} index={index} runs={toRuns(line, COLUMNS)} />);
  }
  const isFull = buffer !== undefined && buffer.length >= SCROLLBACK + ROWS;
  return (
    <div class="terminal-frame">
      {(isCut || isFull) && (
        <p class="terminal-cut">
          Earlier output is not shown here.
          <button type="button" class="button" onClick={onEarlier}>
            Show it from the beginning
          </button>
        </p>
      )}
      <div
        ref={place}
        class="terminal"
        role="log"
        aria-label={onInput ? "Terminal; keys go to the command" : "Terminal"}
        tabIndex={0}
        data-keys={onInput ? "" : undefined}
        data-version={version}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
        onKeyDown={(event) => {
          const bytes = onInput && keyToBytes(event);
          if (!bytes) return;
          event.preventDefault();
          onInput(bytes);
        }}
      >
        <div ref={content} class="terminal-lines" style={{ height: `${count * LINE_PX}px` }}>
          {lines}
        </div>
      </div>
    </div>
  );
}

/** Empty lines at the end of the screen are not drawn. */
function lastLine(buffer: Terminal["buffer"]["active"]): number {
  for (let index = buffer.length - 1; index >= 0; index--)
    if (index <= buffer.baseY + buffer.cursorY || buffer.getLine(index)?.translateToString(true) !== "")
      return index;
  return -1;
}

function Line({ index, runs }: { readonly index: number; readonly runs: readonly Run[] }) {
  return (
    <div class="terminal-line" style={{ top: `${index * LINE_PX}px` }}>
      {runs.map(({ text, className, style }, at) =>
        className === "" && !style ? (
          text
        ) : (
          <span key={at} class={className} style={style}>
            {text}
          </span>
        ),
      )}
    </div>
  );
}
