import { createAuditLog } from "../../src/audit/audit-log.ts";
import { toAuditKey } from "../../src/audit/seal.ts";
import { entry } from "./entry.ts";

/** Writes as fast as it can until it is killed, printing each number that is on disk. */
const [folder = "", secret = "", keepBytes] = process.argv.slice(2);
const log = createAuditLog({
  folder,
  key: toAuditKey(Buffer.from(secret, "hex")),
  warn: (message) => process.stderr.write(message),
  ...(keepBytes !== undefined && { keepBytes: Number(keepBytes) }),
});
for (let i = 0; ; i++) {
  const place = log.append(entry(i));
  if (i % 20 === 0) process.stdout.write(`${place}\n`);
}
