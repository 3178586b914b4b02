import type { Stats } from "node:fs";
import { once } from "../permissions/facts.ts";
import { type Config, FOREIGN_TIERS, type ProjectTierName, type WaitingForTrust } from "./config.ts";
import { fieldsOf } from "./dictionary.ts";
import { environmentSettings } from "./environment.ts";
import { readForeign, withVariables } from "./foreign-settings.ts";
import { type LoadedTier, mergeTiers } from "./merge.ts";
import { type ParsedSettings, parseSettings } from "./parse-settings.ts";
import {
  isInside,
  type Person,
  PROJECT_TIERS,
  type ProjectFile,
  projectFile,
  realPlace,
  type UserFolder,
  userFile,
  userFolder,
} from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import { type Settings, settingsSchema } from "./schema.ts";
import { refusedFile, SettingsError, type SettingsFile } from "./settings-error.ts";
import { isRemembered, isWritableByOthers, loadTrust, type TrustStore } from "./trust.ts";
import { trustPartsOf } from "./trust-parts.ts";

export interface LoadOptions extends Person {
  /** The folders of the workspace; relative paths in the user's settings start at the first. */
  readonly roots: readonly string[];
}

/** Reads the settings of all tiers. Nothing is run or sent; a file that is broken is a SettingsError. */
export function loadConfig({ roots, ...person }: LoadOptions): Config {
  const user = userFolder(person);
  const real = [...new Set(roots.map(realPlace))];
  const schemaOf = once(settingsSchema);
  const { own, warnings: ownWarnings } = readOwn(userFile(user), schemaOf);
  const projects = PROJECT_TIERS.flatMap((tier) => real.map((root) => projectFile(root, tier))).flatMap(
    (file) =>
      (isForeign(file.tier) ? readOther(file, file.tier, schemaOf) : readParsed(file, schemaOf)) ?? [],
  );
  for (const one of projects) if (!isForeign(one.file.tier)) checkRules(one);

  const trust = projects.length > 0 ? loadTrust(user) : NO_TRUST;
  if (own || trust.trusted.length > 0) refuseFolderOfProject(user, real);
  const judged = projects.map((one) => judge(one, trust, own?.settings, person.env));
  const tiers: LoadedTier[] = [
    ...(own ? [{ tier: "user", trusted: true, root: real[0] ?? "/", ...toTier(own) } as const] : []),
    ...judged.map(({ tier }) => tier),
    environmentTier(person.env),
  ];
  const merged = mergeTiers(tiers, real);
  const unknown = [...(own ? [own] : []), ...projects].flatMap(unknownWarnings);
  const waiting = judged.flatMap((one) => one.waiting ?? []);
  const warnings = [
    ...ownWarnings,
    ...unknown,
    ...projects.flatMap(({ file, warnings = [] }) => warnings.map((text) => `${file.shown}: ${text}`)),
    ...judged.flatMap(({ tier, warnings = [] }) => warnings.map((text) => `${tier.shown}: ${text}`)),
    ...trust.warnings,
    ...merged.warnings,
    ...waiting.map(toWarning),
  ];
  return { ...merged, warnings, waiting };
}

const unknownWarnings = ({ file, unknown }: ReadSettings<SettingsFile>): string[] =>
  unknown.map(
    ({ key, line }) => `${file.shown}:${line}: ${key} is ignored: this version of Octant does not know it`,
  );

/** The rules of a project are compared with every file of it, trusted or not. */
const MAX_PROJECT_RULES_CHARS = 8_000;

function checkRules({ file, settings }: ReadSettings<SettingsFile>): void {
  if (!hasManyRules(settings)) return;
  const message = `the permissions of a project have at most ${MAX_PROJECT_RULES_CHARS} characters; name folders instead of files, or move them to your own settings`;
  throw refusedFile(file, message);
}

const hasManyRules = ({ permissions = [] }: Settings): boolean =>
  JSON.stringify(permissions).length > MAX_PROJECT_RULES_CHARS;

const NO_TRUST: TrustStore = { trusted: [], warnings: [] };

interface ReadSettings<F extends SettingsFile> extends ParsedSettings {
  readonly file: F;
  readonly stat: Stats;
  readonly warnings?: readonly string[];
}

const isForeign = (tier: ProjectTierName): tier is (typeof FOREIGN_TIERS)[number] =>
  FOREIGN_TIERS.some((one) => one === tier);

/** A file of another agent. One that cannot be read safely counts as missing: none of our limits are in it. */
function readOther(
  file: ProjectFile,
  tier: (typeof FOREIGN_TIERS)[number],
  schemaOf: () => ReturnType<typeof settingsSchema>,
): ReadSettings<ProjectFile> | undefined {
  try {
    const found = readSettingsFile(file);
    if (!found) return undefined;
    const read = { ...readForeign(tier, found.text, schemaOf()), unknown: [], file, stat: found.stat };
    if (!hasManyRules(read.settings)) return read;
    const { permissions: _, ...settings } = read.settings;
    const tooMany = `its permissions are ignored: they have more than ${MAX_PROJECT_RULES_CHARS} characters`;
    return { ...read, settings, warnings: [...read.warnings, tooMany] };
  } catch (cause) {
    if (cause instanceof SettingsError) return undefined;
    throw cause;
  }
}

