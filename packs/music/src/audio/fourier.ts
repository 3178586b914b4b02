/** The magnitudes of the first half of the spectrum; the number of samples is a power of two. */
export function toSpectrum(samples: Float32Array): Float64Array {
  const size = samples.length;
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  // A Hann window: a note that does not fit the frame would otherwise leak into all frequencies.
  for (let n = 0; n < size; n++) re[n] = (samples[n] ?? 0) * (0.5 - 0.5 * Math.cos((2 * Math.PI * n) / size));
  transform(re, im);
  const half = new Float64Array(size / 2);
  for (let n = 0; n < half.length; n++) half[n] = (2 * Math.hypot(re[n] ?? 0, im[n] ?? 0)) / size;
  return half;
}

/** The Fourier transform in place, radix 2. */
function transform(re: Float64Array, im: Float64Array): void {
  const size = re.length;
  for (let n = 1, reversed = 0; n < size; n++) {
    let bit = size >> 1;
    for (; reversed & bit; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (n < reversed) {
      swap(re, n, reversed);
      swap(im, n, reversed);
    }
  }
  for (let span = 2; span <= size; span *= 2) {
    const half = span / 2;
    for (let k = 0; k < half; k++) {
      const cos = Math.cos((-2 * Math.PI * k) / span);
      const sin = Math.sin((-2 * Math.PI * k) / span);
      for (let at = k; at < size; at += span) {
        const a = re[at + half]!;
        const b = im[at + half]!;
        const x = a * cos - b * sin;
        const y = a * sin + b * cos;
        re[at + half] = re[at]! - x;
        im[at + half] = im[at]! - y;
        re[at]! += x;
        im[at]! += y;
      }
    }
  }
}

function swap(list: Float64Array, a: number, b: number): void {
  const held = list[a]!;
  list[a] = list[b]!;
  list[b] = held;
}
