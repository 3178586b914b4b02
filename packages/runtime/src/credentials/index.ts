export { accessToken, signInWithBrowser, signInWithDevice } from "./access-token.ts";
export { isVerifier, openRedirect, toChallenge } from "./loopback.ts";
export {
  type Credential,
  type CredentialStore,
  createCredentialStore,
  type OAuthCredential,
} from "./store.ts";
