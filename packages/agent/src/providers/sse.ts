/** One event of a text/event-stream. */
export interface SseFrame {
  readonly event: string | null;
  readonly data: string;
  readonly id: string | null;
  readonly retry: number | null;
}

/** A server that sends more than this without a blank line is not sending events. */
const MAX_FRAME_CHARS = 64 * 1024 * 1024;
const LINE_END = /\r\n|\r|\n/;

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
  let frame: OpenFrame = EMPTY;
  let frameChars = 0;
  /** A byte order mark, or the second half of a split CRLF. */
  let skipped = "\uFEFF";

  /** An empty line completes the event. */
  const endLine = (): readonly SseFrame[] => {
    if (line !== "") {
      frame = withField(frame, line);
      line = "";
      return [];
    }
    const { data, ...rest } = frame;
    frame = EMPTY;
    frameChars = 0;
    return data === undefined ? [] : [{ ...rest, data }];
  };

  return {
    feed(chunk) {
      if (chunk === "") return [];
      const text = skipped !== "" && chunk.startsWith(skipped) ? chunk.slice(1) : chunk;
      skipped = text.endsWith("\r") ? "\n" : "";
      frameChars += text.length;
      if (frameChars > MAX_FRAME_CHARS)
        throw new RangeError(`an event of the stream exceeds ${MAX_FRAME_CHARS} characters`);
      const [last = "", ...lines] = text.split(LINE_END).reverse();
      const frames = lines.reverse().flatMap((ended) => {
        line += ended;
        return endLine();
      });
      line += last;
      return frames;
    },
    end: () => [...endLine(), ...endLine()],
  };
}

type OpenFrame = Omit<SseFrame, "data"> & { readonly data?: string };

const EMPTY: OpenFrame = { event: null, id: null, retry: null };

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
