/** The last frames of a stream, so that a client that reconnects misses none. */
export interface FrameLog {
  /** The number of frames so far. */
  readonly count: number;
  add(frame: string): void;
  /**
   * The frames after the first `after` ones; undefined when some of them are no longer available, or the number is
   * too high.
   */
  after(after: number): readonly string[] | undefined;
}

export interface FrameLogLimits {
  readonly maxFrames: number;
  readonly maxChars: number;
}

export function createFrameLog({ maxFrames, maxChars }: FrameLogLimits): FrameLog {
  let kept: string[] = [];
  let first = 0;
  let start = 0;
  let chars = 0;
  const size = () => kept.length - start;
  const drop = () => {
    chars -= kept[start]?.length ?? 0;
    kept[start] = "";
    start += 1;
    first += 1;
    if (start < maxFrames) return;
    kept = kept.slice(start);
    start = 0;
  };
  return {
    get count() {
      return first + size();
    },
    add(frame) {
      kept.push(frame);
      chars += frame.length;
      // The newest frame stays, whatever its size.
      while (size() > 1 && (size() > maxFrames || chars > maxChars)) drop();
    },
    after(after) {
      if (after < first || after > first + size()) return undefined;
      return kept.slice(start + after - first);
    },
  };
}
