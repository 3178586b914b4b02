export { frameStream } from "./frame-stream.ts";
export { lineStream, serveAcp } from "./serve.ts";
