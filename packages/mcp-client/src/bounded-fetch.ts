import { MAX_MESSAGE_BYTES, TOO_LARGE } from "./stdio-transport.ts";

/** Cuts off a response whose body, or whose next event in a stream, exceeds the size of a message. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.body) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const { status, statusText, headers } = response;
  const bounded = new Response(response.body.pipeThrough(countBytes(isStream)), {
    status,
    statusText,
    headers,
  });
  // A constructed response has no URL, but callers resolve against it.
  Object.defineProperty(bounded, "url", { value: response.url });
  return bounded;
};

function countBytes(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_MESSAGE_BYTES) return controller.error(new Error(TOO_LARGE));
      controller.enqueue(chunk);
      if (isStream && endsEvent(chunk)) bytes = 0;
    },
  });
}

/** Whether the chunk contains a blank line; one split between chunks is counted with the next event. */
const endsEvent = (chunk: Uint8Array): boolean =>
  /\n\n|\r\n\r\n|\r\r/.test(Buffer.from(chunk).toString("latin1"));
