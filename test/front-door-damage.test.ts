import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";

const PAGE_BYTES = 4096;

test("damaged databases in the state folder fail no call: the index is rebuilt, jobs are set aside", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, { "src/greet.ts": "export function greetPeople() {}\n" });
  {
    await using server = await person.serve(root);
    await server.call("search.index", {});
    await server.call("proc.exec", { command: "true" });
  }
  const files = globSync(join(person.home, ".local/state/octant/*/{search,jobs}/*.sqlite"));
  expect(files.length).toBeGreaterThan(0);
  // The first page holds the schema, so the file still opens.
  for (const file of files) writeFileSync(file, readFileSync(file).fill(0xa5, PAGE_BYTES));

  await using server = await person.serve(root);
  const found = await server.call("search.query", { query: "greetPeople" });
  expect(found.data.hits[0]).toMatchObject({ symbol_id: "sym:src/greet.ts#greetPeople" });
  expect((await server.call("proc.exec", { command: "echo fine" })).data.stdout).toBe("fine\n");
  expect((await server.call("job.list", {})).ok).toBe(true);
});
