import type { Registry } from "@octant/core";
import { z } from "zod";
import { type ToolDeclaration, toDeclaration } from "./declarations.ts";
import { MAX_BODY_BYTES } from "./hoot01/frames.ts";
import { encodeMsgPack } from "./msgpack/codec.ts";

const PROTOCOL = "HOOT01";

/** A client's first message. All fields are optional. */
export const ClientReady = z.object({
  protocol: z.literal(PROTOCOL).optional(),
  accepts_binary: z.boolean().optional(),
  /** Requests the tools with their schemas, not only their names. */
  declarations: z.boolean().optional(),
});
export type ClientReady = z.output<typeof ClientReady>;

/** A server's announcement. */
export interface ServerReady {
  readonly protocol: typeof PROTOCOL;
  readonly name: string;
  readonly version: string;
  /** Identifies this run of the server; absent over NATS, where no call is sent twice. */
  readonly server_id?: string;
  readonly tools: readonly string[];
  readonly declarations?: readonly ToolDeclaration[];
  readonly instructions?: string;
  /** The URIs of the workspace. */
  readonly roots?: readonly string[];
  readonly accepts_binary: boolean;
  /** The PUB socket with job states and stream chunks. */
  readonly broadcast?: string;
  /** A client that has sent heartbeats and is silent for three times this long counts as gone. */
  readonly heartbeat_ms: number;
  readonly max_body_bytes: number;
}

export interface Announced extends Pick<ServerReady, "name" | "version" | "instructions" | "roots"> {
  readonly registry: Pick<Registry, "list" | "changes">;
}

/** Encoded announcements: making the schemas of all tools takes long, so they are made once for each set of tools. */
export function createAnnouncer(
  announced: Announced,
  more: Pick<ServerReady, "heartbeat_ms"> & Partial<ServerReady>,
) {
  const encoded = new Map<boolean, Uint8Array>();
  const stop = announced.registry.changes.listen(() => encoded.clear());
  return {
    announce({ declarations = false }: Pick<ClientReady, "declarations">): Uint8Array {
      const body = encoded.get(declarations) ?? encodeMsgPack(toReady(announced, { declarations }, more));
      encoded.set(declarations, body);
      return body;
    },
    close: stop,
  };
}

/** The announcement of a server; with schemas, instructions and roots for a client that wants `declarations`. */
function toReady(
  { name, version, instructions, registry, roots }: Announced,
  { declarations }: Pick<ClientReady, "declarations">,
  more: Pick<ServerReady, "heartbeat_ms"> & Partial<ServerReady>,
): ServerReady {
  const tools = registry.list();
  return {
    protocol: PROTOCOL,
    name,
    version,
    tools: tools.map((tool) => tool.name),
    ...(declarations && { declarations: tools.map(toDeclaration) }),
    ...(declarations && instructions !== undefined && { instructions }),
    ...(declarations && roots && { roots }),
    accepts_binary: true,
    max_body_bytes: MAX_BODY_BYTES,
    ...more,
  };
}
