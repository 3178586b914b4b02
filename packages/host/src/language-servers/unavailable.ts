/** A server that cannot answer now: it died, hangs, or has died too often. Another backend may answer instead. */
export class ServerUnavailable extends Error {
  override readonly name = "ServerUnavailable";
}

/** A server that runs and has not answered in time. */
export class ServerSilent extends ServerUnavailable {}

/** A server that has answered with an error: it does not understand the place, or will not do it. */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused";
}
