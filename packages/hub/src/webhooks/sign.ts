import { createHmac, randomBytes } from "node:crypto";

const SECRET_BYTES = 32;
/** The prefix lets people and secret scanners recognise it. */
const PREFIX = "whsec_";

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString("base64");

/** The headers of the Standard Webhooks specification, which many languages have libraries for. */
export function signedHeaders(
  secret: string,
  { event_id, body }: { readonly event_id: string; readonly body: string },
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${event_id}.${timestamp}.${body}`).digest("base64");
  return {
    "content-type": "application/json",
    "webhook-id": event_id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
