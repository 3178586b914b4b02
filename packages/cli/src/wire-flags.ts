import type { Flags } from "./command.ts";

/** Flags of commands that call a server of another process. */
export const viaFlags = {
  via: {
    summary: "Call another server: ipc:///…, tcp://host:port, or exec: and a command that starts it",
    value: "ADDRESS",
  },
  keys: { summary: "For --via tcp://: the key file of the server", value: "FILE" },
} as const satisfies Flags;

export const zmqFlags = {
  zmq: {
    summary: "Serve typed calls over ZeroMQ at ipc:///… or tcp://host:port",
    value: "ADDRESS",
    env: "OCTANT_ZMQ",
  },
  "zmq-keys": {
    summary: "For --zmq tcp://: the key file, made when it is missing; clients need a copy",
    value: "FILE",
    env: "OCTANT_ZMQ_KEYS",
  },
} as const satisfies Flags;
