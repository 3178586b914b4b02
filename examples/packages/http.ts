import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpServer, createTokenStore } from "@octant/http";

const tokens = createTokenStore({ folder: mkdtempSync(join(tmpdir(), "octant-tokens-")) });
const server = await createHttpServer({ tokens, resourcePath: "/hello", log: console.error });
server.mount("/hello", (_, response, caller) => response.end(`access: ${caller.access}\n`));
await server.listen();
const { token } = tokens.create({ scopes: ["admin:ro"], name: "example" });
console.log((await fetch(server.url)).status);
console.log(await (await fetch(server.url, { headers: { authorization: `Bearer ${token}` } })).text());
await server.close();
