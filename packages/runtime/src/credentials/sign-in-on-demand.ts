import type { BrowserOptions, DeviceOptions } from "./sign-in.ts";
import type { OAuthCredential } from "./store.ts";

// The library is loaded on the first sign-in.

export const signInWithBrowser = async (options: BrowserOptions): Promise<OAuthCredential> =>
  (await import("./sign-in.ts")).signInWithBrowser(options);

export const signInWithDevice = async (options: DeviceOptions): Promise<OAuthCredential> =>
  (await import("./sign-in.ts")).signInWithDevice(options);
