// The programs that the tests use and npm does not provide. `npm test` runs this file: as root on a machine with apt
// it installs the missing ones; elsewhere it lists them, and the tests that need them are skipped (with CI=true they
// fail).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

interface SystemPackage {
  /** The name on Debian and Ubuntu. */
  readonly apt: string;
  /** Succeeds when the package is installed: a program on the PATH, or a command to try. */
  readonly probe: string | readonly [string, ...string[]];
}

const program = (name: string, apt = name): SystemPackage => ({ apt, probe: name });
const library = (apt: string): SystemPackage => ({ apt, probe: ["dpkg", "-s", apt] });
const pythonModule = (module: string, apt: string): SystemPackage => ({
  apt,
  probe: ["/usr/bin/python3", "-c", `import ${module}`],
});

/** One row per package; add yours here. Tests ask for a row by its apt name with `lacks()`. */
const SYSTEM_PACKAGES: readonly SystemPackage[] = [
  program("git"),
  program("mkfifo", "coreutils"),
  program("setpriv", "util-linux"),
  // Installed is not enough: it needs root, or user namespaces that this machine allows.
  { apt: "bubblewrap", probe: ["bwrap", "--unshare-pid", "--ro-bind", "/", "/", "true"] },
  // Containers of the hub; with runc Podman also runs where control groups are of version 1.
  program("podman"),
  program("runc"),
  // The programs of an image that no registry provides.
  program("busybox", "busybox-static"),
  // Shells whose completion scripts are tested.
  program("fish"),
  program("zsh"),
  // The oracle for the vim input mode.
  program("/usr/bin/vim", "vim"),
  // A keyring, and a bus to reach it.
  program("secret-tool", "libsecret-tools"),
  program("gnome-keyring-daemon", "gnome-keyring"),
  program("dbus-run-session", "dbus"),
  // A browser, and a desktop for the screen backend.
  program("chromium"),
  // The same engine without windows takes a third of the processor time. Elsewhere the page of the console has Chromium.
  program("chromium-headless-shell"),
  program("Xvfb", "xvfb"),
  program("openbox"),
  program("xterm"),
  program("xdotool"),
  program("maim"),
  program("scrot"),
  program("ffmpeg"),
  program("import", "imagemagick"),
  program("xev", "x11-utils"),
  // Languages, their test runners and language servers.
  program("gcc"),
  program("clangd"),
  program("go", "golang-go"),
  program("gopls"),
  // On the PATH is not enough: rustup's needs a toolchain in the home.
  { apt: "cargo", probe: ["cargo", "--version"] },
  // Crates that are built without a network.
  library("librust-serde-json-dev"),
  library("librust-sha2-dev"),
  program("/usr/bin/python3", "python3"),
  pythonModule("pytest", "python3-pytest"),
  // The other end of the wire.
  pythonModule("zmq", "python3-zmq"),
  pythonModule("msgpack", "python3-msgpack"),
  program("nats-server"),
  // A soundfont that others made, for the music pack.
  library("timgm6mb-soundfont"),
  // The state that several hubs share.
  { apt: "postgresql", probe: ["sh", "-c", "ls /usr/lib/postgresql/*/bin/initdb"] },
  // Maven runs offline, with the plugins packaged by Debian.
  program("mvn", "maven"),
  library("libsurefire-java"),
  library("junit4"),
  library("libmaven-compiler-plugin-java"),
  library("libmaven-resources-plugin-java"),
];

/** The apt names of the packages missing on this machine. */
export const missingPackages = (): string[] =>
  SYSTEM_PACKAGES.filter(({ probe }) => !succeeds(probe)).map(({ apt }) => apt);

function succeeds(probe: SystemPackage["probe"]): boolean {
  const [command, ...args] = typeof probe === "string" ? ["/bin/sh", "-c", 'command -v "$0"', probe] : probe;
  return spawnSync(command as string, args, { stdio: "ignore" }).status === 0;
}

/** Heavy packages that only CI installs; elsewhere their tests are skipped. */
const CI_PACKAGES = join(ROOT, "node_modules/.cache/ci-packages");
/** A second ACP client that others wrote: 48 MB. */
export const ACPX = join(CI_PACKAGES, "acpx");
const ACPX_PACKAGE = "acpx@0.19.1";
/** The optional engines of packages/search, linked into node_modules, where the product looks for them. */
const ENGINES = ["@lancedb/lancedb", "onnxruntime-node"];

const linkOf = (engine: string): string => join(ROOT, "node_modules", engine);
export const missingEngines = (): string[] => ENGINES.filter((engine) => !existsSync(linkOf(engine)));

function installCiPackages(): void {
  // With --prefix: otherwise npm finds the repository's package.json and installs there.
  if (!existsSync(join(ACPX, "node_modules/acpx"))) npm("install", "--prefix", ACPX, ACPX_PACKAGE);
  const missing = missingEngines();
  if (missing.length === 0) return;
  const folder = join(CI_PACKAGES, "engines");
  cpSync(join(ROOT, "test/engines"), folder, { recursive: true });
  npm("ci", "--prefix", folder);
  for (const engine of missing) {
    mkdirSync(dirname(linkOf(engine)), { recursive: true });
    // In a checkout that was moved, the link leads nowhere.
    rmSync(linkOf(engine), { force: true });
    symlinkSync(join(folder, "node_modules", engine), linkOf(engine), "dir");
  }
}

function npm(...args: string[]): void {
  const all = [...args, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", all, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) console.error(`npm ${args.join(" ")} failed; the tests that need it fail`);
}

function main(): void {
  if (process.env["CI"] === "true") installCiPackages();
  const missing = missingPackages();
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !succeeds("apt-get")) {
    console.error(`Missing system packages (their tests are skipped): ${missing.join(" ")}`);
    return;
  }
  console.error(`Installing system packages for the tests (once): ${missing.join(" ")} …`);
  apt("update", "-qq");
  // One unknown name would make apt refuse them all.
  if (!install(missing)) for (const name of missing) install([name]);
  const left = missingPackages();
  if (left.length > 0) console.error(`Not installed (their tests are skipped): ${left.join(" ")}`);
}

const install = (names: readonly string[]) =>
  apt("install", "-y", "-qq", "--no-install-recommends", ...names);

const apt = (...args: string[]): boolean =>
  spawnSync("apt-get", args, {
    // apt's own output is long; failures are listed afterwards.
    stdio: ["ignore", "ignore", "ignore"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  }).status === 0;

if (import.meta.main) main();
