// Reads the bytes that `message` of __init__.py writes: the length of a JSON text in 4 bytes, the text, and numbers.

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
 * The data of the JSON text, and the bytes of the numbers. Where the text names the place of an array, the data have a typed array, or
 * a list of typed arrays if it has rows.
 *
 * @param {ArrayBuffer | Uint8Array} message
 * @returns {[any, Uint8Array<ArrayBuffer>]}
 */
export function unpack(message) {
  const sent = message instanceof ArrayBuffer ? new Uint8Array(message) : message;
  const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (sent);
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const [text, numbers] = [new TextDecoder().decode(bytes.subarray(4, end)), bytes.subarray(end)];
  return [JSON.parse(text, (_, value) => (value?.packed ? arrayAt(numbers, value) : value)), numbers];
}

/**
 * @param {Uint8Array} bytes
 * @param {{ packed: [first: number, end: number], dtype: string, shape: number[] }} place
 */
function arrayAt(bytes, { packed: [first, end], dtype, shape }) {
  const numbers = ARRAYS[dtype](bytes.slice(first, end).buffer);
  if (shape.length === 1) return numbers;
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, row) => numbers.subarray(row * columns, (row + 1) * columns));
}

/**
 * Whether two arrays of bytes are equal.
 *
 * @param {Uint8Array | undefined} bytes
 * @param {Uint8Array} others
 */
export function equalBytes(bytes, others) {
  return bytes?.length === others.length && bytes.every((byte, index) => byte === others[index]);
}