function readParsed<F extends SettingsFile>(
  file: F,
  schemaOf: () => ReturnType<typeof settingsSchema>,
): ReadSettings<F> | undefined {
  const found = readSettingsFile(file);
  return found && { ...parseSettings(found.text, file, schemaOf()), file, stat: found.stat };
}

function readOwn(
  file: SettingsFile,
  schemaOf: () => ReturnType<typeof settingsSchema>,
): { readonly own?: ReadSettings<SettingsFile>; readonly warnings: readonly string[] } {
  try {
    const own = readParsed(file, schemaOf);
    return own ? { own, warnings: modeWarnings(own) } : { warnings: [] };
  } catch (cause) {
    if (!isOutOfReach(cause)) throw cause;
    return {
      warnings: [
        `${file.shown}: the operating system does not let Octant look there; no settings of yours count`,
      ],
    };
  }
}

/** The whole folder is closed to us: a service that runs with another one's home. */
const isOutOfReach = (cause: unknown): boolean => {
  const { code, syscall } = cause instanceof SettingsError ? fieldsOf(cause.cause) : {};
  return code === "EACCES" && syscall === "stat";
};

/** A variable must not be able to declare files of the project to be the person's own. */
function refuseFolderOfProject(user: UserFolder, roots: readonly string[]): void {
  const [path, home] = [realPlace(user.path), realPlace(user.home)];
  const root = roots.find((one) => isInside(one, path) && !isInside(one, home));
  if (root !== undefined)
    throw refusedFile(
      userFile(user),
      "expected your own settings outside the workspace; XDG_CONFIG_HOME leads into it",
    );
}

/** Checks whether the person has trusted the file's content. */
function judge(
  read: ReadSettings<ProjectFile>,
  { trusted }: TrustStore,
  own: Settings = {},
  env: NodeJS.ProcessEnv = {},
): {
  readonly tier: LoadedTier;
  readonly waiting?: WaitingForTrust;
  readonly warnings?: readonly string[];
} {
  const { tier, root: folder } = read.file;
  const { parts, hash } = trustPartsOf(read.settings, folder, tier);
  const isTrusted = parts.length === 0 || isRemembered(trusted, { folder, tier, hash });
  const loaded: LoadedTier = { tier, trusted: isTrusted, root: folder, ...toTier(read) };
  if (isTrusted && tier === "mcp") {
    const { settings, warnings } = withVariables(read.settings, env);
    return { tier: { ...loaded, settings }, warnings };
  }
  if (isTrusted) return { tier: loaded };
  const shownParts = parts.map(({ path, shown }) => ({
    key: path.join("."),
    line: read.lineOf(...path),
    shown: replacesOwn(path, own) ? `${shown} (instead of the one in your own settings)` : shown,
  }));
  return { tier: loaded, waiting: { tier, folder, file: read.file.path, hash, parts: shownParts } };
}

function replacesOwn([key, name]: readonly (string | number)[], own: Settings): boolean {
  const map =
    key === "mcp_servers" || key === "env" || key === "language_servers" || key === "packs"
      ? own[key]
      : undefined;
  return map !== undefined && Object.hasOwn(map, String(name));
}

const toTier = ({ file, settings, lineOf }: ReadSettings<SettingsFile>) => ({
  file: file.path,
  shown: file.shown,
  settings,
  lineOf,
});

const environmentTier = (env: NodeJS.ProcessEnv): LoadedTier => ({
  tier: "environment",
  file: null,
  shown: "environment",
  settings: environmentSettings(env),
  trusted: true,
  root: "/",
  lineOf: () => null,
});

function modeWarnings({ file, stat, settings }: ReadSettings<SettingsFile>): string[] {
  if (process.getuid === undefined) return [];
  const hasSecret = settings.api_key !== undefined || settings.oauth_credentials !== undefined;
  return [
    ...(hasSecret && stat.mode & OTHERS_CAN_READ
      ? [`${file.shown}: other users can read this file, and it contains a secret; run chmod 600 on it`]
      : []),
    ...(isWritableByOthers(stat)
      ? [`${file.shown}: other users can write to this file; run chmod go-w on it`]
      : []),
  ];
}

const OTHERS_CAN_READ = 0o044;

function toWarning({ tier, parts }: WaitingForTrust): string {
  const keys = [...new Set(parts.map(({ key }) => key.split(".")[0]))];
  return `${projectFile("", tier).shown}: ${keys.join(", ")} has no effect until you trust it; octant trust shows it in full`;
}
