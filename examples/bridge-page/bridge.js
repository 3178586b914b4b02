// A client of `octant bridge` for pages: JSON-RPC over one stream that survives lost connections.

const PROTOCOL = "octant.bridge.v1";
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;
/** The stream, or frames of it, are gone: requests must be repeated. */
const GONE = 4410;

/**
 * `url` is that of an endpoint, such as wss://octant.example/bridge/agent. `getToken` returns a valid JWT.
 * `onRequest` answers requests from the server, such as for an approval.
 */
export function openBridge({ url, getToken, onNotification = () => {}, onRequest, onState = () => {} }) {
  const waiting = new Map();
  const unsent = [];
  let socket;
  let stream;
  let frames = 0;
  let nextId = 1;
  let retryMs = FIRST_RETRY_MS;
  let isClosed = false;

  const send = (message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    if (socket?.readyState === WebSocket.OPEN && stream) socket.send(text);
    else unsent.push(text);
  };
  const receive = async (message) => {
    if (message.method === "bridge/ready") {
      stream = message.params.stream;
      retryMs = FIRST_RETRY_MS;
      onState("connected");
      for (const text of unsent.splice(0)) socket.send(text);
      return;
    }
    // Counted, so that a new connection continues after the last received frame.
    frames += 1;
    if (message.method === undefined) {
      const { resolve, reject } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) reject?.(new Error(message.error.message));
      else resolve?.(message.result);
    } else if (message.id === undefined) onNotification(message.method, message.params);
    else send({ id: message.id, result: await onRequest(message.method, message.params) });
  };
  const connect = async () => {
    const place = stream ? `${url}?stream=${stream}&after=${frames}` : url;
    socket = new WebSocket(place, [PROTOCOL, `bearer.${await getToken()}`]);
    socket.onmessage = ({ data }) => receive(JSON.parse(data));
    socket.onclose = ({ code }) => {
      if (isClosed) return onState("closed");
      if (code === GONE) {
        stream = undefined;
        frames = 0;
        for (const { reject } of waiting.values()) reject(new Error("the stream is gone"));
        waiting.clear();
      }
      onState("reconnecting");
      setTimeout(connect, retryMs);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    };
  };
  connect();

  return {
    request(method, params) {
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
    notify: (method, params) => send({ method, params }),
    /** Simulates a network failure. */
    drop: () => socket.close(),
    close() {
      isClosed = true;
      socket.close();
    },
  };
}
