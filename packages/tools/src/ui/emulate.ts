import { action } from "@octant/core";
import { type Acting, invalid, loadPlaywright, noPage, PageAnswer } from "@octant/host";
import { z } from "zod";
import { act, findProfile, orRefused, pageText, type UiOptions } from "./acting.ts";
import { PageProfile } from "./inputs.ts";

const MAX_SIDE = 10_000;
type Context = Acting["context"];

const Settings = z
  .strictObject({
    device: z.string().max(100).describe("Such as iPhone 15, Pixel 7, Desktop Chrome"),
    viewport: z.strictObject({ width: z.int().min(1).max(MAX_SIDE), height: z.int().min(1).max(MAX_SIDE) }),
    locale: z.string().max(40),
    timezone: z.string().max(60),
    geolocation: z.strictObject({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
    }),
    offline: z.boolean(),
    color_scheme: z.enum(["light", "dark", "no-preference"]),
    media: z.enum(["screen", "print"]),
    user_agent: z.string().max(500),
    permissions: z.array(z.string().max(40)).max(20),
    headers: z.record(z.string().max(100), z.string().max(4_000)),
  })
  .partial();

export const emulate = (options: UiOptions) =>
  action({
    summary: "Emulate a device, location or network; some settings reload the pages.",
    listing: "brief",
    access: "write",
    timing: "async_short",
    intent: "verify",
    input: z.strictObject({ settings: Settings, profile: PageProfile }),
    output: PageAnswer,
    errors: ["NOT_FOUND", "UPSTREAM_ERROR", "TIMEOUT", "CONFLICT"],
    examples: [
      { title: "A phone", input: { settings: { device: "iPhone 15", locale: "de-DE" } }, fails: "NOT_FOUND" },
      { title: "No network", input: { settings: { offline: true } }, fails: "NOT_FOUND" },
    ],
    async run({ settings, profile: name }, ctx) {
      const profile = findProfile(options, name, ctx);
      if (!profile.active()) throw noPage(name);
      const { device, viewport, locale, timezone, geolocation, offline, headers } = settings;
      const { color_scheme: colorScheme, media, user_agent: userAgent, permissions } = settings;
      const lasting = {
        ...(device !== undefined && (await findDevice(device))),
        ...(locale !== undefined && { locale: checkLocale(locale) }),
        ...(timezone !== undefined && { timezoneId: checkTimezone(timezone) }),
        ...(userAgent !== undefined && { userAgent }),
      };
      // A device has its own size.
      if (device !== undefined) await profile.equipPages("viewport");
      // These are fixed when a profile starts.
      if (device ?? locale ?? timezone ?? userAgent)
        await orRefused("settings", () => profile.restart(lasting, ctx.signal));
      const equip = async (key: string, isGiven: unknown, setup: (context: Context) => Promise<void>) => {
        if (isGiven === undefined) return;
        await orRefused(`settings.${key}`, () => profile.equip(`emulate ${key}`, setup));
      };
      await equip("geolocation", geolocation, async (context) => {
        await context.setGeolocation(geolocation ?? null);
        await context.grantPermissions(["geolocation"]);
      });
      await equip("permissions", permissions, (context) => context.grantPermissions(permissions ?? []));
      await equip("headers", headers, (context) => context.setExtraHTTPHeaders(headers ?? {}));
      await equip("offline", offline, (context) => context.setOffline(offline ?? false));
      const { page } = await act(options, { profile: name, timeout: EMULATE_MS }, ctx, async () => {
        if (viewport) await profile.equipPages("viewport", (shown) => shown.setViewportSize(viewport));
        if (colorScheme)
          await profile.equipPages("color_scheme", (shown) => shown.emulateMedia({ colorScheme }));
        if (media) await profile.equipPages("media", (shown) => shown.emulateMedia({ media }));
      });
      return page;
    },
    text: (data) => pageText(data),
  });

const EMULATE_MS = 15_000;

async function findDevice(name: string) {
  const { devices } = await loadPlaywright();
  const found = Object.hasOwn(devices, name) ? devices[name] : undefined;
  if (!found) {
    const [word = ""] = name.toLowerCase().split(" ");
    const alike = Object.keys(devices).filter((one) => one.toLowerCase().includes(word));
    throw invalid(
      "settings.device",
      `there is no device '${name}'; similar ones: ${(alike.length > 0 ? alike : Object.keys(devices)).slice(0, 12).join(", ")}`,
    );
  }
  const { defaultBrowserType: _browser, ...rest } = found;
  return rest;
}

function checkLocale(locale: string): string {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? locale;
  } catch {
    throw invalid("settings.locale", `'${locale}' is not a locale such as de-DE`);
  }
}

function checkTimezone(timezone: string): string {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
    return timezone;
  } catch {
    throw invalid("settings.timezone", `'${timezone}' is not a time zone such as Europe/Berlin`);
  }
}
