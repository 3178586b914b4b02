/** Node sends what is meant for the internet to a port of this machine where nothing listens. */
export const OFFLINE = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://127.0.0.1:9" } as const;
