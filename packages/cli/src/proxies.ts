// A file of its own, so that the bundle loads only this part of the host package.
export { useProxies } from "@octant/host";
