import { encodeFrames, encodeMsgPack, parseMsgPack } from "@octant/wire";

const body = encodeMsgPack({ tool: "fs", action: "read", input: { uri: "README.md" } });
console.log(parseMsgPack(body));
console.log(encodeFrames({ command: "heartbeat" }).length, "frames");
