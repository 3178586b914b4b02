export { type ConnectSessions, describeSessionStore } from "./session-store.ts";
