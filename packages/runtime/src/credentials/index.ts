export { isVerifier, toChallenge } from "./pkce.ts";
