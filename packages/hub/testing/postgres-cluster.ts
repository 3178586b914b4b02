import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VERSIONS = "/usr/lib/postgresql";
const USER = "octant";
/** Of Debian's `nobody` and `nogroup`: PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"];
/** No test survives the machine's power; the hub itself asks for synchronous commits. */
const FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off";

export interface PostgresClusterOptions {
  /** It also listens on this port, with TLS. */
  readonly tlsPort?: number;
  /** Waits for the disk, as a server at work does. */
  readonly isDurable?: boolean;
}

/** A PostgreSQL server of its own in a temporary folder, reached through a Unix socket. */
export function startPostgres({ tlsPort, isDurable = false }: PostgresClusterOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "octant-pg-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const version = readdirSync(VERSIONS).toSorted((a, b) => Number(b) - Number(a))[0] ?? "";
  const run = (program: string, ...args: readonly string[]) => {
    const argv = [...(isRoot ? AS_NOBODY : []), join(VERSIONS, version, "bin", program), ...args];
    // The server would keep pipes open, for whose end this waits.
    execFileSync(argv[0] ?? "", argv.slice(1), { cwd: folder, stdio: "ignore" });
  };
  const data = join(folder, "data");
  const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
  if (tlsPort !== undefined) {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", key, "-out", cert];
    execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files], {
      stdio: "ignore",
    });
    if (isRoot) chownSync(key, NOBODY, NOBODY);
  }
  const start = () => {
    const network =
      tlsPort === undefined
        ? "-c listen_addresses="
        : `-c listen_addresses=127.0.0.1 -p ${tlsPort} -c ssl=on -c ssl_cert_file=${cert} -c ssl_key_file=${key}`;
    const options = `${network} -c unix_socket_directories=${folder} ${isDurable ? "" : FAST}`;
    run("pg_ctl", "-D", data, "-w", "-l", join(folder, "log"), "-o", options, "start");
  };
  const stop = () => run("pg_ctl", "-D", data, "-m", "immediate", "stop");
  run("initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync");
  start();
  let databases = 0;
  return {
    /** The certificate that the server shows, for `localhost`. */
    cert,
    /** The URL of a new, empty database. */
    createDatabase(): string {
      const name = `test${++databases}`;
      run("createdb", "-h", folder, "-U", USER, ...(tlsPort === undefined ? [] : ["-p", `${tlsPort}`]), name);
      return tlsPort === undefined
        ? `postgres://${USER}@localhost/${name}?host=${encodeURIComponent(folder)}`
        : `postgres://${USER}@localhost:${tlsPort}/${name}`;
    },
    start,
    /** As a crash of the server does it. */
    stop,
    [Symbol.dispose]() {
      stop();
      rmSync(folder, { recursive: true });
    },
  };
}
