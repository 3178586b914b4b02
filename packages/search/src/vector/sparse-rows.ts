/** A matrix of which most is zero, row after row. */
export interface SparseRows {
  readonly rows: number;
  readonly columns: number;
  /** Where each row starts in the two arrays below; one more than there are rows. */
  readonly starts: Uint32Array;
  readonly column: Uint32Array;
  readonly value: Float32Array;
}

/** A full matrix, row after row. */
export interface Dense {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export const createDense = (rows: number, columns: number): Dense => ({
  rows,
  columns,
  values: new Float32Array(rows * columns),
});

/** The product of the two. */
export function multiply(sparse: SparseRows, dense: Dense): Dense {
  const width = dense.columns;
  const product = createDense(sparse.rows, width);
  for (let row = 0; row < sparse.rows; row++)
    forEachEntry(sparse, row, (column, value) => {
      addScaled(product.values, row * width, dense.values, column * width, value, width);
    });
  return product;
}

/** The product of the transposed sparse one and the dense one. */
export function multiplyTransposed(sparse: SparseRows, dense: Dense): Dense {
  const width = dense.columns;
  const product = createDense(sparse.columns, width);
  for (let row = 0; row < sparse.rows; row++)
    forEachEntry(sparse, row, (column, value) => {
      addScaled(product.values, column * width, dense.values, row * width, value, width);
    });
  return product;
}

export function forEachEntry(
  { starts, column, value }: SparseRows,
  row: number,
  visit: (column: number, value: number) => void,
): void {
  const end = starts[row + 1] ?? 0;
  for (let at = starts[row] ?? 0; at < end; at++) visit(column[at] ?? 0, value[at] ?? 0);
}

export function addScaled(
  to: Float32Array,
  toStart: number,
  from: Float32Array,
  fromStart: number,
  factor: number,
  count: number,
): void {
  // Indexes below the lengths of both: `?? 0` never happens, and the engine drops the test.
  for (let i = 0; i < count; i++)
    to[toStart + i] = (to[toStart + i] ?? 0) + factor * (from[fromStart + i] ?? 0);
}

/** Makes the columns of the matrix perpendicular to each other and of length one, in place. */
export function orthonormalise(matrix: Dense): Dense {
  const { rows, columns, values } = matrix;
  // By columns, so that what is read together lies together.
  const vectors = Array.from({ length: columns }, (_, column) => {
    const vector = new Float32Array(rows);
    for (let row = 0; row < rows; row++) vector[row] = values[row * columns + column] ?? 0;
    return vector;
  });
  for (const [at, vector] of vectors.entries()) {
    for (const earlier of vectors.slice(0, at)) addScaled(vector, 0, earlier, 0, -dot(vector, earlier), rows);
    normalise(vector);
    for (let row = 0; row < rows; row++) values[row * columns + at] = vector[row] ?? 0;
  }
  return matrix;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Gives the vector length one, in place; one of zeros stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  if (length > 0) for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length;
  return vector;
}
