import { words } from "../words.ts";

/**
 * User, paths, locale, where toolchains live and which certificates to trust: none of these grants access to anything.
 * Listed by name: a prefix match would also pass LC_PASSWORD.
 */
const ALLOWED = new Set(
  words(`
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP CI
    DISPLAY WAYLAND_DISPLAY COLORTERM NO_COLOR FORCE_COLOR UV_NATIVE_TLS UV_SYSTEM_CERTS NODE_USE_SYSTEM_CA DENO_TLS_CA_STORE
    LC_ALL LC_CTYPE LC_MESSAGES LC_COLLATE LC_NUMERIC LC_TIME LC_MONETARY LC_PAPER
    LC_NAME LC_ADDRESS LC_TELEPHONE LC_MEASUREMENT LC_IDENTIFICATION
    XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_DIRS XDG_DATA_DIRS
    JAVA_HOME GOPATH GOROOT GOBIN GOCACHE GOMODCACHE CARGO_HOME RUSTUP_HOME
    NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR PNPM_HOME BUN_INSTALL DENO_DIR COREPACK_HOME
    PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX UV_CACHE_DIR PIP_CACHE_DIR GEM_HOME RBENV_ROOT
    DOTNET_ROOT ANDROID_HOME ANDROID_SDK_ROOT GRADLE_USER_HOME MAVEN_HOME SDKMAN_DIR
  `),
);
/** Files and folders of certificates to trust. */
export const CERTIFICATES: readonly string[] = words(`
  SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT
  NODE_EXTRA_CA_CERTS NPM_CONFIG_CAFILE npm_config_cafile YARN_HTTPS_CA_FILE_PATH DENO_CERT GIT_SSL_CAINFO
  GIT_SSL_CAPATH CARGO_HTTP_CAINFO AWS_CA_BUNDLE BUNDLE_SSL_CA_CERT HEX_CACERTS_PATH
  GRPC_DEFAULT_SSL_ROOTS_FILE_PATH CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE
`);
const PROXIES = new Set(["http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"]);

/** The variables of the server that a child may inherit. Computed once: reading process.env takes 0.1 ms. */
export const passedEnvironment = (env: NodeJS.ProcessEnv): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && mayPass(entry[0], entry[1]),
    ),
  );

function mayPass(name: string, value: string): boolean {
  if (ALLOWED.has(name) || CERTIFICATES.includes(name)) return true;
  // A proxy's address may hold a password.
  return PROXIES.has(name.toLowerCase()) && !value.includes("@");
}
