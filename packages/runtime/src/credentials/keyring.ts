import { findTrusted, printedBy, type TrustedProgram } from "@octant/host";

/** The system's store of secrets. Secrets go in and out by stdin and stdout: others can read the arguments of programs. */
export interface Keyring {
  /** For people, such as "the keyring (secret-tool)". */
  readonly title: string;
  /** undefined when there is no such entry, or the keyring cannot be opened. */
  get(name: string): string | undefined;
  /** Says whether it was stored. */
  set(name: string, secret: string): boolean;
  remove(name: string): void;
}

const SERVICE = "octant";
/** A locked keyring may ask the person first. */
const GIVE_UP_MS = 30_000;
const PLAIN = /^[A-Za-z0-9._:@-]+$/;

/** The keyring of this machine and session; undefined where there is none, or `OCTANT_KEYRING=off`. */
export function findKeyring(env: NodeJS.ProcessEnv): Keyring | undefined {
  if (env["OCTANT_KEYRING"] === "off") return undefined;
  if (process.platform === "darwin") return toKeychain(findTrusted("security"), env);
  if (process.platform === "linux" && env["DBUS_SESSION_BUS_ADDRESS"])
    return toSecretService(findTrusted("secret-tool"), env);
  return undefined;
}

/** The Secret Service of Linux desktops, by libsecret's secret-tool. */
function toSecretService(program: TrustedProgram | undefined, env: NodeJS.ProcessEnv): Keyring | undefined {
  if (!program) return undefined;
  const run = (args: readonly string[], input = "") =>
    printedBy(program, args, { input, env, timeoutMs: GIVE_UP_MS });
  const entry = (name: string) => ["service", SERVICE, "account", name];
  return {
    title: "the system's keyring (secret-tool)",
    get: (name) => run(["lookup", ...entry(name)]) || undefined,
    set: (name, secret) => run(["store", `--label=Octant: ${name}`, ...entry(name)], secret) !== undefined,
    remove: (name) => void run(["clear", ...entry(name)]),
  };
}

/** The keychain of macOS. Commands are read from stdin, and the secret is written as hexadecimal digits in them. */
function toKeychain(program: TrustedProgram | undefined, env: NodeJS.ProcessEnv): Keyring | undefined {
  if (!program) return undefined;
  const run = (args: readonly string[], input = "") =>
    printedBy(program, args, { input, env, timeoutMs: GIVE_UP_MS });
  return {
    title: "the keychain",
    get: (name) => run(["find-generic-password", "-s", SERVICE, "-a", name, "-w"])?.replace(/\n$/, ""),
    set(name, secret) {
      if (!PLAIN.test(name)) return false;
      const digits = Buffer.from(secret).toString("hex");
      const command = `add-generic-password -U -s ${SERVICE} -a ${name} -X ${digits}\n`;
      // In this mode a failed command does not change the exit code.
      return run(["-i"], command) !== undefined && this.get(name) === secret;
    },
    remove: (name) => void run(["delete-generic-password", "-s", SERVICE, "-a", name]),
  };
}
