import { words } from "../words.ts";

/** Always hidden, even inside a shown folder: keys, tokens, histories, settings of other agents. */
export const MASKED: readonly string[] = [
  ".config/Bitwarden CLI",
  ...words(`
    .ssh .gnupg .pki .putty .age .sops .minisign .signify .password-store .1password
    .aws .azure .oci .aliyun .bluemix .config/gcloud .config/doctl .config/linode-cli
    .config/gh .config/hub .config/glab-cli .config/hanzo .hanzo .config/op .config/1Password
    .config/Bitwarden .config/keepassxc .config/rclone .config/heroku
    .config/netlify .config/vercel .config/stripe .config/flyctl .fly .config/ngrok .config/ngrok2
    .config/sops .config/age .config/containers .config/helm .config/configstore .config/github-copilot
    .kube .docker .minikube .helm .lens .colima .lima .rd .orbstack .podman
    .netrc _netrc .git-credentials .config/git/credentials .hgrc.auth .subversion/auth
    .npmrc .yarnrc .yarnrc.yml .pypirc .condarc .gitconfig .config/git/config .pip
    .cargo/credentials .cargo/credentials.toml .cargo/config .cargo/config.toml .config/pip
    .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .gem/credentials .bundle/config
    .nuget/NuGet/NuGet.Config .config/NuGet .composer/auth.json .config/composer .hex/hex.config
    .pub-cache/credentials.json .terraform.d .terraformrc .vault-token .pulumi .ansible .boto
    .s3cfg .pgpass .my.cnf .mylogin.cnf .mongorc.js .dbshell .databrickscfg .snowsql .kaggle
    .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .netlify .vercel .expo
    .local/share/keyrings .local/share/kwalletd .local/share/gnome-keyring .gnome2/keyrings .kde
    .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware .config/Slack
    .config/microsoft-edge .config/vivaldi .config/opera .var snap Library
    .bash_history .zsh_history .zhistory .histfile .sh_history .local/share/fish .python_history
    .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .lesshst
    .viminfo .wget-hsts .Xauthority .ICEauthority .dbus .config/pulse .vnc .rdesktop
    .claude .claude.json .config/claude .config/Claude .codex .gemini .config/opencode .opencode
    .local/share/opencode .cursor .config/Cursor .windsurf .codeium .continue .aider.conf.yml
    .config/zed .config/Code .vscode .vscode-server .config/goose .qwen .config/amp .grok
    .local/state/octant .cache/octant .config/octant
  `),
];

/** The same for unlisted entries of the home whose names suggest a secret. */
export const SECRET_NAME =
  /(?:^|[._-])(?:secrets?|tokens?|credentials?|passwords?|passwd|private[._-]?keys?)(?:[._-]|$)|^id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ovpn)$/i;

/**
 * Hidden entries of the home that can be read: toolchains, shells, settings without secrets. Other dot entries are hidden
 * because they may hold secrets, except those named by PATH or a toolchain variable.
 */
export const SHOWN = words(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .inputrc
  .zshrc .zshenv .zprofile .zlogin .oh-my-zsh .kshrc .cshrc .tcshrc .config/fish
  .gitignore .gitignore_global .gitattributes .gitmessage .gitk .mailmap .hgrc
  .config/git/ignore .config/git/attributes
  .editorconfig .vimrc .vim .nanorc .tmux.conf .screenrc .dircolors .terminfo .locale
  .nvmrc .node-version .python-version .ruby-version .java-version .tool-versions .mise.toml
  .nvm .nodenv .n .volta .fnm .bun .deno .yarn .local/share/pnpm .local/share/fnm .local/share/mise .config/mise
  .pyenv .rye/shims .rye/py .pixi .conda .local/pipx .local/share/pipx .virtualenvs .venv
  .rustup .cargo/bin .elan .ghcup .cabal .opam .juliaup .roswell
  .rbenv .rvm .chruby .asdf .asdfrc .local/share/rtx .sdkman .jenv .jabba .goenv .gvm
  .swiftly .phpenv .plenv .perl5 .luaenv .nix-profile .nix-defexpr .guix-profile .pkgx
  .local/bin .local/lib .local/include .local/share/man .local/share/applications .local/opt
  .config/pnpm .config/yarn .config/go .config/uv .config/nvim .config/ripgrep .config/bat
  .config/black .config/flake8 .config/pycodestyle .config/pylintrc .config/matplotlib
  .dotnet .m2/wrapper .mvn .tfenv .platformio .arduino15
  .hanzo/skills .claude/skills .agents/skills
  .rvmrc .gemrc .irbrc .pryrc .Rprofile .R .ghci .clang-format .clang-tidy
`);

/** A line of git's settings that holds one. */
export const GIT_SECRET = /extraheader|cookie|password|token|:\/\/[^/\s@]*:[^/\s@]*@|:\/\/[\w-]{20,}@/i;

/** Files of which a copy is shown, without the lines that hold a secret. */
export const COPIED: readonly { readonly path: string; readonly secret: RegExp }[] = [
  { path: ".npmrc", secret: /_auth|_password|certfile|keyfile|key\s*=|:\/\/[^/\s@]*:[^/\s@]*@/i },
  { path: ".yarnrc", secret: /_auth|_password|:\/\/[^/\s@]*:[^/\s@]*@/i },
  { path: ".yarnrc.yml", secret: /auth|:\/\/[^/\s@]*:[^/\s@]*@/i },
  { path: ".gitconfig", secret: GIT_SECRET },
  { path: ".config/git/config", secret: GIT_SECRET },
  { path: ".config/pip/pip.conf", secret: /:\/\/[^/\s]*@|client.cert/i },
  { path: ".pip/pip.conf", secret: /:\/\/[^/\s]*@|client.cert/i },
  { path: ".cargo/config.toml", secret: /token|secret|:\/\/[^/\s@]*:[^/\s@]*@/i },
  { path: ".cargo/config", secret: /token|secret|:\/\/[^/\s@]*:[^/\s@]*@/i },
  { path: ".condarc", secret: /:\/\/[^/\s]*@|\/t\//i },
];

/** Package caches in the home: writable, and shared with the person's own programs. */
export const CACHES = words(`
  .cache
  .npm .pnpm-store .yarn/berry .bun/install/cache .node-gyp .electron .electron-gyp
  .local/share/pnpm/store .local/share/uv .local/share/virtualenv .local/share/virtualenvs
  .cargo/registry .cargo/git go/pkg .m2/repository .ivy2/cache .sbt/boot .coursier/cache
  .gradle/caches .gradle/wrapper .gradle/daemon .gradle/native .gradle/jdks .gradle/notifications
  .nuget/packages .gem/ruby .bundle/cache .pub-cache/hosted .pub-cache/git .dartServer
  .composer/cache .hex/packages .mix/archives
  .cabal/packages .stack .opam/download-cache .julia .conan .conan2 .vcpkg .konan
  .conda/pkgs .swiftpm/cache .cpan .luarocks .nimble .dub
  .pre-commit .keras .torch .nltk_data .ccache .sccache .android/cache
`);

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
