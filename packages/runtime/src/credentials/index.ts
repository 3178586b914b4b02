export { accessToken } from "./access-token.ts";
export { openRedirect } from "./loopback.ts";
export { isVerifier, toChallenge } from "./pkce.ts";
export { signInWithBrowser, signInWithDevice } from "./sign-in-on-demand.ts";
export {
  type Credential,
  type CredentialStore,
  createCredentialStore,
  type OAuthCredential,
} from "./store.ts";
