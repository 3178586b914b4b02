import { serveStdio } from "../src/stdio.ts";
import { createDemo } from "./demo.ts";

const { closed } = serveStdio({ ...createDemo().options, input: process.stdin, output: process.stdout });
await closed;
