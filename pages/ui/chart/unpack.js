// Reads a figure that `packed` of __init__.py has packed into bytes.

/** @type {Record<string, (bytes: ArrayBuffer) => any>} */
const ARRAYS = {
  i1: (bytes) => new Int8Array(bytes),
  u1: (bytes) => new Uint8Array(bytes),
  i2: (bytes) => new Int16Array(bytes),
  u2: (bytes) => new Uint16Array(bytes),
  i4: (bytes) => new Int32Array(bytes),
  u4: (bytes) => new Uint32Array(bytes),
  f4: (bytes) => new Float32Array(bytes),
  f8: (bytes) => new Float64Array(bytes),
};

/**
 * The figure: JSON in which each array of numbers is a typed array, or a list of typed arrays if it has rows.
 *
 * @param {Uint8Array} bytes
 * @returns {any}
 */
export function unpack(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, start)), (_, value) =>
    value?.packed ? arrayAt(bytes, start, value) : value,
  );
}

/**
 * @param {Uint8Array} bytes
 * @param {number} start where the arrays begin
 * @param {{ packed: [first: number, end: number], dtype: string, shape: number[] }} place
 */
function arrayAt(bytes, start, { packed: [first, end], dtype, shape }) {
  const numbers = ARRAYS[dtype](bytes.slice(start + first, start + end).buffer);
  if (shape.length === 1) return numbers;
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, row) => numbers.subarray(row * columns, (row + 1) * columns));
}
