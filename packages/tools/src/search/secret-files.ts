/** Files that hold nothing but credentials, by their names; examples and public keys are not among them. */
const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(?:rc|\..+)?$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:key|p12|pfx|ppk|jks|keystore|kdbx|tfstate)$/,
  /^(?:\.netrc|_netrc|\.pgpass|\.pypirc|\.npmrc|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token)$/,
  /^(?:credentials|client_secret.*|service[-_]account.*)(?:\.json)?$/,
  /^secrets?\.(?:json|ya?ml|toml|env|ini|properties)$/,
];
const EXAMPLE = /\.(?:example|sample|template|dist)$/;
const SECRET_PATHS =
  /(?:^|\/)(?:\.ssh\/(?!.*\.pub$)|\.aws\/|\.gnupg\/|\.kube\/config$|\.docker\/config\.json$)/;

/** Whether search leaves the file out: it is neither indexed nor shown. */
export function isSecretFile(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (SECRET_PATHS.test(path)) return true;
  return !EXAMPLE.test(name) && SECRET_NAMES.some((form) => form.test(name));
}
