/** One event of a text/event-stream. */
export interface SseFrame {
  readonly event: string | null;
  readonly data: string;
  readonly id: string | null;
  readonly retry: number | null;
}

/** A server that sends more than this without a blank line is not sending events. */
const MAX_FRAME_CHARS = 64 * 1024 * 1024;
const LINE_END = /\r\n|\r|\n/g;

export interface SseFrameBuffer {
  /** Feeds the next chunk and returns the completed events. */
  feed(chunk: string): readonly SseFrame[];
  /** Ends the stream. An event without its blank line is returned too: some servers omit it. */
  end(): readonly SseFrame[];
}

/**
 * Lines end with CR, LF or CRLF; a byte order mark at the start is skipped; an event without data is dropped. See
 * https://html.spec.whatwg.org/multipage/server-sent-events.html.
 */
export function createSseFrameBuffer(): SseFrameBuffer {
  let line = "";
  let frame = emptyFrame();
  let frameChars = 0;
  let atStart = true;
  let afterCr = false;

  /** An empty line completes the event. */
  const endLine = (): SseFrame | undefined => {
    if (line !== "") {
      frame = withField(frame, line);
      line = "";
      return undefined;
    }
    const { data, ...rest } = frame;
    frame = emptyFrame();
    frameChars = 0;
    return data === undefined ? undefined : { ...rest, data };
  };

  return {
    feed(chunk) {
      if (chunk === "") return [];
      let rest = chunk;
      if (atStart && rest.startsWith("\uFEFF")) rest = rest.slice(1);
      // The second half of a split CRLF.
      if (afterCr && rest.startsWith("\n")) rest = rest.slice(1);
      atStart = false;
      afterCr = rest === "" ? false : rest.endsWith("\r");
      frameChars += rest.length;
      if (frameChars > MAX_FRAME_CHARS)
        throw new RangeError(`an event of the stream exceeds ${MAX_FRAME_CHARS} characters`);
      const frames: SseFrame[] = [];
      let start = 0;
      for (const { index, 0: ending } of rest.matchAll(LINE_END)) {
        line += rest.slice(start, index);
        start = index + ending.length;
        const complete = endLine();
        if (complete) frames.push(complete);
      }
      line += rest.slice(start);
      return frames;
    },
    end() {
      const frames = [endLine(), endLine()];
      return frames.filter((complete) => complete !== undefined);
    },
  };
}

interface OpenFrame {
  readonly event: string | null;
  readonly data?: string;
  readonly id: string | null;
  readonly retry: number | null;
}

const emptyFrame = (): OpenFrame => ({ event: null, id: null, retry: null });

function withField(frame: OpenFrame, line: string): OpenFrame {
  const colon = line.indexOf(":");
  // A line that starts with a colon is a comment.
  if (colon === 0) return frame;
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
  switch (name) {
    case "event":
      return { ...frame, event: value };
    case "data":
      return { ...frame, data: frame.data === undefined ? value : `${frame.data}\n${value}` };
    case "id":
      return value.includes("\0") ? frame : { ...frame, id: value };
    case "retry":
      return /^\d+$/.test(value) ? { ...frame, retry: Number(value) } : frame;
    default:
      return frame;
  }
}
