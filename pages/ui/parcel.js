// Reads the data and the large array that `parcel` of component.py packs into bytes.

/**
 * The data and the bytes of the array.
 *
 * @param {ArrayBuffer | Uint8Array} parcel
 * @returns {[any, Uint8Array<ArrayBuffer>]}
 */
export function unpackParcel(parcel) {
  const sent = parcel instanceof ArrayBuffer ? new Uint8Array(parcel) : parcel;
  const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (sent);
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, end))), bytes.subarray(end)];
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
