import type { BinaryPart } from "@octant/core";
import type { Pending } from "./pending-request.ts";

/** Small, so that the engine collects received chunks often: large ones pile up outside its heap. */
const UPLOAD_CHUNK_BYTES = 16 * 1024;

/** Sends the bytes of a request as fast as the server takes them, until it has an answer. */
export async function sendUpload(
  { read }: BinaryPart,
  { upload, answer }: Pending,
  post: (message: Pending["message"]) => void,
): Promise<void> {
  const ended = new AbortController();
  void answer.promise.then(
    () => ended.abort(),
    () => ended.abort(),
  );
  try {
    for await (const bytes of read()) {
      for (let at = 0; at < bytes.length; at += UPLOAD_CHUNK_BYTES) {
        await upload?.opened(ended.signal);
        upload?.sent();
        const body = bytes.subarray(at, at + UPLOAD_CHUNK_BYTES);
        post({ command: "request", contentType: "raw", body });
      }
    }
  } catch (cause) {
    if (ended.signal.aborted) return;
    post({ command: "disconnect" });
    answer.reject(cause);
  }
}
