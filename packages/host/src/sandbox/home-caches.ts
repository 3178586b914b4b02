/** Package caches in the home: writable, and shared with the person's own programs. */
export const CACHES: readonly string[] = [
  ".cache",
  ...[".npm", ".pnpm-store", ".yarn/berry", ".bun/install/cache", ".node-gyp", ".electron", ".electron-gyp"],
  ...[".local/share/pnpm/store", ".local/share/uv", ".local/share/virtualenv", ".local/share/virtualenvs"],
  ...[
    ".cargo/registry",
    ".cargo/git",
    "go/pkg",
    ".m2/repository",
    ".ivy2/cache",
    ".sbt/boot",
    ".coursier/cache",
  ],
  ...[
    ".gradle/caches",
    ".gradle/wrapper",
    ".gradle/daemon",
    ".gradle/native",
    ".gradle/jdks",
    ".gradle/notifications",
  ],
  ...[".nuget/packages", ".gem/ruby", ".bundle/cache", ".pub-cache/hosted", ".pub-cache/git", ".dartServer"],
  ...[".composer/cache", ".hex/packages", ".mix/archives"],
  ...[".cabal/packages", ".stack", ".opam/download-cache", ".julia", ".conan", ".conan2", ".vcpkg", ".konan"],
  ...[".conda/pkgs", ".swiftpm/cache", ".cpan", ".luarocks", ".nimble", ".dub"],
  ...[".pre-commit", ".keras", ".torch", ".nltk_data", ".ccache", ".sccache", ".android/cache"],
];

/** Variables that relocate a cache, and the part of the folder that is one. */
export const CACHE_VARIABLES: readonly (readonly [name: string, part: string])[] = [
  ["XDG_CACHE_HOME", ""],
  ["GOCACHE", ""],
  ["GOMODCACHE", ""],
  ["GOPATH", "pkg"],
  ["CARGO_HOME", "registry"],
  ["CARGO_HOME", "git"],
  ["UV_CACHE_DIR", ""],
  ["PIP_CACHE_DIR", ""],
  ["DENO_DIR", ""],
  ["COREPACK_HOME", ""],
  ["GRADLE_USER_HOME", ""],
  ["BUN_INSTALL", "install/cache"],
];
