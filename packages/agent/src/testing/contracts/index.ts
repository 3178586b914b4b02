export { type ConnectSessions, describeSessionStore } from "./session-store.ts";
export { describeToolHost, type HostUnderTest } from "./tool-host.ts";
