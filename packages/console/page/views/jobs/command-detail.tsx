import { useState } from "preact/hooks";
import { usePage } from "../../data/context.ts";
import { nextEvent } from "../../data/next-event.ts";
import { projectOf } from "../../data/roster.ts";
import type { CommandView, Logs } from "../../data/tool-data.ts";
import { BackTitle } from "../../parts/back-title.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Segments } from "../../parts/choices.tsx";
import { CopyButton } from "../../parts/command.tsx";
import { Detail } from "../../parts/detail.tsx";
import { Icon } from "../../parts/icon.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toBytes } from "../../text/format.ts";
import { commandOutcome, durationOf } from "./job-rows.ts";
import { OutputPages } from "./output-pages.tsx";

const TerminalView = lazy(async () => (await import("../../parts/terminal/terminal-view.tsx")).TerminalView);

const CHUNK_BYTES = 64 * 1024;
/** More than the terminal retains; what is before it can be read page by page. */
const TAIL_BYTES = 1024 * 1024;

interface Props {
  readonly command: CommandView;
  /** The process that runs the command: no other can reach it. */
  readonly process: string;
  onChanged(): void;
}

/** A command with its live output; what is typed goes to its input. */
export function CommandDetail({ command, process, onChanged }: Props) {
  const { store } = usePage();
  const [stream, setStream] = useState<"stdout" | "stderr">("stdout");
  const isRunning = command.status === "running";
  const isReader = store.me.value?.access === "read";
  const { proc_id } = command;
  const outcome = commandOutcome(command);
  const shown = store.processes.value?.find(({ id }) => id === process);
  const [size, setSize] = useState(0);
  const [isCut, setCut] = useState(false);
  const [isPaged, setPaged] = useState(false);
  const choose = (next: typeof stream) => {
    setStream(next);
    setCut(false);
    setSize(0);
  };
  /** Reads the end, and then whenever there is news of the command. */
  const follow = async (write: (text: string) => void, signal: AbortSignal) => {
    const input = { proc_id, stream, since: 0, max_bytes: 1, raw: true };
    const { total } = await store.api.data<Logs>(process, "proc.logs", input, signal);
    setCut(total > TAIL_BYTES);
    for (let since = Math.max(0, total - TAIL_BYTES); !signal.aborted; ) {
      const next = nextEvent(store, "processes", ({ event }) => event.proc_id === proc_id, signal);
      const logs = await store.api.data<Logs>(
        process,
        "proc.logs",
        { proc_id, stream, since, max_bytes: CHUNK_BYTES, raw: true },
        signal,
      );
      setSize(logs.total);
      if (logs.text !== "") write(logs.text);
      const isBehind = logs.next > since && logs.next < logs.total;
      since = logs.next;
      if (isBehind) continue;
      if (logs.status !== "running") return onChanged();
      await next;
    }
  };
  const act = (name: string, input: object) => store.api.data(process, name, { proc_id, ...input });
  const send = (text: string) => {
    act("proc.input", { text, wait: 0 }).catch(store.fail);
  };
  const kill = () => act("proc.kill", {}).then(() => store.say("Stopped."), store.fail);
  return (
    <Detail class="session" label="Command">
      <header class="session-head">
        <BackTitle list="#/jobs" text={command.command} command>
          <CopyButton text={command.command} label="Copy the command" />
        </BackTitle>
        <p class="session-facts number">
          <Badge tone={outcome.tone}>{outcome.text}</Badge>
          <span>{durationOf(command, store.now.value)}</span>
          <span>pid {command.pid}</span>
          <span>
            {stream} {toBytes(size)}
          </span>
          {shown && <Foreign text={projectOf(shown)} oneLine />}
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
              onChange={choose}
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
        {isPaged ? (
          <OutputPages
            key={stream}
            process={process}
            proc_id={proc_id}
            stream={stream}
            onEnd={() => setPaged(false)}
          />
        ) : (
          <TerminalView
            key={stream}
            follow={follow}
            isPty={command.pty}
            isCut={isCut}
            onEarlier={() => setPaged(true)}
            {...(isRunning && !isReader && { onInput: send })}
            onError={store.fail}
          />
        )}
      </div>
      {isRunning && !isReader && <InputLine onSend={send} />}
    </Detail>
  );
}

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
