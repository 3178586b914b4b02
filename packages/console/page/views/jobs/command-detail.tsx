import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { nextEvent } from "../../data/next-event.ts";
import type { CommandView, Logs } from "../../data/tool-data.ts";
import { Badge } from "../../parts/badge.tsx";
import { Segments } from "../../parts/choices.tsx";
import { Icon } from "../../parts/icon.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes, toDuration } from "../../text/format.ts";

const TerminalView = lazy(async () => (await import("../../parts/terminal/terminal-view.tsx")).TerminalView);

const CHUNK_BYTES = 64 * 1024;

interface Props {
  readonly command: CommandView;
  /** All that list the command; one of them runs it. */
  readonly processes: readonly string[];
  onChanged(): void;
}

/** A command with its live output; what is typed goes to its input. */
export function CommandDetail({ command, processes, onChanged }: Props) {
  const { store } = usePage();
  const [stream, setStream] = useState<"stdout" | "stderr">("stdout");
  /** What the stream has had when it was read last. */
  const [read, setRead] = useState(0);
  const isRunning = command.status === "running";
  const isReader = store.me.value?.access === "read";
  const { proc_id } = command;
  /** Reads from the beginning, and then whenever there is news of the command. */
  const follow = async (write: (text: string) => void, signal: AbortSignal) => {
    for (let since = 0; !signal.aborted; ) {
      const next = nextEvent(store, "processes", ({ event }) => event.proc_id === proc_id, signal);
      const logs = await store.api.data<Logs>(
        processes[0] ?? "",
        "proc.logs",
        { proc_id, stream, since, max_bytes: CHUNK_BYTES, raw: true },
        signal,
      );
      if (logs.text !== "") write(logs.text);
      setRead(logs.total);
      const isBehind = logs.next > since && logs.next < logs.total;
      since = logs.next;
      if (isBehind) continue;
      if (logs.status !== "running") return onChanged();
      await next;
    }
  };
  /** Only the process that runs the command can do it; the others refuse. */
  const act = async (name: string, input: object) => {
    let refused: unknown;
    for (const process of processes) {
      try {
        await store.api.data(process, name, { proc_id, ...input });
        return;
      } catch (cause) {
        refused ??= cause;
      }
    }
    throw refused;
  };
  const send = (text: string) => {
    act("proc.input", { text, wait: 0 }).catch(store.fail);
  };
  const kill = () => act("proc.kill", {}).then(() => store.say("Stopped."), store.fail);
  return (
    <article class="session" aria-label="Command">
      <header class="session-head">
        <div class="session-title">
          <a
            class="button icon-only quiet phone-only"
            href="#/jobs?kind=commands"
            aria-label="Back to the list"
          >
            <Icon name="back" />
          </a>
          <h2 class="mono">
            <Foreign text={command.command} oneLine />
          </h2>
        </div>
        <p class="session-facts number">
          <Badge tone={isRunning ? "accent" : command.exit_code === 0 ? "good" : "bad"}>
            {isRunning
              ? "running"
              : `${command.status}${command.exit_code === null ? "" : ` with ${command.exit_code}`}`}
          </Badge>
          <span>{toDuration(durationOf(command, store.now.value))}</span>
          <span>pid {command.pid}</span>
          <span>{toBytes(Math.max(command.stdout_bytes + command.stderr_bytes, read))}</span>
        </p>
        <div class="session-actions">
          {!command.pty && (
            <Segments
              label="Stream"
              value={stream}
              options={[
                ["stdout", "stdout"],
                ["stderr", "stderr"],
              ]}
              onChange={setStream}
            />
          )}
          {isRunning && (
            <button type="button" class="button danger" disabled={isReader} onClick={kill}>
              <Icon name="stop" />
              Stop
            </button>
          )}
        </div>
      </header>
      <div class="terminal-place">
        <TerminalView
          key={stream}
          follow={follow}
          isPty={command.pty}
          {...(isRunning && !isReader && { onInput: send })}
          onError={store.fail}
        />
      </div>
      {isRunning && !isReader && <InputLine onSend={send} />}
    </article>
  );
}

/** A running command was listed a while ago. */
export const durationOf = ({ status, started_at, duration }: CommandView, now: number): number =>
  status === "running" ? Math.max(duration, now - started_at) : duration;

function InputLine({ onSend }: { onSend(text: string): void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="message-box"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(`${text}\n`);
        setText("");
      }}
    >
      <input
        class="input mono"
        aria-label="Line for the command's input"
        placeholder="A line for its input"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="button icon-only primary" aria-label="Send the line">
        <Icon name="send" />
      </button>
    </form>
  );
}
