export interface BrowserArguments {
  readonly headless: boolean;
  /** The only network access. */
  readonly proxy: string;
  readonly profile: string;
  /** Chromium's own sandbox around each page; impossible as root and inside another sandbox. */
  readonly ownSandbox: boolean;
}

/** A quiet browser with an empty profile and no network except through the proxy. */
export const toBrowserArguments = ({ headless, proxy, profile, ownSandbox }: BrowserArguments): string[] => [
  "--remote-debugging-pipe",
  "--no-startup-window",
  `--user-data-dir=${profile}`,
  ...(headless ? ["--headless", "--hide-scrollbars", "--mute-audio", MOUSE] : []),
  ...(ownSandbox ? [] : ["--no-sandbox"]),
  ...NETWORK,
  `--proxy-server=${proxy}`,
  ...QUIET,
  ...STEADY,
  "--disable-dev-shm-usage",
];

/** A desktop with a mouse, even without one. */
const MOUSE =
  "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";

/** Everything goes through the proxy: loopback too, no UDP, no local name resolution. */
const NETWORK = [
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Its name in older browsers.
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/** Disables the background activity of a personal browser. */
const QUIET = [
  "--no-first-run",
  "--no-default-browser-check",
  "--no-service-autorun",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-extensions-with-background-pages",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-field-trial-config",
  "--disable-infobars",
  "--disable-search-engine-choice-screen",
  "--disable-sync",
  "--metrics-recording-only",
  "--password-store=basic",
  "--use-mock-keychain",
  `--disable-features=${[
    ...["Translate", "MediaRouter", "OptimizationHints", "AutofillServerCommunication", "LensOverlay"],
    ...["CertificateTransparencyComponentUpdater", "GlobalMediaControls", "DestroyProfileOnBrowserClose"],
    ...["NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
    // Pages are loaded on request, and shown as soon as they are ready, as Playwright expects.
    ...["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "ThirdPartyStoragePartitioning", "PaintHolding"],
    ...["AvoidUnnecessaryBeforeUnloadCheckSync", "AvoidCorsURLLoaderRestartOnRedirect"],
  ]}`,
  "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies",
];

/** The same behaviour on every machine, without throttling in the background. */
const STEADY = [
  "--enable-automation",
  "--force-color-profile=srgb",
  "--disable-back-forward-cache",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-hang-monitor",
  "--disable-ipc-flooding-protection",
  "--disable-popup-blocking",
  "--disable-prompt-on-repost",
  "--disable-renderer-backgrounding",
  "--allow-pre-commit-input",
  "--enable-unsafe-swiftshader",
  "--export-tagged-pdf",
  "--unsafely-disable-devtools-self-xss-warnings",
];
