/** Sends Node's internet traffic to a local port without a listener. */
export const OFFLINE = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://127.0.0.1:9" } as const;
