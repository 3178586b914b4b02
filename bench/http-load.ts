import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";

/** Clients that keep their connections and send one request after another. */
export interface HttpLoad extends Disposable {
  /** Sends `count` requests in total and resolves with the answers per second. */
  rate(count: number): Promise<number>;
  /** The body of one answer. */
  once(): Promise<string>;
}

export interface HttpCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Node's own client, which most clients are based on; one connection each. */
export function openLoad(width: number, call: HttpCall): HttpLoad {
  const agents = Array.from({ length: width }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  return {
    async rate(count) {
      let left = count;
      const start = performance.now();
      const work = async (agent: Agent) => {
        while (left-- > 0) check(await exchange(agent, call));
      };
      await Promise.all(agents.map(work));
      return count / ((performance.now() - start) / 1000);
    },
    once: () => exchange(agents[0], call),
    [Symbol.dispose]() {
      for (const agent of agents) agent.destroy();
    },
  };
}

function check(body: string): void {
  if (body.includes('"isError":true') || body.includes('"error":{')) throw new Error(`failed: ${body}`);
}

function exchange(agent: Agent | undefined, { url, headers, body }: HttpCall): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const length = Buffer.byteLength(body);
  const sent = request(url, { method: "POST", agent, headers: { ...headers, "content-length": length } });
  sent.on("error", reject);
  sent.on("response", (response) => {
    if (response.statusCode === 200) text(response).then(resolve, reject);
    else reject(new Error(`HTTP ${response.statusCode}`));
  });
  sent.end(body);
  return promise;
}
