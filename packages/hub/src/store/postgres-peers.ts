import { randomUUID } from "node:crypto";
import type { HubAbout, PeerSignal, Peers } from "../peers/peers.ts";
import type { PostgresConnection } from "./postgres-connection.ts";

/** The payload is the text of a PeerSignal. */
const CHANNEL = "octant_hub_peers";
/** Answers that nobody fetched: the hub that asked is gone. */
const CALL_LIFE = "1 day";

/** The hubs of a database. All times are by the clock of the database: the clocks of hubs may differ. */
export function createPeers(
  { run, sql: pool }: PostgresConnection,
  hub_id: string,
  database_id: string,
): Peers {
  const tell = (signal: PeerSignal) => pool`SELECT pg_notify(${CHANNEL}, ${JSON.stringify(signal)})`;
  // `beat` is the only writer.
  const parse = (row: { readonly about?: string } | undefined) =>
    row?.about === undefined ? undefined : (JSON.parse(row.about) as HubAbout);
  return {
    hub_id,
    database_id,
    beat: (about, ms) =>
      run(async (sql) => {
        const until = sql`clock_timestamp() + ${ms} * interval '1 millisecond'`;
        await sql`
          INSERT INTO octant_hub.hubs VALUES (${hub_id}, ${JSON.stringify(about)}, ${until})
          ON CONFLICT (id) DO UPDATE SET until = excluded.until`;
      }),
    living: () =>
      run(async (sql) => {
        const rows = await sql<{ about: string }[]>`
          SELECT about FROM octant_hub.hubs WHERE until > clock_timestamp() ORDER BY id`;
        return rows.flatMap((row) => parse(row) ?? []);
      }),
    bury: (id) =>
      run(async (sql) => {
        await sql`DELETE FROM octant_hub.hubs WHERE id = ${id}`;
        await tell({ kind: "free" });
      }),
    leave: () =>
      run(async (sql) => {
        await sql`UPDATE octant_hub.claims SET hub_id = NULL WHERE hub_id = ${hub_id}`;
        await sql`DELETE FROM octant_hub.hubs WHERE id = ${hub_id}`;
        await sql`DELETE FROM octant_hub.calls WHERE made_at < clock_timestamp() - ${CALL_LIFE}::interval`;
        await tell({ kind: "free" });
      }),
    claim: (project_id) =>
      run(async (sql) => {
        const { count } = await sql`
          INSERT INTO octant_hub.claims AS held VALUES (${project_id}, ${hub_id})
          ON CONFLICT (project_id) DO UPDATE SET hub_id = excluded.hub_id
          WHERE held.hub_id IS NULL OR held.hub_id = excluded.hub_id OR NOT EXISTS (
            SELECT 1 FROM octant_hub.hubs WHERE id = held.hub_id AND until > clock_timestamp())`;
        return count > 0;
      }),
    ownerOf: (project_id) =>
      run(async (sql) => {
        const [row] = await sql<{ about: string }[]>`
          SELECT about FROM octant_hub.claims JOIN octant_hub.hubs ON hubs.id = claims.hub_id
          WHERE project_id = ${project_id} AND until > clock_timestamp()`;
        return parse(row);
      }),
    owned: () =>
      run(async (sql) =>
        (await sql`SELECT project_id FROM octant_hub.claims WHERE hub_id = ${hub_id}`).map(
          (row) => row["project_id"],
        ),
      ),
    unclaimed: () =>
      run(async (sql) => {
        const rows = await sql`
          SELECT id FROM octant_hub.records WHERE kind = 'project' AND NOT EXISTS (
            SELECT 1 FROM octant_hub.claims JOIN octant_hub.hubs ON hubs.id = claims.hub_id
            WHERE claims.project_id = records.id AND until > clock_timestamp())`;
        return rows.map((row) => row["id"]);
      }),
    send: (to, { id, text }) =>
      run(async (sql) => {
        // A lost attempt may have stored it.
        await sql`
          INSERT INTO octant_hub.calls (id, to_hub, call) VALUES (${id}, ${to}, ${text})
          ON CONFLICT (id) DO NOTHING`;
        await tell({ kind: "call", hub_id: to });
      }),
    take() {
      // By which an attempt whose answer was lost finds the calls that it took.
      const taken = randomUUID();
      return run(async (sql) => {
        const rows = await sql`
          UPDATE octant_hub.calls SET taken = ${taken}
          WHERE to_hub = ${hub_id} AND (taken IS NULL OR taken = ${taken}) RETURNING id, call`;
        return rows.map((row) => ({ id: row["id"], text: row["call"] }));
      });
    },
    answer: (id, text) =>
      run(async (sql) => {
        await sql`UPDATE octant_hub.calls SET answer = ${text} WHERE id = ${id}`;
        await tell({ kind: "answer", call_id: id });
      }),
    answerOf: (id) =>
      run(async (sql) => {
        const [row] = await sql`
          SELECT answer FROM octant_hub.calls WHERE id = ${id} AND answer IS NOT NULL`;
        return row?.["answer"];
      }),
    withdraw: (id) =>
      run(async (sql) => {
        // An attempt whose answer was lost has removed it, and cannot say any more whether it was taken.
        const [row] = await sql`DELETE FROM octant_hub.calls WHERE id = ${id} RETURNING taken, answer`;
        if (row?.["answer"] === null) await tell({ kind: "cancel", call_id: id });
        return row?.["taken"] === null;
      }),
    async watch(listener) {
      const onText = (text: string) => {
        // Only `tell` writes to this channel.
        listener(JSON.parse(text) as PeerSignal);
      };
      // The last function also runs after a lost connection: signals in between are lost.
      const { unlisten } = await pool.listen(CHANNEL, onText, () => listener(undefined));
      return { [Symbol.asyncDispose]: unlisten };
    },
  };
}
