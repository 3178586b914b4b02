/** Idle keys are dropped when there are this many. */
const MAX_KEYS = 10_000;

export type RateLimit = ReturnType<typeof createRateLimit>;

/** Limits the rate of each key: a token bucket that holds one second's worth. */
export function createRateLimit(perSecond: number) {
  const buckets = new Map<string, { left: number; at: number }>();
  const refill = (bucket: { left: number; at: number }) => {
    const time = performance.now();
    bucket.left = Math.min(perSecond, bucket.left + ((time - bucket.at) * perSecond) / 1_000);
    bucket.at = time;
  };
  const forgetQuiet = () => {
    for (const [key, bucket] of buckets) {
      refill(bucket);
      if (bucket.left >= perSecond) buckets.delete(key);
    }
  };
  return {
    /** True when another request is allowed now. */
    take(key: string): boolean {
      let bucket = buckets.get(key);
      if (!bucket) {
        if (buckets.size >= MAX_KEYS) forgetQuiet();
        if (buckets.size >= MAX_KEYS) return false;
        bucket = { left: perSecond, at: performance.now() };
        buckets.set(key, bucket);
      }
      refill(bucket);
      if (bucket.left < 1) return false;
      bucket.left--;
      return true;
    },
  };
}
