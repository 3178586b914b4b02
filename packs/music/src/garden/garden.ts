import { createCursors, createDispatcher, createJobEvents, createRegistry, ToolError } from "@octant/core";
import { serveZmq } from "@octant/wire";
import { gardenCommands } from "./commands.ts";
import { openSink } from "./output.ts";
import { createQueue } from "./queue.ts";
import { openRegions } from "./store.ts";
import { createTransport } from "./transport.ts";

const TICK_MS = 5;
const IDLE_MS = 5 * 60_000;
const CALLER = { id: "garden", access: "admin" } as const;

/**
 * A process that plays regions. It prints "ready" when it listens, and ends by itself when nothing plays and nobody
 * asked for a while.
 */
export async function runGarden(folder: string, address: string): Promise<void> {
  try {
    await serve(folder, address);
  } catch (cause) {
    // Another process was faster: both use that one.
    if (cause instanceof ToolError && cause.code === "ALREADY_EXISTS") process.exit(0);
    console.error(cause);
    process.exit(1);
  }
}

async function serve(folder: string, address: string): Promise<void> {
  const events = createJobEvents();
  const store = openRegions(folder);
  const transport = createTransport({
    store,
    now: () => performance.now(),
    openSink: (output, play_id) => openSink(output, folder, play_id, process.env),
    events,
    owner: CALLER.id,
  });
  let heardAt = performance.now();
  let idleMs = IDLE_MS;
  const rest = () => {
    idleMs = 0;
  };
  const registry = createRegistry([gardenCommands({ store, transport, queue: createQueue(), rest })]);
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => console.error(cause),
  });
  const server = await serveZmq({
    address,
    registry,
    caller: CALLER,
    name: "garden",
    version: "1",
    log: (line) => console.error(line),
    jobs: { events, result: () => undefined },
    dispatch(call, options) {
      heardAt = performance.now();
      if (call.action !== "rest") idleMs = IDLE_MS;
      return dispatch(call, options);
    },
  });
  const timer = setInterval(() => {
    transport.tick();
    if (!transport.isPlaying && performance.now() - heardAt > idleMs) void end();
  }, TICK_MS);
  const end = async () => {
    clearInterval(timer);
    transport.pause();
    await server.close();
    store.close();
    process.exit(0);
  };
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
  console.log("ready");
}
